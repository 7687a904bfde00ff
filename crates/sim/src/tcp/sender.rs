//! The sender: what may leave when, and what an acknowledgement or a silence means.
//!
//! RFC 5681 windows and timers around an RFC 6675 scoreboard: limited transmit (RFC 3042) and fast recovery
//! follow from counting what is in the network (`pipe`), since that is what the window bounds.

use super::Acknowledgement;
use super::blocks::Block;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use cc::{Ack, Congestion, CongestionControl, CongestionKind};
use units::{Bytes, Span, Time};

/// What a sender is like.
#[derive(Debug)]
pub(crate) struct SenderConfig {
    pub(crate) control: Box<dyn CongestionControl>,
    pub(crate) payload: Bytes,
    /// At most this many segments unacknowledged: the smaller of the socket buffers.
    pub(crate) buffer_segments: u64,
    /// Segments to send; [`u64::MAX`] when greedy.
    pub(crate) total_segments: u64,
    pub(crate) min_rto: Span,
    /// The timeout before the first round-trip sample.
    pub(crate) initial_rto: Span,
    /// Every acknowledgement of new data gives a round-trip sample (RFC 7323); without, one segment is timed at
    /// a time, and not if it was sent again (Karn).
    pub(crate) timestamps: bool,
    /// Acknowledgements name what arrived out of order (RFC 2018); without, RFC 6582 repairs one loss per round
    /// trip.
    pub(crate) sack: bool,
}

/// Why fewer than the usual rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    /// No loss is being repaired.
    None,
    /// Fast recovery until `until` is acknowledged; rule 4 has been used or not.
    FastRecovery { until: u64, rescued: bool },
    /// Repair after a timeout, in slow start, until `until` is acknowledged.
    Timeout { until: u64 },
}

/// A segment leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) segment: u64,
    pub(crate) again: bool,
}

#[derive(Debug)]
pub(crate) struct Sender {
    board: Scoreboard,
    control: Box<dyn CongestionControl>,
    /// The controller's window, as of its last event.
    window: u64,
    payload: u64,
    buffer_segments: u64,
    total_segments: u64,
    episode: Episode,
    sack: bool,
    /// The first retransmission of an episode does not wait for the window.
    owed: bool,
    rtt: RttEstimator,
    timestamps: bool,
    /// Without timestamps: the segment being timed, and when it was sent.
    timed: Option<(u64, Time)>,
    timer: Time,
    /// The segment the timer last expired for.
    timed_out: Option<u64>,
    /// Segments below this were sent while the congestion window was the limit.
    limited_below: u64,
    round: u64,
    round_ends: u64,
}

impl Sender {
    pub(crate) fn new(config: SenderConfig) -> Self {
        Self {
            window: config.control.allowance().window.get(),
            board: Scoreboard::new(config.sack),
            sack: config.sack,
            control: config.control,
            payload: config.payload.get(),
            buffer_segments: config.buffer_segments,
            total_segments: config.total_segments,
            episode: Episode::None,
            owed: false,
            rtt: RttEstimator::new(config.min_rto, config.initial_rto),
            timestamps: config.timestamps,
            timed: None,
            timer: Time::NEVER,
            timed_out: None,
            limited_below: 0,
            round: 0,
            round_ends: 0,
        }
    }

    /// The handshake gave this round-trip sample; `None` if its segment had to be sent again.
    pub(crate) fn introduce(&mut self, sample: Option<Span>) {
        match sample {
            Some(sample) => self.rtt.observe(sample),
            None => self.rtt.fall_back(),
        }
    }

    /// When the retransmission timer expires.
    #[inline]
    pub(crate) fn timer(&self) -> Time {
        self.timer
    }

    /// Everything to send has been acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.board.una() >= self.total_segments
    }

    /// RFC 6298's smoothed round-trip time, once there is a sample.
    pub(crate) fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.smoothed()
    }

    /// The send window: the least of congestion window and socket buffers.
    pub(crate) fn send_window(&self) -> Bytes {
        Bytes::new(self.window.min(self.buffer_segments.saturating_mul(self.payload)))
    }

    /// Segment payload other than the last.
    #[inline]
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// Whether [`transmit`](Sender::transmit) would send something now.
    pub(crate) fn may_transmit(&self) -> bool {
        self.owed
            || (self.has_room()
                && (self.may_send_new() || (self.episode != Episode::None && self.board.lost() > 0)))
    }

    #[inline]
    fn has_room(&self) -> bool {
        (self.board.pipe() + 1) * self.payload <= self.window
    }

    #[inline]
    fn may_send_new(&self) -> bool {
        self.board.next() < self.total_segments && self.board.outstanding() < self.buffer_segments
    }

    /// The next segment to leave, taken as sent at `now`; `None` when the windows are full.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time) -> Option<Transmission> {
        let sent =
            if self.episode == Episode::None { self.transmit_new() } else { self.transmit_in_episode() }?;
        self.owed = false;
        // RFC 6675, section 6: a retransmission restarts the timer, lest an episode of more than one timeout's
        // length end in a needless timeout. Only that of the first hole: were it lost again while others kept
        // being mended, the timer would never expire. RFC 6582's slow-but-steady variant does the same.
        let first_hole = sent.again && sent.segment == self.board.una();
        if first_hole || self.timer == Time::NEVER {
            self.timer = now + self.rtt.timeout();
        }
        if !self.timestamps {
            self.time(&sent, now);
        }
        Some(sent)
    }

    /// Times `sent` if nothing is being timed; forgets it if it was sent again.
    fn time(&mut self, sent: &Transmission, now: Time) {
        match self.timed {
            None if !sent.again => self.timed = Some((sent.segment, now)),
            Some((segment, _)) if sent.again && sent.segment == segment => self.timed = None,
            _ => {}
        }
    }

    /// The round-trip sample an acknowledgement of new data gives.
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

    /// RFC 6675's NextSeg: lost segments, then new ones, then holes not yet lost, then once the last.
    fn transmit_in_episode(&mut self) -> Option<Transmission> {
        let again = |segment| Transmission { segment, again: true };
        if !self.has_room() && !self.owed {
            self.limited_below = self.board.next();
            return None;
        }
        let hole = match self.episode {
            Episode::FastRecovery { .. } if !self.sack => self.board.first().filter(|_| self.owed),
            _ => self.board.resend_lost(),
        };
        if let Some(segment) = hole {
            return Some(again(segment));
        }
        if self.may_send_new() {
            return Some(Transmission { segment: self.board.send_next(), again: false });
        }
        let Episode::FastRecovery { until, rescued } = self.episode else { return None };
        if !self.sack {
            return None;
        }
        if let Some(segment) = self.board.resend_hole() {
            return Some(again(segment));
        }
        if rescued {
            return None;
        }
        self.episode = Episode::FastRecovery { until, rescued: true };
        self.board.rescue().map(again)
    }

    /// An acknowledgement arrives, with the SACK blocks it carries where any can be lost. Returns the round-trip
    /// sample it gives.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Acknowledgement, blocks: &[Block]) -> Option<Span> {
        let first = self.board.una();
        if !self.sack {
            self.count_duplicate(ack);
        } else if let Some(segment) = ack.sacked {
            self.board.sack_beyond(ack.cumulative, segment, blocks);
        } else if !blocks.is_empty() {
            self.board.sack_blocks(ack.cumulative, blocks);
        }
        let newly = self.board.advance(ack.cumulative);
        // RFC 7323: only an acknowledgement that moves the left edge gives a sample.
        let sample = if newly > 0 { self.sample(now, ack) } else { None };
        if let Some(sample) = sample {
            self.rtt.observe(sample);
        }
        if newly > 0 {
            self.timed_out = None;
            // RFC 6298 (5.2), (5.3).
            self.timer = if self.board.outstanding() == 0 { Time::NEVER } else { now + self.rtt.timeout() };
        }
        // What an acknowledgement that ends fast recovery covers was sent before or in it: no growth for that.
        let mut recovering = matches!(self.episode, Episode::FastRecovery { .. });
        if self.episode != Episode::None || self.board.has_sacked() {
            self.follow_episode(now, newly);
            recovering |= matches!(self.episode, Episode::FastRecovery { .. });
        }
        if newly > 0 {
            if self.board.una() > self.round_ends {
                self.round += 1;
                self.round_ends = self.board.next();
            }
            self.control.on_ack(&Ack {
                now,
                acked: Bytes::new(newly * self.payload),
                newest_sent: ack.newest_sent,
                in_flight: Bytes::new(self.board.pipe() * self.payload),
                rtt: self.rtt.view(sample),
                rate: None,
                window_limited: first < self.limited_below,
                recovering,
                round: self.round,
            });
            self.window = self.control.allowance().window.get();
        }
        sample
    }

    /// RFC 5681's duplicate: data are outstanding and it moves nothing. After a timeout duplicates tell of what was
    /// sent again needlessly.
    fn count_duplicate(&mut self, ack: &Acknowledgement) {
        let moves_nothing = ack.cumulative == self.board.una() && self.board.outstanding() > 0;
        if moves_nothing && !matches!(self.episode, Episode::Timeout { .. }) {
            self.board.duplicate();
        }
    }

    /// Ends the episode that this acknowledgement completes, begins the one it reveals.
    fn follow_episode(&mut self, now: Time, newly: u64) {
        let una = self.board.una();
        match self.episode {
            Episode::FastRecovery { until, .. } | Episode::Timeout { until } if una >= until => {
                self.episode = Episode::None;
                self.board.end_recovery();
            }
            // RFC 6582: a partial acknowledgement names the next hole.
            Episode::FastRecovery { .. } => self.owed |= !self.sack && newly > 0,
            Episode::None | Episode::Timeout { .. } => {}
        }
        if self.episode == Episode::None && self.board.first_is_lost() {
            self.board.begin_recovery();
            self.episode = Episode::FastRecovery { until: self.board.next(), rescued: false };
            self.owed = true;
            self.congestion(now, CongestionKind::Loss);
        }
    }

    fn congestion(&mut self, now: Time, kind: CongestionKind) {
        // RFC 5681, section 3.2: what limited transmit added beyond the window does not count.
        let in_flight = (self.board.outstanding() * self.payload).min(self.window);
        self.control.on_congestion(&Congestion {
            now,
            kind,
            lost: Bytes::new(self.board.lost() * self.payload),
            in_flight: Bytes::new(in_flight),
        });
        self.window = self.control.allowance().window.get();
    }

    /// The retransmission timer expired: RFC 6298 (5.4)-(5.7), RFC 6675 section 5.1.
    pub(crate) fn on_timer(&mut self, now: Time) {
        let una = self.board.una();
        let kind = if self.timed_out == Some(una) {
            CongestionKind::PersistentLoss
        } else {
            CongestionKind::Timeout
        };
        self.timed_out = Some(una);
        self.congestion(now, kind);
        self.board.lose_everything();
        self.timed = None;
        self.episode = Episode::Timeout { until: self.board.next() };
        self.owed = true;
        self.rtt.back_off();
        self.timer = now + self.rtt.timeout();
    }
}
