//! A TUN device: IP packets of a namespace, which a descriptor reads and writes.

use crate::interface::{self, Settings};
use crate::vnet::VNET_LEN;
use crate::{EmuError, Namespace};
use nix::errno::Errno;
use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The device's name, the same in every namespace.
pub const DEVICE: &str = "tight";

/// The number of packets that the device holds for the emulator before it drops. A whole window may arrive at once,
/// because the kernel does not pace for a TUN device. A super-packet counts as one packet here.
const QUEUE_LENGTH: u32 = 20_000;

/// The settings of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TunConfig {
    pub(crate) address: Ipv4Addr,
    pub(crate) netmask: Ipv4Addr,
    pub(crate) mtu: u16,
    /// True if the kernel may hand over super-packets.
    pub(crate) offload: bool,
}

/// A TUN device, up. The kernel removes it when this is dropped.
#[derive(Debug)]
pub(crate) struct Tun {
    descriptor: OwnedFd,
}

impl Tun {
    /// Makes the device inside `namespace`.
    pub(crate) fn open(namespace: &Namespace, config: TunConfig) -> Result<Self, EmuError> {
        // Both the device and the rights to it come from the namespace of the thread that makes it.
        namespace.run(move || {
            // A measured link carries only the packets that the programs send: without this the kernel adds router
            // solicitations and multicast reports of its own. A kernel without IPv6 is equally good, so errors are
            // ignored.
            let _ = std::fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
            let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
            let tun = Self::attach()?;
            tun.set_offload(config.offload)?;
            let settings = Settings {
                address: config.address,
                netmask: config.netmask,
                mtu: config.mtu,
                txqueuelen: QUEUE_LENGTH,
            };
            interface::configure(DEVICE, &settings)?;
            Ok(tun)
        })?
    }

    #[expect(unsafe_code, reason = "ioctls of the TUN driver")]
    fn attach() -> Result<Self, EmuError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(|error| crate::privilege::tun_refused(&error))?;
        let tun = Self { descriptor: file.into() };
        let mut request = interface::named_request(DEVICE)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes an ifreq.
        let result = unsafe {
            libc::ioctl(tun.descriptor.as_raw_fd(), libc::TUNSETIFF as _, std::ptr::from_mut(&mut request))
        };
        Errno::result(result).map_err(|errno| EmuError::os("making a TUN device (TUNSETIFF)", errno))?;
        let length = VNET_LEN as libc::c_int;
        // SAFETY: TUNSETVNETHDRSZ reads an int.
        let result = unsafe {
            libc::ioctl(tun.descriptor.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, std::ptr::from_ref(&length))
        };
        Errno::result(result)
            .map_err(|errno| EmuError::os("TUN device: setting the length of its packet header", errno))?;
        Ok(tun)
    }

    /// Sets the super-packets that the device accepts: TCP ones, and UDP ones where the kernel (6.2 and later) has
    /// them.
    fn set_offload(&self, offload: bool) -> Result<(), EmuError> {
        if !offload {
            return self
                .try_offload(0)
                .map_err(|errno| EmuError::os("TUN device: turning offload off", errno));
        }
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        self.try_offload(tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6)
            .or_else(|_| self.try_offload(tcp))
            .map_err(|errno| EmuError::os("TUN device: turning segmentation offload on", errno))
    }

    #[expect(unsafe_code, reason = "ioctl of the TUN driver")]
    fn try_offload(&self, features: libc::c_uint) -> nix::Result<()> {
        // SAFETY: TUNSETOFFLOAD takes its flags by value.
        let result = unsafe {
            libc::ioctl(self.descriptor.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(features))
        };
        Errno::result(result).map(drop)
    }

    /// Reads a virtio header and packet into `buffer`; `None` if none waits.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match nix::unistd::read(&self.descriptor, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a virtio header and packet, given in parts.
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<WriteOutcome> {
        match nix::sys::uio::writev(&self.descriptor, parts) {
            Ok(_) => Ok(WriteOutcome::Whole),
            // The receiver's kernel refuses the packet or has no memory for it: only the packet is lost, and the path
            // continues.
            Err(Errno::EINVAL | Errno::ENOBUFS | Errno::ENOMEM | Errno::EAGAIN) => Ok(WriteOutcome::Refused),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The fate of a packet handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    Whole,
    Refused,
}

/// Returns the number of packets that the device in `namespace` dropped before they were read, because its queue was
/// full.
pub(crate) fn dropped_unread(namespace: &Namespace) -> Result<u64, EmuError> {
    let text = namespace
        .run(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?
        .map_err(|error| EmuError::os("reading the device's counters", error))?;
    Ok(text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))
        // Eight columns for receiving, then bytes, packets, errors and drops of sending.
        .find_map(|columns| columns.split_whitespace().nth(11)?.parse().ok())
        .unwrap_or(0))
}
