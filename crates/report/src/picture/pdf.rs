//! A scene as PDF 1.7: one page, whose texts are texts in an embedded font. The file has no date, so that the same
//! scene gives the same bytes.

use super::font::{FILE, Font, NAME};
use super::look::Rgb;
use super::scene::{Anchor, Item, Path, Scene, Step, Text};
use super::svg::number;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use subsetter::{GlyphRemapper, subset};

/// The numbers of the objects; those of opacities follow.
const CATALOG: usize = 1;
const PAGES: usize = 2;
const PAGE: usize = 3;
const CONTENT: usize = 4;
const INFO: usize = 5;
const FONT: usize = 6;
const LETTERS: usize = 7;
const METRICS: usize = 8;
const UNICODE: usize = 9;
const FONT_FILE: usize = 10;
const FIRST_OPACITY: usize = 11;
/// The most entries of one block of a map to Unicode.
const BLOCK: usize = 100;

/// The letters that the page has.
#[derive(Default)]
struct Used {
    remapper: GlyphRemapper,
    /// The letter of each glyph of the embedded font, and the glyph's width in thousandths of the font's height.
    letters: BTreeMap<u16, (char, f64)>,
}

/// Writes the scene.
pub(super) fn write(scene: &Scene, font: &Font) -> Vec<u8> {
    let mut used = Used::default();
    let mut opacities: Vec<f64> = Vec::new();
    let content = content(scene, font, &mut used, &mut opacities);
    let part = subset(FILE, 0, &used.remapper).unwrap_or_else(|_| FILE.to_owned());
    // The name of a part begins with six letters that distinguish it from other parts.
    let hash = blake3::hash(&part);
    let tag = hash.as_bytes()[..6].iter().map(|byte| char::from(b'A' + byte % 26));
    let name: String = tag.chain("+".chars()).chain(NAME.chars()).collect();
    let (width, height) = (number(scene.width), number(scene.height));
    let states = (0..opacities.len()).map(|place| format!("/O{place} {} 0 R", FIRST_OPACITY + place));
    let states = states.collect::<Vec<_>>().join(" ");
    let producer = concat!("tightlink ", env!("CARGO_PKG_VERSION"));
    let mut file = File::default();
    file.object(CATALOG, &format!("<< /Type /Catalog /Pages {PAGES} 0 R >>"));
    file.object(PAGES, &format!("<< /Type /Pages /Kids [{PAGE} 0 R] /Count 1 >>"));
    file.object(
        PAGE,
        &format!(
            "<< /Type /Page /Parent {PAGES} 0 R /MediaBox [0 0 {width} {height}] /Contents {CONTENT} 0 R \
             /Resources << /Font << /F {FONT} 0 R >> /ExtGState << {states} >> >> >>"
        ),
    );
    file.stream(CONTENT, "", content.as_bytes());
    file.object(INFO, &format!("<< /Title {} /Producer ({producer}) >>", utf16(&scene.title)));
    file.object(
        FONT,
        &format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H \
             /DescendantFonts [{LETTERS} 0 R] /ToUnicode {UNICODE} 0 R >>"
        ),
    );
    let widths: Vec<String> =
        used.letters.iter().map(|(glyph, (_, width))| format!("{glyph} [{}]", number(*width))).collect();
    file.object(
        LETTERS,
        &format!(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity \
             /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
             /FontDescriptor {METRICS} 0 R /W [{}] >>",
            widths.join(" ")
        ),
    );
    file.object(METRICS, &metrics(font, &name));
    file.stream(UNICODE, "", unicode(&used).as_bytes());
    file.stream(FONT_FILE, &format!(" /Length1 {}", part.len()), &part);
    for (place, opacity) in opacities.iter().enumerate() {
        let opacity = number(*opacity);
        file.object(FIRST_OPACITY + place, &format!("<< /Type /ExtGState /CA {opacity} /ca {opacity} >>"));
    }
    file.finish()
}

/// A file under way: its bytes, and the place of each object.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl File {
    /// Writes the object with the next number.
    fn object(&mut self, id: usize, content: &str) {
        self.begin(id);
        self.bytes.extend_from_slice(content.as_bytes());
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    /// Writes a compressed stream as the object with the next number; `more` are further entries of its dictionary.
    fn stream(&mut self, id: usize, more: &str, content: &[u8]) {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        // A vector takes all bytes.
        let written = encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default();
        self.begin(id);
        let head = format!("<< /Length {} /Filter /FlateDecode{more} >>\nstream\n", written.len());
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(&written);
        self.bytes.extend_from_slice(b"\nendstream\nendobj\n");
    }

    fn begin(&mut self, id: usize) {
        if self.bytes.is_empty() {
            // The four bytes above 127 tell programs that the file is not text.
            self.bytes.extend_from_slice(b"%PDF-1.7\n%\x80\x80\x80\x80\n");
        }
        self.places.push(self.bytes.len());
        debug_assert_eq!(self.places.len(), id, "objects are written in the order of their numbers");
        self.bytes.extend_from_slice(format!("{id} 0 obj\n").as_bytes());
    }

    /// Adds the table of objects.
    fn finish(mut self) -> Vec<u8> {
        let (start, size) = (self.bytes.len(), self.places.len() + 1);
        let mut table = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for place in &self.places {
            let _ = writeln!(table, "{place:010} 00000 n ");
        }
        let _ = write!(
            table,
            "trailer\n<< /Size {size} /Root {CATALOG} 0 R /Info {INFO} 0 R >>\nstartxref\n{start}\n%%EOF\n"
        );
        self.bytes.extend_from_slice(table.as_bytes());
        self.bytes
    }
}

/// Returns the font's descriptor.
fn metrics(font: &Font, name: &str) -> String {
    let face = &font.face;
    let thousandths = |units: i16| number((f64::from(units) * 1000.0 / font.units).round());
    let frame = face.global_bounding_box();
    let corners = [frame.x_min, frame.y_min, frame.x_max, frame.y_max].map(thousandths).join(" ");
    let capitals = face.capital_height().unwrap_or_else(|| face.ascender());
    // 32 says that the letters are those of Latin; the width of stems is about that of Arial.
    format!(
        "<< /Type /FontDescriptor /FontName /{name} /Flags 32 /FontBBox [{corners}] /ItalicAngle 0 \
         /Ascent {} /Descent {} /CapHeight {} /StemV 80 /FontFile2 {FONT_FILE} 0 R >>",
        thousandths(face.ascender()),
        thousandths(face.descender()),
        thousandths(capitals)
    )
}

/// Returns the map from glyphs to letters, by which a reader searches and copies text.
fn unicode(used: &Used) -> String {
    let mut out = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
         /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n\
         /CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
         1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n",
    );
    let letters: Vec<(u16, char)> =
        used.letters.iter().map(|(glyph, (letter, _))| (*glyph, *letter)).collect();
    for block in letters.chunks(BLOCK) {
        let _ = writeln!(out, "{} beginbfchar", block.len());
        for (glyph, letter) in block {
            let _ = writeln!(out, "<{glyph:04X}> <{}>", hex16(&letter.to_string()));
        }
        out += "endbfchar\n";
    }
    out + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
}

/// Returns the digits of a text in UTF-16.
fn hex16(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |mut out, unit| {
        let _ = write!(out, "{unit:04X}");
        out
    })
}

/// Returns a text as a string of a PDF.
fn utf16(text: &str) -> String {
    format!("<FEFF{}>", hex16(text))
}

/// Writes the page's operators. `opacities` gets the opacities below 1 that it uses.
fn content(scene: &Scene, font: &Font, used: &mut Used, opacities: &mut Vec<f64>) -> String {
    // A scene has its origin at the upper left, a page at the lower left.
    let mut out = format!("1 0 0 -1 0 {} cm\n", number(scene.height));
    let plot = scene.plot;
    let [left, top, width, height] = [plot.left, plot.top, plot.width(), plot.height()].map(number);
    for item in &scene.items {
        match item {
            Item::Path(path) => {
                out += "q ";
                if path.inside {
                    let _ = write!(out, "{left} {top} {width} {height} re W n ");
                }
                if path.opacity < 1.0 {
                    let known = opacities.iter().position(|known| *known == path.opacity);
                    let place = known.unwrap_or_else(|| {
                        opacities.push(path.opacity);
                        opacities.len() - 1
                    });
                    let _ = write!(out, "/O{place} gs ");
                }
                self::path(&mut out, path);
                out += " Q\n";
            }
            Item::Text(text) => self::text(&mut out, text, font, used),
            Item::Begin(..) | Item::End => {}
        }
    }
    out
}

fn path(out: &mut String, path: &Path) {
    if let Some(fill) = path.fill {
        *out += &format!("{} rg ", color(fill));
    }
    if let Some(stroke) = &path.stroke {
        let _ = write!(out, "{} RG {} w 1 j ", color(stroke.color), number(stroke.width));
        if !stroke.dash.is_empty() {
            let _ = write!(out, "[{}] 0 d ", numbers(&stroke.dash));
        }
    }
    for step in &path.steps {
        let _ = match step {
            Step::Move(x, y) => write!(out, "{} m ", numbers(&[*x, *y])),
            Step::Line(x, y) => write!(out, "{} l ", numbers(&[*x, *y])),
            Step::Curve(all) => write!(out, "{} c ", numbers(all)),
            Step::Close => write!(out, "h "),
        };
    }
    *out += match (path.fill.is_some(), path.stroke.is_some()) {
        (true, true) => "B",
        (true, false) => "f",
        (false, true) => "S",
        (false, false) => "n",
    };
}

fn text(out: &mut String, text: &Text, font: &Font, used: &mut Used) {
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font.width(&text.text, text.size) / 2.0,
        Anchor::End => font.width(&text.text, text.size),
    };
    // The page is mirrored, so letters are mirrored once more.
    let matrix = if text.upwards {
        [0.0, -1.0, -1.0, 0.0, text.x, text.y + before]
    } else {
        [1.0, 0.0, 0.0, -1.0, text.x - before, text.y]
    };
    let (color, size) = (color(text.color), number(text.size));
    let _ = write!(out, "BT {color} rg /F {size} Tf {} Tm [", numbers(&matrix));
    for letter in font.letters(&text.text) {
        let glyph = used.remapper.remap(letter.glyph.0);
        let own = f64::from(font.face.glyph_hor_advance(letter.glyph).unwrap_or_default());
        used.letters.entry(glyph).or_insert((letter.letter, own * 1000.0 / font.units));
        let _ = write!(out, "<{glyph:04X}>");
        // A narrow space is narrower than the font's.
        if own > letter.advance {
            *out += &number((own - letter.advance) * 1000.0 / font.units);
        }
    }
    *out += "] TJ ET\n";
}

fn color(Rgb(parts): Rgb) -> String {
    numbers(&parts.map(|part| f64::from(part) / 255.0))
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" ")
}
