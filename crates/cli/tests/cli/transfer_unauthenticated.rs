//! Strangers at the sender's side: the UDP port on which it echoes probes.

use crate::place::{Place, within};
use crate::transfer::Receiving;
use std::collections::HashSet;
use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

/// The UDP ports that process `pid` has open.
fn udp_ports(pid: u32) -> Vec<u16> {
    let own: HashSet<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let table = |name| fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    let ports = [table("udp"), table("udp6")].concat();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let inode = fields.get(9)?;
        let port = fields.get(1)?.rsplit(':').next()?;
        own.contains(&format!("socket:[{inode}]")).then(|| u16::from_str_radix(port, 16).ok())?
    };
    ports.lines().filter_map(port).collect()
}

#[test]
fn random_datagrams_at_the_probes_port_get_no_answer_and_change_nothing() {
    let place = Place::new();
    let content: Vec<u8> = (0..3_000_000u32).map(|index| (index % 241) as u8).collect();
    place.write("file", &content);
    let receiving = Receiving::start(&place, &["there"]);
    let sending = place.start(&["send", "file", &receiving.ticket, "--limit", "20Mbit/s", "--json"]);
    let mut ports = Vec::new();
    let opened = within(Duration::from_secs(10), || {
        ports = udp_ports(sending.id());
        !ports.is_empty()
    });
    assert!(opened, "the sender has a port for probes");
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut state = 1u32;
    for length in (0..1400).step_by(7) {
        let noise: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        // Some look like a probe at first sight.
        let datagram = if length % 2 == 0 { noise } else { [&b"tL\x01\x01"[..], &noise].concat() };
        for &port in &ports {
            stranger.send_to(&datagram, ("127.0.0.1", port)).unwrap();
        }
    }
    assert!(stranger.recv(&mut [0; 2000]).is_err(), "a stranger got an answer");
    let output = sending.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    receiving.ended().well();
    assert!(fs::read(place.path().join("there/file")).unwrap() == content);
}
