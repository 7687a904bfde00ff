//! A scene as SVG 1.1. Each letter is an outline that is defined once, because Inkscape and librsvg ignore a font
//! inside the file. A text's words are the label of its group, for programs that read a picture aloud.

use super::font::Font;
use super::look::Rgb;
use super::scene::{Anchor, Item, Path, Scene, Step, Text};
use crate::text::escape_html;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The number of points in a millimetre.
const POINTS: f64 = 72.0 / 25.4;

/// Writes the scene.
pub(super) fn write(scene: &Scene, font: &Font) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" \
         width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {width} {height}\">",
        number(scene.width / POINTS),
        number(scene.height / POINTS)
    );
    let _ = writeln!(out, "<title>{}</title>", escape_html(&scene.title));
    out += "<defs>\n";
    let plot = scene.plot;
    let _ = writeln!(
        out,
        "<clipPath id=\"plot\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
        number(plot.left),
        number(plot.top),
        number(plot.width()),
        number(plot.height())
    );
    for (glyph, outline) in outlines(scene, font) {
        let _ = writeln!(out, "<path id=\"g{glyph}\" d=\"{outline}\"/>");
    }
    out += "</defs>\n";
    for item in &scene.items {
        match item {
            Item::Path(path) => self::path(&mut out, path),
            Item::Text(text) => self::text(&mut out, text, font),
            Item::Begin(class, name) => {
                let _ = writeln!(out, "<g class=\"{class}\">");
                if !name.is_empty() {
                    let _ = writeln!(out, "<title>{}</title>", escape_html(name));
                }
            }
            Item::End => out += "</g>\n",
        }
    }
    out + "</svg>\n"
}

/// Returns the outlines of the letters that the scene has, by glyph. A space has none.
fn outlines(scene: &Scene, font: &Font) -> BTreeMap<u16, String> {
    let mut outlines = BTreeMap::new();
    for item in &scene.items {
        let Item::Text(text) = item else { continue };
        for letter in font.letters(&text.text) {
            outlines.entry(letter.glyph.0).or_insert_with(|| font.outline(letter.glyph));
        }
    }
    outlines.retain(|_, outline| !outline.is_empty());
    outlines
}

fn path(out: &mut String, path: &Path) {
    *out += "<path d=\"";
    *out += &data(&path.steps);
    *out += "\" fill=\"";
    *out += &path.fill.map_or_else(|| "none".into(), color);
    *out += "\"";
    if let Some(stroke) = &path.stroke {
        let _ = write!(out, " stroke=\"{}\" stroke-width=\"{}\"", color(stroke.color), number(stroke.width));
        *out += " stroke-linejoin=\"round\"";
        if !stroke.dash.is_empty() {
            let dashes: Vec<String> = stroke.dash.iter().map(|length| number(*length)).collect();
            let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    if path.opacity < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", number(path.opacity));
    }
    if path.inside {
        *out += " clip-path=\"url(#plot)\"";
    }
    *out += "/>\n";
}

fn data(steps: &[Step]) -> String {
    let mut out = String::new();
    let mut add = |command: char, numbers: &[f64]| {
        out.push(command);
        for (place, value) in numbers.iter().enumerate() {
            if place > 0 {
                out.push(' ');
            }
            out += &number(*value);
        }
    };
    for step in steps {
        match step {
            Step::Move(x, y) => add('M', &[*x, *y]),
            Step::Line(x, y) => add('L', &[*x, *y]),
            Step::Curve(all) => add('C', all),
            Step::Close => add('Z', &[]),
        }
    }
    out
}

fn text(out: &mut String, text: &Text, font: &Font) {
    let scale = text.size / font.units;
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font.width(&text.text, text.size) / 2.0,
        Anchor::End => font.width(&text.text, text.size),
    };
    let (x, y) = if text.upwards { (text.x, text.y + before) } else { (text.x - before, text.y) };
    let turned = if text.upwards { " rotate(-90)" } else { "" };
    let _ = write!(
        out,
        "<g class=\"text\" aria-label=\"{}\" fill=\"{}\" transform=\"translate({} {}){turned} scale({scale:.6})\">",
        escape_html(&text.text),
        color(text.color),
        number(x),
        number(y)
    );
    for letter in font.letters(&text.text).iter().filter(|letter| !letter.letter.is_whitespace()) {
        let _ = write!(out, "<use xlink:href=\"#g{}\" x=\"{}\"/>", letter.glyph.0, letter.at.round());
    }
    *out += "</g>\n";
}

fn color(Rgb([red, green, blue]): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Writes a number to a thousandth, which is a third of a micrometre on the page.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}
