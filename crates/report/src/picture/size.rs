//! The size of a picture: "85x60mm".

use std::fmt;
use std::str::FromStr;
use units::Complaint;

/// The width of one column of most journals, and a height that suits it, millimetres.
const COLUMN: [f64; 2] = [85.0, 60.0];
/// The least and the greatest length, millimetres.
const LENGTHS: std::ops::RangeInclusive<f64> = 60.0..=1000.0;
const LEAST_HEIGHT: f64 = 45.0;
const POINTS: f64 = 72.0 / 25.4;
const INCH: f64 = 25.4;

/// A picture's width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSize {
    width_mm: f64,
    height_mm: f64,
}

impl PictureSize {
    /// Returns a size in which a map of this many cells can be read.
    pub(super) fn for_cells(columns: usize, rows: usize) -> Self {
        let within = |length: f64, least: f64| length.clamp(least, *LENGTHS.end());
        let [width, height] = COLUMN;
        Self {
            width_mm: within(30.0 + 9.0 * columns as f64, width),
            height_mm: within(22.0 + 5.0 * rows as f64, height),
        }
    }

    /// Returns width and height in points.
    pub(super) fn points(self) -> [f64; 2] {
        [self.width_mm * POINTS, self.height_mm * POINTS]
    }
}

impl Default for PictureSize {
    /// Returns the size for one column.
    fn default() -> Self {
        Self { width_mm: COLUMN[0], height_mm: COLUMN[1] }
    }
}

impl fmt::Display for PictureSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}mm", self.width_mm, self.height_mm)
    }
}

impl FromStr for PictureSize {
    type Err = Complaint;

    /// Reads `85x60mm`, `8.5x6cm` or `3.5x2.5in`; a length without a unit is in millimetres.
    fn from_str(text: &str) -> Result<Self, Complaint> {
        let refused = || {
            Complaint::new("", format!("\"{text}\" is not a size of a picture"))
                .accepted("WIDTHxHEIGHT in mm, cm or in, from 60x45mm to 1000x1000mm")
                .help(format!("one column of a journal is {}", Self::default()))
        };
        let text = text.trim();
        let units = [("mm", 1.0), ("cm", 10.0), ("in", INCH), ("", 1.0)];
        let found = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
        let (numbers, scale) = found.ok_or_else(refused)?;
        let (width, height) = numbers.split_once(['x', '×']).ok_or_else(refused)?;
        // Whole micrometres, so that 3.5 inches are 88.9 mm and not a little less.
        let micrometres = |number: f64| (number * scale * 1e3).round() / 1e3;
        let length = |text: &str| text.trim().parse::<f64>().map(micrometres).map_err(|_| refused());
        let (width_mm, height_mm) = (length(width)?, length(height)?);
        let fits = LENGTHS.contains(&width_mm) && (LEAST_HEIGHT..=*LENGTHS.end()).contains(&height_mm);
        if fits { Ok(Self { width_mm, height_mm }) } else { Err(refused()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_in_three_units_and_nothing_else_is() {
        let size: PictureSize = "85x60mm".parse().unwrap();
        assert_eq!(size, PictureSize::default());
        assert_eq!("8.5 x 6cm".parse::<PictureSize>().unwrap(), size);
        assert_eq!("85×60".parse::<PictureSize>().unwrap(), size);
        assert_eq!("3.5x2in".parse::<PictureSize>().unwrap().to_string(), "88.9x50.8mm");
        for wrong in
            ["", "85", "85mm", "85xmm", "-85x60mm", "85x60pt", "nanxnan", "infx60", "59x60mm", "85x5000"]
        {
            assert!(wrong.parse::<PictureSize>().is_err(), "{wrong}");
        }
    }
}
