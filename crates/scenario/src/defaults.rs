//! `Default`: the schema's values for keys that are not written, on `host = "rfc"`.
//!
//! Required keys are empty or zero, which no check accepts. Names and paths that a file may leave out are empty, too;
//! [`Scenario::checked`] fills them in.

use crate::document::Document;
use crate::spec::{
    AirtimeLimits, Alt, Backhaul, CellQueue, Ebdp, Flow, Limit, Link, Live, Loss, OverTime, Queue,
    QueueSettings, Record, Replay, Reverse, Scenario, Sessions, Sizing, Spread, Station, Traffic, Volume,
    Wlan,
};
use std::sync::LazyLock;
use units::{Rate, Span};

/// A scenario with required keys only.
const LEAST: &str = "title = 't'\nduration = '1s'\n[link]\nrate = '1bit/s'\nqueue.limit = '1 packets'\n[[flow]]\n\
                     [[traffic]]\nkind = 'cbr'\nrate = '1bit/s'\n[[traffic]]\nkind = 'replay'\nfile = 'f'\n\
                     [[traffic]]\nkind = 'engset'\nusers = 1\nsession = '1 packets'\nthink = '0s'\n";

/// A wireless cell with required keys, a sizing rule and airtime limits.
const LEAST_CELL: &str = "title = 't'\nduration = '1s'\n[wlan]\nphy = '802.11g'\nrate = '1bit/s'\n\
                          queue = { limit = '1000 packets', sizing.rule = 'a*', airtime_limits = {} }\n\
                          [[station]]\nsaturated = '1B'\n";

fn least(text: &str) -> Scenario {
    let read = Document::parse("the defaults", text).and_then(|document| document.scenario());
    read.unwrap_or_else(|faults| panic!("the schema's defaults have faults: {faults}"))
}

static PATH: LazyLock<Scenario> = LazyLock::new(|| least(LEAST));
static CELL: LazyLock<(Scenario, Wlan)> = LazyLock::new(|| {
    let mut scenario = least(LEAST_CELL);
    let wlan = scenario.wlan.take().expect("the text has a [wlan]");
    (scenario, wlan)
});

impl Default for Scenario {
    /// Returns a scenario without links and flows.
    fn default() -> Self {
        Self {
            title: String::new(),
            duration: None,
            links: Vec::new(),
            flows: Vec::new(),
            traffic: Vec::new(),
            replays: Vec::new(),
            sessions: Vec::new(),
            ..PATH.clone()
        }
    }
}

impl Default for Link {
    fn default() -> Self {
        let queue = Queue::default();
        Self { name: String::new(), rate: OverTime::default(), queue, ..PATH.links[0].clone() }
    }
}

impl Default for Reverse {
    fn default() -> Self {
        Self { rate: OverTime::default(), queue: Queue::default(), shaper: None, loss: Loss::NONE }
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self { limit: Limit::ZERO, settings: QueueSettings::default(), ..PATH.links[0].queue.clone() }
    }
}

impl Default for Flow {
    fn default() -> Self {
        let mut flow = PATH.flows[0].clone();
        (flow.name, flow.path) = (String::new(), Vec::new());
        flow
    }
}

impl Default for Traffic {
    /// Returns traffic with equal gaps.
    fn default() -> Self {
        Self { name: String::new(), rate: Rate::ZERO, path: Vec::new(), ..PATH.traffic[0].clone() }
    }
}

impl Default for Replay {
    fn default() -> Self {
        let (name, file) = (String::new(), String::new());
        Self { entry: 0, name, file, path: Vec::new(), ..PATH.replays[0].clone() }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        let users = PATH.sessions[0].clone();
        Self {
            entry: 0,
            session: Spread::All(Volume::Packets(0)),
            think: Spread::All(Span::ZERO),
            flow: Flow { name: String::new(), path: Vec::new(), ..users.flow },
            ..users
        }
    }
}

impl Default for Live {
    fn default() -> Self {
        PATH.live
    }
}

impl Default for Record {
    fn default() -> Self {
        PATH.record.clone()
    }
}

impl Default for Wlan {
    /// Returns a cell without stations.
    fn default() -> Self {
        let (phy, rate, stations) = (String::new(), Rate::ZERO, Vec::new());
        Self { phy, rate, stations, queue: CellQueue::default(), ..CELL.1.clone() }
    }
}

impl Default for CellQueue {
    fn default() -> Self {
        let mut queue = CELL.1.queue.clone();
        (queue.sizing, queue.airtime_limits) = (None, None);
        queue
    }
}

impl Default for Ebdp {
    fn default() -> Self {
        lesser().0
    }
}

impl Default for Alt {
    fn default() -> Self {
        lesser().1
    }
}

/// Returns both parts of the sizing rule in `LEAST_CELL`.
fn lesser() -> (Ebdp, Alt) {
    match CELL.1.queue.sizing {
        Some(Sizing::Lesser(ebdp, alt)) => (ebdp, alt),
        other => unreachable!("the text has \"a*\", and not {other:?}"),
    }
}

impl Default for AirtimeLimits {
    fn default() -> Self {
        CELL.1.queue.airtime_limits.expect("the text has airtime limits")
    }
}

impl Default for Backhaul {
    fn default() -> Self {
        Self { rate: Rate::ZERO, delay: Span::ZERO, queue: Queue::default() }
    }
}

impl Default for Station {
    /// Returns one station without a name that sends what flows hand it.
    fn default() -> Self {
        Self { names: Vec::new(), saturated: None, ..CELL.1.stations[0].clone() }
    }
}
