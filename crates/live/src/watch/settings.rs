//! [`ReceiveSettings`]: the settings of the namespace that decide on receive windows.

use crate::window::advertisable;
use host::TcpConnection;
use std::fs;
use units::Bytes;

/// The settings of this thread's network namespace that decide on receive windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveSettings {
    /// `net.ipv4.tcp_moderate_rcvbuf`: true if the kernel sizes the windows.
    pub autotunes: bool,
    /// The largest buffer of a connection that the kernel sizes: the third number of `net.ipv4.tcp_rmem`.
    pub largest: Bytes,
    /// The largest buffer that a program may request: `net.core.rmem_max`.
    pub requested: Bytes,
}

impl ReceiveSettings {
    /// Reads the settings. Those that cannot be read have the kernel's defaults.
    pub(super) fn read() -> Self {
        let setting = |name: &str| fs::read_to_string(format!("/proc/sys/net/{name}")).unwrap_or_default();
        let bytes = |text: Option<&str>| text.and_then(|text| text.parse().ok()).map(Bytes::new);
        Self {
            autotunes: setting("ipv4/tcp_moderate_rcvbuf").trim() != "0",
            largest: bytes(setting("ipv4/tcp_rmem").split_whitespace().nth(2)).unwrap_or(Bytes::new(6 << 20)),
            requested: bytes(Some(setting("core/rmem_max").trim())).unwrap_or(Bytes::new(212_992)),
        }
    }

    /// Returns true if the kernel sizes the receive window of a connection, false if the program has set the buffer;
    /// `None` if the readings do not show it. The kernel does not report the program's `SO_RCVBUF` as such.
    pub(super) fn autotunes(&self, first: &TcpConnection, last: &TcpConnection) -> Option<bool> {
        if !self.autotunes {
            // The kernel does not enlarge any buffer then, so the size does not show who set it.
            return None;
        }
        let (before, after) = (first.memory?.receive_buffer, last.memory?.receive_buffer);
        if after > before || after == self.largest {
            return Some(true);
        }
        // A buffer that was set before the handshake bounds the scale: half of it is for the window. Another largest
        // buffer at that time bounds it, too, but then the buffer has another size.
        let scale = |bytes: Bytes| bytes.get().max(1).ilog2().saturating_sub(15).min(14);
        let usual = scale(self.largest.max(self.requested));
        let found = (advertisable(&last.info).get() / 0xffff).ilog2();
        let fixed = found < usual && found == scale(after.scale(0.5));
        (fixed || after > self.largest).then_some(false)
    }
}
