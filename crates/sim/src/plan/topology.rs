//! The media that carry the packets, as data.

use super::CellPlan;
use link::queue::PolicyConfig;
use link::{Limit, LinkConfig};
use serde::Serialize;
use std::slice;

/// The medium that carries the packets. Each kind is a variant here, and a file in `medium/` that implements `Medium`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub enum Topology {
    /// One link that every packet crosses. Acknowledgements meet no queue. A packet costs one event.
    OneLink(LinkPlan),
    /// Links that packets cross one after the other, as each flow's routes say: an event for each packet and link.
    Network {
        /// The links, one per direction.
        links: Vec<LinkPlan>,
        /// The index of the link that an outcome is about.
        tight: usize,
    },
    /// A wireless cell and the wire behind it, as each flow's place says. An outcome is about a queue of the access
    /// point.
    Cell(CellPlan),
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkPlan {
    /// The name of its random streams, unless it is the only link.
    pub name: String,
    /// The rate, the delay, and random losses.
    pub config: LinkConfig,
    /// The queue's policy, of the registry of `link`, and its settings.
    pub queue: PolicyConfig,
    /// The room in the queue.
    pub limit: Limit,
}

impl Topology {
    /// Returns its links, one per direction: in a cell, the backhaul.
    #[must_use]
    pub fn links(&self) -> &[LinkPlan] {
        match self {
            Self::OneLink(link) => slice::from_ref(link),
            Self::Network { links, .. } => links,
            Self::Cell(cell) => &cell.backhaul,
        }
    }

    /// Returns the same links for changes.
    pub fn links_mut(&mut self) -> &mut [LinkPlan] {
        match self {
            Self::OneLink(link) => slice::from_mut(link),
            Self::Network { links, .. } => links,
            Self::Cell(cell) => &mut cell.backhaul,
        }
    }

    /// Returns the index of the link that an outcome is about, among the outcome's links.
    pub(crate) fn tight(&self) -> usize {
        match self {
            Self::OneLink(_) | Self::Cell(_) => 0,
            Self::Network { tight, .. } => *tight,
        }
    }

    /// Makes a network of the same links, even if there is only one. A cell stays a cell.
    #[must_use]
    pub fn into_network(self) -> Self {
        match self {
            Self::OneLink(link) => Self::Network { links: vec![link], tight: 0 },
            Self::Network { .. } | Self::Cell(_) => self,
        }
    }

    /// Makes its first link the only one.
    pub(super) fn into_one_link(self) -> Self {
        match self {
            Self::OneLink(_) | Self::Cell(_) => self,
            Self::Network { links, tight } => match <[LinkPlan; 1]>::try_from(links) {
                Ok([link]) => Self::OneLink(link),
                Err(links) => Self::Network { links, tight },
            },
        }
    }
}
