//! [`Path`]: two namespaces with a tight link between them, driven by the real clock.
//!
//! ```text
//!   sender's namespace                                      receiver's namespace
//!   programs ── tight (TUN) ──► Link: queue, rate, delay ──► tight (TUN) ── programs
//!                           ◄── delay by flow (or a second Link) ◄──
//! ```
//!
//! No rate limiter runs on timers. A packet's fate and departure are computed in virtual time at the moment at which
//! the packet is read. Only its delivery waits for the clock. So the rate is exact however late the thread wakes, and
//! lateness shows as added delay, which is measured and reported. While the machine does not run the thread at all, the
//! path stands still.
//!
//! Reading order: `config.rs` (the settings), `time.rs` (the path's time), `stops.rs` (Ctrl-Z), `lag.rs` (the path's
//! time for programs at its ends). Then `lane.rs` (the direction with the link), `line.rs` (the other direction),
//! `driver.rs` (the thread), `report.rs`, and `hosts.rs` (the two ends).

mod config;
mod doubt;
mod driver;
mod hosts;
mod lag;
mod lane;
mod line;
mod report;
mod stops;
mod time;

pub use config::{BackLink, PathConfig};
pub use doubt::Doubt;
pub use hosts::HostReport;
pub use lag::PathLag;
pub use report::{Lateness, LinkSample, PathReport, PathSample, RateVerdict};
pub use time::Stalls;

use crate::tap::{PacketSink, Tap, TapThread};
use crate::tun::{self, Tun, TunConfig};
use crate::{EmuError, Namespace, interface};
use driver::{Command, Driver, Schedule};
use host::{Clock, HostLosses};
use lane::{Lane, Pace, Packet, Store};
use line::{Direction, Line};
use link::queue::PolicyConfig;
use link::{Limit, Link, LinkConfig};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::net::Ipv4Addr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;
use time::PathTime;
use units::random::Stream;
use units::{Bytes, Complaint, Span, Time};

/// The sender's address. Both addresses are from the range for networks between networks (RFC 6598), and exist only
/// inside the path's namespaces.
const SENDER: Ipv4Addr = Ipv4Addr::new(100, 64, 77, 1);
/// The receiver's address.
const RECEIVER: Ipv4Addr = Ipv4Addr::new(100, 64, 77, 2);
const NETMASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 252);

/// The samples that wait for a late reader of [`Path::watch`]; later ones are lost.
const WATCHED: usize = 256;

/// A running path. Dropping it stops it; devices and namespaces end with the last program inside.
#[derive(Debug)]
pub struct Path {
    sender: Namespace,
    receiver: Namespace,
    commands: SyncSender<Command>,
    bell: Arc<EventFd>,
    thread: Option<JoinHandle<Result<PathReport, EmuError>>>,
    failure: Arc<OnceLock<String>>,
    origin: OnceLock<Instant>,
    started: Instant,
    lag: PathLag,
    limits_back: bool,
    /// The thread that takes copies of the packets, if there is a capture.
    tap: Option<TapThread>,
    /// The counts of the two hosts' losses at the last [`begin`](Path::begin).
    lost: [HostLosses; 2],
}

impl Path {
    /// Makes both namespaces and the path between them, and starts it. Cross traffic and measurement wait for
    /// [`begin`](Path::begin).
    ///
    /// # Errors
    /// [`EmuError::Refused`] if [`PathConfig::check`] refuses, [`EmuError::Missing`] or [`EmuError::Os`] if the machine
    /// does not allow it.
    pub fn start(config: PathConfig) -> Result<Self, EmuError> {
        Self::start_with(config, None)
    }

    /// Starts the path as [`start`](Path::start) does, and gives copies of all packets to `sink`.
    ///
    /// # Errors
    /// As for [`start`](Path::start).
    pub fn start_with(config: PathConfig, sink: Option<Box<dyn PacketSink>>) -> Result<Self, EmuError> {
        config.check()?;
        let (sender, receiver) = (Namespace::new()?, Namespace::new()?);
        for namespace in [&sender, &receiver] {
            // A run must not inherit what the kernel learned in the last one. If this setting fails, the run continues
            // nevertheless.
            let _ = namespace.sysctl("net.ipv4.tcp_no_metrics_save", "1");
        }
        let device =
            |address| TunConfig { address, netmask: NETMASK, mtu: config.mtu, offload: config.offload };
        let devices = [Tun::open(&sender, device(SENDER))?, Tun::open(&receiver, device(RECEIVER))?];
        let bell = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map(Arc::new)
            .map_err(|errno| EmuError::os("making an eventfd", errno))?;
        stops::attend();
        let (commands, received) = sync_channel(4);
        let limits_back = config.back.is_some();
        let clock = Clock::start();
        let path_time = PathTime::new(clock);
        let lag = path_time.lag();
        let epoch = clock.since_1970() - clock.now().since(Time::ZERO);
        let tap = sink.map(|sink| Tap::start(sink, epoch.since(Time::ZERO).as_nanos())).transpose()?;
        let (tap, taker) = tap.map_or((None, None), |(tap, taker)| (Some(Box::new(tap)), Some(taker)));
        let driver = Driver {
            devices,
            commands: received,
            bell: Arc::clone(&bell),
            clock,
            path_time,
            forward: Box::new(
                lane(&config, config.link.clone(), (&config.queue, config.limit), "link loss")?
                    .with_classes(config.traffic_classes.clone()),
            ),
            reverse: match &config.back {
                Some(back) => {
                    let link = LinkConfig {
                        loss: back.loss,
                        jitter: config.link.jitter,
                        changes: back.changes.clone(),
                        shaper: back.shaper.clone(),
                        ..LinkConfig::constant(back.rate, config.reverse_delay)
                    };
                    Direction::Limited(Box::new(lane(
                        &config,
                        link,
                        (&back.queue, back.limit),
                        "reverse loss",
                    )?))
                }
                None => Direction::Free(Line::new(config.reverse_delay, config.extra_delays)),
            },
            store: Store::new().tapped(tap),
            traffic: config.traffic,
            seed: config.seed,
            schedule: Schedule::new(config.sample_every),
            epoch,
            wakes: driver::WakeUpDelay::default(),
        };
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let thread = std::thread::Builder::new()
            .name("tight-link".into())
            .spawn(move || guarded(driver, &failed))
            .map_err(|error| EmuError::os("starting the emulator's thread", error))?;
        Ok(Self {
            sender,
            receiver,
            commands,
            bell,
            thread: Some(thread),
            failure,
            origin: OnceLock::new(),
            started: clock.instant(Time::ZERO),
            lag,
            limits_back,
            tap: taker,
            lost: [HostLosses::NONE; 2],
        })
    }

    /// Returns the namespace where packets enter the tight link.
    #[must_use]
    pub fn sender(&self) -> &Namespace {
        &self.sender
    }

    /// Returns the namespace where packets leave the tight link.
    #[must_use]
    pub fn receiver(&self) -> &Namespace {
        &self.receiver
    }

    /// Returns the sender's address.
    #[must_use]
    pub fn sender_address(&self) -> Ipv4Addr {
        SENDER
    }

    /// Returns the receiver's address.
    #[must_use]
    pub fn receiver_address(&self) -> Ipv4Addr {
        RECEIVER
    }

    /// Makes this moment time zero: cross traffic and sampling start, and the measured interval begins `warmup` later.
    /// Returns the moment. Called again, it starts over, and packets in flight stay in flight.
    ///
    /// # Errors
    /// [`EmuError::Ended`] if the path has ended.
    pub fn begin(&mut self, warmup: Span) -> Result<Instant, EmuError> {
        self.start_run(warmup, None)
    }

    /// Begins a run as [`begin`](Path::begin) does. The measured interval ends at `end` after time zero, even if the
    /// path is stopped later.
    ///
    /// # Errors
    /// [`EmuError::Ended`] if the path has ended.
    pub fn begin_until(&mut self, warmup: Span, end: Span) -> Result<Instant, EmuError> {
        self.start_run(warmup, Some(end))
    }

    fn start_run(&mut self, warmup: Span, end: Option<Span>) -> Result<Instant, EmuError> {
        self.lost = self.host_losses();
        let (origin, answer) = sync_channel(1);
        self.send(Command::Begin { warmup, end, origin })?;
        let at = answer.recv().map_err(|_| self.ended())?;
        self.origin = OnceLock::from(at);
        Ok(at)
    }

    /// Lets the path send a sample of both directions every `every` until the receiver is dropped. The emulator's thread
    /// never waits for the reader. A second call ends the samples of the first.
    ///
    /// # Errors
    /// [`EmuError::Ended`] if the path has ended.
    pub fn watch(&self, every: Span) -> Result<Receiver<PathSample>, EmuError> {
        let (watcher, samples) = sync_channel(WATCHED);
        self.send(Command::Watch { every, watcher })?;
        Ok(samples)
    }

    /// Returns time zero on the real clock: the last [`begin`](Path::begin), or the start of the path before that.
    #[must_use]
    pub fn origin(&self) -> Instant {
        self.origin.get().copied().unwrap_or(self.started)
    }

    /// Returns how far the path's time is behind the real clock since the last [`begin`](Path::begin): it stands still
    /// while the machine does not run the emulator. Programs at the path's ends should measure in the path's time.
    #[must_use]
    pub fn lag(&self) -> PathLag {
        self.lag.clone()
    }

    /// Returns the reason if the path has ended by itself, because a device was removed or the emulator has a bug. No
    /// packet moves any more, so code that waits for programs inside should check this regularly.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    /// Allows TCP at both ends windows of up to `window`; the kernel's own limits (6 MB) may be smaller.
    ///
    /// # Errors
    /// If /proc/sys cannot be written.
    pub fn allow_window(&self, window: Bytes) -> Result<(), EmuError> {
        // The kernel reserves about half of a buffer for bookkeeping.
        let most = window.get().saturating_mul(2).clamp(6 << 20, i32::MAX as u64);
        for namespace in [&self.sender, &self.receiver] {
            namespace.sysctl("net.ipv4.tcp_wmem", &format!("4096 65536 {most}"))?;
            namespace.sysctl("net.ipv4.tcp_rmem", &format!("4096 131072 {most}"))?;
        }
        Ok(())
    }

    /// Takes the thread that takes copies of the packets, to [join](TapThread::join) it once the path has ended.
    pub fn take_tap(&mut self) -> Option<TapThread> {
        self.tap.take()
    }

    /// Ends the path and returns its report. The measured interval ends now, if it has not ended before.
    ///
    /// # Errors
    /// [`EmuError::Ended`] if the path had ended by itself.
    pub fn stop(mut self) -> Result<PathReport, EmuError> {
        let ends = if self.limits_back { &[&self.sender, &self.receiver][..] } else { &[&self.sender] };
        let lost: Result<u64, EmuError> = ends.iter().map(|end| tun::dropped_unread(end)).sum();
        // Sending fails if the thread has ended already. The join below then gives the reason.
        let _ = self.send(Command::Stop);
        let Some(thread) = self.thread.take() else { return Err(self.ended()) };
        let mut report = thread.join().map_err(|_| self.ended())??;
        self.shorten_retries();
        report.lost_before_link = lost?;
        for ((host, now), before) in report.hosts.iter_mut().zip(self.host_losses()).zip(self.lost) {
            host.losses = now.since(before);
        }
        Ok(report)
    }

    /// Reads the losses of the hosts at both ends so far. A kernel that does not count them reports none.
    fn host_losses(&self) -> [HostLosses; 2] {
        [&self.sender, &self.receiver]
            .map(|end| end.run(HostLosses::here).ok().and_then(Result::ok).unwrap_or_default())
    }

    /// Reads the congestion control of connections that programs at the sender's end make, unless they choose one.
    ///
    /// # Errors
    /// If `/proc/sys` cannot be read.
    pub fn default_control(&self) -> Result<String, EmuError> {
        let file = "/proc/sys/net/ipv4/tcp_congestion_control";
        let text = self.sender.run(move || std::fs::read_to_string(file))?;
        text.map(|text| text.trim().to_owned())
            .map_err(|error| EmuError::os(format!("reading {file}"), error))
    }

    /// Makes programs at both ends use the congestion control `name`. The namespaces accept the controls that
    /// `tcp_allowed_congestion_control` lists as their default, which a program's own choice overrides. Any other one
    /// becomes a property of the route between the ends; the function then returns true. The kernel prefers the route's
    /// control to the one that a program chose before it connected or listened.
    ///
    /// # Errors
    /// [`EmuError::Refused`] if the kernel does not have it.
    pub fn set_control(&self, name: &str) -> Result<bool, EmuError> {
        let mut by_route = false;
        for (end, address) in [(&self.sender, SENDER), (&self.receiver, RECEIVER)] {
            // Inside a namespace the kernel refuses a control that is not allowed to everyone, even to root.
            if end.sysctl("net.ipv4.tcp_congestion_control", name).is_err() {
                by_route = true;
                let control = name.to_owned();
                end.run(move || interface::control(tun::DEVICE, address, NETMASK, &control))?.map_err(
                    |_| {
                        let available = host::options::available_controls().replace(' ', ", ");
                        EmuError::Refused(
                            Complaint::new(
                                "--control",
                                format!("this kernel has no congestion control \"{name}\""),
                            )
                            .accepted(available)
                            .help(format!("load its module if there is one: sudo modprobe tcp_{name}")),
                        )
                    },
                )?;
            }
        }
        Ok(by_route)
    }

    /// Makes connections across the ended path give up soon. Otherwise the kernel would send a program's remaining data
    /// for some two minutes more, and its namespace would stay as long. A program blocked in a write would wait a
    /// quarter of an hour.
    fn shorten_retries(&self) {
        for namespace in [&self.sender, &self.receiver] {
            // If this fails, the connections give up later.
            let _ = namespace.sysctl("net.ipv4.tcp_orphan_retries", "1");
            let _ = namespace.sysctl("net.ipv4.tcp_retries2", "1");
        }
    }

    fn send(&self, command: Command) -> Result<(), EmuError> {
        self.commands.send(command).map_err(|_| self.ended())?;
        self.bell.write(1).map(drop).map_err(|errno| EmuError::os("waking the emulator's thread", errno))
    }

    fn ended(&self) -> EmuError {
        EmuError::Ended(self.failure().unwrap_or_else(|| "its thread is gone".into()))
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.send(Command::Stop);
            // The result has no recipient here.
            let _ = thread.join();
            self.shorten_retries();
        }
    }
}

/// Makes one limited direction.
fn lane(
    config: &PathConfig,
    link: LinkConfig,
    (queue, limit): (&PolicyConfig, Limit),
    stream: &str,
) -> Result<Lane, EmuError> {
    let (pace, delay) = Pace::of(link.delay);
    let link = LinkConfig { delay, ..link };
    let stream = Stream::new(config.seed, stream);
    let link: Link<Packet> =
        Link::make_with(&link, queue, limit, stream).map_err(|error| EmuError::Ended(error.to_string()))?;
    Ok(Lane::new(link, pace, config.link.delay + config.reverse_delay, config.flow_ports.clone()))
}

/// Runs the thread's work, and stores the reason in `failed` if it ends with an error or a panic.
fn guarded(driver: Driver, failed: &OnceLock<String>) -> Result<PathReport, EmuError> {
    let result = catch_unwind(AssertUnwindSafe(|| driver.run())).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(EmuError::Ended(format!("its thread panicked: {text}")))
    });
    if let Err(error) = &result {
        // Setting succeeds, because this thread is the only writer and writes once.
        let _ = failed.set(match error {
            EmuError::Ended(reason) => reason.clone(),
            other => other.to_string(),
        });
    }
    result
}

#[cfg(test)]
#[path = "../tests/within/path.rs"]
mod tests;
