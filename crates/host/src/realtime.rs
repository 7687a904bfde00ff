//! A higher priority for the calling thread than for ordinary ones.

use std::num::NonZeroU64;

/// The priority within SCHED_FIFO: above ordinary threads, below the kernel's own real-time ones (50).
const PRIORITY: libc::c_int = 10;
/// The flag with which children begin as ordinary threads: from `sched.h` of Linux, which not every C library repeats.
const SCHED_RESET_ON_FORK: libc::c_int = 0x4000_0000;

/// Requests SCHED_FIFO and timers without slack for the calling thread. Returns true if SCHED_FIFO was granted. The
/// emulator's thread and those of QUIC call this by themselves; a probe that times packets should too.
///
/// The thread must sleep whenever it has nothing to do. The kernel throttles a thread that spins for tens of
/// milliseconds, which is worse than an ordinary thread's priority.
#[expect(unsafe_code, reason = "the system call sched_setscheduler")]
pub fn run_ahead() -> bool {
    // Ordinary threads' timers may be late by 50 us by default; one nanosecond is the least possible value.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // The kernel's `struct sched_param` is this one number.
    let priority: libc::c_int = PRIORITY;
    // SAFETY: thread id 0 is the calling thread, and the number outlives the call. The system call itself, since musl's
    // function refuses.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO | SCHED_RESET_ON_FORK,
            std::ptr::from_ref(&priority),
        )
    };
    result == 0
}
