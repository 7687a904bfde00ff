//! Pictures for a paper: the charts of a page, drawn without a browser as SVG or PDF, in millimetres.
//!
//! A picture has the data, words and colours of the page's chart, but neither its title nor its notes, because a paper
//! has a caption. The parts, in reading order: `scene` is a picture as plain data, which `svg` and `pdf` write. `axes`,
//! `scale` and `legend` draw what surrounds the curves; `against_time`, `curves`, `overview` and `map` draw the charts
//! of each kind. `look` reads colours and markers, `font` measures texts. `size` has the size as typed.

mod against_time;
mod axes;
mod curves;
mod font;
mod legend;
mod look;
mod map;
mod overview;
mod pdf;
mod scale;
mod scene;
mod size;
mod svg;

use crate::chart::{CaseData, Chart};
use crate::page::{OVERVIEWS, Overview};
use crate::swept::SweptChart;
use font::Font;
use lab::study::curves::HeatMap;
use look::Look;
use scene::{Item, Scene};
pub use size::PictureSize;
use std::collections::BTreeSet;
use std::rc::Rc;
use ttf_parser::GlyphId;

/// The most letters of a name.
const NAME: usize = 60;

/// A chart that can become a file.
#[derive(Clone, Debug)]
pub struct Picture {
    name: String,
    title: String,
    drawing: Drawing,
}

/// The data of a chart.
#[derive(Clone, Debug)]
enum Drawing {
    /// A chart against time, and its case without charts.
    Time(Rc<CaseData>, Box<Chart>),
    Swept(Box<SweptChart>),
    Map(Box<HeatMap>),
    /// A row for each case.
    Overview(Overview, Rc<[CaseData]>),
}

/// A picture that is drawn, but not yet written.
pub struct Drawn {
    scene: Scene,
    font: Font,
}

impl Picture {
    /// Returns the name that is unique on its page, such as `rate`, `case-2-rtt` or `idle-time`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Draws the chart in this size.
    #[must_use]
    pub fn draw(&self, size: PictureSize) -> Drawn {
        let (look, font) = (Look::new(), Font::new());
        let (title, size) = (self.title.as_str(), size.points());
        let scene = match &self.drawing {
            Drawing::Time(case, chart) => against_time::draw(case, chart, title, size, &look, &font),
            Drawing::Swept(chart) => curves::draw(chart, title, size, &look, &font),
            Drawing::Overview(of, cases) => overview::draw(of, cases, size, &look, &font),
            Drawing::Map(map) => map::draw(map, title, size, &look, &font),
        };
        Drawn { scene, font }
    }
}

impl Drawn {
    /// Writes the picture as SVG, whose texts are outlines. The same picture gives the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::write(&self.scene, &self.font)
    }

    /// Writes the picture as PDF, whose texts are in an embedded font. The same picture gives the same bytes.
    #[must_use]
    pub fn pdf(&self) -> Vec<u8> {
        pdf::write(&self.scene, &self.font)
    }

    /// Returns the letters that the font lacks. A box stands for each.
    #[must_use]
    pub fn missing(&self) -> BTreeSet<char> {
        let texts = self.scene.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(&text.text),
            _ => None,
        });
        let letters = texts.flat_map(|text| self.font.letters(text));
        letters.filter(|letter| letter.glyph == GlyphId(0)).map(|letter| letter.letter).collect()
    }
}

/// Returns the pictures of all cases at a glance; none for a lone case.
pub(crate) fn overviews(cases: &[CaseData]) -> Vec<Picture> {
    if cases.len() < 2 {
        return Vec::new();
    }
    let bare: Rc<[CaseData]> =
        cases.iter().map(|case| CaseData { charts: Vec::new(), ..case.clone() }).collect();
    let picture = |of: Overview| {
        let (name, title) = (of.kind.to_owned(), of.title.to_owned());
        Picture { name, title, drawing: Drawing::Overview(of, Rc::clone(&bare)) }
    };
    OVERVIEWS.map(picture).into()
}

/// Returns the pictures of the charts against time of each case.
pub(crate) fn against_time(cases: &[CaseData]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let bare = CaseData { charts: Vec::new(), summaries: Vec::new(), ..case.clone() };
        let bare = Rc::new(bare);
        for chart in &case.charts {
            let name = if cases.len() > 1 {
                format!("case-{}-{}", index + 1, chart.kind)
            } else {
                chart.kind.clone()
            };
            let label = if case.label.is_empty() { String::new() } else { format!(", {}", case.label) };
            let title = format!("{}{label}", chart.title);
            let drawing = Drawing::Time(Rc::clone(&bare), Box::new(chart.clone()));
            pictures.push(Picture { name: slug(&name), title, drawing });
        }
    }
    unique(pictures)
}

/// Returns the pictures of charts against swept keys, and of maps.
pub(crate) fn swept(charts: impl IntoIterator<Item = SweptChart>, maps: &[HeatMap]) -> Vec<Picture> {
    let charts = charts.into_iter().map(|chart| {
        let (x, y) = (&chart.chart.x.label, &chart.chart.y.label);
        let title = format!("{y} against {x}");
        let name = slug(y);
        Picture { name, title, drawing: Drawing::Swept(Box::new(chart)) }
    });
    let maps = maps.iter().map(|map| {
        let title =
            if map.name.is_empty() { map.z.label.clone() } else { format!("{}, {}", map.z.label, map.name) };
        Picture { name: slug(&title), title, drawing: Drawing::Map(Box::new(map.clone())) }
    });
    unique(charts.chain(maps).collect())
}

/// Returns the link from which a browser saves the picture of a map: the picture itself.
pub(crate) fn saved_map(map: &HeatMap) -> String {
    let columns = map.columns.len() + 1;
    let size = PictureSize::for_cells(columns, map.cells.len());
    let scene = map::draw(map, &map.z.label, size.points(), &Look::new(), &Font::new());
    let mut link = String::from("data:image/svg+xml;charset=utf-8,");
    for letter in svg::write(&scene, &Font::new()).chars() {
        match letter {
            '%' => link += "%25",
            '#' => link += "%23",
            '"' => link += "%22",
            '<' => link += "%3C",
            '>' => link += "%3E",
            '&' => link += "%26",
            '\n' => link += "%0A",
            other => link.push(other),
        }
    }
    link
}

/// Appends a number to each name that another picture has: `loss`, `loss-2`.
fn unique(mut pictures: Vec<Picture>) -> Vec<Picture> {
    let mut taken = BTreeSet::new();
    for picture in &mut pictures {
        let name = picture.name.clone();
        let mut number = 2;
        while !taken.insert(picture.name.clone()) {
            picture.name = format!("{name}-{number}");
            number += 1;
        }
    }
    pictures
}

/// Returns the words as a part of a file's name: "queueing delay, p95" is `queueing-delay-p95`.
fn slug(words: &str) -> String {
    let mut out = String::new();
    for letter in words.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            out.push(letter);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= NAME {
            break;
        }
    }
    let name = out.trim_end_matches('-');
    if name.is_empty() { "chart".into() } else { name.into() }
}
