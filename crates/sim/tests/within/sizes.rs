//! The bytes that a flow takes, part by part: with a million flows each byte is a megabyte (docs/papers/speed.md).

use super::HOT;
use crate::flow::Flow;
use crate::flow::counts::RoundTrips;
use crate::plan::{ControlPlan, FlowPlan, SizerPlan};
use crate::tcp::{Receiver, Sender};
use transport::{CubicVariant, Host, LossDetection, Recovery, Transport, WindowVariant};
use units::Span;

/// Returns a flow of `control`, on hosts of the RFCs or with Linux's ways.
fn flow(control: &str, linux: bool) -> Flow {
    let plan = FlowPlan::greedy("one", control, Span::from_millis(100));
    let host = Host {
        cubic_variant: CubicVariant::Linux,
        window_variant: WindowVariant::Linux,
        tso: true,
        gro: Span::from_micros(50),
        ..Host::default()
    };
    let transport =
        Transport { recovery: Recovery::Prr, loss_detection: LossDetection::Rack, host, ..plan.transport };
    let on_linux = FlowPlan {
        control: ControlPlan { slow_start: "hystart".into(), ..plan.control.clone() },
        sizer: Some(SizerPlan { name: "drs".into(), can_pace: false, regret: None }),
        transport,
        ..plan.clone()
    };
    Flow::new(0, if linux { on_linux } else { plan }, 1)
}

#[test]
fn a_flow_takes_no_more_memory_than_is_said() {
    let parts = [
        ("flow", size_of::<Flow>(), 960),
        ("of it, touched by a packet of a flow with windows alone", HOT, 624),
        ("round-trip samples, in the flow", size_of::<RoundTrips>(), 80),
        ("receiver, in the flow", size_of::<Receiver>(), 144),
        ("sender, in the flow", size_of::<Sender>(), 488),
    ];
    for (part, bytes, most) in parts {
        println!("{bytes:6} B  {part}");
        assert!(bytes <= most, "{part}: {bytes} bytes, {most} at most");
    }
    for (control, linux, most) in [("reno", false, 88), ("cubic", false, 224), ("cubic", true, 992)] {
        let flow = flow(control, linux);
        let boxes = flow.sender.boxes() + flow.receiver.boxes();
        println!("{boxes:6} B  behind it, {control}, {}", if linux { "Linux" } else { "RFC" });
        assert!(boxes <= most, "{control}: {boxes} bytes, {most} at most");
    }
}
