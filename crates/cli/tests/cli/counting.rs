//! What a sender hands to the network, counted on the way: a forwarder in front of a receiver.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use transfer::Ticket;

/// Forwards TCP connections and counts what goes from who connects to the receiver, over the receiver's restarts.
#[derive(Debug)]
pub struct Counting {
    port: u16,
    passed: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
}

impl Counting {
    /// In front of the receiver that gave out `ticket`; and the ticket that leads through here.
    pub fn before(ticket: &str) -> (Self, String) {
        let mut ticket: Ticket = ticket.parse().expect("a ticket");
        let to = ticket.sockets().next().expect("an address");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counting = Self { port, passed: Arc::default(), ended: Arc::default() };
        let (passed, ended) = (Arc::clone(&counting.passed), Arc::clone(&counting.ended));
        std::thread::spawn(move || serve(&listener, to, &passed, &ended));
        ticket.port = port;
        (counting, ticket.to_string())
    }

    /// Bytes so far, with all that TLS and the protocol add.
    pub fn passed(&self) -> u64 {
        self.passed.load(Relaxed)
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.ended.store(true, Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(listener: &TcpListener, to: SocketAddr, passed: &Arc<AtomicU64>, ended: &AtomicBool) {
    for near in listener.incoming() {
        if ended.load(Relaxed) {
            break;
        }
        // A receiver that is being restarted: the sender sees its connection closed.
        let (Ok(near), Ok(far)) = (near, TcpStream::connect(to)) else { continue };
        let (near_twin, far_twin) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let passed = Arc::clone(passed);
        std::thread::spawn(move || forward(near, far_twin, Some(&passed)));
        std::thread::spawn(move || forward(far, near_twin, None));
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, passed: Option<&AtomicU64>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = from.read(&mut buffer) {
        if length == 0 {
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
        if let Some(passed) = passed {
            passed.fetch_add(length as u64, Relaxed);
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    // One side was killed: the other shall hear of it.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
