//! Programs at the ends of a path, as threads of the test.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use testkit::tries::watched;
use testkit::{could_not_judge, now, wait_until};
use tightlink_emu::{Path, PathConfig, PathReport, privilege};
use units::Span;

static ALONE: Mutex<()> = Mutex::new(());

/// Waits until no other timing test runs. `None` where the machine does not let us run any: the test could not judge.
#[track_caller]
pub fn alone() -> Option<MutexGuard<'static, ()>> {
    match privilege::check() {
        Ok(privilege) if !privilege.user_namespace => {
            // A test that failed before us is no reason to fail.
            Some(ALONE.lock().unwrap_or_else(PoisonError::into_inner))
        }
        Ok(_) => {
            could_not_judge("needs root: tests run on many threads, which a user namespace does not allow");
            None
        }
        Err(error) => {
            could_not_judge(error);
            None
        }
    }
}

/// Tries `measure` until `good`, six times at most. Tries during which the machine stalled (its host, or other programs,
/// had the processor) say nothing against us: with a good one among six all is well, after three bad ones on a machine that ran
/// the test fails, and if the machine never ran for long enough the test could not judge: `None`. What no stall explains is
/// asserted by `measure` itself, in every try.
#[track_caller]
pub fn settled<T: std::fmt::Debug>(measure: impl FnMut() -> T, good: impl Fn(&T) -> bool) -> Option<T> {
    settled_unless(measure, good, |_| false)
}

/// The same, for a measurement that shows itself when the machine disturbed it: it is then `noisy`, and judges nothing.
pub fn settled_unless<T: std::fmt::Debug>(
    mut measure: impl FnMut() -> T,
    good: impl Fn(&T) -> bool,
    noisy: impl Fn(&T) -> bool,
) -> Option<T> {
    let mut bad = Vec::new();
    for _ in 0..6 {
        let (measured, stalls) = watched(&mut measure);
        if good(&measured) {
            return Some(measured);
        }
        if stalls.count < STALLS && !noisy(&measured) {
            bad.push(measured);
        }
        assert!(bad.len() < 3, "not even the third time: {:?}", bad.last());
    }
    could_not_judge("the machine stalled in four tries of six or more");
    None
}

/// So many naps that last 1 ms too long make a stalling machine: a host that takes the processor away for a millisecond here and
/// there moves packets by as much, and a packet train at 622 Mbit/s is no longer than that.
const STALLS: u32 = 4;

/// A greedy TCP flow over the path; measured for `measured` after `warmup`.
pub fn bulk(config: PathConfig, warmup: Duration, measured: Duration) -> PathReport {
    let mut path = Path::start(config).expect("the path starts");
    let address = (path.receiver_address(), 5001);
    let (ready, listening) = mpsc::channel();
    let sink = path.receiver().spawn("sink", move || {
        let listener = TcpListener::bind(address).expect("a free port");
        ready.send(()).expect("the test waits");
        let (mut stream, _) = listener.accept().expect("the source connects");
        stream.set_read_timeout(Some(Duration::from_secs(1))).expect("above zero");
        let mut buffer = vec![0; 1 << 20];
        while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
    });
    listening.recv().expect("the sink listens");
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    let source = path.sender().spawn("source", move || {
        let mut stream = TcpStream::connect(address).expect("the sink listens");
        stream.set_write_timeout(Some(Duration::from_secs(1))).expect("above zero");
        let block = vec![0; 1 << 17];
        while !stop.load(Ordering::Relaxed) && stream.write_all(&block).is_ok() {}
    });
    let begun = path.begin(Span::from_nanos(warmup.as_nanos() as u64)).expect("the path is alive");
    wait_until(begun + warmup + measured);
    over.store(true, Ordering::Relaxed);
    let report = path.stop().expect("the path is alive");
    for thread in [sink, source] {
        thread.expect("the thread started").join().expect("the endpoint does not panic");
    }
    report
}

/// Round trips of small UDP packets to port 7, in milliseconds, sorted.
pub fn echo(path: &Path, count: u32) -> Vec<f64> {
    echo_from(path, 7, count)
}

/// The same to another port.
pub fn echo_from(path: &Path, port: u16, count: u32) -> Vec<f64> {
    let far = path.receiver_address();
    let bind = |namespace: &tightlink_emu::Namespace, at| {
        let socket = namespace.run(move || UdpSocket::bind(at).expect("a free port")).expect("inside");
        socket.set_read_timeout(Some(Duration::from_millis(500))).expect("above zero");
        socket
    };
    let server = bind(path.receiver(), (far, port));
    let client = bind(path.sender(), (Ipv4Addr::UNSPECIFIED, 0));
    client.connect((far, port)).expect("there is a route");
    let answering = std::thread::spawn(move || {
        host::run_ahead();
        let mut buffer = [0; 64];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            let _ = server.send_to(&buffer[..length], from);
        }
    });
    let asking = std::thread::spawn(move || {
        host::run_ahead();
        let mut buffer = [0; 64];
        let mut rtts = Vec::new();
        for _ in 0..count {
            let sent = now();
            client.send(&[0; 32]).expect("the path takes packets");
            if client.recv(&mut buffer).is_ok() {
                rtts.push(sent.elapsed().as_secs_f64() * 1e3);
            }
        }
        rtts.sort_by(f64::total_cmp);
        rtts
    });
    let rtts = asking.join().expect("the client does not panic");
    answering.join().expect("the server ends when it hears nothing");
    assert_eq!(rtts.len(), count as usize, "every packet comes back");
    rtts
}
