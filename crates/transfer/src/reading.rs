//! The kernel's state of a sending connection, as the account of its limits reads it.

use crate::limits::LimitTimes;
use estimate::limits::{LimitedTimes, Reading};
use host::TcpInfo;
use units::{Span, Time};

/// Makes a reading for the account. `waiting` is true if the program waits until the network takes more.
pub(crate) fn reading(info: &TcpInfo, at: Time, paced: bool, rate_based: bool, waiting: bool) -> Reading {
    Reading {
        at,
        busy: info.busy_time.unwrap_or_default(),
        window_limited: info.rwnd_limited.unwrap_or_default(),
        buffer_limited: info.sndbuf_limited.unwrap_or_default(),
        acknowledged: info.bytes_acked,
        retransmits: info.total_retrans.into(),
        round_trip: info.rtt.unwrap_or_default(),
        segment: info.snd_mss,
        congestion_window: info.congestion_window(),
        peer_window: info.snd_wnd,
        in_flight: info.in_flight(),
        unsent: info.notsent_bytes,
        ran_dry: info.app_limited,
        rate_based,
        paced,
        waiting,
    }
}

/// Adds the times of a connection that has lived for `lived`.
pub(crate) fn add(limits: &mut LimitTimes, times: LimitedTimes, lived: Span) {
    let add = |sum: &mut u64, span: Span| *sum = sum.saturating_add(span.as_nanos());
    add(&mut limits.lived, lived);
    add(&mut limits.slow_start, times.slow_start);
    add(&mut limits.window, times.receive_window);
    add(&mut limits.buffer, times.send_buffer);
    add(&mut limits.congestion, times.congestion_window);
}
