//! Peers that take nothing, never end, or send slowly.

use super::*;
use crate::keys::{Key, receiver_tls, sender_tls, server_name};
use crate::ticket::Secret;
use rustls::{ClientConnection, ServerConnection};
use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

/// Makes two ends of a connection, each with its carrier.
fn pair(clock: Clock) -> ((Arc<Tls>, Channel), (Arc<Tls>, Channel)) {
    let (key, secret) = (Key::new(&[1; 32]), Secret([2; 16]));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let until = clock.now() + Span::from_secs(10);
    let end = move |tcp: TcpStream, tls: Connection| {
        let peer = tcp.peer_addr().unwrap();
        let (tls, early) = Tls::establish(Arc::new(tcp), tls, clock, until).unwrap();
        assert!(early.is_empty());
        let tls = Arc::new(tls);
        (Arc::clone(&tls), Channel::over(tls, peer, clock))
    };
    let client = ClientConnection::new(sender_tls(&secret, key.fingerprint()), server_name()).unwrap();
    let near = std::thread::spawn(move || end(TcpStream::connect(address).unwrap(), client.into()));
    let server = ServerConnection::new(receiver_tls(&key, &secret)).unwrap();
    let far = end(listener.accept().unwrap().0, server.into());
    (near.join().unwrap(), far)
}

#[test]
fn a_peer_that_takes_nothing_is_gone_and_a_slow_one_is_not() {
    let clock = Clock::start();
    let ((tls, _), (_, far)) = pair(clock);
    let stuck = Span::from_millis(300);
    // More than all buffers on the way hold.
    tls.lock().writer().write_all(&vec![7; 16 << 20]).unwrap();
    let began = clock.now();
    let error = tls.hand_over(Time::NEVER, stuck, stuck).unwrap_err();
    assert!(matches!(error, TransferError::PeerGone { .. }), "{error}");
    assert!(clock.now().since(began) >= stuck);
    // The rest passes when the peer reads, however slowly.
    let began = clock.now();
    std::thread::scope(|threads| {
        let sending = threads.spawn(|| tls.hand_over(Time::NEVER, stuck, stuck));
        let mut reader = MessageReader::new(&far);
        while !sending.is_finished() {
            // The peer reads five times slower than the path; the kernel makes room in large steps.
            std::thread::park_timeout(Duration::from_millis(10));
            reader.more(clock.now() + stuck).unwrap();
            reader.consume(reader.held().len());
        }
        sending.join().unwrap().unwrap();
    });
    assert!(clock.now().since(began) > stuck, "it was not slow: {}", clock.now().since(began));
}

#[test]
fn a_peer_whose_disk_stalls_is_not_gone_while_its_window_is_closed() {
    let clock = Clock::start();
    let ((tls, near), (_, far)) = pair(clock);
    let (stuck, closed) = (Span::from_millis(400), Span::from_secs(20));
    let kernel = || rustix::net::sockopt::tcp_user_timeout(near.tcp()).unwrap();
    tls.lock().writer().write_all(&vec![7; 16 << 20]).unwrap();
    std::thread::scope(|threads| {
        let sending = threads.spawn(|| tls.hand_over(Time::NEVER, stuck, closed));
        std::thread::park_timeout(Duration::from_millis(1500));
        assert!(!sending.is_finished(), "{:?}", sending.join());
        assert_eq!(kernel(), 20_000, "the kernel waits as long");
        let mut reader = MessageReader::new(&far);
        while !sending.is_finished() {
            reader.more(clock.now() + Span::from_millis(50)).unwrap();
            reader.consume(reader.held().len());
        }
        sending.join().unwrap().unwrap();
    });
    assert_eq!(kernel(), 400, "and afterwards as before");
}

#[test]
fn a_peer_that_never_ends_is_drained_no_longer_than_until_then() {
    let clock = Clock::start();
    let ((_, near), (_, far)) = pair(clock);
    std::thread::scope(|threads| {
        threads.spawn(|| while near.write(&[0; 1 << 16]).is_ok() {});
        let until = clock.now() + Span::from_millis(200);
        far.drain(until);
        assert!(clock.now() >= until && clock.now() < until + Span::from_secs(5));
        near.cut();
    });
}

#[test]
fn a_message_whose_bytes_trickle_in_is_not_waited_for_longer_than_until_then() {
    let clock = Clock::start();
    let ((_, near), (_, far)) = pair(clock);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let _ = near.write(&(4u32 << 20).to_le_bytes());
            while near.write(&[0]).is_ok() {}
        });
        let until = clock.now() + Span::from_millis(100);
        let message = MessageReader::new(&far).message::<crate::wire::control::ToSender>(until);
        assert!(matches!(message, Ok(Message::Nothing)), "{message:?}");
        assert!(clock.now() < until + Span::from_millis(400));
        near.cut();
    });
}

#[test]
fn a_pace_is_kept_until_it_is_taken_back_and_a_cut_ends_the_wait_for_it() {
    let clock = Clock::start();
    let ((_, near), (_, far)) = pair(clock);
    std::thread::scope(|threads| {
        threads.spawn(|| far.drain(Time::NEVER));
        near.pace(Some(Rate::from_bps(4_000_000)));
        let began = clock.now();
        near.write(&[0; 100_000]).unwrap();
        // The transfer takes 200 ms, of which two quanta may leave ahead.
        let passed = clock.now().since(began);
        assert!(passed >= Span::from_millis(185), "100 kB at 4 Mbit/s within {passed}");
        // At this pace the rest would take more than two hours, and a quantum 23 s.
        near.pace(Some(Rate::from_bps(1_000)));
        threads.spawn(|| {
            std::thread::park_timeout(Duration::from_millis(50));
            near.pace(None);
        });
        let began = clock.now();
        near.write(&[0; 1_000_000]).unwrap();
        assert!(clock.now().since(began) < Span::from_secs(4));
        near.pace(Some(Rate::from_bps(1_000)));
        threads.spawn(|| {
            std::thread::park_timeout(Duration::from_millis(50));
            near.cut();
        });
        let began = clock.now();
        let error = near.write(&[0; 1_000_000]).unwrap_err();
        assert!(matches!(error, TransferError::PeerGone { .. }), "{error}");
        assert!(clock.now().since(began) < Span::from_secs(4));
    });
}

#[test]
fn a_reader_does_not_take_a_slow_path_for_a_broken_one() {
    let clock = Clock::start();
    let ((tls, near), (_, far)) = pair(clock);
    // The writer waits for the path, because this is more than all buffers on the way hold.
    tls.lock().writer().write_all(&vec![7; 16 << 20]).unwrap();
    let mut reader = MessageReader::new(&near);
    for _ in 0..3 {
        far.write(b"an answer").unwrap();
        let began = clock.now();
        while reader.more(clock.now() + Span::from_millis(5)).expect("nothing is broken")
            == ReadOutcome::Nothing
        {}
        assert!(clock.now().since(began) < Span::from_secs(5), "it waits for no writer");
    }
}

#[test]
fn the_end_of_a_connection_whose_pace_lets_nothing_out_costs_no_processor_time() {
    let clock = Clock::start();
    let ((_, near), (_, far)) = pair(clock);
    near.pace(Some(Rate::from_bps(1)));
    let nanos = || {
        let of_this_thread = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        of_this_thread.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let (before, began) = (nanos(), clock.now());
    near.finish();
    let used = Span::from_nanos(nanos() - before);
    assert!(used < Span::from_millis(200), "{used}");
    assert!(clock.now().since(began) < Span::from_secs(5));
    drop(far);
}

#[test]
fn a_pause_ends_when_the_peer_leaves() {
    let clock = Clock::start();
    let ((_, near), (_, far)) = pair(clock);
    near.pause(clock.now() + Span::from_millis(20)).unwrap();
    drop(far);
    assert!(near.pause(clock.now() + Span::from_secs(20)).is_err());
}
