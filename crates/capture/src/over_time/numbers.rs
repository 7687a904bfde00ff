//! Whole numbers, one in each line.

use crate::error::{Place, TraceError};
use crate::input::Input;
use units::Foreign;

/// The longest line: the largest number has 20 digits.
const LONGEST: usize = 20;

/// Hands each number of `input` to `each`, with the place of its line. The words for an `accepted` line are for errors.
pub(super) fn numbers(
    input: &mut Input<'_>,
    accepted: &str,
    mut each: impl FnMut(u64, Place) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let mut line = 0;
    loop {
        let seen = input.see(LONGEST + 1)?;
        if seen.is_empty() {
            break;
        }
        let (mut from, length) = (0, seen.len());
        // All whole lines that were read; the last line of a file need not have an end.
        while let Some(end) = seen[from..].iter().position(|byte| *byte == b'\n') {
            line += 1;
            let place = Place::Line(line);
            each(number(&seen[from..from + end], place, accepted)?, place)?;
            from += end + 1;
        }
        if length - from > LONGEST || (from == 0 && length <= LONGEST) {
            let place = Place::Line(line + 1);
            each(number(&seen[from..], place, accepted)?, place)?;
            from = length;
            line += 1;
        }
        input.take(from);
    }
    match input.cut() {
        Some(compression) => {
            let found = format!("the {compression} data ends too early");
            Err(TraceError::new(Place::Whole, found, "a whole file"))
        }
        None => Ok(()),
    }
}

fn number(line: &[u8], place: Place, accepted: &str) -> Result<u64, TraceError> {
    // Each line is a few digits, so this loop costs less than a conversion by way of a text.
    let digits = |value: u64, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    };
    if let Some(number) = line.iter().try_fold(0, digits).filter(|_| !line.is_empty()) {
        return Ok(number);
    }
    let error = |found: String| TraceError::new(place, found, accepted);
    Err(match line {
        [] => error("an empty line".to_owned()).help("delete it: sed -i '/^$/d' FILE"),
        [.., b'\r'] => error("a line end of Windows".to_owned()).help("convert the file: dos2unix FILE"),
        _ => error(format!("{:#}", Foreign::new(&line[..line.len().min(60)]))),
    })
}
