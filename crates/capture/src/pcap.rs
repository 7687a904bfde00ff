//! Classic pcap: a header of 24 bytes, then records. Both byte orders are read, and times in micro- or nanoseconds.

use crate::error::{FILES, Place, TraceError};
use crate::input::Input;
use crate::link_layer::LinkType;
use crate::recording::{Frame, Frames, without_ip};
use pcap_parser::nom::{self, IResult, Needed};
use pcap_parser::{LegacyPcapBlock, PcapError, PcapHeader};
use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header};

/// The most bytes that a capture keeps of a packet (MAXIMUM_SNAPLEN of libpcap): a larger length is a sign of damage.
pub(crate) const MOST_CAPTURED: u32 = 1 << 18;
/// The length of the longest record, with the header of the modified format.
const LONGEST: usize = MOST_CAPTURED as usize + 24;
/// The mask of the link type in a field that also has the length of a frame's checksum.
const LINK_TYPE: u32 = 0xffff;

/// Returns true if a file with these first bytes is a classic capture.
pub(crate) fn begins(first: &[u8]) -> bool {
    let magics: [[u8; 4]; 5] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        // The "modified" format, with eight more bytes for each record.
        [0x34, 0xcd, 0xb2, 0xa1],
    ];
    magics.iter().any(|magic| first.starts_with(magic))
}

type Parse = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

/// Hands the packets of `input` to `recorder`.
pub(crate) fn read(input: &mut Input<'_>, recorder: &mut impl Frames) -> Result<(), TraceError> {
    let Ok((_, header)) = parse_pcap_header(input.see(24)?) else {
        return Err(TraceError::new(Place::Whole, "the capture ends within its header", FILES));
    };
    input.take(24);
    let link_type = LinkType((header.network.0 as u32 & LINK_TYPE) as u16);
    if !link_type.carries_ip() {
        return Err(without_ip(&[link_type]));
    }
    let second = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
    let parse = parser(&header);
    loop {
        let place = Place::Packet(recorder.frames() + 1, input.offset());
        let begun = !input.see(1)?.is_empty();
        let mut wanted = 16;
        let taken = loop {
            let seen = input.see(wanted)?;
            let had = seen.len();
            match parse(seen) {
                Ok((rest, record)) => {
                    frame(&record, second, link_type, place, recorder)?;
                    break had - rest.len();
                }
                // The length of the record does not depend on how much of it has been read.
                Err(nom::Err::Incomplete(Needed::Size(more))) if had + more.get() > LONGEST => {
                    let found = format!("a record of {} bytes: the capture is damaged", had + more.get());
                    return Err(TraceError::new(place, found, "a classic pcap capture"));
                }
                Err(nom::Err::Incomplete(Needed::Size(more))) if had >= wanted => wanted = had + more.get(),
                Err(_) => {
                    if begun {
                        recorder.cut_off(place, input);
                    } else {
                        recorder.ended(input);
                    }
                    return Ok(());
                }
            }
        };
        input.take(taken);
        recorder.passed(input.offset())?;
    }
}

fn parser(header: &PcapHeader) -> Parse {
    if header.is_modified_format() {
        parse_pcap_frame_modified
    } else if header.is_bigendian() {
        parse_pcap_frame_be
    } else {
        parse_pcap_frame
    }
}

/// Hands a record to `recorder`; `second` is the number of units of its fraction in a second.
fn frame(
    record: &LegacyPcapBlock<'_>,
    second: u32,
    link_type: LinkType,
    place: Place,
    recorder: &mut impl Frames,
) -> Result<(), TraceError> {
    let (seconds, fraction, captured) = (record.ts_sec, record.ts_usec, record.caplen);
    if fraction >= second || captured > MOST_CAPTURED {
        let found = format!("a time of {seconds} s and {fraction}/{second}, {captured} bytes captured");
        return Err(TraceError::new(
            place,
            format!("{found}: the capture is damaged"),
            "a classic pcap capture",
        ));
    }
    let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * u64::from(1_000_000_000 / second);
    let original = record.origlen;
    recorder.frame(&Frame { nanos, link_type, interface: 0, data: record.data, original }, place)
}
