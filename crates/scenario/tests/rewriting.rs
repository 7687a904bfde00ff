//! The text of one point of a sweep is a scenario of its own that says the same.

use tightlink_scenario::Document;

/// Every point's text, without a sweep, reads as the document at that point.
#[track_caller]
fn each_point_by_itself(text: &str) -> Vec<String> {
    let document = Document::parse("x.toml", text).unwrap();
    let sweep = document.sweep().unwrap();
    let texts = sweep.points().map(|point| {
        let alone = document.text_at(&point);
        let read = Document::parse("alone.toml", &alone).unwrap_or_else(|faults| panic!("{faults}\n{alone}"));
        assert_eq!(read.sweep().unwrap().len(), 1, "{alone}");
        assert_eq!(read.scenario().unwrap(), document.at(&point).unwrap().scenario().unwrap(), "{alone}");
        alone
    });
    texts.collect()
}

const BASE: &str = "# a comment\ntitle = 't'\nduration = '60s'\n[link] # the link\nrate = '10Mbit/s'\n\
                    queue = { limit = '9 packets' } # room\n[[flow]]\nrtt = '40ms'\n[[flow]]\nname = 'b'\n";

#[test]
fn swept_values_stand_in_place_and_the_sweep_is_a_comment() {
    let texts = each_point_by_itself(&format!(
        "{BASE}[sweep]\n'link.queue.limit' = ['1 bdp', # one\n  '2 bdp']\n'flow.rtt' = ['50ms']\n"
    ));
    assert_eq!(
        texts[1],
        "# a comment\ntitle = 't'\nduration = '60s'\n[link] # the link\nrate = '10Mbit/s'\n\
         queue = { limit = '2 bdp' } # room\n[[flow]]\nrtt = '50ms'\n[[flow]]\nrtt = '50ms'\nname = 'b'\n\
         # [sweep]\n# 'link.queue.limit' = ['1 bdp', # one\n#   '2 bdp']\n# 'flow.rtt' = ['50ms']\n"
    );
}

#[test]
fn keys_the_file_does_not_have_are_added_where_they_belong() {
    for sweep in [
        "[sweep]\nseed = [1, 2]\n'flow.b.count' = [3]\n'flow.0.size' = ['1MB']",
        "[sweep]\n'link.queue.kind' = ['red', 'codel']\n'link.delay' = ['1ms']\nwarmup = ['1s', '2s']",
        "[sweep]\nlink.queue = [{ limit = '3 packets' }, { kind = 'pie', limit = '40ms' }]",
        "[sweep.link]\nloss = [0.1, '2%']\n[sweep.flow]\nstart = [{ uniform = ['0s', '1s'] }]",
        "[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\n[sweep]\ntraffic.cbr.rate = ['2Mbit/s', '3Mbit/s']",
    ] {
        let texts = each_point_by_itself(&format!("{BASE}{sweep}"));
        assert!(!texts.iter().any(|text| text.contains("\n[sweep")), "{}", texts[0]);
    }
    each_point_by_itself(&format!("sweep = {{ seed = [3, 4], 'flow.sack' = [false] }}\n{BASE}"));
    each_point_by_itself(&format!("sweep.seed = [3, 4]\nsweep.warmup = ['1s']\n{BASE}"));
    each_point_by_itself(BASE);
}
