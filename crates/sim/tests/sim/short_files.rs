//! P4's slow start: single transfers of one size, by the model, by the simulator and by ns-2 (tests/reference/README.md).

use crate::common::plan;
use cc::Start;
use cc::registry::Tuning;
use model::slow_start::{self, Connection, Growth, Path, Repair, Transfer};
use tightlink_sim::{ControlPlan, FlowPlan, FlowReport, NoRecorder, Plan, Simulation, Transport};
use transport::Recovery;
use units::{Bytes, Rate, Span};

const REFERENCE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns2/p4_slowstart_ns2.csv");

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

/// What ns-2 found in a cell.
#[derive(Clone, Copy, Debug)]
struct Row {
    cell: Cell,
    /// Less one round trip: its first acknowledgement does not open the window.
    time: f64,
    drops: u64,
    window: Option<f64>,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(REFERENCE).expect("the reference");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        let repair = match cells[2] {
            "Reno" => Repair::Reno,
            "Sack1" => Repair::Sack1,
            other => panic!("{other}"),
        };
        let rtt = number(7);
        let cell = Cell {
            repair,
            delayed_ack: number(3) as u64,
            byte_counting: 0,
            buffer: number(4) as u64,
            bps: 1_500_000,
            segment: number(6) as u64,
            rtt: Span::from_secs_f64(rtt),
            segments: number(9) as u64,
        };
        Row {
            cell,
            time: number(10) - rtt,
            drops: number(13) as u64,
            window: Some(number(15)).filter(|window| *window > 0.0),
        }
    };
    text.lines().skip(1).map(row).collect()
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

/// What the model leaves out is what a repair itself loses, mostly by a burst. Then simulations have a timeout more: of Reno and NewReno the
/// repair after the timeout, with selective acknowledgements the end of a recovery, and a window that overflows as it ends. Of 548 files,
/// by repair: those that need another number of timeouts at most, and those whose time then differs by more than 15 %.
#[test]
fn model_and_simulator_agree_on_files_with_losses_that_need_as_many_timeouts() {
    // Until NewReno's timer was RFC 6582's, its files needed as many timeouts, and none was off.
    let bounds =
        [(Repair::Reno, 20, 0), (Repair::NewReno, 19, 1), (Repair::Sack, 1, 3), (Repair::Sack1, 2, 3)];
    let mut lossy = 0;
    for (repair, most_others, most_off) in bounds {
        let (mut others_needed, mut off) = (0, Vec::new());
        for cell in others().into_iter().filter(|cell| cell.repair == repair) {
            let (model, sim) = (cell.predicted(), cell.simulated());
            if sim.dropped == 0 {
                continue;
            }
            lossy += 1;
            if sim.timeouts != model.timeouts {
                others_needed += 1;
                continue;
            }
            let ratio = model.completion.as_secs_f64() / sim.completion.expect("it ends").as_secs_f64();
            if (ratio - 1.0).abs() > 0.15 {
                off.push(format!("{cell:?}: {ratio:.3}"));
            }
        }
        assert!(others_needed <= most_others, "{repair:?}: {others_needed}");
        assert!(off.len() <= most_off, "{repair:?}: {off:#?}");
    }
    assert_eq!(lossy, 548);
}

/// Each row beside the model's and the simulator's time, as a share of ns-2's.
fn compared() -> Vec<(Row, f64, f64)> {
    let compare = |row: Row| -> (Row, f64, f64) {
        let model = row.cell.predicted().completion.as_secs_f64();
        let sim = row.cell.simulated().completion.expect("it ends").as_secs_f64();
        (row, model / row.time - 1.0, sim / row.time - 1.0)
    };
    rows().into_iter().map(compare).collect()
}

/// The sizes of `cells` that are further from ns-2 than `most`, by what `of` has.
fn missed(cells: &[(Row, f64, f64)], most: f64, of: fn(&(Row, f64, f64)) -> f64) -> Vec<u64> {
    cells.iter().filter(|cell| of(cell).abs() > most).map(|(row, ..)| row.cell.segments).collect()
}

/// ns-2's first packet opens no window, and after it the packets that one acknowledgement covers are other pairs. So the last
/// segment of 5 waits for the timer there, and that of 15 here: 100 ms of 0.8 and of 1.1 s.
#[test]
fn before_the_first_loss_model_and_simulation_take_as_long_as_ns2() {
    let (mut compared, mut rows) = (0, 0);
    for (row, model, sim) in self::compared().into_iter().filter(|(row, ..)| row.drops == 0) {
        let tolerance = match (row.cell.delayed_ack, row.cell.segments) {
            (1, _) => 0.005,
            (_, 5 | 15) => 0.18,
            _ => 0.10,
        };
        rows += 1;
        assert!(model.abs() <= tolerance && sim.abs() <= tolerance, "{row:?}: {model}, {sim}");
        // A segment less is what ns-2 sends after its first packet.
        let shorter = Cell { segments: row.cell.segments - 1, ..row.cell };
        let (model, sim) = (shorter.predicted().completion, shorter.simulated().completion.expect("it ends"));
        for time in [model, sim] {
            let ratio = time.as_secs_f64() / row.time;
            assert!((ratio - 1.0).abs() < 0.01, "{row:?}: {ratio}");
            compared += 1;
        }
    }
    assert_eq!((rows, compared), (190, 380));
}

#[test]
fn the_first_loss_comes_at_the_window_of_ns2() {
    for row in rows().into_iter().filter(|row| row.drops > 0) {
        let window = row.window.expect("it lost");
        let model = row.cell.predicted().first_loss.map(|loss| loss.overflow_window);
        let sim = row.cell.simulated().first_loss_window;
        let sim = sim.map(|window| window.get() as f64 / (row.cell.segment - 40) as f64);
        assert_eq!((model, sim), (Some(window), Some(window)), "{row:?}");
    }
}

/// Within 25 %, but for the sizes that are listed. ns-2 is chance where B = 20 and d = 2: of Reno's files from 600 segments on most
/// have a second timeout, and those of 800 and 1500 do not. Its Sack1's timer is 0.23 s there, as its first packet is acknowledged at once, and
/// expires before the first repair, which takes 0.25 s; ours is 0.4 s (docs/papers/slowstart.md).
#[test]
fn after_the_first_loss_model_and_simulation_take_as_long_as_ns2_but_for_what_is_listed() {
    let compared = compared();
    let of = |repair, delayed_ack, buffer| -> Vec<(Row, f64, f64)> {
        let fits = |(row, ..): &&(Row, f64, f64)| {
            row.drops > 0
                && (row.cell.repair, row.cell.delayed_ack, row.cell.buffer) == (repair, delayed_ack, buffer)
        };
        compared.iter().filter(fits).copied().collect()
    };
    let model = |(_, model, _): &(Row, f64, f64)| *model;
    let sim = |(_, _, sim): &(Row, f64, f64)| *sim;
    for (repair, d, buffer) in [
        (Repair::Reno, 1, 20),
        (Repair::Reno, 1, 70),
        (Repair::Reno, 2, 70),
        (Repair::Sack1, 1, 70),
        (Repair::Sack1, 2, 70),
    ] {
        let cells = of(repair, d, buffer);
        assert!(cells.len() >= 11);
        assert_eq!(missed(&cells, 0.25, model), Vec::<u64>::new(), "{repair:?} d = {d}, B = {buffer}");
        assert_eq!(missed(&cells, 0.25, sim), Vec::<u64>::new(), "{repair:?} d = {d}, B = {buffer}");
    }
    let reno = of(Repair::Reno, 2, 20);
    assert_eq!(missed(&reno, 0.25, model), [700, 1000, 1250, 2000, 3000, 5000]);
    assert_eq!(missed(&reno, 0.25, sim), [500, 800, 1500]);
    let sack1 = of(Repair::Sack1, 1, 20);
    assert_eq!(missed(&sack1, 0.25, model), [130, 1000, 1250, 1500]);
    assert_eq!(missed(&sack1, 0.25, sim), [130]);
    let sack1 = of(Repair::Sack1, 2, 20);
    let from_450 = [450, 500, 600, 700, 800, 1000, 1250, 1500, 2000, 3000, 5000];
    assert_eq!(missed(&sack1, 0.25, model), from_450);
    assert_eq!(missed(&sack1, 0.25, sim), from_450);
    let worst = sack1.iter().map(|cell| model(cell).abs().max(sim(cell).abs())).fold(0.0, f64::max);
    assert!(worst < 0.62, "{worst}");
}
