//! Numbers and untrusted text, made safe and readable for a page.

use serde::Serialize;

/// Escapes text for HTML content or a quoted attribute: `& < > " '` become entities.
#[must_use]
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes a sentence for HTML content, without line breaks between a number and its unit.
#[must_use]
pub fn prose(sentence: &str) -> String {
    const UNITS: [&str; 10] = ["%", "ms", "s", "B", "kB", "MB", "BDP", "kbit/s", "Mbit/s", "Gbit/s"];
    let mut out = String::with_capacity(sentence.len());
    let mut words = sentence.split(' ').peekable();
    while let Some(word) = words.next() {
        out.push_str(word);
        let Some(next) = words.peek() else { break };
        let unit = next.trim_end_matches(|c: char| ",.;:)".contains(c));
        let number = word.ends_with(|c: char| c.is_ascii_digit());
        out.push(if number && UNITS.contains(&unit) { '\u{a0}' } else { ' ' });
    }
    escape_html(&out)
}

/// Writes JSON that can stand inside a `<script>` element. All `<` are escaped, so that none can close the element or
/// open a comment. So are the two line separators that JSON allows and JavaScript did not.
///
/// # Panics
/// Never for plain data: the structs of this crate have string keys only.
#[must_use]
pub fn json_for_script<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value)
        .expect("plain data has a JSON form")
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Writes `value` with this many decimals, with thin spaces between thousands and a true minus sign; an en dash if it
/// is missing.
#[must_use]
pub fn number(value: Option<f64>, decimals: usize) -> String {
    let Some(value) = value.filter(|v| v.is_finite()) else { return "–".into() };
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        let left = whole.len() - i;
        // Four digits read well without a break.
        if i > 0 && left % 3 == 0 && whole.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Returns the number of decimal places, at most four, with which `value` has `digits` significant digits.
#[must_use]
pub fn decimals_for(value: f64, digits: i32) -> usize {
    if !value.is_finite() || value == 0.0 {
        return 0;
    }
    let magnitude = libm::log10(value.abs()).floor() as i32;
    (digits - 1 - magnitude).clamp(0, 4) as usize
}

/// Writes `value` to three significant digits, without zeros at the end of its decimals: for sentences and labels.
#[must_use]
pub fn short(value: f64) -> String {
    let text = number(Some(value), decimals_for(value, 3));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Writes a rate in bits per second for a sentence: "41.7 Mbit/s".
#[must_use]
pub fn bit_rate(bps: f64) -> String {
    let (scale, unit) = match bps.abs() {
        less if less < 1e6 => (1e3, "kbit/s"),
        less if less < 1e9 => (1e6, "Mbit/s"),
        _ => (1e9, "Gbit/s"),
    };
    format!("{} {unit}", short(bps / scale))
}

/// Writes a time in seconds for a sentence: "22.4 ms", "31 s".
#[must_use]
pub fn delay(seconds: f64) -> String {
    if seconds.abs() < 3.0 { format!("{} ms", short(seconds * 1e3)) } else { format!("{} s", short(seconds)) }
}

/// Writes an amount of data in bytes for a sentence: "400 kB", "12.5 MB".
#[must_use]
pub fn volume(bytes: f64) -> String {
    let (scale, unit) = match bytes.abs() {
        less if less < 1e3 => (1.0, "bytes"),
        less if less < 1e6 => (1e3, "kB"),
        less if less < 1e9 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {unit}", short(bytes / scale))
}

/// Joins names: "model, sim and live".
#[must_use]
pub fn in_words(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the text with a capital first letter.
#[must_use]
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the label of an axis: the quantity, and its unit if it has one.
#[must_use]
pub fn titled(quantity: &str, unit: &str) -> String {
    if unit.is_empty() { quantity.to_owned() } else { format!("{quantity}, {unit}") }
}

/// Writes the distance of `value` from `reference`: "−1.2 %", or "×12" beyond a tenfold; `None` if the reference is 0.
#[must_use]
pub fn difference(value: f64, reference: f64) -> Option<String> {
    let ratio = value / reference;
    if !ratio.is_finite() || reference == 0.0 {
        return None;
    }
    if ratio >= 10.0 {
        return Some(format!("×{}", short(ratio)));
    }
    let percent = (ratio - 1.0) * 100.0;
    let decimals = usize::from(percent.abs() < 9.95);
    let text = number(Some(percent), decimals);
    Some(match text.strip_prefix('−') {
        Some(_) => format!("{text}\u{202f}%"),
        None if percent.abs() < 0.05 => format!("±{text}\u{202f}%"),
        None => format!("+{text}\u{202f}%"),
    })
}

/// Rounds `value` to five significant digits, to keep the page small.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn a_number_stays_beside_its_unit_and_nothing_else_does() {
        assert_eq!(prose("6 % of 10.5 Mbit/s, 20 ms."), "6\u{a0}% of 10.5\u{a0}Mbit/s, 20\u{a0}ms.");
        assert_eq!(prose("4 flows <b> of  % s"), "4 flows &lt;b&gt; of  % s");
    }
}
