//! The programs that listen on a port: for the error message only, so every step may fail and leave a vaguer answer.

use std::fs;
use units::Foreign;

/// Names the programs that listen on `port` in this thread's network namespace: "process 4711 (nginx)".
#[must_use]
pub fn of_port(port: u16) -> String {
    let mut owners: Vec<String> = listening_inodes(port).into_iter().flat_map(owners_of).collect();
    owners.dedup();
    if owners.is_empty() { "a program this user cannot see".to_owned() } else { owners.join(", ") }
}

/// Lists the inodes of the sockets that listen on `port`, IPv4 and IPv6.
fn listening_inodes(port: u16) -> Vec<u64> {
    // One line per socket: "sl local_address rem_address st ... uid timeout inode", addresses as hex:port.
    const STATE_LISTEN: &str = "0A";
    let suffix = format!(":{port:04X}");
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| {
            let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
            rows.filter(|row| row.len() > 9 && row[1].ends_with(&suffix) && row[3] == STATE_LISTEN)
                .filter_map(|row| row[9].parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns a process that holds the socket with this inode open, and its name as data: show it as [`Foreign`].
#[must_use]
pub fn of_inode(inode: u64) -> Option<(u32, String)> {
    holders(inode).into_iter().next()
}

/// Names the processes that hold the socket with this inode open.
fn owners_of(inode: u64) -> Vec<String> {
    let named = |(id, name): (u32, String)| {
        let own = if id == std::process::id() { ", this one" } else { "" };
        format!("process {id} ({}{own})", Foreign::new(&name))
    };
    holders(inode).into_iter().map(named).collect()
}

/// Lists the processes that hold the socket with this inode open, with their names.
fn holders(inode: u64) -> Vec<(u32, String)> {
    let socket = format!("socket:[{inode}]");
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let mut holders = Vec::new();
    for process in processes.flatten() {
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        let holds = descriptors.flatten().any(|descriptor| {
            fs::read_link(descriptor.path()).is_ok_and(|link| link.as_os_str() == &*socket)
        });
        if holds {
            let name = fs::read(process.path().join("comm")).unwrap_or_default();
            holders.push((id, String::from_utf8_lossy(name.trim_ascii_end()).into_owned()));
        }
    }
    holders
}
