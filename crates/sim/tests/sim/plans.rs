//! A plan is data: it can be copied, compared and written down.

use crate::common::{link, plan};
use link::traffic::{Pattern, TrafficConfig};
use tightlink_sim::{
    FlowPlan, NoRecorder, Plan, SessionSize, SessionsPlan, Simulation, SizerPlan, Topology, TrafficPlan,
};
use units::random::Distribution;
use units::{Bytes, Rate, Span, Time};

/// A plan with something of each kind.
fn varied() -> Plan {
    let ms = Span::from_millis;
    let sizer = Some(SizerPlan { name: "sobas".into(), can_pace: true, regret: None });
    let config = TrafficConfig {
        pattern: Pattern::Poisson,
        rate: Rate::from_bps(2_000_000),
        packet: Bytes::new(500),
        start: Time::ZERO,
        stop: Time::NEVER,
    };
    Plan {
        flows: vec![
            FlowPlan {
                stop: Some(Time::ZERO + Span::from_secs(6)),
                ..FlowPlan::greedy("leaves", "cubic", ms(30))
            },
            FlowPlan {
                sizer,
                socket_buffer: Bytes::new(4_000_000),
                ..FlowPlan::greedy("sized", "reno", ms(40))
            },
        ],
        traffic: vec![TrafficPlan {
            name: "cross".into(),
            config,
            route: vec![0],
            marking: tightlink_sim::Marking::default(),
        }],
        sessions: vec![SessionsPlan {
            name: "users".into(),
            connections: vec![FlowPlan::greedy("user", "reno", ms(50)); 3],
            size: SessionSize::Packets(Distribution::Exponential(20.0)),
            think: Distribution::Exponential(0.5),
            handshake: true,
        }],
        end: Some(Time::ZERO + Span::from_secs(10)),
        warmup: Time::ZERO + Span::from_secs(1),
        ..plan(20_000_000, 40)
    }
}

#[test]
fn a_copied_plan_runs_twice_to_the_same_outcome() {
    let networked = |plan: Plan| Plan { topology: plan.topology.into_network(), ..plan };
    for plan in [varied(), networked(varied())] {
        let copy = plan.clone();
        assert_eq!(plan, copy);
        let [one, other] = [plan, copy].map(|plan| format!("{:?}", Simulation::new(plan, NoRecorder).run()));
        assert!(one == other, "the outcomes differ");
    }
}

#[test]
fn a_plan_can_be_written_down() {
    let plan = varied();
    let text = serde_json::to_string(&plan).expect("a plan is data");
    for part in
        ["\"name\":\"cubic\"", "\"slow_start\":\"standard\"", "\"base_rtt\":\"30ms\"", "OneLink", "drop-tail"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let mut other = plan.clone();
    other.flows[0].transport.sack = false;
    assert_ne!(text, serde_json::to_string(&other).expect("a plan is data"));
}

#[test]
fn a_network_of_one_link_is_simplified_unless_acknowledgements_wait() {
    let plan = Plan { topology: varied().topology.into_network(), ..varied() };
    assert_eq!(plan.simplified(), varied());
    let links = vec![link("there", 10, 5, 40), link("back", 10, 5, 40)];
    let mut waits = Plan { topology: Topology::Network { links, tight: 0 }, ..varied() };
    waits.flows[0].return_route = vec![1];
    assert_eq!(waits.clone().simplified(), waits);
}
