//! Scenarios of several links: what they resolve to, which engines answer, and what the answer says of each link.

use crate::common::{refused, resolved};
use tightlink_lab::run::engine::{UNWATCHED, check, run};
use tightlink_lab::run::record::{DelayStatistics, Engine, FlowSummary, Record};
use tightlink_lab::run::resolve::Resolved;
use units::{Bytes, Rate, Span};

const NETWORK: &str = "title = 't'
duration = '12s'
warmup = '2s'
[[link]]
name = 'a'
rate = '20Mbit/s'
delay = '5ms'
queue.limit = '1 bdp'
reverse = { rate = '2Mbit/s', queue.limit = '1 bdp' }
[[link]]
name = 'b'
rate = '16Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
name = 'long'
rtt = '60ms'
[[flow]]
name = 'short'
path = ['a']
count = 2
rtt = '20ms'
[[flow]]
name = 'back'
path = ['a']
direction = 'reverse'
rtt = '40ms'
[[traffic]]
kind = 'cbr'
rate = '6Mbit/s'
path = ['a']
";

fn simulated(resolved: &Resolved) -> Record {
    run(Engine::Sim, resolved, UNWATCHED).unwrap()
}

#[test]
fn ways_become_routes_over_queues() {
    let resolved = resolved(NETWORK);
    let tables: Vec<&str> = resolved.links.iter().map(|link| link.table.as_str()).collect();
    assert_eq!(tables, ["link[0]", "link[1]", "link[0].reverse"]);
    let routes: Vec<(&[usize], &[usize])> =
        resolved.flows.iter().map(|flow| (flow.route.as_slice(), flow.return_route.as_slice())).collect();
    let short = (&[0][..], &[2][..]);
    assert_eq!(routes, [(&[0, 1][..], &[2][..]), short, short, (&[2][..], &[0][..])]);
    assert_eq!(resolved.traffic[0].route, [0]);
}

#[test]
fn a_product_is_of_the_link_and_of_the_flows_that_cross_it() {
    let resolved = resolved(NETWORK);
    let room = |index: usize, rate: u64, rtt: Span| {
        assert_eq!(resolved.links[index].limit, link::Limit::Bytes(Rate::from_bps(rate).volume(rtt)));
    };
    // Both ways count: (60 + 20 + 20 + 40) / 4.
    room(0, 20_000_000, Span::from_millis(35));
    room(1, 16_000_000, Span::from_millis(60));
    room(2, 2_000_000, Span::from_millis(35));
}

#[test]
fn the_tight_link_is_where_the_least_is_available() {
    let network = resolved(NETWORK);
    // 20 less 6 is below 16; the slow way back carries data, too, but flows go forward.
    assert_eq!((network.tight, network.available()), (0, Rate::from_bps(14_000_000)));
    assert_eq!(network.link.rate, Rate::from_bps(20_000_000));
    let less = resolved(&NETWORK.replace("6Mbit/s'\npath", "3Mbit/s'\npath"));
    assert_eq!((less.tight, less.available()), (1, Rate::from_bps(16_000_000)));
    // First in a tie.
    let tie = resolved(&NETWORK.replace("6Mbit/s'\npath", "4Mbit/s'\npath"));
    assert_eq!(tie.tight, 0);
}

#[test]
fn a_summary_tells_of_every_queue_and_its_own_keys_are_the_tight_ones() {
    let resolved = resolved(NETWORK);
    let summary = simulated(&resolved).summary;
    let named: Vec<(&str, &str, bool)> =
        summary.links.iter().map(|link| (link.name.as_str(), link.direction.as_str(), link.tight)).collect();
    assert_eq!(named, [("a", "forward", true), ("b", "forward", false), ("a", "reverse", false)]);
    assert_eq!(summary.utilization, Some(summary.links[0].utilization));
    assert_eq!(summary.loss_rate, summary.links[0].loss_rate);
    assert_eq!(summary.queueing_delay_s, summary.links[0].queueing_delay_s);
    for link in &summary.links {
        assert!(link.utilization > 0.05 && link.utilization <= 1.0, "{link:?}");
        assert!((link.utilization + link.idle_fraction - 1.0).abs() < 1e-9);
    }
    let json = serde_json::to_string(&summary).unwrap();
    assert!(json.contains("\"links\":[{\"name\":\"a\",\"direction\":\"forward\",\"tight\":true,"), "{json}");
}

#[test]
fn one_queue_makes_no_list_of_links() {
    let single = "title = 't'\nduration = '3s'\n[[link]]\nrate = '9Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\nrtt = '9ms'\n";
    let summary = simulated(&resolved(single)).summary;
    assert!(summary.links.is_empty());
    assert!(!serde_json::to_string(&summary).unwrap().contains("\"links\""));
}

#[test]
fn engines_with_one_queue_refuse_a_network_at_the_link_that_is_too_many() {
    let two = resolved(NETWORK);
    let back = resolved(
        "title = 't'\nduration = '3s'\n[link]\nrate = '9Mbit/s'\nqueue.limit = '9 packets'\n\
         reverse.queue.limit = '9 packets'\n[[flow]]\nrtt = '9ms'\n",
    );
    let kernel = cfg!(feature = "kernel").then_some(Engine::Live);
    for engine in [Engine::Model].into_iter().chain(kernel) {
        let misfit = check(engine, &two).unwrap_err();
        assert_eq!(misfit.complaint.place, "link[1]");
        assert!(misfit.to_string().contains("3 queues"), "{misfit}");
        let misfit = check(engine, &back).unwrap_err();
        assert_eq!(misfit.complaint.place, "link.reverse");
        assert!(misfit.to_string().contains("a queue on the way back"), "{misfit}");
        assert!(misfit.complaint.help.as_deref().unwrap_or_default().contains("--engine sim"));
    }
    assert!(check(Engine::Sim, &two).is_ok() && check(Engine::Sim, &back).is_ok());
}

#[test]
fn faults_name_the_queue_they_are_about() {
    let kind = NETWORK
        .replace("reverse = { rate = '2Mbit/s', queue.limit", "reverse = { queue.kind = 'tail', queue.limit");
    let fault = refused(&kind);
    assert!(fault.contains("link[0].reverse.queue.kind: unknown queue \"tail\""), "{fault}");
    // A hundredth of a product: less than a segment.
    let small = NETWORK.replacen(
        "delay = '10ms'\nqueue.limit = '1 bdp'",
        "delay = '10ms'\nqueue.limit = '0.01 bdp'",
        1,
    );
    let fault = refused(&small);
    assert!(fault.contains("link[1].queue.limit: room for 1.2kB, less than one segment of 1.5kB"), "{fault}");
}

#[test]
fn a_hundred_thousand_flows_resolve_in_an_instant() {
    let many = resolved(&NETWORK.replace("count = 2", "count = 100000"));
    assert_eq!(many.flows.len(), 100_002);
    assert_eq!(many.flows[100_000].name, "short-100000");
    assert!(matches!(many.links[0].limit, link::Limit::Bytes(room) if room > Bytes::new(40_000)));
}

/// A shaper hands a packet on as it begins to send it, and a link once it has sent it. So a network's round trips are
/// shorter by the time of a packet on its first link, and then both have the same packets at the same times.
#[test]
fn a_shaper_is_a_link_in_front_of_the_modem() {
    let times = "title = 't'\nduration = '30s'\nwarmup = '5s'\n";
    let modem = "rate = '10Mbit/s'\ndelay = '10ms'\nqueue.limit = '1000 packets'\n";
    let flows = |rtts: [&str; 2]| {
        let flow = |rtt: &str| format!("[[flow]]\ncontrol = 'cubic'\nhandshake = false\nrtt = '{rtt}'\n");
        rtts.map(flow).concat()
    };
    for queue in ["drop-tail", "drop-head", "codel", "fq-codel"] {
        let first = format!("rate = '8Mbit/s'\nqueue = {{ kind = '{queue}', limit = '50 packets' }}\n");
        let shaped = format!("{times}[link]\n{modem}[link.shaper]\n{first}{}", flows(["40ms", "61.5ms"]));
        let network = format!(
            "{times}[[link]]\nname = 'shaper'\ndelay = '0ms'\n{first}[[link]]\nname = 'modem'\n{modem}{}",
            flows(["38.5ms", "60ms"])
        );
        let [shaped, network] = [shaped, network].map(|text| simulated(&resolved(&text)).summary);
        let numbers = |flow: &FlowSummary| (flow.goodput_bps, flow.rtt_s, flow.retransmits);
        let [one, two] = [&shaped, &network].map(|found| found.flows.iter().map(numbers).collect::<Vec<_>>());
        assert_eq!(one, two, "{queue}");
        assert!(one[0].0 > 1e6 && one[1].0 > 1e6, "{queue}: {one:?}");
        // The gaps between shaped packets, in which the modem is idle, belong to the packets before them.
        let [one, two] = [&shaped, &network].map(|found| found.queueing_delay_s.unwrap());
        assert_eq!(one.max, two.max, "{queue}");
        let p95 = |delay: &DelayStatistics| delay.percentiles.p95.expect("measured");
        for (one, two) in [(one.mean, two.mean), (p95(&one), p95(&two))] {
            assert!((one / two - 1.0).abs() < 1e-3, "{queue}: {one} {two}");
        }
        assert_eq!(network.links[1].queueing_delay_s.and_then(|delay| delay.max), Some(0.0), "{queue}");
        let [share, whole] = [&shaped, &network].map(|found| found.utilization.unwrap());
        assert!((share - 0.8 * whole).abs() < 1e-4, "{queue}: {share} {whole}");
    }
}
