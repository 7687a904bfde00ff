//! Flows over QUIC in a scenario: what is refused, what the engines say, and both transports in one run.
#![cfg(feature = "kernel")]

use scenario::Document;
use tightlink_lab::run::engine::{EngineError, UNWATCHED, check, run};
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::{Resolved, resolve_document};

const TOP: &str = "title = 't'\nduration = '4s'\nwarmup = '1s'\n[link]\nrate = '20Mbit/s'\ndelay = '10ms'\n\
                   queue.limit = '1 bdp'\n";

fn resolved(flows: &str) -> Resolved {
    let document = Document::parse("x.toml", &format!("{TOP}{flows}\n")).unwrap();
    resolve_document(&document).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{word:?} is not in:\n{said}");
    }
}

/// The refusal of a scenario by `live`: place, found, accepted, help.
#[track_caller]
fn misfit(flows: &str, words: &[&str]) {
    let complaint = check(Engine::Live, &resolved(flows)).expect_err("a misfit").complaint;
    let help = complaint.help.unwrap_or_default();
    says(&format!("{}: {}; {}; {help}", complaint.place, complaint.found, complaint.accepted), words);
}

#[test]
fn controls_that_need_routers_have_no_quic() {
    for control in ["xcp", "rcp"] {
        let text =
            format!("{}assist = '{control}'\n[[flow]]\ntransport = 'quic'\ncontrol = '{control}'\n", TOP);
        let document = Document::parse("x.toml", &text).unwrap();
        let said = resolve_document(&document).expect_err("refused").to_string();
        let found = format!("flow[0].control: control \"{control}\" over QUIC: it needs routers");
        says(
            &said,
            &[
                &found,
                "accepted: fixed, reno, ",
                "madison",
                "help: choose another control",
                "transport = \"tcp\"",
            ],
        );
    }
}

#[test]
fn the_error_for_a_control_that_the_kernel_lacks_offers_quic() {
    misfit(
        "[[flow]]\ncontrol = 'madison'",
        &[
            "flow[0].control: this kernel has no control \"madison\"",
            "reno, cubic, bbr",
            "transport = \"quic\"",
        ],
    );
    assert_eq!(check(Engine::Live, &resolved("[[flow]]\ncontrol = 'madison'\ntransport = 'quic'")), Ok(()));
}

#[test]
fn the_kernel_s_own_rules_bind_its_flows_only() {
    let keys = "slow_start = 'hystart++'\nbyte_counting = 8\ncontrol = 'westwood'";
    misfit(
        &format!("[[flow]]\n{}", keys.replace("westwood", "cubic")),
        &["flow[0].slow_start", "transport = \"quic\""],
    );
    let both = format!("[[flow]]\nsack = false\n[[flow]]\nname = 'two'\ntransport = 'quic'\n{keys}");
    assert_eq!(check(Engine::Live, &resolved(&both)), Ok(()));
}

#[test]
fn users_are_refused_beside_flows_over_quic() {
    misfit(
        "[[flow]]\ntransport = 'quic'\n[[traffic]]\nkind = 'engset'\nusers = 3\nsession = '9 packets'\nthink = '1s'",
        &["traffic[0].kind: users that come and go", "\"cbr\", \"poisson\"", "the simulator"],
    );
}

#[test]
fn a_flow_with_a_size_is_not_stopped() {
    for transport in ["tcp", "quic"] {
        misfit(
            &format!("[[flow]]\ntransport = '{transport}'\nsize = '1MB'\nstop = '2s'"),
            &["flow[0].stop: a stop of a flow with a size", "a stop without a size", "--engine sim"],
        );
    }
}

#[test]
fn flows_and_their_probers_share_the_ports() {
    let flows = |count: u32| {
        format!(
            "[[flow]]\ntransport = 'quic'\ncount = {count}\nsocket_buffer = {{ sizer = 'sobas', max = '1MB' }}"
        )
    };
    misfit(
        &flows(40_000),
        &["flow[0].count: 40000 flows in all", "up to 64512 flows and probers", "the simulator"],
    );
}

#[test]
fn a_note_says_that_segments_stand_for_packets() {
    for engine in [Engine::Model, Engine::Sim] {
        let notes = |flow: &str| {
            let record = run(engine, &resolved(flow), UNWATCHED).unwrap();
            record.notes.iter().filter(|note| note.text().contains("over QUIC")).count()
        };
        assert_eq!(notes("[[flow]]\ntransport = 'quic'\nsocket_buffer = '30kB'"), 1, "{engine}");
        assert_eq!(notes("[[flow]]\nsocket_buffer = '30kB'"), 0, "{engine}");
    }
}

/// Runs flows on real packets; `None` where the machine lacks what that needs.
fn live(flows: &str) -> Option<Record> {
    match run(Engine::Live, &resolved(flows), UNWATCHED) {
        Ok(record) => Some(record),
        Err(EngineError::Emulator(emu::EmuError::Missing(why))) => {
            testkit::could_not_judge(why.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn both_transports_share_a_link_and_keep_the_scenario_s_order() {
    let flows = "[[flow]]\nname = 'one'\ntransport = 'quic'\n[[flow]]\nname = 'two'\n\
                 [[flow]]\nname = 'three'\ntransport = 'quic'\ncontrol = 'madison'\nrtt = '40ms'\n";
    let Some(record) = live(flows) else { return };
    let summary = record.summary;
    let names: Vec<&str> = summary.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "three"]);
    for flow in &summary.flows {
        // Only Madison, of these controls, gives each packet a time of its own.
        assert_eq!(flow.departure_late_s.is_some(), flow.name == "three", "{flow:?}");
        assert!(flow.goodput_bps > 0.0 && flow.loss_rate.is_some(), "{flow:?}");
        let least = if flow.name == "three" { 0.04 } else { 0.02 };
        assert!(flow.rtt_s.expect("measured").min >= least, "{flow:?}");
    }
    assert!(summary.goodput_bps() < 20e6, "{}", summary.goodput_bps());
    assert!(summary.loss_episodes.expect("greedy flows") > 0);
    assert!(
        record.series.flows.iter().all(|flow| !flow.rate_bps.is_empty() && !flow.window_bytes.is_empty())
    );
}

/// A stopped flow's goodput is over its own life, whichever engine answers.
#[test]
fn a_flow_that_leaves_has_the_same_goodput_in_sim_and_live() {
    for transport in ["tcp", "quic"] {
        let flows = format!("[[flow]]\ntransport = '{transport}'\ncontrol = 'reno'\nstop = '3s'\n");
        let sim = run(Engine::Sim, &resolved(&flows), UNWATCHED).unwrap().summary;
        testkit::tries::in_one_of_five(|| {
            let Some(live) = live(&flows) else { return Ok(()) };
            let (own, others) = (&live.summary.flows[0], &sim.flows[0]);
            let delivered = own.delivered_bytes.zip(others.delivered_bytes).expect("counted");
            // 2 s of 20 Mbit/s are 5 MB. Nothing arrives faster, and nothing after the flow has left.
            assert!(delivered.0 < 5.2e6, "{transport}: {delivered:?}");
            assert_eq!((own.completion_s, others.completion_s), (None, None));
            let ratio = own.goodput_bps / others.goodput_bps;
            assert!(ratio < 1.05, "{transport}: {} of {}", own.goodput_bps, others.goodput_bps);
            testkit::tries::in_time(
                ratio > 0.9,
                format!("{transport}: {} of {}", own.goodput_bps, others.goodput_bps),
            )
        });
    }
}
