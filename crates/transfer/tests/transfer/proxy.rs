//! A path that breaks: forwards TCP connections until so many bytes have passed, then cuts all of them.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug, Default)]
struct Shared {
    /// From the side that connects, in all.
    passed: AtomicU64,
    /// The connections are cut when `passed` reaches this.
    cut_at: AtomicU64,
    /// The connection whose bytes make `passed` greater than this is cut; zero cuts none.
    cut_one_at: AtomicU64,
    ended: AtomicBool,
    sockets: Mutex<Vec<TcpStream>>,
}

#[derive(Debug)]
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    pub fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            for near in listener.incoming() {
                if own.ended.load(Relaxed) {
                    break;
                }
                let (near, Ok(far)) = (near.unwrap(), TcpStream::connect(to)) else { continue };
                let twins = [&near, &far].map(|socket| socket.try_clone().unwrap());
                own.sockets.lock().unwrap().extend([&near, &far].map(|socket| socket.try_clone().unwrap()));
                let [near_twin, far_twin] = twins;
                let (there, back) = (Arc::clone(&own), Arc::clone(&own));
                std::thread::spawn(move || there.forward(near, far_twin, true));
                std::thread::spawn(move || back.forward(far, near_twin, false));
            }
        });
        Self { port, shared }
    }

    /// Lets so many more bytes pass.
    pub fn allow(&self, bytes: u64) {
        self.shared.cut_at.store(self.shared.passed.load(Relaxed).saturating_add(bytes), Relaxed);
    }

    /// Cuts the connection whose bytes come after so many more, and leaves the others.
    pub fn cut_one_after(&self, bytes: u64) {
        self.shared.cut_one_at.store(self.shared.passed.load(Relaxed).saturating_add(bytes), Relaxed);
    }

    /// Cuts one connection, by its number since all were cut last, as soon as it is there, and leaves the others.
    pub fn cut(&self, number: usize) {
        for _ in 0..2000 {
            if let Some(ends) = self.shared.sockets.lock().unwrap().chunks_exact(2).nth(number) {
                for socket in ends {
                    let _ = socket.shutdown(Shutdown::Both);
                }
                return;
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        panic!("connection {number} did not come");
    }

    pub fn passed(&self) -> u64 {
        self.shared.passed.load(Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn forward(&self, mut from: TcpStream, mut to: TcpStream, counted: bool) {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(length) = from.read(&mut buffer) {
            if length == 0 {
                break;
            }
            if counted
                && self.passed.fetch_add(length as u64, Relaxed) + length as u64 > self.cut_at.load(Relaxed)
            {
                self.passed.fetch_sub(length as u64, Relaxed);
                for socket in self.sockets.lock().unwrap().drain(..) {
                    let _ = socket.shutdown(Shutdown::Both);
                }
                return;
            }
            let cut_one_at = self.cut_one_at.load(Relaxed);
            if counted && cut_one_at > 0 && self.passed.load(Relaxed) > cut_one_at {
                self.cut_one_at.store(0, Relaxed);
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }
}
