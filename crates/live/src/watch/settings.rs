//! The settings of the namespace that decide on windows, and [`sizing`]: what decides on the window of one connection.

use crate::window::advertisable;
use estimate::diagnosis::{HostSettings, WindowSizing};
use host::{TcpConnection, options};
use std::fs;
use units::Bytes;

/// Reads the settings of this thread's network namespace. Those that cannot be read have the kernel's defaults.
pub(super) fn read() -> HostSettings {
    let setting = |name: &str| fs::read_to_string(format!("/proc/sys/net/{name}")).unwrap_or_default();
    let usual = HostSettings::default();
    HostSettings {
        autotunes: setting("ipv4/tcp_moderate_rcvbuf").trim() != "0",
        scales: setting("ipv4/tcp_window_scaling").trim() != "0",
        receive_memory: options::autotuned_receive_buffer().unwrap_or(usual.receive_memory),
        send_memory: options::autotuned_send_buffer().unwrap_or(usual.send_memory),
        requested: setting("core/rmem_max").trim().parse().map_or(usual.requested, Bytes::new),
    }
}

/// Returns what decides on the receive window of a connection; `None` if the readings do not show it. The kernel does not
/// report the program's `SO_RCVBUF` as such.
pub(super) fn sizing(
    settings: &HostSettings,
    first: &TcpConnection,
    last: &TcpConnection,
) -> Option<WindowSizing> {
    let [_, initial, largest] = settings.receive_memory;
    let (before, after) = (first.memory?.receive_buffer, last.memory?.receive_buffer);
    if !settings.autotunes {
        // The kernel still enlarges its own buffers for data out of order (`tcp_clamp_window`).
        let own = after == initial || after > before;
        return Some(if own { WindowSizing::AutotuningOff } else { WindowSizing::Program });
    }
    if after > before || after == largest {
        return Some(WindowSizing::Kernel);
    }
    // A buffer that was set before the handshake bounds the scale: half of it is for the window. Another largest
    // buffer at that time bounds it, too, but then the buffer has another size.
    let scale = |bytes: Bytes| bytes.get().max(1).ilog2().saturating_sub(15).min(14);
    let usual = scale(largest.max(settings.requested));
    let found = (advertisable(&last.info).get() / 0xffff).ilog2();
    let fixed = found < usual && found == scale(after.scale(0.5));
    (fixed || after > largest).then_some(WindowSizing::Program)
}
