#!/bin/sh
# pypcapkit reads a SYN that asks for accurate ECN as one that asks for classic ECN.
#
# Guess: as scapy and dpkt do, it has the flag AE (RFC 9768, 3.1.1), because its constants name AE and both AccECN options.
# Seen with pypcapkit 1.4.1.post2, scapy 2.8.0, dpkt 1.9.8 (PyPI, Python 3.11): SYNs with the flags 0x1c2 (AE CWR ECE SYN) and 0x0c2 (CWR
# ECE SYN) have the same flags and the same `connection`, without Flags.AE. So the highest bit of ACE, the counter of marks in every later
# segment, is lost, too: counts of 4 to 7 read as 0 to 3. scapy says SECN and SEC, dpkt 0x1c2 and 0xc2.
# Source: the parser reads AE as `ns` with the offset of the header, and the object that it returns has no such field.
# A reader takes the lowest bit of byte 12 of the header itself. Needs python3 with venv and the network.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet install 'pypcapkit==1.4.1.post2' 'scapy==2.8.0' 'dpkt==1.9.8'
"$folder/venv/bin/python" - <<'T'
import struct
import dpkt
from pcapkit.const.tcp.flags import Flags
from pcapkit.protocols.transport.tcp import TCP
from scapy.layers.inet import TCP as Scapy

def segment(flags):
    return struct.pack("!HHIIHHHH", 1234, 80, 1, 0, 5 << 12 | flags, 65535, 0, 0)

accurate, classic = segment(0x1C2), segment(0x0C2)
read = [TCP(one, len(one)).info for one in (accurate, classic)]
for one in read:
    print("pypcapkit", one.flags, repr(one.connection))
others = [(str(Scapy(one).flags), hex(dpkt.tcp.TCP(one).flags)) for one in (accurate, classic)]
print("scapy, dpkt", others)
same = read[0].flags == read[1].flags and read[0].connection == read[1].connection
lost = Flags.AE not in read[0].connection
differ = others == [("SECN", "0x1c2"), ("SEC", "0xc2")]
raise SystemExit(0 if same and lost and differ else 1)
T
echo "as described"
