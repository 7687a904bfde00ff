//! The agenda: the order of slots, and that both of its structures give the same.

use super::*;
use proptest::prelude::*;

#[test]
fn the_earliest_slot_comes_first_and_ties_go_to_the_lower() {
    for mut agenda in [Agenda::tournament(5), Agenda::calendar(5)] {
        assert_eq!(agenda.next().0, Time::NEVER);
        agenda.set(3, Time::from_nanos(7));
        agenda.set(1, Time::from_nanos(9));
        assert_eq!(agenda.next(), (Time::from_nanos(7), 3));
        agenda.set(1, Time::from_nanos(7));
        assert_eq!(agenda.next(), (Time::from_nanos(7), 1));
        agenda.set(1, Time::NEVER);
        agenda.set(3, Time::from_nanos(20));
        agenda.set(4, Time::from_nanos(8));
        assert_eq!(agenda.next(), (Time::from_nanos(8), 4));
    }
}

proptest! {
    /// Waits of a nanosecond to hours, slots that never act, ties, and slots of others that move.
    #[test]
    fn a_calendar_gives_the_order_of_a_tournament(
        steps in prop::collection::vec((0u32..43, 0u64..16, 0usize..40, 0u32..43), 1..400),
    ) {
        let (mut one, mut other) = (Agenda::tournament(40), Agenda::calendar(40));
        let mut now = 0;
        for (magnitude, low, another, later) in steps {
            let wait = |magnitude: u32| match magnitude {
                42 => Time::NEVER,
                magnitude => Time::from_nanos(now + (low << magnitude >> 3)),
            };
            let (_, first) = one.next();
            for (slot, at) in [(first.min(39), wait(magnitude)), (another, wait(later))] {
                one.set(slot, at);
                other.set(slot, at);
                prop_assert_eq!(one.next().0, other.next().0);
                prop_assert!(one.next() == other.next() || one.next().0 == Time::NEVER);
            }
            if one.next().0 < Time::NEVER {
                now = one.next().0.as_nanos();
            }
        }
    }
}
