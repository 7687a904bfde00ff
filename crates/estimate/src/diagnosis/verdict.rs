//! [`diagnose`]: the shares of time by cause, and the first of them in words.

use super::causes::{Context, cause};
use super::confidence::confidence;
use super::evidence::{Evidence, UNSCALED, Vantage, WindowSizing};
use super::path::path;
use super::stretch::{Stretch, stretches};
use units::{Bytes, Rate, Span};

/// A limit of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The sending program: it had nothing to send, or wrote too slowly.
    SendingProgram,
    /// The send buffer.
    SendBuffer,
    /// The receive window, which the receiver's kernel or an option of its program bounds.
    ReceiveWindow,
    /// The receiving program: it read too slowly, and the window closed.
    ReceivingProgram,
    /// A window of the program's own protocol: SSH's channel, HTTP/2's stream.
    ProgramWindow,
    /// Slow start: the sender had not reached any limit yet.
    SlowStart,
    /// The network: congestion, losses, and the congestion window that answers them.
    Network,
}

impl Cause {
    /// All causes, from the sender to the receiver, the network last.
    pub const ALL: [Self; 7] = [
        Self::SendingProgram,
        Self::SendBuffer,
        Self::ReceiveWindow,
        Self::ReceivingProgram,
        Self::ProgramWindow,
        Self::SlowStart,
        Self::Network,
    ];

    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendingProgram => "sending-program",
            Self::SendBuffer => "send-buffer",
            Self::ReceiveWindow => "receive-window",
            Self::ReceivingProgram => "receiving-program",
            Self::ProgramWindow => "program-window",
            Self::SlowStart => "slow-start",
            Self::Network => "network",
        }
    }

    /// Returns its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::SendingProgram => "sending application",
            Self::SendBuffer => "sender's buffer",
            Self::ReceiveWindow => "receiver's window",
            Self::ReceivingProgram => "receiving application",
            Self::ProgramWindow => "application's own window",
            Self::SlowStart => "slow start",
            Self::Network => "network",
        }
    }
}

/// Shares of time by cause; they add to one, or are all zero without any evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares([f64; Cause::ALL.len()]);

impl Shares {
    /// Returns the share of a cause.
    #[must_use]
    pub const fn of(&self, cause: Cause) -> f64 {
        self.0[cause as usize]
    }

    /// Returns the cause with the largest share; `None` without any evidence.
    #[must_use]
    pub fn first(&self) -> Option<(Cause, f64)> {
        let first = Cause::ALL.into_iter().max_by(|&a, &b| self.of(a).total_cmp(&self.of(b)))?;
        (self.of(first) > 0.0).then(|| (first, self.of(first)))
    }

    /// Returns the shares in whole percent, the largest first, without those of 0 %. They add up to 100.
    #[must_use]
    pub fn percents(&self) -> Vec<(Cause, usize)> {
        let mut parts: Vec<(Cause, f64)> =
            Cause::ALL.into_iter().map(|cause| (cause, self.of(cause) * 100.0)).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        if parts[0].1 <= 0.0 {
            return Vec::new();
        }
        // The whole parts are rounded down, and the percents that are left go to the largest remainders.
        let mut whole: Vec<usize> = parts.iter().map(|(_, share)| *share as usize).collect();
        let left = 100 - whole.iter().sum::<usize>().min(100);
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by(|&a, &b| parts[b].1.fract().total_cmp(&parts[a].1.fract()));
        order.iter().take(left).for_each(|&place| whole[place] += 1);
        let named = parts.iter().zip(whole).map(|(&(cause, _), percent)| (cause, percent));
        named.filter(|(_, percent)| *percent > 0).collect()
    }
}

/// The state of the path, in the terms of SOBAS (docs/papers/sobas.md): window-limited, not congested, self-induced loss,
/// congested; and two states that it does not distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// A window bounds the flow before the path does; the path is not congested.
    WindowLimited,
    /// The path is not congested, and no window bounds the flow.
    NotCongested,
    /// The flow fills the bottleneck's buffer itself, and loses packets when it overflows.
    SelfInduced,
    /// Other flows share the bottleneck.
    Congested,
    /// Packets are lost without a queue.
    RandomLoss,
    /// The queue is kept short by marks or early drops.
    Managed,
}

impl PathState {
    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WindowLimited => "window-limited",
            Self::NotCongested => "not-congested",
            Self::SelfInduced => "self-induced",
            Self::Congested => "congested",
            Self::RandomLoss => "random-loss",
            Self::Managed => "managed",
        }
    }

    /// Returns its description for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::WindowLimited => "limited by a window, not congested",
            Self::NotCongested => "not congested",
            Self::SelfInduced => "filled by this flow itself",
            Self::Congested => "congested, shared with others",
            Self::RandomLoss => "losses without a queue",
            Self::Managed => "a managed queue (marks or early drops)",
        }
    }
}

/// The confidence in a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The evidence fits other causes as well.
    Low,
    /// The evidence is short, or part of it is inferred.
    Fair,
    /// The evidence fits one cause only.
    High,
}

impl Confidence {
    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Fair => "fair",
            Self::High => "high",
        }
    }
}

/// The verdict on one direction of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The shares of time.
    pub shares: Shares,
    /// The first cause; `None` if the evidence does not say.
    pub cause: Option<Cause>,
    /// The state of the path; `None` if the evidence does not say.
    pub path: Option<PathState>,
    /// The confidence in the cause.
    pub confidence: Confidence,
    /// The reason of that confidence: a sentence.
    pub reason: String,
    /// The data that were in flight while the cause applied: the mean of the largest of each round trip.
    pub in_use: Option<Bytes>,
}

/// The share of the largest window without scaling from which the want of scaling bounds a window. The kernel keeps
/// windows at multiples of a segment.
const UNSCALED_USED: f64 = 0.75;
/// The share of a stretch that is a pause of the sender. Shorter times without data are gaps between its packets, as
/// far as another observer knows.
const GAP: f64 = 0.5;
/// The stretches whose mean rate is compared, and the distance of the quartiles of these rates over the median from
/// which no buffer of one size is the limit.
const TOGETHER: usize = 5;
const CHANGES: f64 = 0.25;

/// Finds what limited a connection.
#[must_use]
pub fn diagnose(evidence: &Evidence) -> Diagnosis {
    let stretches = stretches(evidence);
    let (context, found) = causes(evidence, &stretches);
    let of = |wanted: Cause| {
        let those = stretches.iter().zip(&found).filter(move |&(_, &cause)| cause == wanted);
        those.map(|(stretch, _)| *stretch).collect::<Vec<_>>()
    };
    let shares = shares(&stretches, &found);
    let verdict = shares.first().and_then(|(first, _)| {
        let (confidence, mut reason) = confidence(evidence, &context, &shares, &of(first))?;
        if first == Cause::ReceiveWindow {
            reason += bound_of_window(evidence);
        }
        Some((first, confidence, reason))
    });
    let Some((first, confidence, reason)) = verdict else {
        return Diagnosis {
            shares,
            cause: None,
            path: None,
            confidence: Confidence::Low,
            reason: "Too little data moved for a limit to show.".into(),
            in_use: None,
        };
    };
    let flights = of(first).into_iter().filter_map(|one| one.peak_flight).map(Bytes::get);
    let flights: Vec<u64> = flights.filter(|&flight| flight > 0).collect();
    Diagnosis {
        path: path(evidence, &context, first, &of(Cause::Network)),
        shares,
        cause: Some(first),
        confidence,
        reason,
        in_use: (!flights.is_empty()).then(|| Bytes::new(flights.iter().sum::<u64>() / flights.len() as u64)),
    }
}

/// Returns a sentence about the setting that bounds a receive window, with a blank before it, if one is known.
fn bound_of_window(evidence: &Evidence) -> &'static str {
    let windows = evidence.intervals.iter().filter_map(|interval| interval.receive_window);
    let largest = windows.max().unwrap_or_default();
    if evidence.scaling_off && largest.get() as f64 >= UNSCALED_USED * UNSCALED.get() as f64 {
        " Window scaling is off, so it has at most 65,535 bytes."
    } else if evidence.sizing == Some(WindowSizing::AutotuningOff) {
        " Autotuning is off at the receiver (net.ipv4.tcp_moderate_rcvbuf = 0), so it does not grow."
    } else {
        ""
    }
}

/// Returns the cause of each stretch.
fn causes(evidence: &Evidence, stretches: &[Stretch]) -> (Context, Vec<Cause>) {
    let mut context = Context::of(evidence, stretches);
    let mut found = Vec::with_capacity(stretches.len());
    for (number, stretch) in stretches.iter().enumerate() {
        if let Some([.., largest]) = stretch.windows {
            context.largest = context.largest.max(largest);
        }
        found.push(cause(&context, number, stretch));
        context.before = Some(*stretch);
        context.window = stretch.windows.map(|[_, last, ..]| last).or(context.window);
        if stretch.strays > 0 {
            context.lost = Some(stretch.from + stretch.length);
        }
    }
    // Only the sender's own socket shows a full buffer. Elsewhere it is what remains, and holds for the whole connection
    // at one rate, or not at all.
    if evidence.vantage != Vantage::SenderSocket {
        let guessed: Vec<Stretch> = stretches
            .iter()
            .zip(&found)
            .filter(|&(_, &cause)| cause == Cause::SendBuffer)
            .map(|(one, _)| *one)
            .collect();
        let first = shares(stretches, &found).first().map(|(first, _)| first);
        let instead = if changes(&guessed) { Some(Cause::Network) } else { first };
        for cause in found.iter_mut().filter(|cause| **cause == Cause::SendBuffer) {
            *cause = instead.unwrap_or(*cause);
        }
    }
    (context, found)
}

/// Adds the times of all causes up.
fn shares(stretches: &[Stretch], found: &[Cause]) -> Shares {
    let mut times = [0.0; Cause::ALL.len()];
    for (stretch, &cause) in stretches.iter().zip(found) {
        let pause = match cause {
            // A capture shows more of a pause: it begins with a segment that is not full.
            Cause::Network => stretch.short,
            // A small window is sent at once, and the rest of the round trip is silent.
            Cause::SlowStart => Span::ZERO,
            _ => stretch.idle,
        };
        // A window of the program's own leaves gaps in each round trip: until a message of the receiver lets it go on.
        let is_exact = stretch.known > Span::ZERO && cause != Cause::ProgramWindow;
        let pauses = is_exact || pause > stretch.length.scale(GAP);
        let idle = if pauses { Cause::SendingProgram } else { cause };
        times[idle as usize] += pause.as_secs_f64();
        times[cause as usize] += (stretch.length - pause).as_secs_f64();
    }
    let total: f64 = times.iter().sum();
    Shares(if total > 0.0 { times.map(|time| time / total) } else { times })
}

/// Returns true if the rate changes more than that of a sender with a buffer of one size.
fn changes(stretches: &[Stretch]) -> bool {
    let rate = |some: &[Stretch]| {
        let bytes = some.iter().fold(Bytes::ZERO, |sum, one| sum + one.arrived);
        let time = some.iter().fold(Span::ZERO, |sum, one| sum + one.busy());
        if time == Span::ZERO { Rate::ZERO } else { Rate::of(bytes, time) }
    };
    let mut rates: Vec<Rate> = stretches.chunks_exact(TOGETHER).map(rate).collect();
    rates.sort_unstable();
    rates.len() >= TOGETHER && {
        let [lower, median, upper] = [1, 2, 3].map(|quarter| rates[rates.len() * quarter / 4].as_bps_f64());
        upper - lower > CHANGES * median
    }
}
