//! The table of hosts in the guide is what the keys default to.

use std::collections::BTreeMap;
use tightlink_scenario::{BbrVariant, Buffers, Host, LossDetection, Recovery};
use units::{Rate, Span};

/// Cells of the table that begins with `host`'s header, by key: the two columns of values.
fn table() -> BTreeMap<String, [String; 2]> {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/scenario.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let lines = guide.lines().skip_while(|line| !line.starts_with("| key | `\"rfc\"` | `\"linux\"` |"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].replace('`', ""), [2, 3].map(|column: usize| cells[column].replace(['`', '"'], "")))
    })
    .collect()
}

/// What the table should have for `host`.
fn rows(host: &Host) -> [(&'static str, String); 15] {
    let time = |span: Span| match span.as_nanos() {
        0 => "0 s".to_owned(),
        nanos if nanos % 1_000_000 == 0 => format!("{} ms", nanos / 1_000_000),
        nanos => format!("{} us", nanos / 1000),
    };
    let rate = |rate: Rate| format!("{} Gbit/s", rate.as_bps() / 1_000_000_000);
    let pauses = if host.pause == Span::ZERO {
        time(host.pause)
    } else {
        format!("{}, {}", time(host.pause), time(host.pause_interval))
    };
    let recovery = match host.recovery {
        Recovery::Prr => "prr",
        Recovery::Rfc6675 => "rfc6675",
        Recovery::Sack1 => "sack1",
    };
    let detection = match host.loss_detection {
        LossDetection::Rack => "rack",
        LossDetection::DupAck => "dupack",
    };
    [
        ("recovery", recovery.into()),
        ("loss_detection", detection.into()),
        ("slow_start with cubic", host.slow_start_of_cubic.into()),
        ("bbr_variant", if host.bbr_variant == BbrVariant::Linux { "linux" } else { "draft" }.into()),
        ("byte_counting", host.byte_counting.to_string()),
        ("delayed_ack", host.delayed_ack.to_string()),
        ("delayed_ack_timeout", time(host.delayed_ack_timeout)),
        ("quick_ack", host.quick_ack.to_string()),
        ("sack_compression", time(host.sack_compression)),
        ("tso", host.tso.to_string()),
        ("gro", time(host.gro)),
        ("pause, pause_interval", pauses),
        ("wake_up", time(host.wake_up)),
        ("access_rate", host.access_rate.map_or("unlimited".into(), rate)),
        ("send_jitter", time(host.send_jitter)),
    ]
}

#[test]
fn the_guide_says_what_each_host_is_like() {
    let mut table = table();
    for (column, host) in [(0, Host::RFC), (1, Host::LINUX)] {
        for (key, value) in rows(&host) {
            assert_eq!(table.get(key).map(|values| values[column].as_str()), Some(value.as_str()), "{key}");
        }
        let buffers = match host.buffers {
            Buffers::Max => "max",
            Buffers::Autotuned => "autotuned",
        };
        assert_eq!(table.get("socket_buffer").map(|values| values[column].as_str()), Some(buffers));
    }
    for (key, _) in rows(&Host::RFC) {
        table.remove(key);
    }
    table.remove("socket_buffer");
    assert!(table.is_empty(), "rows of no key: {table:?}");
}
