//! DualPI2 against RFC 9332 and the scheduling of Linux: classes, control law, coupling, turns, steps and overload.

mod common;

use common::{Probe, at, capable, context, millis, plain};
use tightlink_link::queue::{DualPi2, DualPi2Parameters, StepThreshold};
use tightlink_link::{DropReason, Ecn, Queue};
use units::{Span, Time};

fn scalable(id: u64) -> Probe {
    Probe { ecn: Ecn::Scalable, ..plain(id) }
}

fn queue(parameters: DualPi2Parameters) -> DualPi2<Probe> {
    DualPi2::new(parameters, context(1_000_000, 12))
}

fn default_queue() -> DualPi2<Probe> {
    queue(DualPi2Parameters::default())
}

fn room(_: Probe, why: DropReason) {
    panic!("dropped: {why:?}");
}

#[test]
fn ect1_and_ce_go_to_the_l_queue_and_others_to_the_c_queue() {
    let mut queue = default_queue();
    let fields = [(Ecn::NotCapable, 1, 0), (Ecn::Capable, 2, 0), (Ecn::Scalable, 2, 1), (Ecn::Marked, 2, 2)];
    for (id, (ecn, classic, low)) in (0..).zip(fields) {
        queue.enqueue(at(0), Probe { ecn, ..plain(id) }, &mut room);
        let (c, l) = queue.backlogs();
        assert_eq!((c.packets, l.packets), (classic, low), "{ecn:?}");
    }
    assert_eq!((queue.backlog().packets, queue.backlog().bytes.get()), (4, 6000));
}

/// A queue in which a packet of either class has waited since 0, its clock at 0, too.
fn waiting(parameters: DualPi2Parameters, packet: fn(u64) -> Probe) -> DualPi2<Probe> {
    let mut queue = queue(parameters);
    (0..3).for_each(|id| queue.enqueue(at(0), packet(id), &mut room));
    queue
}

#[test]
fn updates_follow_the_control_law_with_the_wait_of_the_older_head() {
    for packet in [plain, scalable] {
        let mut queue = waiting(DualPi2Parameters::default(), packet);
        // Another class with a younger head changes nothing.
        let other: fn(u64) -> Probe = if packet(0) == plain(0) { scalable } else { plain };
        let (mut p, mut last) = (0.0, 0.0);
        for n in 1..6u64 {
            queue.enqueue(millis(16 * n), other(n), &mut room);
            let delay = 0.016 * n as f64;
            p += 0.16 * (delay - 0.015) + 3.2 * (delay - last);
            last = delay;
            assert!((queue.probability() - p).abs() < 1e-9, "{n}: {} for {p}", queue.probability());
        }
    }
    // Between two updates nothing changes.
    let mut queue = waiting(DualPi2Parameters::default(), plain);
    queue.enqueue(millis(16), plain(3), &mut room);
    let before = queue.probability();
    queue.enqueue(at(31_999_999), plain(4), &mut room);
    assert_eq!(queue.probability(), before);
}

#[test]
fn updates_missed_while_nothing_happened_are_made_up_for() {
    let after = |every: u64| {
        let mut queue = waiting(DualPi2Parameters::default(), plain);
        while queue.dequeue(millis(64), &mut room_or_aqm).is_some() {}
        for ms in (64..1000).step_by(every as usize).chain([1000]) {
            assert_eq!(queue.dequeue(millis(ms), &mut room), None);
        }
        queue.probability()
    };
    assert_eq!(after(1), after(900));
    let mut queue = waiting(DualPi2Parameters::default(), plain);
    queue.dequeue(millis(20), &mut room_or_aqm);
    // A decade passes soon: the head waits, and then nothing does.
    let decade = Time::ZERO + Span::from_secs(300_000_000);
    while queue.dequeue(decade, &mut room_or_aqm).is_some() {}
    assert_eq!(queue.probability(), 1.0);
    queue.dequeue(decade + Span::from_secs(60), &mut room);
    assert_eq!(queue.probability(), 0.0);
}

fn room_or_aqm(_: Probe, why: DropReason) {
    assert_eq!(why, DropReason::Aqm);
}

/// The shares of packets that are marked and dropped in 200 000 at one instant, and the probability there. A backlog of
/// each class stays behind.
fn shares(parameters: DualPi2Parameters, packet: fn(u64) -> Probe, wait_ms: u64) -> (f64, f64, f64) {
    let mut queue = waiting(parameters, plain);
    // The wait of the head raises the probability; then it leaves, and the clock stands still.
    let now = millis(wait_ms);
    queue.enqueue(now, plain(9), &mut room);
    while queue.backlog().packets > 0 {
        queue.dequeue(now, &mut room_or_aqm);
    }
    let (mut marked, mut dropped) = (0, 0);
    for id in 0..200_000 {
        // Three at once, so that two stay behind the first.
        (0..3).for_each(|_| queue.enqueue(now, packet(id), &mut room));
        let mut gone = 0;
        let sent = queue.dequeue(now, &mut |_, _| gone += 1);
        marked += u64::from(gone == 0 && sent.is_some_and(|packet| packet.ecn == Ecn::Marked));
        dropped += u64::from(gone > 0);
        while queue.backlog().packets > 0 {
            queue.dequeue(now, &mut room_or_aqm);
        }
    }
    (f64::from(marked as u32) / 2e5, f64::from(dropped as u32) / 2e5, queue.probability())
}

#[test]
fn classic_flows_see_the_square_and_scalable_ones_the_multiple() {
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 4.0 * (wanted / 2e5).sqrt() + 1e-9;
    for coupling in [1, 2, 4] {
        let parameters = DualPi2Parameters { coupling, ..DualPi2Parameters::default() };
        let (marked, dropped, p) = shares(parameters, plain, 48);
        assert!(p > 0.1 && p < 0.2, "{p}");
        assert!(marked == 0.0 && near(dropped, p * p), "{marked} {dropped} for {p}");
        let (marked, dropped, p) = shares(parameters, capable, 48);
        assert!(dropped == 0.0 && near(marked, p * p), "{marked} {dropped} for {p}");
        let (marked, dropped, p) = shares(parameters, scalable, 48);
        assert!(dropped == 0.0 && near(marked, coupling as f64 * p), "{marked} {dropped} for {p}");
    }
}

#[test]
fn overload_drops_or_lets_the_queues_grow() {
    let near = |found: f64, wanted: f64| (found - wanted).abs() < 4.0 * (wanted / 2e5).sqrt() + 1e-9;
    for packet in [plain, capable, scalable] {
        let (marked, dropped, p) = shares(DualPi2Parameters::default(), packet, 200);
        assert!(p > 0.5 && p < 1.0, "{p}");
        // ECN does not help in overload; what is left of scalable packets is marked.
        assert!(near(dropped, p * p), "{dropped} for {p}");
        let left = if packet(0).ecn == Ecn::Scalable { 1.0 - p * p } else { 0.0 };
        assert!(near(marked, left), "{marked} for {p}");
    }
    let overflow = DualPi2Parameters { drop_on_overload: false, ..DualPi2Parameters::default() };
    let (marked, dropped, p) = shares(overflow, scalable, 2000);
    assert_eq!((marked, dropped, p), (1.0, 0.0, 0.5));
    let (marked, dropped, _) = shares(overflow, capable, 2000);
    assert!(dropped == 0.0 && near(marked, 0.25), "{marked} {dropped}");
}

#[test]
fn less_than_two_packets_behind_are_no_queue() {
    let mut queue = waiting(DualPi2Parameters::default(), plain);
    queue.enqueue(millis(4000), plain(3), &mut room);
    assert_eq!(queue.probability(), 1.0);
    // Of four packets two are dropped, the third has one behind it, and the fourth none.
    let mut dropped = 0;
    let out: Vec<u64> =
        std::iter::from_fn(|| queue.dequeue(millis(4000), &mut |_, _| dropped += 1)).map(|p| p.id).collect();
    assert_eq!((out, dropped), (vec![2, 3], 2));
}

#[test]
fn a_packet_above_the_step_is_marked_whatever_the_probability() {
    let marked = |step_threshold, wait: u64, behind: u64, first: fn(u64) -> Probe| {
        let mut queue = queue(DualPi2Parameters { step_threshold, ..DualPi2Parameters::default() });
        queue.enqueue(at(0), first(0), &mut room);
        (1..=behind).for_each(|id| queue.enqueue(at(0), first(id), &mut room));
        queue.dequeue(at(wait), &mut room).expect("one").ecn == Ecn::Marked
    };
    let time = StepThreshold::Time(Span::from_millis(1));
    assert!(!marked(time, 1_000_000, 9, scalable) && marked(time, 1_000_001, 0, scalable));
    let packets = StepThreshold::Packets(3);
    assert!(!marked(packets, 9_000_000, 3, scalable) && marked(packets, 0, 4, scalable));
    // The C queue has no step.
    assert!(!marked(time, 9_000_000, 9, capable) && !marked(packets, 0, 9, capable));
}

#[test]
fn a_packet_that_found_a_short_queue_has_no_step() {
    let mut queue = queue(DualPi2Parameters { step_queue: 2, ..DualPi2Parameters::default() });
    (0..4).for_each(|id| queue.enqueue(at(0), scalable(id), &mut room));
    // Later arrivals change nothing for those that wait.
    let left = std::iter::from_fn(|| queue.dequeue(at(2_000_000), &mut room));
    let marks: Vec<bool> = left.map(|packet| packet.ecn == Ecn::Marked).collect();
    assert_eq!(marks, [false, false, true, true]);
}

#[test]
fn turns_give_the_c_queue_its_share_of_the_bytes() {
    for (protection, lengths) in [
        (0.1, (1500, 1500)),
        (0.1, (1500, 200)),
        (0.1, (200, 1500)),
        (0.5, (900, 1500)),
        (0.25, (1500, 1500)),
    ] {
        let mut queue =
            queue(DualPi2Parameters { classic_protection: protection, ..DualPi2Parameters::default() });
        for id in 0..20_000 {
            queue.enqueue(at(0), Probe { length: lengths.0, ..plain(2 * id) }, &mut room);
            queue.enqueue(at(0), Probe { length: lengths.1, ..scalable(2 * id + 1) }, &mut room);
        }
        let (mut classic, mut all) = (0, 0);
        while all < 3_000_000 {
            let packet = queue.dequeue(at(0), &mut room).expect("backlogged");
            all += packet.length;
            classic += if packet.ecn == Ecn::Scalable { 0 } else { packet.length };
            // Never more than a packet of either length off, and the first turn's credit.
            assert!((classic as f64 - protection * all as f64).abs() <= 3001.0, "{classic} of {all}");
        }
        let share = classic as f64 / all as f64;
        assert!((share - protection).abs() < 0.002, "{share} for {protection}, {lengths:?}");
    }
}

#[test]
fn without_protection_a_queue_waits_for_the_other_and_takes_turns_with_itself() {
    let order = |protection| -> Vec<bool> {
        let mut queue =
            queue(DualPi2Parameters { classic_protection: protection, ..DualPi2Parameters::default() });
        (0..5).for_each(|id| queue.enqueue(at(0), plain(id), &mut room));
        (5..10).for_each(|id| queue.enqueue(at(0), scalable(id), &mut room));
        std::iter::from_fn(|| queue.dequeue(at(0), &mut room)).map(|packet| packet.id >= 5).collect()
    };
    let first = |low: bool| [[low; 5], [!low; 5]].concat();
    assert_eq!((order(0.0), order(1.0)), (first(true), first(false)));
}

#[test]
fn an_arrival_without_room_is_dropped_from_either_class() {
    let mut queue = DualPi2::new(DualPi2Parameters::default(), context(3, 12));
    let mut dropped = Vec::new();
    for id in 0..6 {
        let packet = if id % 2 == 0 { plain(id) } else { scalable(id) };
        queue.enqueue(at(0), packet, &mut |packet, why| dropped.push((packet.id, why)));
    }
    assert_eq!(dropped, [3, 4, 5].map(|id| (id, DropReason::QueueFull)));
}
