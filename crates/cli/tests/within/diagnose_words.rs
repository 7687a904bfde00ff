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
