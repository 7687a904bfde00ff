//! With a bound: what the window may cost against one without limit.

use crate::fluid::Fluid;
use tightlink_sizing::{BufferSizer, Fixed, Input, Regret, SizerConfig};
use units::{Bytes, Span, Time};

fn bounded(mbps: f64, base_ms: f64, buffer_bdp: f64) -> Fluid {
    Fluid::new(mbps, base_ms, buffer_bdp, |config| config.regret = Some(0.05))
}

#[test]
fn with_a_bound_a_transfer_begins_as_without_a_limit() {
    let mut path = bounded(97.0, 40.0, 4.0);
    while path.now < 0.8 {
        path.run(0.001);
        assert!(
            path.window == 0.0 || path.window >= 0.95 * path.cwnd,
            "{} of {} at {:.3} s",
            path.window,
            path.cwnd,
            path.now
        );
    }
    assert!(!path.sizer.wants_quiet(), "data waits for nothing");
}

#[test]
fn with_a_bound_the_window_is_held_where_that_costs_nothing() {
    for buffer in [0.3, 1.0, 4.0] {
        let mut path = bounded(97.0, 40.0, buffer);
        path.run(10.0);
        let (goodput, rtt, _) = path.measure(120.0);
        let why = path.sizer.state();
        assert!(goodput > 0.95 && rtt < 1.0 + 0.7 * buffer, "{goodput:.3} of C, {rtt:.3} of T: {why:?}");
    }
}

#[test]
fn with_a_bound_a_window_without_limit_is_kept_where_others_give_way_to_it() {
    let beside = |bound: Option<f64>| {
        let mut path = Fluid::new(97.0, 40.0, 0.25, |config| config.regret = bound).beside(0.6, 0.2);
        path.run(10.0);
        path.measure(120.0).0
    };
    let (held, bounded, open) = (beside(None), beside(Some(0.05)), {
        let mut path = Fluid::new(97.0, 40.0, 0.25, |_| {}).beside(0.6, 0.2);
        path.sizer = Box::new(Fixed::new(Bytes::new(64_000_000)));
        path.run(10.0);
        path.measure(120.0).0
    });
    assert!(open > 1.05 * held, "the case has something to find: {open:.3} of C open, {held:.3} held");
    assert!(bounded > 0.95 * open, "{bounded:.3} of C, {open:.3} with an open window");
}

#[test]
fn with_a_bound_random_loss_costs_no_more_than_the_bound() {
    let lossy = |sizer: Option<Box<dyn BufferSizer>>| {
        let mut path = bounded(97.0, 40.0, 0.5);
        if let Some(sizer) = sizer {
            path.sizer = sizer;
        }
        path.random_loss = Some(0.5);
        path.measure(60.0).0
    };
    let (bounded, open) = (lossy(None), lossy(Some(Box::new(Fixed::new(Bytes::new(64_000_000))))));
    assert!(bounded > 0.95 * open, "{bounded:.3} of C, {open:.3} with an open window");
}

/// The part of a minute for which S is in force, where S has 0.9 of what an open window has.
fn held_with(bound: f64) -> f64 {
    let mut config = SizerConfig::new(Bytes::new(1448), Bytes::new(64_000_000));
    (config.regret, config.trains) = (Some(bound), 0);
    let mut sizer = Regret::new(config);
    let mut held = 0;
    for step in 0..6000_u64 {
        let now = Time::ZERO + Span::from_millis(10 * step);
        let open = sizer.state().phase == "open";
        held += u64::from(!open);
        let (wait, bytes) = if open && step >= 50 { (20, 100_000) } else { (0, 90_000) };
        sizer.handle(now, Input::Probe(Some(Span::from_millis(40 + wait))));
        if step >= 50 {
            sizer.handle(now, Input::Delivered(Bytes::new(bytes)));
        }
        while sizer.poll(now).is_some() {}
    }
    held as f64 / 6000.0
}

#[test]
fn the_bound_says_what_s_may_cost() {
    let (little, more) = (held_with(0.05), held_with(0.2));
    assert!(little < 0.15 && more > 0.7, "S for {little:.2} of the time at 5 %, {more:.2} at 20 %");
}
