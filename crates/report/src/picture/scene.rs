//! A picture as plain data: paths and texts on a page, in points, with the origin in the upper left corner. The two
//! writers, `svg` and `pdf`, know nothing else.

use super::look::Rgb;
use units::is_visible;

/// The largest distance of a point from the origin, points. A value far beyond an axis is drawn there, which is outside
/// the page as well.
const FAR: f64 = 1e5;
/// The control point of a Bézier curve that approximates a quarter of a circle.
const QUARTER: f64 = 0.552_284_75;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn width(self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Returns true if the two have a point in common.
    pub(super) fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Move(f64, f64),
    Line(f64, f64),
    Curve([f64; 6]),
    Close,
}

/// A line's look.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) color: Rgb,
    /// Points.
    pub(super) width: f64,
    /// Lengths of dashes and gaps, points; empty for a solid line.
    pub(super) dash: Vec<f64>,
}

impl Stroke {
    pub(super) fn solid(color: Rgb, width: f64) -> Self {
        Self { color, width, dash: Vec::new() }
    }
}

/// A path with its look.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) steps: Vec<Step>,
    pub(super) stroke: Option<Stroke>,
    pub(super) fill: Option<Rgb>,
    /// From 0 to 1.
    pub(super) opacity: f64,
    /// True if only the part within the axes is drawn.
    pub(super) inside: bool,
}

impl Path {
    pub(super) fn line(steps: Vec<Step>, stroke: Stroke) -> Self {
        Self { steps, stroke: Some(stroke), fill: None, opacity: 1.0, inside: false }
    }

    pub(super) fn filled(steps: Vec<Step>, fill: Rgb) -> Self {
        Self { steps, stroke: None, fill: Some(fill), opacity: 1.0, inside: false }
    }

    pub(super) fn inside(self) -> Self {
        Self { inside: true, ..self }
    }
}

/// The end of a text that stands at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The place on the base line.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) anchor: Anchor,
    /// The height of the font, points.
    pub(super) size: f64,
    pub(super) color: Rgb,
    /// True if the text goes upwards.
    pub(super) upwards: bool,
    pub(super) text: String,
}

/// A part of the page.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Path(Path),
    Text(Text),
    /// The beginning of a group: its class, and the name of what it shows.
    Begin(&'static str, String),
    /// The end of the innermost group.
    End,
}

/// A whole picture.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) title: String,
    /// Points.
    pub(super) width: f64,
    pub(super) height: f64,
    /// The area within the axes.
    pub(super) plot: Area,
    pub(super) items: Vec<Item>,
}

impl Scene {
    pub(super) fn path(&mut self, path: Path) {
        if !path.steps.is_empty() {
            self.items.push(Item::Path(path));
        }
    }

    /// Adds a text without the letters that cannot be seen.
    pub(super) fn text(&mut self, mut text: Text) {
        text.text.retain(is_visible);
        if !text.text.trim().is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    pub(super) fn group(&mut self, class: &'static str, name: &str, fill: impl FnOnce(&mut Self)) {
        self.items.push(Item::Begin(class, name.chars().filter(|letter| is_visible(*letter)).collect()));
        fill(self);
        self.items.push(Item::End);
    }
}

/// Returns the steps through the points. A point that is not finite interrupts the line.
pub(super) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut on = false;
    for (x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            on = false;
            continue;
        }
        let (x, y) = (x.clamp(-FAR, FAR), y.clamp(-FAR, FAR));
        steps.push(if on { Step::Line(x, y) } else { Step::Move(x, y) });
        on = true;
    }
    steps
}

/// Returns the outline of a rectangle.
pub(super) fn rectangle(area: Area) -> Vec<Step> {
    polygon(&[
        (area.left, area.top),
        (area.right, area.top),
        (area.right, area.bottom),
        (area.left, area.bottom),
    ])
}

/// Returns the outline through the points, closed.
pub(super) fn polygon(points: &[(f64, f64)]) -> Vec<Step> {
    let mut steps = polyline(points.iter().copied());
    if !steps.is_empty() {
        steps.push(Step::Close);
    }
    steps
}

/// Returns the outline of a marker around a place: a name of plotly's without "-open".
pub(super) fn marker(name: &str, x: f64, y: f64, size: f64) -> Vec<Step> {
    let r = size / 2.0;
    let around = |corners: &[(f64, f64)]| {
        polygon(&corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect::<Vec<_>>())
    };
    match name {
        "square" => around(&[(-0.89, -0.89), (0.89, -0.89), (0.89, 0.89), (-0.89, 0.89)]),
        "diamond" => around(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        "triangle-up" => around(&[(-1.15, 0.66), (0.0, -1.33), (1.15, 0.66)]),
        "triangle-down" => around(&[(-1.15, -0.66), (0.0, 1.33), (1.15, -0.66)]),
        "star" => {
            // Five points on a circle, and five between them on a smaller one: sines and cosines of multiples of 36°.
            const STAR: [(f64, f64); 10] = [
                (0.0, -1.4),
                (0.308, -0.425),
                (1.331, -0.433),
                (0.499, 0.162),
                (0.823, 1.133),
                (0.0, 0.525),
                (-0.823, 1.133),
                (-0.499, 0.162),
                (-1.331, -0.433),
                (-0.308, -0.425),
            ];
            around(&STAR)
        }
        _ => {
            let c = QUARTER * r;
            vec![
                Step::Move(x + r, y),
                Step::Curve([x + r, y + c, x + c, y + r, x, y + r]),
                Step::Curve([x - c, y + r, x - r, y + c, x - r, y]),
                Step::Curve([x - r, y - c, x - c, y - r, x, y - r]),
                Step::Curve([x + c, y - r, x + r, y - c, x + r, y]),
                Step::Close,
            ]
        }
    }
}
