//! One sizer at the windows of several connections.

use crate::namespace;
use crate::sized::{Scribe, pair};
use host::options;
use sizing::{Action, Input};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use tightlink_live::SizedGroup;
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1000);
const MAXIMUM: Bytes = Bytes::new(8_000_000);

type Told = Arc<Mutex<Vec<(Time, Input)>>>;

/// A group that is asked for these windows, one after the other.
fn group(windows: &[u64]) -> (SizedGroup<TcpStream>, Told) {
    let told = Told::default();
    let actions = windows.iter().rev().map(|&window| Action::Window(Bytes::new(window))).collect();
    let scribe = Scribe { told: Arc::clone(&told), actions, phase: "asked" };
    (SizedGroup::new(Box::new(scribe), SEGMENT, MAXIMUM, Time::ZERO), told)
}

fn clamp(socket: &TcpStream) -> u64 {
    options::window_clamp(socket).unwrap().get()
}

#[test]
fn what_a_sizer_asks_for_is_divided_in_whole_segments_among_those_who_are_there() {
    namespace::enter();
    let pairs = [pair(), pair(), pair()];
    let (mut group, _) = group(&[301_000]);
    for (_, receiver) in &pairs {
        group.join(receiver.try_clone().unwrap()).unwrap();
    }
    let mut shares: Vec<u64> = pairs.iter().map(|(_, receiver)| clamp(receiver)).collect();
    assert_eq!(shares, [101_000, 100_000, 100_000]);
    assert_eq!(group.window(), Some(Bytes::new(301_000)));
    let gone = pairs[0].1.local_addr().unwrap();
    let peer = pairs[0].1.peer_addr().unwrap();
    group
        .retain(|socket| socket.local_addr().unwrap() != gone || socket.peer_addr().unwrap() != peer)
        .unwrap();
    assert_eq!(group.size(), 2);
    shares = pairs[1..].iter().map(|(_, receiver)| clamp(receiver)).collect();
    assert_eq!(shares, [151_000, 150_000], "the others get its part");
}

#[test]
fn nobody_gets_less_than_loss_recovery_needs_and_without_a_limit_each_may_have_all() {
    namespace::enter();
    let pairs = [pair(), pair(), pair()];
    let (mut tight, _) = group(&[6_000]);
    let (mut open, _) = group(&[7_999_500]);
    for (_, receiver) in &pairs {
        tight.join(receiver.try_clone().unwrap()).unwrap();
    }
    assert_eq!(pairs.each_ref().map(|(_, receiver)| clamp(receiver)), [4_000; 3]);
    assert_eq!(tight.window(), Some(Bytes::new(12_000)), "what is in force, not what was asked for");
    for (_, receiver) in &pairs {
        open.join(receiver.try_clone().unwrap()).unwrap();
    }
    assert_eq!(pairs.each_ref().map(|(_, receiver)| clamp(receiver)), [MAXIMUM.get(); 3]);
    assert_eq!(open.window(), None);
}

#[test]
fn a_sizer_is_told_what_all_of_them_deliver() {
    namespace::enter();
    let mut pairs = [pair(), pair()];
    let (mut group, told) = group(&[1_000_000]);
    for (_, receiver) in &pairs {
        group.join(receiver.try_clone().unwrap()).unwrap();
    }
    for (count, (sender, receiver)) in pairs.iter_mut().enumerate() {
        let bytes = vec![0; 30_000 + 10_000 * count];
        sender.write_all(&bytes).unwrap();
        receiver.read_exact(&mut vec![0; bytes.len()]).unwrap();
    }
    for tenth in 1..=3 {
        group.poll(Time::ZERO + Span::from_millis(100) * tenth).unwrap();
    }
    let delivered: u64 = told
        .lock()
        .unwrap()
        .iter()
        .filter_map(|(_, input)| if let Input::Delivered(bytes) = input { Some(bytes.get()) } else { None })
        .sum();
    assert_eq!(delivered, 70_000, "of both, each byte once");
}
