//! The scoreboard alone, and against RFC 6675's own loops.

use super::*;

fn sent(count: u64) -> Scoreboard {
    let mut board = Scoreboard::new(true, false);
    for _ in 0..count {
        board.send_next();
    }
    board
}

#[test]
fn a_hole_is_lost_once_three_segments_above_it_are_sacked() {
    let mut board = sent(10);
    assert!(board.sack(1) && board.sack(2));
    assert!(!board.first_is_lost());
    assert_eq!(board.pipe(), 8);
    assert!(board.sack(3));
    assert!(board.first_is_lost());
    // Ten outstanding, three sacked, one lost.
    assert_eq!(board.pipe(), 6);
    assert!(!board.sack(3), "old news");
}

#[test]
fn lost_holes_are_sent_again_once_in_order() {
    let mut board = sent(12);
    for segment in [1, 3, 5, 7, 9] {
        board.sack(segment);
    }
    board.begin_recovery();
    // The third-highest sacked segment is 5, so 0, 2 and 4 are lost; 6 and 8 are not yet.
    assert_eq!([board.resend_lost(), board.resend_lost(), board.resend_lost()], [Some(0), Some(2), Some(4)]);
    assert_eq!(board.resend_lost(), None);
    assert_eq!([board.resend_hole(), board.resend_hole()], [Some(6), Some(8)]);
    assert_eq!(board.resend_hole(), None);
    assert_eq!(board.rescue(), Some(11));
    // 12 outstanding, 5 sacked, 3 lost, 6 sent again.
    assert_eq!(board.pipe(), 12 - 5 - 3 + 6);
}

/// Holes that rule 3 has sent again stay so as the loss edge moves past them.
#[test]
fn holes_sent_again_before_they_are_lost_are_not_sent_once_more() {
    let mut board = sent(12);
    for segment in [1, 3, 5, 7, 9] {
        board.sack(segment);
    }
    board.begin_recovery();
    while board.resend_lost().is_some() {}
    assert_eq!([board.resend_hole(), board.resend_hole()], [Some(6), Some(8)]);
    assert!(board.sack(6));
    assert_eq!([board.resend_lost(), board.resend_hole()], [None, None]);
}

#[test]
fn a_cumulative_acknowledgement_clears_the_counts() {
    let mut board = sent(12);
    for segment in [1, 3, 5, 7, 9] {
        board.sack(segment);
    }
    board.begin_recovery();
    while board.resend_lost().is_some() {}
    assert_eq!(board.advance(6), 6);
    assert_eq!((board.pipe(), board.lost()), (4, 0));
    assert_eq!(board.advance(12), 6);
    assert_eq!((board.pipe(), board.outstanding()), (0, 0));
    assert_eq!(board.advance(5), 0);
}

#[test]
fn a_timeout_loses_all_that_is_not_sacked() {
    let mut board = sent(6);
    board.sack(2);
    board.lose_everything();
    assert_eq!(board.pipe(), 0);
    assert_eq!([board.resend_lost(), board.resend_lost(), board.resend_lost()], [Some(0), Some(1), Some(3)]);
    assert_eq!(board.pipe(), 3);
}

#[test]
fn blocks_tell_what_lost_acknowledgements_would_have() {
    let (mut named, mut told) = (sent(40), sent(40));
    for segment in [3, 4, 5, 9, 10, 20] {
        named.sack(segment);
    }
    // One acknowledgement stands for all six, and its newest segment is named as well.
    told.sack_beyond(0, 20, &[(20, 21), (9, 11), (3, 6)]);
    assert_eq!((told.pipe(), told.lost()), (named.pipe(), named.lost()));
    // Late news from before the cumulative point, or beyond the last segment sent, changes nothing.
    told.advance(12);
    let before = (told.pipe(), told.lost());
    told.sack_beyond(12, 5, &[(9, 11), (20, 21), (60, 70)]);
    assert_eq!((told.pipe(), told.lost()), before);
}

/// The kept counts equal those that RFC 6675's loops would gather, whatever happens.
mod against_the_rfc {
    use super::*;
    use proptest::prelude::*;

    fn counted(board: &Scoreboard) -> u64 {
        let sacked_above = |s: u64| (s + 1..board.next).filter(|a| board.rings.sacked.get(*a)).count();
        (board.una..board.next)
            .filter(|s| !board.rings.sacked.get(*s))
            .map(|s| {
                let lost = s < board.loss_edge;
                assert!(lost || sacked_above(s) < DUP_THRESH, "IsLost implies below the edge");
                u64::from(!lost) + u64::from(board.rings.resent.get(s))
            })
            .sum()
    }

    proptest! {
        #[test]
        fn pipe_is_what_set_pipe_gathers(ops in prop::collection::vec((0u8..7, 0u64..300), 1..400)) {
            let mut board = Scoreboard::new(true, false);
            for (op, x) in ops {
                let outstanding = board.outstanding();
                let some = board.una() + if outstanding > 0 { x % outstanding } else { 0 };
                match op {
                    0 | 1 => { for _ in 0..x % 20 { board.send_next(); } }
                    2 => { board.sack(some); }
                    3 => { let _ = board.resend_lost(); }
                    4 => { let _ = board.resend_hole(); }
                    5 => { board.advance(some); }
                    _ => if x < 20 { board.lose_everything() } else if x < 60 { let _ = board.rescue(); },
                }
                prop_assert_eq!(board.pipe(), counted(&board));
            }
        }
    }
}
