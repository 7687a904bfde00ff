//! Programs that keep a window of their own: the data behind the table of the guide (docs/guide/programs.md), which a
//! test compares with them.

use units::Bytes;

/// A program with a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Program {
    /// The program and its version.
    pub name: &'static str,
    /// The names of its processes.
    pub processes: &'static [&'static str],
    /// The cause of the limit, and the option or constant that sets it.
    pub limit: &'static str,
    /// The data in flight in words.
    pub flight: &'static str,
    /// The same in bytes, if it is always the same.
    pub window: Option<Bytes>,
    /// True if the window is the kernel's receive window, whose size the program's SO_RCVBUF sets.
    pub of_socket: bool,
    /// The goodput that was measured at 200 Mbit/s and 100 ms, Mbit/s; or where else the numbers are from.
    pub measured: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}

/// The share by which the window of a program whose name is known may differ from the measured one, and that of any
/// program.
const NAMED: f64 = 0.2;
const UNNAMED: f64 = 0.05;

const fn window(bytes: u64) -> Option<Bytes> {
    Some(Bytes::new(bytes))
}

/// The programs, in the order of the guide.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "dropbear 2022.83: `dbclient` download, server upload",
        processes: &["dbclient", "dropbear"],
        limit: "the window of an SSH channel",
        flight: "24,576 B",
        window: window(24_576),
        of_socket: false,
        measured: "1.9",
        remedy: "server `-W 10485760`: 183; or OpenSSH",
    },
    Program {
        name: "tnftp 20210827 (`ftp` of Debian 12), FTP and HTTP",
        processes: &["ftp", "tnftp"],
        limit: "SO_RCVBUF of 131,072 set before the connection, which fixes the window's scale",
        flight: "at most 262,140 B",
        window: window(262_140),
        of_socket: true,
        measured: "13.7",
        remedy: "`-x 8388608`: 193; or `curl`: 185",
    },
    Program {
        name: "iperf3 3.12 `-R -w 64K`",
        processes: &["iperf3"],
        limit: "SO_RCVBUF of 65,536 set before the connection",
        flight: "at most 131,070 B",
        window: window(131_070),
        of_socket: true,
        measured: "6.9",
        remedy: "leave `-w` out",
    },
    Program {
        name: "curl 7.88.1 `sftp://` (libssh2 1.10)",
        processes: &[],
        limit: "reads under way: 4 x 102,400 B",
        flight: "0.40 MB",
        window: window(409_600),
        of_socket: false,
        measured: "31",
        remedy: "`sftp` of OpenSSH",
    },
    Program {
        name: "PuTTY 0.78 `pscp`",
        processes: &["pscp"],
        limit: "reads under way",
        flight: "0.43 MB",
        window: window(430_000),
        of_socket: false,
        measured: "34",
        remedy: "`plink` with a pipe",
    },
    Program {
        name: "lftp 4.9.2 `sftp`",
        processes: &["lftp"],
        limit: "16 reads of 32 KiB",
        flight: "0.46 MB",
        window: window(460_000),
        of_socket: false,
        measured: "36",
        remedy: "`set net:connection-limit`, `pget -n 8`",
    },
    Program {
        name: "paramiko 5.1.0, asyncssh 2.24.1 `get`",
        processes: &[],
        limit: "reads under way, and Python",
        flight: "0.9 MB",
        window: None,
        of_socket: false,
        measured: "71, 69",
        remedy: "several files at once",
    },
    Program {
        name: "OpenSSH 9.2p1 `ssh`, `scp`, `sftp`, `rsync -e ssh`",
        processes: &["ssh", "sshd", "scp", "sftp", "sshd-session", "sftp-server"],
        limit: "the window of an SSH channel",
        flight: "2,097,152 B",
        window: window(2_097_152),
        of_socket: false,
        measured: "157",
        remedy: "several connections; HPN-SSH",
    },
    Program {
        name: "PuTTY 0.78 `plink`",
        processes: &["plink"],
        limit: "nothing; slow to start",
        flight: "–",
        window: None,
        of_socket: false,
        measured: "15, 87, 121 after 2, 5, 8 s",
        remedy: "–",
    },
    Program {
        name: "rclone 1.60.1 `sftp`, one file over 250 MiB",
        processes: &[],
        limit: "four connections of 2 MiB",
        flight: "8 MiB",
        window: None,
        of_socket: false,
        measured: "193",
        remedy: "`--multi-thread-streams`",
    },
    Program {
        name: "croc 10.7.0",
        processes: &["croc"],
        limit: "the processor; four connections",
        flight: "–",
        window: None,
        of_socket: false,
        measured: "159",
        remedy: "–",
    },
    Program {
        name: "curl, wget, git, socat, rsync daemon, nc",
        processes: &[],
        limit: "nothing here; at 1 Gbit/s the sender's `tcp_wmem`",
        flight: "2.8 to 3.6 MB",
        window: None,
        of_socket: false,
        measured: "184 to 197",
        remedy: "`sysctl net.ipv4.tcp_wmem`",
    },
    Program {
        name: "uftp 4.10.2",
        processes: &["uftp"],
        limit: "its own rate, `-R 1000` kbit/s",
        flight: "–",
        window: None,
        of_socket: false,
        measured: "1",
        remedy: "`-R`",
    },
    Program {
        name: "`tightlink send`, `--window max`",
        processes: &[],
        limit: "the path",
        flight: "–",
        window: None,
        of_socket: false,
        measured: "175",
        remedy: "–",
    },
    Program {
        name: "HTTP/2 without a larger setting (RFC 9113, 6.9.2)",
        processes: &[],
        limit: "the window of a stream, and that of the connection",
        flight: "65,535 B",
        window: window(65_535),
        of_socket: false,
        measured: "5.2 (computed)",
        remedy: "`SETTINGS_INITIAL_WINDOW_SIZE` and `WINDOW_UPDATE` at the receiver",
    },
];

impl Program {
    /// Returns its row in the table of the guide.
    #[must_use]
    pub fn row(&self) -> String {
        let Self { name, limit, flight, measured, remedy, .. } = self;
        format!("| {name} | {limit} | {flight} | {measured} | {remedy} |")
    }
}

/// Returns the programs that have a window of about this size: the one of the process called `process` if that fits,
/// else all of exactly this size. `of_socket`: the window is the kernel's receive window.
#[must_use]
pub fn programs_with(window: Bytes, of_socket: bool, process: Option<&str>) -> Vec<&'static Program> {
    let alike = |program: &&'static Program, tolerance: f64| {
        let far = |own: Bytes| (window.get() as f64 / own.get() as f64 - 1.0).abs();
        program.of_socket == of_socket && program.window.is_some_and(|own| far(own) <= tolerance)
    };
    let named =
        |program: &&'static Program| process.is_some_and(|process| program.processes.contains(&process));
    match PROGRAMS.iter().filter(|program| alike(program, NAMED)).find(named) {
        Some(program) => vec![program],
        None => PROGRAMS.iter().filter(|program| alike(program, UNNAMED)).collect(),
    }
}
