//! The probes and packet trains by which a flow's sizer measures its path.
//!
//! The receiver probes and the sender echoes. The way back has no queue, and all propagation lies behind the links. So
//! a probe reaches the sender at once: its echo enters the links as the probe is sent. The receiver still measures the
//! whole round trip. Only the way of the data loses probes [sobas:IV].

use super::Flow;
use crate::medium::Medium;
use crate::packet::{Kind, Packet};
use crate::tagged::{Probe, Tagged};
use estimate::{Estimator, SequenceGaps, Train, TrainPacket};
use sizing::{BufferSizer, Demands, Input};
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// The size of a probe in bytes, headers included [sobas:IV].
const PROBE: u32 = 100;

#[derive(Debug)]
pub(super) struct Probing {
    interval: Span,
    /// The time at which the next probe leaves.
    next: Time,
    /// The number of the next probe.
    number: u64,
    gaps: SequenceGaps,
    /// Trains under way, oldest first, with their numbers and the times at which they were sent.
    trains: VecDeque<(u64, Train, Time)>,
    trains_sent: u64,
    /// True while data wait for the sizer to measure the path.
    quiet: bool,
}

impl Flow {
    /// Sets up the probing that the flow's sizer asks for, if any.
    pub(super) fn prepare_probing(&mut self) {
        let Some((interval, quiet)) =
            self.receiver.sizer().and_then(|sizer| Some((sizer.probe_interval()?, sizer.wants_quiet())))
        else {
            return;
        };
        self.probing = Some(Box::new(Probing {
            interval,
            next: self.sends_at,
            number: 0,
            gaps: SequenceGaps::new(),
            trains: VecDeque::new(),
            trains_sent: 0,
            quiet,
        }));
        self.receiver.probe_at(Time::ZERO, self.sends_at);
        if quiet {
            self.sends_at = Time::NEVER;
        }
    }

    /// Handles a deadline of a receiver with a sizer.
    #[cold]
    pub(super) fn on_sized_deadline<M: Medium>(&mut self, now: Time, medium: &mut M) {
        let (ack, demands) = self.receiver.on_sized_deadline(now);
        if let Some(ack) = ack {
            self.on_ack(now, &ack, &[], medium);
        }
        self.meet(now, demands, medium);
        self.probe(now, medium);
        let Some(probing) = &mut self.probing else { return };
        self.receiver.note_sizer(now);
        let waits = self.receiver.sizer().is_some_and(BufferSizer::wants_quiet);
        if probing.quiet && !waits {
            probing.quiet = false;
            self.send(now, medium);
        }
    }

    /// Carries out what the sizer demands from the sender: a cap on the pace, and trains.
    fn meet<M: Medium>(&mut self, now: Time, demands: Demands, medium: &mut M) {
        if let Some(cap) = demands.pace {
            self.sender.cap_pace(cap);
        }
        let length = self.sender.payload() as u32 + self.header;
        for _ in 0..demands.trains {
            let Some(probing) = &mut self.probing else { return };
            let train = probing.trains_sent;
            probing.trains_sent += 1;
            probing.trains.push_back((train, Train::new(demands.packets), now));
            for packet in 0..demands.packets as u64 {
                offer(self.index, length, Tagged::train(train, packet), now, medium);
            }
        }
    }

    /// Sends the probes that are due.
    fn probe<M: Medium>(&mut self, now: Time, medium: &mut M) {
        let Some(probing) = &mut self.probing else { return };
        if now < probing.next {
            return;
        }
        let wanted = self.receiver.sizer().and_then(BufferSizer::probe_interval);
        probing.next = match wanted.filter(|_| self.completed.is_none()) {
            Some(interval) => {
                offer(self.index, PROBE, Tagged::probe(probing.number), now, medium);
                probing.number += 1;
                probing.interval = interval;
                now + interval
            }
            None => Time::NEVER,
        };
        let next = probing.next;
        self.receiver.probe_at(now, next);
    }

    /// Takes an echo or a train's packet, sent at `sent`, as it reaches the receiver.
    pub(super) fn receive_probe(&mut self, now: Time, probe: Probe, sent: Time) {
        let Some(probing) = &mut self.probing else { return };
        match probe {
            Probe::Echo(number) => {
                let lost = probing.gaps.count(number);
                // A train that left before this echo should have arrived, because links keep the order. If it is
                // incomplete, it has lost packets.
                let incomplete = probing.trains.iter().take_while(|(_, _, began)| *began < sent).count();
                for (_, train, _) in probing.trains.drain(..incomplete) {
                    self.receiver.tell(now, answer(&train));
                }
                for _ in 0..lost {
                    self.receiver.tell(now, Input::Probe(None));
                }
                self.receiver.tell(now, Input::Probe(Some(now.since(sent))));
            }
            Probe::Train(number, packet) => {
                let Some((_, train, _)) = probing.trains.iter_mut().find(|(known, ..)| *known == number)
                else {
                    return;
                };
                let length = Bytes::new(self.sender.payload() + u64::from(self.header));
                train.observe(now, TrainPacket { number: packet, at: now, length });
                if packet + 1 == train.packets() {
                    let answer = answer(train);
                    probing.trains.retain(|(known, ..)| *known != number);
                    self.receiver.tell(now, answer);
                }
            }
        }
    }
}

/// Returns the sizer's input for a train that is over.
fn answer(train: &Train) -> Input {
    train.remains().map_or_else(|| Input::Train(train.estimate()), Input::TrainRemains)
}

/// Offers a packet of the sizer's to the links. Its loss shows at the other end.
fn offer<M: Medium>(flow: u32, length: u32, number: Tagged, now: Time, medium: &mut M) {
    let packet = Packet { kind: Kind::Probe, ..Packet::segment(flow, length, number, now) };
    medium.offer(now, packet);
}
