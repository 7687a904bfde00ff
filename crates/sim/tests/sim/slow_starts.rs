//! What each slow start does to queues of a quarter and of one bandwidth-delay product.

use crate::common::plan;
use link::LinkState;
use tightlink_sim::{FlowPlan, FlowView, Recorder, Simulation};
use units::{Span, Time};

const RTT: Span = Span::from_millis(50);
const RATE: u64 = 100_000_000;
/// 100 Mbit/s x 50 ms in packets of 1500 bytes.
const BDP: u64 = 417;

/// Drops so far and payload delivered so far, every RTT.
#[derive(Default)]
struct PerRound {
    drops: Vec<u64>,
    delivered: Vec<u64>,
}

impl Recorder for PerRound {
    fn interval(&self) -> Option<Span> {
        Some(RTT)
    }
    fn link(&mut self, _at: Time, state: &LinkState) {
        self.drops.push(state.drops);
    }
    fn flow(&mut self, _at: Time, _index: usize, view: &FlowView) {
        self.delivered.push(view.delivered.get());
    }
}

struct Effect {
    /// Drops within the first 2 s: congestion avoidance meets the limit later.
    drops: u64,
    /// The first round trip that delivered 90 % of what the link carries, by its end.
    reached: Span,
    /// Share of what the link carries, delivered within the first 5 s.
    share: f64,
}

fn effect(slow_start: &str, limit: u64) -> Effect {
    let mut target = FlowPlan::greedy("target", "reno", RTT);
    target.control.slow_start = slow_start.into();
    let mut plan = plan(RATE, limit);
    plan.end = Some(Time::ZERO + Span::from_secs(5));
    plan.flows = vec![target];
    let seen = Simulation::new(plan, PerRound::default()).run().recorder;
    let full = RATE as f64 / 8.0 * 1448.0 / 1500.0 * RTT.as_secs_f64();
    let before = std::iter::once(&0).chain(&seen.delivered);
    let shares: Vec<f64> =
        seen.delivered.iter().zip(before).map(|(now, before)| (now - before) as f64 / full).collect();
    let reached = shares.iter().position(|share| *share >= 0.9).expect("it gets there");
    let effect = Effect {
        drops: seen.drops[2000 / 50 - 1],
        reached: RTT * (reached as u64 + 1),
        share: shares.iter().sum::<f64>() / shares.len() as f64,
    };
    println!(
        "{slow_start:10} {limit:4} packets: {:4} drops, 90 % after {}, {:.1} % within 5 s",
        effect.drops,
        effect.reached,
        effect.share * 100.0
    );
    effect
}

/// `cargo test -p tightlink-sim --test sim slow_starts -- --nocapture` prints these tables.
#[test]
fn with_room_for_a_bandwidth_delay_product_both_spare_the_queue() {
    let [standard, limited, hystart] =
        ["standard", "limited", "hystart++"].map(|slow_start| effect(slow_start, BDP));
    // 640 segments in a round trip are doubled into room for 417 + 417.
    assert!(standard.drops > 300, "{}", standard.drops);
    assert!(limited.drops < standard.drops / 4, "{}", limited.drops);
    // The rise shows a round trip after it began, in which the queue overflows; then growth is a quarter.
    assert!(hystart.drops < standard.drops * 3 / 4, "{}", hystart.drops);
    for other in [limited, hystart] {
        assert!(other.reached <= standard.reached + RTT * 4, "{}", other.reached);
        assert!(other.share > standard.share - 0.05, "{}", other.share);
    }
}

/// The round trip in which the window outgrows the path begins with an empty queue, and so do its RTTs: their least
/// does not rise before a short queue has overflowed.
#[test]
fn a_queue_of_a_quarter_overflows_before_its_delay_shows() {
    let [standard, limited, hystart] =
        ["standard", "limited", "hystart++"].map(|slow_start| effect(slow_start, BDP / 4));
    assert!(standard.drops > 100, "{}", standard.drops);
    assert_eq!(hystart.drops, standard.drops);
    assert!(limited.drops < standard.drops / 2, "{}", limited.drops);
    assert!(limited.share > standard.share, "{} {}", limited.share, standard.share);
}
