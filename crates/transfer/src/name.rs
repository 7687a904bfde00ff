//! [`Name`]: where an entry goes below the receiver's folder, as bytes that cannot lead out of it.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use thiserror::Error;

/// The receiver's own folder, at the top of the one it receives into.
pub const RESERVED: &str = ".tightlink";

/// Whether `part` of a name is [`RESERVED`], or would be on a file system that takes capitals for small letters.
#[must_use]
pub fn is_reserved(part: &[u8]) -> bool {
    part.eq_ignore_ascii_case(RESERVED.as_bytes())
}

/// What Linux takes in one system call.
const LONGEST: usize = 4095;
/// What its file systems take as one part.
const LONGEST_PART: usize = 255;

/// A relative path of plain parts, separated by single slashes: none empty, `.` or `..`, no NUL. The parts are bytes:
/// file systems do not ask for UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "serde_bytes::ByteBuf", into = "serde_bytes::ByteBuf")]
pub struct Name(Vec<u8>);

/// Why bytes are no [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing at all, or an empty part: a leading, trailing or double slash.
    #[error("a part of the name is empty")]
    Empty,
    /// It would lead elsewhere.
    #[error("the name has a part \"{0}\", which leads elsewhere")]
    Leads(&'static str),
    /// No path has this.
    #[error("the name has a NUL byte")]
    Nul,
    /// Longer than any path.
    #[error("the name is longer than 4095 bytes, or a part of it than 255")]
    Long,
    /// The receiver's own folder.
    #[error("the name begins with {RESERVED}, which belongs to tightlink")]
    Reserved,
}

impl Name {
    /// Checks `bytes`.
    ///
    /// # Errors
    /// [`NameError`]: what is wrong with them.
    pub fn new(bytes: Vec<u8>) -> Result<Self, NameError> {
        if bytes.len() > LONGEST {
            return Err(NameError::Long);
        }
        if bytes.contains(&0) {
            return Err(NameError::Nul);
        }
        for part in bytes.split(|&byte| byte == b'/') {
            match part {
                b"" => return Err(NameError::Empty),
                b"." => return Err(NameError::Leads(".")),
                b".." => return Err(NameError::Leads("..")),
                _ if part.len() > LONGEST_PART => return Err(NameError::Long),
                _ => {}
            }
        }
        if bytes.split(|&byte| byte == b'/').next() == Some(RESERVED.as_bytes()) {
            return Err(NameError::Reserved);
        }
        Ok(Self(bytes))
    }

    /// This name with one more part.
    ///
    /// # Errors
    /// As [`Name::new`].
    pub fn join(&self, part: &OsStr) -> Result<Self, NameError> {
        let mut bytes = Vec::with_capacity(self.0.len() + 1 + part.len());
        bytes.extend(&self.0);
        bytes.push(b'/');
        bytes.extend(part.as_bytes());
        Self::new(bytes)
    }

    /// The folder it lies in, if that is not the top, and its last part.
    #[must_use]
    pub fn split(&self) -> (Option<&[u8]>, &OsStr) {
        match self.0.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (Some(&self.0[..at]), OsStr::from_bytes(&self.0[at + 1..])),
            None => (None, OsStr::from_bytes(&self.0)),
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// It as a relative path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.path(), formatter)
    }
}

/// For a person: what is not UTF-8, and control characters, are escaped.
impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for letter in chunk.valid().chars() {
                if letter.is_control() {
                    write!(formatter, "{}", letter.escape_default())?;
                } else {
                    write!(formatter, "{letter}")?;
                }
            }
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl TryFrom<serde_bytes::ByteBuf> for Name {
    type Error = NameError;

    fn try_from(bytes: serde_bytes::ByteBuf) -> Result<Self, NameError> {
        Self::new(bytes.into_vec())
    }
}

impl From<Name> for serde_bytes::ByteBuf {
    fn from(name: Name) -> Self {
        Self::from(name.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> Result<Name, NameError> {
        Name::new(text.as_bytes().to_vec())
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for text in ["", "/", "/etc/passwd", "a//b", "a/", ".", "./a", "a/.", "a/./b"] {
            assert!(name(text).is_err(), "{text:?}");
        }
        for text in ["..", "../a", "a/..", "a/../../b"] {
            assert_eq!(name(text), Err(NameError::Leads("..")), "{text:?}");
        }
        assert_eq!(name("a\0b"), Err(NameError::Nul));
        assert_eq!(name(&"a".repeat(256)), Err(NameError::Long));
        assert_eq!(name(&"a/".repeat(2048)), Err(NameError::Long));
    }

    #[test]
    fn the_receivers_own_folder_is_out_of_reach() {
        assert_eq!(name(".tightlink"), Err(NameError::Reserved));
        assert_eq!(name(".tightlink/session"), Err(NameError::Reserved));
        assert!(name("a/.tightlink").is_ok(), "only at the top");
        assert!(name(".tightlinks").is_ok());
    }

    #[test]
    fn odd_names_are_names() {
        for bytes in [&b"..."[..], b"..a", b"a/..b", b"\xff\xfe/\n", b"-rf", b" "] {
            assert!(Name::new(bytes.to_vec()).is_ok(), "{bytes:?}");
        }
        let odd = Name::new(b"a\xff\n/b".to_vec()).unwrap();
        assert_eq!(odd.to_string(), "a\\xff\\n/b");
        assert_eq!(odd.split(), (Some(&b"a\xff\n"[..]), OsStr::new("b")));
    }

    proptest! {
        #[test]
        fn every_accepted_name_stays_below(bytes in prop::collection::vec(prop_oneof![Just(b'.'), Just(b'/'), any::<u8>()], 0..40)) {
            if let Ok(name) = Name::new(bytes) {
                let parts: Vec<_> = name.path().components().collect();
                prop_assert!(!parts.is_empty());
                let normal = parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)));
                prop_assert!(normal);
            }
        }
    }
}
