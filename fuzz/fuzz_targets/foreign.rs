// libFuzzer: -max_len=1200
//! Text that somebody else chose, as it is shown. Input: the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::ready;
use units::Foreign;

fuzz_target!(init: ready(), |input: &[u8]| {
    let (plain, quoted) = (Foreign::new(input).to_string(), format!("{:#}", Foreign::new(input)));
    for shown in [&plain, &quoted] {
        assert!(!shown.chars().any(|letter| letter.is_control() || is_hidden(letter)), "{shown:?}");
        assert!(shown.chars().count() <= 2003, "{} letters", shown.chars().count());
    }
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("two quotes");
    // A quote within is escaped: nothing can look like the end.
    assert!(inner.replace(r"\\", "").replace(r#"\""#, "").find('"').is_none(), "{quoted}");
});

/// Separators of lines, letters that turn the direction of writing, and invisible ones.
fn is_hidden(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}
