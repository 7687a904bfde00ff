//! Loads state into the processor's cache before it is needed.
//!
//! With a hundred thousand flows no cache holds them, and a packet meets its flow in memory, a hundred nanoseconds away.
//! The lines behind the link know whose packets come next. So a flow's state is asked for some packets early, and
//! memory answers while other packets are handled. Results do not depend on it.

use prefetch_index::prefetch_index;
use std::slice;

/// The size of a cache line, bytes.
const LINE: usize = 64;

/// The places of the arrivals, counted from the one at hand, whose flows are loaded: far enough ahead that memory has
/// answered by then.
pub(crate) const FAR: usize = 8;
/// The places of the arrivals whose flows have been loaded, so that what lies behind their pointers can follow.
pub(crate) const NEAR: usize = 4;
/// The places after these, for what lies further behind.
pub(crate) const NEXT: usize = 2;

/// Begins to load `bytes` bytes of state that begin with `first`.
#[inline]
pub(crate) fn load<T>(first: &T, bytes: usize) {
    for line in 0..bytes.div_ceil(LINE) {
        prefetch_index(slice::from_ref(first), line * (LINE / size_of::<T>()));
    }
}
