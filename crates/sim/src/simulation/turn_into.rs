//! Many items that become others.

/// Turns all items into others, in order, given their indices. Memory of the items that are done goes back on the way,
/// because there may be a million.
pub(super) fn turn_into<T, U>(mut items: Vec<T>, mut turn: impl FnMut(usize, T) -> U) -> Vec<U> {
    const AT_ONCE: usize = 4096;
    items.reverse();
    let mut turned = Vec::with_capacity(items.len());
    while let Some(item) = items.pop() {
        turned.push(turn(turned.len(), item));
        if items.len().is_multiple_of(AT_ONCE) {
            items.shrink_to_fit();
        }
    }
    turned
}
