//! A chart against time: curves or bars of engines and flows, level lines, the warm-up.

use super::axes::{Axis, Canvas, Plot};
use super::font::Font;
use super::legend::{Entry, Sample, Sign};
use super::look::{Look, WHITE};
use super::scale::Scale;
use super::scene::{Area, Path, Scene, Step, Stroke, polygon, polyline, rectangle};
use crate::chart::{CaseData, Chart, Level, Trace};
use crate::flows::Role;
use crate::text::titled;
use lab::run::record::Engine;

/// The share of a bar's time that stays empty.
const BAR_GAP: f64 = 0.15;
/// The most markers of a curve, and of one of several flows.
const MARKERS: [usize; 2] = [24, 8];
/// The most ticks at the upper edge, where curves leave the chart.
const MOST_BEYOND: usize = 60;
/// The opacity of a curve among many, or of a mean behind them.
const PALE: f64 = 0.45;
/// The dashes of level lines, one after the other, CSS pixels.
const LEVEL_DASHES: [&[f64]; 3] = [&[], &[5.0, 3.0], &[1.5, 2.5]];

/// The look of one curve.
struct Line {
    stroke: Stroke,
    opacity: f64,
    sign: Option<Sign>,
    most_markers: usize,
}

/// Draws the chart.
pub(super) fn draw(
    case: &CaseData,
    chart: &Chart,
    title: &str,
    size: [f64; 2],
    look: &Look,
    font: &Font,
) -> Scene {
    let end = chart.end_s.unwrap_or(case.end_s);
    let warmup = (case.warmup_s > 0.0 && chart.end_s.is_none()).then_some([0.0, case.warmup_s]);
    let pixel = super::axes::font_size(size[0]) / 12.0;
    let flow = |trace: &Trace| match trace.role {
        Some(Role::Flow(index)) => index,
        _ => 0,
    };
    let flows = 1 + chart.traces.iter().map(flow).max().unwrap_or(0);
    let colored = case.colored_flows > 0;
    let lines: Vec<Option<Line>> = chart
        .traces
        .iter()
        .map(|trace| (trace.bar_s <= 0.0).then(|| line(look, chart, trace, flows, colored, pixel)))
        .collect();
    let mut legend: Vec<Entry> = chart
        .traces
        .iter()
        .zip(&lines)
        .map(|(trace, line)| {
            let sample = match line {
                Some(Line { stroke, opacity, sign, .. }) => {
                    Sample::Line { stroke: Some(stroke.clone()), opacity: *opacity, sign: sign.clone() }
                }
                None => bar(look, trace),
            };
            Entry { name: trace.name.clone(), sample: Some(sample) }
        })
        .collect();
    if let Some(area) = &chart.area {
        let sample = Sample::Patch { fill: look.color("shade"), edge: Some(look.color("level")) };
        legend.push(Entry { name: area.name.clone(), sample: Some(sample) });
    }
    let mut drawn = 0;
    let levels = chart.levels.iter().filter(|level| !level.model).map(|level| {
        let stroke = (!level.off_scale).then(|| {
            drawn += 1;
            level_stroke(look, drawn - 1, pixel)
        });
        (level, stroke)
    });
    let levels: Vec<(&Level, Option<Stroke>)> = levels.collect();
    for (level, stroke) in &levels {
        legend.push(match stroke {
            Some(stroke) => {
                let sample = Sample::Line { stroke: Some(stroke.clone()), opacity: 1.0, sign: None };
                Entry { name: level.text.clone(), sample: Some(sample) }
            }
            None => Entry { name: format!("↑ {}", level.text), sample: None },
        });
    }
    if warmup.is_some() {
        let sample = Sample::Patch { fill: look.color("shade"), edge: None };
        legend.push(Entry { name: "warm-up".into(), sample: Some(sample) });
    }
    let x = Axis::new(titled("Time", "s"), Scale::linear([0.0, end]));
    let y = Axis::new(titled(&chart.title, &chart.unit), Scale::linear(chart.range));
    let shaded = warmup.into_iter().collect();
    let mut canvas = Plot { title, size, x, y, legend, named: Vec::new(), shaded }.begin(look, font);
    if let Some(area) = &chart.area {
        draw_area(&mut canvas, &area.x, &area.y);
    }
    for (level, stroke) in levels {
        let Some(stroke) = stroke else { continue };
        let line = polyline([canvas.at(0.0, level.value), canvas.at(end, level.value)]);
        canvas.scene.group("level", &level.text, |scene| scene.path(Path::line(line, stroke).inside()));
    }
    let bars = chart.traces.iter().filter(|trace| trace.bar_s > 0.0).count();
    let mut place = 0;
    for (trace, line) in chart.traces.iter().zip(&lines) {
        match line {
            Some(line) => curve(&mut canvas, trace, line),
            None => {
                draw_bars(&mut canvas, trace, place, bars);
                place += 1;
            }
        }
    }
    if chart.above.is_some() {
        beyond(&mut canvas, chart);
    }
    canvas.scene
}

/// Returns the look of a curve.
fn line(look: &Look, chart: &Chart, trace: &Trace, flows: usize, colored: bool, pixel: f64) -> Line {
    let of = look.engine(trace.engine);
    let flow = match trace.role {
        Some(Role::Flow(index)) => Some(index),
        _ => None,
    };
    let all = trace.role == Some(Role::All);
    // Among coloured flows a sum is in ink, a mean pale and wide behind them.
    let mean =
        chart.panel.is_some() && all && trace.engine != Engine::Model && !chart.kind.starts_with("rate");
    let color = match flow {
        Some(index) if colored => look.flow(index),
        _ if mean => look.color("level"),
        _ if chart.panel.is_some() => look.color("ink"),
        // Flows of one engine have the engine's colour, ever lighter.
        Some(index) => look.of(trace.engine).mixed(WHITE, (0.1 * index as f64).min(0.5)),
        None => look.of(trace.engine),
    };
    let (several, crowd) = (flows > 1, flows > 4);
    // Markers distinguish live from sim, and a few flows from each other. A crowd is pale behind its sum.
    let marked = !mean
        && match trace.engine {
            Engine::Live => flow.is_none() || !crowd,
            Engine::Sim => several && !crowd && flow.is_some(),
            Engine::Model => false,
        };
    let symbol = match flow {
        Some(index) if several && index > 0 => {
            let open = if trace.engine == Engine::Live { "-open" } else { "" };
            format!("{}{open}", look.flow_symbol(index))
        }
        _ => of.symbol.clone(),
    };
    let width = match flow {
        _ if mean => 4.0,
        _ if all => 2.2,
        Some(_) if colored => 1.4,
        _ if several => 1.0,
        _ => of.width,
    };
    let dash = if trace.role == Some(Role::Others) { vec![2.0, 2.0] } else { of.dash.clone() };
    let dash = dash.into_iter().map(|length| length * pixel).collect();
    let pale = mean || (crowd && flow.is_some() && !colored);
    let sign = marked.then_some(Sign { symbol, color, size: 6.0 * pixel, edge: 1.3 * pixel });
    Line {
        stroke: Stroke { color, width: width * pixel, dash },
        opacity: if pale { PALE } else { 1.0 },
        sign,
        most_markers: MARKERS[usize::from(several)],
    }
}

fn level_stroke(look: &Look, place: usize, pixel: f64) -> Stroke {
    let dash = LEVEL_DASHES[place % LEVEL_DASHES.len()].iter().map(|length| length * pixel).collect();
    Stroke { color: look.color("level"), width: 1.2 * pixel, dash }
}

fn curve(canvas: &mut Canvas<'_>, trace: &Trace, line: &Line) {
    let points: Vec<(f64, f64)> = trace.x.iter().zip(&trace.y).map(|(x, y)| canvas.at(*x, *y)).collect();
    let steps = polyline(points.iter().copied());
    let every = points.len().div_ceil(line.most_markers).max(1);
    let marked = points.iter().skip(every / 2).step_by(every).copied();
    let marked: Vec<(f64, f64)> = marked.filter(|place| canvas.shows(*place)).collect();
    canvas.scene.group("curve", &trace.name, |scene| {
        let path = Path { opacity: line.opacity, ..Path::line(steps, line.stroke.clone()) };
        scene.path(path.inside());
        if let Some(sign) = &line.sign {
            marked.into_iter().for_each(|place| sign.draw(scene, place, line.opacity));
        }
    });
}

/// Returns the sample of a trace's bars: filled, or empty for the kernel and for every flow but the first.
fn bar(look: &Look, trace: &Trace) -> Sample {
    let (color, hollow) = match trace.role {
        Some(Role::Flow(index)) => (look.flow(index), index > 0),
        _ => (look.of(trace.engine), trace.engine == Engine::Live),
    };
    Sample::Patch { fill: if hollow { WHITE } else { color }, edge: hollow.then_some(color) }
}

/// Draws the bars of one trace; it is the one at `place` of `bars` traces that stand next to each other.
fn draw_bars(canvas: &mut Canvas<'_>, trace: &Trace, place: usize, bars: usize) {
    let Sample::Patch { fill, edge } = bar(canvas.look, trace) else { return };
    let width = trace.bar_s * (1.0 - BAR_GAP) / bars as f64;
    let mut steps: Vec<Step> = Vec::new();
    for (x, y) in trace.x.iter().zip(&trace.y).filter(|(_, y)| y.is_finite() && **y > 0.0) {
        let from = x - trace.bar_s * (1.0 - BAR_GAP) / 2.0 + width * place as f64;
        let ((left, top), (right, bottom)) = (canvas.at(from, *y), canvas.at(from + width, 0.0));
        steps.extend(rectangle(Area { left, top, right, bottom }));
    }
    let stroke = edge.map(|color| Stroke::solid(color, canvas.pixels(0.8)));
    let name = trace.name.clone();
    canvas.scene.group("bars", &name, |scene| {
        scene.path(Path { stroke, ..Path::filled(steps, fill) }.inside());
    });
}

fn draw_area(canvas: &mut Canvas<'_>, x: &[f64], y: &[f64]) {
    let known: Vec<(f64, f64)> =
        x.iter().zip(y).filter(|(_, y)| y.is_finite()).map(|(x, y)| (*x, *y)).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return };
    let (from, to) = (canvas.at(first.0, 0.0), canvas.at(last.0, 0.0));
    let edge: Vec<(f64, f64)> = known.iter().map(|(x, y)| canvas.at(*x, *y)).collect();
    let outline: Vec<(f64, f64)> = [from].into_iter().chain(edge.iter().copied()).chain([to]).collect();
    let (fill, line) =
        (canvas.look.color("shade"), Stroke::solid(canvas.look.color("level"), canvas.pixels(0.6)));
    canvas.scene.group("area", "", |scene| {
        scene.path(Path::filled(polygon(&outline), fill).inside());
        scene.path(Path::line(polyline(edge), line).inside());
    });
}

/// Draws a tick at the upper edge wherever a curve leaves the chart.
fn beyond(canvas: &mut Canvas<'_>, chart: &Chart) {
    let times = chart.traces.iter().flat_map(|trace| trace.x.iter().zip(&trace.y));
    let times: Vec<f64> = times.filter(|(_, y)| **y > chart.range[1]).map(|(x, _)| *x).collect();
    let every = times.len().div_ceil(MOST_BEYOND).max(1);
    let plot = canvas.scene.plot;
    let places = times.iter().step_by(every).map(|time| canvas.at(*time, chart.range[0]).0);
    let places = places.filter(|x| *x >= plot.left && *x <= plot.right);
    let height = canvas.pixels(5.0);
    let steps = places.flat_map(|x| polyline([(x, plot.top), (x, plot.top - height)])).collect();
    let stroke = Stroke::solid(canvas.look.color("ink"), canvas.pixels(1.5));
    canvas.scene.group("beyond", "", |scene| scene.path(Path::line(steps, stroke)));
}
