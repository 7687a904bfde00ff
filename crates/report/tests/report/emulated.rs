//! The page of a program behind an emulated link.

use lab::run::emulated::{CrossTraffic, DirectionReport, Emulated, LatenessReport, QueueSeries};
use lab::run::record::{HostSummary, Hosts};
use tightlink_report::emulated::html;

fn way(t_s: Vec<f64>) -> DirectionReport {
    let of = |value: f64| vec![value; t_s.len()];
    DirectionReport {
        rate_bps: 4.6e6,
        utilization: 0.92,
        packets: 2119,
        packets_dropped: 43,
        loss_rate: 0.0203,
        marks: 0,
        mean_backlog_bytes: 14_000.0,
        queueing_delay_s: None,
        l4s_delay_s: None,
        shaper: None,
        classic_delay_s: None,
        cross: Vec::new(),
        seconds: Vec::new(),
        queue: QueueSeries {
            capacity_bps: 5e6,
            full_s: 1.0,
            delay_s: of(0.1),
            rate_bps: of(4.6e6),
            drops: of(1.0),
            offered_bps: Vec::new(),
            t_s,
        },
    }
}

fn emulated(t_s: Vec<f64>, from_far: Option<DirectionReport>) -> Emulated {
    Emulated {
        code: 7,
        measured_s: 12.5,
        began_unix_s: 0.0,
        control: "cubic".into(),
        control_asked: true,
        to_far: way(t_s),
        from_far,
        packets_back: 99,
        lateness: LatenessReport::default(),
        hosts: Hosts {
            near: HostSummary::default(),
            far: HostSummary { udp_rcvbuf_errors: 1108, waited_share: Some(0.5), ..HostSummary::default() },
        },
        notes: vec!["<b>busy</b>".into()],
    }
}

#[test]
fn each_direction_has_a_curve_a_row_and_its_closing_line() {
    let times: Vec<f64> = (1..=500).map(|i| f64::from(i) * 0.02).collect();
    let page = html(&emulated(times.clone(), Some(way(times))), "curl <big>", "[link]", "tightlink emulate");
    assert!(page.contains("<h1>curl &lt;big&gt;, behind an emulated link</h1>"));
    assert!(
        page.contains(
            "<p>To the far end: 4.60 Mbit/s (92.0 % busy), 43 of 2119 packets dropped (2.03 %).</p>"
        )
    );
    assert!(page.contains("The command ran for 12.5 s and ended with exit code 7."));
    for chart in ["delay", "rate", "drops"] {
        assert!(page.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
    }
    assert!(page.contains("<p>Congestion control of programs that choose none: cubic (by --control).</p>"));
    assert_eq!(page.matches("<th scope=\"row\">").count(), 4, "two directions and two hosts");
    assert!(page.contains("<td data-value=\"1108\"><span>1108</span>"), "what a host lost");
    assert!(page.contains("<i class=\"flow flow-2\"") && page.contains("&lt;b&gt;busy"));
    // Both directions have the same capacity: one line.
    assert_eq!(page.matches("capacity 5 Mbit/s").count(), 1);
}

#[test]
fn a_command_that_ends_at_once_and_a_free_way_back_are_said() {
    let page = html(&emulated(Vec::new(), None), "true", "[link]", "tightlink emulate");
    assert!(page.contains("The command ended before the first sample."));
    assert!(page.contains("From the far end: 99 packets, without a limit."));
    assert!(!page.contains("data-chart=\"delay\""));
}

#[test]
fn marks_and_cross_traffic_have_cells_of_their_own() {
    let cross = CrossTraffic {
        name: "<calls>".into(),
        rate_bps: 1e6,
        packets: 4321,
        packets_dropped: 12,
        loss_rate: 0.0028,
        marks: 5,
    };
    let to_far = DirectionReport { marks: 227, cross: vec![cross], ..way(vec![0.02]) };
    let page =
        html(&Emulated { to_far, ..emulated(vec![0.02], None) }, "true", "[link]", "tightlink emulate");
    assert!(page.contains("43 of 2119 packets dropped (2.03 %), 227 marked (10.7 %).</p>"));
    assert!(page.contains("<p>Cross traffic &lt;calls&gt;: 1.00 Mbit/s, 12 of 4321 packets dropped (0.28 %), 5 marked (0.1 %).</p>"));
    assert!(page.contains("<th scope=\"row\">to the far end, cross traffic: &lt;calls&gt;</th>"));
    assert!(page.contains("<td data-value=\"4321\">") && page.contains("<td data-value=\"227\">"));
}
