//! The report page: strangers' text stays text, thinning keeps what it promises, and nothing is fetched.

use crate::sample::{HOSTILE, report};
use lab::run::record::{Engine, LinkSeries, MeasureSeries, SessionsSummary, StationSummary, WlanSummary};
use tightlink_report::chart::{MAX_FLOWS, MAX_POINTS};
use tightlink_report::charts::page_data;
use tightlink_report::text::{escape_html, json_for_script};
use tightlink_report::transfer::TransferPage;

/// The page without the library, whose own strings are not ours to judge.
fn own_parts(html: &str) -> String {
    let start = html.find("/**\n* plotly.js").expect("the library is in the page");
    let length = html[start..].find("</script>").expect("its script ends");
    format!("{}{}", &html[..start], &html[start + length..])
}

#[test]
fn strangers_text_cannot_leave_its_place() {
    assert_eq!(escape_html("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    let json = json_for_script(&vec![HOSTILE, "\u{2029}<!--"]);
    assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{json}");
    let back: Vec<String> = serde_json::from_str(&json).expect("still JSON");
    assert_eq!(back, [HOSTILE, "\u{2029}<!--"]);

    let page = own_parts(&report(2, 2).html());
    assert!(!page.contains("<img"), "markup from a scenario reached the page");
    assert_eq!(page.matches("<script").count(), 4, "data, looks, library, our script");
    assert_eq!(page.matches("</script>").count(), 4);
    assert!(
        page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\u{2028}{{title}}")
    );
}

#[test]
fn the_library_can_stand_in_a_script_element() {
    let library = include_str!("../../assets/plotly-basic-4.1.1.min.js");
    assert!(!library.contains("</script") && !library.contains("<!--"));
}

#[test]
fn what_an_engine_cannot_know_is_an_en_dash() {
    let page = report(1, 1).html();
    let row =
        page.split("data-engine=\"model\"").nth(1).and_then(|r| r.split("</tr>").next()).expect("a row");
    // Loss rate and retransmits. Columns that no engine knows are left out.
    assert_eq!(row.matches("<td data-value=\"\"><span>–</span></td>").count(), 2, "{row}");
    assert!(row.contains("<span>77.2</span>"));
}

#[test]
fn a_column_has_the_same_decimals_in_every_case() {
    let mut report = report(2, 1);
    let runs = report.cases[1].records.iter_mut().flat_map(|run| &mut run.summary.flows);
    runs.for_each(|flow| flow.goodput_bps = 7e6);
    assert!(report.html().contains("<span>7.0</span>"));
}

#[test]
fn every_column_is_drawn_within_its_points() {
    let data = page_data(&report(2, 1));
    for case in &data.cases {
        let kinds: Vec<&str> = case.charts.iter().map(|c| c.kind.as_str()).collect();
        assert_eq!(kinds, ["rate", "rtt", "window", "backlog", "drops"]);
        let traces: Vec<usize> = case.charts.iter().map(|c| c.traces.len()).collect();
        assert_eq!(traces, [3, 3, 3, 3, 2], "a model that counts no drops draws none");
        for trace in case.charts.iter().flat_map(|c| &c.traces) {
            assert!(trace.x.len() == trace.y.len() && (2..=MAX_POINTS).contains(&trace.x.len()));
        }
    }
}

#[test]
fn many_flows_are_drawn_one_by_one_up_to_a_number() {
    let data = page_data(&report(1, 30));
    let rate = &data.cases[0].charts[0];
    assert_eq!(rate.traces.len(), 3 * (MAX_FLOWS + 2), "each flow, the mean of the others, the sum of all");
    assert!(rate.traces.iter().any(|t| t.name == "mean of the other 18, sim"));
    let all = rate.traces.iter().find(|t| t.name == "all flows, model").expect("a sum");
    assert_eq!(all.y, [1500.0, 1500.0]);
}

#[test]
fn a_column_that_was_not_recorded_has_no_chart() {
    let mut bare = report(1, 1);
    for record in &mut bare.cases[0].records {
        record.series.flows[0].window_bytes.clear();
        record.series.link.backlog_bytes.clear();
    }
    let data = page_data(&bare);
    let kinds: Vec<&str> = data.cases[0].charts.iter().map(|c| c.kind.as_str()).collect();
    assert_eq!(kinds, ["rate", "rtt", "drops"]);
    bare.cases[0].records.clear();
    assert!(bare.html().contains("Nothing was recorded against time."));
}

#[test]
fn what_a_controller_measures_has_a_chart_in_its_own_unit() {
    let mut measuring = report(1, 2);
    for record in measuring.cases[0].records.iter_mut().filter(|r| r.summary.engine == Engine::Sim) {
        let flow = &mut record.series.flows[1];
        let values = vec![0.002; flow.t_s.len()];
        flow.measures = vec![MeasureSeries { name: "queueing_delay_s".into(), values }];
    }
    let data = page_data(&measuring);
    let chart = data.cases[0].charts.last().expect("charts");
    assert_eq!(
        (chart.kind.as_str(), chart.title.as_str(), chart.unit.as_str()),
        ("queueing_delay_s-sim", "Queueing delay", "ms")
    );
    // The flow that measures it, and the mean of all that do.
    assert_eq!(chart.traces.len(), 2, "{}", chart.kind);
    assert!(chart.traces.iter().all(|trace| trace.y.iter().all(|y| *y == 2.0)));
    assert!(measuring.html().contains("data-chart=\"queueing_delay_s-sim\""));
}

#[test]
fn the_page_fetches_nothing() {
    let mut plain = report(2, 1);
    plain.scenario_text = "seed = 1".into();
    let page = own_parts(&plain.html());
    for needle in ["http://", "https://", "src=\"", "url(", "@import", "href=\"/"] {
        assert!(!page.contains(needle), "our own assets contain {needle}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(report(2, 2).html(), report(2, 2).html());
}

/// The cells of the row for `flow` within `engine`'s part of the flows' table, as `data-value` has them.
fn flow_row(html: &str, engine: Engine, flow: &str) -> Vec<String> {
    let table = html.split("<table class=\"flows\">").nth(1).and_then(|rest| rest.split("</table>").next());
    let groups = table.expect("a table of flows").split("<tbody>");
    let group = groups.skip(1).find(|group| group.contains(&format!("class=\"engine {engine}\"")));
    let row = group
        .expect("the engine")
        .split("<tr>")
        .find(|row| row.starts_with(&format!("<th scope=\"row\">{flow}<")));
    let cells = row.unwrap_or_else(|| panic!("no row of {flow}")).split("data-value=\"").skip(1);
    cells.map(|cell| cell.split('"').next().expect("a value").to_owned()).collect()
}

#[test]
fn several_flows_have_a_table_with_their_losses_per_10_000_and_their_backlog() {
    let mut report = report(1, 3);
    let records = &mut report.cases[0].records;
    for record in records.iter_mut() {
        for (i, flow) in record.summary.flows.iter_mut().enumerate() {
            flow.name = format!("flow-{i}");
            if record.summary.engine == Engine::Sim {
                flow.loss_rate = Some(0.25 * i as f64);
                flow.backlog_packets = (i > 0).then_some(i as f64 * 1.5);
            }
        }
    }
    let html = report.html();
    let each = (77.2e6_f64 / 3.0 / 1e6).to_string();
    let known = [each.as_str(), "25.1"];
    assert_eq!(flow_row(&html, Engine::Sim, "flow-1"), [&known[..], &["2500", "12345", "1.5"]].concat());
    // What an engine does not know of a flow is an en dash.
    assert_eq!(flow_row(&html, Engine::Sim, "flow-0"), [&known[..], &["0", "12345", ""]].concat());
    assert_eq!(flow_row(&html, Engine::Live, "flow-2"), [&known[..], &["", "12345", ""]].concat());
    let titles = ["goodput", "mean RTT", "loss rate", "retransmits", "mean backlog"];
    let head = html.split("<table class=\"flows\">").nth(1).and_then(|rest| rest.split("</thead>").next());
    let head = head.expect("a head");
    assert!(
        titles.iter().all(|title| head.contains(&format!("<th scope=\"col\">{title} <small>"))),
        "{head}"
    );
}

#[test]
fn a_column_of_flows_that_nobody_knows_is_left_out_and_a_lone_flow_has_no_table() {
    let html = report(1, 2).html();
    let head = html.split("<table class=\"flows\">").nth(1).and_then(|rest| rest.split("</thead>").next());
    assert_eq!(
        head.expect("a head").matches("<th scope=\"col\">").count(),
        4,
        "flow, goodput, RTT, retransmits"
    );
    assert!(!report(2, 1).html().contains("<table class=\"flows\">"));
    assert_eq!(report(2, 2).html().matches("<table class=\"flows\">").count(), 2, "one in each case");
}

#[test]
fn of_many_flows_the_table_has_those_that_are_drawn_and_the_mean_of_the_others() {
    let mut report = report(1, 30);
    for (i, flow) in report.cases[0].records[1].summary.flows.iter_mut().enumerate() {
        flow.name = format!("flow-{i}");
        flow.backlog_packets = Some(i as f64);
    }
    let html = report.html();
    assert_eq!(flow_row(&html, Engine::Sim, "flow-11").last().map(String::as_str), Some("11"));
    // Of 12 to 29.
    let others = flow_row(&html, Engine::Sim, "mean of the other 18");
    assert_eq!(others.last().map(String::as_str), Some("20.5"));
    assert!(!html.contains("flow-12<"));
}

#[test]
fn a_wireless_cell_shows_its_stations_the_busy_air_and_the_limit_that_moves() {
    let mut report = report(1, 1);
    let case = &mut report.cases[0];
    case.records.retain(|record| record.summary.engine == Engine::Sim);
    let record = &mut case.records[0];
    let station = StationSummary {
        name: HOSTILE.into(),
        category: "be".into(),
        throughput_bps: 5e6,
        airtime_share: Some(0.25),
        retries: Some(4321),
        dropped_at_limit: None,
    };
    record.summary.wlan = Some(WlanSummary { stations: vec![station], ..WlanSummary::default() });
    let link = &mut record.series.link;
    link.limit_packets = vec![70; link.t_s.len()];
    link.busy_share = vec![0.6; link.t_s.len()];
    let charts = page_data(&report).cases.remove(0).charts;
    let chart =
        |kind: &str| charts.iter().find(|chart| chart.kind == kind).unwrap_or_else(|| panic!("{kind}"));
    assert!(chart("limit").traces[0].y.iter().all(|packets| *packets == 70.0));
    assert!(chart("air").traces[0].y.iter().all(|share| (share - 60.0).abs() < 1e-6));
    assert!(chart("rate").levels.iter().all(|level| !level.text.contains("capacity")));
    let page = own_parts(&report.html());
    assert!(page.contains("<h3>Stations</h3>") && page.contains("4321"), "{page}");
    assert!(!page.contains(HOSTILE));
}

#[test]
fn a_capacity_that_changes_is_an_area_behind_the_goodput_and_decides_the_scale() {
    let mut report = report(1, 1);
    let link = &mut report.cases[0].records.last_mut().expect("a record").series.link;
    link.capacity_bps = link.t_s.iter().map(|at| if *at < 5.0 { 900e6 } else { 10e6 }).collect();
    let charts = page_data(&report).cases.remove(0).charts;
    let rate = charts.iter().find(|chart| chart.kind == "rate").expect("goodput");
    let area = rate.area.as_ref().expect("an area");
    assert!(area.y.contains(&900.0) && area.y.contains(&10.0));
    assert!(rate.range[1] > 900.0, "{:?}", rate.range);
    assert!(rate.levels.iter().any(|level| level.text.starts_with("mean capacity")));
    assert!(charts.iter().all(|chart| chart.kind == "rate" || chart.area.is_none()));
}

#[test]
fn a_few_flows_have_a_panel_for_each_engine_and_a_colour_for_each_flow() {
    let few = report(1, 3);
    let data = page_data(&few);
    let kinds: Vec<&str> = data.cases[0].charts.iter().map(|chart| chart.kind.as_str()).collect();
    let panels =
        ["rate-sim", "rate-live", "rtt-sim", "rtt-live", "window-sim", "window-live", "backlog", "drops"];
    assert_eq!(kinds, panels);
    // Three flows and their sum, of the engine and of the model.
    assert_eq!(data.cases[0].charts[0].traces.len(), 8);
    let page = few.html();
    for flow in 1..=3 {
        assert!(page.contains(&format!("<i class=\"flow flow-{flow}\"")), "flow {flow}");
    }
    assert_eq!(page_data(&report(1, 7)).cases[0].colored_flows, 0);
}

#[test]
fn a_repairs_moment_leaves_the_chart_and_the_chart_says_so() {
    let mut spike = report(1, 1);
    let run = &mut spike.cases[0].records[1];
    // At 30 s, after the warm-up; and a start that is above the measured part.
    run.series.flows[0].rate_bps[1500] = 9e9;
    run.series.flows[0].window_bytes[10] = 5e6;
    let charts = page_data(&spike).cases.remove(0).charts;
    let (rate, window) = (&charts[0], &charts[2]);
    assert!(rate.range[1] < 150.0, "{:?}", rate.range);
    assert!(rate.above.is_some_and(|above| above > 1000.0) && rate.note.contains("a repaired loss releases"));
    assert!(window.range[1] < 1000.0 && window.note.contains("beyond the chart"), "{:?}", window.range);
}

#[test]
fn a_scenario_of_our_own_is_not_called_published() {
    let mut own = report(1, 1);
    own.source = Some("protocols:matrix".into());
    assert!(!own.html().contains("Published result"));
    own.source = Some("sobas:fig1-4".into());
    assert!(own.html().contains("Published result"));
}

#[test]
fn sized_flows_have_a_curve_of_completion_times_and_users_a_table() {
    let mut report = report(1, 8);
    let run = &mut report.cases[0].records[1].summary;
    for (i, flow) in run.flows.iter_mut().enumerate() {
        flow.completion_s = (i < 6).then_some(6.0 - i as f64);
    }
    run.sessions = vec![SessionsSummary {
        name: HOSTILE.into(),
        users: 77,
        completed: 5,
        mean_active: 1.5,
        goodput_bps: 1e6,
        completion_s: None,
        retransmits: 0,
        loss_rate: None,
    }];
    let charts = page_data(&report).cases.remove(0).charts;
    let chart = charts.iter().find(|chart| chart.kind == "completion").expect("a chart");
    let trace = &chart.traces[0];
    assert_eq!((trace.engine, chart.traces.len()), (Engine::Sim, 1));
    assert_eq!((trace.x.last(), trace.y.last()), (Some(&6.0), Some(&100.0)));
    assert!(trace.x.is_sorted() && trace.y.is_sorted());
    let page = own_parts(&report.html());
    assert!(page.contains("<h3>Users</h3>") && page.contains("<span>77</span>"));
    assert!(!page.contains(HOSTILE));
}

#[test]
fn a_lone_sample_is_no_chart() {
    let mut short = report(1, 1);
    short.cases[0].records.truncate(1);
    let run = &mut short.cases[0].records[0].series;
    run.flows[0].t_s = vec![0.5].into();
    run.flows[0].rate_bps.truncate(1);
    run.flows[0].rtt_s.truncate(1);
    run.flows[0].window_bytes.truncate(1);
    run.link = LinkSeries::default();
    assert!(page_data(&short).cases[0].charts.is_empty());
}

#[test]
fn a_transfers_page_has_no_engine_and_no_words_that_it_does_not_use() {
    let samples = 4_000;
    let t_s: Vec<f64> = (0..samples).map(|i| f64::from(i) * 0.01).collect();
    let mut transfer = TransferPage {
        title: HOSTILE.to_owned(),
        sentences: vec![format!("A sentence with {HOSTILE}.")],
        numbers: HOSTILE.to_owned(),
        elapsed_s: 40.0,
        min_rtt_s: Some(0.02),
        window_bytes: Some(400e3),
        rate_bps: vec![20e6; t_s.len()],
        rtt_s: t_s.iter().map(|t| 0.02 + 0.01 * (t / 10.0).fract()).collect(),
        send_window_bytes: vec![100e3; t_s.len()],
        t_s,
        command: "tightlink send".to_owned(),
    };
    let page = transfer.html();
    assert!(!page.contains(HOSTILE) && page.contains("tightlink send"));
    for part in
        ["this transfer", "least RTT 20", "receive window 400 kB", "data-chart=\"rate\"", "mean over 0.0"]
    {
        assert!(page.contains(part), "{part}");
    }
    for absent in
        ["class=\"legend", "<dt>model, sim, live</dt>", "distance from the model", "<p class=\"runs\">"]
    {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(report(1, 1).html().contains("<dt>model, sim, live</dt>"));
    transfer.t_s.truncate(1);
    assert!(transfer.html().contains("Nothing was recorded against time."));
}
