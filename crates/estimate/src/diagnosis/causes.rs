//! The cause of each stretch of a connection.

use super::evidence::{Evidence, Vantage};
use super::stretch::Stretch;
use super::verdict::Cause;
use units::{Bytes, Rate, Span};

/// The excess of a round trip over the least one above which a queue stands at the bottleneck: the larger of a time, as
/// the kernel's samples have steps of 1 ms and acknowledgements are gathered, and a share. A window's own burst makes
/// the packets at its end wait, so the least round trip of a stretch is compared.
const QUEUE: Span = Span::from_millis(4);
const QUEUE_SHARE: f64 = 0.2;
/// The share of a stretch with a full window, or without data to send, from which on that is its cause.
const MOST: f64 = 0.5;
/// The share of a stretch in which a sender with a bulk of data never lacks data.
const SOME: f64 = 0.3;
/// The share of the largest window below which a window is smaller because data waits for the reader.
const SHRUNK: f64 = 0.7;
/// The share of the best rate below which a receiver that does not read slows its sender: the kernel acknowledges late.
const SLOWED: f64 = 0.8;
/// The factor by which the data delivered per round trip grows during slow start. Slow start doubles it; CUBIC before
/// its first loss has 1.05 (Linux 6.18, `tcp_cubic.c`).
const OPENS: f64 = 1.25;
/// The share of a window in flight with which a receiver considers it full: it knows the data of a round trip only.
const FULL_AT_RECEIVER: f64 = 0.85;
/// The rate of short segments, per second, that shows a program that writes less than the path carries. Writes of a
/// program that is behind are joined to full segments.
const SHORT: f64 = 3.0;

/// The properties of the whole connection that the cause of a stretch depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) vantage: Vantage,
    pub(super) segment: Bytes,
    pub(super) base: Option<Span>,
    /// The best rate of a stretch.
    pub(super) best: Rate,
    /// The largest receive window so far.
    pub(super) largest: Bytes,
    /// Short segments per second.
    pub(super) short: f64,
    /// The share of stretches in which data came back.
    pub(super) answers: f64,
    /// The share of stretches with losses.
    pub(super) losses: f64,
    /// The number of the first stretch after slow start.
    pub(super) opened: usize,
}

impl Context {
    pub(super) fn of(evidence: &Evidence, stretches: &[Stretch]) -> Self {
        let active: Vec<&Stretch> = stretches.iter().filter(|one| one.delivered > Bytes::ZERO).collect();
        let share = |count: usize| count as f64 / active.len().max(1) as f64;
        let full = active.iter().filter_map(|one| Some((one.segments?, one.delivered)));
        let (segments, bytes) = full.fold((0, Bytes::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let busy = active.iter().fold(Span::ZERO, |sum, one| sum + one.busy()).as_secs_f64();
        let missing = segments as f64 - bytes.get() as f64 / evidence.segment.get().max(1) as f64;
        let base = evidence.base_round_trip;
        Self {
            vantage: evidence.vantage,
            segment: evidence.segment,
            base,
            best: active.iter().map(|one| one.rate()).max().unwrap_or(Rate::ZERO),
            largest: Bytes::ZERO,
            short: missing / busy.max(1e-9),
            answers: share(active.iter().filter(|one| one.returned > Some(Bytes::ZERO)).count()),
            losses: share(active.iter().filter(|one| one.strays > 0).count()),
            opened: opened(stretches),
        }
    }

    /// Returns true if a queue stands at the bottleneck during a stretch.
    pub(super) fn queued(&self, stretch: &Stretch) -> bool {
        let least = stretch.round_trips.map(|[least, ..]| least);
        self.base.zip(least).is_some_and(|(base, least)| {
            least.saturating_sub(base) > QUEUE.max(base.scale(QUEUE_SHARE))
        })
    }
}

/// Returns the number of the first stretch after slow start.
fn opened(stretches: &[Stretch]) -> usize {
    let mut grew = 0;
    let mut best = 0;
    for (number, stretch) in stretches.iter().enumerate() {
        if stretch.strays > 0 || number > grew + 1 {
            break;
        }
        let delivered = stretch.delivered.get();
        if delivered as f64 >= OPENS * best as f64 && delivered > 0 {
            grew = number;
            best = delivered;
        }
    }
    if grew == 0 { 0 } else { grew + 1 }
}

/// Returns the cause of a stretch, apart from its idle time; `number` is its place.
pub(super) fn cause(context: &Context, number: usize, stretch: &Stretch) -> Cause {
    let busy = stretch.busy().as_secs_f64().max(1e-9);
    let share = |time: Span| time.as_secs_f64() / busy;
    let queued = context.queued(stretch);
    let slowed = stretch.rate().as_bps_f64() < SLOWED * context.best.as_bps_f64();
    let [first, last, least, largest] = stretch.windows.unwrap_or([Bytes::ZERO; 4]);
    let few = context.segment * 2;
    if stretch.windows.is_some() {
        let shrunk = (largest.get() as f64) < SHRUNK * context.largest.get() as f64 || least < few;
        let unread = stretch.least_unread.is_some_and(|unread| unread > few);
        let full = match context.vantage {
            Vantage::ReceiverSocket => stretch
                .peak_flight
                .is_some_and(|flight| flight.get() as f64 >= FULL_AT_RECEIVER * least.get() as f64),
            _ => share(stretch.full) >= MOST,
        };
        if full || least < few {
            return match () {
                () if shrunk || unread => Cause::ReceivingProgram,
                () if queued => Cause::Network,
                () => Cause::ReceiveWindow,
            };
        }
        // The right edge of the window stands still while nobody reads.
        let still = first.saturating_sub(last).get() as f64 >= SLOWED * stretch.delivered.get() as f64;
        if slowed && (unread || (still && first > last)) {
            return Cause::ReceivingProgram;
        }
    }
    if stretch.strays > 0 {
        return Cause::Network;
    }
    if number < context.opened && share(stretch.dry) < 1.0 {
        return Cause::SlowStart;
    }
    if stretch.known > Span::ZERO {
        if share(stretch.dry) < SOME {
            return Cause::Network;
        }
    } else if context.losses > 0.1 {
        return Cause::Network;
    }
    if queued {
        return Cause::Network;
    }
    if share(stretch.buffer_full) >= MOST {
        return Cause::SendBuffer;
    }
    if context.answers > MOST {
        return Cause::ProgramWindow;
    }
    if stretch.known > Span::ZERO || context.short >= SHORT {
        return Cause::SendingProgram;
    }
    Cause::SendBuffer
}
