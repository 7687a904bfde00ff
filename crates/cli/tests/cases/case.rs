//! [`Case`]: a file of `tests/cases` as data.

use serde::Deserialize;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// One case: an input, what is asked about it, and what is right.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The subject of the case.
    pub title: String,
    /// Who met it, and where.
    pub from: String,
    /// Why the right values are right.
    pub why: String,
    /// The scenario, written as `case.toml` into the folder where the commands run.
    pub scenario: Option<String>,
    /// Files of `tests/cases/files` that the commands need.
    #[serde(default)]
    pub files: Vec<String>,
    /// A line for the shell that makes further files, before the first command.
    pub make: Option<String>,
    /// Programs that have to be there, or "root": root's rights and a TUN device. Such a case has the machine for itself.
    #[serde(default)]
    pub needs: Vec<String>,
    /// True if the right values hold on a machine that does nothing else.
    #[serde(default)]
    pub quiet: bool,
    /// The commands.
    pub ask: Vec<Ask>,
}

/// One command and what it has to answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// A line for the shell.
    pub command: String,
    /// Values of --set: the command is run with each, and each answer has to be right.
    #[serde(default)]
    pub each: Vec<String>,
    /// The exit code.
    #[serde(default)]
    pub exit: i32,
    /// Texts that the output has.
    #[serde(default)]
    pub has: Vec<String>,
    /// Texts of which the output has one.
    #[serde(default)]
    pub has_one_of: Vec<String>,
    /// Texts that the output does not have.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The numbers.
    #[serde(default)]
    pub expect: Vec<Expect>,
}

/// A number and what is right of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Only in the answers of this engine.
    pub engine: Option<String>,
    /// The number, as `number.rs` reads it, in each JSON object of the output.
    pub number: Option<String>,
    /// The column of the printed table, in place of `number`.
    pub column: Option<String>,
    /// The right value, with `within`.
    pub right: Option<f64>,
    /// How far off the value may be.
    pub within: Option<Within>,
    /// A bound.
    pub at_least: Option<f64>,
    /// A bound.
    pub at_most: Option<f64>,
    /// True if there is no such number.
    #[serde(default)]
    pub none: bool,
    /// True if no answer, or one that names a broken assumption, is right, too.
    #[serde(default)]
    pub or_starred: bool,
}

/// A tolerance: "10%" of the right value, or an absolute one.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Within {
    Absolute(f64),
    Share(String),
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(size) => write!(f, "{size}"),
            Self::Share(share) => f.write_str(share),
        }
    }
}

impl Within {
    /// The largest distance from `right`.
    fn of(&self, right: f64) -> Option<f64> {
        match self {
            Self::Absolute(size) => Some(*size),
            Self::Share(text) => {
                Some(text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0 * right.abs())
            }
        }
    }
}

impl Case {
    /// The case in `file`.
    pub fn read(file: &Path) -> Result<Self, String> {
        let place = |error: &dyn fmt::Display| format!("{}: {error}", file.display());
        let text = fs::read_to_string(file).map_err(|error| place(&error))?;
        let case: Self = toml::from_str(&text).map_err(|error| place(&error))?;
        if case.ask.is_empty() {
            return Err(place(&"no [[ask]]"));
        }
        for ask in &case.ask {
            ask.check().map_err(|fault| place(&format_args!("{}: {fault}", ask.command)))?;
        }
        Ok(case)
    }

    /// Returns the first need that this machine does not meet.
    pub fn missing(&self) -> Option<&str> {
        self.needs.iter().map(String::as_str).find(|need| !there(need))
    }
}

impl Ask {
    /// A command of which nothing is expected would always hold.
    fn check(&self) -> Result<(), String> {
        let texts = self.has.len() + self.has_one_of.len() + self.lacks.len();
        if texts + self.expect.len() == 0 && self.exit == 0 {
            return Err("nothing is expected".into());
        }
        self.expect.iter().try_for_each(Expect::check)
    }
}

impl Expect {
    fn check(&self) -> Result<(), String> {
        let name = self.name();
        if self.number.is_some() == self.column.is_some() {
            return Err(format!("{name}: either a number or a column"));
        }
        match (self.right, &self.within) {
            (Some(right), Some(within)) if within.of(right).is_some_and(|distance| distance >= 0.0) => {}
            (None, None) if self.at_least.is_some() || self.at_most.is_some() || self.none => {}
            _ => return Err(format!("{name}: right and within = \"10%\", at_least, at_most or none = true")),
        }
        Ok(())
    }

    /// The number or column.
    pub fn name(&self) -> &str {
        self.number.as_deref().or(self.column.as_deref()).unwrap_or("?")
    }

    /// Returns true if `value` is right.
    pub fn holds(&self, value: f64) -> bool {
        let near = match (self.right, &self.within) {
            (Some(right), Some(within)) => {
                within.of(right).is_some_and(|distance| (value - right).abs() <= distance)
            }
            _ => true,
        };
        near && !self.none
            && self.at_least.is_none_or(|least| value >= least)
            && self.at_most.is_none_or(|most| value <= most)
            && value.is_finite()
    }

    /// Returns the right value in words.
    pub fn wanted(&self) -> String {
        let mut words = Vec::new();
        if let (Some(right), Some(within)) = (self.right, &self.within) {
            words.push(format!("{right} within {within}"));
        }
        words.extend(self.at_least.map(|least| format!("at least {least}")));
        words.extend(self.at_most.map(|most| format!("at most {most}")));
        if self.none {
            words.push("none".into());
        }
        if self.or_starred {
            words.push("or a star, or no answer".into());
        }
        words.join(", ")
    }
}

/// Returns true if this machine has a program, or root's rights and a TUN device.
fn there(need: &str) -> bool {
    if need == "root" {
        let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        return root && fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(need).is_file())
}
