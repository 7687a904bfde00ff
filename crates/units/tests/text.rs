//! The text forms that people type, the errors that they meet, and how foreign text shows.

use proptest::prelude::*;
use tightlink_units::{Bytes, Foreign, Fraction, Rate, Span, is_visible, one_line};

/// The longest foreign text that is shown, characters.
const LONGEST: usize = 200;

#[test]
fn the_usual_forms_are_read_exactly() {
    assert_eq!("20ms".parse(), Ok(Span::from_millis(20)));
    assert_eq!("1.5 s".parse(), Ok(Span::from_millis(1500)));
    assert_eq!("0.1us".parse(), Ok(Span::from_nanos(100)));
    assert_eq!("2min".parse(), Ok(Span::from_secs(120)));
    assert_eq!("0s".parse(), Ok(Span::ZERO));
    assert_eq!("970Mbit/s".parse(), Ok(Rate::from_bps(970_000_000)));
    assert_eq!("9.7Mbps".parse(), Ok(Rate::from_bps(9_700_000)));
    assert_eq!("128KB".parse(), Ok(Bytes::new(128_000)));
    assert_eq!("64KiB".parse(), Ok(Bytes::new(65_536)));
    assert_eq!("0.5%".parse(), Ok(Fraction::new(0.005).unwrap()));
    assert_eq!("0.005".parse(), Ok(Fraction::new(0.005).unwrap()));
}

#[test]
fn an_error_points_at_the_column_and_says_what_is_accepted() {
    let error = "100Mbits".parse::<Rate>().unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (4, "unknown unit \"Mbits\""));
    assert!(error.accepted.contains("Mbit/s"));
    let error = " -3ms".parse::<Span>().unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (2, "a negative number"));
    let error = "20".parse::<Span>().unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (3, "no unit"));
    let error = "fast".parse::<Rate>().unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (1, "'f', not a number"));
    assert_eq!("".parse::<Bytes>().unwrap_err().found, "nothing");
    assert_eq!("0.1ns".parse::<Span>().unwrap_err().found, "less than one ns");
    assert_eq!("99999999999TB".parse::<Bytes>().unwrap_err().found, "a number out of range");
    assert_eq!("101%".parse::<Fraction>().unwrap_err().found, "a number out of range");
}

/// Found by fuzzing: 70 * 0.01 is not 0.7, and twelve digits do not tell all shares apart.
#[test]
fn a_share_is_the_same_number_as_a_percentage_and_after_printing() {
    assert_eq!("70%".parse::<Fraction>(), "0.7".parse());
    assert_eq!("35%".parse::<Fraction>().unwrap().get(), 0.35);
    for (text, printed) in [
        ("0", "0%"),
        ("-0.0", "0%"),
        ("1", "100%"),
        ("0.07", "7%"),
        ("0.5%", "0.5%"),
        ("12.345%", "12.345%"),
        ("0.1234567890123456", "12.34567890123456%"),
        ("0.1", "10%"),
        ("0.000_01", "0.001%"),
        (".000000000000000000000000000001%", "0.000000000000000000000000000001%"),
    ] {
        let share: Fraction = text.trim_start_matches('-').parse().unwrap();
        assert_eq!(share.to_string(), printed);
        assert_eq!(printed.parse(), Ok(share));
    }
    assert_eq!(Fraction::new(-0.0).unwrap().to_string(), "0%");
}

/// The sum that rounds half up must not overflow: without overflow checks this was read as nothing at all.
#[test]
fn a_number_at_the_end_of_128_bits_is_read_exactly() {
    assert_eq!("9.4522879700260684295381835h".parse(), Ok(Span::from_nanos(34_028_236_692_094)));
    assert_eq!("9.4522879700260684295381836h".parse::<Span>().unwrap_err().found, "a number out of range");
}

#[test]
fn rates_convert_without_floating_point() {
    let rate = Rate::from_bps(97_000_000);
    assert_eq!(rate.serialization(Bytes::new(1500)), Span::from_nanos(123_712)); // 123711.34 rounded up
    assert_eq!(rate.volume(Span::from_millis(40)), Bytes::new(485_000));
    assert_eq!(Rate::of(Bytes::new(485_000), Span::from_millis(40)), rate);
    assert_eq!(Rate::of(Bytes::new(1), Span::ZERO), Rate::ZERO);
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(n in 0u64..=u64::MAX / 2) {
        prop_assert_eq!(Span::from_nanos(n).to_string().parse(), Ok(Span::from_nanos(n)));
        prop_assert_eq!(Bytes::new(n).to_string().parse(), Ok(Bytes::new(n)));
        prop_assert_eq!(Rate::from_bps(n).to_string().parse(), Ok(Rate::from_bps(n)));
    }

    #[test]
    fn a_printed_share_reads_back(value in 1e-13f64..=1.0) {
        let share = Fraction::new(value).unwrap();
        prop_assert_eq!(share.to_string().parse(), Ok(share));
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in ".{0,40}") {
        let _ = text.parse::<Span>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Fraction>();
    }
}

#[test]
fn messages_for_people_have_three_digits() {
    let spans =
        [245_324_593u64, 10_042_187_911, 3_301_376, 800_000, 999_700, 0, 60_000_000_000, 1_234_000_000_000];
    let shown = spans.map(|nanos| Span::from_nanos(nanos).rounded());
    assert_eq!(shown, ["245 ms", "10 s", "3.3 ms", "800 us", "1 ms", "0 ns", "60 s", "1234 s"]);
    let sizes = [273_896u64, 2_147_483_648, 999_999].map(|bytes| Bytes::new(bytes).rounded());
    assert_eq!(sizes, ["274 kB", "2.15 GB", "1 MB"]);
    assert_eq!(Rate::from_bps(20_320_000).rounded(), "20.3 Mbit/s");
}

#[test]
fn ordinary_text_shows_as_it_is() {
    for text in ["a file", "naïve Straße", "日本語", "", "it's"] {
        assert_eq!(Foreign::new(text).to_string(), text);
    }
    assert_eq!(format!("{:#}", Foreign::new("say \"yes\"")), r#""say \"yes\"""#);
}

#[test]
fn what_moves_a_terminal_is_escaped() {
    let text = "\x1b]0;owned\x07\r\nreceived: all verified\u{9b}2J\u{202e}\u{200b}\u{2028}\\";
    let shown = Foreign::new(text).to_string();
    assert_eq!(shown, r"\u{1b}]0;owned\u{7}\r\nreceived: all verified\u{9b}2J\u{202e}\u{200b}\u{2028}\\");
    assert_eq!(Foreign::new(b"a\xff\n").to_string(), r"a\xff\n");
}

#[test]
fn a_text_of_several_lines_is_shown_on_one() {
    assert_eq!(one_line("a title"), "a title");
    assert_eq!(one_line("two\n  lines\r\n\r\n and more \n"), "two lines and more");
    assert_eq!(one_line("a\tb\u{2028}c\x1b[2K\u{202e}"), r"a\tb c\u{1b}[2K\u{202e}");
    assert_eq!(one_line("a  b"), "a  b");
}

#[test]
fn long_text_is_cut() {
    let shown = Foreign::new(&"ä".repeat(5000)).to_string();
    assert_eq!(shown.chars().count(), LONGEST + 1);
    assert!(shown.ends_with('…'));
    assert!(format!("{:#}", Foreign::new(&[0xff; 5000])).ends_with("…\""));
}

proptest! {
    #[test]
    fn one_line_is_one_line(text in ".{0,40}[\\n\\r\\t ]{0,4}.{0,40}") {
        let line = one_line(&text);
        prop_assert!(line.chars().all(is_visible), "{}", line.escape_debug());
    }

    #[test]
    fn no_bytes_reach_the_terminal_as_controls(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for shown in [Foreign::new(&bytes).to_string(), format!("{:#}", Foreign::new(&bytes))] {
            let plain = shown.chars().all(is_visible);
            prop_assert!(plain, "{}", shown.escape_debug());
            prop_assert!(shown.chars().count() <= LONGEST * 10 + 3);
        }
    }
}
