//! The source of the files that a scenario names: a folder, memory, or for a few traces the program itself.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The begin of the names of the traces that the program carries: `tightlink:lte.down`.
const CARRIED: &str = "tightlink:";

static TRACES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../traces");

/// The files that a scenario may name, such as traces.
pub trait Files {
    /// Opens the file that the scenario calls `name`.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    fn open(&self, name: &str) -> io::Result<Opened<'_>>;

    /// Returns the name by which a person finds the file.
    fn shown(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// An open file.
#[expect(missing_debug_implementations, reason = "its content cannot be shown without being read")]
pub struct Opened<'a> {
    /// Its bytes.
    pub content: Box<dyn Read + 'a>,
    /// An identity of the content: two files with the same identity have the same content. A pipe has the content that
    /// came first, as long as that is in use.
    pub identity: String,
    /// True if it may go on forever, such as a pipe or a device.
    pub is_endless: bool,
}

/// Files by their paths, relative to a folder.
#[derive(Clone, Debug, Default)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the files relative to `folder`; an empty path is the current one.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Makes the files relative to the folder of the scenario file `name`.
    #[must_use]
    pub fn of_file(name: &str) -> Self {
        Self::new(Path::new(name).parent().unwrap_or(Path::new("")))
    }
}

impl Files for Folder {
    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let path = self.0.join(name);
        if !fs::metadata(&path)?.is_file() {
            // The link of a descriptor, such as /dev/fd/63, names its pipe.
            let identity = format!("{path:?} {:?}, no file", fs::read_link(&path).ok());
            let content = Box::new(Later { path, file: None });
            return Ok(Opened { content, identity, is_endless: true });
        }
        let file = File::open(&path)?;
        let about = file.metadata()?;
        let identity = format!("{path:?} {:?} {}", about.modified().ok(), about.len());
        Ok(Opened { content: Box::new(file), identity, is_endless: !about.is_file() })
    }

    fn shown(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

/// A pipe or a device, which is opened when it is read. Its content comes once, and opening a named pipe again would
/// wait for another writer.
struct Later {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Later {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::open(&self.path)?),
        };
        file.read(into)
    }
}

/// Files by their names, in memory.
///
/// ```
/// use tightlink_lab::run::resolve::{Files, InMemory};
/// let files = InMemory::default().with("trace.csv", b"time_ms,size\n0,1500\n1,1500\n");
/// assert!(files.open("trace.csv").is_ok());
/// assert!(files.open("other.csv").is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemory(BTreeMap<String, Vec<u8>>);

impl InMemory {
    /// Adds the file `name`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.0.insert(name.into(), content.into());
        self
    }
}

impl Files for InMemory {
    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let content =
            self.0.get(name).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))?;
        let identity = format!("{} {}", blake3::hash(content), content.len());
        Ok(Opened { content: Box::new(content.as_slice()), identity, is_endless: false })
    }
}

/// Other files, and the traces that the program carries.
pub(super) struct WithCarried<'a>(pub(super) &'a dyn Files);

impl Files for WithCarried<'_> {
    fn open(&self, name: &str) -> io::Result<Opened<'_>> {
        let Some(carried) = name.strip_prefix(CARRIED) else { return self.0.open(name) };
        let known = || TRACES.files().filter(|file| file.path().extension().is_some_and(|end| end != "md"));
        let Some(file) = known().find(|file| file.path() == Path::new(carried)) else {
            let names: Vec<String> =
                known().map(|file| format!("{CARRIED}{}", file.path().display())).collect();
            let found = format!("no such trace; the program carries {}", names.join(", "));
            return Err(io::Error::new(io::ErrorKind::NotFound, found));
        };
        let identity = format!("{name} of the program");
        Ok(Opened { content: Box::new(file.contents()), identity, is_endless: false })
    }

    fn shown(&self, name: &str) -> String {
        if name.starts_with(CARRIED) { name.to_owned() } else { self.0.shown(name) }
    }
}
