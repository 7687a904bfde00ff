#!/bin/sh
# pcap-parser reads two valid interface options of pcapng wrongly.
#
# Guess: InterfaceDescriptionBlock has the unit of time and its offset as the file says them.
# Seen with pcap-parser 0.17.0 (crates.io, 2025), capinfos 4.0.17:
#   - if_tsresol with its highest bit, units of a power of two (0x8a: 2^-10 s), has no resolution: ts_resolution() is None;
#   - if_tsoffset of a big-endian file is read as little-endian: 100 s are 7205759403792793600 s.
# capinfos reads both: the packet of this file came at 100.5 s.
# Source: draft-ietf-opsawg-pcapng, 4.2; build_ts_resolution() compares with 63 before it takes the bit away.
# A reader takes both options from `options` itself. Needs cargo, python3 and the network; capinfos if it is there.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'T'
[package]
name = "finding"
version = "0.1.0"
edition = "2021"
[dependencies]
pcap-parser = "=0.17.0"
[workspace]
T
cat >"$folder/src/main.rs" <<'T'
use pcap_parser::{parse_block_be, Block};
fn main() {
    let file = std::fs::read("made.pcapng").unwrap();
    let mut rest = &file[..];
    while let Ok((after, block)) = parse_block_be(rest) {
        if let Block::InterfaceDescription(interface) = block {
            println!("resolution {:?}, offset {}", interface.ts_resolution(), interface.ts_offset());
        }
        rest = after;
    }
}
T
cd "$folder"
python3 - <<'T'
import struct
def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack(">I", len(body) + 12)
    return struct.pack(">I", kind) + length + body + length
def option(code, value):
    return struct.pack(">HH", code, len(value)) + value + b"\0" * (-len(value) % 4)
section = block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1))
options = option(9, b"\x8a") + option(14, struct.pack(">q", 100)) + option(0, b"")
interface = block(1, struct.pack(">HHI", 101, 0, 0) + options)
packet = bytes.fromhex("4500001c0001000040110000c6120001c61200021388138800080000")
record = block(6, struct.pack(">IIIII", 0, 0, 512, len(packet), len(packet)) + packet)
open("made.pcapng", "wb").write(section + interface + record)
T
if command -v capinfos >/dev/null; then
    TZ=UTC capinfos -a -S made.pcapng 2>/dev/null | grep "First packet time"
fi
said=$(cargo run --quiet 2>/dev/null)
echo "$said"
[ "$said" = "resolution None, offset 7205759403792793600" ]
