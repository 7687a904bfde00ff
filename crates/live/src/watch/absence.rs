//! The sockets that a program has in place of TCP connections: for the error message only, so every step may fail.

use super::error::Instead;
use std::collections::BTreeMap;
use std::fs;

/// Finds the kind of the sockets with these inodes.
pub(super) fn of_inodes(inodes: &BTreeMap<u64, u32>) -> Instead {
    kind(|row| inodes.contains_key(&row.inode))
}

/// Finds the kind of the sockets with this port at either end.
pub(super) fn of_port(port: Option<u16>) -> Instead {
    kind(|row| port.is_some_and(|port| row.ports.contains(&Some(port))))
}

/// A line of the kernel's tables of sockets.
struct Row {
    ports: [Option<u16>; 2],
    inode: u64,
}

fn kind(is_meant: impl Fn(&Row) -> bool) -> Instead {
    let any = |names: [&str; 2]| names.iter().any(|name| rows(name).iter().any(&is_meant));
    if any(["tcp", "tcp6"]) {
        Instead::Listening
    } else if any(["udp", "udp6"]) {
        Instead::Udp
    } else {
        Instead::Nothing
    }
}

/// Reads a table of this thread's namespace: "sl local_address rem_address st ... uid timeout inode", with addresses as
/// hexadecimal numbers and a port behind a colon.
fn rows(name: &str) -> Vec<Row> {
    let table = fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    let port = |field: &str| u16::from_str_radix(field.rsplit_once(':')?.1, 16).ok();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let inode = fields.get(9)?.parse().ok()?;
        Some(Row { ports: [port(fields[1]), port(fields[2])], inode })
    };
    table.lines().skip(1).filter_map(row).collect()
}
