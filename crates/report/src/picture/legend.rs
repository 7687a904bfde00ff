//! The legend: names behind samples of their lines, in rows above the axes.

use super::axes::{Canvas, LINE};
use super::font::Font;
use super::look::{Rgb, WHITE};
use super::scene::{Anchor, Area, Path, Scene, Stroke, Text, marker, polyline, rectangle};

/// The width of a sample, in heights of the font.
const SAMPLE: f64 = 2.4;
/// The distances behind a sample and behind a name, in heights of the font.
const GAPS: [f64; 2] = [0.5, 1.3];

/// A marker: the name of its outline, with "-open" for an empty one.
#[derive(Clone, Debug)]
pub(super) struct Sign {
    pub(super) symbol: String,
    pub(super) color: Rgb,
    /// Points.
    pub(super) size: f64,
    /// The width of an empty marker's edge, points.
    pub(super) edge: f64,
}

impl Sign {
    /// Draws the marker around a place.
    pub(super) fn draw(&self, scene: &mut Scene, (x, y): (f64, f64), opacity: f64) {
        let (name, open) = match self.symbol.strip_suffix("-open") {
            Some(name) => (name, true),
            None => (self.symbol.as_str(), false),
        };
        let outline = marker(name, x, y, self.size);
        let fill = if open { WHITE } else { self.color };
        let stroke = Some(Stroke::solid(self.color, self.edge));
        scene.path(Path { opacity, stroke, ..Path::filled(outline, fill) });
    }
}

/// The sample before a name.
#[derive(Clone, Debug)]
pub(super) enum Sample {
    /// A line, with or without a marker.
    Line { stroke: Option<Stroke>, opacity: f64, sign: Option<Sign> },
    /// A short line upwards.
    Tall(Stroke),
    /// A filled rectangle, with or without an edge.
    Patch { fill: Rgb, edge: Option<Rgb> },
}

/// One name.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// `None` for a note.
    pub(super) sample: Option<Sample>,
}

/// The entries with their places.
pub(super) struct Legend {
    /// Each entry with its place from the left, points, and its row.
    placed: Vec<(Entry, f64, usize)>,
    rows: usize,
    size: f64,
}

impl Legend {
    /// Places the entries in rows within this width and height. If not all fit, a note says how many are left out.
    pub(super) fn new(entries: &[Entry], font: &Font, size: f64, [width, height]: [f64; 2]) -> Self {
        let most = ((height / (LINE * size)) as usize).max(1);
        let mut kept = entries.len();
        loop {
            let mut shown: Vec<Entry> = entries[..kept].to_vec();
            if kept < entries.len() {
                shown.push(Entry { name: format!("and {} more", entries.len() - kept), sample: None });
            }
            let (placed, rows) = place(shown, font, size, width);
            if rows <= most || kept == 0 {
                return Self { placed, rows, size };
            }
            kept -= 1;
        }
    }

    /// Returns the height of all rows, points.
    pub(super) fn height(&self) -> f64 {
        LINE * self.size * self.rows as f64
    }

    /// Draws the rows with this upper left corner.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, left: f64, top: f64) {
        let (size, color) = (self.size, canvas.look.color("ink"));
        let placed = &self.placed;
        canvas.scene.group("legend", "", |scene| {
            for (entry, at, row) in placed {
                let (mut x, middle) = (left + at, top + (LINE * *row as f64 + 0.5) * size);
                if let Some(sample) = &entry.sample {
                    draw(scene, sample, [x, x + SAMPLE * size], middle, size);
                    x += (SAMPLE + GAPS[0]) * size;
                }
                let (y, text) = (middle + 0.35 * size, entry.name.clone());
                scene.text(Text { x, y, anchor: Anchor::Start, size, color, upwards: false, text });
            }
        });
    }
}

/// Returns the entries with their places, and the number of rows.
fn place(entries: Vec<Entry>, font: &Font, size: f64, width: f64) -> (Vec<(Entry, f64, usize)>, usize) {
    let (mut x, mut row) = (0.0, 0);
    let mut placed = Vec::new();
    for entry in entries {
        let before = if entry.sample.is_some() { (SAMPLE + GAPS[0]) * size } else { 0.0 };
        let name = font.cut(&entry.name, size, width - before);
        let needed = before + font.width(&name, size);
        if x > 0.0 && x + needed > width {
            (x, row) = (0.0, row + 1);
        }
        placed.push((Entry { name, ..entry }, x, row));
        x += needed + GAPS[1] * size;
    }
    let rows = if placed.is_empty() { 0 } else { row + 1 };
    (placed, rows)
}

fn draw(scene: &mut Scene, sample: &Sample, [from, to]: [f64; 2], middle: f64, size: f64) {
    match sample {
        Sample::Line { stroke, opacity, sign } => {
            if let Some(stroke) = stroke {
                let line = Path::line(polyline([(from, middle), (to, middle)]), stroke.clone());
                scene.path(Path { opacity: *opacity, ..line });
            }
            if let Some(sign) = sign {
                sign.draw(scene, (f64::midpoint(from, to), middle), 1.0);
            }
        }
        Sample::Tall(stroke) => {
            let (x, half) = (f64::midpoint(from, to), 0.5 * size);
            scene.path(Path::line(polyline([(x, middle - half), (x, middle + half)]), stroke.clone()));
        }
        Sample::Patch { fill, edge } => {
            let half = 0.35 * size;
            let (left, right) = (f64::midpoint(from, to) - size, f64::midpoint(from, to) + size);
            let area = Area { left, top: middle - half, right, bottom: middle + half };
            let stroke = edge.map(|color| Stroke::solid(color, 0.06 * size));
            scene.path(Path { stroke, ..Path::filled(rectangle(area), *fill) });
        }
    }
}
