use super::*;
use crate::tcp::Sacks;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn receiver(host: Host) -> Receiver {
    let receiver = Receiver::new(2, Span::from_millis(40), Sacks::Newest);
    receiver.on_host(&host, Bytes::new(1448), || Stream::new(1, "host"))
}

/// Hands over `segment` at `now`, sent 10 ms before.
fn takes(receiver: &mut Receiver, now: u64, segment: u64) -> Option<(u64, Option<u64>, Vec<Block>)> {
    let sent = Time::ZERO + us(now).since(us(10_000));
    let batch = receiver.gather(us(now), segment, sent, false, Signs::default())?;
    acknowledges(receiver, now, batch)
}

/// Hands `batch` over at `now`.
fn acknowledges(receiver: &mut Receiver, now: u64, batch: Batch) -> Option<(u64, Option<u64>, Vec<Block>)> {
    let ack = receiver.on_batch(us(now), batch)?;
    Some((ack.cumulative, ack.sacked, receiver.named().as_slice().to_vec()))
}

#[test]
fn neighbours_within_the_time_are_acknowledged_as_one() {
    let mut receiver = receiver(Host { gro: Span::from_micros(50), ..Host::default() });
    for (at, segment) in [(100, 0), (110, 1), (149, 2)] {
        assert!(receiver.gather(us(at), segment, us(at - 90), false, Signs::default()).is_none());
    }
    assert_eq!(receiver.deadline(), us(150));
    assert!(receiver.gathered(us(149)).is_none());
    let batch = receiver.gathered(us(150)).expect("three segments");
    let ack = receiver.on_batch(us(150), batch).expect("more than two are acknowledged at once");
    assert_eq!((ack.cumulative, ack.sacked, ack.echo, ack.newest_sent), (3, None, us(10), us(59)));
    assert!(receiver.named().as_slice().is_empty());
    assert_eq!(receiver.deadline(), Time::NEVER);
    // One segment alone has its acknowledgement withheld.
    assert!(receiver.gather(us(200), 3, us(20), false, Signs::default()).is_none());
    let batch = receiver.gathered(us(250)).expect("one segment");
    assert!(receiver.on_batch(us(250), batch).is_none());
    assert!(!receiver.is_due(us(40_249)) && receiver.is_due(us(40_250)));
}

/// A segment alone waits for a second one, unless it ends a super-packet.
#[test]
fn the_end_of_a_super_packet_is_acknowledged_at_once() {
    let mut receiver = receiver(Host { tso: true, ..Host::default() });
    let mut takes = |at, segment, pushed| {
        let batch = receiver.gather(us(at), segment, us(at - 90), pushed, Signs::default())?;
        receiver.on_batch(us(at), batch).map(|ack| ack.cumulative)
    };
    assert_eq!(takes(100, 0, false), None);
    assert_eq!(takes(110, 1, false), Some(2));
    assert_eq!(takes(120, 2, true), Some(3));
    assert_eq!(takes(300, 3, false), None);
}

#[test]
fn a_gap_or_a_full_super_packet_is_handed_over_at_once() {
    let mut receiver = receiver(Host { gro: Span::from_micros(50), ..Host::default() });
    assert_eq!(takes(&mut receiver, 100, 0), None);
    assert_eq!(takes(&mut receiver, 101, 1), None);
    assert_eq!(takes(&mut receiver, 102, 3), Some((2, None, vec![])));
    assert_eq!(takes(&mut receiver, 103, 4), None);
    let batch = receiver.gathered(us(150)).expect("3 and 4");
    assert_eq!(acknowledges(&mut receiver, 150, batch), Some((2, Some(4), vec![(3, 5)])));
    // 65 536 bytes are 45 segments.
    let full = (5..=50).find_map(|segment| takes(&mut receiver, 200, segment));
    assert_eq!(full, Some((2, Some(49), vec![(5, 50)])));
}

#[test]
fn one_acknowledgement_speaks_for_all_that_a_pause_kept() {
    let (pause, pause_interval) = (Span::from_millis(1), Span::from_millis(100));
    let mut receiver = receiver(Host { pause, pause_interval, ..Host::default() });
    let mut waits = Vec::new();
    let mut kept = 0;
    // One segment each 20 us for twenty seconds.
    for segment in 0..1_000_000 {
        let now = us(segment * 20);
        while let Some(due) = receiver.coalescing.as_ref().map(|own| own.due).filter(|due| *due <= now) {
            // Another pause may follow at once.
            let Some(batch) = receiver.gathered(due) else { continue };
            // The acknowledgement of one segment may be withheld, as outside of a pause.
            let ack = receiver.on_batch(now, batch);
            assert!(ack.is_none_or(|ack| ack.cumulative == batch.end));
            waits.push(kept * 20);
            kept = 0;
        }
        match receiver.gather(now, segment, now, false, Signs::default()) {
            Some(batch) => drop(receiver.on_batch(now, batch)),
            None => kept += 1,
        }
    }
    let (count, mean) = (waits.len(), waits.iter().sum::<u64>() / waits.len() as u64);
    // 20 s / 101 ms.
    assert!((160..=240).contains(&count), "{count} pauses");
    assert!((800..=1200).contains(&mean), "{mean} us");
}

#[test]
fn a_young_connection_acknowledges_every_segment() {
    let mut receiver = receiver(Host { quick_ack: 3, ..Host::default() });
    let reported: Vec<bool> = (0..6).map(|segment| takes(&mut receiver, 100, segment).is_some()).collect();
    assert_eq!(reported, [true, true, true, false, true, false]);
}

/// The window begins with 64 kB, 45 segments. Up to 50 it grows with the first three segments.
#[test]
fn while_the_window_grows_every_segment_is_acknowledged() {
    let host = Host { quick_growth: true, ..Host::default() };
    let mut receiver = receiver(host).advertising(50, None, Bytes::new(1448), true);
    let reported: Vec<bool> = (0..7).map(|segment| takes(&mut receiver, 100, segment).is_some()).collect();
    assert_eq!(reported, [true, true, true, false, true, false, true]);
}

/// The window grows from 45 to 50 segments with the first three. Each makes the number of acknowledgements left odd, so
/// these do not count against the two that a connection begins with (`quick |= 1` in `tcp_grow_window`).
#[test]
fn acknowledgements_of_a_growing_window_are_besides_those_of_a_young_connection() {
    let host = Host { quick_ack: 2, quick_growth: true, ..Host::default() };
    let mut receiver = receiver(host).advertising(50, None, Bytes::new(1448), true);
    let reported: Vec<bool> = (0..8).map(|segment| takes(&mut receiver, 100, segment).is_some()).collect();
    assert_eq!(reported, [true, true, true, true, true, false, true, false]);
}

#[test]
fn a_segment_that_had_arrived_makes_the_connection_young_again() {
    let mut receiver = receiver(Host { quick_ack: 2, ..Host::default() });
    let reported: Vec<bool> = (0..4).map(|segment| takes(&mut receiver, 100, segment).is_some()).collect();
    assert_eq!(reported, [true, true, false, true]);
    // One of the two quick acknowledgements that it asks for reports the repeat.
    let reported: Vec<bool> = [1, 4, 5, 6].map(|segment| takes(&mut receiver, 200, segment).is_some()).into();
    assert_eq!(reported, [true, true, false, true]);
}

#[test]
fn beyond_a_hole_the_fourth_acknowledgement_waits_for_a_twentieth_of_the_path() {
    let mut receiver = receiver(Host { sack_compression: Span::from_millis(1), ..Host::default() });
    for segment in 1..=3 {
        let at_once = Some((0, Some(segment), vec![(segment, segment + 1)]));
        assert_eq!(takes(&mut receiver, 20_000 + segment, segment), at_once);
    }
    assert_eq!(takes(&mut receiver, 20_010, 4), None);
    assert_eq!(takes(&mut receiver, 20_020, 6), None);
    assert_eq!(takes(&mut receiver, 20_030, 5), None);
    // The path takes 10 ms one way; a twentieth is half a millisecond.
    assert_eq!(receiver.deadline(), us(20_510));
    assert!(receiver.compressed(us(20_509)).is_none());
    let ack = receiver.compressed(us(20_510)).expect("three acknowledgements");
    assert_eq!((ack.cumulative, ack.sacked), (0, Some(5)));
    assert_eq!(receiver.named().as_slice(), [(4, 6), (6, 7)]);
    assert_eq!(receiver.deadline(), Time::NEVER);
    // The hole is filled, and the waiting block leaves with that acknowledgement.
    assert_eq!(takes(&mut receiver, 20_600, 7), None);
    assert_eq!(takes(&mut receiver, 20_601, 0), Some((8, None, vec![(7, 8)])));
    assert_eq!(receiver.deadline(), Time::NEVER);
}

#[test]
fn more_blocks_than_one_acknowledgement_names_do_not_wait() {
    let mut receiver = receiver(Host { sack_compression: Span::from_millis(1), ..Host::default() });
    for segment in [2, 4, 6, 8, 10, 12, 14] {
        takes(&mut receiver, 20_000, segment);
    }
    let (ack, all) = takes(&mut receiver, 20_000, 16).map(|(ack, _, all)| (ack, all)).expect("a fifth block");
    assert_eq!((ack, all), (0, vec![(8, 9), (10, 11), (12, 13), (14, 15), (16, 17)]));
    assert_eq!(receiver.deadline(), Time::NEVER);
}

#[test]
fn a_processor_that_has_slept_takes_together_what_arrives_until_it_is_awake() {
    let mut receiver = receiver(Host { wake_up: Span::from_micros(350), ..Host::default() });
    // The processor sleeps at the beginning. Segments that arrive before it has begun are kept, with a hole or without.
    for (at, segment) in [(1000, 0), (1100, 1), (1300, 3)] {
        assert!(receiver.gather(us(at), segment, us(at), false, Signs::default()).is_none());
    }
    assert_eq!(receiver.deadline(), us(1350));
    let batch = receiver.gathered(us(1350)).expect("two segments");
    assert_eq!(acknowledges(&mut receiver, 1350, batch), Some((2, None, vec![])));
    let batch = receiver.gathered(us(1350)).expect("the one beyond the hole");
    assert_eq!(acknowledges(&mut receiver, 1350, batch), Some((2, Some(3), vec![(3, 4)])));
    // Once awake, it waits for nothing.
    assert_eq!(takes(&mut receiver, 1549, 2), Some((4, None, vec![])));
    assert_eq!(takes(&mut receiver, 1748, 4), None, "withheld, as every second one");
    assert_eq!(takes(&mut receiver, 1947, 5), Some((6, None, vec![])));
    // After 200 us without work it sleeps again.
    assert!(receiver.gather(us(2147), 6, us(2147), false, Signs::default()).is_none());
    assert_eq!(receiver.deadline(), us(2497));
}
