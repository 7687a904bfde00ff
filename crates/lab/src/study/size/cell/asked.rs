//! The question that a scenario with a wireless cell poses, and the lines to paste.

use crate::run::engine::served_every;
use crate::run::resolve::{Resolved, ResolvedFlow};
use crate::study::size::answer::{Line, Point};
use crate::study::size::question::{CellFacts, Ends, Mix, Question};
use crate::study::size::systems::{AIRTIME, DRIVER, MAC80211, line};
use air::frame::ExchangeTime;
use sim::{CellPlan, Direction};
use units::{Complaint, Rate, Span};

/// The half-width of a 95 % interval, relative to the value, above which the results of different limits cannot be
/// distinguished.
const APART: f64 = 0.1;

/// Returns the downloads whose data wait in the queue of the question.
pub(super) fn downloads<'a>(
    resolved: &'a Resolved,
    plan: &'a CellPlan,
) -> impl Iterator<Item = (usize, &'a ResolvedFlow)> {
    let watched = plan.access_point[plan.watched].category;
    resolved.flows.iter().enumerate().filter(move |(_, flow)| {
        let down =
            flow.place.is_some_and(|place| place.direction == Direction::Down && place.category == watched);
        down && flow.size.is_none()
    })
}

/// Returns the question that a scenario with a cell poses.
pub(in crate::study::size) fn question(resolved: &Resolved, plan: &CellPlan) -> Result<Question, Complaint> {
    let down: Vec<&ResolvedFlow> = downloads(resolved, plan).map(|(_, flow)| flow).collect();
    let rtts = down.iter().map(|flow| flow.base_rtt);
    let (Some(least), Some(most)) = (rtts.clone().min(), rtts.max()) else {
        return Err(Complaint::new(
            "flow",
            "no greedy download: the access point's queue holds the data of downloads",
        )
        .accepted("a [[flow]] with direction = \"down\" and without a size"));
    };
    if least == Span::ZERO {
        return Err(Complaint::new(
            "wlan.backhaul.delay",
            "0s: without a round trip there is nothing to buffer for",
        )
        .accepted("a time such as 20ms"));
    }
    let first = down[0];
    let packet = down.iter().map(|flow| flow.segment()).max().unwrap_or_default();
    let rate = packet.bits_f64() / served_every(plan, first);
    let place = first.place.expect("a flow in a cell");
    let station = plan.stations[place.station].rate;
    let exchange = ExchangeTime::new(&plan.phy, &plan.sizes, packet, station, plan.control_rate);
    let up = resolved.flows.iter().filter(|flow| flow.size.is_none()).filter_map(|flow| flow.place);
    Ok(Question {
        rtt: Ends { least, most },
        flows: Ends::at(down.len() as u64),
        mix: Mix::of_flows(&down),
        packet,
        queue: resolved.queue.policy.clone(),
        cell: Some(CellFacts {
            phy: plan.phy.name.to_owned(),
            frame_bps: station.as_bps_f64(),
            stations: plan.stations.len() as u64,
            downloads: down.len() as u64,
            uploads: up.filter(|place| place.direction == Direction::Up).count() as u64,
            category: place.category.name(),
            frame_s: exchange.whole.as_secs_f64(),
        }),
        ..Question::of(Rate::from_bps(rate as u64))
    })
}

/// Returns cautions about any limit, and about the load for which the recommended one was chosen.
pub(super) fn cautions(resolved: &Resolved, recommended: &Point) -> Vec<String> {
    let plan = resolved.cell.as_ref().expect("a cell");
    let watched = plan.access_point[plan.watched].category;
    let places = resolved.flows.iter().filter_map(|flow| flow.place);
    let mut up = places.filter(|place| place.direction == Direction::Up).peekable();
    let mut cautions = Vec::new();
    let apart = recommended.utilization_ci95.unwrap_or_default();
    if apart > APART {
        cautions.push(format!(
            "the downloads' goodput varies by {:.0} % among the runs of the recommended limit: no limit is surely better than another",
            apart * 100.0
        ));
    }
    if up.peek().is_some() {
        cautions.push("the row \"no uploads\" has the effects of the recommended limit without them".into());
    }
    if up.any(|place| place.ack_category == watched) {
        cautions.push(
            "the acknowledgements of uploads wait in the same queue and take the downloads' places there: ack_category = \"vo\" of the uploads \
             gives them a queue of their own"
                .into(),
        );
    }
    cautions
}

/// Returns the lines that give mac80211's queues, or a driver without them, the limit.
pub(super) fn lines(question: &Question, point: &Point) -> Vec<Line> {
    let packets = point.packets;
    let mut lines = vec![
        line(MAC80211, format!("iw phy PHY set txq limit {packets}"), String::new()),
        line(DRIVER, format!("tc qdisc replace dev DEV root pfifo limit {packets}"), String::new()),
    ];
    // The line has the category's number, which mac80211 counts from the most urgent one.
    let number = question
        .cell
        .as_ref()
        .and_then(|cell| ["vo", "vi", "be", "bk"].iter().position(|name| *name == cell.category));
    lines.extend(number.map(|number| {
        let set = format!("echo {number} 5000 12000 > /sys/kernel/debug/ieee80211/PHY/aql_txq_limit");
        line(AIRTIME, set, String::new())
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::resolve::resolve_document;
    use scenario::Document;

    /// Returns the cautions of a cell with a download and these further tables, where runs vary by `apart`.
    fn said(tables: &str, apart: f64) -> Vec<String> {
        let text = format!(
            "title = 't'\nduration = '9s'\n[wlan]\nphy = '802.11a'\nrate = '24Mbit/s'\nqueue.limit = '90 packets'\n\
             backhaul = {{ rate = '90Mbit/s', delay = '15ms', queue.limit = '500 packets' }}\n\
             [[station]]\n[[flow]]\nstation = 'station-1'\n{tables}"
        );
        let resolved = resolve_document(&Document::parse("x.toml", &text).unwrap()).unwrap();
        let asked = question(&resolved, resolved.cell.as_ref().unwrap()).unwrap();
        cautions(&resolved, &Point { utilization_ci95: Some(apart), ..Point::at(&asked, 21) })
    }

    #[test]
    fn a_cell_whose_limit_decides_little_is_told_so() {
        let upload = "[[flow]]\nstation = 'station-1'\ndirection = 'up'\n";
        assert!(said("", 0.02).is_empty());
        let all = said(upload, 0.66).join("\n");
        for words in ["varies by 66 %", "no uploads", "ack_category = \"vo\""] {
            assert!(all.contains(words), "{all}");
        }
        assert_eq!(said(&format!("{upload}ack_category = 'vo'\n"), 0.02).len(), 1);
    }
}
