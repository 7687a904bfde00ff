//! Tests of the words of `diagnose`: whole percents, and lines of 80 columns.

use super::*;
use lab::study::diagnosis::Remedy;

#[test]
fn parts_of_a_line_are_folded_at_80_columns_behind_their_separator() {
    let parts = (0..12).map(|at| format!("a part of {at} %"));
    let lines = folded(parts, ", ");
    assert!(lines.len() > 1);
    for line in &lines {
        assert!(line.chars().count() <= WIDTH && line.starts_with("  a part"), "{line}");
    }
    assert!(lines[0].ends_with("%,") && !lines[lines.len() - 1].ends_with(','));
}

#[test]
fn a_bar_has_its_width_whatever_the_shares() {
    let parts =
        [(Cause::ReceiveWindow, 71), (Cause::Network, 24), (Cause::SendBuffer, 3), (Cause::SlowStart, 2)];
    let bar = bar(&parts);
    assert_eq!(bar.chars().count(), BAR + 2);
    assert_eq!(bar.matches('w').count(), 71 * BAR / 100);
}

#[test]
fn commands_stand_under_their_host_each_on_a_line_of_its_own() {
    let remedy = |place: &str, command: &str| Remedy { place: place.into(), command: command.into() };
    let long = format!("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 {}\"", 6 << 20);
    let proposal = Proposal {
        sentences: vec!["The receive window of 124 kB limits it.".into(), "It needs more. ".repeat(9)],
        remedies: vec![
            remedy("at the receiver 2001:db8::1234:5678", &long),
            remedy("at the receiver 2001:db8::1234:5678", "tightlink tune --pid PID"),
            remedy("here", "true"),
        ],
        ..Proposal::default()
    };
    let lines = proposed(&proposal);
    let words = lines.iter().position(|line| line == "  At the receiver 2001:db8::1234:5678:").unwrap();
    assert!(words >= 2 && lines[..words].iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
    let command = format!("    {long}");
    assert_eq!(lines[words + 1..], [command.as_str(), "    tightlink tune --pid PID", "  Here:", "    true"]);
}

#[test]
fn every_way_to_fail_is_said_in_lines_of_80_columns() {
    let by = "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535".parse().unwrap();
    let over = Span::from_secs_f64(12.34);
    let kinds = [
        FailureKind::NoAnswer { requests: 1, over: Span::ZERO },
        FailureKind::NoAnswer { requests: 6, over },
        FailureKind::Refused,
        FailureKind::Silent { retransmissions: 15, over },
        FailureKind::WindowClosed { over },
        FailureKind::Reset,
    ];
    for kind in kinds {
        let lines = failed(&Failure { by, kind });
        assert!(lines[0].starts_with("  [2001:db8:") && lines.last().unwrap().ends_with('.'), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
    }
}

#[test]
fn a_small_connection_has_its_counts_and_says_that_it_cannot_be_judged() {
    let mut connection = Connection {
        forward: estimate::diagnosis::Direction {
            source: "192.0.2.1:5000".parse().unwrap(),
            destination: "192.0.2.2:80".parse().unwrap(),
        },
        opened: true,
        interface: 0,
        from: units::Time::ZERO,
        until: units::Time::ZERO + Span::from_secs(2),
        failure: None,
        directions: Default::default(),
    };
    assert_eq!(of_small(&connection).len(), 2, "nothing was sent, so nothing has a limit");
    connection.directions[1].statistics.segments = 1;
    connection.directions[1].statistics.payload = units::Bytes::new(1200);
    let lines = of_small(&connection);
    assert_eq!(lines[0], "192.0.2.1:5000 -> 192.0.2.2:80");
    assert_eq!(lines[1], "  0 B there and 1.20 kB back in 2.0 s");
    assert_eq!(lines[2], "  back: 1 segment, 0 sent again, 0 out of order");
    assert_eq!(lines[3], "  Too little data to judge what limits it.");
}
