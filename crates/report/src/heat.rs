//! A heat map on a page: a table whose cells have a colour, so that it needs no script, prints, and can be read aloud.

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
    let most = map.values().fold(f64::MIN, f64::max);
    let least = map.values().fold(f64::MAX, f64::min);
    let decimals = decimals_for(most.abs().max(least.abs()), 3);
    let mut out = format!(
        "<figure class=\"heat\"><figcaption><b>{}</b> <span class=\"unit\">{}</span> <span class=\"note\">{}rows: \
         {}; columns: {}</span></figcaption><div class=\"scroll\"><table class=\"heat\" data-map=\"{index}\"><thead><tr><th></th>",
        escape_html(&super::text::capitalized(&map.z.label)),
        escape_html(&map.z.unit),
        if map.name.is_empty() { String::new() } else { format!("{}; ", escape_html(&map.name)) },
        escape_html(&map.rows),
        escape_html(&map.x),
    );
    for column in &map.columns {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape_html(column));
    }
    out += "<th scope=\"col\">mean</th></tr></thead><tbody>";
    for row in &map.cells {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape_html(&row.name));
        for (column, value) in map.columns.iter().zip(&row.values) {
            let raw = value.map(|value| value.to_string()).unwrap_or_default();
            let color = value.map(|value| color(value, map.middle, [least, most])).unwrap_or_default();
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

/// Returns the cell's background.
fn color(value: f64, middle: bool, [least, most]: [f64; 2]) -> String {
    let (toward, strength) = if middle {
        (if value < 50.0 { BELOW } else { ABOVE }, (value - 50.0).abs() / 50.0)
    } else if most > least {
        (ABOVE, (value - least) / (most - least))
    } else {
        return String::new();
    };
    let part = |full: f64| (WHITE + (full - WHITE) * strength.min(1.0) * STRONGEST).round();
    let [red, green, blue] = toward.map(part);
    format!(" style=\"background:rgb({red},{green},{blue})\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_white_and_more_than_half_has_another_colour_than_less() {
        assert_eq!(color(50.0, true, [0.0, 100.0]), " style=\"background:rgb(255,255,255)\"");
        let (all, none) = (color(100.0, true, [0.0, 100.0]), color(0.0, true, [0.0, 100.0]));
        assert_ne!(all, none);
        assert_eq!(color(3.0, false, [3.0, 3.0]), "");
        assert_eq!(color(3.0, false, [3.0, 9.0]), " style=\"background:rgb(255,255,255)\"");
    }
}
