//! A heat map on a page: a table whose cells have a colour, so that it needs no script, prints, and can be read aloud.

use super::picture::saved_map;
use super::text::{decimals_for, escape_html, number};
use lab::study::curves::HeatMap;
use std::fmt::Write as _;

/// The colour of values below the middle: blue of Okabe-Ito, whose colours everyone can distinguish.
const BELOW: [f64; 3] = [0.0, 114.0, 178.0];
/// The colour of values above the middle, and of all values of a map without a middle: vermilion of Okabe-Ito.
const ABOVE: [f64; 3] = [213.0, 94.0, 0.0];
const WHITE: f64 = 255.0;
/// The strength of the strongest colour, which leaves black text readable.
const STRONGEST: f64 = 0.62;

/// Writes the map as a figure, with the mean of each row next to it.
pub(super) fn heat_map((index, map): (usize, &HeatMap)) -> String {
    let (colors, decimals) = (Colors::of(map), decimals(map));
    let mut out = format!(
        "<figure class=\"heat\"><figcaption><b>{}</b> <span class=\"unit\">{}</span> <span class=\"note\">{}rows: \
         {}; columns: {}</span><a class=\"save\" download=\"tightlink-map-{}.svg\" href=\"{}\" title=\"Save this map as an SVG file\">SVG</a></figcaption><div class=\"scroll\"><table class=\"heat\" data-map=\"{index}\"><thead><tr><th></th>",
        escape_html(&super::text::capitalized(&map.z.label)),
        escape_html(&map.z.unit),
        if map.name.is_empty() { String::new() } else { format!("{}; ", escape_html(&map.name)) },
        escape_html(&map.rows),
        escape_html(&map.x),
        index + 1,
        saved_map(map),
    );
    for column in &map.columns {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape_html(column));
    }
    out += "<th scope=\"col\">mean</th></tr></thead><tbody>";
    for row in &map.cells {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape_html(&row.name));
        for (column, value) in map.columns.iter().zip(&row.values) {
            let raw = value.map(|value| value.to_string()).unwrap_or_default();
            let color = background(value.and_then(|value| colors.color(value)));
            let title = format!("{} against {column}", row.name);
            let _ = write!(
                out,
                "<td data-value=\"{raw}\" title=\"{}\"{color}>{}</td>",
                escape_html(&title),
                number(*value, decimals)
            );
        }
        let _ = write!(out, "<td class=\"mean\">{}</td></tr>", number(row.mean(), decimals));
    }
    out + "</tbody></table></div></figure>"
}

/// Returns the number of decimals of the map's numbers.
pub(super) fn decimals(map: &HeatMap) -> usize {
    decimals_for(map.values().map(f64::abs).fold(0.0, f64::max), 3)
}

/// The colours of a map's values.
pub(super) struct Colors {
    /// True if the colours have their middle at 50 %.
    middle: bool,
    least: f64,
    most: f64,
}

impl Colors {
    pub(super) fn of(map: &HeatMap) -> Self {
        let most = map.values().fold(f64::MIN, f64::max);
        let least = map.values().fold(f64::MAX, f64::min);
        Self { middle: map.middle, least, most }
    }

    /// Returns the least and the greatest value that have a colour.
    pub(super) fn ends(&self) -> [f64; 2] {
        if self.middle { [0.0, 100.0] } else { [self.least, self.most] }
    }

    /// Returns the colour of a value; `None` if all values are the same.
    pub(super) fn color(&self, value: f64) -> Option<[u8; 3]> {
        let (toward, strength) = if self.middle {
            (if value < 50.0 { BELOW } else { ABOVE }, (value - 50.0).abs() / 50.0)
        } else if self.most > self.least {
            (ABOVE, (value - self.least) / (self.most - self.least))
        } else {
            return None;
        };
        Some(toward.map(|full| (WHITE + (full - WHITE) * strength.min(1.0) * STRONGEST).round() as u8))
    }
}

/// Writes the attribute with a cell's background.
fn background(color: Option<[u8; 3]>) -> String {
    color.map_or_else(String::new, |[red, green, blue]| {
        format!(" style=\"background:rgb({red},{green},{blue})\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_white_and_more_than_half_has_another_colour_than_less() {
        let colors = Colors { middle: true, least: 0.0, most: 100.0 };
        assert_eq!(background(colors.color(50.0)), " style=\"background:rgb(255,255,255)\"");
        assert_ne!(colors.color(100.0), colors.color(0.0));
        assert_eq!(Colors { middle: false, least: 3.0, most: 3.0 }.color(3.0), None);
        let colors = Colors { middle: false, least: 3.0, most: 9.0 };
        assert_eq!(colors.color(3.0), Some([255; 3]));
    }
}
