//! The flow that `host = "linux"` of a scenario means (crates/scenario/src/tables), as a plan.

use cc::registry::Tuning;
use tightlink_sim::{ControlPlan, FlowPlan, Host, LossDetection, Recovery, SizerPlan, Transport};
use transport::{BbrVariant, CubicVariant, SendBuffer, WindowVariant};
use units::{Bytes, Rate, Span};

/// The same flow on two hosts with Linux.
pub fn on_linux(flow: FlowPlan) -> FlowPlan {
    let host = Host {
        bbr_variant: BbrVariant::Linux,
        cubic_variant: CubicVariant::Linux,
        window_variant: WindowVariant::Linux,
        undo_timeouts: true,
        tso: true,
        gro: Span::from_micros(50),
        quick_ack: 16,
        quick_growth: true,
        sack_compression: Span::from_millis(1),
        pause: Span::from_millis(1),
        pause_interval: Span::from_millis(200),
        wake_up: Span::from_micros(350),
        send_buffer: SendBuffer::Autotuned,
    };
    let tuning = Tuning {
        byte_counting: 1000,
        offload: true,
        linux_bbr: true,
        linux_cubic: true,
        linux_window: true,
        ..Tuning::default()
    };
    let slow_start = if flow.control.name == "cubic" { "hystart" } else { "standard" };
    FlowPlan {
        control: ControlPlan { slow_start: slow_start.into(), tuning, ..flow.control },
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(40),
        socket_buffer: Bytes::new((32 << 20) * 170 / 256),
        sizer: Some(SizerPlan { name: "drs".into(), can_pace: true, regret: None }),
        send_jitter: Span::from_micros(50),
        access_rate: Some(Rate::from_bps(10_000_000_000)),
        transport: Transport {
            recovery: Recovery::Prr,
            loss_detection: LossDetection::Rack,
            host,
            ..flow.transport
        },
        ..flow
    }
}
