//! A wireless cell in numbers: the values that the PHY's standard fills in, access functions, queues, places of flows.

use super::flow::ResolvedFlow;
use super::links::ResolvedLink;
use super::place::{category, delay};
use super::queue;
use super::room::{RoomScale, mean_rtt};
use air::access::{Access, Category};
use air::airtime_limits::AirtimeLimits;
use air::config::AfterCollision;
use air::frame::Sizes;
use air::phy::Phy;
use link::moving_limit::{AltParameters, EbdpParameters, MovingLimitConfig};
use link::queue::Context;
use link::{Limit, LinkConfig};
use scenario::Scenario;
use scenario::spec::{self, AccessRule, Sizing, Wlan};
use sim::{
    CellPlace, CellPlan, Direction, DownlinkPlan, LinkPlan, QueuePlan, StationPlan, UplinkPlan, UplinkSource,
};
use units::{Bytes, Complaint, Rate, Span};

const CATEGORIES: [(&str, spec::Category); 4] = [
    ("be", spec::Category::Be),
    ("bk", spec::Category::Bk),
    ("vi", spec::Category::Vi),
    ("vo", spec::Category::Vo),
];

/// The cell's parameters together with the PHY that completes them.
struct Rules<'a> {
    wlan: &'a Wlan,
    phy: Phy,
}

impl Rules<'_> {
    fn standard(&self, category: Category) -> Access {
        match self.wlan.access {
            AccessRule::Edca => Access::default_of(&self.phy, category),
            AccessRule::Dcf => Access::dcf(&self.phy),
        }
    }

    /// Returns the access parameters of a station.
    fn station(&self, of: spec::Category) -> Access {
        written(self.standard(category(of)), self.wlan.ac.of(of))
    }

    /// Returns the access parameters of the access point.
    fn access_point(&self, of: spec::Category) -> Access {
        written(self.station(of), self.wlan.access_point.of(of))
    }
}

fn written(usual: Access, own: spec::Access) -> Access {
    Access {
        aifsn: own.aifsn.unwrap_or(usual.aifsn),
        cw_min: own.cw_min.unwrap_or(usual.cw_min),
        cw_max: own.cw_max.unwrap_or(usual.cw_max),
        txop: own.txop.unwrap_or(usual.txop),
        retry_limit: own.retry_limit.unwrap_or(usual.retry_limit),
        countdown: usual.countdown,
    }
}

/// Describes the cell as a link, made of the air and the access point's queue. Shares, tables and pages treat it as the
/// tight link. Its rate is that of the cell's frames, which is more than the cell can carry.
pub(super) fn link(wlan: &Wlan, flows: &[&ResolvedFlow]) -> ResolvedLink {
    let down =
        || flows.iter().filter(|flow| flow.place.is_some_and(|place| place.direction == Direction::Down));
    let segments: Vec<Bytes> = down().map(|flow| flow.segment()).collect();
    let packet = queue::mean_packet(wlan.rate, &segments, &[]);
    let scale = RoomScale { rate: wlan.rate, mean_rtt: mean_rtt(rtts(flows)), packet };
    ResolvedLink {
        name: CellPlan::ACCESS_POINT.to_owned(),
        direction: spec::Direction::Forward,
        config: LinkConfig::constant(wlan.rate, delay(wlan)),
        queue: queue::policy(&wlan.queue.queue, &scale),
        limit: scale.limit(wlan.queue.queue.limit),
        mean_rtt: scale.mean_rtt,
        table: "wlan".to_owned(),
    }
}

fn rtts(flows: &[&ResolvedFlow]) -> impl Iterator<Item = Span> {
    flows.iter().map(|flow| flow.base_rtt)
}

/// Resolves the cell into numbers; `air` is the result of [`link`].
///
/// # Errors
/// If the PHY does not exist, if it does not have the given rates, or if access parameters are out of range.
pub(super) fn plan(
    scenario: &Scenario,
    wlan: &Wlan,
    air: &ResolvedLink,
    flows: &[&ResolvedFlow],
) -> Result<CellPlan, Vec<Complaint>> {
    let fault = |complaint: Complaint| vec![complaint];
    let within = |table: &str, complaint: Complaint| {
        fault(Complaint { place: format!("{table}.{}", complaint.place), ..complaint })
    };
    let mut phy = *Phy::named(&wlan.phy).map_err(|complaint| within("wlan", complaint))?;
    if wlan.short_preamble {
        phy = phy.with_short_preamble().map_err(|complaint| within("wlan", complaint))?;
    }
    phy.check_rate("wlan.rate", wlan.rate).map_err(fault)?;
    let control_rate = wlan.control_rate.unwrap_or(phy.mandatory[phy.mandatory.len() - 1]);
    phy.check_rate("wlan.control_rate", control_rate).map_err(fault)?;
    if let Some(rate) = wlan.eifs_rate.filter(|rate| phy.lowest.is_none_or(|(_, lowest)| lowest != *rate)) {
        phy.check_rate("wlan.eifs_rate", rate).map_err(fault)?;
    }
    for (index, station) in wlan.stations.iter().enumerate() {
        if let Some(rate) = station.rate {
            phy.check_rate(&format!("station[{index}].rate"), rate).map_err(fault)?;
        }
    }
    let rules = Rules { wlan, phy };
    for (name, category) in CATEGORIES {
        rules.station(category).check(&format!("wlan.ac.{name}")).map_err(fault)?;
        rules.access_point(category).check(&format!("wlan.access_point.ac.{name}")).map_err(fault)?;
    }
    let (access_point, watched) = downlinks(&rules, air, flows);
    let plan = CellPlan {
        phy,
        sizes: Sizes { header: wlan.header, llc: wlan.llc, acknowledgement: wlan.ack },
        control_rate,
        after_collision: match wlan.after_collision {
            spec::AfterCollision::Eifs => {
                // If the scenario gives no rate for EIFS, it is that of the acknowledgement that did not come.
                let missed = || phy.acknowledgement_rate(wlan.rate, control_rate);
                AfterCollision::Wait(phy.eifs_less_difs_at(wlan.ack, wlan.eifs_rate.unwrap_or_else(missed)))
            }
            spec::AfterCollision::Difs => AfterCollision::Difs,
        },
        ack_timeout: None,
        access_point,
        watched,
        stations: stations(&rules, flows),
        backhaul: backhaul(wlan, flows)?,
    };
    plan.access(scenario.seed)
        .check()
        .map_err(|complaint| fault(Complaint { place: "wlan".into(), ..complaint }))?;
    Ok(plan)
}

/// Returns the access point's functions, and the index of the one that the data of the first download waits for.
fn downlinks(rules: &Rules<'_>, air: &ResolvedLink, flows: &[&ResolvedFlow]) -> (Vec<DownlinkPlan>, usize) {
    let places = || flows.iter().filter_map(|flow| flow.place);
    let sent = |place: CellPlace| match place.direction {
        Direction::Down => place.category,
        Direction::Up => place.ack_category,
    };
    let mut used: Vec<Category> = Vec::new();
    let firsts = places().find(|place| place.direction == Direction::Down).map(sent);
    for category in firsts.into_iter().chain(places().map(sent)) {
        if !used.contains(&category) {
            used.push(category);
        }
    }
    if used.is_empty() {
        used.push(Category::BestEffort);
    }
    // The order is that of `CATEGORIES`, whichever flow comes first.
    let of = |wanted: spec::Category| used.contains(&category(wanted));
    let kept = CATEGORIES.into_iter().map(|(_, category)| category).filter(|category| of(*category));
    let downlink = |wanted: spec::Category| DownlinkPlan {
        category: category(wanted),
        access: rules.access_point(wanted),
        queue: QueuePlan { policy: air.queue.clone(), limit: air.limit },
        moving: moving(rules.wlan, air.limit),
        airtime: rules.wlan.queue.airtime_limits.map(|limits| AirtimeLimits {
            low: limits.low,
            high: limits.high,
            threshold: limits.threshold,
        }),
    };
    let plans: Vec<DownlinkPlan> = kept.map(downlink).collect();
    let watched = plans.iter().position(|plan| plan.category == used[0]).unwrap_or_default();
    (plans, watched)
}

/// Returns the algorithm that moves the limit of the access point's queue. It never exceeds the configured `limit`.
fn moving(wlan: &Wlan, limit: Limit) -> Option<MovingLimitConfig> {
    // Only a limit in packets moves; the scenario's reader refuses a sizing rule with a limit in bytes.
    let Limit::Packets(most) = limit else { return None };
    let ebdp = |ebdp: spec::Ebdp| EbdpParameters {
        target: ebdp.target,
        extra: ebdp.extra,
        weight: ebdp.weight.get(),
        most,
    };
    let alt = |alt: spec::Alt| AltParameters {
        interval: alt.interval,
        increase: alt.increase,
        decrease: alt.decrease,
        fewest: alt.fewest.min(most),
        most,
    };
    // ALT begins with its least number of packets.
    Some(match wlan.queue.sizing? {
        Sizing::Ebdp(own) => MovingLimitConfig::Ebdp(ebdp(own)),
        Sizing::Alt(own) => MovingLimitConfig::Alt(alt(own), own.fewest),
        Sizing::Lesser(one, other) => MovingLimitConfig::Lesser(ebdp(one), alt(other), other.fewest),
    })
}

/// Lists the stations that are not saturated although the scenario says so, because a flow makes them send in that
/// category.
pub(super) fn unsaturated(scenario: &Scenario, plan: &CellPlan) -> Vec<String> {
    let tables = scenario.wlan.iter().flat_map(|wlan| &wlan.stations);
    let saturated = tables.flat_map(|table| table.names.iter().map(|_| table.saturated));
    let busy = |(wanted, station): &(Option<spec::Saturated>, &StationPlan)| {
        let mut functions = station.functions.iter();
        wanted.is_some_and(|wanted| {
            let own = functions.find(|function| function.category == category(wanted.category));
            own.is_some_and(|function| matches!(function.source, UplinkSource::Queue(_)))
        })
    };
    saturated.zip(&plan.stations).filter(busy).map(|(_, station)| station.name.clone()).collect()
}

/// Makes every station, with a function for each category that it sends in. A function sends either the packets of
/// flows or, if there are none, the saturated station's own frames.
fn stations(rules: &Rules<'_>, flows: &[&ResolvedFlow]) -> Vec<StationPlan> {
    let all = rules.wlan.stations.iter().flat_map(|table| table.names.iter().map(move |name| (table, name)));
    let station = |(index, (table, name)): (usize, (&spec::Station, &String))| {
        let own = || flows.iter().filter_map(|flow| flow.place).filter(|place| place.station == index);
        let sends = |wanted: Category| {
            own().any(|place| match place.direction {
                Direction::Up => place.category == wanted,
                Direction::Down => place.ack_category == wanted,
            })
        };
        let scale = RoomScale { rate: rules.wlan.rate, mean_rtt: Span::ZERO, packet: Context::MEAN_PACKET };
        let function = |(_, wanted): (&str, spec::Category)| {
            let saturated = table.saturated.filter(|saturated| saturated.category == wanted);
            let source = if sends(category(wanted)) {
                UplinkSource::Queue(QueuePlan {
                    policy: link::queue::DROP_TAIL.into(),
                    limit: scale.limit(table.limit),
                })
            } else {
                UplinkSource::Saturated(saturated?.payload)
            };
            Some(UplinkPlan { category: category(wanted), access: rules.station(wanted), source })
        };
        StationPlan {
            name: name.clone(),
            rate: table.rate.unwrap_or(rules.wlan.rate),
            functions: CATEGORIES.into_iter().filter_map(function).collect(),
        }
    };
    all.enumerate().map(station).collect()
}

/// Makes the wire to the access point and the wire from it. Without flows nothing crosses them.
fn backhaul(wlan: &Wlan, flows: &[&ResolvedFlow]) -> Result<[LinkPlan; 2], Vec<Complaint>> {
    let unused = spec::Backhaul {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::ZERO,
        queue: spec::Queue {
            kind: link::queue::DROP_TAIL.to_owned(),
            limit: spec::Limit::Packets(1),
            settings: spec::QueueSettings::default(),
        },
    };
    let wire = wlan.backhaul.as_ref().unwrap_or(&unused);
    let scale = RoomScale { rate: wire.rate, mean_rtt: mean_rtt(rtts(flows)), packet: Context::MEAN_PACKET };
    let one = |name: &str| LinkPlan {
        name: name.to_owned(),
        config: LinkConfig::constant(wire.rate, wire.delay),
        queue: queue::policy(&wire.queue, &scale),
        limit: scale.limit(wire.queue.limit),
    };
    let both = [one("backhaul"), one("backhaul reverse")];
    queue::check("wlan.backhaul", &both[0].queue, both[0].limit, wire.rate)?;
    let segment = flows.iter().map(|flow| flow.segment()).max().unwrap_or_default();
    queue::holds("wlan.backhaul", both[0].limit, segment)?;
    Ok(both)
}
