//! The capture of the packets on an emulated path, as pcapng.

use crate::run::captured::CapturedEnds;
use capture::written::{Interface, Writer};
use emu::tap::{CopiedPacket, PacketSink};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use units::Complaint;

/// The interfaces, the near end first.
const INTERFACES: [Interface<'static>; 2] = [
    Interface { name: "near", description: "the near end of the path, where the command runs" },
    Interface { name: "far", description: "the far end of the path, where the server runs" },
];

/// A file that takes copies of packets.
#[derive(Debug)]
pub struct PacketFile {
    writer: Writer<BufWriter<File>>,
    ends: CapturedEnds,
}

impl PacketFile {
    /// Creates the file for the packets at `ends`; the sender's end is the near one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, ends: CapturedEnds) -> Result<Self, Complaint> {
        let begin = || -> io::Result<Self> {
            let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
            let application = concat!("tightlink ", env!("CARGO_PKG_VERSION"));
            let writer = Writer::new(out, application, "packets of an emulated path", ends.of(&INTERFACES))?;
            Ok(Self { writer, ends })
        };
        begin().map_err(|error| unwritable_capture(path, &error))
    }
}

impl PacketSink for PacketFile {
    fn packet(&mut self, packet: &CopiedPacket) -> io::Result<()> {
        let Some(interface) = self.ends.interface(packet.far) else { return Ok(()) };
        self.writer.packet(interface, packet.nanos, packet.bytes(), packet.length)
    }

    fn takes(&self, far: bool) -> bool {
        self.ends.interface(far).is_some()
    }

    fn finish(self: Box<Self>, missed: [u64; 2]) -> io::Result<()> {
        let ends = [(false, missed[0]), (true, missed[1])].into_iter();
        let missed: Vec<u64> = ends.filter(|(far, _)| self.takes(*far)).map(|(_, missed)| missed).collect();
        self.writer.finish(&missed)?.into_inner().map_err(io::Error::from)?.sync_all()
    }
}

/// Returns the error of a capture that cannot be written.
#[must_use]
pub fn unwritable_capture(path: &Path, error: &io::Error) -> Complaint {
    Complaint::new(path.display().to_string(), format!("cannot write the capture: {error}"))
        .help("choose another file with --pcap, or free some room")
}

/// Returns a note on packets that the capture lacks, if it lacks any.
#[must_use]
pub fn uncopied(missed: u64) -> Option<String> {
    (missed > 0).then(|| {
        format!(
            "the capture lacks {missed} packets, because writing was slower than the link; they passed it all the same"
        )
    })
}
