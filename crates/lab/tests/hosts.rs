//! Hosts with Linux in the simulator against Linux 6.18: what the kernel had on the emulated path (`live`), 2026-11-27
//! and 28, is the right value here.

use scenario::Document;
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, Summary};
use tightlink_lab::run::resolve::resolve_document;

/// A flow with `keys` on a host with Linux, `seconds` of which `warmup` do not count.
fn run(engine: Engine, rate: &str, delay: &str, limit: &str, times: (u32, u32), keys: &str) -> Summary {
    let (seconds, warmup) = times;
    let text = format!(
        "title = 't'\nduration = '{seconds}s'\nwarmup = '{warmup}s'\n[link]\nrate = '{rate}'\ndelay = '{delay}'\n\
         queue.limit = '{limit}'\n[[flow]]\nhost = 'linux'\n{keys}\n"
    );
    let resolved = resolve_document(&Document::parse("x.toml", &text).unwrap()).unwrap();
    engine::run(engine, &resolved, engine::UNWATCHED).unwrap().summary
}

fn near(found: f64, right: f64, part: f64, of: &str) {
    assert!((found / right - 1.0).abs() <= part, "{of}: {found}, and the kernel has {right}");
}

/// Rate, delay, control, the kernel's Mbit/s. The queue has a BDP.
const BEHIND_THE_SEND_BUFFER: &[(&str, &str, &str, f64)] = &[
    ("1Gbit/s", "50ms", "cubic", 235.0),
    ("1Gbit/s", "50ms", "reno", 239.0),
    ("1Gbit/s", "50ms", "bbr", 231.0),
    ("500Mbit/s", "40ms", "cubic", 282.0),
    ("300Mbit/s", "50ms", "cubic", 226.0),
    ("300Mbit/s", "50ms", "bbr", 223.0),
    ("1Gbit/s", "25ms", "cubic", 463.0),
    ("100Mbit/s", "300ms", "cubic", 39.3),
];

/// The program writes when a third of 4 MiB is free. Without that these paths had 334, 334, 321, 414, 290, 279, 663 and
/// 56 Mbit/s.
#[test]
fn a_long_path_has_what_the_send_buffer_lets_through() {
    for &(rate, delay, control, right) in BEHIND_THE_SEND_BUFFER {
        let times = if delay == "300ms" { (40, 15) } else { (20, 10) };
        let summary = run(Engine::Sim, rate, delay, "1 bdp", times, &format!("control = '{control}'"));
        near(summary.flows[0].goodput_bps / 1e6, right, 0.08, &format!("{rate}, {delay}, {control}"));
    }
}

/// A theory takes two thirds of the buffer as the window, and its own limits as far as they are lower.
#[test]
fn theory_has_it_too() {
    let summary = run(Engine::Model, "1Gbit/s", "50ms", "1 bdp", (20, 10), "control = 'reno'");
    near(summary.flows[0].goodput_bps / 1e6, 239.0, 0.1, "1 Gbit/s, 100 ms");
}

/// Before its first loss Linux's CUBIC grows by 5 % a round trip. By W(t) alone these paths had 29, 58, 22, 35 and 42 ms.
#[test]
fn cubic_before_its_first_loss_fills_a_deep_buffer() {
    let paths = [
        ("100Mbit/s", "20ms", "10 bdp", 10, 181.0),
        ("100Mbit/s", "50ms", "4 bdp", 15, 154.0),
        ("100Mbit/s", "10ms", "4 bdp", 15, 60.0),
        ("50Mbit/s", "25ms", "2 bdp", 15, 70.0),
        ("20Mbit/s", "10ms", "4 bdp", 15, 59.0),
    ];
    for (rate, delay, limit, seconds, right) in paths {
        let summary = run(Engine::Sim, rate, delay, limit, (seconds, 0), "control = 'cubic'");
        let wait = summary.queueing_delay_s.expect("a queue").mean * 1e3;
        near(wait, right, 0.12, &format!("{rate}, {delay}, {limit}"));
    }
}

/// Where pairs of segments are more than 2 ms apart, HyStart's train needs an acknowledgement for each. The receiver
/// sends them as its window grows. Without that slow start ended at 336, 96 and 176 segments, behind 1 BDP with 239 sent again.
#[test]
fn slow_start_ends_where_it_does_in_the_kernel() {
    let ends = |rate: &str, delay: &str, limit: &str, seconds: u32| {
        run(Engine::Sim, rate, delay, limit, (seconds, 0), "control = 'cubic'").flows.remove(0)
    };
    for (rate, delay, right) in [
        ("10Mbit/s", "50ms", 124.0),
        ("10Mbit/s", "20ms", 59.0),
        ("8Mbit/s", "20ms", 56.0),
        ("12500kbit/s", "50ms", 134.0),
    ] {
        let flow = ends(rate, delay, "4 bdp", 2);
        near(flow.threshold_segments.expect("it has ended"), right, 0.1, &format!("{rate}, {delay}"));
    }
    let flow = ends("10Mbit/s", "50ms", "1 bdp", 15);
    assert!(flow.retransmits.is_some_and(|again| again < 30), "the kernel has 9: {:?}", flow.retransmits);
}
