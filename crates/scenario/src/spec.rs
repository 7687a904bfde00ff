//! The scenario as plain data: the values of the file, read and checked but not yet resolved.
//!
//! There is one struct per table of the file and one field per key, named as the key. Relative quantities ("0.25 bdp",
//! a distribution of RTTs) stay relative here; `lab::run::resolve` turns them into numbers.
//!
//! Structs whose tables grow are `#[non_exhaustive]`, so that later keys do not break other crates. These make the
//! structs with `default()` and set fields, or by a [draft](crate::ScenarioDraft).

pub use crate::changes::{GilbertElliott, Loss, Outage, OverTime, PacketNumbers};
pub use crate::tables::cell_queue::{AirtimeLimits, Alt, CellQueue, Ebdp, Sizing};
pub use crate::tables::flow::Flow;
pub use crate::tables::link::{Link, Reverse};
pub use crate::tables::marking::Marking;
pub use crate::tables::queue::{Queue, QueueSettings};
pub use crate::tables::shaper::Shaper;
pub use crate::tables::top::{Live, Model, Record, Scenario};
pub use crate::tables::traffic::{Pattern, Replay, Sessions, Traffic};
pub use crate::tables::wlan::{Access, Backhaul, Categories, CellWay, Saturated, Station, Wlan};
pub use crate::values::{
    AccessRule, AfterCollision, Carrier, Category, CellDirection, Column, Direction, FlowChoice, Framing,
    Isolation, Limit, RecordedFlows, RttScaling, ShaperRate, SocketBuffer, Spread, Stack, StepThreshold,
    Theory, Threshold, Tins, Volume,
};
pub use transport::{
    BbrVariant, CubicVariant, EcnMode, LossDetection, Recovery, SendBuffer, Transport, WindowVariant,
};
