//! A place with something to send, a receiver and a sender.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tightlink_transfer::{
    Clock, Observer, ReceiveOptions, Receiver, SendOptions, Snapshot, Summary, Ticket, TransferError, send,
};

/// Two folders that go when this does.
pub struct TestTransfer {
    folder: tempfile::TempDir,
    pub clock: Clock,
}

/// Remembers what was said.
#[derive(Debug, Default)]
pub struct Ear(pub Mutex<Vec<String>>);

impl Observer for Ear {
    fn say(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
    fn progress(&self, _snapshot: &Snapshot) {}
}

impl Ear {
    pub fn heard(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl TestTransfer {
    pub fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap(), clock: Clock::start() };
        fs::create_dir(bench.from()).unwrap();
        bench
    }

    pub fn from(&self) -> PathBuf {
        self.folder.path().join("from")
    }

    pub fn to(&self) -> PathBuf {
        self.folder.path().join("to")
    }

    /// A file to send.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.from().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn options() -> ReceiveOptions {
        ReceiveOptions { listen: Some("127.0.0.1:0".parse().unwrap()), ..ReceiveOptions::default() }
    }

    pub fn receiver(&self) -> Receiver {
        Receiver::open(&self.to(), &Self::options(), &self.clock).unwrap()
    }

    /// Sends `paths` to a new receiver.
    pub fn transfer(&self, paths: &[PathBuf], options: &SendOptions) -> Transfer {
        self.transfer_to(&Self::options(), paths, options)
    }

    /// Sends `paths` to a new receiver with these options.
    pub fn transfer_to(&self, there: &ReceiveOptions, paths: &[PathBuf], options: &SendOptions) -> Transfer {
        let receiver = Receiver::open(&self.to(), there, &self.clock).unwrap();
        let ticket = receiver.ticket().clone();
        let (here, there) = (Ear::default(), Ear::default());
        let (sent, received) = std::thread::scope(|threads| {
            let receiving = threads.spawn(|| receiver.run(&there));
            let sent = send(paths, &ticket, options, &self.clock, &here);
            if let Err(error) = &sent {
                eprintln!("sender: {error}");
            }
            (sent, receiving.join().unwrap())
        });
        Transfer { sent, received, ticket, here, there }
    }
}

pub struct Transfer {
    pub sent: Result<Summary, TransferError>,
    pub received: Result<Summary, TransferError>,
    pub ticket: Ticket,
    pub here: Ear,
    pub there: Ear,
}

/// Bytes that are the same for the same seed, and of no pattern.
pub fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new_keyed(&[7; 32]).update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Nothing of a session is left in `folder`.
#[track_caller]
pub fn no_session_in(folder: &Path) {
    assert!(!folder.join(".tightlink").exists(), "the session is finished");
}
