//! The places of a flow's transfers in a wireless cell.

use air::access::Category;
use scenario::spec::{self, CellDirection, Wlan};
use sim::{CellPlace, Direction};
use units::Span;

/// Returns the place in the cell of transfer number `index` of a flow's table.
pub(super) fn place(wlan: &Wlan, flow: &spec::Flow, index: usize) -> Option<CellPlace> {
    let way = flow.cell.as_ref()?;
    let name = &way.stations[index % way.stations.len()];
    let mut names = wlan.stations.iter().flat_map(|station| &station.names);
    Some(CellPlace {
        station: names.position(|known| known == name)?,
        direction: match way.direction {
            CellDirection::Down => Direction::Down,
            CellDirection::Up => Direction::Up,
        },
        category: category(way.category),
        ack_category: category(way.ack_category),
    })
}

pub(super) const fn category(category: spec::Category) -> Category {
    match category {
        spec::Category::Be => Category::BestEffort,
        spec::Category::Bk => Category::Background,
        spec::Category::Vi => Category::Video,
        spec::Category::Vo => Category::Voice,
    }
}

/// Returns the one-way delay of the backhaul.
pub(super) fn delay(wlan: &Wlan) -> Span {
    wlan.backhaul.as_ref().map_or(Span::ZERO, |backhaul| backhaul.delay)
}
