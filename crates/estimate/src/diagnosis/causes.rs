//! The cause of each stretch of a connection.

use super::evidence::{Evidence, Vantage};
use super::stretch::Stretch;
use super::verdict::Cause;
use units::{Bytes, Rate, Span, Time};

/// The excess of a round trip over the least one above which a queue stands at the bottleneck: the larger of a time and a
/// share. The kernel's samples have steps of 1 ms, and acknowledgements are gathered. A window's own burst makes the
/// packets at its end wait, so the least round trip of a stretch is compared.
const QUEUE: Span = Span::from_millis(4);
const QUEUE_SHARE: f64 = 0.2;
/// The share of a stretch with a full window, or without data to send, from which on that is its cause.
const MOST: f64 = 0.5;
/// The share of a stretch in which a sender with a bulk of data never lacks data.
const SOME: f64 = 0.3;
/// The share of the largest window below which a window is smaller because data waits for the reader.
const SHRUNK: f64 = 0.7;
/// The share of a stretch with a full window from which on a window that changes is a part of its cause.
const WINDOWED: f64 = 0.1;
/// The share of the best rate below which a receiver that does not read slows its sender: the kernel acknowledges late.
const SLOWED: f64 = 0.7;
/// The factor by which the data delivered per round trip grows during slow start. Slow start doubles it; CUBIC before
/// its first loss has 1.05 (Linux 6.18, `tcp_cubic.c`).
const OPENS: f64 = 1.25;
/// The stretches without that growth after which slow start is over, and one more.
const PAUSES: usize = 3;
/// The time after a loss in which the congestion window is still smaller than the path carries.
const RECOVERS: Span = Span::from_millis(3000);
/// The share of a window in flight with which a receiver considers it full: it knows the data of a round trip only.
const FULL_AT_RECEIVER: f64 = 0.85;
/// The share of segments missing from the data, as some are short, that shows a program that writes less than the path
/// carries. Each of its writes ends in a short segment. A program that waits for its send buffer has up to 2.1 %.
const SHORT: f64 = 0.022;
/// The share of the bottleneck's rate from which a link is full.
const USED: f64 = 0.93;
/// The largest rate of an interval, over that of its stretch, with which data arrives at the steady rate of a full link.
/// Windows and buffers send in bursts: 1.1 to 5.7 in the development set.
const STEADY: f64 = 1.1;

/// The properties of the whole connection that the cause of a stretch depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) vantage: Vantage,
    pub(super) segment: Bytes,
    pub(super) base: Option<Span>,
    /// The stretch before.
    pub(super) before: Option<Stretch>,
    /// The best rate of two stretches.
    pub(super) best: Rate,
    /// The largest receive window so far.
    pub(super) largest: Bytes,
    /// The bottleneck's rate of payload, if spacing or a queue shows it.
    pub(super) capacity: Option<Rate>,
    /// The receive window at the end of the stretch before.
    pub(super) window: Option<Bytes>,
    /// The share of segments that is missing from the data, because some are short.
    pub(super) short: f64,
    /// The share of stretches in which data came back.
    pub(super) answers: f64,
    /// The end of the last stretch with losses.
    pub(super) lost: Option<Time>,
    /// The number of the first stretch after slow start.
    pub(super) opened: usize,
    /// True if the connection ended in slow start.
    pub(super) is_short: bool,
}

impl Context {
    pub(super) fn of(evidence: &Evidence, stretches: &[Stretch]) -> Self {
        let active: Vec<&Stretch> = stretches.iter().filter(|one| one.delivered > Bytes::ZERO).collect();
        let share = |count: usize| count as f64 / active.len().max(1) as f64;
        let full = active
            .iter()
            .filter(|one| one.strays == 0)
            .filter_map(|one| Some((one.segments?, one.sent.unwrap_or(one.delivered))));
        let (segments, bytes) = full.fold((0, Bytes::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let whole = bytes.get() as f64 / evidence.segment.get().max(1) as f64;
        let base = evidence.base_round_trip;
        let opened = opened(stretches);
        Self {
            vantage: evidence.vantage,
            segment: evidence.segment,
            base,
            best: best(stretches),
            lost: None,
            largest: Bytes::ZERO,
            capacity: evidence.capacity.map(|rate| rate.scale(payload_share(evidence))),
            window: None,
            before: None,
            short: 1.0 - whole / segments.max(1) as f64,
            answers: share(active.iter().filter(|one| one.returned > Some(Bytes::ZERO)).count()),
            opened,
            is_short: opened == stretches.len(),
        }
    }

    /// Returns true if a queue stands at the bottleneck during a stretch.
    pub(super) fn queued(&self, stretch: &Stretch) -> bool {
        let least = stretch.round_trips.map(|[least, ..]| least);
        self.base
            .zip(least)
            .is_some_and(|(base, least)| least.saturating_sub(base) > QUEUE.max(base.scale(QUEUE_SHARE)))
    }
}

/// Returns true if data arrives at the steady rate of a full link.
fn is_steady(context: &Context, stretch: &Stretch) -> bool {
    let rate = stretch.rate().as_bps_f64();
    stretch.arrived > Bytes::ZERO
        && stretch.peak.as_bps_f64() <= STEADY * rate
        && context.capacity.is_none_or(|capacity| rate >= USED * capacity.as_bps_f64())
}

/// Returns the share of payload in a full packet.
fn payload_share(evidence: &Evidence) -> f64 {
    let headers = evidence.direction.headers().get() as f64;
    let segment = evidence.segment.get().max(1) as f64;
    segment / (segment + headers)
}

/// Returns the rate of a stretch and the one before. A receiver that does not read acknowledges every 40 ms, so a
/// stretch has more of the acknowledgements than the next one.
fn rate_of_pair(before: Option<&Stretch>, stretch: &Stretch) -> Rate {
    let Some(before) = before else { return stretch.rate() };
    let busy = before.busy() + stretch.busy();
    if busy == Span::ZERO { Rate::ZERO } else { Rate::of(before.arrived + stretch.arrived, busy) }
}

/// Returns the best rate of two stretches. After a loss, an acknowledgement covers data that arrived earlier.
fn best(stretches: &[Stretch]) -> Rate {
    let calm = |number: usize| stretches[number.saturating_sub(2)..=number].iter().all(|one| one.strays == 0);
    let pair = |number: usize| {
        let before = number.checked_sub(1).map(|before| &stretches[before]);
        rate_of_pair(before, &stretches[number])
    };
    (0..stretches.len()).filter(|&number| calm(number)).map(pair).max().unwrap_or(Rate::ZERO)
}

/// Returns the number of the first stretch after slow start.
fn opened(stretches: &[Stretch]) -> usize {
    let mut grew = 0;
    let mut best = 0;
    for (number, stretch) in stretches.iter().enumerate() {
        if stretch.strays > 0 || number > grew + PAUSES {
            break;
        }
        let delivered = stretch.delivered.get();
        if delivered as f64 >= OPENS * best as f64 && delivered > 0 {
            grew = number;
            best = delivered;
        }
    }
    let last = stretches.iter().rposition(|stretch| stretch.delivered > Bytes::ZERO).unwrap_or(0);
    match grew {
        0 => 0,
        // The last round of a short transfer is a part of one.
        _ if last <= grew + 1 => stretches.len(),
        _ => grew + 1,
    }
}

/// Returns the cause of a stretch, apart from its idle time; `number` is its place.
pub(super) fn cause(context: &Context, number: usize, stretch: &Stretch) -> Cause {
    let busy = stretch.busy().as_secs_f64().max(1e-9);
    let share = |time: Span| time.as_secs_f64() / busy;
    let queued = context.queued(stretch);
    let slowed =
        rate_of_pair(context.before.as_ref(), stretch).as_bps_f64() < SLOWED * context.best.as_bps_f64();
    let [first, last, least, _] = stretch.windows.unwrap_or([Bytes::ZERO; 4]);
    let few = context.segment * 2;
    if stretch.windows.is_some() {
        let shrunk = (least.get() as f64) < SHRUNK * context.largest.get() as f64 || least < few;
        let unread = stretch.least_unread.is_some_and(|unread| unread > few);
        let full = match context.vantage {
            Vantage::ReceiverSocket => stretch
                .peak_flight
                .is_some_and(|flight| flight.get() as f64 >= FULL_AT_RECEIVER * least.get() as f64),
            _ => share(stretch.full) >= MOST,
        };
        if stretch.strays > 0 && least >= few {
            return Cause::Network;
        }
        if full || least < few || (shrunk && slowed && share(stretch.full) > WINDOWED) {
            return match () {
                () if shrunk || unread => Cause::ReceivingProgram,
                () if queued => Cause::Network,
                () => Cause::ReceiveWindow,
            };
        }
        // The right edge of the window stands still while nobody reads.
        let first = context.window.unwrap_or(first);
        let still = first.saturating_sub(last).get() as f64 >= SLOWED * stretch.delivered.get() as f64;
        if slowed && (unread || (still && first > last)) {
            return Cause::ReceivingProgram;
        }
    }
    if stretch.strays > 0 {
        return Cause::Network;
    }
    if number < context.opened && (share(stretch.dry) < 1.0 || context.is_short) {
        return Cause::SlowStart;
    }
    if stretch.known > Span::ZERO {
        if share(stretch.dry) < SOME {
            return Cause::Network;
        }
        if share(stretch.buffer_full) >= MOST {
            return if queued { Cause::Network } else { Cause::SendBuffer };
        }
    } else if context.short >= SHORT && context.answers <= MOST {
        return Cause::SendingProgram;
    } else if queued
        || is_steady(context, stretch)
        || context.lost.is_some_and(|lost| stretch.from.since(lost) < RECOVERS)
    {
        return Cause::Network;
    }
    if context.answers > MOST {
        return Cause::ProgramWindow;
    }
    if stretch.known > Span::ZERO {
        return Cause::SendingProgram;
    }
    Cause::SendBuffer
}
