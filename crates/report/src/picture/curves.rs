//! A chart of a number against a swept key or another number.

use super::axes::{Axis, Canvas, Plot};
use super::font::Font;
use super::legend::{Entry, Sample, Sign};
use super::look::{Look, Rgb};
use super::scale::{Scale, Tick, ticks};
use super::scene::{Anchor, Area, Path, Scene, Step, Stroke, Text, polyline};
use crate::swept::SweptChart;
use crate::text::{capitalized, short, titled};
use lab::study::curves::{Curve, CurvePoint};

/// The room around the outermost points, as a share of the axis.
const ROOM: f64 = 0.04;
/// The room above the foot of a logarithmic axis and above its greatest value, in powers of ten.
const LOG_ROOM: [f64; 2] = [0.1, 0.25];
/// The parts of a line between two markers, at whose ends a label must not be.
const STEPS: u32 = 24;
/// The size of a marker, the width of a line and of an error bar, and half the width of the bar's ends, CSS pixels.
const MARKER: f64 = 6.0;
const LINE: f64 = 1.6;
const BAR: f64 = 1.0;
const BAR_END: f64 = 3.0;

/// Draws the chart.
pub(super) fn draw(swept: &SweptChart, title: &str, size: [f64; 2], look: &Look, font: &Font) -> Scene {
    let chart = &swept.chart;
    let pixel = super::axes::font_size(size[0]) / 12.0;
    let (x, y) = scales(swept);
    let x = Axis {
        wished: if swept.names.is_empty() { ticks(&swept.values) } else { named(swept) },
        named: !swept.names.is_empty(),
        ..Axis::new(titled(&capitalized(&chart.x.label), &chart.x.unit), x)
    };
    let mut y = Axis::new(titled(&capitalized(&chart.y.label), &chart.y.unit), y);
    if let Some(foot) = swept.foot {
        y.wished = footed(y.scale, foot);
    }
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    let legend = if names.len() > 1 {
        let entry = |(index, name): (usize, &&str)| {
            let (color, symbol) = look.curve(index);
            let sign = Some(sign(symbol, color, pixel));
            let sample =
                Sample::Line { stroke: Some(Stroke::solid(color, LINE * pixel)), opacity: 1.0, sign };
            Entry { name: (*name).to_owned(), sample: Some(sample) }
        };
        names.iter().enumerate().map(entry).collect()
    } else {
        Vec::new()
    };
    let marks: Vec<(f64, String)> = swept
        .marks
        .iter()
        .filter(|mark| mark.x > 0.0)
        .map(|mark| (mark.x, format!("{} {}", mark.label, short(mark.x))))
        .collect();
    let plot = Plot { title, size, x, y, legend, named: marks.clone(), shaded: Vec::new() };
    let mut canvas = plot.begin(look, font);
    for (value, name) in &marks {
        let (at, plot) = (canvas.at(*value, 1.0).0, canvas.scene.plot);
        let dash = vec![1.5 * pixel, 2.0 * pixel];
        let stroke = Stroke { color: look.color("level"), width: 1.2 * pixel, dash };
        let line = polyline([(at, plot.top), (at, plot.bottom)]);
        canvas.scene.group("mark", name, |scene| scene.path(Path::line(line, stroke)));
    }
    for (index, one) in chart.curves.iter().enumerate() {
        let (color, symbol) = look.curve(index);
        curve(&mut canvas, swept, one, color, &sign(symbol, color, pixel));
    }
    if chart.along.is_some() {
        labels(&mut canvas, swept);
    }
    canvas.scene
}

fn sign(symbol: &str, color: Rgb, pixel: f64) -> Sign {
    Sign { symbol: symbol.to_owned(), color, size: MARKER * pixel, edge: 1.2 * pixel }
}

/// Returns the least and the greatest of the finite values.
fn ends(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |ends: Option<[f64; 2]>, value| {
        Some(ends.map_or([value; 2], |[least, most]| [least.min(value), most.max(value)]))
    })
}

fn scales(swept: &SweptChart) -> (Scale, Scale) {
    let points = || swept.chart.curves.iter().flat_map(|curve| &curve.points);
    let marks = swept.marks.iter().map(|mark| mark.x);
    let [least, most] = ends(points().map(|point| point.x).chain(marks)).unwrap_or([0.0, 1.0]);
    let x = if swept.x_log {
        let room = libm::pow(most / least, ROOM);
        Scale::log([least / room, most * room])
    } else if most > least {
        let room = ROOM * (most - least);
        Scale::linear([least - room, most + room])
    } else {
        Scale::linear([least - 0.5, least + 0.5])
    };
    let reached = points().flat_map(|point| {
        let [below, above] = spread(point);
        [point.y - below, point.y, point.y + above]
    });
    let y = if let Some(foot) = swept.foot {
        let [_, most] = ends(points().map(|point| swept.on_axis(point.y))).unwrap_or([foot; 2]);
        let [below, above] = LOG_ROOM.map(|power| libm::pow(10.0, power));
        Scale::log([foot / below, most.max(10.0 * foot) * above])
    } else if let Some(range) = swept.y_range {
        Scale::linear(range)
    } else {
        let [least, most] = ends(reached).unwrap_or([0.0, 1.0]);
        let room = 0.06 * (most.max(0.0) - least.min(0.0));
        Scale::linear([if least < 0.0 { least - room } else { 0.0 }, most.max(0.0) + room])
    };
    (x, y)
}

/// Returns a tick for each name on the horizontal axis.
fn named(swept: &SweptChart) -> Vec<Tick> {
    let ticks = swept.values.iter().zip(&swept.names);
    ticks.map(|(value, name)| Tick { value: *value, label: name.clone() }).collect()
}

/// Returns the ticks of a logarithmic axis with a foot: the powers of ten, the first of them with its sign.
fn footed(scale: Scale, foot: f64) -> Vec<Tick> {
    let sets = scale.candidates();
    let decades = |set: &Vec<Tick>| set.windows(2).all(|pair| pair[1].value / pair[0].value > 9.0);
    let mut ticks = sets.into_iter().find(decades).unwrap_or_default();
    for tick in ticks.iter_mut().filter(|tick| tick.value <= 1.01 * foot) {
        tick.label = format!("≤ {}", tick.label);
    }
    ticks
}

/// Returns the lengths of a point's error bar, downwards and upwards.
fn spread(point: &CurvePoint) -> [f64; 2] {
    match (point.extent, point.half_width) {
        (Some((least, most)), _) => [point.y - least, most - point.y],
        (None, half) => [half.unwrap_or(0.0); 2],
    }
}

fn curve(canvas: &mut Canvas<'_>, swept: &SweptChart, curve: &Curve, color: Rgb, sign: &Sign) {
    let points: Vec<(f64, f64)> =
        curve.points.iter().map(|point| canvas.at(point.x, swept.on_axis(point.y))).collect();
    let mut bars: Vec<Step> = Vec::new();
    for (point, place) in curve.points.iter().zip(&points) {
        let [below, above] = spread(point);
        if below <= 0.0 && above <= 0.0 || !canvas.shows(*place) {
            continue;
        }
        let end = |y: f64| {
            let plot = canvas.scene.plot;
            canvas.at(point.x, swept.on_axis(y)).1.clamp(plot.top, plot.bottom)
        };
        let (x, low, high, half) =
            (place.0, end(point.y - below), end(point.y + above), canvas.pixels(BAR_END));
        bars.extend(polyline([(x, low), (x, high)]));
        bars.extend(polyline([(x - half, low), (x + half, low)]));
        bars.extend(polyline([(x - half, high), (x + half, high)]));
    }
    let (line, bar) = (canvas.pixels(LINE), canvas.pixels(BAR));
    let marked: Vec<(f64, f64)> = points.iter().copied().filter(|place| canvas.shows(*place)).collect();
    canvas.scene.group("curve", &curve.name, |scene| {
        scene.path(Path::line(polyline(points), Stroke::solid(color, line)).inside());
        scene.path(Path::line(bars, Stroke::solid(color, bar)));
        marked.into_iter().for_each(|place| sign.draw(scene, place, 1.0));
    });
}

/// Writes the swept values at the points of the first curve, those that touch neither another label nor a point.
fn labels(canvas: &mut Canvas<'_>, swept: &SweptChart) {
    let (size, color) = (0.92 * canvas.size, canvas.look.color("muted"));
    let Some(first) = swept.chart.curves.first() else { return };
    let reach = canvas.pixels(MARKER) * 0.7;
    let around =
        |(x, y): (f64, f64)| Area { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
    let mut taken: Vec<Area> = Vec::new();
    for curve in &swept.chart.curves {
        let place = |point: &CurvePoint| canvas.at(point.x, swept.on_axis(point.y));
        let places: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
        taken.extend(places.iter().copied().map(around));
        for pair in places.windows(2) {
            let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
            let on_line = |step: u32| {
                let share = f64::from(step) / f64::from(STEPS);
                let (x, y) = (x + share * (to_x - x), y + share * (to_y - y));
                Area { left: x, right: x, top: y, bottom: y }
            };
            taken.extend((1..STEPS).map(on_line));
        }
    }
    for point in &first.points {
        let Some(text) = point.at.clone() else { continue };
        let (x, y) = canvas.at(point.x, swept.on_axis(point.y));
        let width = canvas.font.width(&text, size);
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let free = corners.into_iter().find_map(|(right, down)| {
            let left = if right > 0.0 { x + reach } else { x - reach - width };
            let top = if down > 0.0 { y + 0.6 * reach } else { y - 0.6 * reach - size };
            let area = Area { left, right: left + width, top, bottom: top + size };
            let free = canvas.scene.plot.contains(area) && !taken.iter().any(|other| other.meets(area));
            free.then_some(area)
        });
        if let Some(area) = free {
            taken.push(area);
            let (x, y) = (area.left, area.bottom - 0.2 * size);
            canvas.scene.text(Text { x, y, anchor: Anchor::Start, size, color, upwards: false, text });
        }
    }
}
