#!/usr/bin/env python3
"""Makes captures of one traffic, 15 000 UDP packets of 52 bytes of IP a second for 6 s, with the headers of several link layers."""
import struct

ETHERNET = bytes(12)
IPV4 = b"\x08\x00"
LAYERS = {
    "raw": (101, b""),
    "ethernet": (1, ETHERNET + IPV4),
    "vlan": (1, ETHERNET + b"\x81\x00\x00\x05" + IPV4),
    "qinq": (1, ETHERNET + b"\x88\xa8\x00\x07\x81\x00\x00\x05" + IPV4),
    # Version 1, type 1, code 0, session 1, length of PPP's 2 bytes and the packet, protocol IPv4.
    "pppoe": (1, ETHERNET + b"\x88\x64\x11\x00\x00\x01" + struct.pack(">H", 54) + b"\x00\x21"),
    "mpls": (1, ETHERNET + b"\x88\x47" + struct.pack(">I", 16 << 12 | 1 << 8 | 64)),
    "sll": (113, b"\x00\x00\x00\x01\x00\x06" + bytes(8) + IPV4),
    "usb": (220, bytes(64)),
}
packet = struct.pack(">BBHHHBBH4s4sHHHH", 0x45, 0, 52, 0, 0, 64, 17, 0, bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2]), 4000, 4001, 32, 0)
packet += bytes(52 - len(packet))
for name, (link_type, header) in LAYERS.items():
    out = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type))
    frame = header + packet
    for i in range(90_000):
        at = i * 1_000_000 // 15_000
        out += struct.pack("<IIII", 1_700_000_000 + at // 1_000_000, at % 1_000_000, len(frame), len(frame)) + frame
    with open(f"{name}.pcap", "wb") as file:
        file.write(out)
