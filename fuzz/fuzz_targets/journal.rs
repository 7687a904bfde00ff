// libFuzzer: -max_len=600
//! The journal's records. Input: a form, then the log, or the bodies of its records, each behind one byte of length.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tightlink_fuzz::{pieces, ready, record};
use transfer::fuzzing::journal;

fuzz_target!(init: ready(), |input: &[u8]| {
    let Some((&form, rest)) = input.split_first() else { return };
    let log = if form & 1 == 0 { pieces(rest).flat_map(record).collect() } else { rest.to_vec() };
    let whole = journal(&log);
    assert!(whole <= log.len());
    assert_eq!(journal(&log[..whole]), whole, "the kept part reads the same");
    // A log that was cut off has the records before the cut, and no more.
    let cut = usize::from(form) * log.len() / 256;
    let kept = journal(&log[..cut]);
    assert!(kept <= cut && kept <= whole);
    if cut >= whole {
        assert_eq!(kept, whole);
    } else {
        assert_eq!(kept + journal(&log[kept..]), whole, "the rest of the log goes on there");
    }
});
