//! The colours, dashes and markers of charts. Colours are those of `assets/report.css` on paper, the rest is in
//! `assets/looks.json`, which the pages' scripts read as well.

use crate::frame::{LOOKS, STYLE};
use lab::run::record::Engine;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) [u8; 3]);

pub(super) const WHITE: Rgb = Rgb([255; 3]);

impl Rgb {
    /// Returns the colour on the way to `other`, at this share of the way.
    pub(super) fn mixed(self, other: Self, share: f64) -> Self {
        let part = |place: usize| {
            let (from, to) = (f64::from(self.0[place]), f64::from(other.0[place]));
            (from + (to - from) * share.clamp(0.0, 1.0)).round() as u8
        };
        Self([part(0), part(1), part(2)])
    }
}

/// The colours of flows, which follow each other in a circle.
const FLOWS: usize = 6;

/// An engine's line.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EngineLook {
    /// Dashes and gaps; empty for a solid line.
    pub(super) dash: Vec<f64>,
    pub(super) width: f64,
    pub(super) symbol: String,
}

#[derive(Debug, Deserialize)]
struct File {
    engines: BTreeMap<String, EngineLook>,
    flow_symbols: Vec<String>,
    curves: Vec<(String, String)>,
}

/// The look of all charts.
#[derive(Debug)]
pub(super) struct Look {
    colors: BTreeMap<String, Rgb>,
    file: File,
}

impl Look {
    /// Reads the look.
    ///
    /// # Panics
    /// Never: the files are a part of the program, and tests read them.
    pub(super) fn new() -> Self {
        let file = serde_json::from_str(LOOKS).expect("looks.json of this crate");
        Self { colors: colors(STYLE), file }
    }

    /// Returns the colour of this name in `report.css`.
    pub(super) fn color(&self, name: &str) -> Rgb {
        self.colors.get(name).copied().unwrap_or(Rgb([0; 3]))
    }

    /// Returns the colour of the flow with this index.
    pub(super) fn flow(&self, index: usize) -> Rgb {
        self.color(&format!("flow-{}", index % FLOWS + 1))
    }

    /// Returns an engine's colour.
    pub(super) fn of(&self, engine: Engine) -> Rgb {
        self.color(&engine.to_string())
    }

    /// Returns an engine's line.
    pub(super) fn engine(&self, engine: Engine) -> &EngineLook {
        &self.file.engines[&engine.to_string()]
    }

    /// Returns the marker of the flow with this index.
    pub(super) fn flow_symbol(&self, index: usize) -> &str {
        &self.file.flow_symbols[index % self.file.flow_symbols.len()]
    }

    /// Returns colour and marker of the curve with this index.
    pub(super) fn curve(&self, index: usize) -> (Rgb, &str) {
        let (color, symbol) = &self.file.curves[index % self.file.curves.len()];
        (self.color(color), symbol)
    }
}

/// Returns the colours of the first block of the style, which are those on paper: `--ink: #1c2126;`.
fn colors(style: &str) -> BTreeMap<String, Rgb> {
    let block = style.split_once(":root {").and_then(|(_, rest)| rest.split_once('}'));
    let entries = block.map_or("", |(block, _)| block).split(';');
    let color = |entry: &str| {
        let (name, value) = entry.trim().strip_prefix("--")?.split_once(':')?;
        Some((name.trim().to_owned(), hex(value.trim())?))
    };
    entries.filter_map(color).collect()
}

/// Reads `#1c2126`, or `#fff`.
fn hex(text: &str) -> Option<Rgb> {
    let digits: Vec<u8> = text
        .strip_prefix('#')?
        .chars()
        .map(|digit| Some(digit.to_digit(16)? as u8))
        .collect::<Option<_>>()?;
    match digits[..] {
        [r, g, b] => Some(Rgb([17 * r, 17 * g, 17 * b])),
        [r, r2, g, g2, b, b2] => Some(Rgb([16 * r + r2, 16 * g + g2, 16 * b + b2])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_look_is_a_colour_on_paper() {
        let look = Look::new();
        for name in ["paper", "ink", "muted", "grid", "level", "shade", "model", "sim", "live", "flow-6"] {
            assert!(look.colors.contains_key(name), "{name}");
        }
        for (color, _) in &look.file.curves {
            assert!(look.colors.contains_key(color), "{color}");
        }
        for engine in Engine::ALL {
            assert!(!look.engine(engine).symbol.is_empty());
        }
        assert_eq!(look.color("paper"), WHITE);
        assert_eq!(look.color("sim"), Rgb([0, 0x72, 0xb2]));
    }
}
