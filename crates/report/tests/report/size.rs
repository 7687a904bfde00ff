//! The page of a buffer's size.

use lab::study::size::{Question, from_theory};
use tightlink_report::size::html;
use units::{Rate, Span};

#[test]
fn the_page_has_the_limits_the_rules_and_the_lines() {
    let question = Question::of(Rate::from_bps(100_000_000));
    let sizing = from_theory(&question);
    let page = html(&sizing, "tightlink size <x>");
    for words in
        ["Which buffer? 100", "What rules say", "BDP / sqrt(n)", "queue-limit", "tightlink size &lt;x&gt;"]
    {
        assert!(page.contains(words), "{words}");
    }
    let packets = format!("data-value=\"{}\"", sizing.recommended.packets);
    assert!(page.contains(&packets), "{packets}");
    // Idle time, delay and loss.
    assert_eq!(page.matches("data-chart=").count(), 3);
    assert_eq!(page, html(&sizing, "tightlink size <x>"));
}

#[test]
fn a_trade_off_stands_on_the_page() {
    let question =
        Question { max_delay: Some(Span::from_micros(100)), ..Question::of(Rate::from_bps(100_000_000)) };
    let sizing = from_theory(&question);
    let says = &sizing.trade_off.as_ref().unwrap().says;
    assert!(html(&sizing, "").contains(says), "{says}");
}
