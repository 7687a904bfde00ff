//! Bounds on a scenario: it asks for no more than fits into memory, and no text of it looks like a line of the program.

mod common;

use common::{LINK, SCENARIO, TOP, fault, says};
use tightlink_scenario::Document;

#[test]
fn flows_and_users_of_all_tables_together_have_a_bound() {
    let table = "[[flow]]\ncount = 600000\ninitial_window = 1\n";
    Document::parse("x.toml", &format!("{TOP}{LINK}{table}")).unwrap().scenario().unwrap();
    says(
        &fault(&format!("{TOP}{LINK}{table}{table}")),
        &["x.toml:10:9", "flow[1].count: flows and users: 1200000", "at most 1000000 in all"],
    );
    let users = "[[traffic]]\nkind = 'engset'\nusers = 600000\nthink = '1s'\nsession = '10 packets'\ninitial_window = 1\n";
    says(&fault(&format!("{TOP}{LINK}{table}{users}")), &["traffic[0].users: flows and users: 1200000"]);
}

#[test]
fn packets_that_all_flows_send_at_once_have_a_bound() {
    let flow = |count: u64, window: u64| format!("{SCENARIO}count = {count}\ninitial_window = {window}\n");
    says(
        &fault(&flow(1000, 1_000_000)),
        &["flow[0].initial_window: packets that flows send at once: 1000000000", "at most 20000000 in all"],
    );
    let sized = format!("{}size = '15kB'\n", flow(1000, 1_000_000));
    Document::parse("x.toml", &sized).unwrap().scenario().unwrap();
}

#[test]
fn links_and_what_crosses_them_have_a_bound() {
    let link = "[[link]]\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\n";
    let links = |count: usize| format!("{TOP}{}", link.repeat(count));
    says(&fault(&format!("{}[[flow]]\n", links(1001))), &["link: 1001 links", "at most 1000"]);
    says(
        &fault(&format!("{}[[flow]]\ncount = 100000\n", links(200))),
        &["flow[0].count: links that flows cross: 20000000", "at most 10000000 in all"],
    );
    let traffic = "[[traffic]]\nkind = 'cbr'\nrate = '1kbit/s'\n";
    says(&fault(&format!("{SCENARIO}{}", traffic.repeat(1001))), &["traffic: 1001 of them", "at most 1000"]);
}

#[test]
fn a_name_of_several_lines_or_without_end_is_refused() {
    let named = |name: &str| fault(&format!("{TOP}{LINK}[[flow]]\nname = {name}\n"));
    says(
        &named(r#""a\n  live  999.99""#),
        &["flow[0].name: a name with the letter '\\n'", r#""a\n  live  999.99""#, "on one line"],
    );
    for letter in [r"\r", r"\t", r"\u001b", r"\u2028", r"\u202e", r"\u200b"] {
        says(&named(&format!("\"a{letter}b\"")), &["is not visible"]);
    }
    says(&named(&format!("'{}'", "x".repeat(101))), &["a name of 101 letters", "at most 100"]);
    for table in [
        "[[flow]]\n[[traffic]]\nkind = 'cbr'\nrate = '1kbit/s'\nname = \"a\\nb\"\n",
        "[[flow]]\n[[traffic]]\nkind = 'replay'\nfile = 'x'\nname = \"a\\nb\"\n",
    ] {
        says(&fault(&format!("{TOP}{LINK}{table}")), &["traffic[0].name", "is not visible"]);
    }
    says(
        &fault(&format!(
            "{TOP}[link]\nname = \"a\\nb\"\nrate = '10Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\n"
        )),
        &["link.name", "is not visible"],
    );
}

#[test]
fn a_title_of_several_lines_is_shown_on_one() {
    let scenario = |title: &str| {
        let text = SCENARIO.replacen("title = 't'", &format!("title = {title}"), 1);
        Document::parse("x.toml", &text).unwrap().scenario().unwrap()
    };
    assert_eq!(scenario("'''\ntwo\n  lines'''").title, "two lines");
    assert_eq!(scenario(r#""a\u001b[2Kb""#).title, r"a\u{1b}[2Kb");
    let long = SCENARIO.replacen("title = 't'", &format!("title = '{}'", "x".repeat(1001)), 1);
    says(&fault(&long), &["title: a text of 1001 letters", "at most 1000"]);
}

#[test]
fn a_files_name_of_several_lines_is_shown_on_one() {
    let faults =
        Document::parse("a\nerror: b.toml", "title = 't'\n").unwrap().scenario().unwrap_err().to_string();
    assert!(faults.starts_with("a error: b.toml:1:1: "), "{faults}");
}
