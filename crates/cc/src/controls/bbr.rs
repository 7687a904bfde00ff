//! The common parts of both BBRs. `bbr/round_trips.rs` counts rounds and remembers the largest value of the last ones.
//! `bbr/min_rtt.rs` has the least RTT and its age, `bbr/rtt_probe.rs` a probe for it. `bbr/full_pipe.rs` detects that
//! startup has filled the pipe.

mod full_pipe;
mod min_rtt;
mod round_trips;
mod rtt_probe;

pub(crate) use full_pipe::FullPipe;
pub(crate) use min_rtt::MinRtt;
pub(crate) use round_trips::{Rounds, WindowedMax};
pub(crate) use rtt_probe::{Progress, RttProbe};
