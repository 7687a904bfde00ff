//! The pictures' font: widths and outlines of letters. It is a part of Arimo, which has the widths of Arial and
//! Helvetica; `assets/README.md` says which part.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The font's file.
pub(super) const FILE: &[u8] = include_bytes!("../../assets/arimo-1.33-subset.ttf");
/// The name in a PDF.
pub(super) const NAME: &str = "Arimo";
/// The width of a narrow space, in units of the font's height. The font's own one is as wide as others.
const NARROW: f64 = 0.17;

/// The font, read.
pub(super) struct Font {
    pub(super) face: Face<'static>,
    /// The units of the file per height of the font.
    pub(super) units: f64,
}

/// One letter of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) letter: char,
    /// The glyph in the font; 0 is the box that stands for a letter that the font lacks.
    pub(super) glyph: GlyphId,
    /// The distance from the text's start, in units of the file.
    pub(super) at: f64,
    /// The distance to the next letter, in the same units.
    pub(super) advance: f64,
}

impl Font {
    /// Reads the font.
    ///
    /// # Panics
    /// Never: the file is a part of the program, and tests read it.
    pub(super) fn new() -> Self {
        let face = Face::parse(FILE, 0).expect("the font of this crate");
        let units = f64::from(face.units_per_em());
        Self { face, units }
    }

    /// Returns the letters of `text` with their places.
    pub(super) fn letters(&self, text: &str) -> Vec<Letter> {
        let mut at = 0.0;
        let letters = text.chars().map(|letter| {
            let glyph = self.face.glyph_index(letter).unwrap_or(GlyphId(0));
            let advance = match letter {
                '\u{202f}' | '\u{2009}' => NARROW * self.units,
                _ => f64::from(self.face.glyph_hor_advance(glyph).unwrap_or_default()),
            };
            let placed = Letter { letter, glyph, at, advance };
            at += advance;
            placed
        });
        letters.collect()
    }

    /// Returns the width of `text` in a font of this height, points.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        self.letters(text).last().map_or(0.0, |last| (last.at + last.advance) * size / self.units)
    }

    /// Returns the glyph's outline as the data of an SVG path, in units of the file, with y downwards.
    pub(super) fn outline(&self, glyph: GlyphId) -> String {
        let mut path = Outline(String::new());
        self.face.outline_glyph(glyph, &mut path);
        path.0
    }

    /// Returns the text in lines of at most this width. A word that is wider is cut.
    pub(super) fn wrapped(&self, text: &str, size: f64, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            if let Some(line) = lines.last_mut() {
                let longer = format!("{line} {word}");
                if self.width(&longer, size) <= width {
                    *line = longer;
                    continue;
                }
            }
            lines.push(self.cut(word, size, width));
        }
        lines
    }

    /// Returns the text, with an ellipsis in place of the end that exceeds this width.
    pub(super) fn cut(&self, text: &str, size: f64, width: f64) -> String {
        if self.width(text, size) <= width {
            return text.to_owned();
        }
        let room = (width - self.width("…", size)) * self.units / size;
        let kept = self.letters(text).into_iter().take_while(|letter| letter.at + letter.advance <= room);
        kept.map(|letter| letter.letter).chain(['…']).collect()
    }
}

/// The outline of a glyph as it grows.
struct Outline(String);

impl Outline {
    fn step(&mut self, command: char, numbers: &[f32]) {
        self.0.push(command);
        for (place, number) in numbers.iter().enumerate() {
            // Every second number is a y.
            let number = if place % 2 == 1 { -number } else { *number };
            if place > 0 && number >= 0.0 {
                self.0.push(' ');
            }
            self.0 += &(number.round() as i32).to_string();
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.step('M', &[x, y]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.step('L', &[x, y]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.step('Q', &[x1, y1, x, y]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.step('C', &[x1, y1, x2, y2, x, y]);
    }

    fn close(&mut self) {
        self.0.push('Z');
    }
}
