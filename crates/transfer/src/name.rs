//! [`Name`]: the path of an entry below the receiver's folder, as bytes that cannot lead out of it.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use thiserror::Error;
use units::Foreign;

/// The name of the receiver's state folder, at the top of the folder that it receives into. No part of a received name
/// may equal it, because a later receiver may be started in any received folder.
pub const RESERVED: &str = ".tightlink";
/// The beginning of its short name in FAT and related file systems; a number follows.
const RESERVED_SHORT: &str = "tightl~";
/// The length of the longest path that a Linux system call takes, in bytes.
const LONGEST: usize = 4095;
/// The length of the longest part that Linux's file systems take, in bytes.
const LONGEST_PART: usize = 255;

/// A relative path of parts with single slashes between them. No part is empty, `.` or `..`, or has a NUL byte. The
/// parts are bytes, because file systems do not require UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "serde_bytes::ByteBuf", into = "serde_bytes::ByteBuf")]
pub struct Name(Vec<u8>);

/// The reason for which bytes are not a [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// An empty name, or an empty part: a leading, trailing or double slash.
    #[error("a part of the name is empty")]
    Empty,
    /// A part that leads elsewhere.
    #[error("the name has a part \"{0}\", which leads elsewhere")]
    Leads(&'static str),
    /// A NUL byte, which no path has.
    #[error("the name has a NUL byte")]
    Nul,
    /// A name or a part of a name that is longer than Linux accepts.
    #[error("the name is longer than 4095 bytes, or a part of it than 255")]
    Long,
    /// A part that names the receiver's own folder.
    #[error("a part of the name is {RESERVED}, or the same to some file systems; it belongs to tightlink")]
    Reserved,
}

impl Name {
    /// Checks `bytes`.
    ///
    /// # Errors
    /// Returns a [`NameError`] that says what is wrong with them.
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
                _ if is_reserved(part) => return Err(NameError::Reserved),
                _ => {}
            }
        }
        Ok(Self(bytes))
    }

    /// Appends one more part to this name.
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

    /// Splits off the last part. Returns the folder before it, if that is not the top, and the last part.
    #[must_use]
    pub fn split(&self) -> (Option<&[u8]>, &OsStr) {
        match self.0.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (Some(&self.0[..at]), OsStr::from_bytes(&self.0[at + 1..])),
            None => (None, OsStr::from_bytes(&self.0)),
        }
    }

    /// Puts a number before the extension of this name: `a/photo (1).jpg`.
    ///
    /// # Errors
    /// Returns [`NameError::Long`] if that is too long.
    pub fn numbered(&self, number: u32) -> Result<Self, NameError> {
        let start = self.0.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let dot = self.0[start..].iter().rposition(|&byte| byte == b'.').filter(|&at| at > 0);
        let (stem, extension) = self.0.split_at(dot.map_or(self.0.len(), |at| start + at));
        Self::new([stem, format!(" ({number})").as_bytes(), extension].concat())
    }

    /// Returns true if a symbolic link of this name with this target may lead out of the tree that it came with. The
    /// tree is the folder of the name's first part. For a name of one part, it is the whole folder received into.
    ///
    /// A target leads out if it is absolute, has more steps up than the link lies deep, or leads into the receiver's
    /// state folder. It may also lead out if it goes up after it went down, because a folder on the way down may be a
    /// link.
    #[must_use]
    pub fn leads_out(&self, target: &[u8]) -> bool {
        if target.starts_with(b"/") {
            return true;
        }
        let deep = self.0.iter().filter(|&&byte| byte == b'/').count().saturating_sub(1);
        let mut parts = target.split(|&byte| byte == b'/').filter(|part| !matches!(part, [] | [b'.']));
        let ups = parts.clone().take_while(|part| *part == b"..").count();
        ups > deep || parts.by_ref().skip(ups).any(|part| part == b".." || is_reserved(part))
    }

    /// Returns the bytes of the name.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the name as a relative path.
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

/// Returns true if some file system takes this part of a path for [`RESERVED`]. Case and invisible letters are ignored,
/// as are dots, blanks or a stream's name at the end. The short form counts, too.
#[must_use]
pub fn is_reserved(part: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(part) else { return false };
    let text = text.split(':').next().unwrap_or_default();
    let folded: String =
        text.chars().filter(|&letter| !is_unseen(letter)).flat_map(char::to_lowercase).collect();
    let folded = folded.trim_end_matches(['.', ' ']);
    let short = folded.strip_prefix(RESERVED_SHORT);
    folded == RESERVED || short.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Returns true for letters that case-folding file systems ignore (Unicode's Default_Ignorable_Code_Point).
fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The name for a person, as [`Foreign`] shows it; in single quotes if it could pass for a sentence.
impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Foreign::new(&self.0).to_string();
        let ordinary = |letter: char| letter.is_alphanumeric() || "._-+@=,~%#/…".contains(letter);
        if text.chars().all(ordinary) {
            formatter.write_str(&text)
        } else {
            write!(formatter, "'{}'", text.replace('\'', r"\'"))
        }
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
