//! [`WindowChoice`]: the size of the receive window that the receiver offers.

use std::str::FromStr;
use units::{Bytes, Complaint};

/// The rule that decides on the receive window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowChoice {
    /// A size that SOBAS finds while the transfer runs.
    #[default]
    Sobas,
    /// The largest size that the kernel allows.
    Max,
    /// A fixed size, over all data connections.
    Size(Bytes),
}

impl FromStr for WindowChoice {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        match text {
            "sobas" => Ok(Self::Sobas),
            "max" => Ok(Self::Max),
            _ => match text.parse::<Bytes>() {
                Ok(size) if size > Bytes::ZERO => Ok(Self::Size(size)),
                _ => Err(Complaint::new("", format!("{text:?} is not a window size"))
                    .accepted("sobas, max, or a size such as 400kB")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_word_or_a_size() {
        assert_eq!("sobas".parse(), Ok(WindowChoice::Sobas));
        assert_eq!("max".parse(), Ok(WindowChoice::Max));
        assert_eq!("400kB".parse(), Ok(WindowChoice::Size(Bytes::new(400_000))));
        for text in ["0B", "", "large", "-1"] {
            assert!(text.parse::<WindowChoice>().is_err(), "{text}");
        }
    }
}
