//! Strangers that send to both ends: garbage, pieces and copies of real datagrams, other versions, other keys.

use crate::path::{Course, Way, World, far, near};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use tightlink_quic::{Batch, Keys, SendingEnd, SendingPhase};
use units::random::Stream;
use units::{Bytes, Span, Time};

/// The least length of a datagram that begins a connection [rfc9000:14.1].
const LEAST_INITIAL: usize = 1200;

fn stranger(number: u64) -> SocketAddr {
    SocketAddr::from(([203, 0, 113, (number % 250) as u8], 1000 + (number / 250) as u16))
}

fn sized(size: u64) -> Course {
    let mut course = Course::new(50, 20, 125_000, "cubic", 60);
    course.flow.common.size = Some(Bytes::new(size));
    course
}

/// Runs until both ends have finished, and asserts that `size` bytes have arrived from the true sender.
fn arrives(world: &mut World, size: u64) {
    let until = world.now + Span::from_secs(60);
    let done = world
        .run_while(until, |world| world.sender.phase() != SendingPhase::Done || !world.receiver.has_ended())
        .unwrap();
    assert!(done, "{} of {size} have arrived", world.receiver.payload());
    assert_eq!((world.receiver.payload(), world.receiver.peer()), (Bytes::new(size), Some(near())));
}

/// Returns the first datagram of a sender that connects with keys of its own.
fn first_datagram(course: &Course, keys: &Keys) -> Vec<u8> {
    let begin = (host::clock::now(), Time::ZERO);
    let mut sender = SendingEnd::connect(&course.flow, keys, far(), begin, None).unwrap();
    let mut batch = Batch::new();
    sender.output(Time::ZERO, &mut batch);
    batch.bytes().to_vec()
}

/// Makes a datagram of this `version`, with which a connection might begin.
fn of_version(version: u32, length: usize, stream: &mut Stream) -> Vec<u8> {
    let mut datagram: Vec<u8> = (0..length).map(|_| stream.integer(0, 255) as u8).collect();
    datagram[0] = 0xc0;
    datagram[1..5].copy_from_slice(&version.to_be_bytes());
    (datagram[5], datagram[14]) = (8, 8);
    datagram
}

/// Draws garbage, or a `seen` datagram that is changed, cut, extended, or as it was.
fn forged(seen: &[(Way, Vec<u8>)], stream: &mut Stream) -> Vec<u8> {
    let kind = stream.integer(0, 5);
    if kind == 0 || seen.is_empty() {
        let length = stream.integer(0, 1500);
        let mut garbage: Vec<u8> = (0..length).map(|_| stream.integer(0, 255) as u8).collect();
        if stream.chance(0.5) && garbage.len() > 5 {
            // A long header of the version that is spoken.
            garbage[0] |= 0xc0;
            garbage[1..5].copy_from_slice(&[0, 0, 0, 1]);
        }
        return garbage;
    }
    let (_, mut datagram) = seen[stream.integer(0, seen.len() as u64 - 1) as usize].clone();
    let place = stream.integer(0, datagram.len() as u64 - 1) as usize;
    match kind {
        1 => datagram.truncate(place),
        2 => datagram[place] ^= 1 << stream.integer(0, 7),
        3 => datagram.extend((0..stream.integer(1, 40)).map(|_| 0xa5)),
        4 => datagram[1..5].copy_from_slice(&[0xde, 0xad, 0xbe, 0xef]),
        _ => {}
    }
    datagram
}

#[test]
fn forged_datagrams_at_both_ends_stop_nothing_and_change_no_byte() {
    for seed in 0..4 {
        let mut stream = Stream::new(seed, "forger");
        let size = 3_000_000;
        let mut world = World::new(&sized(size));
        let seen = Rc::new(RefCell::new(Vec::new()));
        let seeing = Rc::clone(&seen);
        world.tap = Some(Box::new(move |_, way, datagram: &[u8]| {
            let mut seen = seeing.borrow_mut();
            if seen.len() < 500 {
                seen.push((way, datagram.to_vec()));
            }
            true
        }));
        for _ in 0..3000 {
            world.run_until(world.now + Span::from_micros(stream.integer(1, 400))).unwrap();
            // What has left may still be under way; copies of it come later than it in the worst case for a forger who
            // is not on the path.
            let datagram = {
                let seen = seen.borrow();
                forged(&seen[..seen.len().saturating_sub(20)], &mut stream)
            };
            let from_true = stream.chance(0.5);
            if stream.chance(0.5) {
                let from = if from_true { near() } else { stranger(stream.integer(0, 1000)) };
                world.receiver.handle(world.now, from, &datagram);
            } else {
                let from = if from_true { far() } else { stranger(stream.integer(0, 1000)) };
                world.sender.handle(world.now, from, &datagram).unwrap();
            }
            world.send();
        }
        arrives(&mut world, size);
        assert_eq!((world.sender.counts().differences, world.sender.counts().unknown), (0, 0));
    }
}

#[test]
fn another_version_gets_one_short_answer_and_a_short_datagram_none() {
    let mut world = World::new(&sized(100_000));
    let mut stream = Stream::new(1, "versions");
    for (number, version) in [(1, 0xdead_beef), (2, 0x6b33_43cf), (3, 2)] {
        for length in [100, LEAST_INITIAL - 1, LEAST_INITIAL, 1472] {
            let datagram = of_version(version, length, &mut stream);
            world.receiver.handle(world.now, stranger(number), &datagram);
            world.send();
            let answers = std::mem::take(&mut world.strays);
            if length < LEAST_INITIAL {
                assert_eq!(answers, [], "{length} bytes");
                continue;
            }
            let [(_, to, answer)] = &answers[..] else { panic!("{} answers", answers.len()) };
            // A version negotiation: version zero, the sender's identifiers, and version 1 in the list.
            assert_eq!((*to, &answer[1..5]), (stranger(number), &[0; 4][..]));
            assert!(answer.len() < 100, "{} bytes", answer.len());
            assert!(answer[7..].windows(4).any(|listed| listed == [0, 0, 0, 1]), "{answer:x?}");
        }
    }
    arrives(&mut world, 100_000);
}

/// Neither the first answer nor its repetitions may have more than three times the bytes that came [rfc9000:8.1].
#[test]
fn an_address_that_is_not_validated_gets_at_most_three_times_its_bytes() {
    let course = sized(100_000);
    let mut world = World::new(&course);
    let mut came = BTreeMap::<SocketAddr, usize>::new();
    let mut sent = BTreeMap::<SocketAddr, usize>::new();
    let mut stream = Stream::new(3, "amplification");
    // The true sender is silent meanwhile.
    world.tap = Some(Box::new(|_, _, _| false));
    for number in 0..40 {
        let datagram = first_datagram(&course, &Keys::random().unwrap());
        let mut say = |world: &mut World, datagram: &[u8]| {
            *came.entry(stranger(number)).or_default() += datagram.len();
            world.receiver.handle(world.now, stranger(number), datagram);
        };
        say(&mut world, &datagram);
        if stream.chance(0.3) {
            say(&mut world, &datagram);
        }
        let until = world.now + Span::from_millis(stream.integer(1, 1500));
        // The true sender gives up after 30 s of silence, and this test does not judge that.
        let _ = world.run_until(until);
        world.receiver.turn(world.now);
        world.send();
        for (_, to, answer) in world.strays.drain(..) {
            *sent.entry(to).or_default() += answer.len();
        }
    }
    for (to, bytes) in &sent {
        assert!(*bytes <= 3 * came[to], "{to} got {bytes} for {}", came[to]);
    }
    assert!(sent.len() >= 30 && sent.values().sum::<usize>() > 40 * 40, "{sent:?}");
}

/// However many strangers begin a handshake, with addresses that are not theirs, the true sender gets in.
#[test]
fn the_true_sender_gets_in_among_strangers() {
    // A hundred at once before it, or one each millisecond, so that some come between its datagrams.
    for (at_once, every) in [(15, None), (16, None), (100, None), (0, Some(1)), (30, Some(1))] {
        let size = 500_000;
        let course = sized(size);
        let mut world = World::new(&course);
        let mut number = 0;
        let mut begin = |world: &mut World| {
            number += 1;
            let datagram = first_datagram(&course, &Keys::random().unwrap());
            world.receiver.handle(world.now, stranger(number), &datagram);
            world.send();
        };
        (0..at_once).for_each(|_| begin(&mut world));
        if let Some(every) = every {
            for _ in 0..200 / every {
                begin(&mut world);
                world.run_until(world.now + Span::from_millis(every)).unwrap();
            }
        }
        world.run_until(world.now + Span::from_millis(150)).unwrap();
        assert_eq!(world.receiver.peer(), Some(near()), "{at_once} at once, then one per {every:?} ms");
        arrives(&mut world, size);
    }
}

/// A sender with other keys does not become the flow, and does not stop the receiver.
#[test]
fn a_sender_with_other_keys_does_not_become_the_flow() {
    let (ours, theirs) = (Keys::random().unwrap(), Keys::random().unwrap());
    let mut world = World::with_keys(&sized(100_000), host::clock::now(), &theirs, &ours);
    let error = world.run_until(Time::ZERO + Span::from_secs(5)).unwrap_err();
    assert!(error.to_string().contains("another key"), "{error}");
    assert_eq!((world.receiver.peer(), world.receiver.payload()), (None, Bytes::ZERO));
    assert!(!world.receiver.has_ended());
}

#[test]
fn copies_of_a_whole_flow_open_no_second_one() {
    let size = 200_000;
    let mut world = World::new(&sized(size));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let seeing = Rc::clone(&seen);
    world.tap = Some(Box::new(move |_, way, datagram: &[u8]| {
        if way == Way::Forth {
            seeing.borrow_mut().push(datagram.to_vec());
        }
        true
    }));
    arrives(&mut world, size);
    world.tap = None;
    let before = world.receiver.payload();
    for from in [near(), stranger(7)] {
        for datagram in seen.borrow().iter() {
            world.receiver.handle(world.now, from, datagram);
            world.send();
        }
    }
    world.run_until(world.now + Span::from_secs(5)).unwrap();
    assert_eq!((world.receiver.payload(), world.receiver.peer()), (before, Some(near())));
}
