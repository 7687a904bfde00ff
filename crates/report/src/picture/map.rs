//! A heat map: a cell for each pair of swept values, with its number where that can be read.

use super::axes::{LINE, font_size};
use super::font::Font;
use super::look::{Look, Rgb};
use super::scene::{Anchor, Area, Path, Scene, Stroke, Text, polyline, rectangle};
use crate::heat::{Colors, decimals};
use crate::text::{capitalized, number, titled};
use lab::study::curves::HeatMap;

/// The least height of a number in a cell, points.
const LEAST_FONT: f64 = 4.5;
/// The largest share of the width or height that names of rows and columns take.
const NAMES: f64 = 0.4;

/// Draws the map.
pub(super) fn draw(map: &HeatMap, title: &str, [width, height]: [f64; 2], look: &Look, font: &Font) -> Scene {
    let size = font_size(width);
    let edge = 0.4 * size;
    let mut scene = Scene { title: title.into(), width, height, plot: Area::default(), items: Vec::new() };
    let page = Area { left: 0.0, top: 0.0, right: width, bottom: height };
    scene.path(Path::filled(rectangle(page), look.color("paper")));
    let (ink, muted) = (look.color("ink"), look.color("muted"));
    let line = |x, y, anchor, upwards, color, text: String| Text { x, y, anchor, size, color, upwards, text };
    // The colours say nothing without the number's name, so it stands above the cells.
    let mut head = titled(&capitalized(&map.z.label), &map.z.unit);
    if !map.name.is_empty() {
        head = format!("{head}; {}", map.name);
    }
    let head = font.wrapped(&head, size, width - 2.0 * edge);
    let head = &head[..head.len().min(3)];
    for (row, text) in head.iter().enumerate() {
        let y = edge + (0.9 + LINE * row as f64) * size;
        scene.text(line(edge, y, Anchor::Start, false, ink, text.clone()));
    }
    let columns: Vec<&str> = map.columns.iter().map(String::as_str).chain(["mean"]).collect();
    let names = || map.cells.iter().map(|row| row.name.as_str());
    let widest =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| font.width(text, size)).fold(0.0, f64::max);
    let left = edge + LINE * size + widest(&mut names()).min(NAMES * width) + 0.8 * size;
    let right = width - edge;
    let cell_width = (right - left) / columns.len() as f64;
    let mut top = edge + (LINE * head.len() as f64 + 0.5) * size;
    // Names of columns that are too wide for their cells go upwards.
    let names_width = widest(&mut columns.iter().copied());
    let upwards = names_width + 0.5 * size > cell_width;
    let below = if upwards { names_width.min(NAMES * height) + 0.6 * size } else { LINE * size };
    let bottom = (height - edge - below - (LINE + 0.3) * size).max(top + size);
    let count = map.cells.len().max(1) as f64;
    let mut numbers = number_size(map, [cell_width, (bottom - top) / count], font).min(size);
    if numbers < LEAST_FONT {
        numbers = 0.0;
        scale(&mut scene, map, [right, top], look, font);
        top = (top + (LINE + 0.4) * size).min(bottom - size);
    }
    let cell_height = (bottom - top) / count;
    scene.plot = Area { left, top, right, bottom };
    cells(&mut scene, map, numbers, look);
    // Names that would touch each other are left out, all but every second or third and so on.
    let every = |length: f64| ((LINE * size / length).ceil() as usize).max(1);
    for (row, name) in names().enumerate().step_by(every(cell_height)) {
        let y = top + (row as f64 + 0.5) * cell_height + 0.35 * size;
        let name = font.cut(name, size, NAMES * width);
        scene.text(line(left - 0.5 * size, y, Anchor::End, false, muted, name));
    }
    let step = if upwards { every(cell_width) } else { 1 };
    for (column, name) in columns.iter().enumerate().step_by(step) {
        let middle = left + (column as f64 + 0.5) * cell_width;
        if upwards {
            let name = font.cut(name, size, NAMES * height);
            scene.text(line(middle + 0.35 * size, bottom + 0.5 * size, Anchor::End, true, muted, name));
        } else {
            scene.text(line(middle, bottom + size, Anchor::Middle, false, muted, (*name).into()));
        }
    }
    let along = |text: &str, length: f64| font.cut(&capitalized(text), size, length);
    let middle = f64::midpoint(left, right);
    scene.text(line(
        middle,
        height - edge - 0.25 * size,
        Anchor::Middle,
        false,
        ink,
        along(&map.x, right - left),
    ));
    let (first, last) = (edge + (LINE * head.len() as f64 + 0.4) * size, height - edge - LINE * size);
    let rows = along(&map.rows, last - first);
    let half = font.width(&rows, size) / 2.0;
    let y = f64::midpoint(top, bottom).min(last - half).max(first + half);
    scene.text(line(edge + 0.8 * size, y, Anchor::Middle, true, ink, rows));
    scene
}

/// Returns the height of the font in which the widest number fits into a cell of this size.
fn number_size(map: &HeatMap, [width, height]: [f64; 2], font: &Font) -> f64 {
    let decimals = decimals(map);
    let texts = map.cells.iter().flat_map(|row| row.values.iter().copied().chain([row.mean()]));
    let widest = texts.map(|value| font.width(&number(value, decimals), 1.0)).fold(0.0, f64::max);
    // A tenth of the cell stays free on each side.
    (0.8 * width / widest.max(0.1)).min(0.8 * height)
}

/// Draws the cells, with the mean of each row behind them. `size` is the height of their numbers; 0 for none.
fn cells(scene: &mut Scene, map: &HeatMap, size: f64, look: &Look) {
    let (plot, colors, decimals) = (scene.plot, Colors::of(map), decimals(map));
    let width = plot.width() / (map.columns.len() + 1) as f64;
    let height = plot.height() / map.cells.len().max(1) as f64;
    for (index, row) in map.cells.iter().enumerate() {
        for (column, value) in row.values.iter().copied().chain([row.mean()]).enumerate() {
            let (left, top) = (plot.left + column as f64 * width, plot.top + index as f64 * height);
            let area = Area { left, top, right: left + width, bottom: top + height };
            let is_mean = column >= map.columns.len();
            let color = value.filter(|_| !is_mean).and_then(|value| colors.color(value));
            let text = number(value, decimals);
            let name = map.columns.get(column).map_or("mean", String::as_str);
            scene.group("cell", &format!("{}, {name}: {text}", row.name), |scene| {
                if let Some(rgb) = color {
                    scene.path(Path::filled(rectangle(area), Rgb(rgb)));
                }
                if size > 0.0 {
                    let (x, y) =
                        (f64::midpoint(left, area.right), f64::midpoint(top, area.bottom) + 0.35 * size);
                    let color = look.color("ink");
                    scene.text(Text { x, y, anchor: Anchor::Middle, size, color, upwards: false, text });
                }
            });
        }
    }
    let before_mean = plot.right - width;
    let ends = polyline([(before_mean, plot.top), (before_mean, plot.bottom)]);
    scene.path(Path::line(ends, Stroke::solid(look.color("rule"), 0.5)));
}

/// Draws a scale of the colours to the left of `right`, from the least to the greatest value.
fn scale(scene: &mut Scene, map: &HeatMap, [right, top]: [f64; 2], look: &Look, font: &Font) {
    const STEPS: u32 = 24;
    let (size, colors) = (font_size(scene.width), Colors::of(map));
    let [least, most] = colors.ends();
    let texts = [least, most].map(|value| number(Some(value), decimals(map)));
    let [before, behind] = [0, 1].map(|end| font.width(&texts[end], size));
    let step = 7.0 * size / f64::from(STEPS);
    let left = right - behind - 0.5 * size - 7.0 * size;
    for index in 0..STEPS {
        let value = least + (most - least) * (f64::from(index) + 0.5) / f64::from(STEPS);
        let from = left + f64::from(index) * step;
        let area = Area { left: from, right: from + step, top: top + 0.1 * size, bottom: top + 0.9 * size };
        let color = Rgb(colors.color(value).unwrap_or([255; 3]));
        scene.path(Path::filled(rectangle(area), color));
    }
    let places = [left - 0.5 * size - before, right - behind];
    for (x, text) in places.into_iter().zip(texts) {
        let (y, color) = (top + 0.8 * size, look.color("muted"));
        scene.text(Text { x, y, anchor: Anchor::Start, size, color, upwards: false, text });
    }
}
