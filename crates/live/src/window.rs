//! [`WindowControl`]: the receive window as an actuator, with which a receiver limits its sender.
//!
//! The steps (kernel 6.x) and their reasons:
//! 1. `SO_RCVBUF` stays untouched until the connection is established, because an earlier value fixes a small window
//!    scale.
//! 2. Then the buffer becomes large, by force if allowed. This turns autotuning off, which would overwrite the clamp. A
//!    large buffer also holds unread data without a smaller window.
//! 3. Then `TCP_WINDOW_CLAMP` is set to S.
//! 4. [`WindowControl::assert`] is called again and again, because the kernel resets the clamp once more when it learns
//!    the size of the segments it receives.
//!
//! A window once advertised is never taken back: a smaller S takes effect as the promised data arrives. The kernel
//! rounds windows up to a multiple of 2^`rcv_wscale` (1 KiB with a 32 MiB `tcp_rmem`).

use crate::error::LiveError;
use host::TcpInfo;
use host::options::{self, BufferGrant, ReceiveBuffer};
use std::os::fd::AsFd;
use units::{Bytes, Span};

/// The requested window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// As large as the kernel allows.
    #[default]
    Max,
    /// At most this size.
    AtMost(Bytes),
    /// The window that the kernel chooses by itself: nothing is set.
    Autotuned,
}

/// One reading of the window; the sample that contains it has the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReading {
    /// The requested S; `None` for the maximum.
    pub requested: Option<Bytes>,
    /// The clamp that the kernel had at the reading, before it was asserted again.
    pub granted: Bytes,
    /// The window advertised last: `tcpi_rcv_wnd`, limited to the largest window of the scale, which the kernel's
    /// number can exceed. `None` before Linux 6.2.
    pub observed: Option<Bytes>,
}

/// The time after the takeover during which the window is asserted often: the kernel overwrites the clamp when it
/// learns the segment size.
pub const SETTLING: Span = Span::from_millis(500);

/// Room for a window of 67 MB, the largest that a scale of 10 can advertise; the kernel adds as much for its
/// book-keeping. It is a limit, not memory taken.
const LARGE: Bytes = Bytes::new(64 << 20);
/// A clamp above every window, which limits nothing.
const UNCLAMPED: Bytes = Bytes::new(1 << 30);

/// The largest window that any connection can advertise: 16 bits, shifted by 14 [rfc7323:2.2].
pub const LARGEST_WINDOW: Bytes = Bytes::new(0xffff << 14);

/// Returns the largest window that this connection can advertise. Its scale was fixed at the handshake, by
/// `net.ipv4.tcp_rmem` or by the program's own `SO_RCVBUF`. No later buffer changes it.
#[must_use]
pub fn advertisable(info: &TcpInfo) -> Bytes {
    let scale = if info.options.window_scaling { info.rcv_wscale.min(14) } else { 0 };
    Bytes::new(0xffff << scale)
}

/// The window of one connection at its receiver.
#[derive(Debug)]
pub struct WindowControl {
    window: Window,
    buffer: ReceiveBuffer,
    /// The clamp that the kernel returned for the request, which may differ because the kernel raises very small ones.
    /// `None`: the request is not handed over yet.
    held: Option<Bytes>,
    overwritten: u32,
}

impl WindowControl {
    /// Takes over the window of an *established* connection. Without privilege the largest `SO_RCVBUF` limits
    /// [`Window::AtMost`]. [`Window::Max`] then leaves autotuning on, because it reaches a larger window.
    ///
    /// # Errors
    /// [`LiveError::Host`] if the kernel refuses.
    pub fn take(socket: &impl AsFd, window: Window) -> Result<Self, LiveError> {
        let forced = match window {
            Window::Autotuned => None,
            Window::Max | Window::AtMost(_) => options::force_receive_buffer(socket, LARGE)?,
        };
        let buffer = match (forced, window) {
            (Some(forced), _) => forced,
            (None, Window::AtMost(_)) => options::keep_receive_buffer(socket, LARGE)?,
            (None, Window::Max | Window::Autotuned) => {
                ReceiveBuffer { grant: BufferGrant::Autotuned, size: options::receive_buffer(socket)? }
            }
        };
        let mut control = Self { window, buffer, held: None, overwritten: 0 };
        control.assert(socket)?;
        Ok(control)
    }

    /// Requests another window from now on; [`WindowControl::assert`] hands it to the kernel.
    pub fn request(&mut self, window: Window) {
        self.window = window;
        self.held = None;
    }

    /// Sets the clamp if the kernel has another one than requested. Returns true if the kernel had overwritten it.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn assert(&mut self, socket: &impl AsFd) -> Result<bool, LiveError> {
        let wanted = match self.window {
            Window::AtMost(limit) => limit,
            Window::Max | Window::Autotuned if self.buffer.grant == BufferGrant::Autotuned => {
                return Ok(false);
            }
            Window::Max | Window::Autotuned => UNCLAMPED,
        };
        if self.held.is_some() && self.held == Some(options::window_clamp(socket)?) {
            return Ok(false);
        }
        options::set_window_clamp(socket, wanted)?;
        let overwritten = self.held.is_some();
        self.overwritten += u32::from(overwritten);
        self.held = Some(options::window_clamp(socket)?);
        Ok(overwritten)
    }

    /// Reads the three windows now: requested, granted, observed.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn read(&self, socket: &impl AsFd, info: &TcpInfo) -> Result<WindowReading, LiveError> {
        let requested = match self.window {
            Window::Max | Window::Autotuned => None,
            Window::AtMost(limit) => Some(limit),
        };
        let observed = info.rcv_wnd.map(|window| window.min(advertisable(info)));
        Ok(WindowReading { requested, granted: options::window_clamp(socket)?, observed })
    }

    /// Returns the receive buffer behind the window, with the way in which it was obtained.
    #[must_use]
    pub const fn buffer(&self) -> ReceiveBuffer {
        self.buffer
    }

    /// Returns the number of times that the kernel had overwritten the clamp and it was set again.
    #[must_use]
    pub const fn overwritten(&self) -> u32 {
        self.overwritten
    }
}
