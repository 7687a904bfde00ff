//! Writes first inputs: `seeds FOLDER` makes `FOLDER/TARGET/seed-NNN`, from real scenarios, messages, tickets and packets.

mod sessions;

// Its coverage counters are libFuzzer's.
use libfuzzer_sys as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use transfer::name::Name;
use transfer::wire::Greeting;
use transfer::wire::control::{
    Entry, Finished, Kind, Progress, Report, Stamp, StreamReport, ToReceiver, ToSender, Verdict, FailureKind,
};
use transfer::wire::data::Data;
use transfer::wire::frame::{Framed, append};

/// Where the seeds of a target go.
struct Seeds {
    folder: PathBuf,
    count: usize,
}

impl Seeds {
    fn of(out: &Path, target: &str) -> io::Result<Self> {
        let folder = out.join(target);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, count: 0 })
    }

    fn add(&mut self, seed: impl AsRef<[u8]>) -> io::Result<()> {
        self.count += 1;
        fs::write(self.folder.join(format!("seed-{:03}", self.count)), seed)
    }
}

fn main() -> io::Result<()> {
    let out = PathBuf::from(std::env::args_os().nth(1).expect("seeds FOLDER"));
    fs::create_dir_all(&out)?;
    wire(&out)?;
    sessions::sender_control(&out)?;
    sessions::sender_session(&out)?;
    names(&out)?;
    tickets(&out)?;
    scenarios(&out)?;
    packets(&out)?;
    texts(&out)
}

fn entry(name: &[u8], kind: Kind) -> Entry {
    let name = Name::new(name.to_vec()).expect("a name");
    Entry { name, kind, mode: 0o644, modified: Stamp { seconds: 1_700_000_000, nanos: 5 } }
}

fn to_receiver() -> Vec<ToReceiver> {
    let file = Kind::File { size: 5 << 20, chunk: 20, version: [3; 16] };
    let report = Report { streams: vec![StreamReport::default(); 2], rate_based: true, ..Report::default() };
    vec![
        ToReceiver::Offer { id: 0, entry: entry(b"a/b\xff", file) },
        ToReceiver::Offer { id: 1, entry: entry(b"folder", Kind::Folder) },
        ToReceiver::Offer { id: 1 << 40, entry: entry(b"l", Kind::Link { target: b"../x".to_vec() }) },
        ToReceiver::Totals { entries: 3, bytes: 1 << 33 },
        ToReceiver::Report(report),
        ToReceiver::Complete { offers: 3, failed: 1 },
        ToReceiver::Bye,
        ToReceiver::Abort { reason: "no room".into() },
    ]
}

fn to_sender() -> Vec<ToSender> {
    let rest = Verdict::Rest(vec![(0, [7; 32]), (9, [8; 32])]);
    let progress = Progress { window: Some(1 << 20), phase: "hold".into(), ..Progress::default() };
    vec![
        ToSender::Welcome { token: [1; 16], resumed: true },
        ToSender::Busy("another sender".into()),
        ToSender::Answer { id: 0, verdict: Verdict::Want },
        ToSender::Answer { id: 1, verdict: Verdict::Have },
        ToSender::Answer { id: 2, verdict: rest },
        ToSender::Answer { id: 3, verdict: Verdict::Refused("it is a device".into()) },
        ToSender::Failed { id: 3, reason: "no room".into() },
        ToSender::Progress(progress),
        ToSender::Pace { stream: 1, bps: Some(10_000_000) },
        ToSender::Finished(Finished { entries: 3, bytes: 9, failed: 0 }),
        ToSender::Abort { reason: String::new() },
        ToSender::GivesUp { why: FailureKind::Disk, reason: "full".into() },
    ]
}

fn wire(out: &Path) -> io::Result<()> {
    fn add<M: Framed>(seeds: &mut Seeds, kind: u8, messages: &[M]) -> io::Result<()> {
        let mut all = vec![kind | 4];
        for message in messages {
            let mut frame = Vec::new();
            append(&mut frame, message);
            // The body alone behind one byte of length; in place of the frame's four.
            if let Ok(length) = u8::try_from(frame.len() - 4) {
                seeds.add([&[kind, length], &frame[4..]].concat())?;
            }
            all.extend(frame);
        }
        seeds.add(all)
    }
    let mut seeds = Seeds::of(out, "wire")?;
    let (control, data) =
        (Greeting::Control { version: 1, streams: 4, echo: 9 }, Greeting::Data { token: [1; 16], stream: 3 });
    add(&mut seeds, 0, &[control, data])?;
    add(&mut seeds, 1, &to_receiver())?;
    add(&mut seeds, 2, &to_sender())?;
    let messages = [
        Data::Small { id: 0, length: 9, digest: [1; 32] },
        Data::Piece { id: 1, chunk: 3, offset: 1 << 18, length: 1 << 16 },
        Data::ChunkEnd { id: 1, chunk: 3, digest: [2; 32] },
        Data::FileEnd { id: 1, digest: [3; 32] },
        Data::Gone { id: u64::MAX },
    ];
    add(&mut seeds, 3, &messages)
}

fn names(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "name")?;
    for (name, part) in [
        ("a/b/c.txt", "d"),
        (".tightlink", "session"),
        ("a/.TightLink/b", ".tightlink"),
        ("..", "x"),
        ("a/../b", ".."),
        ("naïve\u{202e}", "\x1b]0;x\x07"),
        ("a//b", ""),
    ] {
        seeds.add([&[name.len() as u8], name.as_bytes(), &[part.len() as u8], part.as_bytes()].concat())?;
    }
    // 255 bytes are the longest part.
    seeds.add([&[255; 256][..], &[254; 256]].concat())
}

fn tickets(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "ticket")?;
    let keys = [7; 32];
    for addresses in
        [&[4, 192, 0, 2, 7][..], &[[&[16][..], &[0x20; 16]].concat(), vec![4, 127, 0, 0, 1]].concat()]
    {
        let count = if addresses.len() > 5 { 2 } else { 1 };
        let content = [&[count, 0x12, 0x34], addresses, &keys].concat();
        seeds.add([&[0], &content[..]].concat())?;
        seeds.add([&[1], tightlink_fuzz::ticket(&content).as_bytes()].concat())?;
    }
    Ok(())
}

/// A model of netem-trace.
const MODEL: &str = "{\"RepeatedBwPatternConfig\":{\"pattern\":[{\"TraceBwConfig\":{\"pattern\":[[\"1ms\",[\"2Mbps\"]]]}},\
                     {\"StaticBwConfig\":{\"bw\":{\"gbps\":1,\"bps\":5},\"duration\":{\"secs\":0,\"nanos\":9}}}],\"count\":0}}";

/// The repository's own scenarios, without comments; each once more with overrides.
fn scenarios(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "scenario")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    for folder in fs::read_dir(root)? {
        for file in fs::read_dir(folder?.path())? {
            let text = fs::read_to_string(file?.path())?;
            let lines: Vec<&str> =
                text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
            seeds.add(lines.join("\n"))?;
            seeds.add([&lines.join("\n"), "flow.0.rtt=30ms", "link.queue.kind=red", "seed=7"].join("\0"))?;
        }
    }
    Ok(())
}

fn packets(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "traces")?;
    seeds.add("\u{3}time,size\n0,1500\n0.001,40\n")?;
    seeds.add("\u{7}# a trace\n\u{feff}time_ms,\"bytes\",x\r\n0, 1500 ,a\n\"2.5\",40,b\n1e3,9,\n")?;
    for (magic, little) in [(0xa1b2_c3d4u32, true), (0xa1b2_3c4d, false)] {
        let word = |value: u32| if little { value.to_le_bytes() } else { value.to_be_bytes() };
        let mut file = vec![5];
        file.extend([magic, 0x0002_0004, 0, 0, 65535, 101].map(word).concat());
        for (seconds, fraction) in [(1, 5), (1, 900), (9, 0)] {
            file.extend([seconds, fraction, 4, 1500].map(word).concat());
            file.extend([0; 4]);
        }
        seeds.add(file)?;
    }
    // The first bytes of each file of the tests that other tools have made, and those that are compressed as they are.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [data, cases] = ["crates/capture/tests/data", "tests/cases/files"].map(|folder| root.join(folder));
    let is_trace =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trace-"));
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&data)?.chain(fs::read_dir(cases)?) {
        files.push(entry?.path());
    }
    for path in files.into_iter().filter(|path| path.starts_with(&data) || is_trace(path)) {
        let bytes = fs::read(&path)?;
        let packed = path.extension().is_some_and(|end| end == "gz" || end == "zst" || end == "lz4");
        let length = if packed { bytes.len() } else { bytes.len().min(590) };
        for direction in [0, 1, 2] {
            seeds.add([&[0xfc | direction][..], &bytes[..length]].concat())?;
        }
    }

    let mut seeds = Seeds::of(out, "over_time")?;
    for text in ["0\n5\n10\n10\n", "# a\ntime_s,rate_mbps\n0,20\n1.5,0\n", "time (ms);x;rate [kbit/s]\n0;a;5\n", MODEL] {
        seeds.add([b"\xfc", text.as_bytes()].concat())?;
    }
    for text in ["time_us,delay_ms\n0,20\n5,1e-3\n", "time_ns\tdelay_s\n0\t0.5\n"] {
        seeds.add([b"\xfd", text.as_bytes()].concat())?;
    }
    seeds.add(b"\xfetime_s,loss (%)\n0,1\n\"2\",100\n")?;
    seeds.add(b"\xff5\n17\n18446744073709551615")?;
    let mut seeds = Seeds::of(out, "segment")?;
    for (gso, packet) in
        [(1u8, tcp(0x45)), (0x81, tcp(0x46)), (4, tcp(0x60)), (5, udp(0x45)), (5, udp(0x60)), (0, tcp(0x45))]
    {
        seeds.add([&[1, 1, gso, 0, 0, 20, 0, 0, 0, 0, 0], &packet[..]].concat())?;
    }
    let mut seeds = Seeds::of(out, "probe")?;
    for kind in 1..=4u8 {
        let mut head = vec![0; 73];
        head[1..5].copy_from_slice(&[b't', b'L', 1, kind]);
        (head[20], head[28 + 6]) = (9, 0);
        if kind == 4 {
            (head[28], head[36], head[44]) = (1, 2, 80);
            head.resize(81, 0);
        }
        seeds.add(head)?;
    }
    // Records of a journal as they are today, and bytes that are none.
    let mut seeds = Seeds::of(out, "journal")?;
    let digest = [5; 32];
    let bodies = [
        b"\x00\x03a/b\x01\xa4\x03\x02\x05".to_vec(),
        b"\x00\x01c\x00\x02\x05".to_vec(),
        [&[1, 1, 2][..], &[6; 16], &[9, 2, 5, 7, 0]].concat(),
        [&[1, 3, 4][..], &[6; 16], &[9, 2, 5, 7, 1, 1, b'd']].concat(),
        [&[2, 1, 7][..], &digest].concat(),
        vec![3, 1],
    ];
    let pieces: Vec<u8> = bodies.iter().flat_map(|body| [&[body.len() as u8], &body[..]].concat()).collect();
    seeds.add([&[0], &pieces[..]].concat())?;
    let log: Vec<u8> = bodies.iter().flat_map(|body| tightlink_fuzz::record(body)).collect();
    seeds.add([&[0x81], &log[..]].concat())
}

/// An IP packet of the version and header length `first` with a TCP segment of 60 bytes.
fn tcp(first: u8) -> Vec<u8> {
    let header = if first >> 4 == 6 { 40 } else { usize::from(first & 15) * 4 };
    let mut packet = vec![0; header + 80];
    (packet[0], packet[if first >> 4 == 6 { 6 } else { 9 }]) = (first, 6);
    (packet[header + 12], packet[header + 13]) = (0x50, 0x99);
    packet
}

/// The same with UDP.
fn udp(first: u8) -> Vec<u8> {
    let mut packet = tcp(first);
    packet[if first >> 4 == 6 { 6 } else { 9 }] = 17;
    packet
}

fn texts(out: &Path) -> io::Result<()> {
    let mut seeds = Seeds::of(out, "quantities")?;
    for text in [
        "20ms",
        " 1.5 s",
        "64KiB",
        "9.7Mbps",
        "0.5%",
        "0.005",
        "1_000kB",
        "2min",
        "18446744073709551615ns",
        "250µs",
    ] {
        seeds.add(text)?;
    }
    let mut seeds = Seeds::of(out, "foreign")?;
    seeds.add("a file")?;
    seeds.add("\x1b]0;owned\x07\r\nsay \"yes\"\u{9b}2J\u{202e}\u{200b}\u{2028}\\ 日本語")?;
    seeds.add(b"a\xff\n\xc3")?;
    seeds.add("ä".repeat(300))
}
