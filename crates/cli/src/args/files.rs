//! The options of `tightlink receive`, `send` and `verify`.

use clap::{Args, ValueEnum};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use transfer::{Existing, Host, WindowChoice};
use units::{Bytes, Complaint, Rate, Span};

/// The options of `receive` that a test has no use for.
const FOR_FILES: [&str; 10] = [
    "folder",
    "window",
    "new",
    "existing",
    "yes",
    "preserve_mode",
    "outside_links",
    "digests",
    "verbose",
    "report",
];

#[derive(Debug, Args)]
pub(crate) struct ReceiveOptions {
    /// The folder to receive into; it is made if it does not exist. A session that was interrupted in this folder
    /// continues
    #[arg(value_name = "DIR", required_unless_present = "test")]
    pub(crate) folder: Option<PathBuf>,
    /// Be the far end of `tightlink send --test`, which tests the path. Nothing is stored. The ticket is good for any
    /// number of tests. With --accept, each test may bring so many bytes in each direction
    #[arg(long, conflicts_with_all = FOR_FILES)]
    pub(crate) test: bool,
    /// Address and port to listen on, e.g. 192.0.2.7:4711 (default: every address and a free port)
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = socket_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// An address or host name for the ticket in place of this machine's own addresses, e.g. that of its router
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Vec<Host>,
    /// The receive window: sobas (found while the transfer runs), max, or a size such as 400kB
    #[arg(long, value_name = "WINDOW", default_value = "sobas")]
    pub(crate) window: WindowChoice,
    /// Begin a new session although an earlier one in this folder is not finished. Its ticket ends, and its
    /// unfinished files are deleted
    #[arg(long)]
    pub(crate) new: bool,
    /// Treatment of a file or link if its name belongs to other content already
    #[arg(long, value_enum, default_value = "refuse")]
    pub(crate) existing: ExistingName,
    /// Accept everything that the sender announces, without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Accept up to this size without a question, e.g. 20GB
    #[arg(long, value_name = "SIZE", conflicts_with = "yes")]
    pub(crate) accept: Option<Bytes>,
    /// Keep the sender's permission bits as they are, without the umask
    #[arg(long)]
    pub(crate) preserve_mode: bool,
    /// Also store symbolic links that point outside the tree in which they came
    #[arg(long)]
    pub(crate) outside_links: bool,
    /// Time for which the ticket is valid, e.g. 2h
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) expire: Span,
    /// End after this time without a sender, e.g. 10min (default: when the ticket expires)
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Span>,
    /// Write the ticket to this new file, which only you can read, and not to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) ticket_file: Option<PathBuf>,
    /// Write the BLAKE3 digests of the received files to this new file, for `tightlink verify` or `b3sum --check`
    #[arg(long, value_name = "FILE")]
    pub(crate) digests: Option<PathBuf>,
    /// Name each entry and its result
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write a page about the transfer to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the ticket and, at the end, the summary as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The treatment of an entry whose name is taken. An entry with the same content, or the same size and time, counts as
/// received in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExistingName {
    /// Refuse it
    Refuse,
    /// Add a number to its name
    Rename,
    /// Replace the existing file if that is older
    Update,
    /// Replace the existing file
    Replace,
}

impl From<ExistingName> for Existing {
    fn from(name: ExistingName) -> Self {
        match name {
            ExistingName::Refuse => Self::Refuse,
            ExistingName::Rename => Self::Rename,
            ExistingName::Update => Self::Update,
            ExistingName::Replace => Self::Replace,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SendOptions {
    /// Files and folders, and the ticket that `tightlink receive` printed. Each path arrives under the name of its
    /// last part. "-" reads the ticket from standard input. Without a ticket here, in --ticket-file or in
    /// $TIGHTLINK_TICKET, the program asks for it
    #[arg(value_name = "PATH", required_unless_present = "test")]
    pub(crate) words: Vec<PathBuf>,
    /// Send nothing, and test the path to `tightlink receive --test` with loads of this time, e.g. 10s. Prints capacity,
    /// goodput, round trips, the buffer at the bottleneck, loss, responsiveness under load, and what limits each load
    #[arg(long, value_name = "TIME", conflicts_with_all = ["dry_run", "limit", "recursive", "retry"])]
    pub(crate) test: Option<Span>,
    /// The directions that are tested: up is to the receiver, down from it; with both, each alone and then both at once
    #[arg(long, value_enum, default_value = "both", requires = "test")]
    pub(crate) direction: TestDirection,
    /// Accepted for habit: folders are always sent whole
    #[arg(short = 'r', long, hide = true)]
    pub(crate) recursive: bool,
    /// Read the ticket from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) ticket_file: Option<PathBuf>,
    /// List the entries that would be sent, and send nothing; this needs no ticket
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Name each entry and its result
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Parallel TCP connections (default: one, and up to 16 where the buffers of one do not fill a long path)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) streams: Option<u16>,
    /// Congestion control: reno, cubic, bbr or another of this kernel (default: the kernel's)
    #[arg(long, value_name = "CONTROL")]
    pub(crate) control: Option<String>,
    /// Send no faster than this, e.g. 200Mbit/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) limit: Option<Rate>,
    /// Time for which a broken connection is tried again, e.g. 1h; with 0s it is not tried again
    #[arg(long, value_name = "TIME", default_value = "10min")]
    pub(crate) retry: Span,
    /// Write a page about the transfer, or the test, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the summary as JSON; with --dry-run, one object per entry and one of the totals
    #[arg(long)]
    pub(crate) json: bool,
}

/// The directions of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestDirection {
    /// To the receiver
    Up,
    /// From the receiver
    Down,
    /// To the receiver, then from it, then both at once
    Both,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The file of digests, as `tightlink receive --digests` and `b3sum` write it
    pub(crate) file: PathBuf,
    /// The folder that its paths are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Also name the files that match
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print one JSON object per file that is named, and one of the totals
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads an address with a port.
fn socket_address(text: &str) -> Result<SocketAddr, Complaint> {
    text.parse().map_err(|_| {
        let example = |address: IpAddr| SocketAddr::new(address, 4711);
        let bare = text.trim_matches(['[', ']']).parse::<IpAddr>();
        let found = if bare.is_ok() { "an address without a port" } else { "not an address and a port" };
        let example = bare.map_or_else(|_| "192.0.2.7:4711".to_owned(), |address| example(address).to_string());
        Complaint::new("", found)
            .accepted("an IP address and a port, such as 192.0.2.7:4711 or [2001:db8::1]:4711; port 0 takes a free one")
            .help(format!("write {example}"))
    })
}
