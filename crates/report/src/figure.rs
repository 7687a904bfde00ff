//! The page of a figure over a sweep: the published statement, the curves, the claims, the numbers.

mod story;

use super::Verdict;
use super::frame::{Frame, scenario};
use super::heat::heat_map;
use super::page::verdicts;
use super::picture::{Picture, swept};
use super::swept::{SweptChart, SweptCharts};
use super::text::{capitalized, decimals_for, escape_html, json_for_script, number, prose, titled};
use lab::study::curves::{CurveChart, CurvePoint, Curves};
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/figure.html");
const SCRIPT: &str = include_str!("../assets/figure.js");

/// The content of a figure's page.
#[derive(Clone, Debug)]
pub struct FigurePage {
    /// The headline.
    pub title: String,
    /// The id of the published result.
    pub source: Option<String>,
    /// The charts.
    pub curves: Curves,
    /// The number of computed points, in a sentence.
    pub headline: String,
    /// The verdicts on published relations.
    pub verdicts: Vec<Verdict>,
    /// The scenario file as the user wrote it.
    pub scenario_text: String,
    /// The name of that file.
    pub scenario_name: String,
    /// The command that made the page.
    pub command: String,
}

impl FigurePage {
    fn charts(&self) -> impl Iterator<Item = SweptChart> {
        self.curves.charts.iter().map(|chart| SweptChart::new(chart.clone(), Vec::new(), None, false))
    }

    /// Returns the charts and maps as pictures.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        swept(self.charts(), &self.curves.maps)
    }

    /// Writes the page: one HTML document that opens from a file and does not use the network. The same figure gives
    /// the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        let frame = Frame {
            title: &self.title,
            source: self.source.as_deref(),
            scenario_text: &self.scenario_text,
            scenario_heading: scenario(&self.scenario_name),
            command: &self.command,
            data: json_for_script(&SweptCharts { charts: self.charts().collect() }),
            script: SCRIPT,
        };
        frame.fill(BODY, |name| {
            Some(match name {
                "headline" => format!("<p>{}</p>", prose(&self.headline)),
                "published" => self.curves.published.as_deref().map(published).unwrap_or_default(),
                "charts" => {
                    let charts =
                        self.curves.charts.iter().enumerate().map(|of| chart(of) + &summary_of(of.1));
                    charts.chain(self.curves.maps.iter().enumerate().map(heat_map)).collect()
                }
                "verdicts" => verdicts(&self.verdicts),
                "tables" if self.curves.charts.is_empty() => {
                    "<p>The maps show them; a cell's value is in its <code>data-value</code>.</p>".into()
                }
                "tables" => self
                    .curves
                    .charts
                    .iter()
                    .map(|chart| match &chart.along {
                        Some(along) => table_along(chart, along),
                        None => table(chart),
                    })
                    .collect(),
                "remarks" => String::new(),
                _ => return None,
            })
        })
    }
}

/// Describes the chart in words.
fn summary_of(chart: &CurveChart) -> String {
    let story = story::story(chart);
    if story.is_empty() { story } else { format!("<p class=\"hint\">{}</p>", prose(&story)) }
}

fn published(statement: &str) -> String {
    format!(
        "<section><h2>Published statement</h2><blockquote>{}</blockquote></section>",
        escape_html(statement)
    )
}

pub(super) fn chart((index, chart): (usize, &CurveChart)) -> String {
    format!(
        "<figure><figcaption><b>{}</b> <span class=\"unit\">{}</span> <span class=\"note\">against {}{}</span>\
         <button type=\"button\" class=\"save\" title=\"Save this chart as an SVG file\">SVG</button></figcaption>\
         <div class=\"chart\" data-chart=\"{index}\"></div></figure>",
        escape_html(&capitalized(&chart.y.label)),
        escape_html(&chart.y.unit),
        escape_html(&chart.x.label),
        chart
            .along
            .as_deref()
            .map(|along| format!("; each point a value of {}", escape_html(along)))
            .unwrap_or_default()
    )
}

/// Writes the table of the chart: a row per x, a column per curve.
fn table(chart: &CurveChart) -> String {
    let most = chart.curves.iter().flat_map(|curve| &curve.points).map(|p| p.y.abs()).fold(0.0, f64::max);
    let decimals = decimals_for(most, 4);
    let mut out = format!(
        "<h3>{}</h3><div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">{}</th>",
        escape_html(&capitalized(&titled(&chart.y.label, &chart.y.unit))),
        escape_html(&titled(&chart.x.label, &chart.x.unit))
    );
    for curve in &chart.curves {
        let name = if curve.name.is_empty() { &chart.y.label } else { &curve.name };
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape_html(name));
    }
    out += "</tr></thead><tbody>";
    for (x, name) in chart.rows() {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape_html(&name));
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

/// Writes the table of a chart of one number against another: a row per point, under the name of its curve.
fn table_along(chart: &CurveChart, along: &str) -> String {
    let points = || chart.curves.iter().flat_map(|curve| &curve.points);
    let decimals =
        |of: fn(&CurvePoint) -> f64| decimals_for(points().map(|p| of(p).abs()).fold(0.0, f64::max), 4);
    let (x_decimals, y_decimals) = (decimals(|p| p.x), decimals(|p| p.y));
    let mut out = format!(
        "<h3>{} against {}</h3><div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">{}</th>\
         <th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>",
        escape_html(&capitalized(&chart.y.label)),
        escape_html(&chart.x.label),
        escape_html(along),
        escape_html(&titled(&chart.x.label, &chart.x.unit)),
        escape_html(&titled(&chart.y.label, &chart.y.unit))
    );
    for curve in &chart.curves {
        out += "<tbody>";
        if chart.curves.len() > 1 {
            let name = escape_html(&curve.name);
            let _ = write!(out, "<tr class=\"case\"><th colspan=\"3\" scope=\"rowgroup\">{name}</th></tr>");
        }
        for point in &curve.points {
            let at = escape_html(point.at.as_deref().unwrap_or_default());
            let (x, y) = (number(Some(point.x), x_decimals), number(Some(point.y), y_decimals));
            let _ = write!(
                out,
                "<tr><th scope=\"row\">{at}</th><td data-value=\"{}\"><span>{x}</span></td>",
                point.x
            );
            let _ = write!(out, "<td data-value=\"{}\"><span>{y}</span></td></tr>", point.y);
        }
        out += "</tbody>";
    }
    out + "</table></div>"
}
