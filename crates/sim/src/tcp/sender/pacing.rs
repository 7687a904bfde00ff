//! What a sender does for a controller that goes by rates: the pace at which segments leave, and the delivery rates it
//! is told.

use super::{Features, Sender, SenderConfig, Transmission};
use crate::tcp::Acknowledgement;
use crate::tcp::delivery::Delivery;
use crate::tcp::pacer::Pacer;
use cc::{LostSegment, RateSample};
use link::assist::CongestionHeader;
use units::{Bytes, Rate, Span, Time};

/// The state of that.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    pacer: Option<Pacer>,
    pub(super) delivery: Option<Delivery>,
    /// The controller wants to know of every delivery and loss.
    pub(super) deliveries: bool,
    /// Segments below this, as far as they were lost, have been told of.
    told_below: u64,
    /// The controller places departures.
    placed: bool,
}

impl Pacing {
    /// What `config` asks for; `None` if nothing.
    pub(super) fn of(config: &SenderConfig) -> Option<Box<Self>> {
        let wants = config.control.wants();
        let pacing = Self {
            pacer: (config.pacing || wants.departures).then(|| Pacer::new(wants.departures)),
            delivery: wants.rate.then(Delivery::default),
            deliveries: wants.deliveries || wants.rate,
            told_below: 0,
            placed: wants.departures,
        };
        (pacing.pacer.is_some() || pacing.deliveries).then(|| Box::new(pacing))
    }
}

impl Sender {
    #[inline]
    fn pacer(&self) -> Option<&Pacer> {
        self.pacing.as_deref().and_then(|pacing| pacing.pacer.as_ref())
    }

    /// Whether the pacer lets nothing leave at `now`.
    #[inline]
    pub(super) fn is_held<F: Features>(&mut self, now: Time) -> bool {
        let held = self.pacer().is_some_and(|pacer| pacer.holds(now));
        if held && !self.has_room_in_episode::<F>() {
            self.limited_below = self.board.next();
        }
        held
    }

    /// When the pacer lets go what the windows allow; `None` if nothing waits for it.
    #[inline]
    pub(crate) fn released_at<F: Features>(&self, now: Time) -> Option<Time> {
        let pacer = self.pacer()?;
        (pacer.holds(now) && self.may_transmit::<F>()).then(|| pacer.free_at())
    }

    /// Whether `at` is when the pacer lets the next quantum go.
    #[inline]
    pub(crate) fn waits_until(&self, at: Time) -> bool {
        self.pacer().is_some_and(|pacer| pacer.free_at() == at)
    }

    /// What the controller tells routers, if it has an assist.
    pub(crate) fn router_header(&self) -> Option<CongestionHeader> {
        if !self.assisted {
            return None;
        }
        let header = self.control.header();
        Some(CongestionHeader {
            window: header.window.get() as f64,
            rtt: header.rtt.map_or(0.0, Span::as_secs_f64),
            feedback: header.feedback,
        })
    }

    /// A router has answered. What it says holds from the acknowledgement that it comes with.
    #[inline]
    pub(crate) fn heed_router(&mut self, feedback: f64) {
        self.control.on_feedback(feedback);
    }

    /// The sender sends no faster than `cap`, if any. From then on it is paced, as Linux is under
    /// `SO_MAX_PACING_RATE`: by its window where that is slower.
    pub(crate) fn cap_pace(&mut self, cap: Option<Rate>) {
        if cap.is_none() && self.pacing.is_none() {
            return;
        }
        let payload = self.payload;
        self.pacing.get_or_insert_default().pacer.get_or_insert_with(|| Pacer::new(false)).cap(cap, payload);
    }

    /// The controller's pace is `rate`; `None`: it has none.
    #[inline]
    pub(super) fn set_pace(&mut self, rate: Option<Rate>) {
        let Some(rate) = rate else { return self.pace_by_window() };
        match self.pacing.as_deref_mut().and_then(|pacing| pacing.pacer.as_mut()) {
            Some(pacer) => pacer.at_rate(rate, self.payload),
            None => self.begin_pacing(rate),
        }
    }

    /// A controller with a rate is paced, asked for or not.
    #[cold]
    fn begin_pacing(&mut self, rate: Rate) {
        let payload = self.payload;
        self.pacing
            .get_or_insert_default()
            .pacer
            .get_or_insert_with(|| Pacer::new(false))
            .at_rate(rate, payload);
    }

    #[cold]
    fn pace_by_window(&mut self) {
        let (payload, smoothed) = (self.payload, self.rtt.smoothed());
        if let Some(pacer) = self.pacing.as_deref_mut().and_then(|pacing| pacing.pacer.as_mut()) {
            pacer.by_window(&self.control.state(), smoothed, payload);
        }
    }

    /// A segment left: when the next may, and what its delivery rate will be computed from.
    #[inline(always)]
    pub(super) fn note_paced(&mut self, now: Time, sent: &Transmission) {
        let Some(pacing) = self.pacing.as_deref_mut() else { return };
        if let Some(pacer) = &mut pacing.pacer {
            let gap = if pacing.placed { self.control.gap_after(now) } else { None };
            pacer.on_sent(now, gap);
        }
        if let Some(delivery) = &mut pacing.delivery {
            let pipe = self.board.pipe();
            delivery.on_sent(now, sent.segment, pipe);
            if self.board.next() >= self.total_segments {
                delivery.on_out_of_data(pipe);
            }
        }
    }

    /// What an acknowledgement without blocks says has arrived, before the scoreboard knows; for delivery rates.
    #[inline(always)]
    pub(super) fn note_deliveries(&mut self, now: Time, ack: &Acknowledgement) {
        let board = &self.board;
        let Some(delivery) = self.pacing.as_deref_mut().and_then(|pacing| pacing.delivery.as_mut()) else {
            return;
        };
        let mut from = board.una();
        while from < ack.cumulative
            && let Some(segment) = board.hole_within(from, ack.cumulative)
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

    /// Tells of the losses that the acknowledgement at hand reveals.
    #[inline(always)]
    pub(super) fn tell_losses(&mut self) {
        let edge = self.board.loss_edge();
        if self.pacing.as_ref().is_some_and(|pacing| pacing.told_below < edge) {
            self.tell_losses_below(edge);
        }
    }

    fn tell_losses_below(&mut self, edge: u64) {
        let Some(pacing) = self.pacing.as_deref_mut() else { return };
        let mut from = std::mem::replace(&mut pacing.told_below, edge);
        let size = Bytes::new(self.payload);
        while let Some(segment) = self.board.hole_within(from, edge) {
            let lost = match &mut pacing.delivery {
                Some(delivery) => delivery.on_lost(segment, self.payload),
                None => Some(LostSegment { size, sent_in_flight: Bytes::ZERO, lost: Bytes::ZERO }),
            };
            if let Some(lost) = lost {
                self.control.on_lost(&lost);
            }
            from = segment + 1;
        }
    }

    /// The delivery rate by the acknowledgement at hand, if the controller wants it.
    #[inline(always)]
    pub(super) fn sample_rate(&mut self) -> Option<RateSample> {
        let delivery = self.pacing.as_deref_mut()?.delivery.as_mut()?;
        let sample = delivery.sample(self.rtt.min(), self.payload);
        delivery.forget_below(self.board.una());
        sample
    }
}
