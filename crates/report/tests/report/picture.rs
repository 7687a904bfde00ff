//! Pictures for a paper: each kind of chart is read back, and its points equal the data.

mod svg;

use crate::sample::{HOSTILE, report};
use lab::study::curves::{Axis, Curve, CurveChart, CurvePoint, Curves, HeatMap, HeatRow};
use lab::study::size::{Question, from_theory};
use roxmltree::Document;
use std::collections::BTreeSet;
use svg::{Seen, numbers};
use tightlink_report::charts::page_data;
use tightlink_report::figure::FigurePage;
use tightlink_report::picture::{Picture, PictureSize};
use units::Rate;

const SIZES: [&str; 4] = ["60x45mm", "85x60mm", "60x85mm", "180x90mm"];

fn size(text: &str) -> PictureSize {
    text.parse().expect("a size")
}

fn swept(curves: Vec<Curve>, along: bool) -> CurveChart {
    let axis = |label: &str, unit: &str| Axis { label: label.into(), unit: unit.into() };
    let mut curves = curves;
    if !along {
        let points = curves.iter_mut().flat_map(|curve| &mut curve.points);
        points.for_each(|point| point.at = None);
    }
    let along = along.then(|| "limit of the queue".to_owned());
    CurveChart {
        x: axis("buffer", "packets"),
        along,
        y: axis("share of something with a long name", "%"),
        curves,
    }
}

fn curve(name: &str, points: &[(f64, f64, Option<f64>)]) -> Curve {
    let point = |(x, y, half_width): &(f64, f64, Option<f64>)| {
        let at = Some(format!("{x} packets"));
        CurvePoint { x: *x, at, y: *y, half_width: *half_width, extent: None }
    };
    Curve { name: name.into(), points: points.iter().map(point).collect() }
}

/// Makes a chart whose horizontal axis has names: those of queues, then longer ones.
fn against_names(names: usize, curves: usize) -> CurveChart {
    let queues = ["drop-tail", "codel", "pie", "dualpi2", "fq-codel", "fq-pie", "cake"];
    let points: Vec<(f64, f64, Option<f64>)> =
        (1..=names).map(|place| (place as f64, 10.0 + 7.0 * place as f64, Some(2.0))).collect();
    let curve = |number: usize| {
        let mut curve = curve(&format!("curve {number}"), &points);
        for (index, point) in curve.points.iter_mut().enumerate() {
            let long = || format!("a longer name, {HOSTILE} {index}");
            point.at = Some(queues.get(index).map_or_else(long, |name| (*name).to_owned()));
        }
        curve
    };
    let x = Axis { label: "queue".into(), unit: String::new() };
    CurveChart { along: None, x, ..swept((0..curves).map(curve).collect(), true) }
}

fn map(columns: usize, rows: usize, middle: bool) -> HeatMap {
    let value =
        |row: usize, column: usize| (row != 1 || column != 1).then_some((7 * row + 3 * column) as f64);
    let row = |row: usize| HeatRow {
        name: format!("row {row}"),
        values: (0..columns).map(|column| value(row, column)).collect(),
    };
    HeatMap {
        x: "control of the second".into(),
        rows: "control of the first".into(),
        z: Axis { label: "share of the goodput".into(), unit: "%".into() },
        name: "limit = 1 bdp".into(),
        columns: (0..columns).map(|column| format!("column {column}")).collect(),
        cells: (0..rows).map(row).collect(),
        middle,
    }
}

fn figure(charts: Vec<CurveChart>, maps: Vec<HeatMap>) -> Vec<Picture> {
    FigurePage {
        title: HOSTILE.into(),
        source: None,
        curves: Curves { published: None, charts, maps },
        headline: String::new(),
        verdicts: Vec::new(),
        scenario_text: String::new(),
        scenario_name: String::new(),
        command: String::new(),
    }
    .pictures()
}

/// Pictures of every kind.
fn every_kind() -> Vec<Picture> {
    let points: Vec<(f64, f64, Option<f64>)> =
        (1..=12).map(|i| (f64::from(i * i), 90.0 - 5.0 * f64::from(i), Some(1.5))).collect();
    let many = (0..9).map(|i| curve(&format!("{HOSTILE} {i}"), &points)).collect();
    let mut pictures = figure(
        vec![
            swept(vec![curve("", &points)], false),
            swept(many, true),
            swept(vec![curve("", &points[..1])], false),
            against_names(3, 2),
            against_names(7, 1),
            against_names(40, 5),
        ],
        vec![map(3, 2, true), map(40, 30, false), map(1, 1, false)],
    );
    for (cases, flows) in [(1, 1), (2, 3), (3, 14)] {
        pictures.extend(report(cases, flows).pictures());
    }
    pictures
        .extend(tightlink_report::size::pictures(&from_theory(&Question::of(Rate::from_bps(100_000_000)))));
    pictures
}

#[test]
fn every_picture_is_well_formed_and_no_text_leaves_it_or_touches_another() {
    for picture in every_kind() {
        for text in SIZES {
            let drawn = picture.draw(size(text));
            let svg = drawn.svg();
            let document =
                Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}", picture.name()));
            let seen = Seen::new(&document);
            let texts = seen.texts();
            assert!(!texts.is_empty(), "{}", picture.name());
            for (words, [left, top, right, bottom]) in &texts {
                let inside = *left >= 0.0 && *top >= 0.0 && *right <= seen.width && *bottom <= seen.height;
                assert!(inside, "{} at {text}: {words:?} {left} {top} {right} {bottom}", picture.name());
            }
            for (index, (words, one)) in texts.iter().enumerate() {
                for (others, other) in &texts[..index] {
                    let apart =
                        one[0] >= other[2] || other[0] >= one[2] || one[1] >= other[3] || other[1] >= one[3];
                    assert!(apart, "{} at {text}: {words:?} touches {others:?}", picture.name());
                }
            }
            assert_eq!(svg, picture.draw(size(text)).svg());
            assert_eq!(drawn.pdf(), picture.draw(size(text)).pdf());
        }
    }
}

#[test]
fn a_curve_against_time_has_the_places_of_its_data() {
    let report = report(1, 1);
    let data = page_data(&report);
    let (case, pictures) = (&data.cases[0], report.pictures());
    for chart in case.charts.iter().filter(|chart| chart.kind != "drops") {
        let picture = pictures.iter().find(|picture| picture.name() == chart.kind).expect("a picture");
        let svg = picture.draw(size("85x60mm")).svg();
        let document = Document::parse(&svg).unwrap();
        let seen = Seen::new(&document);
        let [across, up] = seen.ticks();
        for trace in &chart.traces {
            let line = seen.line("curve", &trace.name);
            assert_eq!(line.len(), trace.x.len(), "{}", trace.name);
            for ((x, y), place) in trace.x.iter().zip(&trace.y).zip(line) {
                let found = (Seen::at(&across, place.0, false), Seen::at(&up, place.1, false));
                let (wide, high) = (case.end_s, chart.range[1] - chart.range[0]);
                assert!((found.0 - x).abs() < 1e-3 * wide, "{} {found:?} {x} {y}", chart.kind);
                assert!((found.1 - y).abs() < 1e-3 * high, "{} {found:?} {x} {y}", chart.kind);
            }
        }
        for level in chart.levels.iter().filter(|level| !level.model && !level.off_scale) {
            let line = seen.line("level", &level.text);
            let found = Seen::at(&up, line[0].1, false);
            assert!((found - level.value).abs() < 1e-3 * level.value, "{} {found}", level.text);
        }
    }
}

#[test]
fn a_bar_is_as_high_as_its_drops() {
    let report = report(1, 1);
    let data = page_data(&report);
    let chart = data.cases[0].charts.iter().find(|chart| chart.kind == "drops").expect("drops");
    let pictures = report.pictures();
    let picture = pictures.iter().find(|picture| picture.name() == "drops").expect("a picture");
    let svg = picture.draw(size("85x60mm")).svg();
    let document = Document::parse(&svg).unwrap();
    let seen = Seen::new(&document);
    let [across, up] = seen.ticks();
    let traces: Vec<_> = chart.traces.iter().filter(|trace| trace.bar_s > 0.0).collect();
    assert_eq!(traces.len(), 2);
    for (number, trace) in traces.into_iter().enumerate() {
        let corners = seen.line("bars", &trace.name);
        assert_eq!(corners.len(), 4 * trace.x.len());
        for (bar, (x, y)) in corners.chunks(4).zip(trace.x.iter().zip(&trace.y)) {
            let (top, bottom) = (Seen::at(&up, bar[0].1, false), Seen::at(&up, bar[2].1, false));
            assert!((top - y).abs() < 0.05 && bottom.abs() < 0.05, "{top} {bottom} {y}");
            // The bars of two engines stand on both sides of their time.
            let middle = Seen::at(&across, f64::midpoint(bar[0].0, bar[1].0), false);
            assert_eq!(middle < *x, number == 0, "{middle} {x}");
            assert!((middle - x).abs() < trace.bar_s / 2.0, "{middle} {x}");
        }
    }
}

#[test]
fn a_curve_over_a_swept_key_has_the_places_of_its_data_on_linear_and_logarithmic_axes() {
    let near = [(10.0, 20.0, Some(2.0)), (20.0, 30.0, None), (30.0, 10.0, Some(1.0))];
    let far = [(1.0, 20.0, Some(2.0)), (30.0, 30.0, None), (3000.0, 10.0, Some(1.0))];
    for (points, log) in [(near, false), (far, true)] {
        let pictures =
            figure(vec![swept(vec![curve("one", &points), curve("two", &points)], false)], Vec::new());
        assert_eq!(pictures[0].name(), "share-of-something-with-a-long-name");
        let svg = pictures[0].draw(PictureSize::default()).svg();
        let document = Document::parse(&svg).unwrap();
        let seen = Seen::new(&document);
        let [across, up] = seen.ticks();
        let line = seen.line("curve", "two");
        for ((x, y, _), place) in points.iter().zip(line) {
            let found = (Seen::at(&across, place.0, log), Seen::at(&up, place.1, false));
            assert!((found.0 / x - 1.0).abs() < 5e-3 && (found.1 - y).abs() < 0.05, "{found:?} {x} {y}");
        }
        // The second path of the group has the error bars: a line and two ends for each.
        let group = seen.groups("curve")[1];
        let bars = group.children().filter(|child| child.has_tag_name("path")).nth(1).expect("bars");
        let ends = numbers(bars.attribute("d").expect("data"));
        assert_eq!(ends.len(), 2 * 3 * 4);
        let [low, high] = [ends[1], ends[3]].map(|place| Seen::at(&up, place, false));
        assert!((low - 18.0).abs() < 0.05 && (high - 22.0).abs() < 0.05, "{low} {high}");
    }
}

#[test]
fn names_on_the_horizontal_axis_are_all_there_and_go_upwards_where_they_have_no_room() {
    for (width, upwards) in [("180x90mm", false), ("60x45mm", true)] {
        let pictures = figure(vec![against_names(7, 1)], Vec::new());
        let svg = pictures[0].draw(size(width)).svg();
        let document = Document::parse(&svg).unwrap();
        let seen = Seen::new(&document);
        let [across, up] = seen.ticks();
        let names: Vec<&str> = across.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["drop-tail", "codel", "pie", "dualpi2", "fq-codel", "fq-pie", "cake"]);
        let texts = seen.texts();
        let (_, [left, top, right, bottom]) = texts.iter().find(|(words, _)| words == "drop-tail").unwrap();
        assert_eq!(bottom - top > right - left, upwards, "{width}");
        // Each point stands over its name.
        for (index, (x, y)) in seen.line("curve", "curve 0").into_iter().enumerate() {
            assert!((x - across[index].0).abs() < 0.02, "{x} {:?}", across[index]);
            assert!((Seen::at(&up, y, false) - (17.0 + 7.0 * index as f64)).abs() < 0.1);
        }
    }
}

#[test]
fn values_at_and_below_the_foot_of_a_logarithmic_axis_stand_there() {
    let sizing = from_theory(&Question::of(Rate::from_bps(1_000_000_000)));
    let pictures = tightlink_report::size::pictures(&sizing);
    let names: Vec<&str> = pictures.iter().map(Picture::name).collect();
    assert_eq!(names, ["idle-time", "queueing-delay", "loss"]);
    let svg = pictures[0].draw(PictureSize::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let seen = Seen::new(&document);
    let [across, up] = seen.ticks();
    let line = seen.line("curve", "");
    for (point, place) in sizing.curve.iter().zip(line) {
        let idle = (100.0 * (1.0 - point.utilization)).max(0.001);
        let found = (Seen::at(&across, place.0, true), Seen::at(&up, place.1, true));
        assert!((found.0 / point.packets as f64 - 1.0).abs() < 0.02, "{found:?} {}", point.packets);
        assert!((found.1 / idle - 1.0).abs() < 0.05, "{found:?} {idle}");
    }
    let mark = seen.groups("mark").len();
    assert!((1..=2).contains(&mark), "{mark}");
}

#[test]
fn a_map_has_a_cell_for_each_pair_with_its_number() {
    let map = map(3, 2, true);
    let pictures = figure(Vec::new(), vec![map.clone()]);
    assert_eq!(pictures[0].name(), "share-of-the-goodput-limit-1-bdp");
    let svg = pictures[0].draw(PictureSize::default()).svg();
    let document = Document::parse(&svg).unwrap();
    let seen = Seen::new(&document);
    let cells = seen.groups("cell");
    assert_eq!(cells.len(), 2 * 4, "three columns and the mean");
    let texts: BTreeSet<String> = seen.texts().into_iter().map(|(words, _)| words).collect();
    for words in [
        "Share of the goodput, %; limit = 1 bdp",
        "row 1",
        "column 2",
        "mean",
        "13.0",
        "Control of the first",
    ] {
        assert!(texts.contains(words), "{words} in {texts:?}");
    }
    let title = |index: usize| {
        let title = cells[index].children().find(|child| child.has_tag_name("title"));
        title.and_then(|title| title.text().map(str::to_owned)).expect("a title")
    };
    assert_eq!(title(2), "row 0, column 2: 6.0");
    assert_eq!(title(5), "row 1, column 1: –");
    let fill = |index: usize| {
        let path = cells[index].children().find(|child| child.has_tag_name("path"));
        path.map(|path| path.attribute("fill").expect("a fill").to_owned())
    };
    assert_eq!(fill(5), None);
    assert_eq!(fill(3), None, "a mean");
    // A share of 0 % is the strongest blue.
    assert_eq!(fill(0).as_deref(), Some("#61a8cf"));
}

#[test]
fn names_are_unique_and_fit_for_files() {
    for picture in [report(3, 14).pictures(), every_kind()].iter().flatten() {
        let name = picture.name();
        assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-'), "{name}");
    }
    let pictures = report(2, 1).pictures();
    let names: BTreeSet<&str> = pictures.iter().map(Picture::name).collect();
    assert_eq!(names.len(), pictures.len());
    for name in ["overview-goodput", "overview-rtt", "case-1-rate", "case-2-rtt", "case-2-drops"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}

#[test]
fn letters_that_the_font_lacks_are_named() {
    let named = |name: &str| {
        let pictures =
            figure(vec![swept(vec![curve(name, &[(1.0, 2.0, None)]), curve("b", &[])], false)], Vec::new());
        pictures[0].draw(PictureSize::default()).missing()
    };
    assert_eq!(named("漢字 b"), BTreeSet::from(['漢', '字']));
    assert!(named("żółw, βeta − 10⁻³ ± Δ").is_empty());
}

#[test]
fn a_pdf_embeds_a_part_of_the_font_and_has_the_size_in_points() {
    let pdf = report(1, 1).pictures()[0].draw(size("85x60mm")).pdf();
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1.7") && text.contains("/FontFile2") && text.contains("+Arimo"));
    assert!(text.contains("/MediaBox [0 0 240.94"), "{}", text.split("MediaBox").nth(1).unwrap_or_default());
    assert!(!text.contains("/CreationDate"));
}

#[test]
fn values_of_any_size_give_a_picture() {
    let far = f64::MAX / 4.0;
    for points in [
        vec![],
        vec![(0.0, 0.0)],
        vec![(f64::NAN, f64::INFINITY), (1.0, f64::NAN)],
        vec![(far, -far), (-far, far)],
        vec![(1e-300, 5.0), (1e300, 5.0)],
        vec![(1.0, 1e-320), (2.0, 2e-320)],
        vec![(5.0, 5.0), (5.0 + 1e-15, 5.0)],
        vec![(-3.0, -7.0), (-1.0, -2.0)],
    ] {
        let points: Vec<(f64, f64, Option<f64>)> =
            points.into_iter().map(|(x, y)| (x, y, Some(f64::INFINITY))).collect();
        for picture in figure(vec![swept(vec![curve(HOSTILE, &points)], false)], Vec::new()) {
            let svg = picture.draw(PictureSize::default()).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{points:?}");
            Document::parse(&svg).unwrap_or_else(|error| panic!("{points:?}: {error}"));
        }
    }
}
