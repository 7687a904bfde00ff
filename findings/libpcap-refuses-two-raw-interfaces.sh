#!/bin/sh
# libpcap refuses a pcapng file with two interfaces of raw IP, and says that their equal types differ.
#
# Guess: as its error says, libpcap reads a file whose interfaces all have the type of the first one, whichever that is.
# Seen with tcpdump 4.99.3, libpcap 1.10.3 (Debian 12), tshark 4.0.17:
#   - two interfaces of LINKTYPE_RAW (101): "an interface has a type 101
#     different from the type of the first interface"; one such interface is read;
#   - two of LINKTYPE_IPV4 (228) or of Ethernet (1) are read;
#   - tshark reads all of them.
# The type of the first interface is converted to the platform's DLT (12 for raw IP), that of the second is not, so that all
# types whose two numbers differ are refused. tcptrace 6.6.7 then reports 0 packets and exits with 0.
# A writer of several interfaces takes LINKTYPE_IPV4. Needs apt-get, python3 and the network; tshark if it is there.
# Exit 0: as described; 1: it has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -o APT::Sandbox::User=root -qq download tcpdump=4.99.3-1 libpcap0.8=1.10.3-1
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$PWD/root" -name 'libpcap.so.0.8')")
export LD_LIBRARY_PATH
root/usr/bin/tcpdump --version 2>&1 | head -n 2
python3 - <<'T'
import struct
def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
ip = bytes.fromhex("450000140001000040fd0000c0000201c0000202")
frames = {1: bytes(12) + b"\x08\0" + ip, 101: ip, 228: ip}
for kind, frame in frames.items():
    for count in 1, 2:
        out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        out += block(1, struct.pack("<HHI", kind, 0, 0)) * count
        for place in range(count):
            out += block(6, struct.pack("<IIIII", place, 0, place, len(frame), len(frame)) + frame)
        open(f"{count}-of-{kind}.pcapng", "wb").write(out)
T
said=
for file in 1-of-1 2-of-1 1-of-101 2-of-101 1-of-228 2-of-228; do
    read_packets=$(root/usr/bin/tcpdump -nr $file.pcapng 2>err.txt | grep -c 'IP 192.0.2.1 > 192.0.2.2' || true)
    also=
    if command -v tshark >/dev/null; then also=", tshark $(tshark -r $file.pcapng 2>/dev/null | wc -l)"; fi
    echo "$file: tcpdump reads $read_packets$also; $(grep -o 'an interface.*' err.txt || true)"
    said="$said $file=$read_packets"
done
[ "$said" = " 1-of-1=1 2-of-1=2 1-of-101=1 2-of-101=0 1-of-228=1 2-of-228=2" ]
