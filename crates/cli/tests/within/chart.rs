//! Charts drawn on a terminal of memory, and as plain lines.

use super::draw::{Look, draw};
use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

const PLAIN: Look = Look { colour: false, unicode: false };

/// A path at 20 Mbit/s whose queue grows for `seconds`.
fn chart(seconds: u32) -> Chart {
    let mut chart =
        Chart::new("20 Mbit/s, 40 ms".into(), &[("rate", "Mbit/s"), ("queue", "ms"), ("RTT", "ms")]);
    for tenth in 1..=10 * seconds {
        let at = f64::from(tenth) / 10.0;
        chart.push(0, "to far", at, 0.5);
        chart.push(0, "from far", at, 19.5);
        chart.push(1, "to far", at, 0.0);
        chart.push(1, "from far", at, at);
        chart.push(2, "", at, 40.0 + at);
    }
    chart
}

/// The rows of a drawing of `chart`.
fn rows(chart: &Chart, output: Option<&[String]>, (width, height): (u16, u16), look: Look) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
    terminal.draw(|frame| draw(frame, chart, output, "q ends", look)).expect("memory");
    let buffer = terminal.backend().buffer();
    let colours = buffer.content().iter().any(|cell| cell.fg != Color::Reset);
    assert_eq!(colours, look.colour, "colours");
    buffer
        .content()
        .chunks(usize::from(width))
        .map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned())
        .collect()
}

#[test]
fn a_terminal_of_80_columns_has_three_panels_and_the_output() {
    let output = ["first".to_owned(), "last".to_owned()];
    let rows = rows(&chart(30), Some(&output), (80, 24), PLAIN);
    assert!(rows[0].starts_with("20 Mbit/s, 40 ms ") && rows[0].ends_with(" q ends"), "{rows:#?}");
    assert_eq!(rows[1], "rate *to far 0.50 ofrom far 19.5 Mbit/s");
    for panel in ["queue *to far 0.00 ofrom far 30.0 ms", "RTT *70.0 ms"] {
        assert!(rows.iter().any(|row| row == panel), "{panel}: {rows:#?}");
    }
    assert!(rows.iter().filter(|row| row.contains('o') && row.contains("20.0│")).count() >= 1, "{rows:#?}");
    let rule = rows.iter().position(|row| row.starts_with("-- output ---")).expect("a rule");
    assert_eq!(rows[rule + 1..rule + 3], output);
}

#[test]
fn any_size_can_be_drawn_and_narrow_ones_keep_the_values() {
    let output: Vec<String> = (0..100).map(|line| format!("line {line}")).collect();
    let unicode = Look { colour: true, unicode: true };
    for (look, seconds) in [(PLAIN, 3), (unicode, 200)] {
        let chart = chart(seconds);
        for size in [(1, 1), (8, 1), (8, 4), (20, 5), (40, 12), (40, 24), (300, 100)] {
            let look = Look { colour: look.colour && size.0 >= 8 && size.1 > 1, ..look };
            let rows = rows(&chart, Some(&output), size, look);
            if size.0 >= 40 {
                assert!(rows.iter().any(|row| row.starts_with("RTT ")), "{size:?}: {rows:#?}");
                assert_eq!(rows.last().map(String::as_str), Some("line 99"), "{size:?}: {rows:#?}");
            }
        }
    }
}

#[test]
fn a_chart_without_data_says_so() {
    let chart = Chart::new("empty".into(), &[("rate", "Mbit/s")]);
    assert_eq!(rows(&chart, None, (40, 10), PLAIN)[1], "rate: no data yet");
}

#[test]
fn a_plain_line_has_the_means_since_the_last_one() {
    let mut chart = chart(3);
    chart.remark(1, "dropped 7".into());
    assert_eq!(
        chart.plain(2.0),
        "3 s: rate to far 0.50, from far 19.5 Mbit/s; queue to far 0.00, from far 2.55 ms, dropped 7; RTT 42.5 ms"
    );
}

#[test]
fn a_long_run_keeps_the_last_minute_and_values_that_are_no_numbers_are_left_out() {
    let mut chart = chart(1000);
    chart.push(0, "to far", f64::NAN, 1.0);
    chart.push(0, "to far", 1001.0, f64::INFINITY);
    for line in chart.panels.iter().flat_map(|panel| &panel.lines) {
        assert!((600..=1210).contains(&line.points.len()), "{}", line.points.len());
        assert!(line.points.iter().all(|(at, value)| at.is_finite() && value.is_finite()));
    }
    chart.push(1, "to far", 1200.0, 0.0);
    chart.forget_old();
    assert_eq!(chart.panels.iter().map(|panel| panel.lines.len()).collect::<Vec<_>>(), [0, 1, 0]);
}
