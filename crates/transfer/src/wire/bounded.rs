//! Texts and lists of bounded length, for `#[serde(with = …)]`. Reading a longer one fails; writing cuts texts.

/// The greatest length of a text for a person, in bytes.
pub(crate) const LONGEST_TEXT: usize = 1000;
/// The greatest number of a sender's data connections.
pub(crate) const MOST_STREAMS: usize = 64;
/// The greatest number of phases that a receiver reports at once.
pub(crate) const MOST_ENTERED: usize = 16;
/// The greatest number of intervals, and of episodes of loss, in the evidence about a load.
pub(crate) const MOST_OBSERVED: usize = 1000;

/// A text of at most [`LONGEST_TEXT`] bytes.
pub(crate) mod text {
    use super::LONGEST_TEXT;
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    /// Writes the text, cut with a final `…` if it is too long.
    pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        if text.len() <= LONGEST_TEXT {
            return serializer.serialize_str(text);
        }
        let mut end = LONGEST_TEXT - '…'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        serializer.serialize_str(&format!("{}…", &text[..end]))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(Text)
    }

    struct Text;

    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "a text of at most {LONGEST_TEXT} bytes")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
            if text.len() > LONGEST_TEXT {
                return Err(E::invalid_length(text.len(), &self));
            }
            Ok(text.to_owned())
        }
    }
}

/// Reads the reports of at most [`MOST_STREAMS`] connections.
pub(crate) fn streams<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    list::<D, T, MOST_STREAMS>(deserializer)
}

/// Reads at most [`MOST_ENTERED`] phases.
pub(crate) fn entered<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    list::<D, T, MOST_ENTERED>(deserializer)
}

/// Reads at most [`MOST_OBSERVED`] intervals or episodes.
pub(crate) fn observed<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    list::<D, T, MOST_OBSERVED>(deserializer)
}

fn list<'de, D, T, const MOST: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    deserializer.deserialize_seq(List::<T, MOST>(std::marker::PhantomData))
}

struct List<T, const MOST: usize>(std::marker::PhantomData<T>);

impl<'de, T: serde::Deserialize<'de>, const MOST: usize> serde::de::Visitor<'de> for List<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a list of at most {MOST}")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(one) = sequence.next_element()? {
            if list.len() == MOST {
                return Err(serde::de::Error::invalid_length(MOST + 1, &self));
            }
            list.push(one);
        }
        Ok(list)
    }
}
