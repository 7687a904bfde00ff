//! Axes with their ticks and labels, and the legend above them. The margins follow from the texts, so that none touches
//! another or leaves the page.

use super::font::Font;
use super::legend::{Entry, Legend};
use super::look::Look;
use super::scale::{Scale, Tick, plain};
use super::scene::{Anchor, Area, Path, Scene, Step, Stroke, Text, polyline, rectangle};

/// The height of the font in a picture as wide as a column, points, and in a wider one.
const FONT: [f64; 2] = [7.0, 8.0];
/// The width of a picture from which its font is larger, points.
const WIDE: f64 = 310.0;
/// The height of the pages' font, CSS pixels. Widths of lines have the same ratio to the font as there.
const PAGE_FONT: f64 = 12.0;
/// The distance of two base lines, in heights of the font.
pub(super) const LINE: f64 = 1.25;
/// The usual margin to the left of the axes, in heights of the font.
const LEFT: f64 = 6.5;
/// The largest share of the height that the legend takes.
const LEGEND: f64 = 0.34;
/// The largest share of the height that names on the horizontal axis take if they go upwards.
const NAMES: f64 = 0.3;
/// The most lines of an axis' label.
const LABEL_LINES: usize = 3;

/// One axis.
pub(super) struct Axis {
    /// The quantity and its unit: "Goodput, Mbit/s".
    pub(super) label: String,
    pub(super) scale: Scale,
    /// The ticks that the axis has if their labels do not touch.
    pub(super) wished: Vec<Tick>,
    /// True if only these ticks have a meaning, because their labels are names.
    pub(super) named: bool,
}

impl Axis {
    pub(super) fn new(label: String, scale: Scale) -> Self {
        Self { label, scale, wished: Vec::new(), named: false }
    }
}

/// The content of a chart around its curves.
pub(super) struct Plot<'a> {
    pub(super) title: &'a str,
    /// The picture's width and height, points.
    pub(super) size: [f64; 2],
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) legend: Vec<Entry>,
    /// Values of x with a name above the axes.
    pub(super) named: Vec<(f64, String)>,
    /// Shaded ranges of x.
    pub(super) shaded: Vec<[f64; 2]>,
}

/// A chart under way: axes are drawn, curves follow.
pub(super) struct Canvas<'a> {
    pub(super) scene: Scene,
    pub(super) look: &'a Look,
    pub(super) font: &'a Font,
    x: Scale,
    y: Scale,
    /// The height of the font, points.
    pub(super) size: f64,
}

impl Canvas<'_> {
    /// Returns the place of a point.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let plot = self.scene.plot;
        (plot.left + self.x.place(x) * plot.width(), plot.bottom - self.y.place(y) * plot.height())
    }

    /// Converts a length on a page, CSS pixels, to points here.
    pub(super) fn pixels(&self, length: f64) -> f64 {
        length * self.size / PAGE_FONT
    }

    /// Returns true if a place is within the axes, or at their edge.
    pub(super) fn shows(&self, (x, y): (f64, f64)) -> bool {
        let (plot, slack) = (self.scene.plot, 0.01);
        (plot.left - slack..=plot.right + slack).contains(&x)
            && (plot.top - slack..=plot.bottom + slack).contains(&y)
    }
}

/// Returns the lines of a tick's label; only a name has several.
fn lines(tick: &Tick) -> impl Iterator<Item = &str> {
    tick.label.split('\n')
}

/// Returns the height of the font of a picture of this width.
pub(super) fn font_size(width: f64) -> f64 {
    FONT[usize::from(width >= WIDE)]
}

impl<'a> Plot<'a> {
    /// Draws the axes and everything around them.
    pub(super) fn begin(self, look: &'a Look, font: &'a Font) -> Canvas<'a> {
        let [width, height] = self.size;
        let size = font_size(width);
        let edge = 0.4 * size;
        let legend = Legend::new(&self.legend, font, size, [width - LEFT * size - edge, LEGEND * height]);
        let names = self.name_rows(font, size);
        let label_lines = |text: &str, room: f64| {
            let mut lines = if text.is_empty() { Vec::new() } else { font.wrapped(text, size, room) };
            lines.truncate(LABEL_LINES);
            lines
        };
        let x_label = label_lines(&self.x.label, width - 8.0 * size);
        let top =
            edge + legend.height() + names.iter().max().map_or(0.35, |row| *row as f64 + 1.3) * LINE * size;
        let upwards = self.x.named && !side_by_side(&self.x, font, size, width - LEFT * size - edge);
        let x_widths = self.x.wished.iter().map(|tick| font.width(&tick.label, size));
        // The height of the labels of ticks below the axis.
        let below = if upwards { x_widths.fold(size, f64::max).min(NAMES * height) } else { size };
        let bottom = height - edge - below - (0.75 + LINE * x_label.len() as f64) * size;
        let bottom = bottom.max(top + size);
        let y_label = label_lines(&self.y.label, (height - 2.0 * edge).min(1.35 * (bottom - top)));
        let y_ticks = fitting(&self.y, |one, other| {
            (self.y.scale.place(one.value) - self.y.scale.place(other.value)).abs() * (bottom - top)
                >= (0.9 + LINE * lines(one).count() as f64) * size
        });
        let names_of_ticks = y_ticks.iter().flat_map(lines);
        let widest = names_of_ticks.map(|line| font.width(line, size)).fold(0.0, f64::max);
        let left = edge + LINE * size * y_label.len() as f64 + widest + 0.75 * size;
        let mut right = width - 1.5 * edge;
        let mut x_ticks = Vec::new();
        for _ in 0..3 {
            let length = (right - left).max(1.0);
            x_ticks = fitting(&self.x, |one, other| {
                let apart = (self.x.scale.place(one.value) - self.x.scale.place(other.value)).abs() * length;
                apart >= if upwards { LINE * size } else { beside(one, other, font, size) }
            });
            let end = |tick: &Tick| {
                let wide = if upwards { LINE * size } else { font.width(&tick.label, size) };
                left + self.x.scale.place(tick.value) * length + wide / 2.0
            };
            let beyond = x_ticks.iter().map(end).fold(0.0, f64::max) - (width - edge);
            if beyond <= 0.0 {
                break;
            }
            right -= beyond;
        }
        let plot = Area { left, top, right: right.max(left + 1.0), bottom };
        let scene = Scene { title: self.title.to_owned(), width, height, plot, items: Vec::new() };
        let mut canvas = Canvas { scene, look, font, x: self.x.scale, y: self.y.scale, size };
        canvas.scene.path(Path::filled(
            rectangle(Area { left: 0.0, top: 0.0, right: width, bottom: height }),
            look.color("paper"),
        ));
        for [from, to] in &self.shaded {
            let (from, to) = (canvas.at(*from, 0.0).0.max(plot.left), canvas.at(*to, 0.0).0.min(plot.right));
            let area = Area { left: from, right: to, ..plot };
            canvas.scene.path(Path::filled(rectangle(area), look.color("shade")).inside());
        }
        if upwards {
            x_ticks.iter_mut().for_each(|tick| tick.label = font.cut(&tick.label, size, below));
        }
        canvas.grid(&x_ticks, &y_ticks, upwards);
        canvas.labels(&x_label, &y_label, below);
        legend.draw(&mut canvas, left.min(LEFT * size), edge);
        for ((value, name), row) in self.named.iter().zip(names) {
            canvas.name(*value, name, row);
        }
        canvas
    }

    /// Returns for each name above the axes the row in which it touches no other one, from the axes upwards.
    fn name_rows(&self, font: &Font, size: f64) -> Vec<usize> {
        let [width, _] = self.size;
        let (left, length) = (LEFT * size, width - (LEFT + 0.6) * size);
        let mut taken: Vec<(usize, f64, f64)> = Vec::new();
        let rows = self.named.iter().map(|(value, name)| {
            let half = font.width(name, size) / 2.0 + 0.6 * size;
            // A name that would leave the page is moved inwards.
            let middle = (left + self.x.scale.place(*value) * length).min(width - half).max(half);
            let (from, to) = (middle - half, middle + half);
            let free = |row: &usize| {
                !taken.iter().any(|(other, start, end)| other == row && from < *end && *start < to)
            };
            let row = (0..).find(free).unwrap_or_default();
            taken.push((row, from, to));
            row
        });
        rows.collect()
    }
}

/// Returns the least distance of two labels of the horizontal axis that stand next to each other.
fn beside(one: &Tick, other: &Tick, font: &Font, size: f64) -> f64 {
    (font.width(&one.label, size) + font.width(&other.label, size)) / 2.0 + 1.2 * size
}

/// Returns true if all wished ticks of a horizontal axis of this length have room next to each other.
fn side_by_side(axis: &Axis, font: &Font, size: f64, length: f64) -> bool {
    axis.wished.windows(2).all(|pair| {
        let apart = axis.scale.place(pair[1].value) - axis.scale.place(pair[0].value);
        apart * length >= beside(&pair[0], &pair[1], font, size)
    })
}

/// Returns the densest ticks of which all neighbours are `apart`: the wished ones, or candidates of the scale.
fn fitting(axis: &Axis, apart: impl Fn(&Tick, &Tick) -> bool) -> Vec<Tick> {
    let fits = |ticks: &Vec<Tick>| ticks.windows(2).all(|pair| apart(&pair[0], &pair[1]));
    if axis.wished.len() > 1 && fits(&axis.wished) {
        return axis.wished.clone();
    }
    let every = |step: usize| axis.wished.iter().step_by(step).cloned().collect::<Vec<Tick>>();
    if axis.named {
        return (1..=axis.wished.len()).map(every).find(|ticks| fits(ticks)).unwrap_or_default();
    }
    let mut sets = axis.scale.candidates();
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let found = sets.iter().find(|set| fits(set)).cloned();
    found.unwrap_or_else(|| {
        let ends = [axis.scale.least, axis.scale.most].map(|value| Tick { value, label: plain(value) });
        if fits(&ends.to_vec()) { ends.to_vec() } else { ends[..1].to_vec() }
    })
}

impl Canvas<'_> {
    fn grid(&mut self, x_ticks: &[Tick], y_ticks: &[Tick], upwards: bool) {
        let (plot, size) = (self.scene.plot, self.size);
        let (hair, axis) =
            (Stroke::solid(self.look.color("grid"), 0.5), Stroke::solid(self.look.color("level"), 0.6));
        let muted = self.look.color("muted");
        let text = |x, y, anchor, text: &str| Text {
            x,
            y,
            anchor,
            size,
            color: muted,
            upwards: false,
            text: text.into(),
        };
        let places: Vec<f64> =
            x_ticks.iter().map(|tick| plot.left + self.x.place(tick.value) * plot.width()).collect();
        let heights: Vec<f64> =
            y_ticks.iter().map(|tick| plot.bottom - self.y.place(tick.value) * plot.height()).collect();
        self.scene.group("grid", "", |scene| {
            let mut steps: Vec<Step> =
                places.iter().flat_map(|x| polyline([(*x, plot.top), (*x, plot.bottom)])).collect();
            steps.extend(heights.iter().flat_map(|y| polyline([(plot.left, *y), (plot.right, *y)])));
            scene.path(Path::line(steps, hair));
            let corner = [(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)];
            scene.path(Path::line(polyline(corner), axis));
        });
        self.scene.group("x-axis", "", |scene| {
            for (tick, x) in x_ticks.iter().zip(places) {
                scene.text(if upwards {
                    let name = text(x + 0.35 * size, plot.bottom + 0.4 * size, Anchor::End, &tick.label);
                    Text { upwards, ..name }
                } else {
                    text(x, plot.bottom + 1.3 * size, Anchor::Middle, &tick.label)
                });
            }
        });
        self.scene.group("y-axis", "", |scene| {
            for (tick, y) in y_ticks.iter().zip(heights) {
                let middle = (lines(tick).count() - 1) as f64 / 2.0;
                for (row, line) in lines(tick).enumerate() {
                    let y = y + (0.35 + LINE * (row as f64 - middle)) * size;
                    scene.text(text(plot.left - 0.4 * size, y, Anchor::End, line));
                }
            }
        });
    }

    /// Writes the labels of the axes: `below` the ticks' own, and upwards at the left edge. Each is moved along its axis
    /// if it would leave the page.
    fn labels(&mut self, x_label: &[String], y_label: &[String], below: f64) {
        let (plot, size, color) = (self.scene.plot, self.size, self.look.color("ink"));
        for (row, line) in x_label.iter().enumerate() {
            let half = self.font.width(line, size) / 2.0;
            let most = (self.scene.width - half - 0.3 * size).max(half);
            let x = ((plot.left + plot.right) / 2.0).clamp(half.min(most), most);
            let y = plot.bottom + below + (0.3 + LINE * (row as f64 + 1.0)) * size;
            let text = line.clone();
            self.scene.text(Text { x, y, anchor: Anchor::Middle, size, color, upwards: false, text });
        }
        for (row, line) in y_label.iter().enumerate() {
            let half = self.font.width(line, size) / 2.0;
            let most = (self.scene.height - half - 0.3 * size).max(half);
            let y = ((plot.top + plot.bottom) / 2.0).clamp((half + 0.3 * size).min(most), most);
            let x = 0.4 * size + (0.8 + LINE * row as f64) * size;
            self.scene.text(Text {
                x,
                y,
                anchor: Anchor::Middle,
                size,
                color,
                upwards: true,
                text: line.clone(),
            });
        }
    }

    /// Writes a name above the axes, in this row from below.
    fn name(&mut self, value: f64, name: &str, row: usize) {
        let (plot, size) = (self.scene.plot, self.size);
        let half = self.font.width(name, size) / 2.0;
        let middle = plot.left + self.x.place(value) * plot.width();
        let most = (self.scene.width - 0.4 * size - half).max(half);
        let x = middle.clamp((0.4 * size + half).min(most), most);
        let y = plot.top - (0.4 + LINE * row as f64) * size;
        let color = self.look.color("muted");
        let text = name.to_owned();
        self.scene.text(Text { x, y, anchor: Anchor::Middle, size, color, upwards: false, text });
    }
}
