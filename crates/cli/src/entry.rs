//! The lines between `emulate` and `enter`: a description of the path, then readings. `emu` carries them.

use crate::chart::Chart;
use lab::run::emulated::{PathReading, base_rtt};
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use units::is_visible;

/// The form of these lines. Another version of the program may have another one.
const FORM: u32 = 1;

/// The panels of a path.
const PANELS: [(&str, &str); 3] = [("rate", "Mbit/s"), ("queue", "ms"), ("RTT", "ms")];

/// A running path, in the words of its process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    form: u32,
    /// The user's name for the path.
    pub(crate) name: Option<String>,
    /// Rate and base RTT in words.
    pub(crate) label: String,
    /// The addresses of the near end and of the far end.
    pub(crate) addresses: [Ipv4Addr; 2],
    /// The descriptors of the network namespaces of both ends in that process.
    pub(crate) namespaces: [i32; 2],
}

impl Description {
    /// Describes a path of this process.
    pub(crate) fn of(path: &emu::Path, label: String, name: Option<String>) -> Self {
        Self {
            form: FORM,
            name,
            label,
            addresses: [path.sender_address(), path.receiver_address()],
            namespaces: [path.sender().raw(), path.receiver().raw()],
        }
    }

    /// Reads a description; `None` if it has another form.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let found: Self = serde_json::from_str(line).ok()?;
        let texts = [Some(&found.label), found.name.as_ref()];
        let shown = texts.into_iter().flatten().all(|text| text.len() < 200 && text.chars().all(is_visible));
        (found.form == FORM && shown).then_some(found)
    }
}

/// Returns "20 Mbit/s, 40 ms": the rate and the base RTT of a path.
pub(crate) fn label(path: &emu::PathConfig) -> String {
    let mean = if path.link.changes.capacity.is_some() { "mean " } else { "" };
    let back = path.back.as_ref().map(|back| back.rate).filter(|rate| *rate != path.link.rate);
    let back = back.map_or_else(String::new, |rate| format!(" and {} back", spaced(&rate.rounded())));
    format!("{mean}{}{back}, {}", spaced(&path.link.rate.rounded()), spaced(&base_rtt(path).rounded()))
}

/// Puts a space between the number and the unit.
fn spaced(quantity: &str) -> String {
    let unit = quantity.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(unit);
    format!("{} {unit}", number.trim_end())
}

/// Makes the chart of a path.
pub(crate) fn chart(title: String) -> Chart {
    Chart::new(title, &PANELS)
}

/// Adds a reading to the chart of a path. `dropped` counts the packets dropped in each direction.
pub(crate) fn show(chart: &mut Chart, reading: &PathReading, dropped: &mut [f64; 2]) {
    let at_s = reading.to_far.t_s;
    let ways = [("to far", Some(reading.to_far)), ("from far", reading.from_far)];
    for ((name, way), dropped) in ways.into_iter().zip(dropped.iter_mut()) {
        let Some(way) = way else { continue };
        chart.push(0, name, at_s, way.rate_bps / 1e6);
        chart.push(1, name, at_s, way.delay_s * 1e3);
        *dropped += way.drops;
    }
    if let Some(offered) = reading.to_far.offered_bps {
        chart.push(0, "offered", at_s, offered / 1e6);
    }
    chart.push(2, "", at_s, reading.rtt_s * 1e3);
    chart.remark(1, format!("{:.0} dropped", dropped[0] + dropped[1]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_would_control_the_terminal_is_refused() {
        let line = |label: &str, form: u32| {
            format!(
                r#"{{"form":{form},"name":null,"label":"{label}","addresses":["100.64.77.1","100.64.77.2"],"namespaces":[3,4]}}"#
            )
        };
        assert_eq!(Description::read(&line("20 Mbit/s, 40 ms", 1)).map(|it| it.namespaces), Some([3, 4]));
        for (label, form) in [("\\u001b[2J", 1), ("20 Mbit/s", 2), (&*"x".repeat(300), 1)] {
            assert!(Description::read(&line(label, form)).is_none(), "{label}");
        }
        assert!(Description::read("20 Mbit/s").is_none());
    }
}
