//! The setup of a network device in the calling thread's namespace, with the ioctls that ifconfig uses, and with
//! netlink where these do not suffice.

use crate::EmuError;
use crate::netlink::{self, Route};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The settings that a device needs to carry IPv4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) address: Ipv4Addr,
    pub(crate) netmask: Ipv4Addr,
    pub(crate) mtu: u16,
    /// The number of packets that may wait in the device: more than the emulated queue ever lets build up there.
    pub(crate) txqueuelen: u32,
}

/// Brings `device` up.
pub(crate) fn up(device: &str) -> Result<(), EmuError> {
    let control = Control::open(device)?;
    let mut request = control.request()?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    control.apply(libc::SIOCSIFFLAGS, "bringing it up", &mut request)
}

/// The destinations with a route through the device, in addition to the other end: multicast groups and broadcast. The
/// namespace lacks a default route, so the kernel refuses any other address at once ("Network is unreachable"). With a
/// default route, a program that asks a name server would wait ten seconds for an answer.
const TO_MANY: [(Ipv4Addr, u8); 2] = [(Ipv4Addr::new(224, 0, 0, 0), 4), (Ipv4Addr::BROADCAST, 32)];

/// Gives `device` its address, MTU and queue length, and brings it up.
pub(crate) fn configure(device: &str, settings: &Settings) -> Result<(), EmuError> {
    let control = Control::open(device)?;
    let mut request = control.request()?;
    request.ifr_ifru.ifru_mtu = i32::from(settings.mtu);
    control.apply(libc::SIOCSIFMTU, "setting its MTU", &mut request)?;
    request.ifr_ifru.ifru_addr = socket_address(settings.address);
    control.apply(libc::SIOCSIFADDR, "setting its address", &mut request)?;
    request.ifr_ifru.ifru_netmask = socket_address(settings.netmask);
    control.apply(libc::SIOCSIFNETMASK, "setting its netmask", &mut request)?;
    netlink::queue_length(device, settings.txqueuelen)?;
    up(device)?;
    for (destination, prefix) in TO_MANY {
        netlink::route(device, Route { destination, prefix, source: settings.address, control: "" })?;
    }
    Ok(())
}

/// Makes connections through `device` use the congestion control `control`, unless their programs choose another one
/// after they connect.
pub(crate) fn control(
    device: &str,
    address: Ipv4Addr,
    netmask: Ipv4Addr,
    control: &str,
) -> Result<(), EmuError> {
    let network = Ipv4Addr::from(u32::from(address) & u32::from(netmask));
    let prefix = u32::from(netmask).leading_ones() as u8;
    netlink::route(device, Route { destination: network, prefix, source: address, control })
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
}

/// Makes an ifreq for `device`, all else zero.
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
