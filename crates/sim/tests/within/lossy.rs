//! Sender and receiver over a path that loses both segments and acknowledgements.

use super::script::{config, ms};
use super::{Acknowledgement, Full, Plain, Receiver, Sacks, Sender};
use crate::tagged::Signs;
use proptest::prelude::*;
use std::collections::VecDeque;
use transport::{EcnMode, LossDetection, Recovery};
use units::random::Stream;
use units::{Span, Time};

const ONE_WAY: Span = Span::from_millis(20);
/// The serialization time of a segment.
const GAP: Span = Span::from_millis(1);

/// The feedbacks of marks, with controls that may have them.
const MARKS: [(EcnMode, &str); 6] = [
    (EcnMode::Off, "reno"),
    (EcnMode::Classic, "reno"),
    (EcnMode::Accurate, "reno"),
    (EcnMode::Classic, "dctcp"),
    (EcnMode::Accurate, "dctcp"),
    (EcnMode::Accurate, "prague"),
];

/// Transfers `segments` to the end. Returns the numbers of segments sent and of timeouts.
fn transfer(
    options: (bool, bool, bool, bool, bool),
    (ecn, control): (EcnMode, &str),
    segments: u64,
    delayed_ack: u64,
    losses: (f64, f64),
    mark: f64,
    seed: u64,
) -> (u64, u64) {
    let (prr, rack, sack, pacing, timestamps) = options;
    let mut config = config(4);
    let payload = config.payload;
    let (window, threshold) = (payload * 4, payload * 4);
    let start = cc::Start { segment: payload, window, threshold };
    config.control = cc::registry::build(control, "standard", start).expect("registered");
    let by_share = config.control.wants().marks;
    config.transport.recovery = if prr { Recovery::Prr } else { Recovery::Rfc6675 };
    config.transport.loss_detection = if rack { LossDetection::Rack } else { LossDetection::DupAck };
    (config.transport.sack, config.transport.ecn, config.transport.pacing, config.transport.timestamps) =
        (sack, ecn, pacing, timestamps);
    config.transport.host.undo_timeouts = rack;
    config.total_segments = segments;
    let plain = !(prr || rack || ecn.is_on() || pacing);
    let mut sender = Sender::new(config);
    let mut receiver = Receiver::new(delayed_ack, Span::from_millis(40), Sacks::Blocks { timestamps })
        .with_ecn(ecn, by_share, payload);
    let mut stream = Stream::new(seed, "lossy");
    let mut lost = |share: f64| stream.uniform() < share;
    let mut data: VecDeque<(Time, u64, Time, Signs)> = VecDeque::new();
    let mut acks: VecDeque<(Time, Acknowledgement, super::blocks::SackBlocks)> = VecDeque::new();
    let (mut now, mut sent, mut free_at) = (ms(0), 0, ms(0));
    while !sender.is_done() {
        loop {
            let one = if plain { sender.transmit::<Plain>(now) } else { sender.transmit::<Full>(now) };
            let Some(one) = one else { break };
            sent += 1;
            let headers = if one.again { None } else { sender.take_capable() };
            free_at = free_at.max(now) + GAP;
            if !lost(losses.0) {
                let signs = headers.map(|headers| Signs::of(lost(mark), headers.reduced));
                data.push_back((free_at + ONE_WAY, one.segment, now, signs.unwrap_or_default()));
            }
        }
        let next = [
            data.front().map_or(Time::NEVER, |front| front.0),
            acks.front().map_or(Time::NEVER, |front| front.0),
            receiver.deadline(),
            sender.timer(),
            sender.released_at::<Full>(now).unwrap_or(Time::NEVER),
        ];
        now = next.into_iter().min().unwrap_or(Time::NEVER);
        assert!(now < Time::NEVER, "nothing will ever happen again");
        let mut made = None;
        if next[0] == now {
            let (_, segment, sent, signs) = data.pop_front().expect("it is due");
            if let Some(ack) = receiver.acknowledge_before(signs)
                && !lost(losses.1)
            {
                acks.push_back((now + ONE_WAY, ack, receiver.blocks()));
            }
            if signs.any() {
                receiver.on_ecn(signs, 1);
            }
            made = receiver.on_segment(now, segment, sent);
        } else if next[1] == now {
            let (_, ack, blocks) = acks.pop_front().expect("it is due");
            let blocks = if sack { blocks.as_slice() } else { &[] };
            let sample = if plain {
                sender.on_ack::<Plain>(now, &ack, blocks)
            } else {
                sender.on_ack::<Full>(now, &ack, blocks)
            };
            // A sample is at least the path's round trip, whatever was lost and sent again, if it belongs to the copy
            // that arrived.
            assert!(!timestamps || sample.is_none_or(|sample| sample >= ONE_WAY * 2), "{sample:?}");
        } else if next[2] == now {
            made = Some(receiver.on_deadline());
        } else if next[3] == now {
            sender.on_timer(now);
        }
        if let Some(ack) = made
            && !lost(losses.1)
        {
            acks.push_back((now + ONE_WAY, ack, receiver.blocks()));
        }
    }
    assert_eq!(receiver.expected(), segments);
    (sent, sender.timeouts())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_completes_though_acknowledgements_are_lost(
        options in any::<(bool, bool, bool, bool, bool)>(),
        marks in prop::sample::select(&MARKS[..]),
        segments in 1u64..400,
        delayed_ack in 1u64..3,
        losses in (0.0f64..0.3, 0.0f64..0.5),
        mark in 0.0f64..0.2,
        seed in any::<u64>(),
    ) {
        let (sent, _) = transfer(options, marks, segments, delayed_ack, losses, mark, seed);
        prop_assert!(sent >= segments);
        // Most arriving segments are new. A sender that took lost acknowledgements for lost segments would send many
        // more.
        prop_assert!(sent <= segments * 4 + 40, "{sent} for {segments}");
    }
}

/// Half of all acknowledgements are lost, and not one segment. With selective acknowledgements almost nothing is sent
/// twice.
#[test]
fn lost_acknowledgements_alone_cost_nothing() {
    for rack in [false, true] {
        let options = (false, rack, true, false, true);
        let (sent, timeouts) = transfer(options, MARKS[0], 3000, 1, (0.0, 0.5), 0.0, 7);
        assert!(sent <= 3010, "rack {rack}: {sent}");
        assert!(timeouts <= 2, "rack {rack}: {timeouts}");
    }
}
