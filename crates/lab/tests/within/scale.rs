//! Tests of the scale on which a search moves.

use super::*;

fn document(limit: &str) -> Document {
    let text = format!(
        "title = 'test'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\nqueue = {{ limit = '{limit}' }}\n[[flow]]\nrtt = '40ms'\n"
    );
    Document::parse("test", &text).expect("a scenario")
}

#[test]
fn a_room_is_counted_in_packets_whatever_its_unit() {
    // The room is 50 000 bytes.
    for (limit, start) in [("1 bdp", 33.0), ("50kB", 33.0), ("40ms", 33.0), ("33 packets", 33.0)] {
        let scale = Scale::of(&document(limit), "link.queue.limit").unwrap();
        assert_eq!((scale.start, scale.text(52.0).as_str()), (start, "52 packets"), "{limit}");
    }
}

#[test]
fn a_room_in_its_own_unit_holds_as_many_packets() {
    for limit in ["1 bdp", "0.0731 bdp", "50kB", "40ms", "123456 B"] {
        let mut document = document(limit);
        let scale = Scale::of(&document, "link.queue.limit").unwrap();
        for packets in [1.0, 2.0, 33.0, 52.0, 417.0, 9999.0] {
            let text = scale.written(&document, "link.queue.limit", packets).expect("there is a number");
            assert!(text.ends_with(limit.split_once(|c: char| c.is_alphabetic()).unwrap().1), "{text}");
            document.set("link.queue.limit", &text).unwrap();
            let resolved = resolve_document(&document).unwrap();
            assert_eq!(super::packets(&resolved.links[0]), packets, "{text}");
        }
    }
    let packets = document("50 packets");
    let scale = Scale::of(&packets, "link.queue.limit").unwrap();
    assert_eq!(scale.written(&packets, "link.queue.limit", 52.0), None);
}

#[test]
fn what_is_no_room_keeps_its_unit() {
    let scale = Scale::of(&document("1 bdp"), "link.rate").unwrap();
    assert_eq!((scale.start, scale.text(12.34567)), (10.0, "12.35 Mbit/s".into()));
    assert!(!scale.is_whole());
}

#[test]
fn packets_are_told_apart_one_by_one() {
    let scale = Scale::of(&document("50 packets"), "link.queue.limit").unwrap();
    assert!(scale.has_between(4000.0, 4002.0) && !scale.has_between(4000.0, 4001.0));
    assert_eq!(scale.middle(4000.0, 4002.0), 4001.0);
    assert_eq!(scale.beyond(2.0, Goal::Smallest).collect::<Vec<_>>(), [1.0]);
    assert_eq!(scale.beyond(2.0, Goal::Largest).collect::<Vec<_>>(), [3.0, 4.0, 5.0]);
    let within = |value| [Goal::Smallest, Goal::Largest].map(|sought| scale.within(value, sought));
    assert_eq!(within(10.0), [vec![11.0, 12.0], vec![9.0, 8.0]]);
    assert_eq!(within(200.0), [vec![201.0, 210.0], vec![199.0, 190.0]]);
}

#[test]
fn a_room_is_told_in_every_unit() {
    let room = |limit: &str| {
        let document = document(limit);
        Scale::of(&document, "link.queue.limit").unwrap().room(&document, 50.0).expect("a room")
    };
    assert_eq!(room("1 bdp").to_string(), "50 packets = 75 kB = 60 ms = 1.5 bdp");
    assert_eq!(room("10 packets").to_string(), "50 packets = 75 kB = 60 ms = 1.5 bdp");
}
