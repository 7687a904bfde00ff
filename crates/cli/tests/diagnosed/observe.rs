//! The evidence of every observer of a run that `tests/diagnosed/run.py` kept.

use capture::connections::connections;
use estimate::diagnosis::{Evidence, HostSettings, Vantage};
use host::TcpConnection;
use live::watch::replay;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use units::{Bytes, Time};

/// The observers: what each one's file is, and what it is called in the table.
pub const OBSERVERS: [(&str, &str); 6] = [
    ("near.readings.gz", "sender's socket"),
    ("far.readings.gz", "receiver's socket"),
    ("near.pcap.gz", "capture at the sender"),
    ("far.pcap.gz", "capture at the receiver"),
    ("after.pcap.gz", "capture behind the queue"),
    ("before.pcap.gz", "capture in front of the queue"),
];

/// Returns the evidence of an observer; `largest` is the third number of `tcp_rmem` at its end.
pub fn evidence(place: &Path, file: &str, largest: u64) -> Option<Evidence> {
    let path = place.join(file);
    if file.ends_with("readings.gz") {
        let vantage = if file.starts_with("near") { Vantage::SenderSocket } else { Vantage::ReceiverSocket };
        return of_readings(&path, vantage, largest);
    }
    let found = connections(File::open(path).ok()?, |_| ControlFlow::Continue(())).ok()?;
    let directions = found.connections.into_iter().next()?.directions;
    directions.into_iter().filter_map(|one| one.evidence).max_by_key(Evidence::delivered)
}

fn of_readings(path: &Path, vantage: Vantage, largest: u64) -> Option<Evidence> {
    let readings = readings(&Command::new("gzip").arg("-dc").arg(path).output().ok()?.stdout);
    let [least, first, _] = HostSettings::default().receive_memory;
    let settings = HostSettings {
        receive_memory: [least, first, Bytes::new(largest)],
        requested: Bytes::new(4 << 20),
        ..HostSettings::default()
    };
    let cookie = readings.first()?.1.id.cookie();
    let one = readings.into_iter().filter(|(_, connection)| connection.id.cookie() == cookie);
    replay(one, &settings)?.evidence.into_iter().find(|evidence| evidence.vantage == vantage)
}

/// Splits a recording of `tests/diagnosed/readings.py`.
fn readings(mut data: &[u8]) -> Vec<(Time, TcpConnection)> {
    let mut all = Vec::new();
    while let Some((time, rest)) = data.split_first_chunk::<8>() {
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { break };
        let Some((answer, rest)) = rest.split_at_checked(u32::from_ne_bytes(*length) as usize) else { break };
        let at = Time::from_nanos((f64::from_ne_bytes(*time) * 1e9) as u64);
        all.extend(TcpConnection::parse(answer).map(|connection| (at, connection)));
        data = rest;
    }
    all
}
