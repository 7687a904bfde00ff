//! The feedback of congestion marks, and the controls that need one.

use crate::cursor::ValueAt;
use crate::tree::Value;
use transport::EcnMode;

/// A control that answers the share of congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByShare {
    name: &'static str,
    /// The feedback that it turns on.
    own: EcnMode,
    /// The feedbacks that it works with, in words.
    accepted: &'static str,
}

impl ByShare {
    /// Returns the control of this name, if it is one.
    pub(crate) fn named(control: &str) -> Option<Self> {
        match control {
            "dctcp" => {
                Some(Self { name: "dctcp", own: EcnMode::Classic, accepted: "\"classic\" or \"accecn\"" })
            }
            "prague" => Some(Self { name: "prague", own: EcnMode::Accurate, accepted: "\"accecn\"" }),
            _ => None,
        }
    }
}

/// Reads the feedback of congestion marks. A control that needs one has it as its default.
pub(super) fn ecn(at: &ValueAt<'_>, control: Option<ByShare>) -> Option<EcnMode> {
    if at.key.is_none() {
        return Some(control.map_or(EcnMode::Off, |control| control.own));
    }
    let mode = match &at.node.value {
        Value::Boolean(false) => EcnMode::Off,
        Value::Boolean(true) => EcnMode::Classic,
        Value::String(_) => at.word()?,
        _ => {
            at.fault(at.node.described(), "\"off\", \"classic\", \"accecn\", true or false", None);
            return None;
        }
    };
    let Some(control) = control else { return Some(mode) };
    if mode == EcnMode::Off || (mode == EcnMode::Classic && control.own == EcnMode::Accurate) {
        let found = match mode {
            EcnMode::Off => "no feedback of congestion marks",
            _ => "the feedback of RFC 3168, which has one sign per round trip",
        };
        let found = format!("{found}, with control = \"{}\", which answers the share of marks", control.name);
        let help = "leave ecn out, which turns on what the control needs; or choose another control";
        at.fault(found, control.accepted, Some(help.to_owned()));
        return None;
    }
    Some(mode)
}
