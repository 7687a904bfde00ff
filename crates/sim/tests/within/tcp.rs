//! Tests of the parts of a TCP endpoint, by part.

mod receiver {
    use super::super::receiver::*;
    use units::{Span, Time};

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_is_echoed() {
        let mut receiver = Receiver::new(2, Span::from_millis(100), Sacks::Newest);
        assert_eq!(receiver.on_segment(at(50), 0, at(10)), None);
        assert_eq!(receiver.deadline(), at(150));
        let ack = receiver.on_segment(at(51), 1, at(11)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo, ack.newest_sent), (2, None, at(10), at(11)));
        assert_eq!(receiver.deadline(), Time::NEVER);
        receiver.on_segment(at(60), 2, at(20));
        assert_eq!(receiver.on_deadline().cumulative, 3);
    }

    #[test]
    fn out_of_order_segments_are_acknowledged_at_once_until_the_gap_is_filled() {
        let mut receiver = Receiver::new(2, Span::from_millis(100), Sacks::Newest);
        let ack = receiver.on_segment(at(1), 1, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(1)));
        let ack = receiver.on_segment(at(2), 3, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(3)));
        let ack = receiver.on_segment(at(3), 0, at(2)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo), (2, None, at(2)));
        let ack = receiver.on_segment(at(4), 2, at(3)).unwrap();
        assert_eq!(ack.cumulative, 4);
        // A repeat is acknowledged at once, too.
        assert_eq!(receiver.on_segment(at(5), 2, at(3)).unwrap().cumulative, 4);
    }
    #[test]
    fn blocks_come_newest_first_and_are_repeated_until_others_push_them_out() {
        let mut receiver = Receiver::new(1, Span::from_millis(100), Sacks::Blocks { timestamps: true });
        let mut after = |segment| {
            let ack = receiver.on_segment(at(1), segment, at(0)).unwrap();
            (ack.cumulative, receiver.blocks().as_slice().to_vec())
        };
        assert_eq!(after(0), (1, vec![]));
        assert_eq!(after(2), (1, vec![(2, 3)]));
        assert_eq!(after(3), (1, vec![(2, 4)]));
        assert_eq!(after(6), (1, vec![(6, 7), (2, 4)]));
        assert_eq!(after(8), (1, vec![(8, 9), (6, 7), (2, 4)]));
        assert_eq!(after(10), (1, vec![(10, 11), (8, 9), (6, 7)]));
        // Segment 7 joins two blocks; the free place stays so until another block changes.
        assert_eq!(after(7), (1, vec![(6, 9), (10, 11)]));
        // Segment 5 has 4 missing below it.
        assert_eq!(after(5), (1, vec![(5, 9), (10, 11)]));
        // A block that was pushed out comes back when it changes.
        assert_eq!(after(4), (1, vec![(2, 9), (10, 11)]));
        assert_eq!(after(1), (9, vec![(10, 11)]));
    }

    /// Tests RFC 7323, section 4.3 (2).
    #[test]
    fn a_repeat_is_echoed_by_its_own_time_stamp() {
        let mut receiver = Receiver::new(1, Span::from_millis(100), Sacks::Newest);
        assert_eq!(receiver.on_segment(at(5), 0, at(1)).unwrap().echo, at(1));
        let again = receiver.on_segment(at(90), 0, at(80)).unwrap();
        assert_eq!((again.cumulative, again.sacked, again.duplicate, again.echo), (1, Some(0), true, at(80)));
        // An older copy that comes late changes nothing.
        assert_eq!(receiver.on_segment(at(91), 0, at(40)).unwrap().echo, at(80));
        // Beyond a gap the echo does not change.
        assert_eq!(receiver.on_segment(at(92), 2, at(85)).unwrap().echo, at(80));
    }
}

mod tlp {
    use super::super::Feedback;
    use super::super::receiver::Acknowledgement;
    use super::super::tlp::*;
    use units::{Span, Time};

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ack(cumulative: u64, duplicate: bool) -> Acknowledgement {
        let sacked = duplicate.then(|| cumulative - 1);
        Acknowledgement {
            cumulative,
            sacked,
            duplicate,
            feedback: Feedback::default(),
            newest_sent: ms(0),
            echo: ms(0),
            window: u64::MAX,
        }
    }

    #[test]
    fn a_probe_waits_two_round_trips_a_delayed_acknowledgement_and_never_longer_than_the_timer() {
        let mut probe = Tlp::default();
        let srtt = Some(Span::from_millis(60));
        probe.arm(ms(10), srtt, 5, ms(1000));
        assert_eq!(probe.due, ms(130));
        probe.arm(ms(10), srtt, 1, ms(1000));
        assert_eq!(probe.due, ms(330));
        probe.arm(ms(10), srtt, 1, ms(210));
        assert_eq!(probe.due, ms(210));
        probe.arm(ms(10), None, 3, ms(9000));
        assert_eq!(probe.due, ms(1010));
        probe.arm(ms(10), srtt, 0, ms(1000));
        assert_eq!(probe.due, Time::NEVER);
    }

    #[test]
    fn there_is_one_probe_at_a_time_and_none_without_a_new_sample() {
        let mut probe = Tlp::default();
        probe.on_probe(false, 8);
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, Time::NEVER);
        assert!(!probe.on_ack(&ack(8, false), 1));
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, Time::NEVER, "no sample yet");
        probe.on_sample();
        probe.arm(ms(0), Some(Span::from_millis(10)), 5, ms(1000));
        assert_eq!(probe.due, ms(20));
    }

    #[test]
    fn a_probe_that_was_needed_is_a_loss_and_one_that_was_not_is_none() {
        let mut needed = Tlp::default();
        needed.on_probe(true, 8);
        assert!(!needed.on_ack(&ack(7, false), 1), "not covered yet");
        assert!(!needed.on_ack(&ack(8, false), 1), "original or probe: not known yet");
        assert!(needed.on_ack(&ack(9, false), 1), "no repeat was reported");
        assert!(!needed.on_ack(&ack(10, false), 1));
        let mut idle = Tlp::default();
        idle.on_probe(true, 8);
        assert!(!idle.on_ack(&ack(8, true), 0));
        assert!(!idle.on_ack(&ack(9, false), 1));
    }
}

mod prr {
    use super::super::prr::*;

    /// Returns the segments sent on each acknowledgement of one segment, and the pipe. Fast retransmit always sends the
    /// first.
    fn sent(prr: &mut Prr, acks: usize, mut pipe: u64, safe: bool) -> (Vec<u64>, u64) {
        let mut log = Vec::new();
        for ack in 0..acks {
            pipe -= 1;
            prr.on_ack(1, pipe, safe);
            let mut count = 0;
            while prr.has_room() || (ack == 0 && count == 0) {
                prr.on_sent();
                (count, pipe) = (count + 1, pipe + 1);
            }
            log.push(count);
        }
        (log, pipe)
    }

    /// RFC 6937, section 4, first example: one segment of twenty is lost. Limited transmit sent two, and the lost one
    /// is no longer in the network. So the network holds 20 segments when the third duplicate arrives.
    #[test]
    fn one_loss_sends_on_every_second_acknowledgement_and_ends_at_the_threshold() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        let (log, pipe) = sent(&mut prr, 18, 19, false);
        assert_eq!(log[..8], [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(pipe, 10);
    }

    /// The second example: fifteen of twenty are lost at once, so the network holds less than the threshold. RFC 6675
    /// would send the whole difference at once. CRB sends one for each that arrives, and SSRB two.
    #[test]
    fn many_losses_are_mended_by_one_segment_per_acknowledgement_and_by_two_once_it_is_safe() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        let (log, pipe) = sent(&mut prr, 6, 5, false);
        assert_eq!((log, pipe), (vec![1; 6], 5));
        let (log, pipe) = sent(&mut prr, 6, 5, true);
        assert_eq!(log, [2, 2, 2, 2, 2, 1]);
        assert_eq!(pipe, 10);
    }

    #[test]
    fn the_network_is_never_filled_beyond_the_threshold_from_below() {
        let mut prr = Prr::default();
        prr.begin(40, 20);
        prr.on_ack(30, 3, true);
        // 30 delivered at once allow 31, but 17 fill the network.
        let mut count = 0;
        while prr.has_room() {
            prr.on_sent();
            count += 1;
        }
        assert_eq!(count, 17);
    }
}

mod delivery {
    use super::super::delivery::*;
    use units::{Bytes, Rate, Span, Time};

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Ten segments sent at once, delivered one per millisecond from 50 ms on; each delivery lets one more leave.
    #[test]
    fn the_rate_of_an_ack_clock_is_the_bottlenecks() {
        let mut delivery = Delivery::default();
        for segment in 0..10 {
            delivery.on_sent(ms(0), segment, segment + 1);
        }
        let mut last = None;
        for segment in 0..60 {
            let now = ms(50 + segment + segment / 10 * 40);
            delivery.on_delivered(now, segment);
            last = delivery.sample(Span::from_millis(50), 1000);
            delivery.forget_below(segment + 1);
            delivery.on_sent(now, segment + 10, 10);
        }
        let sample = last.unwrap();
        // Ten segments per round trip of 50 ms: 200 kB/s.
        assert_eq!(sample.rate(), Some(Rate::from_bps(1_600_000)));
        assert_eq!(sample.delivered_total, Bytes::new(60_000));
    }

    #[test]
    fn a_copy_acknowledged_too_soon_says_nothing_of_the_rate() {
        let mut delivery = Delivery::default();
        delivery.on_sent(ms(0), 0, 1);
        delivery.on_sent(ms(0), 1, 2);
        delivery.on_sent(ms(100), 0, 1);
        delivery.on_delivered(ms(101), 0);
        let sample = delivery.sample(Span::from_millis(50), 1000).unwrap();
        assert_eq!(sample.rate(), None);
        assert_eq!(sample.newly_delivered, Bytes::new(1000));
    }

    #[test]
    fn losses_are_counted_from_when_the_segment_was_sent() {
        let mut delivery = Delivery::default();
        for segment in 0..4 {
            delivery.on_sent(ms(0), segment, segment + 1);
        }
        assert_eq!(delivery.on_lost(0, 1000).unwrap().lost, Bytes::new(1000));
        let second = delivery.on_lost(1, 1000).unwrap();
        assert_eq!((second.lost, second.sent_in_flight), (Bytes::new(2000), Bytes::new(2000)));
        delivery.on_sent(ms(60), 0, 3);
        delivery.on_delivered(ms(110), 0);
        let sample = delivery.sample(Span::from_millis(50), 1000).unwrap();
        assert_eq!((sample.lost, sample.newly_lost), (Bytes::ZERO, Bytes::new(2000)));
    }
}
