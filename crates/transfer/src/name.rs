//! [`Name`]: the path of an entry below the receiver's folder, as bytes that cannot lead out of it.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use thiserror::Error;
use units::Foreign;

/// The receiver's own folder, at the top of the one that it receives into. No part of a received name may equal it,
/// because a later receiver may be started in any folder that arrived.
pub const RESERVED: &str = ".tightlink";
/// The beginning of its short name in FAT and related file systems; a number follows.
const RESERVED_SHORT: &str = "tightl~";
/// The length of the longest path that a Linux system call takes, in bytes.
const LONGEST: usize = 4095;
/// The length of the longest part that Linux's file systems take, in bytes.
const LONGEST_PART: usize = 255;

/// A relative path of plain parts, separated by single slashes: none empty, `.` or `..`, no NUL. The parts are bytes,
/// because file systems do not require UTF-8.
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
    /// A name longer than any path, or a part longer than any.
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
    /// tree is below the name's first part, or, for a name of one part, below the folder received into.
    ///
    /// An absolute target leads out. So does a target with more steps up than the link lies deep. So does one that goes
    /// up after it went down, because the part that it went down may be a link. And so does one into the receiver's own
    /// folder.
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

/// Returns true if a part of a path is [`RESERVED`] to some file system. Case and invisible letters are ignored, as are
/// dots, blanks or a stream's name at the end. The short form counts, too.
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
    fn the_receivers_own_folder_is_out_of_reach_at_every_depth_and_in_every_spelling() {
        assert_eq!(name(".tightlink"), Err(NameError::Reserved));
        assert_eq!(name(".tightlink/session"), Err(NameError::Reserved));
        for part in [
            ".tightlink",
            ".TIGHTLINK",
            ".TightLink",
            ".tightlin\u{212a}",
            ".tight\u{200c}link",
            ".tightlink. .",
            ".tightlink:x",
            "TIGHTL~1",
        ] {
            for text in
                [part.to_owned(), format!("a/{part}"), format!("a/b/{part}/session"), format!("{part}/x")]
            {
                assert_eq!(name(&text), Err(NameError::Reserved), "{text:?}");
            }
        }
        for text in [".tightlinks", "tightlink", "x.tightlink", "a/tightl~x", "tightl~1x"] {
            assert!(name(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn odd_names_are_names() {
        for bytes in [&b"..."[..], b"..a", b"a/..b", b"\xff\xfe/\n", b"-rf", b" "] {
            assert!(Name::new(bytes.to_vec()).is_ok(), "{bytes:?}");
        }
        let odd = Name::new(b"a\xff\n/b".to_vec()).unwrap();
        assert_eq!(odd.to_string(), r"'a\xff\n/b'");
        assert_eq!(odd.split(), (Some(&b"a\xff\n"[..]), OsStr::new("b")));
    }

    #[test]
    fn a_name_that_reads_like_a_sentence_stands_in_quotes() {
        for text in ["photos/2026-11/straße_1.jpg", "a+b=c,d~", "日本語"] {
            assert_eq!(name(text).unwrap().to_string(), text);
        }
        for text in ["all: verified", "it's", "received 3 files", "(x)", "a\u{202e}b"] {
            let shown = name(text).unwrap().to_string();
            assert!(shown.starts_with('\'') && shown.ends_with('\''), "{shown}");
        }
        assert_eq!(name("it's").unwrap().to_string(), r"'it\'s'");
    }

    #[test]
    fn a_number_stands_before_the_extension() {
        for (text, numbered) in
            [("a/photo.jpg", "a/photo (2).jpg"), ("b.c/file", "b.c/file (2)"), (".profile", ".profile (2)")]
        {
            assert_eq!(name(text).unwrap().numbered(2), name(numbered));
        }
        assert_eq!(name(&"a".repeat(255)).unwrap().numbered(1), Err(NameError::Long));
    }

    #[test]
    fn links_that_may_lead_out_of_their_tree_are_known() {
        let out = |link: &str, target: &str| name(link).unwrap().leads_out(target.as_bytes());
        for (link, target) in [
            ("l", "x"),
            ("t/l", "x/y"),
            ("t/a/l", ".."),
            ("t/a/l", "../b"),
            ("t/a/b/l", "../../c"),
            ("t/l", "./x//y"),
        ] {
            assert!(!out(link, target), "{link} -> {target}");
        }
        for (link, target) in [
            ("l", "/etc"),
            ("l", ".."),
            ("t/l", ".."),
            ("t/l", "../x"),
            ("t/a/l", "../../x"),
            ("t/a/l", "b/../../../x"),
            ("t/a/l", "b/.."),
        ] {
            assert!(out(link, target), "{link} -> {target}");
        }
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
