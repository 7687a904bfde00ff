//! The example of docs/guide/write-a-controller.md: what is printed there is what is compiled and tested here.

use crate::path::{Sender, agrees, periodic};
use crate::sqrt::Sqrt;
use tightlink_cc::registry::{Control, PAPER, Recipe, Tuning};
use units::Span;

/// The line that the guide adds to the registry.
pub const SQRT: Control = include!("entry.rs");

const GUIDE: &str = include_str!("../../../../docs/guide/write-a-controller.md");

/// Lines without what indents them and without what is empty.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The guide's blocks of Rust.
fn blocks() -> Vec<&'static str> {
    GUIDE.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_guide_shows_the_code_that_is_tested() {
    for (what, code) in [("sqrt.rs", include_str!("sqrt.rs")), ("entry.rs", include_str!("entry.rs"))] {
        let found =
            blocks().into_iter().any(|block| lines(block.trim_end().trim_end_matches(',')) == lines(code));
        assert!(found, "no block of docs/guide/write-a-controller.md is crates/cc/tests/conformance/{what}");
    }
}

/// All that a reader writes: the controller, its line, where it is named, the test and the scenario.
#[test]
fn the_guide_asks_for_less_than_a_hundred_lines() {
    let scenario =
        GUIDE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scenario");
    let own = blocks().into_iter().chain([scenario]).map(|block| lines(block).len()).sum::<usize>();
    assert!((40..100).contains(&own), "{own} lines");
}

/// What the guide says of its response function: a loss takes sqrt(w) / 2, which comes back in w / 2 round trips.
#[test]
fn the_guide_s_controller_has_its_published_average_window() {
    for p in [1e-3f64, 1e-4, 1e-5] {
        let published = (2.0 / p).sqrt();
        let start = crate::path::start(published);
        let control = (SQRT.build)(&Recipe { start, slow_start: "standard", tuning: Tuning::default() });
        let ours = periodic(Sender::new(control, Span::from_millis(100)), p, 20);
        agrees(&format!("sqrt, p = {p:e}"), ours, published, 0.05);
    }
}
