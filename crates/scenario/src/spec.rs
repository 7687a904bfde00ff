//! The scenario as plain data: what a person wrote, read and checked but not yet resolved against anything.
//!
//! One struct per table of the file, one field per key, named as the key. Relative quantities ("0.25 bdp",
//! a distribution of RTTs) stay relative here; `lab::run::resolve` turns them into numbers.
//!
//! Keys will come, so structs whose tables grow are `#[non_exhaustive]`: other crates make them with `default()` and
//! set fields, or by a [draft](crate::ScenarioDraft), and no key that comes later breaks them.

pub use crate::tables::cell_queue::{AirtimeLimits, Alt, CellQueue, Ebdp, Sizing};
pub use crate::tables::flow::Flow;
pub use crate::tables::link::{Link, Queue, QueueSettings, Reverse};
pub use crate::tables::top::{Live, Model, Record, Scenario};
pub use crate::tables::traffic::{Pattern, Replay, Sessions, Traffic};
pub use crate::tables::wlan::{Access, Backhaul, Categories, CellWay, Saturated, Station, Wlan};
pub use crate::values::{
    AccessRule, AfterCollision, Category, CellDirection, Column, Direction, Limit, RecordedFlows,
    SocketBuffer, Spread, Stack, Theory, Threshold, Volume,
};
pub use transport::{
    BbrVariant, CubicVariant, LossDetection, Recovery, SendBuffer, Transport, WindowVariant,
};
