//! Peers and paths that fail: silence, early ends, heavy loss, reordering, sizes at borders.

use crate::path::{Course, Way, World};
use live::LiveError;
use std::cell::Cell;
use std::io::ErrorKind;
use std::rc::Rc;
use tightlink_quic::SendingPhase;
use units::{Bytes, Fraction, Span, Time};

const MEBIBYTE: u64 = 1 << 20;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Makes a course of 100 Mbit/s and 20 ms, which ends when `size` has arrived.
fn sized(control: &str, size: u64) -> Course {
    let mut course = Course::new(100, 20, 250_000, control, 60);
    course.flow.common.size = Some(Bytes::new(size));
    course
}

/// Runs until both ends have finished, and asserts that all of it has arrived, exactly once.
fn arrives(course: &Course, within: Span) -> World {
    let mut world = World::new(course);
    let done = world
        .run_while(Time::ZERO + within, |world| {
            world.sender.phase() != SendingPhase::Done || !world.receiver.has_ended()
        })
        .unwrap();
    assert!(done, "after {within}: {} of {:?}", world.receiver.payload(), course.flow.common.size);
    assert_eq!(Some(world.receiver.payload()), course.flow.common.size);
    assert!(world.sender.times().1.is_some());
    world
}

/// Swallows from now on what goes `way`; both ways if it is `None`.
fn cut(world: &mut World, way: Option<Way>) {
    world.tap = Some(Box::new(move |_, this, _| way.is_some_and(|way| way != this)));
}

#[test]
fn sizes_of_one_byte_and_at_the_borders_of_a_chunk_arrive_exactly() {
    for size in [1, 1439, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 3 * MEBIBYTE] {
        arrives(&sized("cubic", size), Span::from_secs(5));
    }
}

/// Probes that are lost one after the other double the time to the next, so that a few of these connections are silent
/// for thirty seconds. They break, and all others arrive.
#[test]
fn a_transfer_arrives_though_the_path_loses_three_of_ten_packets_both_ways() {
    let mut broken = Vec::new();
    for (seed, control) in (1..=40).zip(["reno", "cubic", "bbr3", "madison", "fixed"].into_iter().cycle()) {
        let mut course = sized(control, 300_000);
        (course.loss, course.loss_back) = (Fraction::new(0.3).unwrap(), Fraction::new(0.3).unwrap());
        course.seed = seed;
        course.flow.common.window = live::Window::AtMost(Bytes::new(250_000));
        let mut world = World::new(&course);
        match world.run_while(at(600_000), |world| world.sender.phase() != SendingPhase::Done) {
            Err(LiveError::Broken { source, .. }) if source.kind() == ErrorKind::TimedOut => {
                broken.push((seed, control));
            }
            outcome => {
                assert!(outcome.unwrap() && world.sender.times().1.is_some(), "{control}");
                assert_eq!(world.receiver.payload(), Bytes::new(300_000));
            }
        }
        let counts = world.sender.counts();
        assert_eq!((counts.differences, counts.unknown, counts.lost > 0), (0, 0, true), "{control} {seed}");
    }
    assert!(broken.len() <= 4, "{broken:?}");
}

#[test]
fn packets_that_overtake_others_end_no_connection_and_confuse_no_ledger() {
    for control in ["reno", "bbr3", "madison"] {
        let mut course = sized(control, 3_000_000);
        course.jitter = Span::from_millis(2);
        let world = arrives(&course, Span::from_secs(60));
        let counts = world.sender.counts();
        assert_eq!((counts.differences, counts.delivered >= 3_000_000), (0, true), "{control}: {counts:?}");
    }
}

#[test]
fn a_peer_that_vanishes_breaks_the_connection_after_thirty_seconds() {
    let mut world = World::new(&Course::new(10, 20, 25_000, "cubic", 60));
    world.run_until(at(1000)).unwrap();
    cut(&mut world, None);
    let error = world.run_until(at(40_000)).unwrap_err();
    let waited = world.now.since(at(1000));
    assert!(Span::from_secs(29) < waited && waited < Span::from_millis(31_500), "after {waited}");
    assert!(matches!(&error, LiveError::Broken { moved, .. } if *moved > Bytes::new(1_000_000)), "{error}");
    assert!(error.to_string().contains("flow"), "{error}");
    // The receiver has noticed it as well.
    for _ in 0..1000 {
        world.receiver.turn(world.now);
        world.now += Span::from_millis(10);
    }
    assert!(world.receiver.has_ended());
}

#[test]
fn a_silent_server_is_an_error_of_connecting() {
    let mut world = World::new(&Course::new(10, 20, 25_000, "cubic", 60));
    cut(&mut world, Some(Way::Back));
    let error = world.run_until(at(60_000)).unwrap_err();
    assert!(matches!(error, LiveError::Connect { .. }), "{error}");
    assert!(world.now < at(32_000), "after {:?}", world.now);
}

#[test]
fn a_flow_may_be_closed_before_its_handshake_is_done() {
    let mut world = World::new(&Course::new(10, 100, 25_000, "cubic", 60));
    // Half way through the first round trip.
    world.run_until(at(25)).unwrap();
    assert_eq!(world.sender.phase(), SendingPhase::Connecting);
    world.sender.close(world.now);
    world.run_until(at(10_000)).unwrap();
    assert_eq!((world.sender.phase(), world.sender.times()), (SendingPhase::Done, (None, None)));
    assert_eq!((world.receiver.payload(), world.receiver.peer()), (Bytes::ZERO, None));
}

#[test]
fn a_receiver_ends_with_the_last_byte_though_the_closing_packets_are_lost() {
    let mut course = sized("cubic", 1_000_000);
    course.flow.delayed_ack = 2;
    let mut world = World::new(&course);
    let done = world.run_while(at(5000), |world| world.receiver.payload() < Bytes::new(1_000_000)).unwrap();
    assert!(done);
    cut(&mut world, Some(Way::Forth));
    world.run_until(world.now + Span::from_secs(1)).unwrap();
    assert!(world.receiver.has_ended() && world.sender.phase() == SendingPhase::Done);
}

/// A greedy flow has no last byte, so a receiver whose sender closes unheard learns it from silence.
#[test]
fn a_receiver_of_a_greedy_flow_ends_after_the_idle_time_though_the_closing_packet_is_lost() {
    let mut world = World::new(&Course::new(10, 20, 25_000, "cubic", 60));
    world.run_until(at(1000)).unwrap();
    let closed = Rc::new(Cell::new(false));
    let is_closed = Rc::clone(&closed);
    world.tap = Some(Box::new(move |_, way, _| !(is_closed.get() && way == Way::Forth)));
    closed.set(true);
    world.sender.close(world.now);
    world.run_until(at(5000)).unwrap();
    assert!(!world.receiver.has_ended());
    world.run_until(at(33_000)).unwrap();
    assert!(world.receiver.has_ended());
}
