//! Sums over flows are over one time, and what is asked over several flows has an answer.

use scenario::Document;
use tightlink_lab::run::engine;
use tightlink_lab::run::metric::{described, is_missing, value};
use tightlink_lab::run::record::{Engine, Summary};
use tightlink_lab::study::task::tasks;

fn summary(engine: Engine, scenario: &str) -> Summary {
    let document = Document::parse("t.toml", scenario).unwrap();
    let task = tasks(&document).unwrap().remove(0);
    engine::run(engine, &task.resolved, engine::UNWATCHED).unwrap().summary
}

#[test]
fn goodput_of_files_one_after_the_other_is_over_the_measured_time() {
    let summary = summary(
        Engine::Sim,
        "title = 't'\nduration = '30s'\n[link]\nrate = '30Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n\
         [[flow]]\nname = 'file'\ncount = 10\ncontrol = 'reno'\nsize = '2MB'\n\
         start = ['0s', '3s', '6s', '9s', '12s', '15s', '18s', '21s', '24s', '27s']\n",
    );
    let goodput = value(&summary, "goodput_bps").unwrap();
    assert!((goodput / (10.0 * 16e6 / 30.0) - 1.0).abs() < 1e-9, "{goodput}");
    for flow in &summary.flows {
        let moved = flow.goodput_bps * flow.completion_s.unwrap() / 8.0;
        assert!((moved / 2e6 - 1.0).abs() < 1e-6 && flow.goodput_bps > 20e6, "{flow:?}");
        assert!((flow.goodput_share.unwrap() - 0.1).abs() < 1e-9);
        // 10 ms, and 40 bytes.
        assert!((flow.handshake_s.unwrap() - 0.010_010_667).abs() < 1e-8, "{:?}", flow.handshake_s);
    }
}

#[test]
fn goodput_times_completion_is_the_size_of_a_lone_file_in_theory_and_simulation() {
    let scenario = "title = 't'\n[link]\nrate = '20Mbit/s'\ndelay = '50ms'\nqueue.limit = '1 bdp'\n\
                    [[flow]]\ncontrol = 'reno'\nsize = '200kB'\n";
    for engine in [Engine::Model, Engine::Sim] {
        let summary = summary(engine, scenario);
        let completion = value(&summary, "completion_s.max").unwrap();
        for goodput in [value(&summary, "goodput_bps").unwrap(), summary.flows[0].goodput_bps] {
            assert!(
                (goodput * completion / 1.6e6 - 1.0).abs() < 1e-6,
                "{engine}: {goodput} in {completion} s"
            );
        }
        assert!((0.40..0.46).contains(&completion), "{engine}: {completion}");
    }
}

const CALLS: &str = "title = 't'\nduration = '40s'\nwarmup = '10s'\n[link]\nrate = '20Mbit/s'\ndelay = '10ms'\n\
                     queue = { kind = 'fq-codel', limit = '1000 packets' }\n\
                     [[flow]]\ncount = 3\ncontrol = 'cubic'\n\
                     [[traffic]]\nname = 'calls'\nkind = 'cbr'\nrate = '80kbit/s'\npacket = '200B'\n";

#[test]
fn a_call_behind_fq_codel_has_a_delay_of_its_own() {
    let summary = summary(Engine::Sim, CALLS);
    let of = |key: &str| value(&summary, key).unwrap_or_else(|| panic!("{key}"));
    // The queue's p95 is the downloads'. A call waits for the packet that is being sent: 0.6 ms.
    assert!(of("queueing_delay_s.p95") > 0.005);
    assert!(
        of("traffic.calls.queueing_delay_s.p95") < 0.0013,
        "{}",
        of("traffic.calls.queueing_delay_s.p95")
    );
    // 10 ms of propagation, and 200 bytes.
    let extra = of("traffic.calls.delay_s.mean") - of("traffic.calls.queueing_delay_s.mean");
    assert!((extra - 0.010_080).abs() < 1e-6, "{extra}");
    assert!(of("traffic.calls.delay_s.p95") < of("traffic.calls.delay_s.p99") + 1e-9);
    assert!((0.0..0.0013).contains(&of("traffic.calls.jitter_s")));
    assert_eq!(of("traffic.calls.loss_rate"), 0.0);
    assert_eq!(of("traffic.calls.packets"), 1500.0);
    assert!((of("traffic.calls.throughput_bps") / 80_000.0 - 1.0).abs() < 0.01);
    assert!(
        of("flows.flow-1.jitter_s") > 0.0 && of("flows.flow-1.rtt_p99_s") >= of("flows.flow-1.rtt_s.p95")
    );
}

#[test]
fn a_call_over_two_links_has_the_delay_of_both() {
    let summary = summary(
        Engine::Sim,
        "title = 't'\nduration = '5s'\n[[link]]\nname = 'a'\nrate = '20Mbit/s'\ndelay = '10ms'\nqueue.limit = '9 packets'\n\
         [[link]]\nname = 'b'\nrate = '10Mbit/s'\ndelay = '20ms'\nqueue.limit = '9 packets'\n\
         [[flow]]\nrtt = '60ms'\nsize = '10kB'\nstart = '4s'\n\
         [[traffic]]\nname = 'calls'\nkind = 'cbr'\nrate = '80kbit/s'\npacket = '200B'\nstop = '3s'\n",
    );
    let of = |key: &str| value(&summary, key).unwrap_or_else(|| panic!("{key}"));
    assert!(
        (of("traffic.calls.delay_s.mean") - 0.030_240).abs() < 1e-6,
        "{}",
        of("traffic.calls.delay_s.mean")
    );
    assert_eq!((of("traffic.calls.queueing_delay_s.max"), of("traffic.calls.jitter_s")), (0.0, 0.0));
}

fn servers(duration: &str) -> Summary {
    let scenario = format!(
        "title = 't'\n{duration}[link]\nrate = '100Mbit/s'\ndelay = '50us'\nqueue.limit = '500 packets'\n\
         [[flow]]\nname = 's'\ncount = 5\nsize = '64kB'\n[[flow]]\nname = 's-late'\nsize = '64kB'\nstart = '1s'\n"
    );
    summary(Engine::Sim, &scenario)
}

#[test]
fn the_slowest_of_a_group_and_of_all_flows_can_be_asked_for() {
    let summary = servers("");
    let of = |key: &str| value(&summary, key).unwrap_or_else(|| panic!("{key}"));
    let own: Vec<f64> = (1..=5).map(|index| of(&format!("flows.s-{index}.completion_s"))).collect();
    let slowest = own.iter().copied().fold(0.0, f64::max);
    assert_eq!(of("flows.s.completion_s.max"), slowest);
    assert_eq!(of("flows.s.completion_s.p95"), slowest, "the fifth of five");
    assert!((of("flows.s.completion_s.mean") - own.iter().sum::<f64>() / 5.0).abs() < 1e-12);
    // The group's name is no other flow's.
    assert!(of("completion_s.max") >= slowest && of("flows.s-late.completion_s") < slowest);
    assert!(described("flows.s.completion_s.p95").is_some() && !is_missing(&summary, "completion_s.max"));
    assert_eq!(value(&summary, "flows.t.completion_s.max"), None);
}

#[test]
fn a_flow_that_has_not_completed_leaves_no_slowest() {
    let summary = servers("duration = '500ms'\n");
    assert_eq!(value(&summary, "completion_s.max"), None);
    assert!(is_missing(&summary, "completion_s.max") && is_missing(&summary, "flows.s-late.completion_s"));
    assert!(value(&summary, "flows.s.completion_s.max").is_some());
    assert!(
        !is_missing(&summary, "flows.s.completion_s.max") && !is_missing(&summary, "flows.t.completion_s")
    );
    assert!(!is_missing(&summary, "utilization"));
}
