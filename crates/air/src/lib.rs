//! Channel access in one 802.11 cell: it decides which station transmits when, frame by frame.
//!
//! This room has contention (EDCA and DCF), frame durations, acknowledgements, collisions and transmission
//! opportunities. It has no TCP, flows, queue policies or IO. Time is an argument of every call and never goes
//! backwards.
//!
//! Reading order:
//! - [`phy`]: times and rates of a PHY, one file each;
//! - [`frame`]: the sizes that a frame adds to its payload;
//! - [`access`]: parameters of an access function;
//! - [`config`]: the whole cell;
//! - [`Cell`]: `push`, `poll`, `wakeup`. `cell/function.rs` is one access function, `cell/account.rs` counts frames and
//!   airtime;
//! - [`airtime_limits`]: the limits of the airtime for which an access point hands frames to the cell.
//!
//! Every station hears every other, and a frame is lost by collision only. Propagation takes no time. RTS/CTS,
//! aggregation and fragmentation do not exist here. Clauses are those of IEEE Std 802.11-2020.
//!
//! ```
//! use tightlink_air::{Cell, access::{Access, Category}, config::{CellConfig, StationConfig}, phy::Phy};
//! use units::{Bytes, Rate, Span, Time};
//! let phy = *Phy::named("802.11a").unwrap();
//! let (mut config, best_effort) = (CellConfig::new(phy), Access::default_of(&phy, Category::BestEffort));
//! let station = StationConfig::new("station-1", Rate::from_bps(54_000_000));
//! config.stations.push(station.saturated(Category::BestEffort, best_effort, Bytes::new(1500), 1));
//! config.stations.push(StationConfig::access_point("access-point"));
//! let mut cell = Cell::new(&config).unwrap();
//! let (second, mut outcomes) = (Time::ZERO + Span::from_secs(1), Vec::new());
//! cell.poll(second, &mut outcomes);
//! let report = cell.report(cell.function(0, Category::BestEffort).unwrap());
//! // 1500 bytes in 252 us, SIFS, an acknowledgement in 28 us, AIFS of 43 us, 7.5 slots of 9 us on average.
//! assert!((report.delivered as f64 - 1e6 / 406.5).abs() < 40.0);
//! ```

pub mod access;
pub mod airtime_limits;
mod cell;
pub mod config;
pub mod frame;
pub mod phy;

pub use cell::{Airtime, Cell, Fate, Frame, FunctionId, FunctionReport, Outcome};
