//! `tightlink emulate`: any program behind an emulated tight link.

use crate::args::EmulateOptions;
use crate::print;
use crate::problem::Problem;
use emu::shell::{Shell, run as run_shell};
use emu::{PathConfig, User};
use lab::run::resolve::queue_limit;
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig};
use std::process::ExitCode;
use units::{Bytes, Complaint, Rate, Span, Time};

pub(crate) fn run(options: EmulateOptions) -> Result<ExitCode, Problem> {
    let path = path(&options)?;
    path.check()?;
    let user = if options.as_root { None } else { User::behind_sudo()? };
    emu::prepare()?;
    if let Some(user) = &user {
        let (name, id) = (user.name(), user.id());
        print::talk(format_args!(
            "note: the command runs as {name} (uid {id}), who called sudo; --as-root runs it as root"
        ));
    }
    let base_rtt = options.delay * 2;
    let program = options.program.into_iter().map(Into::into).collect();
    let outcome = run_shell(Shell { path, command: program, server: options.server, user })?;
    let report = &outcome.report;
    let link = &report.link;
    print::talk(format_args!(
        "tight link: {} packets sent, {} dropped ({:.3} %), {:.1} % busy, mean backlog {:.1} kB",
        link.forwarded,
        link.queue_drops + link.random_losses,
        link.loss_rate() * 100.0,
        link.utilization * 100.0,
        link.mean_waiting_bytes / 1e3
    ));
    let doubts = report.doubts(base_rtt);
    let doubts = doubts.iter().map(ToString::to_string);
    for note in report.notes.iter().cloned().chain(report.stalled()).chain(doubts) {
        print::talk(format_args!("note: {note}"));
    }
    Ok(ExitCode::from(outcome.code))
}

fn path(options: &EmulateOptions) -> Result<PathConfig, Problem> {
    if options.rate == Rate::ZERO {
        return Err(Problem::usage(
            Complaint::new("--rate 0", "nothing would pass").accepted("a rate above zero, such as 100Mbit/s"),
        ));
    }
    let mtu = u16::try_from(options.mtu.get()).map_err(|_| {
        let found = format!("{} is more than an IP packet can have", options.mtu);
        Problem::usage(Complaint::new("--mtu", found).accepted("576B to 65535B"))
    })?;
    let product = options.rate.volume(options.delay * 2);
    // Without a delay there is no product to hold.
    let usual = if product == Bytes::ZERO {
        scenario::Limit::Time(Span::from_millis(50))
    } else {
        scenario::Limit::Bdp(1.0)
    };
    let limit = queue_limit(options.queue.unwrap_or(usual), options.rate, options.delay * 2);
    if matches!(limit, Limit::Packets(0)) || matches!(limit, Limit::Bytes(bytes) if bytes < options.mtu) {
        let (mtu, rate, delay) = (options.mtu, options.rate, options.delay);
        return Err(Problem::usage(
            Complaint::new(
                "--queue",
                format!(
                    "less room than one packet of {mtu}; the bandwidth-delay product of {rate} and twice {delay} is \
                     {product}"
                ),
            )
            .accepted("1 packet or more, such as 100packets, 512kB, 40ms, or 1bdp with a --delay"),
        ));
    }
    let cross = options.cross.filter(|rate| *rate > Rate::ZERO).map(|rate| TrafficConfig {
        pattern: Pattern::Cbr,
        rate,
        packet: Bytes::new(1500),
        start: Time::ZERO,
        stop: Time::NEVER,
    });
    Ok(PathConfig {
        link: LinkConfig { rate: options.rate, delay: options.delay, loss: options.loss, jitter: Span::ZERO },
        reverse_delay: options.delay,
        traffic: cross.into_iter().collect(),
        seed: options.seed,
        mtu,
        mirror: options.both,
        ..PathConfig::new(options.rate, Span::ZERO, limit)
    })
}
