//! A sender's work for rate-based controllers: the pace at which segments leave, and the delivery rates that
//! controllers receive.

use super::{Features, Sender, SenderConfig, Transmission};
use crate::tcp::Acknowledgement;
use crate::tcp::delivery::Delivery;
use crate::tcp::pacer::Pacer;
use cc::{LostSegment, RateSample};
use link::assist::CongestionHeader;
use transport::BbrVariant;
use units::{Bytes, Rate, Span, Time};

/// The number of segments at the beginning of a connection that Linux does not pace; the tenth is the first with a pace
/// (`tcp_update_skb_after_send()` of 6.18).
const LINUX_UNPACED: u64 = 9;

/// The state of pacing and of delivery rates. The flags that say that it is off come first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Pacing {
    /// True if there is a pace; otherwise the pacer holds nothing back.
    paced: bool,
    /// True if there is anything to do: a pace, a cap on it by the receiver's sizer, a line of the sender's own, or
    /// deliveries and losses to report.
    on: bool,
    /// True if the sender has a line of its own.
    lined: bool,
    /// True if the controller places departures.
    placed: bool,
    /// True if the controller wants to know of every delivery and loss.
    pub(super) deliveries: bool,
    pub(super) pacer: Pacer,
    pub(super) delivery: Option<Box<Delivery>>,
    /// The segment below which losses have been reported to the controller.
    told_below: u64,
    /// The number of losses at the time of the last report.
    losses_reported: u64,
    /// Without selective acknowledgements: the number of segments that duplicates report as arrived and that are not
    /// acknowledged yet.
    unnamed: u64,
}

impl Pacing {
    /// Creates the state that `config` asks for.
    pub(super) fn of(config: &SenderConfig) -> Self {
        let wants = config.control.wants();
        let mut pacer = Pacer::new(wants.departures || config.transport.host.tso, config.line_gap);
        if wants.rate && config.transport.host.bbr_variant == BbrVariant::Linux {
            pacer.spare(LINUX_UNPACED);
        }
        let paced = config.transport.pacing || wants.departures;
        let lined = config.line_gap > Span::ZERO;
        let deliveries = wants.deliveries || wants.rate;
        Self {
            paced,
            on: paced || lined || deliveries,
            lined,
            placed: wants.departures,
            deliveries,
            pacer,
            delivery: wants.rate.then(Box::default),
            told_below: 0,
            losses_reported: 0,
            unnamed: 0,
        }
    }

    /// Returns true if there is a pace.
    #[inline]
    pub(super) fn paced(&self) -> bool {
        self.paced
    }

    /// Returns true if there is anything to do.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }
}

impl Sender {
    /// Returns true if the pacer lets nothing leave at `now`.
    #[inline]
    pub(crate) fn is_held(&self, now: Time) -> bool {
        self.pacing.pacer.holds(now)
    }

    /// Returns the time at which the pacer lets the next segments leave; `None` if no segment waits for the pacer.
    #[inline(always)]
    pub(crate) fn released_at<F: Features>(&mut self, now: Time) -> Option<Time> {
        if !self.is_held(now) {
            return None;
        }
        let has_room = self.has_room_in_episode::<F>();
        if !has_room {
            self.limited_below = self.board.next();
        }
        self.may_transmit_with::<F>(has_room).then(|| self.pacing.pacer.free_at())
    }

    /// Returns true if the pacer releases the next quantum at `at`.
    #[inline]
    pub(crate) fn waits_until(&self, at: Time) -> bool {
        self.pacing.pacer.free_at() == at
    }

    /// Returns the controller's header for routers, if it has an assist.
    pub(crate) fn router_header(&self) -> Option<CongestionHeader> {
        if !self.assisted {
            return None;
        }
        let header = self.control.header();
        Some(CongestionHeader::new(header.window, header.rtt, header.feedback))
    }

    /// Takes a router's answer, which holds from the acknowledgement that it comes with.
    #[inline]
    pub(crate) fn heed_router(&mut self, feedback: f64) {
        self.control.on_feedback(feedback);
        self.super_packet = 0;
    }

    /// Sets the `cap`, if any, on the rate at which the sending program writes.
    pub(crate) fn cap_pace(&mut self, cap: Option<Rate>) {
        self.pacing.on = cap.is_some() || self.pacing.paced || self.pacing.lined || self.pacing.deliveries;
        self.pacing.pacer.cap(cap, self.payload);
        self.super_packet = 0;
    }

    /// Sets the pace to the controller's `rate`; `None`: it has none.
    #[inline]
    pub(super) fn set_pace(&mut self, rate: Option<Rate>) {
        match rate {
            Some(rate) if self.pacing.pacer.is_at(rate) => {}
            Some(rate) => self.change_pace(rate),
            None => self.pace_by_window(),
        }
    }

    /// Changes the pace. A controller with a rate is paced even if the flow did not ask for it.
    fn change_pace(&mut self, rate: Rate) {
        (self.pacing.paced, self.pacing.on) = (true, true);
        self.pacing.pacer.at_rate(rate, self.payload);
    }

    #[cold]
    fn pace_by_window(&mut self) {
        if self.pacing.paced {
            self.pacing.pacer.by_window(&self.control.state(), self.rtt.smoothed(), self.payload);
        }
    }

    /// Records that a segment left, for the time of the next and for its delivery rate.
    #[inline(always)]
    pub(super) fn note_paced<F: Features>(&mut self, now: Time, sent: &Transmission) {
        if !self.note_together::<F>(now, sent) {
            let pacing = &mut self.pacing;
            match if pacing.placed { self.control.gap_after(now) } else { None } {
                Some(gap) => pacing.pacer.on_placed(now, gap),
                None => pacing.pacer.on_sent(now),
            }
        }
        let pacing = &mut self.pacing;
        if let Some(delivery) = &mut pacing.delivery {
            let pipe = self.board.pipe();
            delivery.on_sent(now, sent.segment, pipe);
            if self.board.next() >= self.total_segments {
                delivery.on_out_of_data(pipe);
            }
        }
    }

    /// Records the arrivals that an acknowledgement without blocks reports, for delivery rates. The scoreboard must not
    /// have taken them yet.
    #[inline(always)]
    pub(super) fn note_deliveries(&mut self, now: Time, ack: &Acknowledgement) {
        let board = &self.board;
        let Some(delivery) = self.pacing.delivery.as_deref_mut() else { return };
        let mut from = board.una();
        let all = !board.has_sacked();
        while from < ack.cumulative
            && let Some(segment) = if all { Some(from) } else { board.hole_within(from, ack.cumulative) }
        {
            delivery.on_delivered(now, segment);
            from = segment + 1;
        }
        if let Some(segment) = ack.sacked.filter(|segment| self.sack && *segment >= ack.cumulative)
            && board.is_hole(segment)
        {
            delivery.on_delivered(now, segment);
        }
    }

    /// Returns the number of segments that the acknowledgement at hand, which acknowledges `newly`, reports as just
    /// arrived. Used without selective acknowledgements. A duplicate says that some segment has arrived. A later
    /// acknowledgement that covers it does not count it again, but counts the hole that it fills [Linux,
    /// `tcp_add_reno_sack()`, `tcp_remove_reno_sacks()`]. Segments counted before a timeout do not count again after
    /// it.
    #[cold]
    pub(super) fn note_unnamed(&mut self, now: Time, newly: u64, duplicate: bool) -> u64 {
        let pacing = &mut self.pacing;
        let known = pacing.unnamed.min(newly.saturating_sub(1));
        pacing.unnamed = pacing.unnamed - known + u64::from(duplicate);
        // The first outstanding segment has not arrived, so at most all others have.
        pacing.unnamed = pacing.unnamed.min(self.board.outstanding().saturating_sub(1));
        if let Some(delivery) = pacing.delivery.as_deref_mut() {
            delivery.on_unnamed(now, known, duplicate);
        }
        newly - known + u64::from(duplicate)
    }

    /// Reports the losses that the acknowledgement at hand reveals.
    #[inline(always)]
    pub(super) fn report_losses(&mut self) {
        if self.pacing.losses_reported != self.board.total_lost() {
            self.report_losses_below(self.board.loss_edge());
        }
    }

    /// Reports the first outstanding segment, which duplicates or a partial acknowledgement have shown to be missing.
    /// Without selective acknowledgements the scoreboard has no loss edge that would reveal it.
    pub(super) fn report_first_lost(&mut self) {
        if self.pacing.deliveries {
            self.report_losses_below(self.board.una() + 1);
        }
    }

    fn report_losses_below(&mut self, edge: u64) {
        let pacing = &mut self.pacing;
        let total = self.board.total_lost();
        let mut lost_again = total - std::mem::replace(&mut pacing.losses_reported, total);
        let mut from = std::mem::replace(&mut pacing.told_below, edge);
        let size = Bytes::new(self.payload);
        while let Some(segment) = self.board.hole_within(from, edge) {
            lost_again = lost_again.saturating_sub(1);
            let lost = match &mut pacing.delivery {
                Some(delivery) => delivery.on_lost(segment, self.payload),
                None => Some(LostSegment { size, sent_in_flight: Bytes::ZERO, lost: Bytes::ZERO }),
            };
            if let Some(lost) = lost {
                self.control.on_lost(&lost);
            }
            from = segment + 1;
        }
        // The rest had been sent again. Without selective acknowledgements nothing is known of those.
        if let Some(delivery) = &mut pacing.delivery
            && self.sack
        {
            delivery.on_lost_again(lost_again);
        }
    }

    /// Returns the delivery rate by the acknowledgement at hand, if the controller wants it.
    #[inline(always)]
    pub(super) fn sample_rate(&mut self) -> Option<RateSample> {
        let delivery = self.pacing.delivery.as_deref_mut()?;
        let sample = delivery.sample(self.rtt.min(), self.payload);
        delivery.forget_below(self.board.una());
        sample
    }
}
