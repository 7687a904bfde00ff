//! "Did you mean": the known word nearest to a mistyped one.

/// Words longer than this are not typing mistakes.
const LONGEST: usize = 40;

/// What people from elsewhere call our keys.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("latency", "delay"),
    ("propagation", "delay"),
    ("buffer", "queue"),
    ("algorithm", "control"),
    ("cc", "control"),
    ("congestion", "control"),
    ("mss", "segment"),
    ("initcwnd", "initial_window"),
    ("icw", "initial_window"),
    ("window", "socket_buffer"),
    ("interval", "every"),
    ("end", "stop"),
    ("type", "kind"),
    ("time", "duration"),
    ("length", "duration"),
];

/// The candidate that `word` most likely stands for, if any is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    let candidates: Vec<&str> = candidates.into_iter().filter(|c| c.chars().count() <= LONGEST).collect();
    let near = candidates
        .iter()
        .map(|candidate| (distance(&folded, &candidate.to_lowercase().replace('-', "_")), *candidate))
        .min_by_key(|(distance, _)| *distance)
        // A third of the letters may be wrong; a word of two letters or fewer must differ by case alone.
        .filter(|(distance, candidate)| {
            *distance <= length.min(candidate.chars().count()).div_ceil(3).min(length / 2)
        });
    near.map(|(_, candidate)| candidate).or_else(|| {
        let (_, ours) = OTHER_WORDS.iter().find(|(theirs, _)| *theirs == folded)?;
        candidates.into_iter().find(|candidate| candidate == ours)
    })
}

/// `did you mean "rate"?`, if a candidate is near enough.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean \"{near}\"?"))
}

/// Letters inserted, deleted, replaced or swapped with their neighbour between the two words.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let width = other.len() + 1;
    let mut table = vec![0; (one.len() + 1) * width];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[(i - 1) * width + j - 1] + usize::from(one[i - 1] != other[j - 1]);
                let edited = 1 + table[(i - 1) * width + j].min(table[i * width + j - 1]);
                let swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                let swap = if swapped { table[(i - 2) * width + j - 2] + 1 } else { usize::MAX };
                replaced.min(edited).min(swap)
            };
        }
    }
    table[one.len() * width + other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_counts_once() {
        assert_eq!(distance("raet", "rate"), 1);
        assert_eq!(distance("", "rate"), 4);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn mistyped_words_find_their_neighbour() {
        let keys = ["rate", "delay", "queue", "loss"];
        assert_eq!(nearest("raet", keys), Some("rate"));
        assert_eq!(nearest("Delay", keys), Some("delay"));
        assert_eq!(nearest("bandwidth", keys), Some("rate"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest("on_of", ["cbr", "on-off"]), Some("on-off"));
    }
}
