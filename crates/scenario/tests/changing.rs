//! Links that change: the forms of `rate`, `delay`, `loss` and `outage`.

mod common;

use common::{fault, says};
use tightlink_scenario::spec::{GilbertElliott, Loss, OverTime, PacketNumbers};
use tightlink_scenario::{Document, Link, Scenario, Spread};
use units::{Fraction, Rate, Span};

fn text(keys: &str) -> String {
    let rate = if keys.starts_with("rate") { "" } else { "rate = '10Mbit/s'\n" };
    format!("title = 't'\nduration = '60s'\n[link]\n{rate}queue.limit = '9 packets'\n{keys}\n[[flow]]\n")
}

fn scenario(keys: &str) -> Scenario {
    Document::parse("x.toml", &text(keys)).unwrap().scenario().unwrap_or_else(|faults| panic!("{faults}"))
}

fn link(keys: &str) -> Link {
    let read = scenario(keys);
    // Every form comes back from its text, and from the text of the scenario as data.
    let again = Document::parse("again.toml", &read.to_toml()).unwrap().scenario().unwrap();
    assert_eq!(again, read, "{}", read.to_toml());
    assert_eq!(again.hash(), read.hash());
    read.links[0].clone()
}

fn share(share: f64) -> Fraction {
    Fraction::new(share).unwrap()
}

#[test]
fn a_rate_is_one_value_or_steps_or_a_file() {
    let (fast, slow) = (Rate::from_bps(20_000_000), Rate::ZERO);
    let steps = vec![(Span::ZERO, fast), (Span::from_secs(10), slow)];
    let of = |keys| link(keys).rate;
    assert_eq!(of("rate = '20Mbit/s'"), fast.into());
    assert_eq!(
        of("rate = { steps = [['0s', '20Mbit/s'], ['10s', '0Mbit/s']], every = '20s' }"),
        OverTime::Steps { steps: steps.clone(), every: Some(Span::from_secs(20)), reorder: false }
    );
    assert_eq!(
        of("rate.steps = [['0s', '20Mbit/s'], ['10s', '0bit/s']]"),
        OverTime::Steps { steps, every: None, reorder: false }
    );
    let trace = |repeat, every| OverTime::Trace { trace: "lte.down".into(), repeat, every, reorder: false };
    assert_eq!(of("rate = { trace = 'lte.down' }"), trace(None, None));
    assert_eq!(of("rate = { trace = 'lte.down', repeat = false }"), trace(Some(false), None));
    assert_eq!(of("rate = { trace = 'lte.down', every = '1min' }"), trace(None, Some(Span::from_secs(60))));
}

#[test]
fn a_delay_that_changes_counts_with_its_least_value_in_base_rtts() {
    let read = link("delay = { steps = [['0s', '20ms'], ['5s', '10ms']], reorder = true }");
    assert_eq!(read.delay.least(), Some(Span::from_millis(10)));
    assert!(matches!(read.delay, OverTime::Steps { reorder: true, .. }));
    assert_eq!(link("delay = { trace = 'd.csv' }").delay.least(), None);
    let short = text("delay = { steps = [['0s', '20ms'], ['5s', '10ms']] }") + "rtt = '15ms'\n";
    says(&fault(&short), &["flow[0].rtt: an RTT of 15ms, less than the links' delay there and back (20ms)"]);
}

#[test]
fn losses_are_independent_or_in_bursts_or_of_certain_packets() {
    assert_eq!(link("loss = 0.01").loss, share(0.01).into());
    assert!(matches!(
        link("loss = { steps = [['0s', 0.01], ['5s', 1]] }").loss,
        Loss::Independent(OverTime::Steps { .. })
    ));
    assert!(matches!(link("loss = { trace = 'loss.csv' }").loss, Loss::Independent(OverTime::Trace { .. })));
    let states = GilbertElliott {
        to_bad: share(0.01),
        to_good: share(0.3),
        bad_loss: share(1.0),
        good_loss: share(0.0),
    };
    let bursts = |gilbert_elliott| Loss::Bursts { gilbert_elliott };
    assert_eq!(link("loss = { gilbert_elliott = { to_bad = 0.01, to_good = '30%' } }").loss, bursts(states));
    assert_eq!(
        link("loss.gilbert_elliott = { to_bad = 0.01, to_good = 0.3, bad_loss = 0.5, good_loss = 0.001 }")
            .loss,
        bursts(GilbertElliott { bad_loss: share(0.5), good_loss: share(0.001), ..states })
    );
    let packets = |packets| Loss::Packets { packets };
    assert_eq!(link("loss = { packets = [5, 17] }").loss, packets(PacketNumbers::Listed(vec![5, 17])));
    let file = PacketNumbers::Trace { trace: "lost.txt".into() };
    assert_eq!(link("loss = { packets = { trace = 'lost.txt' } }").loss, packets(file));
}

#[test]
fn outages_come_at_a_fixed_distance_and_have_one_length_or_a_drawn_one() {
    let outage = link("outage = { every = '15s', length = { uniform = ['20ms', '120ms'] } }").outage.unwrap();
    assert_eq!((outage.every, outage.first), (Span::from_secs(15), Span::from_secs(15)));
    assert_eq!(outage.bounds(), (Span::from_millis(20), Span::from_millis(120)));
    let outage = link("outage = { every = '15s', length = '80ms', first = '0s' }").outage.unwrap();
    assert_eq!((outage.length, outage.first), (Spread::All(Span::from_millis(80)), Span::ZERO));
}

#[test]
fn the_other_direction_changes_as_the_link_does_unless_it_says_otherwise() {
    let read = link("rate = { trace = 'lte.down' }\nreverse = { queue.limit = '9 packets' }");
    assert_eq!(read.reverse.unwrap().rate, read.rate);
    let reverse = "rate = { trace = 'lte.up' }, loss = { packets = [1] }";
    let read = link(&format!("reverse = {{ queue.limit = '9 packets', {reverse} }}"));
    assert!(matches!(read.reverse.unwrap().rate, OverTime::Trace { .. }));
}

#[test]
fn each_form_has_a_hash_of_its_own_and_a_constant_link_keeps_its_hash() {
    let keys = [
        "",
        "rate = '20Mbit/s'",
        "rate = { steps = [['0s', '20Mbit/s']] }",
        "rate = { steps = [['0s', '20Mbit/s']], every = '1s' }",
        "rate = { trace = 'x' }",
        "rate = { trace = 'x', repeat = false }",
        "delay = { steps = [['0s', '20ms']] }",
        "delay = { steps = [['0s', '20ms']], reorder = true }",
        "loss = { packets = [1] }",
        "loss = { packets = { trace = 'x' } }",
        "loss = { trace = 'x' }",
        "outage = { every = '1s', length = '1ms' }",
        "outage = { every = '1s', length = '1ms', first = '0s' }",
    ];
    let mut hashes: Vec<String> = keys.iter().map(|keys| scenario(keys).hash()).collect();
    assert_eq!(scenario("delay = '0s'\nloss = 0").hash(), hashes[0]);
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), keys.len());
}

/// Keys of a link, and words of their only fault.
const FAULTS: &[(&str, &[&str])] = &[
    ("rate = ['1Mbit/s', '2Mbit/s']", &["link.rate: a list", "{ steps = [[\"0s\""]),
    ("rate = 'lte.down'", &["write { trace = \"lte.down\" }"]),
    ("rate = '0Mbit/s'", &["a rate of zero: nothing would pass"]),
    ("rate = {}", &["a table without steps or trace", "{ trace = \"lte.down\" }"]),
    ("rate = { trace = 'x', steps = [] }", &["steps and trace at once", "one of them"]),
    ("rate = { trace = '' }", &["link.rate.trace: an empty text"]),
    ("rate = { trace = 'x', evry = '1s' }", &["link.rate.evry: unknown key", "did you mean \"every\"?"]),
    ("rate = { steps = [] }", &["link.rate.steps", "pairs of a time and a value"]),
    ("rate = { steps = ['1Mbit/s'] }", &["link.rate.steps[0]", "a pair of a time and a value"]),
    ("rate = { steps = [['1s', '1Mbit/s']] }", &["link.rate.steps[0][0]: a first step at 1s", "0s"]),
    (
        "rate = { steps = [['0s', '1Mbit/s'], ['0s', '2Mbit/s']] }",
        &["steps[1][0]: a step at 0ns after one at 0ns"],
    ),
    ("rate = { steps = [['0s', '0Mbit/s'], ['1s', '0Mbit/s']] }", &["a rate of zero throughout"]),
    ("rate = { steps = [['0s', 5]] }", &["link.rate.steps[0][1]: the integer 5", "write \"5Mbit/s\""]),
    (
        "rate = { steps = [['0s', '1Mbit/s'], ['9s', '2Mbit/s']], every = '9s' }",
        &["link.rate.every: a period of 9s, and a step at 9s"],
    ),
    (
        "rate = { steps = [['0s', '1Mbit/s']], repeat = true }",
        &["link.rate.repeat: steps do not have repeat", "every"],
    ),
    ("rate = { steps = [['0s', '1Mbit/s']], reorder = true }", &["link.rate.reorder: unknown key"]),
    ("delay = { trace = 'x', repeat = true }", &["link.delay.repeat: unknown key"]),
    ("delay = { steps = [['0s', '1Mbit/s']] }", &["link.delay.steps[0][1]"]),
    ("loss = 1", &["a loss of 100%: nothing would pass"]),
    ("loss = { steps = [['0s', 1], ['1s', '100%']] }", &["a loss of 100% throughout"]),
    ("loss = { steps = [['0s', 1.5]] }", &["link.loss.steps[0][1]", "a share from 0 to 1"]),
    ("loss = { packets = [5, 5] }", &["link.loss.packets[1]: 5 after 5", "numbers that rise"]),
    ("loss = { packets = [0] }", &["link.loss.packets[0]: number 0: the first packet has number 1"]),
    ("loss = { packets = [] }", &["link.loss.packets", "{ trace = \"lost.txt\" }"]),
    ("loss = { packets = [1], trace = 'x' }", &["trace and packets at once"]),
    (
        "loss = { gilbert_elliott = { to_bad = 0, to_good = 0.1 } }",
        &["link.loss.gilbert_elliott.to_bad: a share of zero"],
    ),
    ("loss = { gilbert_elliott = { to_bad = 0.1 } }", &["link.loss.gilbert_elliott.to_good: missing"]),
    (
        "loss = { gilbert_elliott = { to_bad = 0.1, to_good = 0.1, good_loss = 1 } }",
        &["a loss of 100% in both states"],
    ),
    (
        "outage = { every = '1s', length = '1s' }",
        &["link.outage.length: a length of 1s every 1s", "below 1s"],
    ),
    ("outage = { every = '1s', length = '0s' }", &["a length of zero"]),
    ("outage = { every = '1s', length = { uniform = ['0s', '0s'] } }", &["a length of 0ns"]),
    ("outage = { every = '1s', length = { uniform = ['20ms', '2s'] } }", &["a length of 2s every 1s"]),
    (
        "outage = { every = '1s', length = { uniform = ['20ms'] } }",
        &["link.outage.length.uniform: a list of 1"],
    ),
    ("outage = { every = '1s', length = { exponential = '20ms' } }", &["link.outage.length"]),
    ("outage = { length = '20ms' }", &["link.outage.every: missing"]),
    ("reverse = { queue.limit = '9 packets', outage = {} }", &["link.reverse.outage: unknown key"]),
];

#[test]
fn each_fault_of_a_link_that_changes_names_its_key_and_the_remedy() {
    for (keys, words) in FAULTS {
        let faults = common::faults(&text(keys));
        says(&faults.as_slice()[0].to_string(), words);
    }
}

#[test]
fn only_the_rate_of_a_link_changes() {
    let traffic = "[[traffic]]\nkind = 'cbr'\nrate = { steps = [['0s', '1Mbit/s']] }\n";
    says(&fault(&(text("") + traffic)), &["traffic[0].rate", "only the rate of a link can change"]);
    says(&fault(&(text("") + "access_rate = { trace = 'x' }\n")), &["flow[0].access_rate"]);
    let cell = "title = 't'\nduration = '2s'\n[wlan]\nphy = '802.11g'\nrate = '54Mbit/s'\n\
                backhaul = { rate = { trace = 'x' }, delay = '10ms', queue.limit = '90 packets' }\n\
                [[station]]\nname = 's'\n[[flow]]\nstation = 's'\n";
    says(&fault(cell), &["wlan.backhaul.rate", "only the rate of a link can change"]);
}
