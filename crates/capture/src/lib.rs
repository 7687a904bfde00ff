//! Files of packets recorded elsewhere, read as traces of one direction of a link, or as TCP connections.
//!
//! The entry points are [`read`] and [`connections::connections`]. The bytes come through `input.rs`, decompressed. `pcap.rs`, `pcapng.rs` and `csv.rs`
//! find the packets in them, `link_layer.rs` and `packet.rs` the size of each at the IP layer. `recording.rs` hands
//! them to `order.rs`, `directions.rs` and `segments.rs`. `connections.rs` takes the packets of captures instead.
//! `over_time.rs` reads files that say how a link changes. `written.rs` writes captures. Files are untrusted: no bytes cause a panic, and memory has
//! stated bounds. Files are opened elsewhere.

pub mod connections;
mod csv;
mod directions;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing {
    //! Access for the fuzz targets (`--cfg fuzzing`).

    units::fuzzing_checks!();
}
mod input;
mod link_layer;
mod order;
pub mod over_time;
mod packet;
mod pcap;
mod pcapng;
mod recording;
mod segments;
pub mod written;

pub use directions::{PacketFilter, Prefix};
pub use error::{Place, TraceError};
pub use input::MOST_BYTES;
pub use recording::Recording;
pub use segments::MOST_PACKETS;

use input::Input;
use recording::Recorder;
use std::io::Read;

/// Reads the packets that `wanted` takes: from a capture in pcap or pcapng, recognized by its first bytes, or from CSV.
/// The file may be compressed with gzip, zstd or lz4.
///
/// # Errors
/// The first fault of the file; also if it holds no packets, or both directions of a link.
///
/// ```
/// use tightlink_capture::{PacketFilter, read};
/// let table = "time_ms,size\n0,1500\n2.5,40\n";
/// let recording = read(table.as_bytes(), &PacketFilter::default())?;
/// assert_eq!(recording.trace.len(), 2);
/// # Ok::<(), tightlink_capture::TraceError>(())
/// ```
pub fn read(file: impl Read, wanted: &PacketFilter) -> Result<Recording, TraceError> {
    let mut input = Input::new(file)?;
    let first = input.see(4)?;
    let (is_pcap, is_pcapng) = (pcap::begins(first), pcapng::begins(first));
    let mut recorder = Recorder::new(wanted, is_pcap || is_pcapng);
    if is_pcapng {
        pcapng::read(&mut input, &mut recorder)?;
    } else if is_pcap {
        pcap::read(&mut input, &mut recorder)?;
    } else {
        csv::read(&mut input, &mut recorder)?;
    }
    recorder.finish()
}
