//! The sender: it decides when segments leave, and reacts to acknowledgements and timeouts.
//!
//! Windows and timers of RFC 5681 surround a scoreboard of RFC 6675. The window bounds the segments in the network
//! (`pipe`). So limited transmit (RFC 3042) and fast recovery follow from counting them. `sender/recovery.rs` repairs
//! losses; `sender/pacing.rs` paces and measures delivery rates; `sender/options.rs` drives what else a flow may turn
//! on: PRR, RACK-TLP, ECN. `sender/undo.rs` takes needless timeouts back. `sender/offload.rs` is segmentation offload,
//! `sender/writer.rs` the send buffer. `sender/features.rs` lists which of them may be on.

mod features;
mod loading;
mod marks;
mod offload;
mod options;
mod pacing;
mod recovery;
mod timed;
mod undo;
mod view;
mod writer;

pub(crate) use features::{Features, Full, Paced, Plain};

use super::Acknowledgement;
use super::blocks::Block;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use cc::{Ack, Allowance, CongestionControl};
use options::Options;
use pacing::Pacing;
use transport::{Recovery, Transport, WindowVariant};
use units::{Bytes, Span, Time};

/// The settings of a sender.
#[derive(Debug)]
pub(crate) struct SenderConfig {
    pub(crate) control: Box<dyn CongestionControl>,
    pub(crate) payload: Bytes,
    /// The most segments that may be unacknowledged, until an acknowledgement advertises another window.
    pub(crate) buffer_segments: u64,
    /// The number of segments to send; [`u64::MAX`] if greedy.
    pub(crate) total_segments: u64,
    pub(crate) transport: Transport,
    /// The time that a segment takes on the sender's own line; zero: it has none.
    pub(crate) line_gap: Span,
}

/// The loss episode that a sender is in, which restricts what it may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    /// The state in which no loss is being repaired.
    None,
    /// Fast recovery until `until` is acknowledged. `once`: RFC 6675's rule 4 has been used. Without selective
    /// acknowledgements: the first partial acknowledgement has come.
    FastRecovery { until: u64, once: bool },
    /// Repair after a timeout, in slow start, until `until` is acknowledged.
    Timeout { until: u64 },
    /// The time after fast recovery without selective acknowledgements, until something beyond `until` is acknowledged.
    /// Other losses before `until` wait for a timeout.
    Barred { until: u64 },
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) segment: u64,
    pub(crate) again: bool,
}

/// The fields that every packet touches come first, and those of pacing last.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    /// The time at which the retransmission timer expires.
    timer: Time,
    /// The time at which the earliest timer of an option expires.
    option_timer: Time,
    board: Scoreboard,
    /// The controller's window, as of its last event.
    window: u64,
    payload: u64,
    buffer_segments: u64,
    total_segments: u64,
    /// Segments below this were sent while the congestion window was the limit.
    limited_below: u64,
    round: u64,
    round_ends: u64,
    rtt: RttEstimator,
    control: Box<dyn CongestionControl>,
    /// The options that the flow has turned on.
    options: Option<Box<Options>>,
    episode: Episode,
    sack: bool,
    /// True if fast recovery repairs one segment only.
    reno: bool,
    /// True if the next retransmission may leave even if the window is full, such as the first of an episode.
    owed: bool,
    timestamps: bool,
    /// True if a probe of the tail may leave, whatever the window allows.
    probing: bool,
    /// True if routers read the sender's headers and answer.
    assisted: bool,
    /// The number of segments that a super-packet may have until something else arrives; zero: not computed yet.
    super_packet: u64,
    /// The state of pacing, of which a [plain](Plain) sender reads no more than that it is off.
    pacing: Pacing,
    /// Without time stamps: the segment being timed, and the time at which it was sent.
    timed: Option<(u64, Time)>,
    /// The segment for which the timer last expired; [`u64::MAX`] before that.
    timed_out: u64,
    timeouts: u64,
}

impl Sender {
    pub(crate) fn new(config: SenderConfig) -> Self {
        let (options, pacing) = (Options::of(&config), Pacing::of(&config));
        let timed = options.as_ref().is_some_and(|options| options.rack.is_some());
        let mut sender = Self {
            window: 0,
            board: Scoreboard::new(config.transport.sack, timed),
            sack: config.transport.sack,
            reno: config.transport.recovery == Recovery::Reno && !config.transport.sack,
            assisted: config.control.assist().is_some(),
            control: config.control,
            payload: config.payload.get(),
            buffer_segments: config.buffer_segments,
            total_segments: config.total_segments,
            episode: Episode::None,
            owed: false,
            rtt: RttEstimator::new(
                config.transport.min_rto,
                config.transport.host.window_variant == WindowVariant::Linux,
                config.transport.initial_rto,
            ),
            timestamps: config.transport.timestamps,
            timed: None,
            timer: Time::NEVER,
            option_timer: Time::NEVER,
            timed_out: u64::MAX,
            timeouts: 0,
            limited_below: 0,
            round: 0,
            round_ends: 0,
            probing: false,
            super_packet: 0,
            options,
            pacing,
        };
        sender.bound_by_writer(config.buffer_segments);
        sender.adopt::<Full>();
        sender
    }

    /// Takes the round-trip sample of the handshake; `None` if its segment had to be sent again.
    pub(crate) fn introduce(&mut self, now: Time, sample: Option<Span>) {
        let Some(sample) = sample else { return self.rtt.fall_back() };
        self.rtt.observe(sample);
        self.control.on_established(now, sample);
        // Only a controller with a rate is paced from here on. A pace by the window begins with the first
        // acknowledgement.
        if self.control.allowance().pacing.is_some() {
            self.adopt::<Full>();
        }
    }

    /// Returns the time at which the next of its timers expires.
    #[inline]
    pub(crate) fn timer(&self) -> Time {
        self.timer.min(self.option_timer)
    }

    /// Takes over what the controller now allows.
    #[inline]
    fn adopt<F: Features>(&mut self) {
        self.obey::<F>(self.control.allowance());
    }

    /// Takes over `allowance`.
    #[inline(always)]
    fn obey<F: Features>(&mut self, allowance: Allowance) {
        self.window = allowance.window.get();
        if allowance.pacing.is_some() || (F::PACED && self.pacing.paced()) {
            self.set_pace(allowance.pacing);
        }
    }

    /// Returns true if the sender uses windows alone ([`Plain`]).
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.pacing.is_on() && self.options.is_none()
    }

    /// Returns true if an option such as PRR, RACK-TLP or ECN is on ([`Full`]).
    #[inline]
    pub(crate) fn has_options(&self) -> bool {
        self.options.is_some()
    }

    /// Returns true if everything to send has been acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.board.una() >= self.total_segments
    }

    /// Stops sending anything beyond what has been sent.
    pub(crate) fn leave(&mut self) {
        self.total_segments = self.total_segments.min(self.board.next());
    }

    /// Returns the payload of every segment but the last.
    #[inline]
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// Returns true if [`transmit`](Sender::transmit) would send something now.
    #[inline]
    pub(crate) fn may_transmit<F: Features>(&self) -> bool {
        self.may_transmit_with::<F>(self.has_room_in_episode::<F>())
    }

    #[inline]
    fn may_transmit_with<F: Features>(&self, has_room: bool) -> bool {
        self.owed
            || (F::OPTIONS && self.probing)
            || (has_room && (self.may_send_new() || (self.episode != Episode::None && self.board.lost() > 0)))
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.has_room_beside(0)
    }

    /// Returns true if the window has room for one more segment, if `more` segments are in the network than the
    /// scoreboard counts.
    #[inline]
    fn has_room_beside(&self, more: u64) -> bool {
        (self.board.pipe() + more + 1) * self.payload <= self.window
    }

    #[inline]
    fn may_send_new(&self) -> bool {
        self.board.next() < self.total_segments && self.board.outstanding() < self.buffer_segments
    }

    /// Returns the next segment to leave, taken as sent at `now`; `None` if the windows are full.
    ///
    /// `F`: the features that may be on, [`Full`] if in doubt.
    #[inline(always)]
    pub(crate) fn transmit<F: Features>(&mut self, now: Time) -> Option<Transmission> {
        if F::PACED && self.is_held(now) {
            return None;
        }
        if F::OPTIONS && !self.admits(now) {
            return None;
        }
        let sent = if self.episode != Episode::None {
            self.transmit_in_episode::<F>()
        } else if F::OPTIONS && self.probing {
            self.transmit_probe()
        } else {
            self.transmit_new()
        };
        if F::OPTIONS && sent.is_none() {
            self.cut_short();
        }
        let sent = sent?;
        self.owed = false;
        // RFC 6675, section 6: a retransmission restarts the timer, so that an episode longer than one timeout does not
        // end in a needless timeout. Only the retransmission of the first hole restarts it. Otherwise the timer would
        // never expire if that one were lost again while others kept being repaired.
        let first_hole = sent.again && sent.segment == self.board.una() && !self.is_impatient();
        if first_hole || self.timer == Time::NEVER {
            self.timer = now + self.rtt.timeout();
        }
        if !self.timestamps {
            self.time(&sent, now);
        }
        if F::PACED {
            self.note_paced::<F>(now, &sent);
        }
        if F::OPTIONS {
            self.note_sent(now, &sent);
        }
        Some(sent)
    }

    /// Times `sent` if nothing is being timed. A segment sent again is not timed (Karn's rule). If it or a later
    /// segment is being timed, the timing stops, because the acknowledgement of a later segment waits for the repair, a
    /// round trip longer. 4.4BSD and ns-2 stop there, too (from memory, not checked).
    fn time(&mut self, sent: &Transmission, now: Time) {
        match self.timed {
            None if !sent.again => self.timed = Some((sent.segment, now)),
            Some((segment, _)) if sent.again && sent.segment <= segment => self.timed = None,
            _ => {}
        }
    }

    /// Returns the round-trip sample that an acknowledgement of new data gives.
    #[inline]
    fn sample(&mut self, now: Time, ack: &Acknowledgement) -> Option<Span> {
        if self.timestamps {
            return Some(now.since(ack.echo));
        }
        let (segment, sent) = self.timed?;
        (ack.cumulative > segment).then(|| {
            self.timed = None;
            now.since(sent)
        })
    }

    #[inline]
    fn transmit_new(&mut self) -> Option<Transmission> {
        if !self.has_room() {
            self.limited_below = self.board.next();
            return None;
        }
        self.may_send_new().then(|| Transmission { segment: self.board.send_next(), again: false })
    }

    /// Takes an acknowledgement, with the SACK blocks it carries if any can be lost. Returns the round-trip sample it
    /// gives.
    #[inline(always)]
    pub(crate) fn on_ack<F: Features>(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: &[Block],
    ) -> Option<Span> {
        let (first, sacked) = (self.board.una(), self.board.sacked());
        self.buffer_segments = ack.window;
        if F::OPTIONS {
            self.super_packet = 0;
        }
        if F::OPTIONS || (F::PACED && !blocks.is_empty()) {
            self.note_delivered(now, ack, blocks);
        } else if F::PACED && self.pacing.delivery.is_some() {
            self.note_deliveries(now, ack);
        }
        let mut duplicate = false;
        if !self.sack {
            duplicate = self.count_duplicate(ack);
        } else if let Some(segment) = ack.sacked {
            self.board.sack_beyond(ack.cumulative, segment, blocks);
        } else if !blocks.is_empty() {
            self.board.sack_blocks(ack.cumulative, blocks);
        }
        let newly = self.board.advance(ack.cumulative);
        // RFC 7323: only an acknowledgement that moves the left edge gives a sample.
        let mut sample = if newly > 0 { self.sample(now, ack) } else { None };
        if F::OPTIONS && newly == 0 {
            sample = self.selective_sample();
        }
        if let Some(sample) = sample {
            self.rtt.observe(sample);
        }
        if newly > 0 {
            // RFC 6298 (5.2), (5.3).
            if self.board.outstanding() == 0 {
                self.timer = Time::NEVER;
            } else if !self.is_impatient() {
                self.timer = now + self.rtt.timeout();
            }
        } else if F::OPTIONS && sample.is_some_and(|sample| self.precedes_first_hole(now, sample)) {
            self.timer = now + self.rtt.timeout();
        }
        // The acknowledgement that ends fast recovery covers segments sent before or in it. The window does not grow
        // for them.
        let mut recovering = matches!(self.episode, Episode::FastRecovery { .. });
        if F::OPTIONS {
            recovering |= self.heed(now, ack, blocks.len(), newly, sample);
        }
        let mut acked = newly;
        if F::OPTIONS {
            acked -= self.marked_part().min(newly);
        }
        if self.episode != Episode::None || self.board.has_sacked() {
            self.follow_episode(now, newly);
            recovering |= matches!(self.episode, Episode::FastRecovery { .. });
            if F::OPTIONS && recovering && self.credits_end() {
                (recovering, acked) = (false, newly + self.board.sacked() - sacked);
            }
        }
        let mut delivered = newly;
        if F::PACED && self.pacing.deliveries {
            delivered = if self.sack {
                newly + self.board.sacked() - sacked
            } else {
                self.note_unnamed(now, newly, duplicate)
            };
            self.report_losses();
        }
        if newly > 0 || (F::PACED && delivered > 0) {
            if self.board.una() > self.round_ends {
                self.round += 1;
                self.round_ends = self.board.next();
            }
            let mut event = Ack {
                now,
                acked: Bytes::new(acked * self.payload),
                delivered: Bytes::new(delivered * self.payload),
                newest_sent: ack.newest_sent,
                in_flight: Bytes::new(self.board.pipe() * self.payload),
                rtt: self.rtt.view(sample),
                rate: None,
                window_limited: first < self.limited_below,
                paced: F::PACED && self.pacing.paced(),
                recovering,
                round: self.round,
            };
            if F::PACED && self.pacing.delivery.is_some() {
                event.rate = self.sample_rate();
            }
            let allowance = self.control.allowance_after(&event);
            self.obey::<F>(allowance);
        } else if self.assisted {
            self.adopt::<F>();
        }
        if F::OPTIONS {
            self.allot(now, newly);
        }
        sample
    }
}
