//! Routes over links. Thousands of flows share a few routes, so each route is kept once.

use std::collections::HashMap;

/// Routes one after the other, each closed by [`Routes::END`]. A position in them says where a packet is and where it
/// goes next, so that its flow need not be looked up.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    hops: Vec<u32>,
    begins: HashMap<Vec<usize>, u32>,
    links: usize,
}

impl Routes {
    const END: u32 = u32::MAX;

    /// Creates an empty set of routes over `links` links.
    pub(super) fn new(links: usize) -> Self {
        Self { hops: Vec::new(), begins: HashMap::new(), links }
    }

    /// Returns the position at which `route` begins.
    ///
    /// # Panics
    /// If the route names a link that does not exist.
    pub(super) fn begin(&mut self, route: &[usize]) -> u32 {
        if let Some(begin) = self.begins.get(route) {
            return *begin;
        }
        assert!(route.iter().all(|link| *link < self.links), "a route over links that there are: {route:?}");
        let begin = self.hops.len() as u32;
        self.hops.extend(route.iter().map(|link| *link as u32));
        self.hops.push(Self::END);
        self.begins.insert(route.to_vec(), begin);
        begin
    }

    /// Returns the link at a position; `None` at the end of a route.
    #[inline]
    pub(super) fn link(&self, position: u32) -> Option<usize> {
        let link = self.hops[position as usize];
        (link != Self::END).then_some(link as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_walked_to_its_end_and_kept_once() {
        let mut routes = Routes::new(3);
        let long = routes.begin(&[0, 1, 2]);
        let short = routes.begin(&[2]);
        let none = routes.begin(&[]);
        assert_eq!(routes.begin(&[0, 1, 2]), long);
        let walk = |begin: u32| (begin..).map_while(|at| routes.link(at)).collect::<Vec<_>>();
        assert_eq!((walk(long), walk(short), walk(none)), (vec![0, 1, 2], vec![2], vec![]));
    }

    #[test]
    #[should_panic(expected = "a route over links that there are: [0, 3]")]
    fn a_route_over_an_unknown_link_is_refused() {
        Routes::new(3).begin(&[0, 3]);
    }
}
