//! The keys of the scenario file, one table in each module: their meaning, their fields, and their readers.
//!
//! No other place describes them. `tightlink keys` prints them, and `reference.rs` makes `docs/reference/scenario.md`
//! of them. `ends.rs` is the part of `[[flow]]` whose defaults a [`Host`](crate::Host) sets, and `words.rs` has the
//! words for keys on axes.

pub(crate) mod buffer;
pub(crate) mod cell_queue;
pub(crate) mod changes;
pub(crate) mod draft;
pub(crate) mod ends;
pub(crate) mod figure;
pub(crate) mod flow;
pub(crate) mod link;
pub(crate) mod losses;
pub(crate) mod marking;
pub(crate) mod marks;
pub(crate) mod prague;
pub(crate) mod queue;
pub(crate) mod quic;
pub(crate) mod segments;
pub(crate) mod shaper;
pub(crate) mod spread;
pub(crate) mod top;
pub(crate) mod traffic;
pub(crate) mod wlan;
mod words;

pub(crate) use buffer::SIZER;
pub(crate) use cell_queue::{AIRTIME, SIZING};
pub(crate) use figure::{FIGURE, REFERENCE, SMALLEST};
pub(crate) use flow::FLOW;
pub(crate) use link::{LINK, REVERSE};
pub(crate) use queue::QUEUE;
pub(crate) use shaper::SHAPER;
pub(crate) use spread::{PARETO, SPREAD};
pub(crate) use top::{LIVE, MODEL, RECORD, ROOT};
pub(crate) use traffic::{ENGSET, ON_OFF, REPLAY, STEADY, TRAFFIC};
pub(crate) use wlan::{ACCESS, ACCESS_POINT, BACKHAUL, CATEGORIES, STATION, STATION_QUEUE, WLAN};
pub use words::{key_words, unit_words};
