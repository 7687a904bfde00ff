//! The programs that have sockets open: for people only, so every step may fail and leave a vaguer answer.

use crate::clock::now;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;
use units::Foreign;

/// The longest time for which processes are looked at.
const LONGEST: Duration = Duration::from_secs(1);

/// Names the programs that listen on `port` in this thread's network namespace: "process 4711 (nginx)".
#[must_use]
pub fn of_port(port: u16) -> String {
    let mut owners = owners_of(&listening_inodes(port));
    owners.dedup();
    if owners.is_empty() { "a program this user cannot see".to_owned() } else { owners.join(", ") }
}

/// Lists the inodes of the sockets that listen on `port`, IPv4 and IPv6.
fn listening_inodes(port: u16) -> BTreeSet<u64> {
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

/// Returns for each socket with one of these inodes a process that holds it open, and its name as data: show it as
/// [`Foreign`]. All processes are looked at once, for a second at most, so that on a machine with very many of them some
/// sockets may have no process in the result.
#[must_use]
pub fn of_inodes(inodes: &BTreeSet<u64>) -> BTreeMap<u64, (u32, String)> {
    let mut owners = BTreeMap::new();
    holders(inodes, |inode, id, name| {
        owners.entry(inode).or_insert_with(|| (id, name.to_owned()));
        if owners.len() == inodes.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    owners
}

/// Names the processes that hold one of the sockets with these inodes open.
fn owners_of(inodes: &BTreeSet<u64>) -> Vec<String> {
    let mut owners = Vec::new();
    holders(inodes, |_, id, name| {
        let own = if id == std::process::id() { ", this one" } else { "" };
        owners.push(format!("process {id} ({}{own})", Foreign::new(name)));
        ControlFlow::Continue(())
    });
    owners
}

/// Hands each process that holds one of these sockets open to `take`: the inode, the process and its name. Ends when
/// `take` breaks, or after [`LONGEST`].
fn holders(inodes: &BTreeSet<u64>, mut take: impl FnMut(u64, u32, &str) -> ControlFlow<()>) {
    let Ok(processes) = fs::read_dir("/proc") else { return };
    let end = now() + LONGEST;
    for process in processes.flatten() {
        if inodes.is_empty() || now() > end {
            return;
        }
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        let inode = |entry: fs::DirEntry| {
            let link = fs::read_link(entry.path()).ok()?;
            link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        };
        let held: BTreeSet<u64> =
            descriptors.flatten().filter_map(inode).filter(|inode| inodes.contains(inode)).collect();
        if held.is_empty() {
            continue;
        }
        let name = fs::read(process.path().join("comm")).unwrap_or_default();
        let name = String::from_utf8_lossy(name.trim_ascii_end());
        for inode in held {
            if take(inode, id, &name).is_break() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn one_walk_names_the_owners_of_several_sockets() {
        let sockets = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let inode = |socket: &TcpListener| {
            let place = format!("/proc/self/fd/{}", socket.as_raw_fd());
            fs::metadata(place).expect("it is open").ino()
        };
        let inodes: BTreeSet<u64> = sockets.iter().map(inode).collect();
        let owners = of_inodes(&inodes);
        assert_eq!(owners.keys().copied().collect::<BTreeSet<u64>>(), inodes);
        assert!(owners.values().all(|(id, name)| *id == std::process::id() && !name.is_empty()));
        let port = sockets[0].local_addr().expect("bound").port();
        assert!(of_port(port).contains(", this one)"), "{}", of_port(port));
        assert!(of_inodes(&BTreeSet::new()).is_empty());
    }
}
