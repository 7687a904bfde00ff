//! What the kernel tells and takes: TCP_INFO, the window actuator, the stack profiles.

use crate::namespace;
use host::{BufferGrant, Stack, TcpInfo, options};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use testkit::tries::{in_one_of_five, in_time};
use tightlink_live::{Window, WindowControl};
use units::{Bytes, Rate, Span};

/// A connected pair: who connected, who accepted. Segments as on Ethernet: with loopback's 64 kB a window below one
/// segment would wait for the persist timer.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let client = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    options::set_max_segment(&client, Bytes::new(1460)).unwrap();
    client.connect(&listener.local_addr().unwrap().into()).unwrap();
    (client.into(), listener.accept().unwrap().0)
}

/// Moves `amount` of data and waits until it has arrived.
fn transfer(from: &mut TcpStream, to: &mut TcpStream, amount: usize) {
    thread::scope(|threads| {
        threads.spawn(|| from.write_all(&vec![0; amount]).unwrap());
        to.read_exact(&mut vec![0; amount]).unwrap();
    });
}

#[test]
fn tcp_info_is_sane_on_both_ends() {
    namespace::enter();
    in_one_of_five(|| {
        let (mut client, mut server) = pair();
        transfer(&mut client, &mut server, 3_000_000);
        let (sender, receiver) = (TcpInfo::of(&client).unwrap(), TcpInfo::of(&server).unwrap());
        assert_eq!((sender.state, receiver.state), (1, 1));
        assert!(
            sender.options.sack && sender.options.timestamps && sender.options.window_scaling,
            "{sender:?}"
        );
        let rtt = sender.rtt.unwrap();
        assert!(rtt > Span::ZERO && sender.min_rtt.unwrap() <= rtt, "{sender:?}");
        in_time(rtt < Span::from_millis(50), rtt)?;
        assert!(sender.snd_cwnd >= 10 && sender.snd_mss > Bytes::new(1000), "{sender:?}");
        assert!(sender.bytes_acked <= Bytes::new(3_000_001), "the payload and the SYN: {sender:?}");
        in_time(sender.bytes_acked == Bytes::new(3_000_001), "an acknowledgement is on its way")?;
        assert_eq!(receiver.bytes_received, Bytes::new(3_000_000));
        assert_eq!(receiver.stream_received(), Bytes::new(3_000_000));
        assert_eq!((sender.unacked, sender.notsent_bytes, sender.in_flight()), (0, Bytes::ZERO, Bytes::ZERO));
        assert_eq!(sender.snd_wnd, receiver.rcv_wnd, "what one advertises the other knows");
        assert_eq!(sender.snd_wscale, receiver.rcv_wscale);
        assert!(sender.delivery_rate.unwrap() > Rate::ZERO, "{sender:?}");
        // Counted in ticks of the kernel, of which all may have fallen between two.
        in_time(sender.busy_time.unwrap() > Span::ZERO, "no tick of the kernel passed")?;
        // A late acknowledgement makes the sender try again.
        let again = (sender.bytes_retrans, sender.timeouts, sender.rcv_ooopack);
        in_time(again == (Some(Bytes::ZERO), Some(0), Some(0)), format!("{again:?}"))?;
        drop(client);
        server.read_to_end(&mut Vec::new()).unwrap();
        let closed = TcpInfo::of(&server).unwrap();
        assert_eq!(closed.bytes_received, Bytes::new(3_000_001), "the FIN counts");
        assert_eq!(closed.stream_received(), Bytes::new(3_000_000));
        Ok(())
    });
}

#[test]
fn a_window_moves_down_and_up_while_data_flows() {
    namespace::enter();
    in_one_of_five(|| {
        let (mut client, mut server) = pair();
        let mut control = WindowControl::take(&server, Window::AtMost(Bytes::new(200_000))).unwrap();
        assert_eq!(control.buffer().grant, BufferGrant::Forced, "as root");
        assert!(control.buffer().size >= Bytes::new(64 << 20));
        for limit in [200_000, 50_000, 400_000, 20_000].map(Bytes::new) {
            control.request(Window::AtMost(limit));
            control.assert(&server).unwrap();
            for _ in 0..20 {
                transfer(&mut client, &mut server, 500_000);
                control.assert(&server).unwrap();
            }
            assert!(!control.assert(&server).unwrap(), "once settled the kernel leaves the clamp alone");
            let info = TcpInfo::of(&server).unwrap();
            let reading = control.read(&server, &info).unwrap();
            assert_eq!((reading.requested, reading.granted), (Some(limit), limit));
            let step = Bytes::new(1 << info.rcv_wscale);
            let observed = reading.observed.unwrap();
            assert!(observed <= limit + step, "{limit}: {observed}");
            in_time(observed + step >= limit, format!("{limit}: {observed}"))?;
        }
        control.request(Window::Max);
        control.assert(&server).unwrap();
        transfer(&mut client, &mut server, 50_000_000);
        let observed = TcpInfo::of(&server).unwrap().rcv_wnd.unwrap();
        in_time(observed > Bytes::new(4_000_000), observed)?;
        Ok(())
    });
}

#[test]
fn a_tiny_window_is_raised_by_the_kernel_and_that_is_recorded() {
    namespace::enter();
    let (_client, server) = pair();
    let mut control = WindowControl::take(&server, Window::AtMost(Bytes::new(100))).unwrap();
    let reading = control.read(&server, &TcpInfo::of(&server).unwrap()).unwrap();
    assert_eq!(reading.requested, Some(Bytes::new(100)));
    assert!(reading.granted > Bytes::new(1000) && reading.granted < Bytes::new(2000), "{reading:?}");
    assert!(!control.assert(&server).unwrap(), "not taken for an overwritten clamp");
}

#[test]
fn options_read_back_what_was_set() {
    namespace::enter();
    let (client, _server) = pair();
    options::set_congestion_control(&client, "cubic").unwrap();
    assert_eq!(options::congestion_control(&client).unwrap(), "cubic");
    options::set_max_pacing_rate(&client, Rate::from_bps(80_000_000)).unwrap();
    options::set_no_delay(&client).unwrap();
    options::set_unsent_limit(&client, Bytes::new(131_072)).unwrap();
    assert!(client.nodelay().unwrap());
    let buffer = options::set_receive_buffer(&client, Bytes::new(100_000)).unwrap();
    assert_eq!((buffer.grant, buffer.size), (BufferGrant::Limited, Bytes::new(200_000)));
}

#[test]
fn the_classic_stack_agrees_on_no_sack() {
    namespace::enter();
    let changes = Stack::Classic.apply().unwrap();
    let sack = changes.iter().find(|change| change.path.ends_with("tcp_sack")).unwrap();
    assert_eq!((&*sack.before, &*sack.after), ("1", "0"));
    let (client, server) = pair();
    for end in [&client, &server] {
        let options = TcpInfo::of(end).unwrap().options;
        assert!(!options.sack && options.timestamps && options.window_scaling, "{options:?}");
    }
}

#[test]
fn the_modern_stack_keeps_sack_and_makes_room() {
    namespace::enter();
    let changes = Stack::Modern.apply().unwrap();
    let room = |name: &str| -> u64 {
        let change = changes.iter().find(|change| change.path.ends_with(name)).unwrap();
        change.after.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(room("tcp_rmem") >= 25_000_000 && room("tcp_wmem") >= 50_000_000);
    let (client, server) = pair();
    assert!(TcpInfo::of(&client).unwrap().options.sack);
    assert_eq!(TcpInfo::of(&server).unwrap().rcv_wscale, 10, "windows in steps of 1 KiB");
}

#[test]
fn a_profile_holds_for_the_namespace_of_the_thread_that_applies_it() {
    let sack = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_sack").unwrap().trim().to_owned();
    let outside = sack();
    thread::spawn(move || {
        namespace::enter();
        Stack::Classic.apply().unwrap();
        assert_eq!(sack(), "0");
        thread::spawn(move || assert_eq!(sack(), "0", "a thread started inside")).join().unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(sack(), outside);
}
