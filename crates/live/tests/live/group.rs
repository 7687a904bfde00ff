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
fn group(windows: &[u64]) -> (SizedGroup, Told) {
    let told = Told::default();
    let actions = windows.iter().rev().map(|&window| Action::Window(Bytes::new(window))).collect();
    let scribe = Scribe { told: Arc::clone(&told), actions, phase: "asked" };
    (SizedGroup::new(Box::new(scribe), SEGMENT, MAXIMUM, Time::ZERO), told)
}

/// Three who send, three who receive.
fn three_pairs() -> (Vec<TcpStream>, Vec<TcpStream>) {
    (0..3).map(|_| pair()).unzip()
}

fn join_all(group: &mut SizedGroup, receivers: &[TcpStream]) {
    for count in 1..=receivers.len() {
        group.join(&receivers[..count]).unwrap();
    }
}

fn clamp(socket: &TcpStream) -> u64 {
    options::window_clamp(socket).unwrap().get()
}

#[test]
fn what_a_sizer_asks_for_is_divided_in_whole_segments_among_those_who_are_there() {
    namespace::enter();
    let (_senders, mut receivers) = three_pairs();
    let (mut group, _) = group(&[301_000]);
    join_all(&mut group, &receivers);
    let shares: Vec<u64> = receivers.iter().map(clamp).collect();
    assert_eq!(shares, [101_000, 100_000, 100_000]);
    assert_eq!(group.window(), Some(Bytes::new(301_000)));
    receivers.remove(0);
    group.leave(0, &receivers).unwrap();
    assert_eq!(group.size(), 2);
    let shares: Vec<u64> = receivers.iter().map(clamp).collect();
    assert_eq!(shares, [151_000, 150_000], "the others get its part");
}

#[test]
fn nobody_gets_less_than_loss_recovery_needs_and_without_a_limit_each_may_have_all() {
    namespace::enter();
    let (_senders, receivers) = three_pairs();
    let (mut tight, _) = group(&[6_000]);
    let (mut open, _) = group(&[7_999_500]);
    join_all(&mut tight, &receivers);
    assert!(receivers.iter().all(|receiver| clamp(receiver) == 4_000));
    assert_eq!(tight.window(), Some(Bytes::new(12_000)), "what is in force, not what was asked for");
    join_all(&mut open, &receivers);
    assert!(receivers.iter().all(|receiver| clamp(receiver) == MAXIMUM.get()));
    assert_eq!(open.window(), None);
}

#[test]
fn a_sizer_is_told_what_all_of_them_deliver() {
    namespace::enter();
    let (mut senders, mut receivers) = three_pairs();
    let (mut group, told) = group(&[1_000_000]);
    join_all(&mut group, &receivers);
    for (count, (sender, receiver)) in senders.iter_mut().zip(&mut receivers).enumerate() {
        let bytes = vec![0; 30_000 + 10_000 * count];
        sender.write_all(&bytes).unwrap();
        receiver.read_exact(&mut vec![0; bytes.len()]).unwrap();
    }
    for tenth in 1..=3 {
        group.poll(&receivers, Time::ZERO + Span::from_millis(100) * tenth).unwrap();
    }
    let delivered: u64 = told
        .lock()
        .unwrap()
        .iter()
        .filter_map(|(_, input)| if let Input::Delivered(bytes) = input { Some(bytes.get()) } else { None })
        .sum();
    assert_eq!(delivered, 120_000, "of all, each byte once");
}
