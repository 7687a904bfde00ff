//! Stops of this process by job control, such as Ctrl-Z and SIGSTOP.
//!
//! The kernel reports no such stop to the process itself, but SIGCONT ends each of them. A handler counts that signal, so
//! that the emulator does not take a stop for a stall of the machine.

use libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static ENDED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_signal: c_int) {
    ENDED.fetch_add(1, Ordering::Relaxed);
}

/// Starts to count the stops of this process. A program that handles or ignores SIGCONT itself keeps that, and its stops
/// are not counted.
pub(super) fn attend() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        // Most system calls continue after the handler.
        let counting = SigAction::new(SigHandler::Handler(count), SaFlags::SA_RESTART, SigSet::empty());
        #[expect(unsafe_code, reason = "sigaction")]
        // SAFETY: the handler only adds to an atomic number, which it may do at any time.
        let before = unsafe { sigaction(Signal::SIGCONT, &counting) };
        if let Ok(before) = before
            && !matches!(before.handler(), SigHandler::SigDfl)
        {
            #[expect(unsafe_code, reason = "sigaction")]
            // SAFETY: this restores the program's own handler.
            let _ = unsafe { sigaction(Signal::SIGCONT, &before) };
        }
    });
}

/// Returns the number of stops that have ended.
pub(super) fn ended() -> u64 {
    ENDED.load(Ordering::Relaxed)
}
