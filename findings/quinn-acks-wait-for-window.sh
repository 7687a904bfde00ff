#!/bin/bash
# An end of quinn-proto 0.11.19 that has data to send and no room in its congestion window sends no acknowledgements
# either, until the window opens. RFC 9002 (7) leaves packets of acknowledgements alone out of congestion control, and
# RFC 9000 (13.2.1) lets one wait for max_ack_delay, 25 ms, at most. The other end takes the wait for round-trip time.
#
# Guess: acknowledged within 100 to 125 ms on a path of 100 ms, whether there are data to send or not. Seen, in virtual
# time, 2026-11-28: without data 100 ms in the median and 110 ms at most; with data and a window of 4000 bytes 140 ms in
# the median and 190 ms at most. So measure a path with quinn in one direction at a time, or by the end without data, as
# tightlink does. Needs Rust and about two minutes; nothing leaves the process.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "acks"
version = "0.0.0"
edition = "2024"
[dependencies]
bytes = "=1.12.1"
quinn-proto = { version = "=0.11.19", default-features = false, features = ["rustls-ring"] }
rustls = { version = "=0.23.46", default-features = false, features = ["ring", "std"] }
rcgen = "=0.14.10"
[workspace]
TOML
cat > src/main.rs <<'RUST'
use quinn_proto::{congestion::*, *};
use std::{any::Any, collections::VecDeque, net::SocketAddr, sync::{Arc, Mutex}, time::{Duration, Instant}};
type Waits = Arc<Mutex<Vec<u128>>>;
/// A constant window that notes the time from each packet's departure to its acknowledgement.
#[derive(Clone)]
struct Constant { window: u64, waits: Waits }
impl ControllerFactory for Constant { fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> { Box::new((*self).clone()) } }
impl Controller for Constant {
    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, _: bool, _: &RttEstimator) { self.waits.lock().unwrap().push((now - sent).as_millis()); }
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 { self.window }
    fn clone_box(&self) -> Box<dyn Controller> { Box::new(self.clone()) }
    fn initial_window(&self) -> u64 { self.window }
    fn into_any(self: Box<Self>) -> Box<dyn Any> { self }
}
fn transport(window: u64) -> (Arc<TransportConfig>, Waits) {
    let (mut config, waits) = (TransportConfig::default(), Waits::default());
    config.congestion_controller_factory(Arc::new(Constant { window, waits: waits.clone() })).mtu_discovery_config(None);
    (Arc::new(config), waits)
}
/// The server sends a packet or two in each 10 ms. The client has `data` to send, through a window of three packets.
fn run(data: bool) -> Vec<u128> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let ((near, _), (far, waits)) = (transport(4000), transport(60_000));
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client.transport_config(near);
    let mut server = ServerConfig::with_single_cert(vec![certificate], key.into()).unwrap();
    server.transport_config(far);
    let endpoint = |server| Endpoint::new(Arc::new(EndpointConfig::default()), server, false, None);
    let (mut ends, begin) = ([endpoint(None), endpoint(Some(Arc::new(server)))], Instant::now());
    let at: [SocketAddr; 2] = ["10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap()];
    let first = ends[0].connect(begin, client, at[1], "localhost").unwrap();
    let mut connections = [Some(first), None];
    let mut wires: [VecDeque<(Instant, Vec<u8>)>; 2] = Default::default();
    let mut streams = [None, None];
    for tick in 0..60_000 {
        let now = begin + Duration::from_micros(100) * tick; // 6 s in steps of 0.1 ms; 50 ms each way
        for me in 0..2 {
            while wires[me].front().is_some_and(|(due, _)| *due <= now) {
                let (_, data) = wires[me].pop_front().unwrap();
                match ends[me].handle(now, at[1 - me], None, None, data[..].into(), &mut Vec::new()) {
                    Some(DatagramEvent::ConnectionEvent(_, event)) => connections[me].as_mut().unwrap().1.handle_event(event),
                    Some(DatagramEvent::NewConnection(incoming)) => connections[me] = Some(ends[me].accept(incoming, now, &mut Vec::new(), None).unwrap()),
                    _ => {}
                }
            }
            let Some((handle, connection)) = &mut connections[me] else { continue };
            if connection.poll_timeout().is_some_and(|due| due <= now) { connection.handle_timeout(now); }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = ends[me].handle_event(*handle, event) { connection.handle_event(event); }
            }
            while let Some(event) = connection.poll() {
                match event {
                    Event::Connected => streams[me] = connection.streams().open(Dir::Uni),
                    Event::Stream(StreamEvent::Opened { dir }) => { connection.streams().accept(dir); }
                    Event::ConnectionLost { reason } => panic!("{reason}"),
                    _ => {}
                }
            }
            if let Some(stream) = streams[me] {
                if me == 0 && data { while connection.send_stream(stream).write(&[0; 4096]).is_ok() {} }
                if me == 1 && tick % 100 == 0 { let _ = connection.send_stream(stream).write(&[0; 1000]); }
            }
            let mut buffer = Vec::new();
            while connection.poll_transmit(now, 1, &mut buffer).is_some() {
                wires[1 - me].push_back((now + Duration::from_millis(50), std::mem::take(&mut buffer)));
            }
        }
    }
    let mut waits = waits.lock().unwrap().split_off(20);
    waits.sort_unstable();
    waits
}
fn main() {
    for data in [false, true] {
        let waits = run(data);
        println!("data to send: {data}; acknowledged {} packets after {} ms in the median, {} ms at most", waits.len(), waits[waits.len() / 2], waits[waits.len() - 1]);
    }
}
RUST
cargo run --quiet --release | tee seen
without=$(sed -n '1s/.*median, \([0-9]*\) ms at most/\1/p' seen)
with=$(sed -n '2s/.*median, \([0-9]*\) ms at most/\1/p' seen)
[ "$without" -le 130 ] && [ "$with" -ge 170 ] || { echo "acknowledgements no longer wait for the window"; exit 1; }
