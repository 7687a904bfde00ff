//! The result of a claim in one case, and the way that it names cases.

/// The result of a claim in one case.
pub(super) struct Outcome {
    pub(super) held: bool,
    /// The place in `disagrees` of the known disagreement that is about this case.
    pub(super) known: Option<usize>,
    /// True if the value lies in the band of `disagrees`.
    pub(super) within: bool,
    pub(super) detail: String,
}

/// Returns true if `pattern`, whose end may be `*`, stands for `text`.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == text, |beginning| text.starts_with(beginning))
}

/// Returns true if `key` names the swept key `full`, whole or by its last part.
pub(super) fn names(key: &str, full: &str) -> bool {
    full == key || full.rsplit('.').next() == Some(key)
}
