//! The control connection: the receiver's answers, and reports to it.

use super::flight::{Flight, locked};
use super::sources::Source;
use super::walk;
use crate::channel::{Inlet, Message};
use crate::error::TransferError;
use crate::measure::SenderTimes;
use crate::progress::{Observer, Snapshot};
use crate::summary::sample;
use crate::wire::control::{Progress, Report, StreamReport, ToReceiver, ToSender, Verdict};
use crate::wire::frame;
use live::{TcpInfo, options};
use std::sync::atomic::Ordering::Relaxed;
use units::{Bytes, Foreign, Rate, Span, Time};

/// The kernel takes the largest number as no limit.
const UNPACED: Rate = Rate::from_bps(u64::MAX);
/// Between reports.
const TICK: Span = Span::from_millis(100);
/// The same while files are still counted.
const SOON: Span = Span::from_millis(10);
/// A receiver that gives up says why.
const LAST_WORD: Span = Span::from_secs(1);
/// A receiver says something at least this often, or it is gone.
const SILENCE: Span = Span::from_secs(30);

/// Hears the receiver until its last word.
pub(super) fn serve(
    flight: &Flight,
    sources: &[Source],
    observer: &dyn Observer,
) -> Result<(), TransferError> {
    std::thread::scope(|threads| {
        let totals = threads.spawn(|| walk::totals(sources, flight));
        let mut totals = Some(totals);
        let mut control = Control { flight, observer, heard: flight.clock.now(), all: None, before: None };
        let mut inlet = Inlet::new(&flight.control);
        let mut due = flight.clock.now();
        // Nothing can be said any more; the receiver may have said why.
        let mut broken: Option<TransferError> = None;
        loop {
            let message = match (inlet.message(due), broken.take()) {
                (Err(_) | Ok(Message::Nothing | Message::End), Some(broken)) => return Err(broken),
                (message, was) => {
                    broken = was;
                    message?
                }
            };
            match message {
                Message::Is(message) => {
                    control.heard = flight.clock.now();
                    if control.hear(message, &inlet)? {
                        return Ok(());
                    }
                }
                Message::Nothing if flight.clock.now().since(control.heard) > SILENCE => {
                    return Err(TransferError::gone(format!("the receiver said nothing for {SILENCE}")));
                }
                Message::Nothing => {}
                Message::End => return Err(TransferError::gone("the receiver left before the end")),
            }
            if flight.clock.now() >= due {
                flight.unsaid().iter().for_each(|line| observer.say(line));
                // The receiver may be waiting for the totals.
                due = flight.clock.now() + if totals.is_some() { SOON } else { TICK };
                let mut out = Vec::new();
                if totals.as_ref().is_some_and(std::thread::ScopedJoinHandle::is_finished)
                    && let Some(counted) = totals.take()
                    && let Ok(Some((entries, bytes))) = counted.join()
                {
                    control.all = Some((entries, bytes));
                    frame::append(&mut out, &ToReceiver::Totals { entries, bytes });
                }
                let report = report(flight);
                locked(&flight.last).1 = report.clone();
                frame::append(&mut out, &ToReceiver::Report(report));
                if broken.is_none()
                    && let Err(error) = flight.control.write(&out)
                {
                    (broken, due) = (Some(error), flight.clock.now() + LAST_WORD);
                }
            }
        }
    })
}

struct Control<'a> {
    flight: &'a Flight,
    observer: &'a dyn Observer,
    heard: Time,
    all: Option<(u64, u64)>,
    /// Bytes at the receiver, and when.
    before: Option<(Time, u64, f64)>,
}

impl Control<'_> {
    /// Whether this was the last word.
    fn hear(&mut self, message: ToSender, inlet: &Inlet<'_>) -> Result<bool, TransferError> {
        let queue = &self.flight.queue;
        match message {
            ToSender::Welcome { .. } | ToSender::Busy(_) => return Err(inlet.protocol("a second welcome")),
            ToSender::Answer { id, verdict } => match verdict {
                Verdict::Want => {
                    queue.want(id);
                }
                Verdict::Rest(there) => {
                    if let Some(file) = queue.find(id) {
                        file.there(there);
                        queue.want(id);
                    }
                }
                Verdict::Check(_) => return Err(inlet.protocol("a check of a file, which was not announced")),
                Verdict::Have | Verdict::Kept => {
                    if queue.end(id).is_some() {
                        self.flight.skipped.fetch_add(1, Relaxed);
                    }
                }
                Verdict::Refused(reason) => {
                    queue.end(id);
                    self.lost(reason);
                }
            },
            ToSender::Failed { id, reason } => {
                if let Some(file) = queue.end(id) {
                    file.give_up();
                }
                self.lost(reason);
            }
            ToSender::Progress(progress) => self.progress(progress),
            ToSender::Pace { stream, bps } => self.pace(stream, bps.map(Rate::from_bps)),
            ToSender::Finished(finished) => {
                locked(&self.flight.last).1 = report(self.flight);
                self.flight.finished(finished);
                let mut out = Vec::new();
                frame::append(&mut out, &ToReceiver::Bye);
                self.flight.control.write(&out)?;
                self.flight.control.finish();
                return Ok(true);
            }
            ToSender::Abort { reason } => return Err(TransferError::Aborted(reason)),
        }
        Ok(false)
    }

    /// Paces one data connection, within what `--limit` leaves it. That the kernel does not is no reason to stop.
    fn pace(&self, stream: u16, rate: Option<Rate>) {
        let share = self
            .flight
            .own_limit
            .map(|limit| Rate::from_bps((limit.as_bps() / self.flight.data.len() as u64).max(1)));
        let rate = [rate, share].into_iter().flatten().min().unwrap_or(UNPACED);
        if let Some(channel) = self.flight.data.get(usize::from(stream)) {
            let _ = options::set_max_pacing_rate(channel.tcp(), rate);
        }
    }

    fn lost(&self, reason: String) {
        let line = Foreign::new(&reason).to_string();
        if self.flight.lost_there(reason) {
            self.observer.say(&line);
        }
    }

    fn progress(&mut self, progress: Progress) {
        let now = self.flight.clock.now();
        let rate_bps = match self.before {
            Some((then, bytes, rate)) => {
                let passed = now.since(then).as_secs_f64().max(1e-3);
                let last = progress.bytes.saturating_sub(bytes) as f64 * 8.0 / passed;
                // Half of it within two reports: steady enough to read.
                (rate + last) / 2.0
            }
            None => 0.0,
        };
        self.before = Some((now, progress.bytes, rate_bps));
        let info = self.flight.data.first().and_then(|channel| TcpInfo::of(channel.tcp()).ok());
        let elapsed = now.since(self.flight.began);
        {
            let mut last = locked(&self.flight.last);
            last.0 = progress.clone();
            let mut history = locked(&self.flight.history);
            history.add(now, sample(elapsed, &progress, &last.1));
            history.entered(&progress.entered);
        }
        self.observer.progress(&Snapshot {
            elapsed,
            entries: progress.entries,
            bytes: progress.bytes,
            all_entries: self.all.map(|all| all.0),
            all_bytes: self.all.map(|all| all.1),
            rate_bps,
            rtt: info.and_then(|info| info.rtt),
            window: progress.window.map(Bytes::new),
            phase: progress.phase,
            reason: progress.reason,
        });
    }
}

/// What the kernel says of each data connection, and what their threads waited for.
fn report(flight: &Flight) -> Report {
    let nanos = |span: Option<Span>| span.map_or(0, Span::as_nanos);
    let report = |channel: &crate::channel::Channel| {
        let info = TcpInfo::of(channel.tcp()).ok()?;
        Some(StreamReport {
            busy: nanos(info.busy_time),
            window_limited: nanos(info.rwnd_limited),
            buffer_limited: nanos(info.sndbuf_limited),
            retransmits: info.total_retrans.into(),
            rtt: nanos(info.rtt),
            min_rtt: nanos(info.min_rtt),
            congestion_window: info.congestion_window().get(),
            acknowledged: info.bytes_acked.get(),
            segment: info.snd_mss.get(),
        })
    };
    // What was handed over last has still to arrive, and to be stored; all data connections wait for that.
    let (idle, at_the_end) = flight.waits();
    let to_send: Span = flight.data.iter().map(crate::channel::Channel::waited_to_send).sum();
    let times = SenderTimes {
        network: (to_send + at_the_end).as_nanos(),
        disk: flight.disk.load(Relaxed),
        limit: flight.limit.waited().as_nanos(),
        idle: idle.as_nanos(),
    };
    let streams = flight.data.iter().map(|channel| report(channel).unwrap_or_default()).collect();
    let first = flight.data.first().and_then(|channel| options::congestion_control(channel.tcp()).ok());
    let rate_based = first.is_some_and(|control| options::is_rate_based(&control));
    Report { streams, rate_based, times }
}
