//! Tests of a path between two threads, and peers that ask for more than they may have, played by hand.

use super::*;
use crate::channel::{Message, MessageReader, ReadOutcome};
use crate::keys::{sender_tls, server_name};
use crate::progress::Snapshot;
use crate::wire::control::ToSender;
use crate::wire::frame;
use crate::wire::test::{Load, Plan, ToTested, ToTester, Way};
use crate::{PathTest, SendOptions, SilentObserver, test_path};
use rustls::ClientConnection;
use std::net::TcpStream;
use std::thread::JoinHandle;

#[derive(Debug, Default)]
struct Ear(Mutex<Vec<String>>);

impl Observer for Ear {
    fn say(&self, line: &str) {
        locked(&self.0).push(line.to_owned());
    }
    fn progress(&self, _snapshot: &Snapshot) {}
}

/// A far end at work.
struct Bench {
    clock: Clock,
    ticket: Ticket,
    reports: Arc<Mutex<Vec<PathReport>>>,
    serving: JoinHandle<Result<u64, TransferError>>,
}

impl Bench {
    fn new(most: Bytes) -> Self {
        let clock = Clock::start();
        let options = PathTestOptions {
            listen: Some("127.0.0.1:0".parse().unwrap()),
            addresses: Vec::new(),
            expire: Span::from_secs(600),
            wait: Some(Span::from_secs(3)),
            most,
        };
        let receiver = PathTestReceiver::open(&options, &clock).unwrap();
        let (ticket, reports) = (receiver.ticket().clone(), Arc::default());
        let kept: Arc<Mutex<Vec<PathReport>>> = Arc::clone(&reports);
        let serving = std::thread::spawn(move || {
            receiver.run(&Ear::default(), &|report| locked(&kept).push(report.clone()))
        });
        Self { clock, ticket, reports, serving }
    }

    fn connection(&self, greeting: &Greeting) -> Peer {
        let tls = sender_tls(&self.ticket.secret, self.ticket.fingerprint);
        let tls = ClientConnection::new(tls, server_name()).unwrap();
        let socket = TcpStream::connect(self.ticket.sockets().next().unwrap()).unwrap();
        let until = self.clock.now() + Span::from_secs(10);
        let channel = Channel::establish(socket, tls, self.clock, until).unwrap();
        let peer = Peer { channel, clock: self.clock };
        peer.say(greeting);
        peer
    }

    /// Begins a test by hand: the control connection and one for the load.
    fn begin(&self, plan: Plan) -> (Peer, Peer) {
        let (control, token) = loop {
            let control = self.connection(&Greeting::Control { version: TEST, streams: 1, echo: 0 });
            match control.hear() {
                Message::Is(ToSender::Welcome { token, .. }) => break (control, token),
                // The test before ends a moment after its sender has heard so.
                Message::Is(ToSender::Busy(reason)) if reason == ANOTHER_SENDER => {
                    std::thread::park_timeout(std::time::Duration::from_millis(20));
                }
                other => panic!("not let in: {other:?}"),
            }
        };
        let data = self.connection(&Greeting::Data { token, stream: 0 });
        control.say(&ToTested::Plan(plan));
        (control, data)
    }
}

/// A sender that is played by hand.
struct Peer {
    channel: Channel,
    clock: Clock,
}

impl Peer {
    fn say(&self, message: &impl frame::Framed) {
        let mut out = Vec::new();
        frame::append(&mut out, message);
        self.channel.write(&out).unwrap();
    }

    fn hear<M: frame::Framed>(&self) -> Message<M> {
        let mut reader = MessageReader::new(&self.channel);
        let message = reader.message(self.clock.now() + Span::from_secs(20)).unwrap();
        reader.put_back();
        message
    }

    /// Hears the reason for which the receiver ends the test.
    fn reason(&self) -> String {
        loop {
            match self.hear() {
                Message::Is(ToTester::Abort { reason }) => return reason,
                Message::Is(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn plan(up: u16, down: u16, seconds: u64) -> Plan {
    Plan { load: Span::from_secs(seconds).as_nanos(), up, down, together: false, control: String::new() }
}

const MOST: Bytes = Bytes::new(1 << 40);

#[test]
fn both_ends_have_the_same_report_and_the_ticket_is_good_for_another_test() {
    let bench = Bench::new(MOST);
    let (load, streams) = (Span::from_secs(1), 2);
    let both = PathTest { load, up: true, down: true, together: true, streams, control: None };
    let down = PathTest { up: false, together: false, ..both.clone() };
    for (test, ways) in [(both, 4), (down, 1)] {
        let report = test_path(&bench.ticket, &test, &bench.clock, &SilentObserver).unwrap();
        let together = report.together.iter().flat_map(|both| [&both.up, &both.down]);
        let found: Vec<&crate::WayReport> = report.up.iter().chain(&report.down).chain(together).collect();
        assert_eq!(found.len(), ways);
        for way in found {
            assert!(way.goodput_bps > 1_000_000, "{report:?}");
            assert!(way.base_rtt_s.is_some_and(|rtt| rtt < 0.5), "{report:?}");
            assert!(way.window_offered_bytes > 0 && way.segments > 0, "{report:?}");
            assert_eq!(way.streams, 2);
            let evidence = way.evidence.as_ref().expect("the kernel lists its connections");
            assert_eq!(evidence.vantage, estimate::diagnosis::Vantage::SenderSocket);
            assert!(evidence.delivered().get() > 100_000 && way.alike > 0, "{report:?}");
            assert!(evidence.intervals.iter().any(|interval| interval.unread.is_some()), "of both ends");
        }
        // The receiver prints a moment later.
        let shown = |report: &PathReport| format!("{report:?}");
        let kept = || locked(&bench.reports).last().map(shown);
        while kept().as_ref() != Some(&shown(&report)) {
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        locked(&bench.reports).clear();
    }
    assert_eq!(bench.serving.join().unwrap().unwrap(), 2);
}

#[test]
fn whoever_comes_for_something_else_hears_where_to_go() {
    let bench = Bench::new(MOST);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "content").unwrap();
    let sent = crate::send(&[file], &bench.ticket, &SendOptions::default(), &bench.clock, &SilentObserver);
    let error = sent.unwrap_err().to_string();
    assert!(error.contains("only tests the path") && error.contains("tightlink receive DIR"), "{error}");
    let listen = Some("127.0.0.1:0".parse().unwrap());
    let options = crate::ReceiveOptions { listen, ..crate::ReceiveOptions::default() };
    let files = crate::Receiver::open(&folder.path().join("to"), &options, &bench.clock).unwrap();
    let ticket = files.ticket().clone();
    // The receiver of files goes on waiting after the test; the test ends without it.
    std::thread::spawn(move || files.run(&SilentObserver));
    let (load, streams) = (Span::from_secs(1), 1);
    let test = PathTest { load, up: true, down: false, together: false, streams, control: None };
    let error = test_path(&ticket, &test, &bench.clock, &SilentObserver).unwrap_err().to_string();
    assert!(error.contains("takes files") && error.contains("tightlink receive --test"), "{error}");
}

#[test]
fn load_that_was_not_agreed_on_ends_the_test() {
    let bench = Bench::new(Bytes::new(100_000));
    for (begins, bytes) in [(false, 1000), (true, 150_000)] {
        let (control, data) = bench.begin(plan(1, 0, 1));
        assert!(matches!(control.hear(), Message::Is(ToTester::Agreed { .. })));
        if begins {
            control.say(&ToTested::Begin { way: Way::Up, bps: None });
            assert!(matches!(control.hear(), Message::Is(ToTester::Began)));
        }
        for _ in 0..bytes / 1000 {
            let mut out = Vec::new();
            frame::append(&mut out, &Load::Fill(1000));
            out.resize(out.len() + 1000, 0);
            // The receiver may have closed the connection already.
            let _ = data.channel.write(&out);
        }
        let reason = control.reason();
        assert!(reason.contains("more load than was agreed on"), "{reason}");
    }
}

#[test]
fn a_sender_that_never_ends_a_load_gets_no_more_of_it_than_it_asked_for() {
    for (most, least) in [(MOST, 1_000_000), (Bytes::new(1_000_000), 900_000)] {
        let bench = Bench::new(most);
        let (control, data) = bench.begin(plan(0, 1, 1));
        assert!(matches!(control.hear(), Message::Is(ToTester::Agreed { .. })));
        control.say(&ToTested::Begin { way: Way::Down, bps: Some(10_000_000) });
        assert!(matches!(control.hear(), Message::Is(ToTester::Began)));
        let began = bench.clock.now();
        let mut reader = MessageReader::new(&data.channel);
        let (mut bytes, mut last) = (0, began);
        while bench.clock.now().since(began) < Span::from_secs(5) {
            if reader.more(bench.clock.now() + Span::from_millis(100)).unwrap() == ReadOutcome::Bytes {
                last = bench.clock.now();
            }
            bytes += reader.held().len() as u64;
            reader.consume(reader.held().len());
        }
        // The frames' own bytes come on top.
        assert!(bytes >= least && bytes <= most.get() + most.get() / 100, "{bytes} of {most}");
        assert!(last.since(began) < Span::from_secs(3), "{}", last.since(began));
    }
}

#[test]
fn plans_and_messages_out_of_turn_are_refused() {
    let bench = Bench::new(MOST);
    let together = Plan { together: true, ..plan(1, 0, 1) };
    for bad in [plan(1, 0, 301), plan(1, 0, 0), plan(0, 0, 1), plan(1, 1, 1), together] {
        let (control, _data) = bench.begin(bad);
        assert!(control.reason().contains("are accepted"));
    }
    let (control, _data) = bench.begin(Plan { control: "no-such-control".into(), ..plan(1, 0, 1) });
    assert!(control.reason().contains("no-such-control"));
    let (control, _data) = bench.begin(plan(1, 0, 1));
    control.say(&ToTested::Begin { way: Way::Down, bps: None });
    assert!(control.reason().contains("out of turn"));
    let (control, data) = bench.begin(plan(1, 0, 1));
    data.say(&Load::Answer(1));
    assert!(control.reason().contains("an answer without a request"));
}
