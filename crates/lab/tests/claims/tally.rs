//! How claims are counted.

use crate::common::{answers, claim};
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::claims::{Tally, check};

#[test]
fn a_claim_is_judged_for_each_engine_that_was_asked_and_counts_once() {
    let judged = |text: &str, asked: &[Engine]| check(&[claim(text)], &answers(), asked).remove(0);
    let bound = "quantity = 'goodput'\nengines = ['sim', 'live']\nat_least = '41Mbit/s'\ncases = { socket_buffer = '100kB' }";
    let one = judged(bound, &[Engine::Model, Engine::Sim]);
    assert!(one.failed(), "it fails in sim, whatever the kernel would say: {one:?}");
    assert_eq!((&one.judged[..], &one.left_out[..]), (&[Engine::Sim][..], &[Engine::Live][..]));
    let none = judged(bound, &[Engine::Model]);
    assert!(none.is_left_out() && !none.failed() && !none.held && none.word() == "left out", "{none:?}");
    let between = "quantity = 'goodput'\nengines = ['model', 'sim', 'live']\nagree = '5%'";
    assert!(judged(between, &[Engine::Model, Engine::Sim]).held, "two are enough");
    assert!(judged(between, &[Engine::Sim]).is_left_out(), "one is not");
    let mut tally = Tally::default();
    let held = "quantity = 'goodput'\nengines = ['sim']\nat_least = '1Mbit/s'";
    let band = format!(
        "{held}\nat_most = '2Mbit/s'\n[[claim.disagrees]]\nreason = 'so'\nat_least = '1Mbit/s'\nat_most = '1Gbit/s'"
    );
    let asked = [Engine::Model, Engine::Sim];
    tally.add(&[bound, between, held, &band].map(|text| judged(text, &asked)));
    tally.add(
        &["live", "live"].map(|_| judged("quantity = 'rtt'\nengines = ['live']\nat_most = '1s'", &asked)),
    );
    assert_eq!(
        tally.to_string(),
        "claims: 2 held, 1 failed, 1 disagree; 4 judged (2 of them not by live), 2 left out, because too few engines were asked \
         (2 of live)"
    );
    assert!(!tally.is_good() && tally.judged() == 4);
}
