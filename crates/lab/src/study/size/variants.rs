//! Variants of a question: other numbers of flows, a longer round trip, another control.

use super::question::{Ends, MOST_FLOWS, Question};

/// Returns questions that differ from this one, each with its name.
pub(super) fn variants(question: &Question) -> Vec<(String, Question)> {
    let mut variants = Vec::new();
    let Ends { least, most } = question.flows;
    let with = |flows: Ends<u64>| Question { flows, ..question.clone() };
    if most > 1 {
        let half = Ends { least: (least / 2).max(1), most: most / 2 };
        variants.push((format!("half the flows ({half})"), with(half)));
    }
    let double = Ends { least: least * 2, most: most * 2 };
    if double.most <= MOST_FLOWS {
        variants.push((format!("double the flows ({double})"), with(double)));
    }
    let rtt = Ends { least: question.rtt.least * 2, most: question.rtt.most * 2 };
    variants.push((format!("double the RTT ({rtt})"), Question { rtt, ..question.clone() }));
    let (old, new) = other_control(question);
    let mix = question.mix.instead(&old, new);
    variants.push((instead(&old, new), Question { mix, ..question.clone() }));
    variants
}

/// Returns a control of the flows, and another that may take its place.
pub(super) fn other_control(question: &Question) -> (String, &'static str) {
    let mut controls = question.mix.shares().iter().map(|(control, _)| control.as_str());
    let first = controls.find(|control| *control != "bbr");
    first.map_or(("bbr".into(), "cubic"), |first| (first.into(), "bbr"))
}

pub(super) fn instead(old: &str, new: &str) -> String {
    let names = |name: &str| if name.len() < 6 { name.to_uppercase() } else { name.to_owned() };
    format!("{} instead of {}", names(new), names(old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    #[test]
    fn what_may_be_otherwise_is_half_double_and_another_control_at_both_ends() {
        let mut question = Question::of(Rate::from_bps(10_000_000));
        let described = |question: &Question| -> Vec<String> {
            variants(question).into_iter().map(|(what, _)| what).collect()
        };
        question.flows = Ends { least: 1, most: 7 };
        assert_eq!(
            described(&question),
            [
                "half the flows (1..3)",
                "double the flows (2..14)",
                "double the RTT (100ms)",
                "BBR instead of CUBIC"
            ]
        );
        for (_, other) in variants(&question).split_off(2) {
            assert_eq!(other.flows, question.flows);
        }
        question.flows = Ends::at(1);
        question.mix = "bbr".parse().unwrap();
        assert_eq!(
            described(&question),
            ["double the flows (2)", "double the RTT (100ms)", "CUBIC instead of BBR"]
        );
    }
}
