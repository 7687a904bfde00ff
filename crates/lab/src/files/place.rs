//! [`Place`]: a folder that the user named. It is opened so that no other user can lead the program to another folder.

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
use std::sync::Arc;

/// The number of links that the kernel follows on one path.
const MOST_LINKS: u32 = 40;

/// A folder at a path that the user gave, or a folder below it that this program named.
///
/// Two rules apply because other users may change the folder. First, links of other users on the path are not followed,
/// and below the folder that the user named no link is followed. Second, root writes only with the rights of the user
/// who controls the place: the owner of the folder, or of a link on the path. Under `sudo` it takes the rights of the
/// first owner on the path who is not root, because a program of that user may run at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    named: PathBuf,
    below: Vec<OsString>,
    /// The open folder, if this place holds it.
    held: Option<Arc<OwnedFd>>,
}

impl Place {
    /// Makes the place of a folder that the user named; an empty path is the current one.
    pub(crate) fn of(named: &Path) -> Self {
        Self { named: named.into(), below: Vec::new(), held: None }
    }

    /// Returns the folder `name` in this one.
    pub(crate) fn within(&self, name: impl AsRef<OsStr>) -> Self {
        let mut place = Self { held: None, ..self.clone() };
        place.below.push(name.as_ref().into());
        place
    }

    /// Returns the same place with its folder held open, so that work in it need not find it each time. A folder in
    /// which another user's rights are needed is not held.
    ///
    /// # Errors
    /// The same as those of [`Self::enter`] without its work.
    pub(crate) fn hold(self) -> io::Result<Self> {
        Ok(match self.open(false, Caution::of_this_process())? {
            Opened::Ours(folder) => Self { held: Some(Arc::new(folder)), ..self },
            Opened::Others { .. } => self,
        })
    }

    /// Returns its path for display.
    pub(crate) fn path(&self) -> PathBuf {
        self.below.iter().fold(self.named.clone(), |path, name| path.join(name))
    }

    /// Calls `work` in the folder, which is made if necessary. `work` gets a path that leads to the opened folder,
    /// whatever happens to its name meanwhile.
    ///
    /// # Errors
    /// If the file system reports an error, if another user's link is on the path, or if `work` fails.
    pub(crate) fn make<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        self.act(true, work)
    }

    /// Works like [`Self::make`], except that the folder must exist.
    ///
    /// # Errors
    /// The same as those of [`Self::make`].
    pub(crate) fn enter<T: Send>(&self, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        self.act(false, work)
    }

    fn act<T: Send>(&self, make: bool, work: impl FnOnce(&Path) -> io::Result<T> + Send) -> io::Result<T> {
        if let Some(folder) = &self.held {
            return work(&by_descriptor(folder));
        }
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
        // Root in a container may not be allowed to act as another user. It then works with its own rights, which do
        // little harm outside the container.
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
        let mut way = PathWalk::new(&start, make, caution)?;
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

/// The users whose folders may be on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caution {
    /// The process is not root, or has taken on the rights of the owner.
    Own,
    /// The process is root, and no program of another user is involved: the path may go through folders of other users.
    Root,
    /// The process is root on behalf of another user: root follows the path only to the first folder of a user who is
    /// not root.
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

/// The result of opening the path to a folder.
enum Opened {
    /// The folder, to be written to with this thread's rights.
    Ours(OwnedFd),
    /// A stop, because the folder or something on the path to it belongs to this user, who is not root.
    Others { by: u32, at: PathBuf, folder: Option<OwnedFd> },
}

/// A step on the path.
enum Step {
    Root,
    Up,
    Into(OsString),
}

/// The progress on the path.
struct PathWalk {
    steps: VecDeque<Step>,
    folder: OwnedFd,
    /// The folder's path for display.
    path: PathBuf,
    links: u32,
    /// True if missing folders are made.
    make: bool,
    caution: Caution,
}

impl PathWalk {
    fn new(path: &Path, make: bool, caution: Caution) -> io::Result<Self> {
        let folder = open_folder(CWD, ".")?;
        Ok(Self { steps: steps(path), folder, path: PathBuf::new(), links: 0, make, caution })
    }

    /// Continues into `name`, or to the target of the link of that name. Returns the user whose rights are needed to go
    /// on, if that is not root.
    fn follow(&mut self, name: &OsStr) -> io::Result<Option<u32>> {
        if let Some(owner) = self.made(name)? {
            return Ok(Some(owner));
        }
        // The file that was opened is the one that is examined, because another user may change the name at any time.
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

    /// Goes on into `name` like [`Self::follow`], but follows no link.
    fn descend(&mut self, name: &OsStr) -> io::Result<Option<u32>> {
        if let Some(owner) = self.made(name)? {
            return Ok(Some(owner));
        }
        let found = openat(&self.folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        self.folder = found.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => io::Error::other(format!(
                "{} in a results folder is not a folder; a link is not followed there",
                units::Foreign::os(name)
            )),
            error => error.into(),
        })?;
        self.path.push(name);
        let owner = fstat(&self.folder)?.st_uid;
        Ok((self.caution == Caution::Sudo && owner != 0).then_some(owner))
    }

    /// Makes the folder `name`, unless something has that name. Returns the owner of the parent folder, if the owner
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

/// Returns the user number that stands for root here; in a user namespace without root it is that of unmapped users.
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

/// Returns a path that leads to an open folder for as long as it is open.
fn by_descriptor(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Opens a file that is to be read back. It follows no link, and does not wait for a pipe or a device.
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

/// Returns the bytes that are free for this user in the file system of `folder`; `None` if it does not report them.
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    statvfs(folder).ok().map(|system| system.f_bavail * system.f_frsize)
}
