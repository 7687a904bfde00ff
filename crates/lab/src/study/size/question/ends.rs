//! Values with a least and a most, as people write them.

use std::fmt;
use std::str::FromStr;
use units::{Complaint, Span, TextError};

/// A range from a least to a greatest value: written as `20ms..80ms`, or as one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends<T> {
    /// The least value.
    pub least: T,
    /// The greatest value.
    pub most: T,
}

impl<T: Copy + PartialEq> Ends<T> {
    /// Creates the range of one value.
    pub const fn at(value: T) -> Self {
        Self { least: value, most: value }
    }

    /// Returns true if the range has one value only.
    pub fn is_one(&self) -> bool {
        self.least == self.most
    }
}

impl Ends<Span> {
    /// Returns the mean of values spread uniformly over the range.
    #[must_use]
    pub fn mean(&self) -> Span {
        Span::from_nanos(self.least.as_nanos().midpoint(self.most.as_nanos()))
    }

    /// Returns the upper ends of `count` equal parts, ascending.
    pub(in crate::study::size) fn spread(self, count: u64) -> impl Iterator<Item = Span> {
        let width = self.most.saturating_sub(self.least);
        (1..=count).map(move |part| self.least + width.scale(part as f64 / count as f64))
    }
}

/// A value that can have a least and a most.
pub trait Value: Copy + PartialOrd + fmt::Display {
    /// The accepted texts, with the form of a range.
    const ACCEPTED: &'static str;

    /// Reads one value.
    ///
    /// # Errors
    /// If the text is not such a value: the text, and the accepted ones.
    fn read(text: &str) -> Result<Self, Complaint>;
}

impl Value for Span {
    const ACCEPTED: &'static str = "a time such as 20ms, or a range such as 20ms..150ms";

    fn read(text: &str) -> Result<Self, Complaint> {
        text.parse().map_err(|error: TextError| {
            let complaint = Complaint::new("", error.to_string());
            match text.parse::<f64>() {
                Ok(_) => complaint.help(format!("write {text}ms or {text}s")),
                Err(_) => complaint,
            }
        })
    }
}

impl Value for u64 {
    const ACCEPTED: &'static str = "a whole number such as 100, or a range such as 100..500";

    fn read(text: &str) -> Result<Self, Complaint> {
        text.parse().map_err(|_| {
            Complaint::new("", format!("\"{text}\" is not a whole number")).accepted(Self::ACCEPTED)
        })
    }
}

/// Splits a range into its two texts, at `..`, or at a dash or the word "to" as people write ranges. The least value
/// may omit its unit; it then has the unit of the greatest.
fn range(text: &str) -> Option<(String, String)> {
    let apart = ["..", "–", " to ", "-"].into_iter().find_map(|mark| text.split_once(mark));
    let (least, most) = apart?;
    let (least, most) = (least.trim(), most.trim_start_matches('.').trim());
    if least.is_empty() || most.is_empty() {
        return None;
    }
    let unit = most.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = least.chars().all(|c| c.is_ascii_digit() || c == '.');
    Some((if bare { format!("{least}{unit}") } else { least.into() }, most.into()))
}

impl<T: Value> FromStr for Ends<T> {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        let read = |text: &str| {
            T::read(text).map_err(|complaint| Complaint { accepted: T::ACCEPTED.into(), ..complaint })
        };
        let Some((least, most)) = range(text) else { return read(text.trim()).map(Self::at) };
        let (least, most) = (read(&least)?, read(&most)?);
        if least > most {
            return Err(Complaint::new("", format!("{least} before {most}"))
                .accepted("the least first, then the most")
                .help(format!("write {most}..{least}")));
        }
        Ok(Self { least, most })
    }
}

impl<T: fmt::Display + PartialEq + Copy> fmt::Display for Ends<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_one() {
            true => self.least.fmt(f),
            false => write!(f, "{}..{}", self.least, self.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_people_write_them() {
        let right: Ends<Span> = "20ms..150ms".parse().unwrap();
        for text in [
            "20..150ms",
            "20ms-150ms",
            "20-150ms",
            "20 - 150 ms",
            "20ms – 150ms",
            "20 to 150ms",
            "20ms...150ms",
        ] {
            assert_eq!(text.parse::<Ends<Span>>(), Ok(right), "{text}");
        }
        assert_eq!(
            "100us..1ms".parse(),
            Ok(Ends { least: Span::from_micros(100), most: Span::from_millis(1) })
        );
        assert_eq!("1-20".parse(), Ok(Ends { least: 1u64, most: 20 }));
        for text in ["20..150", "20ms..", "..20ms", "-20ms", "20ms..x"] {
            let complaint = text.parse::<Ends<Span>>().unwrap_err();
            assert!(complaint.accepted.contains("20ms..150ms"), "{text}: {complaint:?}");
        }
        let bare = "30".parse::<Ends<Span>>().unwrap_err();
        assert_eq!(bare.help.as_deref(), Some("write 30ms or 30s"));
    }
}
