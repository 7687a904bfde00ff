//! The page of a figure over a sweep: the published statement, the curves, the claims, the numbers.

use super::Verdict;
use super::frame::Frame;
use super::heat::heat_map;
use super::page::verdicts;
use super::text::{capitalized, decimals_for, escape_html, json_for_script, number};
use lab::study::curves::{Axis, CurveChart, Curves};
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/figure.html");
const SCRIPT: &str = include_str!("../assets/figure.js");

/// All a figure's page shows.
#[derive(Clone, Debug)]
pub struct FigurePage {
    /// Headline.
    pub title: String,
    /// Id of the published result.
    pub source: Option<String>,
    /// The charts.
    pub curves: Curves,
    /// How many points were computed, in a sentence.
    pub headline: String,
    /// Verdicts on published relations.
    pub verdicts: Vec<Verdict>,
    /// The scenario file as the person wrote it, and its name.
    pub scenario_text: String,
    /// See `scenario_text`.
    pub scenario_name: String,
    /// The command that made the page.
    pub command: String,
}

impl FigurePage {
    /// The page: one HTML document that opens from a file and asks the network for nothing. The same figure gives
    /// the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        let frame = Frame {
            title: &self.title,
            source: self.source.as_deref(),
            scenario_text: &self.scenario_text,
            scenario_name: &self.scenario_name,
            command: &self.command,
            data: json_for_script(&self.curves),
            script: SCRIPT,
        };
        frame.fill(BODY, |name| {
            Some(match name {
                "headline" => format!("<p>{}</p>", escape_html(&self.headline)),
                "published" => self.curves.published.as_deref().map(published).unwrap_or_default(),
                "charts" => {
                    let charts = self.curves.charts.iter().enumerate().map(chart);
                    charts.chain(self.curves.maps.iter().enumerate().map(heat_map)).collect()
                }
                "verdicts" => verdicts(&self.verdicts),
                "tables" if self.curves.charts.is_empty() => {
                    "<p>They stand in the maps; a cell's value is in its <code>data-value</code>.</p>".into()
                }
                "tables" => self.curves.charts.iter().map(table).collect(),
                "remarks" => String::new(),
                _ => return None,
            })
        })
    }
}

fn published(statement: &str) -> String {
    format!(
        "<section><h2>Published statement</h2><blockquote>{}</blockquote></section>",
        escape_html(statement)
    )
}

pub(super) fn chart((index, chart): (usize, &CurveChart)) -> String {
    format!(
        "<figure><figcaption><b>{}</b> <span class=\"unit\">{}</span> <span class=\"note\">against {}</span>\
         <button type=\"button\" class=\"save\" title=\"Save this chart as an SVG file\">SVG</button></figcaption>\
         <div class=\"chart\" data-chart=\"{index}\"></div></figure>",
        escape_html(&capitalized(&chart.y.label)),
        escape_html(&chart.y.unit),
        escape_html(&chart.x.label)
    )
}

/// A row per x, a column per curve.
fn table(chart: &CurveChart) -> String {
    let mut xs: Vec<f64> = chart.curves.iter().flat_map(|curve| curve.points.iter().map(|p| p.x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let most = chart.curves.iter().flat_map(|curve| &curve.points).map(|p| p.y.abs()).fold(0.0, f64::max);
    let decimals = decimals_for(most, 4);
    let mut out = format!(
        "<h3>{}</h3><div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">{}</th>",
        escape_html(&capitalized(&titled(&chart.y))),
        escape_html(&titled(&chart.x))
    );
    for curve in &chart.curves {
        let name = if curve.name.is_empty() { &chart.y.label } else { &curve.name };
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape_html(name));
    }
    out += "</tr></thead><tbody>";
    for x in xs {
        let _ = write!(out, "<tr><th scope=\"row\">{x}</th>");
        for curve in &chart.curves {
            let point = curve.points.iter().find(|point| point.x == x);
            let raw = point.map(|point| point.y.to_string()).unwrap_or_default();
            let _ =
                write!(out, "<td data-value=\"{raw}\"><span>{}</span>", number(point.map(|p| p.y), decimals));
            if let Some(half) = point.and_then(|point| point.half_width) {
                let _ = write!(out, "<small>± {}</small>", number(Some(half), decimals));
            }
            if let Some((least, most)) = point.and_then(|point| point.extent) {
                let (least, most) = (number(Some(least), decimals), number(Some(most), decimals));
                let _ = write!(out, "<small>{least} to {most}</small>");
            }
            out += "</td>";
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

fn titled(axis: &Axis) -> String {
    if axis.unit.is_empty() { axis.label.clone() } else { format!("{}, {}", axis.label, axis.unit) }
}
