"""Reads and shifts captures of one data connection, without any library.

A capture of a TUN device has IP packets without a link layer. `read` gives the packets of the data connection.
`between` makes the capture of an observer between both ends from that of an end.
"""

import gzip
import struct

PORT = 5000


def records(data):
    """Yields the time in seconds, the whole record and the packet of each record of a capture."""
    (magic,) = struct.unpack_from("=I", data)
    scale = {0xA1B2C3D4: 1e6, 0xA1B23C4D: 1e9}[magic]
    offset = 24
    while offset + 16 <= len(data) and offset + 16 + struct.unpack_from("=I", data, offset + 8)[0] <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from("=IIII", data, offset)
        yield seconds + fraction / scale, data[offset:offset + 16 + kept], data[offset + 16:offset + 16 + kept]
        offset += 16 + kept


def read(path):
    """Returns the data's packets as (time, payload), and the times of acknowledgements, in order."""
    with gzip.open(path) as file:
        data = file.read()
    sent, acknowledged = [], []
    for at, _, packet in records(data):
        header = (packet[0] & 15) * 4
        length = struct.unpack_from("!H", packet, 2)[0]
        source, destination = struct.unpack_from("!HH", packet, header)
        payload = length - header - (packet[header + 12] >> 4) * 4
        if destination == PORT and payload > 0:
            sent.append((at, payload))
        elif source == PORT:
            acknowledged.append(at)
    return sent, acknowledged


def between(path, out, data_shift, other_shift):
    """Writes the capture `path` with packets to the receiver moved by `data_shift` seconds, and those back by
    `other_shift`."""
    with gzip.open(path) as file:
        data = file.read()
    moved = []
    for at, record, packet in records(data):
        header = (packet[0] & 15) * 4
        (destination,) = struct.unpack_from("!H", packet, header + 2)
        micros = round((at + (data_shift if destination == PORT else other_shift)) * 1e6)
        moved.append((micros, struct.pack("=II", micros // 10**6, micros % 10**6) + record[8:]))
    moved.sort(key=lambda record: record[0])
    with gzip.open(out, "wb", 4) as file:
        file.write(data[:24])
        for _, record in moved:
            file.write(record)
