//! `send` and `receive` over an emulated path: SOBAS holds the receiver's window, and the page says so.

use crate::place::{Place, alone, end, root};
use std::fs;

/// 20 Mbit/s for 12 MB are five seconds: time for SOBAS to measure, ramp and hold.
#[test]
fn sobas_finds_the_window_of_a_path_and_says_what_it_is_doing() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        place.write("file", vec![0x5a; 12_000_000]);
        let script = "exec $TIGHTLINK emulate --rate 20Mbit/s --delay 20ms --queue 1bdp --server \
             'exec $TIGHTLINK receive there > ticket 2> there.log' -- sh -c \
             'while ! test -s ticket; do sleep 0.05; done; \
             exec $TIGHTLINK send file $(cat ticket) --json --control reno --report page.html'";
        let ended = end(place.shell(script)).well();
        assert!(fs::read(place.path().join("there/file")).unwrap() == vec![0x5a; 12_000_000]);
        let summary = &ended.json()[0];
        let goodput = summary["goodput_bps"].as_f64().unwrap();
        assert!((10e6..20e6).contains(&goodput), "{summary}");
        let page = fs::read_to_string(place.path().join("page.html")).unwrap();
        assert!(page.contains("The receive window&#39;s phases: ") || page.contains("The receive window's phases: "));
        // Twice what the path and its queue hold would be no window at all.
        let window = summary["window_bytes"].as_u64().expect("SOBAS holds a window");
        assert!((25_000..400_000).contains(&window), "{summary}");
    }
}
