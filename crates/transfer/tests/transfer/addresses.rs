//! Tickets with several addresses and with host names: the right receiver is found among others.

use crate::bench::{Ear, TestTransfer};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use tightlink_transfer::{Host, Receiver, SendOptions, SilentObserver, Summary, Ticket, TransferError, send};

fn sent(bench: &TestTransfer, ticket: &Ticket) -> Result<Summary, TransferError> {
    let path = bench.write("file", "content");
    send(&[path], ticket, &SendOptions::default(), &bench.clock, &SilentObserver)
}

/// Each of these addresses of loopback has another program at `port`.
fn others(port: u16) {
    let serve = |address: &str, act: fn(TcpStream) -> Option<TcpStream>| {
        let listener = TcpListener::bind((address, port)).unwrap();
        std::thread::spawn(move || {
            let _open: Vec<_> = listener.incoming().map(|socket| act(socket.unwrap())).collect();
        });
    };
    serve("127.0.0.3", |mut socket| {
        let _ = socket.write_all(b"220 mail.example.net ready\r\n");
        None
    });
    serve("127.0.0.4", |_| None);
    serve("127.0.0.5", Some);
}

fn with(ticket: &Ticket, hosts: &[&str]) -> Ticket {
    let addresses = hosts.iter().map(|host| host.parse().unwrap()).collect();
    Ticket { addresses, ..ticket.clone() }
}

/// A receiver on another address, with another key.
fn other_receiver(address: &str, port: u16) -> TestTransfer {
    let bench = TestTransfer::new();
    let mut options = TestTransfer::options();
    options.listen = Some(SocketAddr::new(address.parse().unwrap(), port));
    let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    // It waits for a sender that never comes.
    std::thread::spawn(move || receiver.run(&SilentObserver));
    bench
}

#[test]
fn whoever_else_answers_at_an_address_is_passed_over() {
    let bench = TestTransfer::new();
    let receiver = bench.receiver();
    let port = receiver.ticket().port;
    others(port);
    let _other = other_receiver("127.0.0.2", port);
    let hosts = ["127.0.0.5", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.6", "127.0.0.1"];
    let ticket = with(receiver.ticket(), &hosts);
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    let began = bench.clock.now();
    sent(&bench, &ticket).unwrap();
    receiving.join().unwrap().unwrap();
    let took = bench.clock.now().since(began);
    assert!(took < units::Span::from_secs(4), "the silent one was waited for: {took}");
}

#[test]
fn a_sender_that_finds_nobody_says_what_every_address_did() {
    let bench = TestTransfer::new();
    let receiver = bench.receiver();
    let port = receiver.ticket().port;
    let _other = other_receiver("127.0.0.2", port);
    let ticket = with(receiver.ticket(), &["127.0.0.2", "127.0.0.6"]);
    let error = sent(&bench, &ticket).unwrap_err();
    assert!(matches!(error, TransferError::Unreachable { .. }), "{error}");
    for part in [
        format!("127.0.0.2:{port} (it has another key than the ticket says)"),
        format!("127.0.0.6:{port} (Connection refused"),
    ] {
        assert!(error.to_string().contains(&part), "{error}");
    }
    let error = sent(&bench, &with(receiver.ticket(), &["127.0.0.2"])).unwrap_err();
    assert!(matches!(error, TransferError::OtherReceiver { .. }), "{error}");
}

#[test]
fn a_ticket_may_name_a_host() {
    let bench = TestTransfer::new();
    let mut options = TestTransfer::options();
    options.addresses = vec!["localhost".parse().unwrap()];
    let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    let ticket: Ticket = receiver.ticket().to_string().parse().unwrap();
    assert!(matches!(ticket.addresses[..], [Host::Name(_)]));
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    sent(&bench, &ticket).unwrap();
    receiving.join().unwrap().unwrap();
}

#[test]
fn a_session_taken_up_keeps_the_names_in_its_ticket() {
    let bench = TestTransfer::new();
    let mut options = TestTransfer::options();
    options.addresses = vec!["localhost".parse().unwrap(), "192.0.2.7".parse().unwrap()];
    let first = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    let ticket = first.ticket().to_string();
    drop(first);
    let again = Receiver::open(&bench.to(), &TestTransfer::options(), &bench.clock).unwrap();
    assert_eq!(again.ticket().to_string(), ticket);
}

#[test]
fn a_name_that_is_not_known_is_said() {
    let bench = TestTransfer::new();
    let ticket = with(bench.receiver().ticket(), &["nowhere.invalid"]);
    let error = sent(&bench, &ticket).unwrap_err();
    assert!(error.to_string().contains("no receiver at nowhere.invalid ("), "{error}");
}

#[test]
fn a_receiver_that_closes_connections_early_is_tried_again() {
    let bench = TestTransfer::new();
    // In its place, at an address of its own, whose port no other test takes: closes the first connections, and is gone
    // then.
    let ticket = with(bench.receiver().ticket(), &["127.0.0.9"]);
    let listener = TcpListener::bind(ticket.sockets().next().unwrap()).unwrap();
    let closing = std::thread::spawn(move || {
        for _ in 0..3 {
            drop(listener.accept().unwrap());
        }
    });
    let (path, ear) = (bench.write("file", "content"), Ear::default());
    let error = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &ear).unwrap_err();
    closing.join().unwrap();
    assert!(matches!(error, TransferError::Unreachable { .. }), "{error}");
    let heard = ear.heard();
    assert_eq!(heard.matches("unauthenticated connections; trying again").count(), 1, "{heard}");
}

#[test]
fn the_default_listener_takes_ipv4_in_whatever_the_system_says() {
    const CHILD: &str = "TIGHTLINK_TEST_NAMESPACE";
    // This test in a network namespace of its own.
    if std::env::var_os(CHILD).is_some() {
        let bench = TestTransfer::new();
        let receiver = Receiver::open(&bench.to(), &Default::default(), &bench.clock).unwrap();
        let ticket = with(receiver.ticket(), &["127.0.0.1"]);
        let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
        sent(&bench, &ticket).unwrap();
        receiving.join().unwrap().unwrap();
        return;
    }
    let line = "ip link set lo up && echo 1 > /proc/sys/net/ipv6/bindv6only && exec \"$0\" \"$@\"";
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "sh", "-c", line])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "addresses::the_default_listener_takes_ipv4_in_whatever_the_system_says"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() && !said.contains("running 1 test") {
        testkit::could_not_judge(format_args!("no namespace can be made here: {said}"));
        return;
    }
    assert!(output.status.success(), "{said}");
}
