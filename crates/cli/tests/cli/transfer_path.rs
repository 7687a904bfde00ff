//! `send` and `receive` over an emulated path: SOBAS holds the receiver's window, and both sides say what it is doing.

use crate::place::{Ended, Place, alone, end, root};
use serde_json::Value;
use std::fs;
use testkit::tries::{Late, in_one_of_five, in_time};

/// Sends `file` over `link` with `--json --report page.html` and `more`; the receiver has `options`.
fn over(place: &Place, link: &str, options: &str, more: &str) -> Ended {
    end(place.shell(&format!(
        "exec $TIGHTLINK emulate {link} --server \
         'exec $TIGHTLINK receive there {options} > ticket 2> there.log' -- sh -c \
         'while ! test -s ticket; do sleep 0.05; done; \
         exec $TIGHTLINK send file $(cat ticket) --json --report page.html {more}'"
    )))
}

fn page(place: &Place) -> String {
    fs::read_to_string(place.path().join("page.html")).unwrap().replace("&#39;", "'")
}

/// 20 Mbit/s for 12 MB are five seconds: time for SOBAS to measure, ramp and hold.
const LINK: &str = "--rate 20Mbit/s --delay 20ms --queue 1bdp";

/// The summary of 12 MB over [`LINK`], which have arrived.
fn twelve_megabytes(place: &Place, more: &str) -> Result<Value, Late> {
    place.write("file", vec![0x5a; 12_000_000]);
    let ended = over(place, LINK, "", more).well();
    assert!(fs::read(place.path().join("there/file")).unwrap() == vec![0x5a; 12_000_000]);
    let summary = ended.json().remove(0);
    let goodput = summary["goodput_bps"].as_f64().unwrap();
    // How near it comes to 20 Mbit/s is for a machine with nothing else to do; five seconds of one that stalls say little.
    assert!(goodput < 20e6, "{summary}");
    in_time(goodput >= 5e6, &summary)?;
    // S, or an open window: two and a half times what arrives in a round trip, and 32 segments. Path and queue hold 200 kB, and
    // twice that arrives in the round trip in which a lost packet is repaired.
    let window = summary["window_bytes"].as_u64().expect("there is a window");
    in_time((25_000..1_050_000).contains(&window), &summary)?;
    Ok(summary)
}

#[test]
fn sobas_finds_the_window_of_a_path_and_says_what_it_is_doing() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let place = Place::new();
            twelve_megabytes(&place, "--control reno")?;
            let page = page(&place);
            assert!(page.contains("The receive window's phases: "));
            for phase in ["measure at", "packet trains"] {
                assert!(page.contains(phase), "{phase} is not on the page");
            }
            assert!(page.contains("grow at") || page.contains("open at"), "nothing follows the measurement");
            Ok(())
        });
    }
}

#[test]
fn several_streams_share_one_sobas_and_its_window() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let place = Place::new();
            let summary = twelve_megabytes(&place, "--control reno --streams 4")?;
            assert_eq!(summary["streams"], 4);
            // Four machines would each measure the path.
            in_time(page(&place).matches("measure at").count() == 1, "not one machine")
        });
    }
}
