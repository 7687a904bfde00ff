//! How exactly the emulator holds a rate and a base RTT on this machine: one line per path.
//!
//! `cargo run --release -p tightlink-emu --example hold_rate [SECONDS] [ceiling] [goal=PERCENT]`, as root or where user
//! namespaces are allowed. The buffer is one bandwidth-delay product; one greedy TCP flow fills the path, then, on a path of
//! its own, small UDP packets are echoed for the base RTT. The rate is that by the path's clock, which stands still while the
//! machine does not run the emulator, and that by the machine's own. Each goal that is missed has a line `missed: …` at the
//! end, each that stalls of the host kept from being judged a line `not judged: …`. Exit status 1 if a goal is missed.
//! `goal` replaces the goals for the rate. With `ceiling`, also how fast one flow gets without delay, with segmentation
//! offload and without.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tightlink_emu::{EmuError, Lateness, Path, PathConfig, PathReport, RateVerdict, prepare};
use units::{Bytes, Rate, Span};

/// Rate, base RTT in milliseconds, and the largest error in the rate that counts as held, in percent.
const PATHS: [(u64, u64, f64); 4] = [(97, 20, 0.5), (622, 20, 0.5), (1000, 20, 0.5), (720, 80, 1.0)];
/// The largest error of the mean base RTT that counts as held.
const RTT_GOAL_MS: f64 = 0.5;

/// The goals that were not met.
#[derive(Default)]
struct Unmet {
    missed: Vec<String>,
    not_judged: Vec<String>,
}

impl Unmet {
    /// Enters what was found about `goal`. Returns a word for it.
    fn enter(&mut self, goal: String, judged: RateVerdict) -> &'static str {
        match judged {
            RateVerdict::Held => "held",
            RateVerdict::Missed => {
                self.missed.push(goal);
                "MISSED"
            }
            RateVerdict::NotJudged(reason) => {
                self.not_judged.push(format!("{goal}: {reason}"));
                "not judged"
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.iter().find_map(|text| text.parse().ok()).unwrap_or(4);
    let goals = arguments.iter().find_map(|text| text.strip_prefix("goal=")?.parse().ok());
    let mut unmet = Unmet::default();
    let mut run = || -> Result<(), EmuError> {
        let privilege = prepare()?;
        if !privilege.real_time {
            eprintln!("SCHED_FIFO is not permitted: expect late deliveries");
        }
        println!(
            "{:16} {:26} {:26} {:44} emulator",
            "path", "by the path's clock", "by the machine's", "base RTT"
        );
        for (mbps, rtt_ms, goal) in PATHS {
            one_path(mbps, rtt_ms, goals.unwrap_or(goal), seconds, &mut unmet)?;
        }
        if arguments.iter().any(|argument| argument == "ceiling") {
            for share in [0.6, 0.8, 1.0] {
                ceiling(true, share, seconds)?;
                ceiling(false, share, seconds)?;
            }
        }
        Ok(())
    };
    let ended = run();
    for goal in &unmet.missed {
        println!("missed: {goal}");
    }
    for goal in &unmet.not_judged {
        println!("not judged: {goal}");
    }
    match ended {
        Ok(()) if unmet.missed.is_empty() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn one_path(mbps: u64, rtt_ms: u64, goal: f64, seconds: u64, unmet: &mut Unmet) -> Result<(), EmuError> {
    let rate = Rate::from_bps(mbps * 1_000_000);
    let rtt = Span::from_millis(rtt_ms);
    let config = PathConfig::new(rate, rtt / 2, link::Limit::Bytes(rate.volume(rtt)));
    let report = bulk(config.clone(), rtt, seconds)?;
    let off = |bps: f64| (bps / rate.as_bps_f64() - 1.0) * 100.0;
    let (path, real) = (report.forwarded_bps(), report.real_bps());
    let by_path = if off(path).abs() <= goal { RateVerdict::Held } else { RateVerdict::Missed };
    let named = |what: &str, bps: f64| {
        format!(
            "{mbps} Mbit/s within {goal} % by the {what} clock: {:.2} ({:+.2} %), the flow left the link idle for {:.2} %",
            bps / 1e6,
            off(bps),
            report.link.idle_fraction * 100.0
        )
    };
    let path_word = unmet.enter(named("path's", path), by_path);
    let real_word = unmet.enter(named("machine's", real), report.real_rate(rate, goal / 100.0));

    let (rtts, stalled) = echo(config, 100)?;
    let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
    let late = mean - rtt_ms as f64;
    let named = format!("base RTT {rtt_ms} ms within {RTT_GOAL_MS} ms at {mbps} Mbit/s: {mean:.3} ms");
    let rtt_word = unmet.enter(named, base_rtt(late, stalled, rtts.len()));
    println!(
        "{:16} {:26} {:26} {:44} {:.2} core",
        format!("{mbps} Mbit/s {rtt_ms} ms"),
        format!("{:.2} ({:+.2} %) {path_word}", path / 1e6, off(path)),
        format!("{:.2} ({:+.2} %) {real_word}", real / 1e6, off(real)),
        format!("mean {mean:.3} median {:.3} ms {rtt_word}", rtts[rtts.len() / 2]),
        report.cpu.as_secs_f64() / report.lived.as_secs_f64(),
    );
    let Lateness { mean, p99, max, .. } = report.lateness;
    println!("    deliveries late by: mean {mean}, p99 {p99}, max {max}");
    for doubt in report.stalled().into_iter().chain(report.doubts(rtt).iter().map(ToString::to_string)) {
        println!("    {doubt}");
    }
    Ok(())
}

/// Echoes come one after the other, so of what the path stood still none has more than its part of the whole.
fn base_rtt(late_ms: f64, stalled: Span, echoes: usize) -> RateVerdict {
    let explained = stalled.as_millis_f64() / echoes as f64;
    if late_ms.abs() <= RTT_GOAL_MS {
        RateVerdict::Held
    } else if late_ms > 0.0 && late_ms - explained <= RTT_GOAL_MS {
        RateVerdict::NotJudged(format!(
            "the host stalled {:.0} ms in {echoes} echoes",
            stalled.as_millis_f64()
        ))
    } else {
        RateVerdict::Missed
    }
}

/// A share of the fastest path that is not refused, without delay.
fn ceiling(offload: bool, share: f64, seconds: u64) -> Result<(), EmuError> {
    let limit = link::Limit::Bytes(Bytes::new(4_000_000));
    let slow = PathConfig { offload, ..PathConfig::new(Rate::from_bps(1), Span::ZERO, limit) };
    let rate = slow.reachable_rate().scale(share);
    let config = PathConfig { link: link::LinkConfig { rate, ..slow.link.clone() }, ..slow };
    let report = bulk(config, Span::from_millis(2), seconds)?;
    println!(
        "ceiling {} offload: {:.2} of {rate}, {:.0} packets/s, emulator {:.2} core, lateness p99 {} max {}",
        if offload { "with" } else { "without" },
        report.forwarded_bps() / 1e9,
        report.link.forwarded as f64 / report.link.measured.as_secs_f64(),
        report.cpu.as_secs_f64() / report.lived.as_secs_f64(),
        report.lateness.p99,
        report.lateness.max,
    );
    for doubt in report.doubts(Span::ZERO) {
        println!("    in doubt: {doubt}");
    }
    Ok(())
}

/// One greedy flow for a while; measured once the path is full.
fn bulk(config: PathConfig, rtt: Span, seconds: u64) -> Result<PathReport, EmuError> {
    let rate = config.link.rate;
    let mut path = Path::start(config)?;
    path.allow_window(rate.volume(rtt * 4))?;
    let address = (path.receiver_address(), 5001);
    let (ready, listening) = std::sync::mpsc::channel();
    let sink = path.receiver().spawn("sink", move || {
        let listener = TcpListener::bind(address).expect("a free port");
        ready.send(()).expect("the main thread waits");
        let (mut stream, _) = listener.accept().expect("the source connects");
        let mut buffer = vec![0; 1 << 20];
        while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
    })?;
    listening.recv().expect("the sink listens");
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    let source = path.sender().spawn("source", move || {
        let mut stream = TcpStream::connect(address).expect("the sink listens");
        let block = vec![0; 1 << 18];
        while !stop.load(Ordering::Relaxed) && stream.write_all(&block).is_ok() {}
    })?;
    // Slow start and the first recovery, which takes a while at 80 ms.
    let warmup = Duration::from_secs(2);
    let begun = path.begin(Span::from_nanos(warmup.as_nanos() as u64))?;
    wait_until(begun + warmup + Duration::from_secs(seconds));
    over.store(true, Ordering::Relaxed);
    let report = path.stop()?;
    // The path is gone, so neither end can finish by itself in good time; the process's end closes both.
    drop((source, sink));
    Ok(report)
}

/// Round trips of small UDP packets, in milliseconds, sorted, and how long the path stood still.
fn echo(config: PathConfig, count: u32) -> Result<(Vec<f64>, Span), EmuError> {
    let mut path = Path::start(config)?;
    let far = path.receiver_address();
    let server = path.receiver().run(move || UdpSocket::bind((far, 7)).expect("a free port"))?;
    let client = path.sender().run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a free port"))?;
    client.connect((far, 7)).expect("there is a route");
    let timeout = Some(Duration::from_secs(1));
    client.set_read_timeout(timeout).expect("a timeout above zero");
    server.set_read_timeout(timeout).expect("a timeout above zero");
    let answering = std::thread::spawn(move || {
        // The echo's own waits for a processor are not the path's.
        host::run_ahead();
        let mut buffer = [0; 64];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            let _ = server.send_to(&buffer[..length], from);
        }
    });
    path.begin(Span::ZERO)?;
    let asking = std::thread::spawn(move || ask(&client, count));
    let mut rtts = asking.join().expect("the client does not panic");
    let stalled = path.stop()?.stalls.total;
    answering.join().expect("the echo ends when it hears nothing");
    rtts.sort_by(f64::total_cmp);
    Ok((rtts, stalled))
}

fn ask(client: &UdpSocket, count: u32) -> Vec<f64> {
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
    rtts
}

fn wait_until(deadline: Instant) {
    std::thread::park_timeout(deadline.saturating_duration_since(now()));
    if now() < deadline {
        // A park may end early.
        wait_until(deadline);
    }
}

#[expect(clippy::disallowed_methods, reason = "an example drives real IO")]
fn now() -> Instant {
    Instant::now()
}
