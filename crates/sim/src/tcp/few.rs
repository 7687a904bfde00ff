//! A line of items that usually is empty or short.

use std::collections::VecDeque;
use std::iter;

/// Items in the order in which they came. An empty line takes no further memory, and one item takes a single block.
#[derive(Clone, Debug)]
pub(super) struct Few<T>(Option<Box<Items<T>>>);

#[derive(Clone, Debug)]
struct Items<T> {
    first: T,
    others: VecDeque<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Few<T> {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the first item.
    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        self.0.as_ref().map(|items| &items.first)
    }

    /// Adds an item at the end.
    pub(super) fn push(&mut self, item: T) {
        match &mut self.0 {
            Some(items) => items.others.push_back(item),
            None => self.0 = Some(Box::new(Items { first: item, others: VecDeque::new() })),
        }
    }

    /// Takes the first item.
    pub(super) fn pop(&mut self) -> Option<T> {
        let items = self.0.as_mut()?;
        match items.others.pop_front() {
            Some(next) => Some(std::mem::replace(&mut items.first, next)),
            None => self.0.take().map(|items| items.first),
        }
    }

    /// Returns the items, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|items| iter::once(&items.first).chain(&items.others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_in_the_order_in_which_they_came_and_nothing_remains() {
        let mut few = Few::default();
        assert!(few.is_empty() && few.pop().is_none());
        for item in 0..3 {
            few.push(item);
        }
        assert_eq!((few.first(), few.iter().copied().collect::<Vec<_>>()), (Some(&0), vec![0, 1, 2]));
        assert_eq!([few.pop(), few.pop(), few.pop(), few.pop()], [Some(0), Some(1), Some(2), None]);
        assert!(few.0.is_none());
    }
}
