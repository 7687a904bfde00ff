//! All cases at a glance: a row for each, a marker for each engine, and the bound of theory as a tall mark.

use super::axes::{Axis, Plot, font_size};
use super::font::Font;
use super::legend::{Entry, Sample, Sign};
use super::look::Look;
use super::scale::{Scale, Tick};
use super::scene::{Path, Scene, Stroke, polyline};
use crate::chart::CaseData;
use crate::page::Overview;
use crate::text::titled;
use lab::run::record::{Engine, Summary};

/// The place of each engine's marker within its row, in rows.
const ROWS: [(Engine, f64); 3] = [(Engine::Model, 0.2), (Engine::Sim, 0.0), (Engine::Live, -0.2)];
/// The size of a marker, CSS pixels, and the length of a bound's mark, in rows.
const MARKER: f64 = 8.0;
const BOUND: f64 = 0.72;
/// The share of the height that lines of names get, and the most lines of a name.
const ROOM: f64 = 0.5;
const MOST_LINES: usize = 4;
/// The largest share of the width that the names of cases take.
const NAMES: f64 = 0.42;

/// Draws the overview.
pub(super) fn draw(of: &Overview, cases: &[CaseData], size: [f64; 2], look: &Look, font: &Font) -> Scene {
    let height = font_size(size[0]);
    let pixel = height / 12.0;
    let goodput = of.kind == "overview-goodput";
    let (bound_name, bound): (&str, fn(&CaseData) -> f64) = if goodput {
        ("available bandwidth", |case| case.available_mbps)
    } else {
        ("base RTT", |case| case.base_rtt_ms)
    };
    let value = |summary: &Summary| if goodput { goodput_mbps(summary) } else { mean_rtt_ms(summary) };
    let row = |index: usize| (cases.len() - 1 - index) as f64;
    let found = |engine: Engine, shift: f64| {
        let of_case = |(index, case): (usize, &CaseData)| {
            let summaries = case.summaries.iter().filter(|summary| summary.engine == engine);
            summaries.filter_map(value).map(|x| (x, row(index) + shift)).collect::<Vec<_>>()
        };
        cases.iter().enumerate().flat_map(of_case).collect::<Vec<(f64, f64)>>()
    };
    let points = ROWS.map(|(engine, shift)| (engine, found(engine, shift)));
    let all =
        points.iter().flat_map(|(_, points)| points.iter().map(|(x, _)| *x)).chain(cases.iter().map(bound));
    let most = all.filter(|x| x.is_finite()).fold(0.0, f64::max);
    let stroke = Stroke::solid(look.color("level"), 2.0 * pixel);
    let sign = |engine: Engine| Sign {
        symbol: look.engine(engine).symbol.clone(),
        color: look.of(engine),
        size: MARKER * pixel,
        edge: 1.5 * pixel,
    };
    let mut legend: Vec<Entry> = points
        .iter()
        .filter(|(_, points)| !points.is_empty())
        .map(|(engine, _)| {
            let sample = Sample::Line { stroke: None, opacity: 1.0, sign: Some(sign(*engine)) };
            Entry { name: engine.to_string(), sample: Some(sample) }
        })
        .collect();
    legend.push(Entry { name: bound_name.into(), sample: Some(Sample::Tall(stroke.clone())) });
    let name_lines = ((ROOM * size[1] / cases.len() as f64 / height) as usize).clamp(1, MOST_LINES);
    let names = cases.iter().enumerate().map(|(index, case)| {
        // A line breaks between the parts of a label, and not within one.
        let parts: Vec<String> = case.own.iter().map(|part| part.replace(' ', "\u{a0}")).collect();
        let name = format!("{}\u{a0}\u{a0}{}", index + 1, parts.join(", "));
        let mut lines = font.wrapped(name.trim_end(), height, NAMES * size[0]);
        lines.truncate(name_lines);
        Tick { value: row(index), label: lines.join("\n") }
    });
    let x = Axis::new(titled(of.title, of.unit), Scale::linear([0.0, 1.06 * most]));
    let rows = Scale::linear([-0.5, cases.len() as f64 - 0.5]);
    let y = Axis { wished: names.collect(), named: true, ..Axis::new(String::new(), rows) };
    let plot = Plot { title: of.title, size, x, y, legend, named: Vec::new(), shaded: Vec::new() };
    let mut canvas = plot.begin(look, font);
    for (index, case) in cases.iter().enumerate() {
        let ends = [-BOUND / 2.0, BOUND / 2.0].map(|shift| canvas.at(bound(case), row(index) + shift));
        canvas
            .scene
            .group("bound", "", |scene| scene.path(Path::line(polyline(ends), stroke.clone()).inside()));
    }
    for (engine, points) in points {
        let places: Vec<(f64, f64)> = points.into_iter().map(|(x, y)| canvas.at(x, y)).collect();
        let shown: Vec<(f64, f64)> = places.into_iter().filter(|place| canvas.shows(*place)).collect();
        canvas.scene.group("curve", &engine.to_string(), |scene| {
            shown.into_iter().for_each(|place| sign(engine).draw(scene, place, 1.0));
        });
    }
    canvas.scene
}

fn goodput_mbps(summary: &Summary) -> Option<f64> {
    (!summary.flows.is_empty()).then(|| summary.goodput_bps() / 1e6)
}

fn mean_rtt_ms(summary: &Summary) -> Option<f64> {
    let means: Vec<f64> = summary.flows.iter().filter_map(|flow| Some(flow.rtt_s?.mean)).collect();
    (!means.is_empty()).then(|| 1e3 * means.iter().sum::<f64>() / means.len() as f64)
}
