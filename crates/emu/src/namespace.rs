//! Anonymous network namespaces, with their own devices, addresses and ports, which cannot be left behind.
//!
//! A namespace here has no name in `/run/netns`: a descriptor, the threads and programs inside it and their sockets
//! hold it open. When the last of them ends, even by `kill -9`, the kernel removes the namespace and the devices in it.
//! So no code has to clean up.
//!
//! One thing can outlast a killed process: its open TCP connections. The kernel tries for up to two minutes to close
//! them properly (`tcp_orphan_retries`). This room does not change that setting while programs run, because programs
//! that close with data in flight depend on it. The namespace stays for that time, without a device in it. A path that
//! is stopped and not killed shortens it to about a second.

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

/// A network namespace, held open. Clones refer to the same one.
#[derive(Clone, Debug)]
pub struct Namespace {
    descriptor: Arc<OwnedFd>,
}

impl Namespace {
    /// Makes a new namespace, with only its loopback device, which is up.
    ///
    /// # Errors
    /// [`EmuError::Missing`] without the right to make one; see [`prepare`](crate::prepare).
    pub fn new() -> Result<Self, EmuError> {
        // `unshare` moves the calling thread for good, so a new thread does it and then ends.
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

    /// Opens the namespace of `file`, such as `/proc/<pid>/fd/<n>`.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn at(file: &str) -> io::Result<Self> {
        Ok(Self { descriptor: Arc::new(File::open(file)?.into()) })
    }

    /// Moves the calling thread into the namespace. Sockets that it opens from now on belong to the namespace; other
    /// threads stay where they are.
    ///
    /// # Errors
    /// If the system refuses, because CAP_SYS_ADMIN is missing.
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
                // The work must not run, because it would use the machine's own network. The caller already has the
                // error, so this line only ends the thread, without a message.
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

    /// Makes a command that will run `program` inside the namespace, and that ends when this process ends.
    ///
    /// The kernel ties its end to the *thread* that calls [`Command::spawn`], so spawn from a thread that lives as long
    /// as the program should.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.command_as(program, None)
    }

    /// Makes the same command as [`Self::command`], run by `user` with the rights of that user; `None`: with the rights
    /// of this process.
    #[must_use]
    pub fn command_as(&self, program: impl AsRef<OsStr>, user: Option<&User>) -> Command {
        let mut command = Command::new(program);
        command.envs(user.into_iter().flat_map(User::environment));
        let user = user.cloned();
        let namespace = Arc::clone(&self.descriptor);
        let parent = std::process::id();
        let step = move || {
            setns(&*namespace, CloneFlags::CLONE_NEWNET)?;
            // The child enters the namespace before it changes the user, because entering takes rights that the user
            // may lack. The signal is set afterwards, because a change of user clears it.
            if let Some(user) = &user {
                user.take_over()?;
            }
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            // If the parent ended before the signal was set, no signal will come, so the child ends itself.
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

    /// Returns the descriptor's number in this process: `nsenter --net=` accepts `/proc/<pid>/fd/<n>`.
    #[must_use]
    pub fn raw(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// Makes the child run `step` between fork and exec.
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
