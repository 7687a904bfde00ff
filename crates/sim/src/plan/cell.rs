//! A wireless cell, as data: an access point, its stations, and the wire behind the access point.

use super::LinkPlan;
use air::access::{Access, Category};
use air::airtime_limits::AirtimeLimits;
use air::config::{AfterCollision, CellConfig, FunctionConfig, StationConfig};
use air::frame::Sizes;
use air::phy::Phy;
use link::Limit;
use link::moving_limit::MovingLimitConfig;
use link::queue::PolicyConfig;
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// An 802.11 cell between stations and a server: `server - backhaul - access point - air - stations`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellPlan {
    /// The PHY of every station.
    pub phy: Phy,
    /// The sizes that a frame adds to an IP packet.
    pub sizes: Sizes,
    /// The rate of acknowledgements of frames: [`CellConfig::control_rate`].
    pub control_rate: Rate,
    /// The time for which everybody waits after a collision.
    pub after_collision: AfterCollision,
    /// The time after which stations that collided go on: [`CellConfig::ack_timeout`].
    pub ack_timeout: Option<Span>,
    /// The access point's functions and their queues, one per category that it sends in. Parameters may differ from
    /// the stations'.
    pub access_point: Vec<DownlinkPlan>,
    /// The index of the access point's function whose numbers an outcome has, which is the one that sends the data.
    pub watched: usize,
    /// The stations.
    pub stations: Vec<StationPlan>,
    /// From the server to the access point, and from the access point to the server.
    pub backhaul: [LinkPlan; 2],
}

/// A queue's policy and its room.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueuePlan {
    /// The policy, of the registry of `link`, and its settings.
    pub policy: PolicyConfig,
    /// The room in the queue.
    pub limit: Limit,
}

/// An access function of the access point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DownlinkPlan {
    /// Its category.
    pub category: Category,
    /// The parameters with which it contends.
    pub access: Access,
    /// The queue of packets that wait for it. With airtime limits there is one such queue per station.
    pub queue: QueuePlan,
    /// A limit of the queue that moves, in addition to the fixed one.
    pub moving: Option<MovingLimitConfig>,
    /// Limits of the airtime that the access point has pending below its queues: the same in all categories that have
    /// them. Without them one frame is below the queue at a time.
    pub airtime: Option<AirtimeLimits>,
}

/// A station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationPlan {
    /// The name of the station and of its random streams.
    pub name: String,
    /// The rate of data frames from it and to it.
    pub rate: Rate,
    /// Its access functions, one per category that it sends in.
    pub functions: Vec<UplinkPlan>,
}

/// An access function of a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UplinkPlan {
    /// Its category.
    pub category: Category,
    /// The parameters with which it contends.
    pub access: Access,
    /// The source of its frames.
    pub source: UplinkSource,
}

/// The source of the frames of a station's access function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::large_enum_variant, reason = "a cell has a few")]
pub enum UplinkSource {
    /// The packets that its flows put into this queue.
    Queue(QueuePlan),
    /// Frames for the access point with this payload, without end.
    Saturated(Bytes),
}

/// A flow's place in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CellPlace {
    /// Its station: an index of [`CellPlan::stations`].
    pub station: usize,
    /// The direction of its data.
    pub direction: Direction,
    /// The category of its data.
    pub category: Category,
    /// The category of its acknowledgements.
    pub ack_category: Category,
}

/// A direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Direction {
    /// From the server to a station: a download.
    Down,
    /// From a station to the server: an upload.
    Up,
}

impl CellPlan {
    /// Returns true if the data of a flow at `place` waits in the watched queue.
    pub(crate) fn is_watched(&self, place: CellPlace) -> bool {
        let watched = self.access_point.get(self.watched).map(|function| function.category);
        place.direction == Direction::Down && Some(place.category) == watched
    }

    /// The name of the access point, which no station may have.
    pub const ACCESS_POINT: &'static str = "access-point";

    /// Returns the channel access of this cell: station number 0 is the access point, number `n + 1` is number `n` of
    /// [`Self::stations`]. Its `check` finds faults of the plan.
    #[must_use]
    pub fn access(&self, seed: u64) -> CellConfig {
        let access_point = StationConfig {
            functions: self
                .access_point
                .iter()
                .map(|function| FunctionConfig {
                    category: function.category,
                    access: function.access,
                    saturated: None,
                })
                .collect(),
            ..StationConfig::access_point(Self::ACCESS_POINT)
        };
        let station = |station: &StationPlan| StationConfig {
            functions: station
                .functions
                .iter()
                .map(|function| FunctionConfig {
                    category: function.category,
                    access: function.access,
                    saturated: match function.source {
                        UplinkSource::Queue(_) => None,
                        UplinkSource::Saturated(payload) => Some((payload, 0)),
                    },
                })
                .collect(),
            ..StationConfig::new(station.name.clone(), station.rate)
        };
        CellConfig {
            phy: self.phy,
            sizes: self.sizes,
            control_rate: self.control_rate,
            after_collision: self.after_collision,
            ack_timeout: self.ack_timeout,
            stations: [access_point].into_iter().chain(self.stations.iter().map(station)).collect(),
            seed,
        }
    }
}
