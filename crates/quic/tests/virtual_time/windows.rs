//! The receiver's window: the rate that it allows, and changes in mid-transfer.

use crate::path::{Course, World};
use live::Window;
use units::{Bytes, Span, Time};

const SECOND: Span = Span::from_secs(1);

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Makes a world of 100 Mbit/s, 40 ms and a queue of one BDP, whose receiver has these windows, one after the other.
fn world(control: &str, first: u64, windows: &[(u64, u64)]) -> World {
    let mut course = Course::new(100, 40, 500_000, control, 60);
    course.flow.common.window = Window::AtMost(Bytes::new(first));
    course.windows = windows.iter().map(|&(seconds, window)| (at(seconds), Bytes::new(window))).collect();
    World::new(&course)
}

#[test]
fn the_receivers_window_is_the_rate_and_another_one_is_followed_within_a_second() {
    for control in ["fixed", "cubic"] {
        let mut world = world(control, 400_000, &[(6, 125_000), (10, 250_000)]);
        world.run_until(at(2)).unwrap();
        let mut holds = |due: f64, span: Span| {
            let rate = world.rate_over(span).as_bps_f64() / 1e6;
            assert!((due * 0.95..=due * 1.0125).contains(&rate), "{control}: {rate} Mb/s, {due} are due");
            world.run_until(world.now + SECOND).unwrap();
        };
        // Window over round trip: 80, 25 and 50 Mbit/s.
        holds(80.0, SECOND * 3);
        assert_eq!(world.now, at(6));
        world.run_until(at(7)).unwrap();
        let mut holds = |due: f64, span: Span| {
            let rate = world.rate_over(span).as_bps_f64() / 1e6;
            assert!((due * 0.95..=due * 1.0125).contains(&rate), "{control}: {rate} Mb/s, {due} are due");
        };
        holds(25.0, SECOND * 3);
        world.run_until(at(11)).unwrap();
        let rate = world.rate_over(SECOND * 4).as_bps_f64() / 1e6;
        assert!((47.5..=50.7).contains(&rate), "{control}: {rate} Mb/s, 50 are due");
        let report = world.link.report(world.now);
        assert_eq!(report.drops(), 0, "{control}");
    }
}

/// A round that was limited by the receiver's credit does not grow a window, so that more credit lets no burst loose.
#[test]
fn a_window_does_not_grow_while_credit_is_the_limit() {
    let controls = ["reno", "cubic", "highspeed", "scalable", "bic", "westwood", "africa", "lp", "vegas"];
    for control in controls {
        let mut course = Course::new(100, 40, 500_000, control, 60);
        course.flow.common.window = Window::AtMost(Bytes::new(400_000));
        // Out of slow start early, so that growth is slow where nothing limits it.
        course.flow.control.start.threshold = Bytes::new(100_000);
        course.windows = vec![(at(10), Bytes::new(200_000)), (at(20), Bytes::new(1_250_000))];
        let mut world = World::new(&course);
        world.run_until(at(10)).unwrap();
        let before = world.congestion_window();
        world.run_until(at(11)).unwrap();
        let halved = world.congestion_window();
        world.run_until(at(20)).unwrap();
        let after = world.congestion_window();
        assert!(
            before < Bytes::new(500_000) && after <= halved && halved <= before + Bytes::new(10_000),
            "{control}: {before}, {halved} a second later, {after} after ten seconds of less credit"
        );
        world.link.begin_measuring(world.now);
        world.run_until(world.now + Span::from_millis(400)).unwrap();
        let report = world.link.report(world.now);
        // At most the window that the controller had may arrive at once.
        let longest = report.queueing_delay.max();
        assert_eq!(report.drops(), 0, "{control}");
        assert!(longest < Span::from_millis(36), "{control}: a packet waited for {longest}");
    }
}
