//! The picture: a line with the title, the panels below each other, and the command's output.

use super::{Chart, Panel, SHOWN_S, named};
use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line as Text, Span as Part};
use ratatui::widgets::{Axis, Chart as Plot, Dataset, GraphType, Paragraph};

/// The colours of lines, in order.
const COLOURS: [Color; 4] = [Color::Cyan, Color::Yellow, Color::Green, Color::Magenta];
/// The least height of a panel with a graph: its values and two rows.
const LEAST_GRAPH: u16 = 3;
/// The height from which the last panel has an axis of time.
const LEAST_AXIS: u16 = 6;
/// The width of the labels on the left.
const LABEL: usize = 6;

/// The abilities of the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// True if colours are allowed.
    pub(super) colour: bool,
    /// True if the terminal shows UTF-8 and its font has Braille.
    pub(super) unicode: bool,
}

impl Look {
    /// Reads the environment.
    pub(super) fn here() -> Self {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = get("LC_ALL").or_else(|| get("LC_CTYPE")).or_else(|| get("LANG")).unwrap_or_default();
        let utf8 = locale.to_ascii_lowercase().replace('-', "").contains("utf8");
        Self {
            colour: get("NO_COLOR").is_none(),
            unicode: utf8 && get("TERM").is_none_or(|terminal| terminal != "linux"),
        }
    }

    /// Returns the style and the marks of the line at `place`. Without colours the marks differ.
    fn line(self, place: usize) -> (Style, Marker, &'static str) {
        let plain = [('*', "*"), ('o', "o"), ('+', "+"), ('x', "x")][place % 4];
        let style = if self.colour { Style::new().fg(COLOURS[place % 4]) } else { Style::new() };
        match (self.unicode, place % 4) {
            (true, _) if self.colour => (style, Marker::Braille, "\u{2501}"),
            (true, 0) => (style, Marker::Braille, "\u{2847}"),
            _ => (style, Marker::Custom(plain.0), plain.1),
        }
    }
}

/// Draws the chart, and the last lines of `output` if there is one.
pub(super) fn draw(frame: &mut Frame<'_>, chart: &Chart, output: Option<&[String]>, hint: &str, look: Look) {
    let area = frame.area();
    if area.width < 8 || area.height == 0 {
        return;
    }
    let row = |y: u16| Rect { y: area.y + y, height: 1, ..area };
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let room = usize::from(area.width);
    let mut head = vec![Part::styled(chart.title.clone(), bold)];
    let free = room.saturating_sub(head[0].width() + 2);
    if free >= hint.len() {
        let gap = " ".repeat(free + 2 - hint.len());
        head.push(Part::raw(gap + hint));
    }
    frame.render_widget(Text::from(head), row(0));
    let below = area.height - 1;
    let count = (chart.panels.len() as u16).max(1);
    let least_output = u16::from(output.is_some()) * (below / 4).clamp(2, 12);
    let each = (below.saturating_sub(least_output) / count).clamp(1, 12);
    let mut y = 1;
    for (place, panel) in chart.panels.iter().enumerate() {
        let left = area.height.saturating_sub(y);
        if left == 0 {
            return;
        }
        let height = each.min(left);
        let part = Rect { y: area.y + y, height, ..area };
        draw_panel(frame, chart, panel, part, place + 1 == chart.panels.len(), look);
        y += height;
    }
    if let Some(lines) = output {
        draw_output(
            frame,
            lines,
            Rect { y: area.y + y, height: area.height.saturating_sub(y), ..area },
            look,
        );
    }
}

fn draw_panel(frame: &mut Frame<'_>, chart: &Chart, panel: &Panel, area: Rect, last: bool, look: Look) {
    let mut parts = vec![Part::styled(panel.name, Style::new().add_modifier(Modifier::BOLD))];
    for (place, line) in panel.lines.iter().enumerate() {
        let Some((_, value)) = line.points.last() else { continue };
        let (style, _, mark) = look.line(place);
        parts.push(Part::styled(format!(" {mark}{}", named(&line.name, *value)), style));
    }
    parts.push(Part::raw(if panel.lines.is_empty() {
        ": no data yet".to_owned()
    } else {
        format!(" {}", panel.unit)
    }));
    if !panel.remark.is_empty() {
        parts.push(Part::raw(format!(", {}", panel.remark)));
    }
    frame.render_widget(Text::from(parts), Rect { height: 1, ..area });
    let graph = Rect { y: area.y + 1, height: area.height - 1, ..area };
    if area.height < LEAST_GRAPH || usize::from(area.width) < 3 * LABEL {
        return;
    }
    let end_s = chart.now_s.max(10.0);
    let start_s = (end_s - SHOWN_S).max(0.0);
    let shown = |points: &[(f64, f64)]| {
        points.iter().filter(|(at, _)| *at >= start_s).map(|(_, y)| *y).fold(0.0, f64::max)
    };
    let most = panel.lines.iter().map(|line| shown(&line.points)).fold(0.0, f64::max);
    let top = round_above(most);
    let plots = panel.lines.iter().enumerate().map(|(place, line)| {
        let (style, marker, _) = look.line(place);
        Dataset::default().marker(marker).graph_type(GraphType::Line).style(style).data(&line.points)
    });
    let mut time = Axis::default().bounds([start_s, end_s]);
    if last && area.height >= LEAST_AXIS {
        time = time.labels([format!("{start_s:.0} s"), format!("{end_s:.0} s")]);
    }
    let label = |value: f64| format!("{:>LABEL$}", super::short(value).trim_end_matches(".00"));
    let values = Axis::default()
        .bounds([0.0, top])
        .labels([label(0.0), label(top)])
        .labels_alignment(Alignment::Right);
    let mut plot = Plot::new(plots.collect()).x_axis(time).y_axis(values).legend_position(None);
    if look.colour {
        plot = plot.style(Style::new().fg(Color::Reset));
    }
    frame.render_widget(plot, graph);
}

fn draw_output(frame: &mut Frame<'_>, lines: &[String], area: Rect, look: Look) {
    if area.height < 2 {
        return;
    }
    let dash = if look.unicode { "\u{2500}" } else { "-" };
    let rule = format!("{dash}{dash} output {}", dash.repeat(usize::from(area.width).saturating_sub(10)));
    frame.render_widget(Text::from(rule), Rect { height: 1, ..area });
    let height = usize::from(area.height) - 1;
    let last: Vec<Text<'_>> =
        lines[lines.len().saturating_sub(height)..].iter().map(|line| Text::from(line.as_str())).collect();
    frame.render_widget(Paragraph::new(last), Rect { y: area.y + 1, height: area.height - 1, ..area });
}

/// Returns the least of 1, 2 and 5 times a power of ten that is at least `value`.
fn round_above(value: f64) -> f64 {
    let mut step = 0.001;
    loop {
        for digit in [1.0, 2.0, 5.0] {
            if digit * step >= value {
                return digit * step;
            }
        }
        step *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_the_values() {
        for (value, end) in [(0.0, 0.001), (0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (19.2, 20.0), (480.0, 500.0)] {
            assert!((round_above(value) - end).abs() < 1e-9 * end, "{value}: {}", round_above(value));
        }
    }
}
