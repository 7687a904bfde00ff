//! Senders that hold the ticket and misbehave, played by hand, and times that run out.

use crate::channel::{Channel, Message, MessageReader};
use crate::chunks::{ChunkHasher, Chunks, small_file_digest};
use crate::keys::{sender_tls, server_name};
use crate::lock::locked;
use crate::name::Name;
use crate::progress::{Observer, Snapshot};
use crate::wire::control::{Counted, Entry, Id, Kind, Report, Stamp, ToReceiver, ToSender, Verdict};
use crate::wire::data::Data;
use crate::wire::{Greeting, VERSION, frame};
use crate::{Accept, ReceiveOptions, Receiver, SendOptions, SilentObserver, Summary, Ticket, TransferError};
use host::Clock;
use rustls::ClientConnection;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use units::{Span, Time};

#[derive(Debug, Default)]
struct Ear(Mutex<Vec<String>>);

impl Observer for Ear {
    fn say(&self, line: &str) {
        locked(&self.0).push(line.to_owned());
    }
    fn progress(&self, _snapshot: &Snapshot) {}
}

/// A receiver at work.
struct TestListener {
    folder: tempfile::TempDir,
    clock: Clock,
    ticket: Ticket,
    ear: Arc<Ear>,
    receiving: JoinHandle<Result<Summary, TransferError>>,
}

impl TestListener {
    fn new(options: ReceiveOptions) -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
        let options = ReceiveOptions { listen: Some("127.0.0.1:0".parse().unwrap()), ..options };
        let receiver = Receiver::open(&folder.path().join("to"), &options, &clock).unwrap();
        let (ticket, ear) = (receiver.ticket().clone(), Arc::new(Ear::default()));
        let listener = Arc::clone(&ear);
        let receiving = std::thread::spawn(move || receiver.run(&*listener));
        Self { folder, clock, ticket, ear, receiving }
    }

    fn patient_for(patience: Span) -> Self {
        Self::new(ReceiveOptions { patience, ..ReceiveOptions::default() })
    }

    /// Opens a connection that has proved that it holds the ticket.
    fn connection(&self) -> Sender {
        let address = self.ticket.sockets().next().unwrap();
        let tls = sender_tls(&self.ticket.secret, self.ticket.fingerprint);
        let tls = ClientConnection::new(tls, server_name()).unwrap();
        let until = self.clock.now() + Span::from_secs(10);
        let socket = TcpStream::connect(address).unwrap();
        let channel = Channel::establish(socket, tls, self.clock, until).unwrap();
        Sender { channel, clock: self.clock }
    }

    /// Opens a control connection that has sent its greeting.
    fn control(&self) -> Sender {
        let sender = self.connection();
        sender.say(&Greeting::Control { version: VERSION, streams: 1, echo: 0 });
        sender
    }

    /// Opens a control connection that has been let in.
    fn admitted(&self) -> Sender {
        let sender = self.control();
        assert!(matches!(sender.hear(), ToSender::Welcome { .. }));
        sender
    }

    /// Sends a file in the ordinary way.
    fn send(&self) -> Result<Summary, TransferError> {
        let path = self.folder.path().join("file");
        std::fs::write(&path, "content").unwrap();
        crate::send(&[path], &self.ticket, &SendOptions::default(), &self.clock, &SilentObserver)
    }

    fn heard(&self) -> String {
        locked(&self.ear.0).join("\n")
    }
}

/// A sender that is played by hand.
struct Sender {
    channel: Channel,
    clock: Clock,
}

impl Sender {
    fn say(&self, message: &impl frame::Framed) {
        let mut out = Vec::new();
        frame::append(&mut out, message);
        self.channel.write(&out).unwrap();
    }

    /// Reads the next message other than progress.
    fn hear(&self) -> ToSender {
        let until = self.clock.now() + Span::from_secs(20);
        loop {
            let mut reader = MessageReader::new(&self.channel);
            let message = reader.message(until).unwrap();
            reader.put_back();
            match message {
                Message::Is(ToSender::Progress(_)) => {}
                Message::Is(message) => return message,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Announces that there is nothing to send, and reads that everything is stored.
    fn is_told_the_end(&self) {
        self.say(&ToReceiver::Complete { offers: 0, failed: 0 });
        assert!(matches!(self.hear(), ToSender::Finished(_)));
    }
}

fn since(clock: Clock, began: Time) -> Span {
    clock.now().since(began)
}

#[test]
fn a_session_whose_end_the_sender_does_not_confirm_ends_well_after_a_while() {
    let patience = Span::from_millis(700);
    let bench = TestListener::patient_for(patience);
    let sender = bench.admitted();
    sender.is_told_the_end();
    let (began, clock) = (bench.clock.now(), bench.clock);
    drop(sender);
    let heard = Arc::clone(&bench.ear);
    bench.receiving.join().unwrap().unwrap();
    assert!(since(clock, began) >= patience - Span::from_millis(200), "it was waited for");
    let heard = locked(&heard.0).join("\n");
    assert!(heard.contains("the sender did not confirm the end"), "{heard}");
    assert!(!bench.folder.path().join("to/.tightlink").exists(), "the session is forgotten");
}

#[test]
fn a_sender_that_is_silent_after_the_end_does_not_keep_the_session_open() {
    let bench = TestListener::patient_for(Span::from_millis(700));
    let sender = bench.admitted();
    sender.is_told_the_end();
    bench.receiving.join().unwrap().unwrap();
    drop(sender);
}

#[test]
fn a_sender_that_comes_back_to_confirm_the_end_is_told_it_again() {
    let bench = TestListener::patient_for(Span::from_secs(60));
    bench.admitted().is_told_the_end();
    let began = bench.clock.now();
    let again = bench.admitted();
    again.is_told_the_end();
    again.say(&ToReceiver::Bye);
    let clock = bench.clock;
    bench.receiving.join().unwrap().unwrap();
    assert!(since(clock, began) < Span::from_secs(30));
}

#[test]
fn a_sender_that_comes_back_with_more_makes_the_session_go_on() {
    let bench = TestListener::patient_for(Span::from_secs(2));
    bench.admitted().is_told_the_end();
    bench.send().unwrap();
    assert!(bench.folder.path().join("to/file").exists());
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn an_expired_ticket_lets_nobody_in_and_the_visit_under_way_goes_on() {
    let expire = Span::from_secs(1);
    let bench = TestListener::new(ReceiveOptions { expire, ..ReceiveOptions::default() });
    let early = bench.admitted();
    std::thread::park_timeout(Duration::from_millis(1200));
    let error = bench.send().unwrap_err();
    assert!(error.to_string().contains("the ticket has expired"), "{error}");
    early.is_told_the_end();
    early.say(&ToReceiver::Bye);
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn a_receiver_ends_when_its_ticket_expires_and_no_sender_is_there() {
    let expire = Span::from_millis(400);
    let bench = TestListener::new(ReceiveOptions { expire, ..ReceiveOptions::default() });
    drop(bench.admitted());
    let error = bench.receiving.join().unwrap().unwrap_err();
    assert!(matches!(error, TransferError::Expired(_)), "{error}");
    assert_eq!(error.ending(), crate::Ending::Usage);
}

#[test]
fn a_receiver_ends_when_no_sender_came_in_the_time_given() {
    let wait = Some(Span::from_secs(1));
    let bench = TestListener::new(ReceiveOptions { wait, ..ReceiveOptions::default() });
    std::thread::park_timeout(Duration::from_millis(700));
    let sender = bench.admitted();
    std::thread::park_timeout(Duration::from_millis(700));
    assert!(!bench.receiving.is_finished(), "a sender is there");
    let (began, clock) = (bench.clock.now(), bench.clock);
    drop(sender);
    let error = bench.receiving.join().unwrap().unwrap_err();
    assert!(matches!(error, TransferError::NobodyCame { .. }), "{error}");
    assert!(since(clock, began) >= Span::from_millis(900), "it is counted anew");
}

#[test]
fn a_sender_without_progress_has_to_give_its_place_up() {
    let patience = Span::from_secs(1);
    let bench = TestListener::patient_for(patience);
    let holder = bench.admitted();
    holder.say(&ToReceiver::Totals { entries: 1000, bytes: 0 });
    std::thread::scope(|threads| {
        let holding = threads.spawn(|| {
            let mut reader = MessageReader::new(&holder.channel);
            for id in 0.. {
                // An entry now and then is not enough.
                let name = Name::new(format!("folder-{id}").into()).unwrap();
                let entry = Entry { name, kind: Kind::Folder, mode: 0o755, modified: Stamp::default() };
                let mut out = Vec::new();
                frame::append(&mut out, &ToReceiver::Offer { id, entry });
                frame::append(&mut out, &ToReceiver::Report(Report::default()));
                let _ = holder.channel.write(&out);
                match reader.message(holder.clock.now() + Span::from_millis(500)) {
                    Ok(Message::Is(ToSender::Abort { reason })) => return reason,
                    Ok(Message::Is(_) | Message::Nothing) => {}
                    other => panic!("{other:?}"),
                }
            }
            unreachable!("it goes on for ever");
        });
        std::thread::park_timeout(Duration::from_millis(1200));
        bench.send().unwrap();
        assert_eq!(holding.join().unwrap(), "another sender took over");
    });
    assert!(bench.heard().contains("another sender took over"));
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn a_sender_that_says_nothing_for_half_a_minute_is_gone() {
    let bench = TestListener::patient_for(Span::from_secs(60));
    // The sender's connection stays, because the kernel answers the keepalive probes.
    let silent = bench.admitted();
    let began = bench.clock.now();
    silent.channel.drain(began + Span::from_secs(45));
    assert!(silent.channel.is_over(), "it is still there");
    assert!(since(bench.clock, began) >= Span::from_secs(29), "{}", since(bench.clock, began));
    bench.send().unwrap();
    assert!(bench.heard().contains("it sent nothing for 30s"), "{}", bench.heard());
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn more_than_eight_waiting_senders_are_turned_away_at_once() {
    let bench = TestListener::patient_for(Span::from_secs(60));
    let present = bench.admitted();
    let began = bench.clock.now();
    std::thread::scope(|threads| {
        let waiting: Vec<_> = (0..12)
            .map(|_| {
                threads.spawn(|| {
                    let answer = bench.control().hear();
                    assert!(matches!(answer, ToSender::Busy(_)), "{answer:?}");
                    since(bench.clock, began)
                })
            })
            .collect();
        let waited: Vec<Span> = waiting.into_iter().map(|one| one.join().unwrap()).collect();
        let soon = waited.iter().filter(|&&waited| waited < Span::from_secs(4)).count();
        assert_eq!(soon, 4, "{waited:?}");
    });
    present.is_told_the_end();
    present.say(&ToReceiver::Bye);
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn the_largest_numbers_of_a_sender_do_no_harm() {
    let accept = Accept { all: true, ..Accept::default() };
    let bench = TestListener::new(ReceiveOptions { accept, ..ReceiveOptions::default() });
    let sender = bench.admitted();
    let most = u64::MAX;
    for _ in 0..3 {
        sender.say(&ToReceiver::Report(Report::largest(64)));
        sender.say(&ToReceiver::Totals { entries: most, bytes: most });
        std::thread::park_timeout(Duration::from_millis(250));
    }
    sender.say(&ToReceiver::Complete { offers: 0, failed: most });
    let ToSender::Finished(finished) = sender.hear() else { panic!() };
    assert_eq!(finished.failed, most);
    sender.say(&ToReceiver::Bye);
    let error = bench.receiving.join().unwrap().unwrap_err();
    assert!(matches!(error, TransferError::Incomplete { failed: u64::MAX, .. }), "{error}");
}

/// Makes an offer of a file of this size.
fn offer(id: Id, size: u64) -> ToReceiver {
    let name = Name::new(format!("file-{id}").into()).unwrap();
    let kind = Kind::File { size, chunk: Chunks::new(size).log2(), version: [7; 16] };
    ToReceiver::Offer { id, entry: Entry { name, kind, mode: 0o644, modified: Stamp::default() } }
}

#[test]
fn who_leaves_chunks_of_holes_behind_keeps_nobody_out() {
    let bench = TestListener::new(ReceiveOptions::default());
    // Such a file has chunks of 128 MiB.
    let size = 5 << 40;
    let control = bench.control();
    let ToSender::Welcome { token, .. } = control.hear() else { panic!("not let in") };
    let data = bench.connection();
    data.say(&Greeting::Data { token, stream: 0 });
    control.say(&ToReceiver::Counted(Counted { entries: 1, bytes: size, disk: 1, complete: true }));
    control.say(&offer(0, size));
    let answer = control.hear();
    // A file system may not allow files of this size.
    if matches!(answer, ToSender::Answer { verdict: Verdict::Want, .. }) {
        let mut hasher = ChunkHasher::default();
        hasher.update(0, b"x");
        let digest = hasher.finish(Chunks::new(size).length(0));
        let mut out = Vec::new();
        for chunk in 0..1000 {
            frame::append(&mut out, &Data::Piece { id: 0, chunk, offset: 0, length: 1 });
            out.push(b'x');
            frame::append(&mut out, &Data::ChunkEnd { id: 0, chunk, digest });
        }
        // The file has 50 kB, and 125 GiB of holes.
        data.channel.write(&out).unwrap();
    }
    drop((control, data));
    let began = bench.clock.now();
    bench.send().unwrap();
    assert!(since(bench.clock, began) < Span::from_secs(20), "{}", since(bench.clock, began));
    bench.receiving.join().unwrap().unwrap();
}

#[test]
fn offers_beyond_what_may_be_open_wait_until_files_have_come() {
    let bench = TestListener::new(ReceiveOptions::default());
    let control = bench.control();
    let ToSender::Welcome { token, .. } = control.hear() else { panic!("not let in") };
    let data = bench.connection();
    data.say(&Greeting::Data { token, stream: 0 });
    // An honest sender may be this far ahead, because the bytes of the first files are still on their way.
    let all = 70_000;
    control.say(&ToReceiver::Totals { entries: all, bytes: 0 });
    std::thread::scope(|threads| {
        let offering = threads.spawn(|| {
            for id in 0..all {
                control.say(&offer(id, 0));
            }
            control.say(&ToReceiver::Complete { offers: all, failed: 0 });
        });
        let mut reader = MessageReader::new(&control.channel);
        let until = bench.clock.now() + Span::from_secs(60);
        let (mut wanted, mut sent) = (0, false);
        let finished = loop {
            match reader.message(until).unwrap() {
                Message::Is(ToSender::Answer { verdict: Verdict::Want, .. }) => wanted += 1,
                Message::Is(ToSender::Progress(_)) if wanted >= 60_000 && !sent => {
                    sent = true;
                    threads.spawn(|| {
                        for id in 0..all {
                            data.say(&Data::Small { id, length: 0, digest: small_file_digest(b"").0 });
                        }
                    });
                }
                Message::Is(ToSender::Finished(finished)) => break finished,
                Message::Is(ToSender::Progress(_)) => {}
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((finished.entries, finished.failed), (all, 0));
        offering.join().unwrap();
    });
    control.say(&ToReceiver::Bye);
    bench.receiving.join().unwrap().unwrap();
}
