//! Lists of flows that take turns. A flow is on one list or on none, and moves from any place in constant time.

/// A list of a tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ring {
    /// Flows that have just become active.
    New,
    /// Flows that have used up a turn.
    Old,
    /// Empty flows whose COBALT has not come to rest.
    Decaying,
}

/// The three lists, as circles through their members. Each list has a place of its own behind the members.
#[derive(Debug)]
pub(super) struct Rings {
    /// For each place, the one before it and the one after it. A place on no list is its own neighbour.
    neighbours: Box<[(u16, u16)]>,
    members: u16,
}

impl Rings {
    pub(super) fn new(members: u16) -> Self {
        Self { neighbours: (0..members + 3).map(|place| (place, place)).collect(), members }
    }

    fn head(&self, ring: Ring) -> u16 {
        self.members + ring as u16
    }

    /// Returns the first member of a list.
    #[inline]
    pub(super) fn first(&self, ring: Ring) -> Option<usize> {
        let first = self.neighbours[usize::from(self.head(ring))].1;
        (first < self.members).then_some(usize::from(first))
    }

    /// Returns the members of a list in order.
    pub(super) fn members(&self, ring: Ring) -> impl Iterator<Item = usize> {
        let after = move |place: u16| {
            let next = self.neighbours[usize::from(place)].1;
            (next < self.members).then_some(next)
        };
        std::iter::successors(after(self.head(ring)), move |place| after(*place)).map(usize::from)
    }

    /// Takes a member off its list.
    #[inline]
    pub(super) fn remove(&mut self, member: usize) {
        let (before, after) = self.neighbours[member];
        self.neighbours[usize::from(before)].1 = after;
        self.neighbours[usize::from(after)].0 = before;
        self.neighbours[member] = (member as u16, member as u16);
    }

    /// Puts a member at the end of a list, wherever it was.
    #[inline]
    pub(super) fn append(&mut self, ring: Ring, member: usize) {
        self.remove(member);
        let head = self.head(ring);
        let last = self.neighbours[usize::from(head)].0;
        self.neighbours[usize::from(last)].1 = member as u16;
        self.neighbours[usize::from(head)].0 = member as u16;
        self.neighbours[member] = (last, head);
    }
}
