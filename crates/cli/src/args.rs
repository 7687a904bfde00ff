//! What can be typed. `args/size.rs` has what `tightlink size` is asked, `args/emulate.rs` what `tightlink emulate` is.

mod emulate;
mod size;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
pub(crate) use emulate::{EmulateOptions, QueueChoice};
use lab::run::record::Engine;
pub(crate) use size::SizeOptions;
use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use transfer::{Existing, Host, WindowChoice};
use units::{Bytes, Rate, Span};

/// Makes the buffers on a TCP path the right size.
///
/// Write a path down once (scenario.toml); theory, packet simulation and the real kernel answer the same question
/// about it.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reads the command line. Help is as wide as the terminal, at most 100 columns; 80 columns without a terminal.
pub(crate) fn parse() -> Arguments {
    let mut command = Arguments::command();
    if !stdout().is_terminal() && std::env::var_os("COLUMNS").is_none() {
        command = command.term_width(80);
    }
    Arguments::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a scenario to start from
    New(NewOptions),
    /// Run a scenario on one engine
    Run(RunOptions),
    /// Run a scenario on every engine that can, side by side, and write a report
    Compare(CompareOptions),
    /// Run every point of a scenario's sweep on all cores, or search for the buffer that is just enough
    Sweep(SweepOptions),
    /// Say which buffer a link needs: by theory, checked by simulation, and by the kernel if asked
    Size(SizeOptions),
    /// Reproduce a published result, check its claims and write a report
    Figure(FigureOptions),
    /// Check the published claims, without a report
    Check(CheckOptions),
    /// List what tightlink knows: figures, controls, queues, engines, metrics
    List(ListOptions),
    /// Say what a key of the scenario file may hold, its default and its meaning
    Keys(KeysOptions),
    /// Size the receive windows of a running program, or of a command it starts, while data comes in
    Tune(TuneOptions),
    /// Run any program behind an emulated tight link
    Emulate(EmulateOptions),
    /// Receive files into a folder: prints the ticket that lets one sender in
    Receive(ReceiveOptions),
    /// Send files and folders to the receiver that printed a ticket; run it again to go on after an interruption
    #[command(override_usage = "tightlink send [OPTIONS] PATH… [TICKET]")]
    Send(SendOptions),
    /// Check files against their BLAKE3 digests: what `receive --digests` or `b3sum` wrote
    Verify(VerifyOptions),
}

/// Changes to a scenario file.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Set a key of the scenario, e.g. --set link.rate=100Mbit/s or --set flow.target.socket_buffer=max
    #[arg(long = "set", short = 's', value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of the random streams (the scenario's own if absent)
    #[arg(long, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The scenario file; "-" reads standard input
    pub(crate) file: PathBuf,
    /// Which engine answers
    #[arg(long, short, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Run each point N times with consecutive seeds: the run with the median goodput is reported, with the spread of all;
    /// every run is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) repeat: u64,
    /// Print the summary as JSON, one object per line and point of the sweep
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The scenario file; "-" reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Measure for the scenario's own duration. Without this and without --engines, every engine measures at most 15 s after
    /// the warm-up, since the kernel runs in real time
    #[arg(long)]
    pub(crate) full: bool,
    /// Check the claims in this file, too, as in tests/claims; exit code 1 says that one failed
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: ReportOptions,
}

/// Where a comparison goes.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Engines to ask, separated by commas (model,sim,live if absent)
    #[arg(long, short, value_enum, value_delimiter = ',')]
    pub(crate) engines: Vec<EngineName>,
    /// Run each point N times with consecutive seeds, and report the run with the median goodput and the spread of all; every
    /// run is kept (default: 1, or the "repeat" of the scenario's figure)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) repeat: Option<u64>,
    /// Print the summaries as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results and the report; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// The report's file (in the results folder if absent)
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SweepOptions {
    /// The scenario file; "-" reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Which engine answers: sim or model
    #[arg(long, short, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    /// Threads (as many as there are cores if absent)
    #[arg(long, short)]
    pub(crate) jobs: Option<usize>,
    /// Search, at every point of the sweep, for the smallest value of --over at which this number of the summary is within its
    /// bound, e.g. --target "utilization>=99%" or --target "loss_rate<=0.1%"; or for the largest, where smaller values of
    /// KEY keep within it, e.g. --target "queueing_delay_s.p95<=10ms"
    #[arg(long, value_name = "METRIC<=BOUND", requires = "over")]
    pub(crate) target: Option<String>,
    /// The key to search over, e.g. link.queue.limit
    #[arg(long, value_name = "KEY", requires = "target")]
    pub(crate) over: Option<String>,
    /// Print one JSON object per point
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results; finished points are reused from it; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FigureOptions {
    /// A figure's id such as sobas:fig1-4; "list" to see them, "all" for every one
    pub(crate) id: String,
    /// Number of seeds that claims are judged by, for a simulated case whose numbers depend on the seed
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) output: ReportOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Only the claims about these papers, such as madison, and figures, such as madison:fig8b
    #[arg(value_name = "PAPER|FIGURE")]
    pub(crate) about: Vec<String>,
    /// Judge claims for these engines, separated by commas
    #[arg(long, short, value_enum, value_delimiter = ',', default_values = ["model", "sim", "live"])]
    pub(crate) engines: Vec<EngineName>,
    /// Number of seeds for a simulated case whose numbers depend on the seed
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) seeds: u64,
    /// First of these seeds (the scenario's own if absent)
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Run the kernel N times at each case, and judge the run with the median goodput where engines are compared (default:
    /// 1, or the "repeat" of the scenario's figure)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) repeat: Option<u64>,
    /// Folder in which finished runs are kept; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Print the verdicts as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// One of `tightlink new list`, or a published figure such as sobas:fig1-4; "first" if absent
    #[arg(value_name = "PRESET")]
    pub(crate) preset: Option<String>,
    /// Write to this new file, and not to standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// What to list; everything if absent
    #[arg(value_enum)]
    pub(crate) what: Option<Listed>,
    /// Print one JSON object per entry
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeysOptions {
    /// The key, e.g. flow.rtt or rtt, or a part of keys, e.g. ack; all keys if absent
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print one JSON object per key
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Published results
    Figures,
    /// Congestion controls
    Controls,
    /// How a window grows at first
    SlowStarts,
    /// What decides on receive windows
    Sizers,
    /// Queue policies
    Queues,
    /// Engines
    Engines,
    /// Numbers of the summary
    Metrics,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiveOptions {
    /// The folder to receive into; made if it is not there. An interrupted session in it is taken up
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Address and port to listen on, e.g. 192.0.2.7:4711 (every address and any free port if absent)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// An address or host name to put into the ticket instead of this machine's own addresses, e.g. that of a router in
    /// front of it
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Vec<Host>,
    /// The receive window: sobas (found while the transfer runs), max, or a size such as 400kB
    #[arg(long, value_name = "WINDOW", default_value = "sobas")]
    pub(crate) window: WindowChoice,
    /// Begin a new session although an earlier one in this folder is not finished: its ticket and what it has of
    /// unfinished files are thrown away
    #[arg(long)]
    pub(crate) new: bool,
    /// What becomes of a file or link whose name is taken by other content
    #[arg(long, value_enum, default_value = "refuse")]
    pub(crate) existing: ExistingName,
    /// Accept whatever the sender announces, without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Accept this much without a question, and no more without one, e.g. 20GB
    #[arg(long, value_name = "SIZE", conflicts_with = "yes")]
    pub(crate) accept: Option<Bytes>,
    /// Keep the sender's permission bits as they are, without the umask
    #[arg(long)]
    pub(crate) preserve_mode: bool,
    /// Store symbolic links that point outside the tree they came with, too
    #[arg(long)]
    pub(crate) outside_links: bool,
    /// For how long the ticket lets a sender in, e.g. 2h
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) expire: Span,
    /// End after this time without a sender, e.g. 10min (if absent when the ticket expires)
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Span>,
    /// Write the ticket to this new file, which only you can read, and not to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) ticket_file: Option<PathBuf>,
    /// Write the BLAKE3 digests of the received files to this new file, for `tightlink verify` or `b3sum --check`
    #[arg(long, value_name = "FILE")]
    pub(crate) digests: Option<PathBuf>,
    /// Say what became of each entry
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write a page about the transfer to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the ticket and, at the end, the summary as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What becomes of an entry whose name is taken. The same content, or the same size and time, counts as there in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExistingName {
    /// It is refused
    Refuse,
    /// It gets a number behind its name
    Rename,
    /// It replaces the one that is there if it is later
    Update,
    /// It replaces the one that is there
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
    /// Files and folders, each of which arrives under its last part's name; and the ticket that `tightlink receive` printed,
    /// unless --ticket-file or $TIGHTLINK_TICKET gives it or it is typed at the terminal, where nobody else sees it. "-"
    /// reads it from standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) words: Vec<PathBuf>,
    /// Read the ticket from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) ticket_file: Option<PathBuf>,
    /// List what would be sent, and send nothing; needs no ticket
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say what became of each entry
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Parallel TCP connections
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) streams: u16,
    /// Congestion control: reno, cubic, bbr or what else this kernel has (its default if absent)
    #[arg(long, value_name = "CONTROL")]
    pub(crate) control: Option<String>,
    /// Send no faster than this, e.g. 200Mbit/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) limit: Option<Rate>,
    /// For how long a connection that broke is tried again, e.g. 1h; 0s: not at all
    #[arg(long, value_name = "TIME", default_value = "10min")]
    pub(crate) retry: Span,
    /// Write a page about the transfer to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Print the summary as JSON; with --dry-run, one object per entry and one of the totals
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The file of digests, as `tightlink receive --digests` and `b3sum` write it
    pub(crate) file: PathBuf,
    /// The folder that its paths are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Tell of files without a fault, too
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print one JSON object per file that is told of, and one of the totals
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneOptions {
    /// The process whose TCP connections, and those of the programs it started, are tuned until it ends or Ctrl-C
    #[arg(long, required_unless_present = "program", conflicts_with = "program", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    /// Only connections with this port at either end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// How the window is sized: sobas, another of `tightlink list sizers`, max, or a size such as 400kB
    #[arg(long, default_value = "sobas", allow_hyphen_values = true)]
    pub(crate) window: String,
    /// The largest window a sizer may ask for
    #[arg(long, value_name = "SIZE", default_value_t = live::tune::USUAL_MAXIMUM, allow_hyphen_values = true)]
    pub(crate) max: Bytes,
    /// Tune nothing: give the windows back that a killed `tightlink tune` has left limited, and end
    #[arg(long, requires = "pid", conflicts_with_all = ["program", "window", "max"])]
    pub(crate) restore: bool,
    /// Print the report as JSON, one object per connection
    #[arg(long)]
    pub(crate) json: bool,
    /// A command to start and to tune, instead of --pid
    #[arg(last = true, value_name = "CMD")]
    pub(crate) program: Vec<String>,
}

/// An engine by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Closed forms and fixed points
    Model,
    /// Packet-level simulation
    Sim,
    /// The real kernel over an emulated path
    Live,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::Model => Self::Model,
            EngineName::Sim => Self::Sim,
            EngineName::Live => Self::Live,
        }
    }
}

/// A seed, or what would be one.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("not a seed; accepted: a whole number from 0 to {}", u64::MAX))
}
