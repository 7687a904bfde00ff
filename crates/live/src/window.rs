//! [`WindowControl`]: the receive window as an actuator, for a receiver that limits its sender.
//!
//! The recipe (kernel 6.x), each step for a reason:
//! 1. `SO_RCVBUF` is left alone until the connection stands: set earlier it fixes a small window scale.
//! 2. Then a large buffer, by force if allowed. It locks autotuning off, which would overwrite the clamp, and it
//!    holds unread data without the window shrinking.
//! 3. Then `TCP_WINDOW_CLAMP` = S.
//! 4. [`WindowControl::assert`] again and again: the kernel resets the clamp once more when it learns the size of
//!    the segments it receives.
//!
//! A window once advertised is never taken back: a smaller S takes effect as the promised data arrives. The
//! kernel rounds windows up to a multiple of 2^`rcv_wscale` (1 KiB with a 32 MiB `tcp_rmem`).

use crate::error::LiveError;
use host::TcpInfo;
use host::options::{self, BufferGrant, ReceiveBuffer};
use std::os::fd::AsFd;
use units::{Bytes, Span};

/// The window asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// As large as the kernel allows.
    #[default]
    Max,
    /// At most this much.
    AtMost(Bytes),
    /// As the kernel sizes it unasked: nothing is set.
    Autotuned,
}

/// One line of the window's record; the sample it belongs to says when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReading {
    /// S as asked for; `None` for the maximum.
    pub requested: Option<Bytes>,
    /// The clamp the kernel held when it was read, before it was asserted again.
    pub granted: Bytes,
    /// The window advertised last (`tcpi_rcv_wnd`, which runs beyond what the window scale can say, up to that);
    /// `None` before Linux 6.2.
    pub observed: Option<Bytes>,
}

/// For this long after it was taken the window is asserted often: the kernel overwrites the clamp when it learns the
/// segment size.
pub const SETTLING: Span = Span::from_millis(500);

/// Room for a window of 67 MB, the largest a scale of 10 can advertise, at the kernel's book-keeping of one
/// half. It is a limit, not memory taken.
const LARGE: Bytes = Bytes::new(64 << 20);
/// Above every window: clamping to it is not clamping.
const UNCLAMPED: Bytes = Bytes::new(1 << 30);

/// The largest window that any connection can advertise: 16 bits, shifted by 14 [rfc7323:2.2].
pub const LARGEST_WINDOW: Bytes = Bytes::new(0xffff << 14);

/// The largest window that this connection can advertise. Its scale was fixed at the handshake, by `net.ipv4.tcp_rmem` or
/// by the program's own `SO_RCVBUF`. No later buffer changes it.
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
    /// What the kernel made of the request: it raises very small clamps. `None`: not handed over yet.
    held: Option<Bytes>,
    overwritten: u32,
}

impl WindowControl {
    /// Takes over the window of an *established* connection. Without privilege `SO_RCVBUF` limits
    /// [`Window::AtMost`], and [`Window::Max`] stays with the kernel's autotuning, which then reaches further.
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

    /// Asks for another window from now on; [`WindowControl::assert`] hands it to the kernel.
    pub fn request(&mut self, window: Window) {
        self.window = window;
        self.held = None;
    }

    /// Sets the clamp if the kernel holds another one than it was asked to. True if the kernel had overwritten it.
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

    /// The three windows now: requested, granted, observed.
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

    /// The receive buffer behind the window, and how it was come by.
    #[must_use]
    pub const fn buffer(&self) -> ReceiveBuffer {
        self.buffer
    }

    /// How often the kernel had overwritten the clamp and it was set again.
    #[must_use]
    pub const fn overwritten(&self) -> u32 {
        self.overwritten
    }
}
