//! Faults of the keys about congestion marks: ECN of a flow, and the settings of Prague.

mod common;

use common::{in_flow, says};

#[test]
fn what_belongs_to_prague_is_refused_with_others() {
    let prague = |keys: &str| in_flow(&format!("control = 'prague'\n{keys}"));
    says(
        &in_flow("prague_rtt_scaling = 'none'"),
        &[
            "prague_rtt_scaling: this key belongs to control = \"prague\", not to \"reno\"",
            "accepted: no prague_rtt_scaling here",
            "help: leave it out, or write control = \"prague\"",
        ],
    );
    says(&prague("prague_rtt_scaling = 'additive'"), &["\"rate\", \"none\""]);
    says(
        &prague("prague_rtt_scaling = 'none'\nprague_rtt_target = '10ms'"),
        &["prague_rtt_target: this key belongs to prague_rtt_scaling = \"rate\", not to \"none\""],
    );
    says(&prague("prague_rtt_target = '0ms'"), &["a target of zero", "prague_rtt_scaling = \"none\""]);
    says(&prague("prague_rtt_target = '2s'"), &["a target of 2s", "up to 1s"]);
    says(&prague("prague_rtt_transition = -1"), &["a whole number from 0 to 1000000"]);
}

#[test]
fn ecn_is_one_of_a_few_words_and_fits_the_control() {
    says(
        &in_flow("ecn = 'acecn'"),
        &["flow[0].ecn", "\"off\", \"classic\", \"accecn\"", "did you mean \"accecn\"?"],
    );
    says(&in_flow("ecn = 1"), &["flow[0].ecn", "\"accecn\", true or false"]);
    says(
        &in_flow("control = 'prague'\necn = 'classic'"),
        &["flow[0].ecn", "one sign per round trip", "\"accecn\""],
    );
    says(
        &in_flow("control = 'dctcp'\necn = false"),
        &["flow[0].ecn", "no feedback", "\"classic\" or \"accecn\""],
    );
}
