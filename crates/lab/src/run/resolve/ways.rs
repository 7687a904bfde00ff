//! The ways of packets over links, and back: a direction of each link that has a queue.

use scenario::spec::{self, Direction};
use std::collections::HashMap;
use units::Span;

/// Where a packet goes and what answers it comes back by: indices of directions.
pub(super) type Route = Vec<usize>;

/// The directions of a scenario's links: first each link's forward one, then those reverse ones that have a queue.
pub(super) struct Directions<'a> {
    pub(super) links: &'a [spec::Link],
    /// By name.
    places: HashMap<&'a str, usize>,
    /// Of each link that has one.
    pub(super) reverse: Vec<Option<usize>>,
}

impl<'a> Directions<'a> {
    pub(super) fn new(links: &'a [spec::Link]) -> Self {
        let mut next = links.len();
        let reverse = |link: &spec::Link| {
            link.reverse.as_ref().map(|_| {
                next += 1;
                next - 1
            })
        };
        Self {
            places: links.iter().zip(0..).map(|(link, place)| (link.name.as_str(), place)).collect(),
            reverse: links.iter().map(reverse).collect(),
            links,
        }
    }

    fn places(&self, path: &[String]) -> impl DoubleEndedIterator<Item = usize> {
        path.iter().filter_map(|name| self.places.get(name.as_str()).copied())
    }

    /// Twice the one-way delay of a path.
    pub(super) fn round(&self, path: &[String]) -> Span {
        self.places(path).map(|place| self.links[place].delay * 2).sum()
    }

    /// The way over a path in a direction.
    pub(super) fn there(&self, path: &[String], direction: Direction) -> Route {
        match direction {
            Direction::Forward => self.places(path).collect(),
            Direction::Reverse => self.places(path).rev().filter_map(|place| self.reverse[place]).collect(),
        }
    }

    /// The way back: over what has a queue in the other direction.
    pub(super) fn back(&self, path: &[String], direction: Direction) -> Route {
        self.there(
            path,
            match direction {
                Direction::Forward => Direction::Reverse,
                Direction::Reverse => Direction::Forward,
            },
        )
    }
}
