//! A picture read back: the places of its curves and texts, and the values that the axes give to places.

use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// A rectangle: left, top, right, bottom.
pub type Area = [f64; 4];

/// A picture read back.
pub struct Seen<'a> {
    document: &'a Document<'a>,
    /// The numbers of each glyph's outline, by its id.
    glyphs: BTreeMap<&'a str, Vec<f64>>,
    pub width: f64,
    pub height: f64,
}

/// One tick: its place along the axis, and its label.
pub type Tick = (f64, String);

/// Reads an attribute that must be there.
fn of<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_else(|| panic!("<{}> without {name}", node.tag_name().name()))
}

/// Returns the numbers of the data of a path, or of a list.
pub fn numbers(text: &str) -> Vec<f64> {
    let mut out = Vec::new();
    let mut word = String::new();
    for letter in text.chars().chain([' ']) {
        if letter == '-' || !(letter.is_ascii_digit() || letter == '.') {
            if !word.is_empty() {
                out.push(word.parse().unwrap_or_else(|_| panic!("{word}")));
            }
            word.clear();
        }
        if letter == '-' || letter.is_ascii_digit() || letter == '.' {
            word.push(letter);
        }
    }
    out
}

/// Returns the value that a tick's label names: "20 000", "≤ 0.001", "2×10⁷".
pub fn value(label: &str) -> f64 {
    let plain: String = label
        .trim_start_matches("≤ ")
        .replace('−', "-")
        .replace(['\u{202f}', '\u{a0}'], "")
        .chars()
        .map(|letter| {
            "⁰¹²³⁴⁵⁶⁷⁸⁹"
                .chars()
                .position(|raised| raised == letter)
                .map_or(letter, |digit| char::from(b'0' + digit as u8))
        })
        .collect();
    let plain = plain.replace('⁻', "-");
    let powers = match plain.split_once("×10") {
        Some((digits, power)) => format!("{digits}e{power}"),
        None if label.chars().any(|letter| "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(letter)) => {
            format!("1e{}", plain.trim_start_matches("10"))
        }
        None => plain,
    };
    powers.parse().unwrap_or_else(|_| panic!("{label}"))
}

impl<'a> Seen<'a> {
    pub fn new(document: &'a Document<'a>) -> Self {
        let root = document.root_element();
        let size = numbers(of(root, "viewBox"));
        let paths = document.descendants().filter(|node| node.has_tag_name("path"));
        let glyphs = paths.filter_map(|path| Some((path.attribute("id")?, numbers(of(path, "d"))))).collect();
        Self { document, glyphs, width: size[2], height: size[3] }
    }

    pub fn groups(&self, class: &str) -> Vec<Node<'a, 'a>> {
        self.document.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
    }

    /// Returns the places through which the line of the group with this title goes.
    pub fn line(&self, class: &str, name: &str) -> Vec<(f64, f64)> {
        let title = |node: &Node<'_, '_>| {
            let title = node.children().find(|child| child.has_tag_name("title"));
            title.and_then(|title| title.text().map(str::to_owned)).unwrap_or_default()
        };
        let groups = self.groups(class);
        let group = groups.iter().find(|group| title(group) == name);
        let group = group.unwrap_or_else(|| {
            panic!("{class} {name:?} among {:?}", groups.iter().map(title).collect::<Vec<_>>())
        });
        let path = group.children().find(|child| child.has_tag_name("path")).expect("a path");
        numbers(of(path, "d")).chunks(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Returns the ticks of both axes: the grid's lines, and the labels next to them.
    pub fn ticks(&self) -> [Vec<Tick>; 2] {
        let grid =
            self.groups("grid")[0].children().find(|child| child.has_tag_name("path")).expect("a grid");
        let lines: Vec<Vec<f64>> = numbers(of(grid, "d")).chunks(4).map(<[f64]>::to_vec).collect();
        let labels = |class: &str| {
            let texts =
                self.groups(class)[0].children().filter(|child| child.attribute("class") == Some("text"));
            texts.map(|text| of(text, "aria-label").to_owned()).collect::<Vec<String>>()
        };
        let upright = lines.iter().filter(|line| line[0] == line[2]).map(|line| line[0]);
        let level = lines.iter().filter(|line| line[1] == line[3]).map(|line| line[1]);
        [upright.zip(labels("x-axis")).collect(), level.zip(labels("y-axis")).collect()]
    }

    /// Returns the value at a place of an axis, which its first and last tick define.
    pub fn at(ticks: &[Tick], place: f64, log: bool) -> f64 {
        let ends = [ticks.first().expect("a tick"), ticks.last().expect("a tick")];
        let [from, to] = ends.map(|(_, label)| if log { value(label).log10_() } else { value(label) });
        let [start, end] = ends.map(|(place, _)| *place);
        let found = from + (to - from) * (place - start) / (end - start);
        if log { libm::pow(10.0, found) } else { found }
    }

    /// Returns each text with the area that its letters cover.
    pub fn texts(&self) -> Vec<(String, Area)> {
        self.groups("text")
            .into_iter()
            .map(|text| (of(text, "aria-label").to_owned(), self.area(text)))
            .collect()
    }

    fn area(&self, text: Node<'a, 'a>) -> Area {
        let transform = of(text, "transform");
        let turned = transform.contains("rotate(-90)");
        let all = numbers(&transform.replace("rotate(-90)", ""));
        let (x, y, scale) = (all[0], all[1], all[2]);
        let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for letter in text.children().filter(|child| child.has_tag_name("use")) {
            let link = letter.attribute(("http://www.w3.org/1999/xlink", "href")).expect("a glyph");
            let outline = &self.glyphs[link.trim_start_matches('#')];
            let at: f64 = of(letter, "x").parse().expect("a number");
            for pair in outline.chunks(2) {
                let (u, v) = (scale * (pair[0] + at), scale * pair[1]);
                let (px, py) = if turned { (x + v, y - u) } else { (x + u, y + v) };
                area = [area[0].min(px), area[1].min(py), area[2].max(px), area[3].max(py)];
            }
        }
        area
    }
}

/// The logarithm that this workspace allows.
trait Log {
    fn log10_(self) -> f64;
}

impl Log for f64 {
    fn log10_(self) -> f64 {
        libm::log10(self)
    }
}
