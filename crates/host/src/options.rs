//! The few socket options that the rooms set and read, with types and units.
//!
//! Only `set_raw` and `get_int` use `unsafe` here (as does `tcp_info.rs`).

use crate::error::HostError;
use socket2::SockRef;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use units::{Bytes, Rate};

/// Returns the unspecified address of `peer`'s family, with `port`. A socket that is bound to it reaches `peer` from an
/// address that the kernel chooses. Port 0 takes a free port.
#[must_use]
pub fn any_address(peer: SocketAddr, port: u16) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, port).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, port).into(),
    }
}

/// Lists the congestion controls that the kernel has loaded, separated by blanks, as the current thread's namespace
/// sees them. Returns a remark in brackets if the file cannot be read.
#[must_use]
pub fn available_controls() -> String {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .map_or_else(|error| format!("(unknown: {error})"), |names| names.trim().to_owned())
}

/// Sets the sender's congestion control (`TCP_CONGESTION`).
///
/// # Errors
/// [`HostError::Control`] with the list of available ones.
pub fn set_congestion_control(socket: &impl AsFd, control: &str) -> Result<(), HostError> {
    SockRef::from(socket).set_tcp_congestion(control.as_bytes()).map_err(|source| HostError::Control {
        control: control.to_owned(),
        available: available_controls(),
        source,
    })
}

/// Sets the class of a socket's packets to `peer`: the DSCP, 0 to 63 (`IP_TOS`, `IPV6_TCLASS`).
///
/// # Errors
/// [`HostError::Option`].
pub fn set_dscp(socket: &impl AsFd, peer: SocketAddr, dscp: u8) -> Result<(), HostError> {
    let field = u32::from(dscp) << 2;
    let socket = SockRef::from(socket);
    match peer {
        SocketAddr::V4(_) => socket.set_tos_v4(field).map_err(HostError::option("IP_TOS", field)),
        SocketAddr::V6(_) => socket.set_tclass_v6(field).map_err(HostError::option("IPV6_TCLASS", field)),
    }
}

/// Returns the current congestion control.
///
/// # Errors
/// The kernel's error for a socket that is not TCP.
pub fn congestion_control(socket: &impl AsFd) -> io::Result<String> {
    let name = SockRef::from(socket).tcp_congestion()?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

/// Returns true if the kernel's congestion control of this name sends at a rate that it measures, rather than by a
/// window that losses shrink.
#[must_use]
pub fn is_rate_based(control: &str) -> bool {
    control.starts_with("bbr")
}

/// Sets the largest window that the receiver advertises (`TCP_WINDOW_CLAMP`). The kernel raises values below about 1.1
/// kB, and overwrites the clamp itself later in some cases: see `window.rs` of room `live`.
///
/// # Errors
/// [`HostError::Option`].
pub fn set_window_clamp(socket: &impl AsFd, window: Bytes) -> Result<(), HostError> {
    let value = libc::c_int::try_from(window.get()).unwrap_or(libc::c_int::MAX);
    set_raw(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &value.to_ne_bytes())
        .map_err(HostError::option("TCP_WINDOW_CLAMP", window))
}

/// Returns the current clamp.
///
/// # Errors
/// [`HostError::System`].
pub fn window_clamp(socket: &impl AsFd) -> Result<Bytes, HostError> {
    get_int(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP)
        .map(|value| Bytes::new(u64::try_from(value).unwrap_or(0)))
        .map_err(HostError::system("read TCP_WINDOW_CLAMP"))
}

/// The way in which a receive buffer got its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferGrant {
    /// A size set by `SO_RCVBUFFORCE`: as large as requested.
    Forced,
    /// A size set by `SO_RCVBUF`, without the privilege to force it: no larger than twice `net.core.rmem_max`. If
    /// autotuning had reached a larger size, the buffer is locked at that size.
    Limited,
    /// A size chosen by the kernel, which grows the buffer up to the last number of `net.ipv4.tcp_rmem`.
    Autotuned,
}

/// A receive buffer: the memory that the kernel may fill, of which it advertises roughly half as window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// The way in which it got its size.
    pub grant: BufferGrant,
    /// The value of `SO_RCVBUF`: the kernel books twice the requested value.
    pub size: Bytes,
}

/// Sets the receive buffer to `size` of payload regardless of the limits (`SO_RCVBUFFORCE`), and turns the kernel's
/// autotuning off. Returns `None` and changes nothing without the privilege (`CAP_NET_ADMIN` in the first user
/// namespace).
///
/// # Errors
/// [`HostError::Option`].
pub fn force_receive_buffer(socket: &impl AsFd, size: Bytes) -> Result<Option<ReceiveBuffer>, HostError> {
    match set_raw(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &buffer_value(size)) {
        Ok(()) => Ok(Some(ReceiveBuffer { grant: BufferGrant::Forced, size: receive_buffer(socket)? })),
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Ok(None),
        Err(error) => Err(HostError::option("SO_RCVBUFFORCE", size)(error)),
    }
}

/// Sets the receive buffer to `size` of payload as far as `net.core.rmem_max` allows (`SO_RCVBUF`), and turns the
/// kernel's autotuning off.
///
/// # Errors
/// [`HostError::Option`].
pub fn set_receive_buffer(socket: &impl AsFd, size: Bytes) -> Result<ReceiveBuffer, HostError> {
    set_raw(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUF, &buffer_value(size))
        .map_err(HostError::option("SO_RCVBUF", size))?;
    Ok(ReceiveBuffer { grant: BufferGrant::Limited, size: receive_buffer(socket)? })
}

/// Turns the kernel's autotuning off without privilege. If autotuning has reached a size that `net.core.rmem_max` would
/// not allow, the receive buffer keeps it. Otherwise it gets `size` of payload, as far as that limit allows.
///
/// # Errors
/// [`HostError::Option`].
pub fn keep_receive_buffer(socket: &impl AsFd, size: Bytes) -> Result<ReceiveBuffer, HostError> {
    let grown = receive_buffer(socket)?;
    if core_limit("rmem_max").is_some_and(|most| most * 2 < grown)
        && let Ok(lock) = buffer_lock(socket)
        && set_buffer_lock(socket, lock | RECEIVE_LOCK).is_ok()
    {
        return Ok(ReceiveBuffer { grant: BufferGrant::Limited, size: grown });
    }
    set_receive_buffer(socket, size)
}

/// The option `SO_BUF_LOCK` (Linux 5.14): the buffers that the kernel must not size by itself. libc has no name for it.
const SO_BUF_LOCK: i32 = 72;
/// The flag of `SO_BUF_LOCK` for the receive buffer.
pub const RECEIVE_LOCK: i32 = 2;

/// Returns the flags of the locked buffers. `SO_RCVBUF`, `SO_SNDBUF` and [`set_buffer_lock`] lock them.
///
/// # Errors
/// [`HostError::System`], before Linux 5.14 always.
pub fn buffer_lock(socket: &impl AsFd) -> Result<i32, HostError> {
    get_int(socket.as_fd(), libc::SOL_SOCKET, SO_BUF_LOCK).map_err(HostError::system("read SO_BUF_LOCK"))
}

/// Locks buffers at their size, or returns them to autotuning.
///
/// # Errors
/// [`HostError::Option`], before Linux 5.14 always.
pub fn set_buffer_lock(socket: &impl AsFd, flags: i32) -> Result<(), HostError> {
    set_raw(socket.as_fd(), libc::SOL_SOCKET, SO_BUF_LOCK, &flags.to_ne_bytes())
        .map_err(HostError::option("SO_BUF_LOCK", flags))
}

/// Converts a size to the option's value. The kernel doubles the value, which must not overflow a C int.
fn buffer_value(size: Bytes) -> [u8; size_of::<libc::c_int>()] {
    libc::c_int::try_from(size.get()).unwrap_or(libc::c_int::MAX).min(libc::c_int::MAX / 2).to_ne_bytes()
}

/// Returns the current value of `SO_RCVBUF`.
///
/// # Errors
/// [`HostError::System`].
pub fn receive_buffer(socket: &impl AsFd) -> Result<Bytes, HostError> {
    let size = SockRef::from(socket).recv_buffer_size().map_err(HostError::system("read SO_RCVBUF"))?;
    Ok(Bytes::new(size as u64))
}

/// Returns the current value of `SO_SNDBUF`: the memory that sent and unsent data may take.
///
/// # Errors
/// [`HostError::System`].
pub fn send_buffer(socket: &impl AsFd) -> Result<Bytes, HostError> {
    let size = SockRef::from(socket).send_buffer_size().map_err(HostError::system("read SO_SNDBUF"))?;
    Ok(Bytes::new(size as u64))
}

/// Raises the send buffer so that `SO_SNDBUF` reads `size`. Without the privilege to force this (`SO_SNDBUFFORCE`), the
/// new value is at most twice `net.core.wmem_max`. Returns the new value, which is never below the old one. A raised
/// buffer is not autotuned any more.
///
/// # Errors
/// [`HostError::Option`], [`HostError::System`].
pub fn raise_send_buffer(socket: &impl AsFd, size: Bytes) -> Result<Bytes, HostError> {
    let now = send_buffer(socket)?;
    if size <= now {
        return Ok(now);
    }
    match set_raw(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &buffer_value(size / 2)) {
        Ok(()) => return send_buffer(socket),
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
        Err(error) => return Err(HostError::option("SO_SNDBUFFORCE", size)(error)),
    }
    let most = core_limit("wmem_max").map_or(Bytes::ZERO, |most| most * 2).min(size);
    if most > now {
        set_raw(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, &buffer_value(most / 2))
            .map_err(HostError::option("SO_SNDBUF", most))?;
    }
    send_buffer(socket)
}

/// Returns the least, first and greatest size that autotuning gives a send buffer (`net.ipv4.tcp_wmem`), in the current
/// thread's namespace.
#[must_use]
pub fn autotuned_send_buffer() -> Option<[Bytes; 3]> {
    three_sizes("/proc/sys/net/ipv4/tcp_wmem")
}

/// Returns the least, first and greatest size that autotuning gives a receive buffer (`net.ipv4.tcp_rmem`).
#[must_use]
pub fn autotuned_receive_buffer() -> Option<[Bytes; 3]> {
    three_sizes("/proc/sys/net/ipv4/tcp_rmem")
}

fn three_sizes(file: &str) -> Option<[Bytes; 3]> {
    let text = fs::read_to_string(file).ok()?;
    let mut sizes = text.split_whitespace().map(|size| size.parse().ok().map(Bytes::new));
    Some([sizes.next()??, sizes.next()??, sizes.next()??])
}

/// Reads a setting of `net.core` that limits the buffers that programs request.
fn core_limit(name: &str) -> Option<Bytes> {
    let text = fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?;
    text.trim().parse().ok().map(Bytes::new)
}

/// Caps the sender's pacing rate (`SO_MAX_PACING_RATE`); works without the fq qdisc. From then on the kernel paces the
/// socket until it closes. A [`Pace`](crate::Pace), however, can be removed again.
///
/// # Errors
/// [`HostError::Option`].
pub fn set_max_pacing_rate(socket: &impl AsFd, rate: Rate) -> Result<(), HostError> {
    let bytes_per_second = (rate.as_bps() / 8).max(1);
    set_raw(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &bytes_per_second.to_ne_bytes())
        .map_err(HostError::option("SO_MAX_PACING_RATE", rate))
}

/// Sends without waiting for full segments (`TCP_NODELAY`).
///
/// # Errors
/// [`HostError::Option`].
pub fn set_no_delay(socket: &impl AsFd) -> Result<(), HostError> {
    SockRef::from(socket).set_tcp_nodelay(true).map_err(HostError::option("TCP_NODELAY", true))
}

/// Limits the data that waits unsent in the send buffer (`TCP_NOTSENT_LOWAT`); zero means the host's default. It does
/// not change the window.
///
/// # Errors
/// [`HostError::Option`].
pub fn set_unsent_limit(socket: &impl AsFd, limit: Bytes) -> Result<(), HostError> {
    let value = u32::try_from(limit.get()).unwrap_or(u32::MAX);
    SockRef::from(socket).set_tcp_notsent_lowat(value).map_err(HostError::option("TCP_NOTSENT_LOWAT", limit))
}

/// Sets the largest segment, payload and TCP options together (`TCP_MAXSEG`). It must be set before connecting.
///
/// # Errors
/// [`HostError::Option`]; the kernel accepts 88 to 32767 bytes.
pub fn set_max_segment(socket: &impl AsFd, size: Bytes) -> Result<(), HostError> {
    let value = u32::try_from(size.get()).unwrap_or(u32::MAX);
    SockRef::from(socket).set_tcp_mss(value).map_err(HostError::option("TCP_MAXSEG", size))
}

#[expect(unsafe_code, reason = "setsockopt for options no safe wrapper covers")]
fn set_raw(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the descriptor is open while borrowed; the kernel reads `value.len()` bytes at the pointer.
    let rc = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "getsockopt for options no safe wrapper covers")]
fn get_int(socket: BorrowedFd<'_>, level: i32, option: i32) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open while borrowed; the kernel writes at most `length` bytes into `value`.
    let rc = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut length)
    };
    if rc == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}
