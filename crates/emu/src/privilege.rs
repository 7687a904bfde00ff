//! The rights of this process, and how an ordinary user gets the rights that the emulator needs.
//!
//! The emulator makes namespaces, devices and addresses. Root may do that. Other users may do it inside a *user
//! namespace* of their own, which [`prepare`] enters if the kernel allows it.

use crate::EmuError;
use nix::sched::{CloneFlags, unshare};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use units::Complaint;

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;

/// The rights of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Privilege {
    /// True if the rights come from a user namespace that [`prepare`] made.
    pub user_namespace: bool,
    /// True if the emulator's thread may run ahead of ordinary ones (SCHED_FIFO). Without it deliveries can be late by
    /// milliseconds on a busy machine.
    pub real_time: bool,
}

/// Gets the rights that the emulator needs, or reports what is missing.
///
/// With CAP_NET_ADMIN and CAP_SYS_ADMIN (root) nothing changes. Otherwise the process moves into a new user namespace
/// in which it has both. Its user and group stay the same, so files keep their owner. The kernel moves only
/// single-threaded processes: call this first in `main`.
///
/// # Errors
/// [`EmuError::Missing`] if /dev/net/tun is not accessible, user namespaces are not allowed, or threads already run.
pub fn prepare() -> Result<Privilege, EmuError> {
    tun_accessible()?;
    let user_namespace = !has_capabilities()?;
    if user_namespace {
        enter_user_namespace()?;
    }
    Ok(Privilege { user_namespace, real_time: real_time_allowed() })
}

/// Returns the rights of this process as it is, for a report on the environment. Changes nothing.
///
/// # Errors
/// [`EmuError::Missing`] as for [`prepare`], except that user namespaces are not tried.
pub fn check() -> Result<Privilege, EmuError> {
    tun_accessible()?;
    if has_capabilities()? {
        return Ok(Privilege { user_namespace: false, real_time: real_time_allowed() });
    }
    if let Some(reason) = namespaces_forbidden() {
        return Err(user_namespace_refused(&reason));
    }
    Ok(Privilege { user_namespace: true, real_time: real_time_allowed() })
}

fn tun_accessible() -> Result<(), EmuError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .map(drop)
        .map_err(|error| tun_refused(&error))
}

/// Makes the error for a /dev/net/tun that does not open.
pub(crate) fn tun_refused(error: &io::Error) -> EmuError {
    let (found, help) = match (error.kind(), fs::metadata("/dev/net/tun")) {
        (io::ErrorKind::PermissionDenied, Ok(metadata)) => (
            format!(
                "permission denied (mode {:04o}, owner uid {})",
                metadata.permissions().mode() & 0o7777,
                metadata.uid()
            ),
            "run as root, or: sudo chmod 0666 /dev/net/tun",
        ),
        (io::ErrorKind::NotFound, _) => {
            ("no such device".into(), "sudo modprobe tun; in a container: --device /dev/net/tun")
        }
        _ => (
            error.to_string(),
            "sudo modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN",
        ),
    };
    EmuError::Missing(Complaint::new("/dev/net/tun", found).help(help))
}

/// Returns true if CAP_NET_ADMIN and CAP_SYS_ADMIN are in effect.
fn has_capabilities() -> Result<bool, EmuError> {
    let status = fs::read_to_string("/proc/thread-self/status")
        .map_err(|error| EmuError::os("reading /proc/thread-self/status", error))?;
    Ok(effective(&status).is_some_and(|set| {
        let wanted = 1 << CAP_NET_ADMIN | 1 << CAP_SYS_ADMIN;
        set & wanted == wanted
    }))
}

/// Reads the effective capabilities from the text of /proc/<pid>/status.
fn effective(status: &str) -> Option<u64> {
    let field = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(field.trim(), 16).ok()
}

fn enter_user_namespace() -> Result<(), EmuError> {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(EmuError::Missing(
            Complaint::new(
                "a user namespace",
                format!("{threads} threads run already, and the kernel moves only single-threaded processes"),
            )
            .help("call emu::prepare() first in main, or run as root"),
        ));
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    if let Some(reason) = namespaces_forbidden() {
        return Err(user_namespace_refused(&reason));
    }
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|errno| user_namespace_refused(&format!("unshare(CLONE_NEWUSER): {}", errno.desc())))?;
    // The kernel requires setgroups off before an ordinary user may map a group.
    let steps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (file, text) in steps {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| user_namespace_refused(&format!("writing /proc/self/{file}: {error}")))?;
    }
    if !has_capabilities()? {
        return Err(user_namespace_refused("the new namespace came without capabilities"));
    }
    Ok(())
}

/// Returns the setting of the system that forbids user namespaces, if one does.
fn namespaces_forbidden() -> Option<String> {
    let setting = |key: &str| fs::read_to_string(format!("/proc/sys/{}", key.replace('.', "/"))).ok();
    let label = ["/proc/self/attr/apparmor/current", "/proc/self/attr/current"]
        .into_iter()
        .find_map(|file| fs::read_to_string(file).ok());
    forbidding(setting, label.as_deref())
}

/// Returns the setting that forbids user namespaces to a process with AppArmor's `label`.
fn forbidding(setting: impl Fn(&str) -> Option<String>, label: Option<&str>) -> Option<String> {
    // Ubuntu's setting concerns programs without a profile. For a program with one, only the attempt shows what is
    // allowed.
    let profiled = label.is_some_and(|label| label.trim_end_matches(['\n', '\0']) != "unconfined");
    let forbidding = [
        ("user.max_user_namespaces", "0"),
        // Debian's setting and Ubuntu's.
        ("kernel.unprivileged_userns_clone", "0"),
        ("kernel.apparmor_restrict_unprivileged_userns", if profiled { "none" } else { "1" }),
    ];
    forbidding
        .into_iter()
        .find(|(key, value)| setting(key).is_some_and(|found| found.trim() == *value))
        .map(|(key, value)| format!("{key} = {value}"))
}

fn user_namespace_refused(found: &str) -> EmuError {
    EmuError::Missing(Complaint::new("root rights or a user namespace", found).help("run it with sudo (the command of emulate then runs as you, not as root); or, where AppArmor is in the way, \
               give this program a profile with `userns,` (/etc/apparmor.d/tightlink, see docs/guide/troubleshooting.md); \
               or allow user namespaces to every program of the machine: sudo sysctl user.max_user_namespaces=10000 \
               kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 \
               (those of the three that exist)"
            ))
}

/// Returns true if SCHED_FIFO may be requested. A separate thread tries it, so nothing changes here.
fn real_time_allowed() -> bool {
    std::thread::spawn(host::run_ahead).join().unwrap_or(false)
}

#[cfg(test)]
#[path = "../tests/within/privilege.rs"]
mod tests;
