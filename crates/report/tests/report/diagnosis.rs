//! The page of a diagnosis.

use estimate::diagnosis::{
    Cause, Confidence, Diagnosis, Direction, Evidence, Interval, KernelClocks, Shares, Vantage, diagnose,
};
use lab::study::diagnosis::{Outcome, Proposal, Remedy};
use tightlink_report::diagnosis::{DiagnosedConnection, DiagnosisPage};
use units::{Bytes, Rate, Span, Time};

fn evidence(count: u64) -> Evidence {
    let direction = Direction {
        source: "192.0.2.1:443".parse().unwrap(),
        destination: "198.51.100.7:43210".parse().unwrap(),
    };
    let length = Span::from_millis(20);
    let interval = |at: u64| Interval {
        from: Time::from_nanos(at * length.as_nanos()),
        length,
        delivered: Bytes::new(104_000),
        flight: Some(Bytes::new(416_000)),
        receive_window: Some(Bytes::new(416_000)),
        round_trip: at.is_multiple_of(2).then(|| Span::from_millis(81)),
        retransmitted: u64::from(at == 7),
        kernel: Some(KernelClocks { busy: length, window_limited: length, buffer_limited: Span::ZERO }),
        ..Interval::default()
    };
    Evidence {
        base_round_trip: Some(Span::from_millis(80)),
        capacity: Some(Rate::from_bps(100_000_000)),
        control: Some("<cubic>".into()),
        intervals: (0..count).map(interval).collect(),
        ..Evidence::new(direction, Vantage::SenderSocket)
    }
}

fn proposal() -> Proposal {
    let outcome = |goodput_bps| Outcome { goodput_bps, utilization: 0.99, queueing_delay_s: 0.0064 };
    Proposal {
        sentences: vec!["100 Mbit/s over 80 ms needs 1.01 MB <b>.".into()],
        remedies: vec![Remedy { place: "here".into(), command: "tightlink tune --pid 4711".into() }],
        measured_bps: 41.6e6,
        needed_bytes: Some(1_005_792),
        now: Some(outcome(41e6)),
        after: Some(outcome(96.5e6)),
        assumptions: vec!["hosts are Linux's".into()],
        ..Proposal::default()
    }
}

fn page(of: &[(&Evidence, &Diagnosis, &Proposal)]) -> String {
    let shown = |&(evidence, diagnosis, proposal): &(_, _, _)| DiagnosedConnection {
        evidence,
        diagnosis,
        proposal,
        program: Some((4711, "<script>")),
        name: None,
        facts: &[],
    };
    let page = DiagnosisPage {
        title: "What limits this connection",
        connections: of.iter().map(shown).collect(),
        remarks: vec!["2 connections moved nothing".into()],
        numbers: "all <numbers>".into(),
        command: "tightlink diagnose".into(),
    };
    page.html()
}

#[test]
fn a_connection_has_its_bar_its_remedies_its_numbers_and_its_charts() {
    let evidence = evidence(500);
    let diagnosis = diagnose(&evidence);
    let page = page(&[(&evidence, &diagnosis, &proposal())]);
    assert!(page.contains("192.0.2.1:443 → 198.51.100.7:43210, sent by &lt;script&gt; (process 4711)"));
    // The verdict is that of the diagnosis, whichever it is.
    let (cause, share) = diagnosis.shares.first().expect("a share of time");
    let percent = share * 100.0;
    assert!(page.contains(&format!(
        "for {percent:.0}\u{a0}% of the time. Confidence: {}.",
        diagnosis.confidence.name()
    )));
    assert!(
        page.contains("<p class=\"verdict\">First limit: ") && page.contains("aria-label=\"Shares of time: ")
    );
    let place = 1 + Cause::ALL.iter().position(|of| *of == cause).unwrap();
    let whole = diagnosis.shares.percents()[0].1;
    assert!(page.contains(&format!("<i class=\"share-{place}\" style=\"flex-grow:{whole}\">")));
    assert!(
        page.contains("<code>tightlink tune --pid 4711</code>") && page.contains("1.01\u{a0}MB &lt;b&gt;.")
    );
    for state in ["measured", "simulated as it is", "simulated after the change"] {
        assert!(page.contains(&format!("<th scope=\"row\">{state}</th>")), "{state}");
    }
    let charts = ["sequence-start", "window", "rtt", "rate", "drops", "sequence"];
    let places = charts.map(|chart| page.find(&format!("data-chart=\"{chart}\"")).expect(chart));
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("needed 1006 kB") || page.contains("needed 1\u{202f}006 kB"));
    assert!(page.contains("&lt;cubic&gt;") && page.contains("all &lt;numbers&gt;"));
    assert!(page.contains("2 connections moved nothing"));
}

/// Returns the chart called `kind` of the page's first case.
fn chart(page: &str, kind: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"report-data\">").unwrap();
    let data: serde_json::Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let charts = data["cases"][0]["charts"].as_array().unwrap().clone();
    charts.into_iter().find(|chart| chart["kind"] == kind).expect("a chart of this kind")
}

#[test]
fn the_sequence_has_the_data_in_flight_and_the_window_on_top_of_what_arrived() {
    let mut evidence = evidence(500);
    evidence.intervals.iter_mut().for_each(|interval| interval.flight = Some(Bytes::new(300_000)));
    let page = page(&[(&evidence, &diagnose(&evidence), &proposal())]);
    let whole = chart(&page, "sequence");
    let at = |name: &str| {
        let traces = whole["traces"].as_array().unwrap();
        let found = traces.iter().find(|trace| trace["name"] == name).expect("a curve of this name");
        let values = found["y"].as_array().unwrap();
        values[values.len() - 1].as_f64().unwrap()
    };
    // Each of 500 intervals delivers 104 kB.
    assert!((at("acknowledged") - 52.0).abs() < 0.01, "{}", at("acknowledged"));
    assert!((at("sent, in flight") - 52.3).abs() < 0.02 && (at("receive window") - 52.416).abs() < 0.02);
    let beginning = chart(&page, "sequence-start")["end_s"].as_f64().unwrap();
    assert!((beginning - 0.8).abs() < 0.03, "ten windows take 0.8 s, not {beginning}");
}

#[test]
fn a_page_with_a_long_observation_is_thinned() {
    let evidence = evidence(60_000);
    let page = page(&[(&evidence, &diagnose(&evidence), &proposal())]);
    for kind in ["window", "rtt", "sequence"] {
        for trace in chart(&page, kind)["traces"].as_array().unwrap() {
            assert!(trace["x"].as_array().unwrap().len() <= 1500, "{kind}");
        }
    }
}

#[test]
fn several_connections_fold_and_unknown_things_are_said() {
    let evidence = evidence(500);
    let blind = Evidence {
        base_round_trip: None,
        capacity: None,
        inferred_scale: true,
        intervals: Vec::new(),
        ..evidence.clone()
    };
    let silent = Diagnosis {
        shares: Shares::default(),
        cause: None,
        path: None,
        confidence: Confidence::Low,
        reason: String::new(),
        in_use: None,
    };
    let nothing = Proposal::default();
    let page = page(&[(&evidence, &diagnose(&evidence), &proposal()), (&blind, &silent, &nothing)]);
    assert_eq!(page.matches("<details class=\"case\"").count(), 2);
    assert!(page.contains("id=\"case-1\" open>") && page.contains("id=\"case-2\"><summary>"));
    let second = page.split_once("id=\"case-2\"").unwrap().1;
    for part in [
        "The evidence does not show what limits it.",
        "unknown: the path was never full",
        "inferred: the handshake was not seen",
        "Nothing was recorded against time.",
    ] {
        assert!(second.contains(part), "{part}");
    }
    assert_eq!(silent.shares.of(Cause::Network), 0.0);
}
