//! [`Place`]: a folder that somebody named, opened so that nobody else chooses which folder it is.

use emu::User;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, readlinkat, statat, statvfs};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows on one way.
const MOST_LINKS: u32 = 40;

/// A folder by the path that the user gave, and one below it whose names are this program's own.
///
/// Two rules hold for who else may change the folder. Links of other users on the way are not followed, and below what
/// the user named none at all is. And root writes with no more rights than who can lead it there: those of the folder's
/// owner, or of the owner of a link on the way. Under `sudo` those of the first owner on the way who is not root, since
/// then a program of that user runs beside.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    named: PathBuf,
    below: Vec<OsString>,
}

impl Place {
    /// The folder that the user named; an empty path is the current one.
    pub(crate) fn of(named: &Path) -> Self {
        Self { named: named.into(), below: Vec::new() }
    }

    /// The folder `name` in this one.
    pub(crate) fn within(&self, name: impl AsRef<OsStr>) -> Self {
        let mut place = self.clone();
        place.below.push(name.as_ref().into());
        place
    }

    /// Its path, to be shown.
    pub(crate) fn path(&self) -> PathBuf {
        self.below.iter().fold(self.named.clone(), |path, name| path.join(name))
    }

    /// Has `work` act in the folder, which is made if need be. `work` is given a path that leads to the folder that was
    /// opened, whatever becomes of its name meanwhile.
    ///
    /// # Errors
    /// What the file system says; a link of another user; what `work` says.
    pub(crate) fn make<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        self.act(true, work)
    }

    /// As [`Self::make`], where the folder must be there.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn enter<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        self.act(false, work)
    }

    fn act<T: Send>(&self, make: bool, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        let (by, at, folder) = match self.open(make, Caution::of_this_process())? {
            Opened::Ours(folder) => return work(&by_descriptor(&folder)),
            Opened::Others { by, at, folder } => (by, at, folder),
        };
        let opened = || match folder {
            Some(folder) => Ok(folder),
            None => match self.open(make, Caution::Own)? {
                Opened::Ours(folder) => Ok(folder),
                Opened::Others { .. } => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            },
        };
        let owner = User::of(by);
        // Root of a container may not be allowed to be anybody else. It can do little harm outside of the container.
        if owner.lend(|| ()).is_err() {
            return work(&by_descriptor(&opened()?));
        }
        let done = owner.lend(|| work(&by_descriptor(&opened()?)))?;
        done.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let (name, at) = (owner.name(), units::Foreign::path(&at));
                let why = format!(
                    "{error}, for {name} (uid {by}), who owns {at}: root writes there with the same rights"
                );
                io::Error::new(error.kind(), why)
            }
            _ => error,
        })
    }

    /// Opens the folder name by name.
    fn open(&self, make: bool, caution: Caution) -> io::Result<Opened> {
        let own = caution == Caution::Own;
        let start = if own { self.named.clone() } else { std::env::current_dir()?.join(&self.named) };
        let mut way = Way::new(&start, make, caution)?;
        while let Some(step) = way.steps.pop_front() {
            let stranger = match step {
                Step::Root => {
                    way.folder = open_folder(CWD, "/")?;
                    way.path = PathBuf::from("/");
                    None
                }
                Step::Up => {
                    way.folder = open_folder(&way.folder, "..")?;
                    way.path.pop();
                    None
                }
                Step::Into(name) => way.follow(&name)?,
            };
            if let Some(by) = stranger {
                return Ok(Opened::Others { by, at: way.path, folder: None });
            }
        }
        for name in &self.below {
            if let Some(by) = way.descend(name)? {
                return Ok(Opened::Others { by, at: way.path, folder: None });
            }
        }
        match fstat(&way.folder)?.st_uid {
            by if !own && by != 0 => Ok(Opened::Others { by, at: way.path, folder: Some(way.folder) }),
            _ => Ok(Opened::Ours(way.folder)),
        }
    }
}

/// The users whose folders a way may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caution {
    /// The process is not root, or has taken over the rights of the owner.
    Own,
    /// Root, beside whom no program of another user is at work: folders of others on the way are passed.
    Root,
    /// Root for another user: the first that is that user's ends the way.
    Sudo,
}

impl Caution {
    fn of_this_process() -> Self {
        match std::env::var_os("SUDO_UID") {
            _ if !geteuid().is_root() => Self::Own,
            Some(caller) if caller != "0" => Self::Sudo,
            _ => Self::Root,
        }
    }
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The end of the way to a folder.
enum Opened {
    /// The folder, to be written to with the rights that this thread has.
    Ours(OwnedFd),
    /// What belongs to this user, who is not root: the folder, or something on the way to it.
    Others { by: u32, at: PathBuf, folder: Option<OwnedFd> },
}

/// A step on the way.
enum Step {
    Root,
    Up,
    Into(OsString),
}

/// How far the way is gone.
struct Way {
    steps: VecDeque<Step>,
    folder: OwnedFd,
    /// The folder's path, to be shown.
    path: PathBuf,
    links: u32,
    /// Folders that are missing are made.
    make: bool,
    caution: Caution,
}

impl Way {
    fn new(path: &Path, make: bool, caution: Caution) -> io::Result<Self> {
        let folder = open_folder(CWD, ".")?;
        Ok(Self { steps: steps(path), folder, path: PathBuf::new(), links: 0, make, caution })
    }

    /// Goes on into `name`, or to where the link of that name points. The user who is not root and whose rights are
    /// needed to go on, if so.
    fn follow(&mut self, name: &OsStr) -> io::Result<Option<u32>> {
        if let Some(owner) = self.made(name)? {
            return Ok(Some(owner));
        }
        // What was found is what is looked at: another user may change the name at any time.
        let found =
            openat(&self.folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let about = fstat(&found)?;
        self.path.push(name);
        let (kind, owner) = (FileType::from_raw_mode(about.st_mode), about.st_uid);
        let stops = match self.caution {
            Caution::Own => false,
            Caution::Root => kind == FileType::Symlink,
            Caution::Sudo => true,
        };
        if stops && owner != 0 {
            return Ok(Some(owner));
        }
        match kind {
            FileType::Directory => self.folder = open_folder(&found, ".")?,
            FileType::Symlink => {
                self.links += 1;
                if self.links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if ![0, geteuid().as_raw(), apparent_root()].contains(&owner) {
                    let path = units::Foreign::path(&self.path);
                    let why = format!(
                        "{path} is a link that another user made (uid {owner}); name the folder it leads to"
                    );
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
                }
                let target = readlinkat(&found, "", Vec::new())?;
                let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
                self.path.pop();
                for step in steps(&target).into_iter().rev() {
                    self.steps.push_front(step);
                }
            }
            _ => return Err(Errno::NOTDIR.into()),
        }
        Ok(None)
    }

    /// As [`Self::follow`], where no link is followed.
    fn descend(&mut self, name: &OsStr) -> io::Result<Option<u32>> {
        if let Some(owner) = self.made(name)? {
            return Ok(Some(owner));
        }
        let found = openat(&self.folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        self.folder = found.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => io::Error::other(format!(
                "{} in a results folder is no folder; a link is not followed there",
                units::Foreign::os(name)
            )),
            error => error.into(),
        })?;
        self.path.push(name);
        let owner = fstat(&self.folder)?.st_uid;
        Ok((self.caution == Caution::Sudo && owner != 0).then_some(owner))
    }

    /// Makes the folder `name`, unless something has that name. The owner of the folder that it belongs in, if the owner
    /// has to make it.
    fn made(&self, name: &OsStr) -> io::Result<Option<u32>> {
        let is_there = || statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if !self.make || is_there() {
            return Ok(None);
        }
        let owner = fstat(&self.folder)?.st_uid;
        if self.caution != Caution::Own && owner != 0 {
            return Ok(Some(owner));
        }
        match mkdirat(&self.folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The number that stands for root here: in a user namespace without root that of unmapped users.
fn apparent_root() -> u32 {
    statat(CWD, "/", AtFlags::empty()).map_or(0, |about| about.st_uid)
}

fn open_folder(at: impl std::os::fd::AsFd, name: &str) -> io::Result<OwnedFd> {
    Ok(openat(at, name, FOLDER, Mode::empty())?)
}

fn steps(path: &Path) -> VecDeque<Step> {
    let step = |component| match component {
        Component::RootDir | Component::Prefix(_) => Some(Step::Root),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Into(name.into())),
    };
    path.components().filter_map(step).collect()
}

/// A path that leads to an open folder for as long as it is open.
fn by_descriptor(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Opens a file that is to be read back: no link is followed, and nothing that is no file is waited for.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Returns true if the file belongs to the user of this process.
pub(super) fn is_ours(about: &Metadata) -> bool {
    about.uid() == geteuid().as_raw()
}

/// Returns true if an open file still has a name.
pub(super) fn is_named(about: &Metadata) -> bool {
    about.nlink() > 0
}

/// Returns the bytes that are free for this user in the file system of `folder`; `None` if it does not say.
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    statvfs(folder).ok().map(|system| system.f_bavail * system.f_frsize)
}
