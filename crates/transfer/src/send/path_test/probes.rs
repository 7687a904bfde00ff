//! The probes of a test: round trips and losses, from here to the receiver's echoer, from the beginning to the end.

use crate::lock::locked;
use crate::wire::test::ProbeResults;
use host::{Clock, PollFd, PollFlags};
use probe::{ProbeCounts, ProbeEvent, Prober};
use std::sync::{Arc, Mutex};
use units::{Bytes, Rate, Span, Time};

/// The least time between two probes.
const EVERY: Span = Span::from_millis(10);
/// The longest time between two probes, on a slow path.
const SELDOM: Span = Span::from_secs(1);
/// The length of a probe with its headers.
const PROBE: Bytes = Bytes::new(128);
/// The share of the path that probes may take.
const SHARE: f64 = 0.01;
/// The longest wait of the probing thread, which nothing wakes at the end.
const LOOK: Span = Span::from_millis(50);

/// The findings of the probes, as all threads see them.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeLog(Arc<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    /// The time of each echo, and its round trip.
    echoes: Vec<(Time, Span)>,
    counts: ProbeCounts,
    every: Span,
}

impl Default for Log {
    fn default() -> Self {
        Self { echoes: Vec::new(), counts: ProbeCounts::default(), every: EVERY }
    }
}

/// A moment of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    echoes: usize,
    counts: ProbeCounts,
}

impl ProbeLog {
    pub(super) fn mark(&self) -> Mark {
        let log = locked(&self.0);
        Mark { echoes: log.echoes.len(), counts: log.counts }
    }

    /// Lowers the rate of the probes on a slow path.
    pub(super) fn fit(&self, path: Rate) {
        locked(&self.0).every = path.scale(SHARE).serialization(PROBE).clamp(EVERY, SELDOM);
    }

    /// Returns the echoes between two moments.
    pub(super) fn echoes(&self, (from, to): (Mark, Mark)) -> Vec<(Time, Span)> {
        locked(&self.0).echoes[from.echoes..to.echoes].to_vec()
    }

    /// Returns the results between two moments, with the losses to the receiver (`up`) or those from it.
    pub(super) fn results(&self, marks: (Mark, Mark), up: bool) -> ProbeResults {
        let nanos: Vec<u64> = self.echoes(marks).iter().map(|(_, rtt)| rtt.as_nanos()).collect();
        let (before, after) = (marks.0.counts, marks.1.counts);
        let lost = if up {
            after.lost_with_acks - before.lost_with_acks
        } else {
            after.lost_with_data - before.lost_with_data
        };
        ProbeResults {
            sent: after.sent - before.sent,
            lost,
            least: nanos.iter().copied().min().unwrap_or(0),
            mean: nanos.iter().sum::<u64>() / nanos.len().max(1) as u64,
            most: nanos.iter().copied().max().unwrap_or(0),
        }
    }

    /// Returns the latest round trip.
    pub(super) fn latest(&self) -> Option<Span> {
        locked(&self.0).echoes.last().map(|&(_, rtt)| rtt)
    }
}

/// Probes until `is_over`.
pub(super) fn probe(mut prober: Prober, log: &ProbeLog, clock: &Clock, is_over: &dyn Fn() -> bool) {
    while !is_over() {
        let every = locked(&log.0).every;
        prober.set_interval(Some(every), clock.now());
        let events = prober.poll(clock);
        let now = clock.now();
        let mut findings = locked(&log.0);
        findings.counts = prober.counts();
        findings.echoes.extend(events.into_iter().filter_map(|event| match event {
            ProbeEvent::Echo(rtt) => Some((now, rtt)),
            ProbeEvent::Lost | ProbeEvent::Train(_) => None,
        }));
        drop(findings);
        let wait = prober.wakeup().since(clock.now()).min(LOOK);
        // An interruption does no harm, because the prober looks at everything again.
        let _ = host::wait(&mut [PollFd::new(&prober, PollFlags::IN)], Some(wait));
    }
}
