//! The commands and their options: the words of `--help`. `args/size.rs`, `args/diagnose.rs` and `args/emulate.rs` have
//! the options of the commands of their names, `args/pictures.rs` those for pictures of their charts, `args/files.rs` those of `receive`, `send` and `verify`. `args/tips.rs` has help for
//! unknown options.

mod diagnose;
mod emulate;
mod files;
mod pictures;
mod size;
mod tips;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use diagnose::DiagnoseOptions;
pub(crate) use emulate::{EmulateOptions, EnterOptions, QueueChoice, RateChoice};
pub(crate) use files::{ReceiveOptions, SendOptions, TestDirection, VerifyOptions};
use lab::run::captured::CapturedEnds;
use lab::run::record::Engine;
pub(crate) use pictures::PictureOptions;
pub(crate) use size::SizeOptions;
use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use units::Bytes;

/// The version, and the commit of the sources.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TIGHTLINK_COMMIT"), ")");

/// Makes the buffers on a TCP path the right size.
///
/// Describe a path once, in a scenario file. Theory, packet simulation and the real kernel answer the same question
/// about it.
#[derive(Debug, Parser)]
#[command(version = VERSION, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Returns the commands and options as data.
pub(crate) fn described() -> clap::Command {
    Arguments::command()
}

/// Reads the command line. Help is as wide as the terminal, at most 100 columns; 80 columns without a terminal.
pub(crate) fn parse() -> Arguments {
    let mut command = Arguments::command();
    if !stdout().is_terminal() && std::env::var_os("COLUMNS").is_none() {
        command = command.term_width(80);
    }
    let described = command.clone();
    let read = command.try_get_matches().map_err(|error| emulate::explained(error, described));
    let read = read.and_then(|matches| Arguments::from_arg_matches(&matches));
    read.unwrap_or_else(|error| tips::tipped(error).exit())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a scenario to start from
    New(NewOptions),
    /// Run a scenario on one engine
    Run(RunOptions),
    /// Run a scenario on every engine, side by side, and write a report
    Compare(CompareOptions),
    /// Run every point of a scenario's sweep on all cores, or search for the buffer that meets a target
    Sweep(SweepOptions),
    /// Compute the buffer that a link needs: by theory, checked by simulation, and on request by the kernel
    ///
    /// The least limit meets the target, the recommended one has a margin, and beyond the most only the delay grows.
    Size(SizeOptions),
    /// Reproduce a published result, check its claims and write a report
    Figure(FigureOptions),
    /// Check the published claims, without a report
    Check(CheckOptions),
    /// List the figures, controls, queues, engines and metrics that tightlink knows
    List(ListOptions),
    /// Explain the keys of the scenario file: type, default and meaning
    Keys(KeysOptions),
    /// Find what limits running connections: a window, a buffer, a program or the network
    Diagnose(DiagnoseOptions),
    /// Size the receive windows of a running program, or of a command, while data arrives
    Tune(TuneOptions),
    /// Run any program, or a shell, behind an emulated tight link
    Emulate(EmulateOptions),
    /// Open a shell, or run a program, behind the link of a running `emulate`; or show its queue
    #[command(override_usage = "tightlink enter [OPTIONS] [PID|NAME] [-- <CMD>...]")]
    Enter(EnterOptions),
    /// Receive files into a folder: prints the ticket for one sender
    #[command(
        override_usage = "tightlink receive [OPTIONS] <DIR>\n       tightlink receive --test [OPTIONS]"
    )]
    Receive(ReceiveOptions),
    /// Send files and folders to the receiver that printed a ticket; the same command continues after an interruption
    #[command(
        override_usage = "tightlink send [OPTIONS] PATH… [TICKET]\n       tightlink send --test <TIME> [OPTIONS] [TICKET]"
    )]
    Send(SendOptions),
    /// Check files against their BLAKE3 digests, which `receive --digests` or `b3sum` wrote
    Verify(VerifyOptions),
    /// Print the completions of a shell, e.g. tightlink completions bash
    Completions(CompletionsOptions),
    /// Write the manual and the references that are made from these options
    #[command(hide = true)]
    Docs(DocsOptions),
}

/// Changes to a scenario file.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Set a key of the scenario, e.g. --set link.rate=100Mbit/s or --set flow.target.socket_buffer=max
    #[arg(long = "set", short = 's', value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of the random streams (default: the scenario's)
    #[arg(long, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
}

/// The ends of a simulated path at which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PcapAt {
    Sender,
    Receiver,
    Both,
}

impl From<PcapAt> for CapturedEnds {
    fn from(at: PcapAt) -> Self {
        match at {
            PcapAt::Sender => Self::Sender,
            PcapAt::Receiver => Self::Receiver,
            PcapAt::Both => Self::Both,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// The scenario file; "-" reads standard input
    pub(crate) file: PathBuf,
    /// The engine that answers
    #[arg(long, short, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Run each point N times with consecutive seeds, and report the run with the median goodput and the spread of
    /// all. All runs are kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) repeat: u64,
    /// Print the summary as JSON, one object per line and point of the sweep
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the TCP packets of the simulation to FILE as pcapng, which Wireshark reads
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// The end of the path at which --pcap captures: sender, in front of the queue, or receiver, behind it. With both
    /// the file has two interfaces, which tshark must read one by one
    #[arg(long, value_enum, value_name = "END", default_value = "sender", requires = "pcap")]
    pub(crate) pcap_at: PcapAt,
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
    /// Measure for the scenario's own duration. Without this and without --engines, every engine measures at most 15
    /// s after the warm-up, because the kernel runs in real time
    #[arg(long)]
    pub(crate) full: bool,
    /// Also check the claims in this file, which is written as those in tests/claims; if one fails, the exit code is 1
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: ReportOptions,
}

/// The options of a comparison: engines, and places of its results.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Engines to ask, separated by commas (default: model,sim,live)
    #[arg(long, short, value_enum, value_delimiter = ',')]
    pub(crate) engines: Vec<EngineName>,
    /// Run each point N times with consecutive seeds, and report the run with the median goodput and the spread of
    /// all. All runs are kept (default: 1, or the "repeat" of the scenario's figure)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) repeat: Option<u64>,
    /// Print the summaries as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results and the report; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// The report's file (default: a file in the results folder)
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureOptions,
}

#[derive(Debug, Args)]
pub(crate) struct SweepOptions {
    /// The scenario file; "-" reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// The engine that answers: sim or model
    #[arg(long, short, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    /// Threads (default: one per core)
    #[arg(long, short)]
    pub(crate) jobs: Option<usize>,
    /// Search, at every point of the sweep, for the value of --over at which this number of the summary meets its
    /// bound. The search is for the smallest value with "utilization>=99%" or "loss_rate<=0.1%". With
    /// "queueing_delay_s.p95<=10ms" small values meet the bound, and the search is for the largest
    #[arg(long, value_name = "METRIC<=BOUND", requires = "over")]
    pub(crate) target: Option<String>,
    /// The key to search over, e.g. link.queue.limit
    #[arg(long, value_name = "KEY", requires = "target")]
    pub(crate) over: Option<String>,
    /// Compute the points on a Dask cluster, e.g. --on tcp://host:8786. Its workers and this machine need the Python
    /// package tightlink of this build
    #[arg(long, value_name = "ADDRESS", conflicts_with = "target")]
    pub(crate) on: Option<String>,
    /// Print one JSON object per point
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results; finished points are reused from it; "none" keeps nothing
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct FigureOptions {
    /// The id of a figure, such as sobas:fig1-4; "list" lists them, "all" runs all
    pub(crate) id: String,
    /// Number of seeds by which claims are judged, for a simulated case whose numbers depend on the seed
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) output: ReportOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Judge only the claims about these papers, such as madison, and figures, such as madison:fig8b
    #[arg(value_name = "PAPER|FIGURE")]
    pub(crate) about: Vec<String>,
    /// Judge claims for these engines, separated by commas
    #[arg(long, short, value_enum, value_delimiter = ',', default_values = ["model", "sim", "live"])]
    pub(crate) engines: Vec<EngineName>,
    /// Number of seeds for a simulated case whose numbers depend on the seed
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=scenario::MOST_REPEATS))]
    pub(crate) seeds: u64,
    /// First of these seeds (default: the scenario's)
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Run the kernel N times at each case (default: 1, or the "repeat" of the scenario's figure). Comparisons of
    /// engines judge the run with the median goodput
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
    /// One of `tightlink new list`, or a published figure such as sobas:fig1-4 (default: first)
    #[arg(value_name = "PRESET")]
    pub(crate) preset: Option<String>,
    /// Write to this new file, and not to standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// The kind of entries (default: all kinds)
    #[arg(value_enum)]
    pub(crate) what: Option<ListKind>,
    /// Print one JSON object per entry
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeysOptions {
    /// The key, e.g. flow.rtt or rtt, or a part of keys, e.g. ack (default: all keys)
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print one JSON object per key
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListKind {
    /// Published results
    Figures,
    /// Congestion controls
    Controls,
    /// Slow starts, the first growth of a window
    SlowStarts,
    /// Sizers of receive windows
    Sizers,
    /// Queue policies
    Queues,
    /// Engines
    Engines,
    /// Numbers of the summary
    Metrics,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct DocsOptions {
    /// The document to write
    #[arg(value_enum)]
    pub(crate) what: DocsKind,
    /// The folder of the manual
    #[arg(default_value = "man")]
    pub(crate) folder: PathBuf,
}

/// A document that is made from the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsKind {
    /// A manual page for each command
    Man,
    /// The reference of the command line, as Markdown
    Cli,
    /// The defaults with their reasons, as Markdown
    Defaults,
}

#[derive(Debug, Args)]
pub(crate) struct TuneOptions {
    /// The process whose TCP connections, and those of the programs it started, are tuned until it ends or Ctrl-C
    #[arg(long, required_unless_present = "program", conflicts_with = "program", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    /// Tune only connections with this port at either end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Rule for the window: sobas, another of `tightlink list sizers`, max, or a size such as 400kB
    #[arg(long, default_value = "sobas", allow_hyphen_values = true)]
    pub(crate) window: String,
    /// The largest window a sizer may ask for
    #[arg(long, value_name = "SIZE", default_value_t = live::tune::USUAL_MAXIMUM, allow_hyphen_values = true)]
    pub(crate) max: Bytes,
    /// Remove the limits that a killed `tightlink tune` left behind, and end
    #[arg(long, requires = "pid", conflicts_with_all = ["program", "window", "max"])]
    pub(crate) restore: bool,
    /// Name each phase of the sizer and its reason, with all symbols
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print the report as JSON, one object per connection
    #[arg(long)]
    pub(crate) json: bool,
    /// Show rate, window and RTT of the connections in the terminal; without a terminal, a line each second. The key q
    /// has the effect of Ctrl-C
    #[arg(long, conflicts_with = "restore")]
    pub(crate) live: bool,
    /// With --live and CMD, write CMD's output to this file
    // Without the conflict clap would not ask for CMD, because --pid excludes it.
    #[arg(long, value_name = "FILE", requires_all = ["live", "program"], conflicts_with = "pid")]
    pub(crate) output: Option<PathBuf>,
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

/// Reads a seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("not a seed; accepted: a whole number from 0 to {}", u64::MAX))
}
