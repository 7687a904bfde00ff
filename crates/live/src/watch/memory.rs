//! [`bound`]: the bound of all intervals in memory, of connections that run and of those that have ended.

use super::connection::{Track, WatchedConnection};
use estimate::diagnosis::Interval;
use std::collections::BTreeMap;

/// The most intervals in memory: about 100 MB.
const MOST_INTERVALS: usize = 300_000;

/// Joins intervals where there are most, until all together are few enough.
pub(super) fn bound(tracks: &mut BTreeMap<u64, Track>, ended: &mut [WatchedConnection]) {
    let running = tracks.values_mut().flat_map(Track::sides).map(super::side::Side::intervals);
    let over = ended.iter_mut().flat_map(|one| &mut one.evidence).map(|evidence| &mut evidence.intervals);
    let mut all: Vec<&mut Vec<Interval>> = running.chain(over).collect();
    shorten(&mut all, MOST_INTERVALS);
}

/// Halves the lists that are longer than their share of `most`, until all together have no more.
fn shorten(all: &mut [&mut Vec<Interval>], most: usize) {
    while all.iter().map(|list| list.len()).sum::<usize>() > most {
        let share = (most / all.len()).max(1);
        all.iter_mut().filter(|list| list.len() > share).for_each(|list| halve(list));
        if all.iter().all(|list| list.len() <= share) {
            return;
        }
    }
}

/// Joins each two intervals to one.
fn halve(list: &mut Vec<Interval>) {
    let half = list.len().div_ceil(2);
    for place in 0..half {
        list[place] = match list.get(2 * place + 1) {
            Some(&second) => list[2 * place].joined(second),
            None => list[2 * place],
        };
    }
    list.truncate(half);
    list.shrink_to(half * 2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Span, Time};

    fn intervals(count: u64) -> Vec<Interval> {
        let length = Span::from_millis(20);
        let one = |number: u64| Interval {
            from: Time::ZERO + length * number,
            length,
            delivered: Bytes::new(1 + number),
            ..Interval::default()
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_longest_lists_are_joined_and_no_data_is_lost() {
        let mut lists = [1_u64, 3, 101, 1000].map(intervals);
        shorten(&mut lists.each_mut(), 200);
        let lengths = lists.each_ref().map(Vec::len);
        assert!(lengths.iter().sum::<usize>() <= 200, "{lengths:?}");
        assert_eq!(lengths[..2], [1, 3], "short ones stay as they are");
        for (list, count) in lists.iter().zip([1_u64, 3, 101, 1000]) {
            let sum: u64 = list.iter().map(|interval| interval.delivered.get()).sum();
            assert_eq!(sum, count * (count + 1) / 2);
            assert!(list.windows(2).all(|pair| pair[0].from + pair[0].length == pair[1].from));
        }
        shorten(&mut lists.each_mut(), 2);
        assert_eq!(lists.map(|list| list.len()), [1; 4], "one interval of each is the least");
    }
}
