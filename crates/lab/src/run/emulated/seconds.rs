//! [`OfferedSecond`]: a link whose rate changes, in each second of its own time.

use emu::LinkSample;
use serde::Serialize;
use units::{Bytes, Span, Time};

/// The length of a second.
pub const SECOND: Span = Span::from_secs(1);

/// A second of a link whose rate changes. Its times are those at which packets leave the link, so that a late delivery
/// changes nothing. A packet that leaves at the end of a second belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedSecond {
    /// The end of the second, counted from the start of the program.
    pub t_s: u64,
    /// Bytes that could have left, used or not.
    pub offered_bytes: u64,
    /// The part of these bytes that was used by packets that left.
    pub used_bytes: u64,
}

/// Returns the seconds that are over; one of the samples is at the end of each.
pub(super) fn seconds(samples: &[LinkSample]) -> Vec<OfferedSecond> {
    let mut before = (Bytes::ZERO, Bytes::ZERO);
    let ends = samples
        .iter()
        .filter(|sample| sample.at.since(Time::ZERO).as_nanos().is_multiple_of(SECOND.as_nanos()));
    ends.filter_map(|sample| {
        let changing = sample.changing?;
        let (offered, used) = std::mem::replace(&mut before, (changing.offered, changing.used));
        Some(OfferedSecond {
            t_s: sample.at.since(Time::ZERO).as_nanos() / SECOND.as_nanos(),
            offered_bytes: changing.offered.get() - offered.get(),
            used_bytes: changing.used.get() - used.get(),
        })
    })
    .collect()
}
