//! Fairness and convergence: what `record.fairness` finds, against what must be so.

use scenario::Document;
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::resolve_document;

fn record(text: &str) -> Record {
    let document = Document::parse("t.toml", text).unwrap();
    engine::run(Engine::Sim, &resolve_document(&document).unwrap(), engine::UNWATCHED).unwrap()
}

const PATH: &str = "title = 't'
duration = '40s'
[link]
rate = '20Mbit/s'
delay = '10ms'
queue.limit = '2 bdp'
";

/// Flows with fixed windows have shares that follow from these: a path that is never full.
fn fixed(windows: &[&str], more: &str) -> Record {
    let flow = |window: &&str| {
        format!(
            "[[flow]]\ncontrol = 'fixed'\nrtt = '40ms'\nsocket_buffer = '{window}'\ninitial_window = 1000\n"
        )
    };
    let flows: String = windows.iter().map(flow).collect();
    record(&format!("{PATH}{flows}{more}"))
}

#[test]
fn equal_windows_are_fair_at_once_and_all_the_time() {
    let record = fixed(&["55kB", "55kB"], "[record]\nfairness = '1s'\n");
    let summary = &record.summary;
    assert!(summary.jain_index_mean.unwrap() > 0.999, "{summary:?}");
    assert_eq!(summary.convergence_s, Some(1.0), "{summary:?}");
    assert_eq!(record.series.fairness.t_s.len(), 40);
    assert!(record.series.fairness.jain_index.iter().all(|index| (0.99..=1.0).contains(index)));
}

#[test]
fn a_flow_with_three_times_the_window_never_comes_to_its_fair_share() {
    let record = fixed(&["150kB", "50kB"], "[record]\nfairness = '1s'\n");
    // (3 + 1)^2 / (2 (9 + 1)) = 0.8.
    let index = record.summary.jain_index_mean.unwrap();
    assert!((index - 0.8).abs() < 0.01, "{index}");
    assert_eq!(record.summary.convergence_s, None);
    assert!(record.summary.flows.iter().all(|flow| flow.convergence_s.is_none()));
    let share = record.summary.flows[0].goodput_share.unwrap();
    assert!((share - 0.75).abs() < 0.01, "{share}");
}

#[test]
fn a_lone_flow_below_the_capacity_has_not_converged_even_if_it_has_all_there_is() {
    // 50 kB in 40 ms: half of the link.
    let record = fixed(&["50kB"], "[record]\nfairness = '1s'\n");
    assert_eq!(record.summary.convergence_s, None);
    assert_eq!(record.summary.jain_index_mean, None);
    assert_eq!(record.summary.flows[0].goodput_share, None);
    let record = fixed(&["100kB"], "[record]\nfairness = '1s'\n");
    assert_eq!(record.summary.convergence_s, Some(1.0));
}

#[test]
fn what_cross_traffic_takes_is_no_part_of_the_fair_share() {
    let cross = "[[traffic]]\nkind = 'cbr'\nrate = '10Mbit/s'\n[record]\nfairness = '1s'\n";
    let record = fixed(&["50kB"], cross);
    assert_eq!(record.summary.convergence_s, Some(1.0));
}

#[test]
fn a_flow_that_leaves_sends_no_more_and_the_others_share_what_it_had() {
    let text = format!(
        "{PATH}[[flow]]\nname = 'stays'\nrtt = '40ms'\n[[flow]]\nname = 'leaves'\nrtt = '40ms'\nstart = '10s'\nstop = '20s'\n\
         [record]\nevery = '100ms'\n"
    );
    let record = record(&text);
    let [stays, leaves] = &record.series.flows[..] else { panic!() };
    let between = |of: &tightlink_lab::run::record::FlowSeries, from: f64, to: f64| {
        let within = of.t_s.iter().zip(&of.rate_bps).filter(|(t, _)| **t > from && **t <= to);
        let rates: Vec<f64> = within.map(|(_, rate)| *rate).collect();
        rates.iter().sum::<f64>() / rates.len() as f64
    };
    assert_eq!(between(leaves, 0.0, 10.0), 0.0);
    assert!(between(leaves, 10.0, 20.0) > 2e6);
    // What was in the queue as it left still arrives, for a round trip or two.
    assert_eq!(between(leaves, 20.5, 40.0), 0.0);
    assert!(between(stays, 30.0, 40.0) > 0.95 * 20e6 * 1448.0 / 1500.0);
    // Goodput is over the time it was there; leaving is not completing.
    let summary = &record.summary.flows[1];
    assert!((summary.goodput_bps - between(leaves, 10.0, 20.0)).abs() < 0.1 * summary.goodput_bps);
    assert_eq!(summary.completion_s, None);
}

#[test]
fn the_backlog_of_flows_is_that_of_the_queue() {
    for (limit, control) in [("2 bdp", "reno"), ("0.5 bdp", "cubic")] {
        let text = format!("{PATH}[[flow]]\ncount = 3\ncontrol = '{control}'\nrtt = '40ms'\n")
            .replace("2 bdp", limit);
        let record = record(&text.replace("'40s'", "'100s'\nwarmup = '20s'"));
        let flows: f64 = record.summary.flows.iter().map(|flow| flow.backlog_packets.unwrap()).sum();
        let queue = record.summary.queue_length_packets.unwrap().mean;
        assert!((flows - queue).abs() < 0.05 * queue, "{control}: {flows} of {queue}");
    }
}

#[test]
fn the_ratio_to_reno_is_that_of_goodputs() {
    let text = format!(
        "{PATH}[[flow]]\nname = 'a'\nrtt = '40ms'\n[[flow]]\nname = 'b'\nrtt = '80ms'\n[[flow]]\nname = 'c'\ncontrol = 'cubic'\nrtt = \
         '40ms'\n"
    );
    let flows = record(&text).summary.flows;
    let near = |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-12);
    near(flows[0].reno_ratio, flows[0].goodput_bps / flows[1].goodput_bps);
    near(flows[2].reno_ratio, 2.0 * flows[2].goodput_bps / (flows[0].goodput_bps + flows[1].goodput_bps));
    let alone = record(&format!("{PATH}[[flow]]\nrtt = '40ms'\n"));
    assert_eq!(alone.summary.flows[0].reno_ratio, None);
}

#[test]
fn looking_at_fairness_changes_nothing_else() {
    let flows = "[[flow]]\ncount = 2\nrtt = '40ms'\n[record]\nevery = '70ms'\n";
    let (plain, watched) =
        (record(&format!("{PATH}{flows}")), record(&format!("{PATH}{flows}fairness = '350ms'\n")));
    assert_eq!(plain.series.flows, watched.series.flows);
    assert_eq!(plain.series.link, watched.series.link);
    assert_eq!(plain.summary.flows[0].goodput_bps, watched.summary.flows[0].goodput_bps);
    assert!(plain.series.fairness.t_s.is_empty() && plain.summary.jain_index_mean.is_none());
}
