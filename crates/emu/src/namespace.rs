//! Anonymous network namespaces: a place with its own devices, addresses and ports that cannot be left behind.
//!
//! A namespace here has no name in `/run/netns`: it is held by a descriptor, by the threads and programs inside
//! it and by their sockets. When the last of them goes, by whatever way, `kill -9` included, the kernel removes
//! the namespace and the devices in it. There is nothing to clean up and nothing that cleaning up could miss.
//!
//! One thing can outlast a killed process: its open TCP connections. The kernel tries for up to two minutes to close
//! them in good order (`tcp_orphan_retries`). That setting stays, because programs that close with data under way
//! depend on it. The namespace stays as long, with no device in it. A path that ends by itself shortens this to about
//! a second.

use crate::{EmuError, User, interface};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::Signal;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use units::Complaint;

/// A network namespace, held open. Clones hold the same one.
#[derive(Clone, Debug)]
pub struct Namespace {
    descriptor: Arc<OwnedFd>,
}

impl Namespace {
    /// A new namespace with nothing in it but its loopback device, up.
    ///
    /// # Errors
    /// [`EmuError::Missing`] without the right to make one; see [`prepare`](crate::prepare).
    pub fn new() -> Result<Self, EmuError> {
        // unshare moves the calling thread for good, so a thread made for this goes and ends.
        let made = in_thread("namespace", || {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|errno| {
                EmuError::Missing(
                    Complaint::new("a network namespace", format!("unshare(CLONE_NEWNET): {}", errno.desc()))
                        .help("run as root, or call emu::prepare() first where user namespaces are allowed"),
                )
            })?;
            interface::up("lo")?;
            File::open("/proc/thread-self/ns/net")
                .map_err(|error| EmuError::os("opening /proc/thread-self/ns/net", error))
        })?;
        made.join()
            .map_err(|_| EmuError::Ended("the thread that makes a namespace panicked".into()))?
            .map(|file| Self { descriptor: Arc::new(file.into()) })
    }

    /// Moves the calling thread into the namespace. Sockets it opens from now on live there; other threads stay
    /// where they are.
    ///
    /// # Errors
    /// If the system refuses, for want of CAP_SYS_ADMIN.
    pub fn enter(&self) -> Result<(), EmuError> {
        setns(&*self.descriptor, CloneFlags::CLONE_NEWNET)
            .map_err(|errno| EmuError::os("entering a network namespace", errno))
    }

    /// Runs `work` on a new thread called `name` inside the namespace.
    ///
    /// # Errors
    /// If the thread cannot start or cannot enter.
    pub fn spawn<T, F>(&self, name: &str, work: F) -> Result<JoinHandle<T>, EmuError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let namespace = self.clone();
        let (entered, answer) = mpsc::sync_channel(1);
        let handle = in_thread(name, move || {
            let result = namespace.enter();
            let inside = result.is_ok();
            // The receiver waits below, so sending fails only if the caller is gone.
            let _ = entered.send(result);
            if !inside {
                // The work would meet the machine's own network: it must not run. The caller has the error;
                // this ends the thread without a second message.
                std::panic::resume_unwind(Box::new("could not enter the namespace"));
            }
            work()
        })?;
        answer
            .recv()
            .map_err(|_| EmuError::Ended("a thread ended before it entered its namespace".into()))??;
        Ok(handle)
    }

    /// Runs `work` on a thread inside the namespace and waits for it.
    ///
    /// # Errors
    /// If the thread cannot start or enter, or if `work` panics.
    pub fn run<T, F>(&self, work: F) -> Result<T, EmuError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.spawn("in-namespace", work)?
            .join()
            .map_err(|_| EmuError::Ended("work inside a namespace panicked".into()))
    }

    /// Sets a sysctl of this namespace, for example `net.ipv4.tcp_sack` to `0`.
    ///
    /// # Errors
    /// If the key does not exist, is global only, or /proc/sys is mounted read-only.
    pub fn sysctl(&self, key: &str, value: &str) -> Result<(), EmuError> {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        let (target, text) = (path.clone(), value.to_owned());
        // /proc/sys/net shows the namespace of the thread that opens it.
        self.run(move || fs::write(target, text))?
            .map_err(|error| EmuError::os(format!("setting {key} to {value:?} ({path})"), error))
    }

    /// A command that will run `program` inside the namespace and die with us.
    ///
    /// The kernel ties its death to the *thread* that calls [`Command::spawn`]: spawn from a thread that lives
    /// as long as the program should.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_as(program, None)
    }

    /// The same as [`Self::command`], run by `user` with the rights of that user; `None`: with ours.
    #[must_use]
    pub fn command_as(&self, program: impl AsRef<OsStr>, user: Option<&User>) -> Command {
        let mut command = Command::new(program);
        command.envs(user.into_iter().flat_map(User::environment));
        let user = user.cloned();
        let namespace = Arc::clone(&self.descriptor);
        let parent = std::process::id();
        let step = move || {
            setns(&*namespace, CloneFlags::CLONE_NEWNET)?;
            // Entering takes rights that the user may not have, and another user's process forgets the signal below.
            if let Some(user) = &user {
                user.take_over()?;
            }
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            // If the parent died before the line above, no signal will come.
            if nix::unistd::getppid().as_raw() as u32 != parent {
                return Err(io::Error::from(nix::Error::ESRCH));
            }
            Ok(())
        };
        #[expect(unsafe_code, reason = "Command::pre_exec, by before_exec")]
        // SAFETY: the step makes system calls only, with a descriptor, numbers and a list that it owns; errors are
        // codes.
        unsafe {
            before_exec(&mut command, step);
        }
        command
    }

    /// The descriptor's number in this process: `/proc/<pid>/fd/<n>` names the namespace for `nsenter --net=`.
    #[must_use]
    pub fn raw(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// Has `step` run in the child between fork and exec.
///
/// # Safety
/// The child is a copy of one thread of this process: another thread may have held any lock, the allocator's included,
/// when it was made. So `step` may only make calls that are async-signal-safe, on values that it owns; it may not
/// allocate, free, lock, panic, or read the environment.
#[expect(unsafe_code, reason = "Command::pre_exec")]
pub(crate) unsafe fn before_exec<F>(command: &mut Command, step: F)
where
    F: FnMut() -> io::Result<()> + Send + Sync + 'static,
{
    // SAFETY: the caller's promise is the one that `pre_exec` asks for.
    unsafe { command.pre_exec(step) };
}

fn in_thread<T, F>(name: &str, work: F) -> Result<JoinHandle<T>, EmuError>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| EmuError::os(format!("starting the thread {name}"), error))
}
