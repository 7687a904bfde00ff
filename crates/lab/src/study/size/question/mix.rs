//! The congestion controls of the flows, and their shares.

use crate::run::resolve::ResolvedFlow;
use scenario::did_you_mean;
use std::fmt;
use std::str::FromStr;
use units::{Complaint, Fraction};

/// Controls that a link and its flows do not describe, with the reason. A scenario does.
const NEEDY: [(&str, &str); 4] = [
    ("fixed", "needs a window"),
    ("xcp", "needs routers that report a rate"),
    ("rcp", "needs routers that report a rate"),
    ("dctcp", "needs a queue that marks at a few packets"),
];

/// The controls of the flows: `cubic`, or `cubic:80%,bbr:20%` of the flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(Vec<(String, f64)>);

impl Mix {
    /// Creates the mix in which all flows have one control.
    #[must_use]
    pub fn only(control: &str) -> Self {
        Self(vec![(control.into(), 1.0)])
    }

    /// Creates a mix from numbers of flows.
    #[must_use]
    pub fn counted(counts: &[(String, u64)]) -> Self {
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        Self(counts.iter().map(|(control, count)| (control.clone(), *count as f64 / all as f64)).collect())
    }

    /// Creates the mix of these flows.
    pub(in crate::study::size) fn of_flows(flows: &[&ResolvedFlow]) -> Self {
        let mut counts: Vec<(String, u64)> = Vec::new();
        for flow in flows {
            match counts.iter_mut().find(|(control, _)| *control == flow.control.name) {
                Some((_, count)) => *count += 1,
                None => counts.push((flow.control.name.clone(), 1)),
            }
        }
        Self::counted(&counts)
    }

    /// Returns each control and its share of the flows, which add to 1.
    #[must_use]
    pub fn shares(&self) -> &[(String, f64)] {
        &self.0
    }

    /// Returns the number of `flows` with each control. Each has at least one, and together they have `flows`; with
    /// fewer flows than controls, each has one.
    #[must_use]
    pub fn counts(&self, flows: u64) -> Vec<(&str, u64)> {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        let (mut share, mut given) = (0.0, 0);
        for (control, of) in &self.0 {
            share += of;
            let count = ((share * flows as f64).round() as u64).saturating_sub(given);
            given += count;
            counts.push((control, count));
        }
        while let Some(none) = counts.iter().position(|(_, count)| *count == 0) {
            counts[none].1 = 1;
            if let Some((_, largest)) =
                counts.iter_mut().max_by_key(|(_, count)| *count).filter(|most| most.1 > 1)
            {
                *largest -= 1;
            }
        }
        counts
    }

    /// Returns true if some flows have `control`.
    #[must_use]
    pub fn has(&self, control: &str) -> bool {
        self.0.iter().any(|(name, _)| name == control)
    }

    /// Returns the mix with `new` in place of `old`.
    #[must_use]
    pub fn instead(&self, old: &str, new: &str) -> Self {
        let rename = |name: &String| if name == old { new.to_owned() } else { name.clone() };
        let mut shares: Vec<(String, f64)> = Vec::new();
        for (name, share) in self.0.iter().map(|(name, share)| (rename(name), share)) {
            match shares.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += share,
                None => shares.push((name, *share)),
            }
        }
        Self(shares)
    }
}

/// Returns the options for numbers of flows such as `cubic=2,prague=2`, as help; `None` for any other text.
fn from_counts(text: &str) -> Option<String> {
    let part = |part: &str| {
        let (name, count) = part.split_once('=')?;
        Some((name.trim().to_owned(), count.trim().parse().ok().filter(|count: &u64| *count > 0)?))
    };
    let counts: Vec<(String, u64)> = text.split(',').map(part).collect::<Option<_>>()?;
    let flows = counts.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))?;
    Some(format!("write --flows {flows} --control {}", Mix::counted(&counts)))
}

impl FromStr for Mix {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        let known = cc::registry::CONTROLS.iter().map(|control| control.name);
        let known: Vec<&str> = known.filter(|name| NEEDY.iter().all(|(needy, _)| needy != name)).collect();
        let accepted = "a control such as cubic, or shares such as cubic:80%,bbr:20%";
        let mut shares: Vec<(String, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, share) = match part.split_once(':') {
                Some((name, share)) => {
                    let share = share
                        .trim()
                        .parse::<Fraction>()
                        .map_err(|error| Complaint::new(part, error.to_string()))?;
                    (name.trim(), share.get())
                }
                None if text.contains([',', '=']) => {
                    let complaint =
                        Complaint::new("", format!("\"{part}\" without a share")).accepted(accepted);
                    return Err(Complaint { help: from_counts(text), ..complaint });
                }
                None => (part.trim(), 1.0),
            };
            if let Some((_, needs)) = NEEDY.iter().find(|(needy, _)| *needy == name) {
                return Err(Complaint::new("", format!("\"{name}\" {needs}"))
                    .accepted(known.join(", "))
                    .help("write a scenario that has it, and ask tightlink size FILE"));
            }
            if !known.contains(&name) {
                let help = did_you_mean(name, known.clone());
                let unknown =
                    Complaint::new("", format!("unknown control \"{name}\"")).accepted(known.join(", "));
                return Err(Complaint { help, ..unknown });
            }
            if share <= 0.0 || shares.iter().any(|(other, _)| other == name) {
                let found = if share <= 0.0 { "a share of nothing" } else { "a second share" };
                return Err(Complaint::new("", format!("{found} for \"{name}\""))
                    .accepted("each control once, with a share above 0"));
            }
            shares.push((name.into(), share));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > 0.005 {
            return Err(Complaint::new("", format!("shares that add to {:.1}%", sum * 100.0))
                .accepted("shares that add to 100%"));
        }
        shares.iter_mut().for_each(|(_, share)| *share /= sum);
        Ok(Self(shares))
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(control, _)] = &self.0[..] {
            return f.write_str(control);
        }
        let part = |(control, share): &(String, f64)| format!("{control}:{:.0}%", share * 100.0);
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}
