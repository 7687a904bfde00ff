//! P2's bounds on the queue of unequal flows.

use proptest::prelude::*;
use tightlink_model::empty_queue::{
    guaranteed_buffer, minimum_backlog, never_empties, rarely_empties, usual_buffer,
};
use units::{Bytes, Rate, Span};

/// P2's link: 4000 packets of 500 bytes per second.
const MU: Rate = Rate::from_bps(16_000_000);

fn packets(count: u64) -> Bytes {
    Bytes::new(500 * count)
}

#[test]
fn bounds_match_hand_values() {
    let rtts = [Span::from_millis(20), Span::from_millis(80), Span::from_millis(200)];
    assert_eq!(guaranteed_buffer(MU, &rtts), packets(800));
    assert_eq!(usual_buffer(MU, &rtts), packets(400));
    assert_eq!(minimum_backlog(MU, packets(1000), &rtts), packets(100));
    assert_eq!(minimum_backlog(MU, packets(600), &rtts), Bytes::ZERO);
    assert!(!never_empties(MU, packets(600), &rtts) && rarely_empties(MU, packets(600), &rtts));
}

#[test]
fn the_condition_is_strict() {
    let rtts = [Span::from_millis(100)];
    assert!(!never_empties(MU, packets(400), &rtts));
    assert!(never_empties(MU, packets(401), &rtts));
}

#[test]
fn equal_flows_make_both_conditions_one() {
    let rtts = [Span::from_millis(100); 25];
    assert_eq!(guaranteed_buffer(MU, &rtts), usual_buffer(MU, &rtts));
}

#[test]
fn a_single_flow_halves_from_its_full_window_to_the_bound() {
    // w = mu tau + B packets; after the halving w/2 are in flight, mu tau of them on the way.
    let (bdp, buffer) = (400, 1000);
    let left = (bdp + buffer) / 2 - bdp;
    assert_eq!(minimum_backlog(MU, packets(buffer), &[Span::from_millis(100)]), packets(left));
}

#[test]
fn without_flows_any_buffer_will_do() {
    assert_eq!(guaranteed_buffer(MU, &[]), Bytes::ZERO);
    assert_eq!(usual_buffer(MU, &[]), Bytes::ZERO);
}

proptest! {
    #[test]
    fn never_emptying_implies_rarely_emptying(
        millis in prop::collection::vec(1u64..1000, 1..50), buffer in 0u64..5000
    ) {
        let rtts: Vec<_> = millis.into_iter().map(Span::from_millis).collect();
        let buffer = packets(buffer);
        prop_assert!(!never_empties(MU, buffer, &rtts) || rarely_empties(MU, buffer, &rtts));
        prop_assert!(usual_buffer(MU, &rtts) <= guaranteed_buffer(MU, &rtts));
        // A queue that empties has no least backlog; one that does not keeps at least half the excess.
        prop_assert!(never_empties(MU, buffer, &rtts) || minimum_backlog(MU, buffer, &rtts) == Bytes::ZERO);
    }

    #[test]
    fn a_byte_of_buffer_is_half_a_byte_of_backlog(buffer in 400u64..5000, more in 0u64..5000) {
        let rtts = [Span::from_millis(100)];
        let at = |count| minimum_backlog(MU, packets(count), &rtts).get();
        prop_assert_eq!(at(buffer + more) - at(buffer), 250 * more);
    }
}
