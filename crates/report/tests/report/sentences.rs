//! The sentences of a page: of several flows the sum and who has how much, of several cases what changed.

use lab::run::record::{Departures, Engine};
use lab::study::repeat::record;
use lab::study::task::{Answer, tasks};
use lab::study::watch::SharedWatch;
use scenario::Document;
use tightlink_report::{Case, Report};

const TWO: &str = "title = 't'
duration = '20s'
warmup = '5s'
[link]
rate = '20Mbit/s'
delay = '10ms'
queue.limit = '2 bdp'
[[flow]]
control = 'bbr'
name = 'bbr'
[[flow]]
control = 'cubic'
name = 'cubic'
";

/// The answers of `engines` at every point of `scenario`.
fn answers(scenario: &str, engines: &[Engine]) -> Vec<Answer> {
    let document = Document::parse("t.toml", scenario).unwrap();
    let of = |task| {
        let records = engines.iter().map(|engine| record(&task, *engine, &SharedWatch::by_nobody()).unwrap());
        let records = records.collect();
        Answer::of(task, records)
    };
    tasks(&document).unwrap().into_iter().map(of).collect()
}

/// The paragraphs under the page's title, with plain spaces between numbers and units.
fn headline(answers: &[Answer]) -> String {
    let page = Report {
        title: "t".into(),
        source: None,
        scenario_text: String::new(),
        scenario_name: "t.toml".into(),
        cases: answers.iter().map(Case::of).collect(),
        verdicts: Vec::new(),
        command: String::new(),
    };
    let html = page.html();
    let section =
        html.split("<section class=\"headline\">").nth(1).and_then(|rest| rest.split("</section>").next());
    section.expect("a headline").replace("</p>", "\n").replace("<p>", "").replace('\u{a0}', " ")
}

#[test]
fn of_two_flows_the_larger_share_is_named_with_the_sum() {
    let answers = answers(TWO, &[Engine::Sim]);
    let summary = &answers[0].records[0].summary;
    let total: f64 = summary.flows.iter().map(|flow| flow.goodput_bps).sum();
    let winner = summary.flows.iter().max_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps)).unwrap();
    let percent = format!("{:.0} % of the goodput (", winner.goodput_bps / total * 100.0);
    let text = headline(&answers);
    assert!(text.starts_with(&format!("In the simulation, {} has {percent}", winner.name)), "{text}");
    assert!(text.contains(&format!("of {:.1} Mbit/s), ", total / 1e6)), "{text}");
    assert!(
        text.contains("The queueing delay is ") && text.contains(" at the 95th percentile, with "),
        "{text}"
    );
}

#[test]
fn engines_agree_by_the_sum_and_then_flow_by_flow() {
    let mut answers = answers(TWO, &[Engine::Sim]);
    let mut other = answers[0].records[0].clone();
    other.summary.engine = Engine::Live;
    // The same sum, the shares exchanged.
    let [first, second] = &mut other.summary.flows[..] else { panic!("two flows") };
    std::mem::swap(&mut first.goodput_bps, &mut second.goodput_bps);
    answers[0].records.push(other);
    let text = headline(&answers);
    assert!(
        text.contains("Sim and live agree: the sums of their goodputs lie within 0.0 % of the capacity."),
        "{text}"
    );
    assert!(text.contains("Flow by flow they differ most for "), "{text}");
}

#[test]
fn many_flows_of_one_kind_have_a_range() {
    let text = headline(&answers(
        &TWO.replace("name = 'cubic'", "name = 'cubic'\ncount = 7")
            .replace("name = 'bbr'", "name = 'bbr'\ncount = 2"),
        &[Engine::Sim],
    ));
    assert!(text.contains("7 cubic flows have ") && text.contains(", 2 bbr flows "), "{text}");
    let lone = TWO.split("[[flow]]\ncontrol = 'cubic'").next().unwrap().replace("name = 'bbr'", "count = 8");
    let text = headline(&answers(&lone, &[Engine::Sim]));
    assert!(
        text.contains("In the simulation, 8 flows have ") && text.contains("a single flow has "),
        "{text}"
    );
}

#[test]
fn two_cases_say_what_changed_between_them() {
    let swept = TWO.replace("queue.limit = '2 bdp'", "queue = { limit = '500 packets' }")
        + "[sweep]\n'link.queue.kind' = ['drop-tail', 'codel']\n";
    let text = headline(&answers(&swept, &[Engine::Sim]));
    assert!(text.starts_with("In the simulation, mean RTT falls from "), "{text}");
    assert!(
        text.contains(" ms with drop-tail to ") && text.contains(" ms with codel at the same goodput ("),
        "{text}"
    );
}

#[test]
fn cases_over_quic_are_not_called_the_kernels() {
    let swept = TWO.replace("queue.limit = '2 bdp'", "queue = { limit = '500 packets' }")
        + "[sweep]\n'link.queue.kind' = ['drop-tail', 'codel']\n";
    let mut answers = answers(&swept, &[Engine::Sim]);
    for answer in &mut answers {
        answer.records[0].summary.engine = Engine::Live;
    }
    assert!(headline(&answers).starts_with("On the kernel, mean RTT falls from "), "{}", headline(&answers));
    for answer in &mut answers {
        let late = Some(Departures { mean: 1e-5, p99: 1e-4 });
        answer.records[0].summary.flows[0].departure_late_s = late;
    }
    let text = headline(&answers);
    assert!(text.starts_with("On real packets, mean RTT falls from "), "{text}");
}

#[test]
fn a_sized_flow_says_how_long_it_took() {
    let sized = TWO.replace("name = 'cubic'", "name = 'cubic'\nsize = '2MB'");
    let text = headline(&answers(&sized, &[Engine::Sim]));
    assert!(text.contains("In the simulation, cubic takes ") && text.contains(" for its 2 MB."), "{text}");
}
