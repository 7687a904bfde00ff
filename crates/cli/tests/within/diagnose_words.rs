//! Tests of the words of `diagnose`: whole percents, and lines of 80 columns.

use super::*;

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
