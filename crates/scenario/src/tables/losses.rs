//! The rules of loss recovery, and what they need of the receiver.

use crate::cursor::ValueAt;
use crate::values::{LossDetection, Recovery};

/// Reads the rule for the data that fast recovery sends.
pub(super) fn recovery(at: &ValueAt<'_>, sack: bool) -> Option<Recovery> {
    let recovery = at.word()?;
    if recovery == Recovery::Reno && sack {
        let help = "write sack = false, too, or another recovery".to_owned();
        at.fault(
            "recovery \"reno\" with selective acknowledgements: it repairs one loss of a window and knows of no other [rfc2581]",
            "\"reno\" with sack = false, or \"rfc6675\", \"prr\", \"sack1\"",
            Some(help),
        );
        return None;
    }
    Some(recovery)
}

/// Reads the rule by which losses are found.
pub(super) fn loss_detection(at: &ValueAt<'_>, sack: bool) -> Option<LossDetection> {
    let detection = at.word()?;
    if detection == LossDetection::Rack && !sack {
        // The default without selective acknowledgements is "dupack" on every host, because RACK needs them.
        if at.key.is_none() {
            return Some(LossDetection::DupAck);
        }
        let help = "leave sack at true, or write loss_detection = \"dupack\"".to_owned();
        at.fault(
            "loss_detection \"rack\" with sack = false: RACK needs to know which segment arrived [rfc8985:5]",
            "\"rack\" with selective acknowledgements, or \"dupack\"",
            Some(help),
        );
        return None;
    }
    Some(detection)
}
