//! [`User`]: the person who called `sudo`. A command that does not need root runs as this user.

use crate::EmuError;
use nix::errno::Errno;
use nix::unistd::{Gid, Uid, getgrouplist, setgroups, setresgid, setresuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::ffi::{CString, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use units::Complaint;

/// `nogroup`.
const NO_GROUP: Gid = Gid::from_raw(65_534);

/// A user of this machine and the user's groups. They are looked up before a program starts, because look-ups are not
/// allowed between fork and exec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    name: String,
    home: PathBuf,
    shell: Option<PathBuf>,
    id: Uid,
    group: Gid,
    groups: Vec<Gid>,
}

impl User {
    /// Finds the user who called `sudo`, by its variables `SUDO_UID` and `SUDO_GID`. `None` where this process is not
    /// root, or became root without `sudo`, or root called it.
    ///
    /// # Errors
    /// [`EmuError::Refused`] if a variable is not a user's number; [`EmuError::Missing`] if no user has the number.
    pub fn behind_sudo() -> Result<Option<Self>, EmuError> {
        if !nix::unistd::geteuid().is_root() {
            return Ok(None);
        }
        let Some(id) = number("SUDO_UID", std::env::var_os("SUDO_UID"))?.filter(|id| *id != 0) else {
            return Ok(None);
        };
        // A group of zero (root's) in the variable is ignored. A user gets that group only if it is the user's own.
        let group = number("SUDO_GID", std::env::var_os("SUDO_GID"))?.filter(|id| *id != 0);
        Self::look_up(Uid::from_raw(id), group.map(Gid::from_raw)).map(Some)
    }

    /// Returns the user with this number. A user without a name on this machine is called by the number, and has no
    /// group.
    #[must_use]
    pub fn of(id: u32) -> Self {
        let id = Uid::from_raw(id);
        Self::look_up(id, None).unwrap_or_else(|_| Self {
            name: id.to_string(),
            home: "/".into(),
            shell: None,
            id,
            group: NO_GROUP,
            groups: vec![NO_GROUP],
        })
    }

    /// Runs `work` on a separate thread, which has the rights of this user and no others.
    ///
    /// # Errors
    /// If this process may not give up its rights. In that case `work` does not run.
    pub fn lend<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let lent = || {
            self.take_over_thread()?;
            Ok(work())
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("lent".into()).spawn_scoped(scope, lent)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn look_up(id: Uid, group: Option<Gid>) -> Result<Self, EmuError> {
        let missing = |found: String| {
            EmuError::Missing(
                Complaint::new(format!("the user {id} who called sudo (SUDO_UID)"), found)
                    .help("give the command --as-root to run it as root, or unset SUDO_UID"),
            )
        };
        let found = nix::unistd::User::from_uid(id)
            .map_err(|errno| missing(format!("the lookup failed: {}", errno.desc())))?
            .ok_or_else(|| missing("no user of this machine has the number".into()))?;
        let group = group.unwrap_or(found.gid);
        let groups = CString::new(found.name.as_str())
            .map_err(|_| Errno::EINVAL)
            .and_then(|name| getgrouplist(&name, group))
            .map_err(|errno| missing(format!("its groups are not known: {}", errno.desc())))?;
        Ok(Self { name: found.name, home: found.dir, shell: Some(found.shell), id, group, groups })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the shell in which the user works, if the machine knows it.
    #[must_use]
    pub fn shell(&self) -> Option<&Path> {
        self.shell.as_deref()
    }

    /// Returns the number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id.as_raw()
    }

    /// Returns the variables that name a user to its programs.
    pub(crate) fn environment(&self) -> [(&'static str, OsString); 3] {
        [("HOME", self.home.clone().into()), ("USER", self.name().into()), ("LOGNAME", self.name().into())]
    }

    /// Gives the calling thread alone the user's identity, for good. Programs of the user cannot trace the thread,
    /// because the kernel allows tracing a process whose rights have changed only with special rights.
    fn take_over_thread(&self) -> io::Result<()> {
        let group = |group: Gid| rustix::process::Gid::from_raw(group.as_raw());
        let (user, own) = (rustix::process::Uid::from_raw(self.id.as_raw()), group(self.group));
        set_thread_groups(&self.groups.iter().copied().map(group).collect::<Vec<_>>())?;
        set_thread_res_gid(own, own, own)?;
        set_thread_res_uid(user, user, user)?;
        let root = rustix::process::Uid::ROOT;
        if set_thread_res_uid(root, root, root).is_ok() { Err(Errno::EPERM.into()) } else { Ok(()) }
    }

    /// Gives the calling process the user's identity, for good. Makes only system calls, because it is called between
    /// fork and exec.
    pub(crate) fn take_over(&self) -> io::Result<()> {
        setgroups(&self.groups)?;
        setresgid(self.group, self.group, self.group)?;
        setresuid(self.id, self.id, self.id)?;
        // If securebits let a process keep its capabilities, this call would make it root again.
        let root = Uid::from_raw(0);
        if setresuid(root, root, root).is_ok() { Err(Errno::EPERM.into()) } else { Ok(()) }
    }
}

/// Reads the number in a variable of `sudo`; `None` without the variable.
fn number(key: &'static str, value: Option<OsString>) -> Result<Option<u32>, EmuError> {
    let Some(value) = value else { return Ok(None) };
    let text = value.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    // The largest number means "unchanged" to the kernel, so the user would stay root.
    let number = text.and_then(|text| text.parse().ok()).filter(|number| *number != u32::MAX);
    number.map(Some).ok_or_else(|| {
        EmuError::Refused(
            Complaint::new(key, format!("{value:?}")).accepted(format!("0 to {}", u32::MAX - 1)).help(
                "sudo sets it to the number of its caller; give the command --as-root to run it as root",
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_of_a_user_is_accepted() {
        let read = |text: &str| number("SUDO_UID", Some(text.into())).ok().flatten();
        assert_eq!((read("1000"), read("0"), read("4294967294")), (Some(1000), Some(0), Some(u32::MAX - 1)));
        for text in ["", "-1", "+1", " 1", "1x", "root", "4294967295", "4294967296", "1\n"] {
            assert_eq!(read(text), None, "{text:?}");
        }
        assert!(number("SUDO_UID", None).is_ok_and(|found| found.is_none()));
        let complaint = number("SUDO_UID", Some("1x".into())).expect_err("no number").complaint();
        assert_eq!((&*complaint.place, &*complaint.found), ("SUDO_UID", "\"1x\""));
        assert_eq!(complaint.accepted, "0 to 4294967294");
    }

    #[test]
    fn a_number_that_no_user_has_is_an_error_with_the_remedy() {
        let error = User::look_up(Uid::from_raw(3_999_999_999), None).expect_err("nobody has it").to_string();
        assert!(error.contains("3999999999") && error.contains("--as-root"), "{error}");
    }

    #[test]
    fn a_user_has_the_group_that_sudo_names_or_its_own() {
        let nobody = Uid::from_raw(65_534);
        let own = User::look_up(nobody, None).expect("every system has nobody");
        let other = User::look_up(nobody, Some(Gid::from_raw(4711))).expect("the same");
        assert_eq!((own.name(), own.id(), other.group), ("nobody", 65_534, Gid::from_raw(4711)));
        assert!(other.groups.contains(&other.group) && !other.groups.contains(&Gid::from_raw(0)));
    }
}
