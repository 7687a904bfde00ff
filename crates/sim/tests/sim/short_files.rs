//! P4's slow start: single transfers of one size, by the model and by the simulator.

use crate::common::plan;
use cc::Start;
use cc::registry::Tuning;
use model::slow_start::{self, Connection, Growth, Path, Repair, Transfer};
use tightlink_sim::{ControlPlan, FlowPlan, FlowReport, NoRecorder, Plan, Simulation, Transport};
use transport::Recovery;
use units::{Bytes, Rate, Span};

/// A transfer alone on its path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    repair: Repair,
    delayed_ack: u64,
    byte_counting: u64,
    /// Packets, the one being sent included.
    buffer: u64,
    bps: u64,
    segment: u64,
    rtt: Span,
    segments: u64,
}

impl Cell {
    fn path(&self) -> Path {
        Path {
            capacity: Rate::from_bps(self.bps),
            segment: Bytes::new(self.segment),
            rtt: self.rtt,
            buffer: Bytes::new(self.segment * self.buffer),
        }
    }

    fn growth(&self) -> Growth {
        Growth { delayed_ack: self.delayed_ack, byte_counting: self.byte_counting }
    }

    fn predicted(&self) -> Transfer {
        let connection = Connection::new(self.segments, self.growth(), self.repair);
        slow_start::transfer(&self.path(), &connection).expect("in range")
    }

    fn plan(&self) -> Plan {
        let mut plan = plan(self.bps, self.buffer - 1);
        let payload = Bytes::new(self.segment - 40);
        let start = Start { segment: payload, window: payload, threshold: Bytes::MAX };
        let tuning = Tuning { byte_counting: self.byte_counting, ..Tuning::default() };
        let (sack, recovery) = match self.repair {
            Repair::Reno => (false, Recovery::Reno),
            Repair::NewReno => (false, Recovery::Rfc6675),
            Repair::Sack => (true, Recovery::Rfc6675),
            Repair::Sack1 => (true, Recovery::Sack1),
        };
        // A round trip has the service of a segment in it.
        let service = Rate::from_bps(self.bps).serialization(Bytes::new(self.segment));
        plan.flows = vec![FlowPlan {
            control: ControlPlan { start, tuning, ..ControlPlan::new("reno", payload) },
            payload,
            header: Bytes::new(40),
            size: Some(payload * self.segments),
            delayed_ack: self.delayed_ack,
            delayed_ack_timeout: Span::from_millis(100),
            transport: Transport {
                timestamps: false,
                initial_rto: Span::from_secs(3),
                sack,
                recovery,
                ..Transport::default()
            },
            ..FlowPlan::greedy("file", "reno", self.rtt.saturating_sub(service))
        }];
        plan
    }

    fn simulated(&self) -> FlowReport {
        Simulation::new(self.plan(), NoRecorder).run().flows.remove(0)
    }
}

/// Other paths than the reference's, to develop by.
fn others() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (bps, segment, rtt, buffers) in
        [(5_000_000, 1000, 80, [12, 60]), (800_000, 500, 500, [30, 110]), (10_000_000, 1500, 40, [8, 30])]
    {
        for (repair, buffer, delayed_ack) in [Repair::Reno, Repair::NewReno, Repair::Sack, Repair::Sack1]
            .into_iter()
            .flat_map(|repair| buffers.map(move |buffer| (repair, buffer)))
            .flat_map(|(repair, buffer)| [1, 2, 3].map(move |d| (repair, buffer, d)))
        {
            for segments in [5, 10, 20, 40, 80, 120, 160, 200, 300, 400, 600, 800, 1200, 2000, 4000] {
                let rtt = Span::from_millis(rtt);
                cells.push(Cell {
                    repair,
                    delayed_ack,
                    byte_counting: 0,
                    buffer,
                    bps,
                    segment,
                    rtt,
                    segments,
                });
            }
        }
    }
    cells
}

#[test]
#[ignore = "prints what it finds"]
fn development() {
    for cell in others() {
        let (model, sim) = (cell.predicted(), cell.simulated());
        let time = sim.completion.expect("it ends").as_secs_f64();
        let error = model.completion.as_secs_f64() / time - 1.0;
        let window = sim.first_loss_window.map(|window| window.get() as f64 / (cell.segment - 40) as f64);
        let threshold = sim.threshold.map(|window| window.get() as f64 / (cell.segment - 40) as f64);
        println!(
            "DEV {:?} d{} B{} pipe{:.0} N{} err {:+.3} t {:.3} {:.3} W {:?} {:?} th {:.1} {:?} lost {} {} to {} {}",
            cell.repair,
            cell.delayed_ack,
            cell.buffer,
            cell.path().pipe(),
            cell.segments,
            error,
            model.completion.as_secs_f64(),
            time,
            model.first_loss.map(|loss| loss.overflow_window),
            window,
            model.threshold,
            threshold,
            model.lost,
            sim.dropped,
            model.timeouts,
            sim.timeouts
        );
    }
}

/// The recursion over segments and the simulator have nothing in common but TCP.
#[test]
fn model_and_simulator_agree_to_the_millisecond_before_the_first_loss() {
    for cell in others().into_iter().filter(|cell| cell.repair == Repair::Sack && cell.segments <= 400) {
        let (model, sim) = (cell.predicted(), cell.simulated());
        if sim.dropped == 0 {
            let (found, expected) =
                (model.completion.as_secs_f64(), sim.completion.expect("it ends").as_secs_f64());
            assert!((found - expected).abs() < 1e-3, "{cell:?}: {found}, {expected}");
            assert_eq!(model.first_loss, None, "{cell:?}");
        } else {
            let window = sim.first_loss_window.expect("it lost").get() as f64 / (cell.segment - 40) as f64;
            let found = model.first_loss.expect("it loses").overflow_window;
            assert!((found - window).abs() <= 1.01, "{cell:?}: {found}, {window}");
        }
    }
}

#[test]
fn model_and_simulator_agree_on_files_with_losses_that_are_named() {
    for cell in others().into_iter().filter(|cell| cell.repair == Repair::Sack) {
        let (model, sim) = (cell.predicted(), cell.simulated());
        let ratio = model.completion.as_secs_f64() / sim.completion.expect("it ends").as_secs_f64();
        assert!((0.74..1.27).contains(&ratio), "{cell:?}: {ratio}");
    }
}
