//! Tests of tickets and of the hosts that they name.

use super::*;
use proptest::prelude::*;

fn ticket() -> Ticket {
    Ticket {
        addresses: vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()],
        port: 4711,
        fingerprint: Fingerprint([7; 16]),
        secret: Secret([9; 16]),
    }
}

#[test]
fn a_ticket_is_one_short_word_without_what_a_shell_would_read() {
    let one = Ticket { addresses: vec!["192.0.2.7".parse().unwrap()], ..ticket() };
    let text = one.to_string();
    assert!(text.len() < 80, "{} letters", text.len());
    assert!(text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()), "{text}");
    assert_eq!(text.parse(), Ok(one));
}

#[test]
fn the_text_of_a_ticket_with_addresses_stays_as_it_was() {
    // Tickets of interrupted sessions are kept in chats.
    assert_eq!(
        ticket().to_string(),
        "tl10896e1600010e410046vg00000000000000000070w3ge1r70w3ge1r70w3ge1r70w4gj289144gj289144gj289144mdwcze8"
    );
}

#[test]
fn a_ticket_may_name_hosts() {
    let names = ["box.example.net", "host", "192.0.2.7", "host.example.org"];
    let addresses = names.map(|name| name.parse().unwrap()).to_vec();
    let named = Ticket { addresses, ..ticket() };
    assert_eq!(named.to_string().parse(), Ok(named.clone()));
    assert_eq!(named.sockets().count(), 1);
}

#[test]
fn capitals_and_blanks_around_it_do_no_harm() {
    assert_eq!(format!(" {}\n", ticket().to_string().to_uppercase()).parse(), Ok(ticket()));
}

#[test]
fn every_changed_letter_is_noticed() {
    let text = ticket().to_string();
    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
        assert!(String::from_utf8(changed).unwrap().parse::<Ticket>().is_err(), "letter {at}");
    }
    for length in 0..text.len() {
        assert!(text[..length].parse::<Ticket>().is_err(), "cut to {length}");
    }
}

#[test]
fn a_secret_is_not_shown() {
    assert!(!format!("{:?}", ticket()).contains("9, 9"));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,120}") {
        let _ = text.parse::<Ticket>();
    }

    #[test]
    fn no_content_with_a_right_checksum_makes_it_panic(mut content in prop::collection::vec(any::<u8>(), 0..90)) {
        content.extend(checksum(&content));
        if let Ok(read) = format!("{PREFIX}{}", text::encode(&content)).parse::<Ticket>() {
            prop_assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn what_is_written_is_read(
        addresses in prop::collection::vec(any::<std::net::IpAddr>(), 1..8), port in 1u16..,
        fingerprint in any::<[u8; 16]>(), secret in any::<[u8; 16]>(),
    ) {
        let addresses = addresses.into_iter().map(Host::Ip).collect();
        let ticket = Ticket { addresses, port, fingerprint: Fingerprint(fingerprint), secret: Secret(secret) };
        prop_assert_eq!(ticket.to_string().parse(), Ok(ticket));
    }
}

mod host {
    use super::super::host::*;
    use proptest::prelude::*;

    #[test]
    fn names_and_addresses_are_told_apart() {
        let read = |text: &str| text.parse::<Host>().map(|host| host.to_string());
        for text in ["192.0.2.7", "2001:db8::7", "box", "box.example.net", "a-1.b2", "xn--bcher-kva.example"]
        {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
        assert_eq!(read("Box.Example.NET.").as_deref(), Ok("box.example.net"));
        assert!(matches!("192.0.2.7".parse(), Ok(Host::Ip(_))));
        for text in
            ["", ".", "a..b", "-a", "a-", "a b", "a_b", "bücher", "1", "192.168.1.300", "a/b", "x:1", "[::1]"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"a".repeat(64)).is_err() && read(&format!("{}b", "ab.".repeat(84))).is_ok());
        assert!(read(&format!("{}bc", "ab.".repeat(84))).is_err());
    }

    #[test]
    fn a_name_as_long_as_an_address_is_not_taken_for_one() {
        for text in ["host", "sixteen-letters1.x", "host.example.org", "abcd.example.com"] {
            let host: Host = text.parse().unwrap();
            assert_eq!(Host::from_bytes(&host.bytes()), Some(host.clone()), "{text}");
            assert!(!matches!(host.bytes().len(), 4 | 16), "{text}");
        }
        for bytes in [&b"hosts."[..], b"Hosts", b"", b"a b", &[0; 5]] {
            assert_eq!(Host::from_bytes(bytes), None, "only one form of each is read");
        }
    }

    proptest! {
        #[test]
        fn every_host_is_read_as_it_was_written(text in "[a-z][a-z0-9]{0,20}(\\.[a-z][a-z0-9]{0,8}){0,3}") {
            let host: Host = text.parse().unwrap();
            prop_assert_eq!(Host::from_bytes(&host.bytes()), Some(host.clone()));
            prop_assert_eq!(serde_json::from_str::<Host>(&serde_json::to_string(&host).unwrap()).unwrap(), host);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(host) = Host::from_bytes(&bytes) {
                prop_assert_eq!(host.bytes(), bytes);
            }
        }
    }
}
