//! Setting up a network device of the calling thread's namespace, with the ioctls that ifconfig uses
//! (and one netlink message).

use crate::EmuError;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

/// What a device needs to carry IPv4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) address: Ipv4Addr,
    pub(crate) netmask: Ipv4Addr,
    pub(crate) mtu: u16,
    /// Packets that may wait in the device: more than the emulated queue ever lets build up there.
    pub(crate) txqueuelen: u32,
}

/// Brings `device` up.
pub(crate) fn up(device: &str) -> Result<(), EmuError> {
    let control = Control::open(device)?;
    let mut request = control.request()?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    control.apply(libc::SIOCSIFFLAGS, "bringing it up", &mut request)
}

/// Gives `device` its address, MTU and queue length, brings it up and sends everything unknown through it.
pub(crate) fn configure(device: &str, settings: &Settings) -> Result<(), EmuError> {
    let control = Control::open(device)?;
    let mut request = control.request()?;
    request.ifr_ifru.ifru_mtu = i32::from(settings.mtu);
    control.apply(libc::SIOCSIFMTU, "setting its MTU", &mut request)?;
    request.ifr_ifru.ifru_addr = socket_address(settings.address);
    control.apply(libc::SIOCSIFADDR, "setting its address", &mut request)?;
    request.ifr_ifru.ifru_netmask = socket_address(settings.netmask);
    control.apply(libc::SIOCSIFNETMASK, "setting its netmask", &mut request)?;
    queue_length(device, settings.txqueuelen)?;
    up(device)?;
    control.default_route()
}

/// Sets how many packets may wait in `device`. Over netlink: the ioctl wants root of the whole machine, netlink
/// only the namespace's.
fn queue_length(device: &str, packets: u32) -> Result<(), EmuError> {
    let wrong = |errno| EmuError::os(format!("device {device}: setting its queue length"), errno);
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket =
        socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute).map_err(wrong)?;
    send(socket.as_raw_fd(), &set_queue_length(device, packets), MsgFlags::empty()).map_err(wrong)?;
    let mut answer = [0; 128];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty()).map_err(wrong)?;
    // The answer is an NLMSG_ERROR: a header of 16 bytes, then a negative errno, zero for success.
    match answer[..length].get(NLMSG_HEADER..).and_then(<[u8]>::first_chunk) {
        Some(&code) if i32::from_ne_bytes(code) == 0 => Ok(()),
        Some(&code) => Err(wrong(Errno::from_raw(-i32::from_ne_bytes(code)))),
        None => Err(wrong(Errno::EPROTO)),
    }
}

const NLMSG_HEADER: usize = 16;

/// An RTM_SETLINK message that names `device` and its queue length.
fn set_queue_length(device: &str, packets: u32) -> Vec<u8> {
    let mut body = vec![0; size_of::<libc::ifinfomsg>()];
    for (kind, value) in [
        (libc::IFLA_IFNAME, [device.as_bytes(), &[0]].concat()),
        (libc::IFLA_TXQLEN, packets.to_ne_bytes().to_vec()),
    ] {
        body.extend_from_slice(&((4 + value.len()) as u16).to_ne_bytes());
        body.extend_from_slice(&kind.to_ne_bytes());
        body.extend_from_slice(&value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    let mut message = Vec::new();
    message.extend_from_slice(&((NLMSG_HEADER + body.len()) as u32).to_ne_bytes());
    message.extend_from_slice(&libc::RTM_SETLINK.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    // Sequence and port: there is one request, and the kernel fills in who asked.
    message.resize(NLMSG_HEADER, 0);
    message.extend_from_slice(&body);
    message
}

struct Control<'a> {
    socket: OwnedFd,
    device: &'a str,
}

impl<'a> Control<'a> {
    fn open(device: &'a str) -> Result<Self, EmuError> {
        socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .map(|socket| Self { socket, device })
            .map_err(|errno| EmuError::os("opening a socket to configure a device", errno))
    }

    fn request(&self) -> Result<libc::ifreq, EmuError> {
        named_request(self.device)
    }

    #[expect(unsafe_code, reason = "ioctl on an interface")]
    fn apply(&self, code: libc::c_ulong, what: &str, request: &mut libc::ifreq) -> Result<(), EmuError> {
        // SAFETY: every request used here reads an ifreq, and `request` is one.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), code as _, std::ptr::from_mut(request)) };
        nix::Error::result(result)
            .map(drop)
            .map_err(|errno| EmuError::os(format!("device {}: {what}", self.device), errno))
    }

    #[expect(unsafe_code, reason = "ioctl on the routing table")]
    fn default_route(&self) -> Result<(), EmuError> {
        let mut name = self.request()?.ifr_name;
        let route = RouteEntry {
            destination: socket_address(Ipv4Addr::UNSPECIFIED),
            mask: socket_address(Ipv4Addr::UNSPECIFIED),
            gateway: socket_address(Ipv4Addr::UNSPECIFIED),
            flags: libc::RTF_UP,
            device: name.as_mut_ptr(),
            ..RouteEntry::default()
        };
        // SAFETY: SIOCADDRT reads a struct rtentry and the NUL-terminated name it points to; both outlive the call.
        let result =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCADDRT as _, std::ptr::from_ref(&route)) };
        nix::Error::result(result)
            .map(drop)
            .map_err(|errno| EmuError::os(format!("device {}: default route", self.device), errno))
    }
}

/// An ifreq for `device`, all else zero.
///
/// # Errors
/// If the name is longer than a device's name may be.
#[expect(unsafe_code, reason = "an all-zero ifreq")]
pub(crate) fn named_request(device: &str) -> Result<libc::ifreq, EmuError> {
    // SAFETY: ifreq is plain data for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= libc::IFNAMSIZ {
        return Err(EmuError::os(format!("device name {device:?}"), nix::Error::ENAMETOOLONG));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

#[expect(unsafe_code, reason = "sockaddr_in as the sockaddr an ifreq wants")]
fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let inet = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: both are plain data of the same size.
    unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(inet) }
}

/// `struct rtentry` of linux/route.h, which the libc crate lacks for glibc.
#[repr(C)]
struct RouteEntry {
    pad1: libc::c_ulong,
    destination: libc::sockaddr,
    gateway: libc::sockaddr,
    mask: libc::sockaddr,
    flags: libc::c_ushort,
    pad2: libc::c_short,
    pad3: libc::c_ulong,
    pad4: *mut libc::c_void,
    metric: libc::c_short,
    device: *mut libc::c_char,
    mtu: libc::c_ulong,
    window: libc::c_ulong,
    irtt: libc::c_ushort,
}

impl Default for RouteEntry {
    fn default() -> Self {
        let none = socket_address(Ipv4Addr::UNSPECIFIED);
        Self {
            pad1: 0,
            destination: none,
            gateway: none,
            mask: none,
            flags: 0,
            pad2: 0,
            pad3: 0,
            pad4: std::ptr::null_mut(),
            metric: 0,
            device: std::ptr::null_mut(),
            mtu: 0,
            window: 0,
            irtt: 0,
        }
    }
}
