//! Netlink requests: the settings of a device and its routes that the ioctls cannot change, or can change only for root
//! of the whole machine.

use crate::EmuError;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

const HEADER: usize = 16;
/// A route's metric that holds the name of a congestion control: a constant of linux/rtnetlink.h that the libc crate
/// lacks.
const RTAX_CC_ALGO: u16 = 16;

/// A route: addresses that leave through a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) destination: Ipv4Addr,
    /// The number of leading bits of a destination that must match.
    pub(crate) prefix: u8,
    /// The source address of packets that leave by this route.
    pub(crate) source: Ipv4Addr,
    /// The congestion control of connections on this route; empty: the namespace's own.
    pub(crate) control: &'a str,
}

/// Sets the number of packets that may wait in `device`. The ioctl requires root of the whole machine, netlink only
/// root of the namespace.
pub(crate) fn queue_length(device: &str, packets: u32) -> Result<(), EmuError> {
    let mut body = vec![0; size_of::<libc::ifinfomsg>()];
    attribute(&mut body, libc::IFLA_IFNAME, &[device.as_bytes(), &[0]].concat());
    attribute(&mut body, libc::IFLA_TXQLEN, &packets.to_ne_bytes());
    request(libc::RTM_SETLINK, 0, &body)
        .map_err(|errno| EmuError::os(format!("device {device}: setting its queue length"), errno))
}

/// Adds `route` through `device` to the calling thread's namespace, in place of one to the same destination.
pub(crate) fn route(device: &str, route: Route<'_>) -> Result<(), EmuError> {
    let Route { destination, prefix, source, control } = route;
    let wrong = |errno| EmuError::os(format!("device {device}: the route to {destination}/{prefix}"), errno);
    let index = nix::net::if_::if_nametoindex(device).map_err(wrong)?;
    // A struct rtmsg: family, bits of destination and source, type of service, table, origin, scope, type, flags.
    let mut body = vec![
        libc::AF_INET as u8,
        prefix,
        0,
        0,
        libc::RT_TABLE_MAIN,
        libc::RTPROT_KERNEL,
        libc::RT_SCOPE_LINK,
        libc::RTN_UNICAST,
    ];
    body.extend_from_slice(&0u32.to_ne_bytes());
    attribute(&mut body, libc::RTA_DST, &destination.octets());
    attribute(&mut body, libc::RTA_OIF, &index.to_ne_bytes());
    attribute(&mut body, libc::RTA_PREFSRC, &source.octets());
    if !control.is_empty() {
        let mut metrics = Vec::new();
        attribute(&mut metrics, RTAX_CC_ALGO, &[control.as_bytes(), &[0]].concat());
        attribute(&mut body, libc::RTA_METRICS, &metrics);
    }
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;
    request(libc::RTM_NEWROUTE, flags, &body).map_err(wrong)
}

/// Appends an attribute, padded to four bytes.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend_from_slice(&((4 + value.len()) as u16).to_ne_bytes());
    body.extend_from_slice(&kind.to_ne_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Sends one request and waits for its acknowledgement.
fn request(kind: u16, flags: libc::c_int, body: &[u8]) -> nix::Result<()> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let mut message = Vec::new();
    message.extend_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    // Sequence and port stay zero: there is one request, and the kernel fills in the requester.
    message.resize(HEADER, 0);
    message.extend_from_slice(body);
    let protocol = SockProtocol::NetlinkRoute;
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
    send(socket.as_raw_fd(), &message, MsgFlags::empty())?;
    let mut answer = [0; 512];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // The answer is an NLMSG_ERROR: a header, then a negative errno, zero for success.
    match answer[..length].get(HEADER..).and_then(<[u8]>::first_chunk) {
        Some(&code) if i32::from_ne_bytes(code) == 0 => Ok(()),
        Some(&code) => Err(Errno::from_raw(-i32::from_ne_bytes(code))),
        None => Err(Errno::EPROTO),
    }
}
