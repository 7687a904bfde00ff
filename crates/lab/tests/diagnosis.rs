//! Proposals for a connection: what to change, and the simulated effect.

use estimate::diagnosis::{
    BufferEstimate, Cause, Confidence, Diagnosis, Direction, Evidence, HostSettings, Interval, PathState,
    Shares, Vantage, WindowSizing,
};
use std::fs;
use testkit::repository;
use tightlink_lab::study::diagnosis::{PROGRAMS, Program, Proposal, Subject, programs_with, propose};
use units::{Bytes, Rate, Span, Time};

/// Returns the evidence of a connection with `goodput` for 10 s, whose bottleneck may be known.
fn evidence(goodput: &str, rtt: u64, capacity: Option<&str>) -> Evidence {
    let direction = Direction {
        source: "192.0.2.1:5001".parse().unwrap(),
        destination: "192.0.2.9:40000".parse().unwrap(),
    };
    let goodput: Rate = goodput.parse().unwrap();
    let length = Span::from_millis(100);
    let interval = |at: u64| Interval {
        from: Time::from_nanos(at * length.as_nanos()),
        length,
        delivered: goodput.volume(length),
        ..Interval::default()
    };
    Evidence {
        base_round_trip: Some(Span::from_millis(rtt)),
        capacity: capacity.map(|rate| rate.parse().unwrap()),
        control: Some("cubic".into()),
        intervals: (0..100).map(interval).collect(),
        ..Evidence::new(direction, Vantage::ReceiverSocket)
    }
}

fn diagnosis(cause: Cause, path: Option<PathState>, in_use: Option<u64>) -> Diagnosis {
    Diagnosis {
        shares: Shares::default(),
        cause: Some(cause),
        path,
        confidence: Confidence::High,
        reason: String::new(),
        in_use: in_use.map(Bytes::new),
    }
}

const SUBJECT: Subject<'_> = Subject { pid: Some(4711), program: Some("nc"), rate: None, here: None };

fn with_window(mut evidence: Evidence, window: u64) -> Evidence {
    for interval in &mut evidence.intervals {
        interval.receive_window = Some(Bytes::new(window));
        interval.flight = interval.receive_window;
    }
    evidence
}

fn text(proposal: &Proposal) -> String {
    proposal.sentences.join("\n")
}

fn commands(proposal: &Proposal) -> Vec<String> {
    proposal.remedies.iter().map(|remedy| format!("{}: {}", remedy.place, remedy.command)).collect()
}

/// Checks that `proposal` says each of `parts`, in this order.
#[track_caller]
fn says(proposal: &Proposal, parts: &[&str]) {
    let all = text(proposal);
    let mut rest = all.as_str();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { panic!("no {part:?} here in:\n{all}") };
        rest = after;
    }
}

fn near(found: f64, wanted: f64, tolerance: f64) -> bool {
    (found / wanted - 1.0).abs() <= tolerance
}

#[test]
fn a_receive_window_gets_the_size_the_effect_and_the_commands() {
    let limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let proposal = propose(&limited, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    says(
        &proposal,
        &[
            "The receive window of 416 kB limits it.",
            "100 Mbit/s over 80 ms needs 1.01 MB; simulated with it: 96.",
            "Mbit/s (now 40 Mbit/s), queueing delay ",
            "sets SO_RCVBUF itself",
        ],
    );
    let (now, after) = (proposal.now.unwrap(), proposal.after.unwrap());
    assert!(near(now.goodput_bps, 41.0e6, 0.03), "{now:?}");
    assert!(near(after.goodput_bps, 96.5e6, 0.01) && after.queueing_delay_s < 0.01, "{after:?}");
    assert_eq!(
        commands(&proposal),
        ["here: sysctl -w net.ipv4.tcp_rmem=\"4096 131072 6291456\"", "here: tightlink tune --pid 4711"]
    );
    assert!(!proposal.rate_assumed && proposal.needed_bytes == Some(1_005_792));
}

#[test]
fn ten_times_the_path_has_ten_times_the_numbers() {
    let at = |goodput, capacity, window| {
        let limited = with_window(evidence(goodput, 80, Some(capacity)), window);
        propose(&limited, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT).after.unwrap()
    };
    let (one, thousand) = (at("40Mbit/s", "100Mbit/s", 416_000), at("40Gbit/s", "100Gbit/s", 416_000_000));
    assert!(near(thousand.goodput_bps, 1e3 * one.goodput_bps, 0.01), "{one:?} {thousand:?}");
}

#[test]
fn a_larger_window_than_the_path_needs_is_not_made_larger() {
    let limited = with_window(evidence("95Mbit/s", 80, Some("100Mbit/s")), 1_200_000);
    let proposal = propose(&limited, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    says(&proposal, &["needs only 1.01 MB, so a larger one would add a queue and no goodput."]);
    assert!(proposal.after.is_none() && proposal.remedies.is_empty());
}

#[test]
fn a_path_that_was_never_full_gets_a_condition_and_no_claim() {
    let limited = with_window(evidence("40Mbit/s", 80, None), 416_000);
    let proposal = propose(&limited, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    says(&proposal, &["never full, so its rate is unknown.", "would carry up to 16", "if the path has that"]);
    assert!(proposal.rate_assumed);
    let idle =
        propose(&evidence("5Mbit/s", 40, None), &diagnosis(Cause::SendingProgram, None, None), &SUBJECT);
    says(&idle, &["it is at least 5.18 Mbit/s."]);
    assert!(idle.after.is_none() && idle.rate_bps.is_none());
}

#[test]
fn the_scale_of_the_handshake_bounds_what_tune_can_do() {
    let limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let scaled = Evidence { window_scale: Some(3), ..limited.clone() };
    let verdict = diagnosis(Cause::ReceiveWindow, None, None);
    let proposal = propose(&scaled, &verdict, &SUBJECT);
    says(&proposal, &["cannot advertise more than 524 kB"]);
    assert!(!commands(&proposal).iter().any(|command| command.contains("tune")));
    let inferred = Evidence { inferred_scale: true, ..scaled };
    let proposal = propose(&inferred, &verdict, &SUBJECT);
    says(&proposal, &["The receive window of about 416 kB"]);
    assert!(commands(&proposal).iter().any(|command| command.contains("tune")));
    let unscaled = Evidence { scaling_off: true, ..limited };
    let proposal = propose(&unscaled, &verdict, &SUBJECT);
    says(&proposal, &["Window scaling is off in this connection, so its window has 65,535 bytes at most."]);
    let on = |place: &str| format!("{place}: sysctl -w net.ipv4.tcp_window_scaling=1");
    let offered = |proposal: &Proposal, place: &str| commands(proposal).contains(&on(place));
    assert!(offered(&proposal, "here") && offered(&proposal, "at the sender 192.0.2.1"));
    let settings = |scales| Some(HostSettings { scales, ..HostSettings::default() });
    let own = propose(&Evidence { host: settings(false), ..unscaled.clone() }, &verdict, &SUBJECT);
    assert!(offered(&own, "here") && !offered(&own, "at the sender 192.0.2.1"));
    let other = propose(&Evidence { host: settings(true), ..unscaled }, &verdict, &SUBJECT);
    assert!(!offered(&other, "here") && offered(&other, "at the sender 192.0.2.1"));
    says(&other, &["the other host has it off, or a middlebox"]);
}

#[test]
fn autotuning_that_is_off_is_turned_on_or_gets_a_larger_buffer() {
    let limited = with_window(evidence("6.5Mbit/s", 80, Some("100Mbit/s")), 65_000);
    let settings = HostSettings { autotunes: false, ..HostSettings::default() };
    let off = Evidence { sizing: Some(WindowSizing::AutotuningOff), host: Some(settings), ..limited };
    let verdict = diagnosis(Cause::ReceiveWindow, None, None);
    let proposal = propose(&off, &verdict, &SUBJECT);
    says(&proposal, &["needs 1.01 MB", "tcp_moderate_rcvbuf = 0", "second number of tcp_rmem, 131 kB"]);
    assert_eq!(
        commands(&proposal),
        [
            "here: sysctl -w net.ipv4.tcp_moderate_rcvbuf=1",
            "here: sysctl -w net.ipv4.tcp_rmem=\"4096 2097152 6291456\"",
            "here: tightlink tune --pid 4711"
        ]
    );
    // The largest buffer is too small as well.
    let receive_memory = [4096, 131_072, 200_000].map(Bytes::new);
    let small = HostSettings { receive_memory, ..settings };
    let proposal = propose(&Evidence { host: Some(small), ..off }, &verdict, &SUBJECT);
    assert_eq!(
        commands(&proposal)[0],
        "here: sysctl -w net.ipv4.tcp_moderate_rcvbuf=1 net.ipv4.tcp_rmem=\"4096 131072 6291456\""
    );
}

#[test]
fn a_setting_that_is_large_enough_already_is_not_proposed() {
    let limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let own = Evidence { host: Some(HostSettings::default()), ..limited };
    let window = propose(&own, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    says(&window, &["sets SO_RCVBUF itself"]);
    assert_eq!(commands(&window), ["here: tightlink tune --pid 4711"]);
    let sender = Evidence { vantage: Vantage::SenderSocket, ..own };
    let buffer = propose(&sender, &diagnosis(Cause::SendBuffer, None, Some(400_000)), &SUBJECT);
    says(&buffer, &["sets SO_SNDBUF itself"]);
    assert!(buffer.remedies.is_empty(), "{:?}", buffer.remedies);
}

#[test]
fn a_window_of_so_rcvbuf_is_the_programs_own_to_change() {
    let limited = with_window(evidence("13Mbit/s", 80, Some("100Mbit/s")), 131_070);
    let fixed = Evidence { sizing: Some(WindowSizing::Program), ..limited };
    let verdict = diagnosis(Cause::ReceiveWindow, None, None);
    let proposal = propose(&fixed, &verdict, &Subject { program: Some("iperf3"), ..Subject::default() });
    says(&proposal, &["sets SO_RCVBUF", "iperf3 3.12", "leave `-w` out"]);
    assert_eq!(
        commands(&proposal),
        ["here: sysctl -w net.core.rmem_max=1048576", "here: tightlink tune --pid PID"]
    );
}

#[test]
fn each_command_names_the_host_on_which_it_helps() {
    let limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let seen = Evidence { vantage: Vantage::SenderSocket, ..limited };
    let window = propose(&seen, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    assert!(commands(&window).contains(&"at the receiver 192.0.2.9: tightlink tune --pid PID".to_owned()));
    let buffer = propose(&seen, &diagnosis(Cause::SendBuffer, None, Some(400_000)), &SUBJECT);
    assert!(
        commands(&buffer)[0].starts_with("here: sysctl -w net.ipv4.tcp_wmem="),
        "{:?}",
        commands(&buffer)
    );
    let captured = Evidence { vantage: Vantage::MiddleCapture, ..seen };
    let buffer = propose(&captured, &diagnosis(Cause::SendBuffer, None, Some(400_000)), &SUBJECT);
    assert!(commands(&buffer)[0].starts_with("at the sender 192.0.2.1: sysctl"));
}

#[test]
fn a_send_buffer_needs_half_as_much_again_as_is_in_flight() {
    let limited = evidence("230Mbit/s", 100, Some("1Gbit/s"));
    let proposal = propose(&limited, &diagnosis(Cause::SendBuffer, None, Some(2_800_000)), &SUBJECT);
    // A third of 12.5 MB more, in steps of 128 KiB.
    assert_eq!(
        commands(&proposal),
        ["at the sender 192.0.2.1: sysctl -w net.ipv4.tcp_wmem=\"4096 16384 18874368\""]
    );
    let (now, after) = (proposal.now.unwrap(), proposal.after.unwrap());
    assert!(near(now.goodput_bps, 228e6, 0.03) && near(after.goodput_bps, 965e6, 0.01), "{now:?} {after:?}");
    says(
        &proposal,
        &["The send buffer limits it, with 2.8 MB in flight.", "needs 12.5 MB", "sets SO_SNDBUF itself"],
    );
}

#[test]
fn a_window_of_the_programs_own_is_named_and_counted_in_connections() {
    let limited = evidence("157Mbit/s", 100, Some("1Gbit/s"));
    let proposal = propose(&limited, &diagnosis(Cause::ProgramWindow, None, Some(2_080_000)), &SUBJECT);
    says(&proposal, &["keeps 2.08 MB in flight", "OpenSSH 9.2p1", "SSH channel", "with 7 connections: 96"]);
    assert!(proposal.remedies.is_empty() && proposal.after.unwrap().utilization > 0.99);
    assert_eq!(proposal.connections, Some(7));
    let other = propose(&limited, &diagnosis(Cause::ProgramWindow, None, Some(1_700_000)), &SUBJECT);
    assert!(!text(&other).contains("such a window:"), "no program has 1.7 MB:\n{}", text(&other));
}

#[test]
fn where_a_program_is_the_limit_the_path_shows_what_it_could_carry() {
    for cause in [Cause::SendingProgram, Cause::ReceivingProgram] {
        let proposal =
            propose(&evidence("5Mbit/s", 40, Some("50Mbit/s")), &diagnosis(cause, None, None), &SUBJECT);
        says(&proposal, &["No buffer and no window helps.", "could carry 48", "(now 5 Mbit/s)"]);
        assert!(proposal.remedies.is_empty());
    }
}

#[test]
fn a_transfer_that_ended_in_slow_start_gets_its_rounds() {
    let mut short = evidence("6Mbit/s", 100, Some("100Mbit/s"));
    short.intervals.truncate(5);
    let proposal = propose(&short, &diagnosis(Cause::SlowStart, None, None), &SUBJECT);
    says(&proposal, &["375 kB take 5 round trips of 100 ms", "is full after 7 round trips", "3.75 MB has 3"]);
    let (now, after) = (proposal.now.unwrap(), proposal.after.unwrap());
    assert!(near(now.goodput_bps, 6e6, 0.1) && after.goodput_bps > 4.0 * now.goodput_bps);
}

#[test]
fn the_network_gets_what_its_state_allows() {
    let of =
        |evidence: &Evidence, state| propose(evidence, &diagnosis(Cause::Network, state, None), &SUBJECT);
    let mut deep = evidence("48Mbit/s", 40, Some("50Mbit/s"));
    deep.buffer = Some(BufferEstimate { size: Bytes::new(1_000_000), at_least: false });
    for interval in &mut deep.intervals {
        interval.round_trip = Some(Span::from_millis(170));
    }
    let own = of(&deep, Some(PathState::SelfInduced));
    says(
        &own,
        &[
            "Only a faster path carries more",
            "a window of 256 kB; simulated with it: 4",
            "(now 48 Mbit/s and 130 ms)",
        ],
    );
    assert!(
        near(own.now.unwrap().queueing_delay_s, 0.13, 0.1) && own.after.unwrap().queueing_delay_s < 0.005
    );
    assert!(
        commands(&own).contains(&"at the bottleneck: tightlink size --rate 50Mbit/s --rtt 40ms".to_owned())
    );

    let shared = of(&evidence("12Mbit/s", 40, Some("50Mbit/s")), Some(PathState::Congested));
    says(&shared, &["25 % of 50 Mbit/s, as one of about 4 equal flows has", "FQ-CoDel at the bottleneck"]);
    let (now, after) = (shared.now.unwrap(), shared.after.unwrap());
    assert!(near(now.goodput_bps, 12e6, 0.05) && after.queueing_delay_s < now.queueing_delay_s / 3.0);

    let mut lossy = evidence("1Mbit/s", 40, Some("50Mbit/s"));
    lossy.intervals.iter_mut().take(50).for_each(|interval| interval.retransmitted = 1);
    let random = of(&lossy, Some(PathState::RandomLoss));
    says(&random, &["lost without a queue: 5.79 %", "bbr has 4", "with cubic (now 1 Mbit/s)"]);
    assert!(near(random.now.unwrap().goodput_bps, 1.09e6, 0.2), "{:?}", random.now);
    lossy.control = Some("bbr".into());
    assert!(of(&lossy, Some(PathState::RandomLoss)).remedies.is_empty());

    for (state, part) in [
        (Some(PathState::Managed), "is managed"),
        (Some(PathState::NotCongested), "neither a queue nor losses"),
        (None, "does not tell its own queue from the traffic of others"),
    ] {
        says(&of(&evidence("12Mbit/s", 40, Some("50Mbit/s")), state), &[part]);
    }
}

#[test]
fn without_a_round_trip_data_or_a_verdict_nothing_is_guessed() {
    let verdict = diagnosis(Cause::ReceiveWindow, None, Some(416_000));
    let full = evidence("40Mbit/s", 80, Some("100Mbit/s"));
    let blind = propose(&Evidence { base_round_trip: None, ..full.clone() }, &verdict, &SUBJECT);
    says(&blind, &["round-trip time is unknown"]);
    let still = propose(&Evidence { intervals: Vec::new(), ..full.clone() }, &verdict, &SUBJECT);
    says(&still, &["No data arrived"]);
    let silent = propose(&full, &Diagnosis { cause: None, ..verdict }, &SUBJECT);
    says(&silent, &["does not show what limits it"]);
    for proposal in [blind, still, silent] {
        assert!(proposal.now.is_none() && proposal.after.is_none() && proposal.remedies.is_empty());
        assert!(proposal.assumptions.is_empty());
    }
}

#[test]
fn a_path_too_fast_for_a_short_simulation_gets_no_simulated_number() {
    let fast = evidence("95Gbit/s", 80, Some("100Gbit/s"));
    let proposal = propose(&fast, &diagnosis(Cause::SendingProgram, None, None), &SUBJECT);
    assert!(proposal.after.is_none(), "{proposal:?}");
    says(&proposal, &["The path has 100 Gbit/s over 80 ms."]);
}

#[test]
fn what_is_assumed_of_the_path_is_listed() {
    let unknown = Evidence { control: Some("illinois".into()), ..evidence("5Mbit/s", 40, Some("50Mbit/s")) };
    let proposal = propose(&unknown, &diagnosis(Cause::SendingProgram, None, None), &SUBJECT);
    assert!(proposal.assumptions.iter().any(|line| line.contains("congestion control is cubic")));
    assert!(proposal.assumptions.iter().any(|line| line.contains("one bandwidth-delay product")));
    let buffer = Some(BufferEstimate { size: Bytes::new(300_000), at_least: false });
    let known = Evidence { buffer, ..evidence("5Mbit/s", 40, Some("50Mbit/s")) };
    let proposal = propose(&known, &diagnosis(Cause::SendingProgram, None, None), &SUBJECT);
    assert_eq!(proposal.assumptions.len(), 1, "{:?}", proposal.assumptions);
}

#[test]
fn a_verdict_of_low_confidence_warns_before_a_change() {
    let limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    let sure = diagnosis(Cause::ReceiveWindow, None, None);
    assert!(!text(&propose(&limited, &sure, &SUBJECT)).contains("confidence"));
    let unsure = Diagnosis { confidence: Confidence::Low, ..sure };
    says(&propose(&limited, &unsure, &SUBJECT), &["The confidence is low", "The receive window of 416 kB"]);
}

#[test]
fn at_a_receivers_socket_the_windows_count_without_the_data_in_flight() {
    let mut limited = with_window(evidence("40Mbit/s", 80, Some("100Mbit/s")), 416_000);
    limited.intervals.iter_mut().for_each(|interval| interval.flight = None);
    let proposal = propose(&limited, &diagnosis(Cause::ReceiveWindow, None, None), &SUBJECT);
    says(&proposal, &["The receive window of 416 kB limits it."]);
}

#[test]
fn a_rate_by_the_users_word_counts_only_where_the_path_was_never_full() {
    let verdict = diagnosis(Cause::ReceiveWindow, None, None);
    let subject = Subject { rate: Some("100Mbit/s".parse().unwrap()), ..SUBJECT };
    for (capacity, wanted) in [(None, 100e6), (Some("50Mbit/s"), 50e6)] {
        let limited = with_window(evidence("40Mbit/s", 80, capacity), 416_000);
        let proposal = propose(&limited, &verdict, &subject);
        assert_eq!((proposal.rate_bps, proposal.rate_assumed), (Some(wanted), false));
    }
}

/// The table of the guide stands between its head and an empty line. `TIGHTLINK_WRITE=1` writes it.
#[test]
fn the_guide_has_the_programs_of_the_table() {
    let path = repository().join("docs/guide/programs.md");
    let guide = fs::read_to_string(&path).unwrap();
    let head = "|---|---|---|---|---|\n";
    let (before, rest) = guide.split_once(head).expect("the table of programs");
    let (rows, after) = rest.split_once("\n\n").expect("an empty line after the table");
    let wanted: Vec<String> = PROGRAMS.iter().map(Program::row).collect();
    if std::env::var_os("TIGHTLINK_WRITE").is_some() {
        fs::write(&path, format!("{before}{head}{}\n\n{after}", wanted.join("\n"))).unwrap();
        return;
    }
    assert_eq!(rows.lines().collect::<Vec<_>>(), wanted, "TIGHTLINK_WRITE=1 writes it");
}

#[test]
fn a_program_is_found_by_its_window_and_its_process() {
    for program in PROGRAMS {
        let Some(window) = program.window else { continue };
        // 24,576 B, 0.43 MB
        let number: String = program.flight.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        let number: f64 = number.parse().unwrap();
        let bytes = if program.flight.ends_with("MB") { number * 1e6 } else { number };
        assert!(near(window.get() as f64, bytes, 0.03), "{}: {window} and {}", program.name, program.flight);
        assert!(programs_with(window, program.of_socket, None).contains(&program));
        for process in program.processes {
            assert_eq!(programs_with(window.scale(0.85), program.of_socket, Some(process)), [program]);
        }
    }
    assert!(programs_with(Bytes::new(2_097_152), true, Some("ssh")).is_empty(), "SSH does not set SO_RCVBUF");
}
