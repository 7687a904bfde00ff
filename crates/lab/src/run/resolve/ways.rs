//! The routes of packets over links and back, as directions of the links that have a queue.

use super::changes::LinkQuantities;
use scenario::spec::{self, Direction};
use std::collections::HashMap;
use units::Span;

/// The route of a packet, or of its acknowledgement: indices of directions.
pub(super) type Route = Vec<usize>;

/// The directions of a scenario's links: first each link's forward one, then those reverse ones that have a queue.
pub(super) struct Directions<'a> {
    pub(super) links: &'a [spec::Link],
    /// The index of each link by its name.
    places: HashMap<&'a str, usize>,
    /// The numbers of each link.
    pub(super) numbers: &'a [LinkQuantities],
    /// For each link, the index of its reverse direction if it has one.
    pub(super) reverse: Vec<Option<usize>>,
}

impl<'a> Directions<'a> {
    pub(super) fn new(links: &'a [spec::Link], numbers: &'a [LinkQuantities]) -> Self {
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
            numbers,
        }
    }

    fn places(&self, path: &[String]) -> impl DoubleEndedIterator<Item = usize> {
        path.iter().filter_map(|name| self.places.get(name.as_str()).copied())
    }

    /// Returns twice the one-way delay of a path.
    pub(super) fn round(&self, path: &[String]) -> Span {
        self.places(path).map(|place| self.numbers[place].0.delay * 2).sum()
    }

    /// Returns the route over a path in a direction.
    pub(super) fn there(&self, path: &[String], direction: Direction) -> Route {
        match direction {
            Direction::Forward => self.places(path).collect(),
            Direction::Reverse => self.places(path).rev().filter_map(|place| self.reverse[place]).collect(),
        }
    }

    /// Returns the route back, over the links that have a queue in the other direction.
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
