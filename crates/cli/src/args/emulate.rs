//! The options of `tightlink emulate`.

use super::{Changes, PictureOptions};
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use lab::run::captured::CapturedEnds;
use lab::run::resolve::is_policy;
use lab::study::size::Ends;
use scenario::Spread;
use scenario::spec::Outage;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// The options that only a link without a scenario has.
const OWN: [&str; 10] =
    ["rate", "rate_back", "delay", "queue", "shaper", "shaper_queue", "loss", "outage", "cross", "mtu"];

/// The ends of an emulated path at which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PcapAtEnd {
    Near,
    Far,
    Both,
}

impl From<PcapAtEnd> for CapturedEnds {
    fn from(at: PcapAtEnd) -> Self {
        match at {
            PcapAtEnd::Near => Self::Sender,
            PcapAtEnd::Far => Self::Receiver,
            PcapAtEnd::Both => Self::Both,
        }
    }
}

/// The options of `tightlink enter`.
#[derive(Debug, Args)]
pub(crate) struct EnterOptions {
    /// The process of `tightlink emulate`, or the name that it got by --name (default: the only one that runs)
    #[arg(value_name = "PID|NAME")]
    pub(crate) path: Option<String>,
    /// Enter the far end, where --server runs, and not the near end
    #[arg(long, conflicts_with = "live")]
    pub(crate) far: bool,
    /// Show rate, queue and RTT of the path; the key q ends
    #[arg(long, conflicts_with = "program")]
    pub(crate) live: bool,
    /// Under sudo, run the program as root and not as the user who called sudo
    #[arg(long, conflicts_with = "live")]
    pub(crate) as_root: bool,
    /// The program to run there, and its arguments (default: your shell)
    #[arg(last = true, value_name = "CMD")]
    pub(crate) program: Vec<String>,
}

#[derive(Debug, Args)]
#[command(override_usage = "tightlink emulate --rate <RATE> [OPTIONS] [-- <CMD>...]\n       \
                            tightlink emulate <SCENARIO.toml> [OPTIONS] [-- <CMD>...]")]
pub(crate) struct EmulateOptions {
    /// A scenario whose link is emulated, in place of --rate and its companions; "-" reads standard input. CMD
    /// replaces the scenario's flows
    #[arg(value_name = "SCENARIO.toml", conflicts_with_all = OWN, value_parser = scenario_file)]
    pub(crate) file: Option<PathBuf>,
    /// Capacity of the link, in each direction, e.g. 100Mbit/s; or a file with a rate over time: a trace of mahimahi,
    /// or CSV with a header such as time_s,rate_mbps
    #[arg(long, required_unless_present = "file", allow_hyphen_values = true)]
    pub(crate) rate: Option<RateChoice>,
    /// Capacity of the direction back to CMD if it is another one, or a file
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, conflicts_with = "one_way")]
    pub(crate) rate_back: Option<RateChoice>,
    /// One-way delay, e.g. 20ms; the base RTT is twice that
    #[arg(long, default_value = "0s", allow_hyphen_values = true)]
    pub(crate) delay: Span,
    /// The queue: a limit such as 1bdp, 250packets, 512kB or 40ms, a policy of `tightlink list queues`, or both.
    /// Examples: "codel, 1s"; "red, 512kB, max_probability=5%" (default: drop-tail with 1bdp, or with 50ms without a
    /// --delay, and at least 10packets). Another policy without a limit has the larger of 1000packets and 1bdp
    #[arg(long, short, allow_hyphen_values = true)]
    pub(crate) queue: Option<QueueChoice>,
    /// A shaper in front of the queue, in each direction: a rate, or a share of the link's such as 95%
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) shaper: Option<ShaperChoice>,
    /// The shaper's queue, written as --queue, e.g. "fq-codel, 1000packets" (default: cake with 4 MiB)
    #[arg(long, value_name = "QUEUE", requires = "shaper", allow_hyphen_values = true)]
    pub(crate) shaper_queue: Option<QueueChoice>,
    /// Share of packets lost at random, in each direction, e.g. 0.1%
    #[arg(long, default_value = "0%", allow_hyphen_values = true)]
    pub(crate) loss: Fraction,
    /// Outages, in which nothing leaves the link, in each direction: their length and period, e.g. "80ms, every=15s".
    /// Lengths may be drawn from a range, and the first may come at another time than the others: "20ms..120ms,
    /// every=15s, first=12s"
    #[arg(long, value_name = "OUTAGE", allow_hyphen_values = true, conflicts_with = "rate_back")]
    pub(crate) outage: Option<OutageChoice>,
    /// Unresponsive cross traffic through the queue of CMD's data (constant rate, 1500-byte packets), e.g. 20Mbit/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) cross: Option<Rate>,
    /// Congestion control of the programs that choose none, e.g. cubic (default: this machine's)
    #[arg(long, value_name = "NAME")]
    pub(crate) control: Option<String>,
    /// Limit only the direction in which CMD sends: the other one has a delay, but neither a rate nor a queue
    #[arg(long)]
    pub(crate) one_way: bool,
    /// Accepted for older scripts: both directions are limited unless --one-way is given
    #[arg(long, hide = true, conflicts_with = "one_way")]
    pub(crate) both: bool,
    /// Largest packet
    #[arg(long, value_name = "SIZE", default_value = "1500B", allow_hyphen_values = true)]
    pub(crate) mtu: Bytes,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// A program to run at the far end first, e.g. --server "iperf3 -s"
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
    /// Under sudo, run both programs as root and not as the user who called sudo
    #[arg(long)]
    pub(crate) as_root: bool,
    /// A name by which `tightlink enter` finds this path
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// Show rate, queue and RTT in the terminal while CMD runs, and CMD's output below; without a terminal, a line each
    /// second. The key q sends CMD the signal of Ctrl-C
    #[arg(long, requires = "program")]
    pub(crate) live: bool,
    /// With --live, write CMD's output to this file
    #[arg(long, value_name = "FILE", requires = "live")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page to this file: the queueing delay, rate and drops of each direction against time
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write all packets to FILE as pcapng, which Wireshark reads
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// The end of the path at which --pcap captures: near, where CMD runs, or far, where the server runs. With both the
    /// file has two interfaces, which tshark must read one by one
    #[arg(long, value_enum, value_name = "END", default_value = "near", requires = "pcap")]
    pub(crate) pcap_at: PcapAtEnd,
    #[command(flatten)]
    pub(crate) pictures: PictureOptions,
    /// Print the result of each direction as one JSON object, on the last line of standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The program to run behind the link, and its arguments (default: your shell). The far end's address is in
    /// $TIGHTLINK_FAR, which a shell behind the link expands: sh -c 'curl http://$TIGHTLINK_FAR:8000/'
    #[arg(last = true, value_name = "CMD")]
    pub(crate) program: Vec<String>,
}

/// Reads the name of a path. It cannot be taken for the number of a process.
fn name(text: &str) -> Result<String, String> {
    let letters = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if letters
        && (1..=40).contains(&text.len())
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic())
    {
        Ok(text.to_owned())
    } else {
        Err("not a name; accepted: up to 40 letters, digits, -, _ and ., of which the first is a letter"
            .into())
    }
}

/// Reads the path of a scenario file. A word that is not a file is mostly the command, or a rate.
fn scenario_file(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    if text == "-" || file.exists() || file.extension().is_some_and(|end| end == "toml") {
        Ok(file)
    } else if text.parse::<Rate>().is_ok() {
        Err(format!("no such file; a rate is written --rate {text}"))
    } else {
        Err(format!("no such file; {}", before(&[text.to_owned()])))
    }
}

/// A capacity as typed.
#[derive(Clone, Debug)]
pub(crate) enum RateChoice {
    /// The same throughout.
    Constant(Rate),
    /// A file with the rate over time.
    File(String),
}

impl FromStr for RateChoice {
    type Err = String;

    /// Reads a rate, or the name of a file. A text that looks like neither is taken for a rate.
    fn from_str(text: &str) -> Result<Self, String> {
        let file = Path::new(text);
        let named =
            file.extension().is_some_and(|end| end.to_string_lossy().starts_with(char::is_alphabetic));
        match text.parse::<Rate>() {
            Ok(rate) if rate == Rate::ZERO => {
                Err("nothing would pass; write a rate such as 100Mbit/s".into())
            }
            Ok(rate) => Ok(Self::Constant(rate)),
            Err(_) if named || file.exists() => Ok(Self::File(text.to_owned())),
            Err(error) => Err(format!("{error}; or a file with a rate over time")),
        }
    }
}

/// Writes the rate of a link as a scenario has it.
impl scenario::Written for RateChoice {
    fn written(&self) -> String {
        match self {
            Self::Constant(rate) => rate.written(),
            Self::File(file) => format!("{{ trace = {} }}", file.written()),
        }
    }
}

/// Returns the help for a command line that names its command without `--`.
fn before(command: &[String]) -> String {
    format!("put -- before the command: tightlink emulate --rate 100Mbit/s -- {}", command.join(" "))
}

/// Returns the same error, or a plainer one if the command of `emulate` has no `--` before it. In that case the
/// command's options were taken for those of tightlink.
pub(super) fn explained(error: clap::Error, mut tightlink: clap::Command) -> clap::Error {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let odd = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument);
    if !odd || words.first().is_none_or(|word| word != "emulate") || words.iter().any(|word| word == "--") {
        return error;
    }
    let Some(emulate) = tightlink.find_subcommand_mut("emulate") else { return error };
    // The command begins at the first word that is neither an option nor the value of one.
    let mut position = 1;
    while let Some(word) = words.get(position).filter(|word| word.starts_with('-') && *word != "-") {
        let name = word.trim_start_matches('-');
        let takes = |arg: &clap::Arg| {
            let known = arg.get_long() == Some(name)
                || arg.get_short().is_some_and(|short| name == short.to_string());
            known && arg.get_action().takes_values()
        };
        position += 1 + usize::from(emulate.get_arguments().any(takes));
    }
    match words.get(position..) {
        Some(command @ [first, ..]) if !Path::new(first).exists() => {
            emulate.error(error.kind(), before(command))
        }
        _ => error,
    }
}

/// The rate of a shaper as typed: a rate, or a share of the link's.
#[derive(Clone, Debug)]
pub(crate) struct ShaperChoice(pub(crate) String);

impl FromStr for ShaperChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let some = match text.trim_end().ends_with('%') {
            true => text.parse::<Fraction>().map(|share| share > Fraction::ZERO),
            false => text.parse::<Rate>().map(|rate| rate > Rate::ZERO),
        };
        match some {
            Ok(true) => Ok(Self(text.to_owned())),
            Ok(false) => Err("nothing would pass; write a share such as 95%, or a rate".into()),
            Err(error) => Err(format!("{error}; or a share of the link's rate such as 95%")),
        }
    }
}

/// Outages as typed in one word: "80ms, every=15s", or "20ms..120ms, every=15s, first=12s".
#[derive(Clone, Debug)]
pub(crate) struct OutageChoice(pub(crate) Box<Outage>);

impl FromStr for OutageChoice {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        const ACCEPTED: &str = "a length and a period, such as \"80ms, every=15s\" or \
                                \"20ms..120ms, every=15s, first=12s\"";
        let wrong = |found: String| Complaint::new("", found).accepted(ACCEPTED);
        let (mut length, mut every, mut first) = (None, None, None);
        for part in text.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').unwrap_or(("length", part));
            let (key, value) = (key.trim(), value.trim());
            let place = match key {
                "length" => &mut length,
                "every" => &mut every,
                "first" => &mut first,
                _ => return Err(wrong(format!("an unknown key, \"{key}\""))),
            };
            let times: Ends<Span> =
                value.parse().map_err(|complaint: Complaint| complaint.accepted(ACCEPTED))?;
            if key != "length" && !times.is_one() {
                return Err(wrong(format!("a range, where {key} is one time: \"{value}\"")));
            }
            if place.replace(times).is_some() {
                return Err(wrong(format!("two values of {key}")));
            }
        }
        let Some(length) = length else { return Err(wrong("no length".into())) };
        let Some(every) = every.map(|every| every.least) else { return Err(wrong("no period".into())) };
        let first = first.map_or(every, |first| first.least);
        let length = match length.is_one() {
            true => Spread::All(length.least),
            false => Spread::Uniform(length.least, length.most),
        };
        Ok(Self(Box::new(Outage { every, length, first })))
    }
}

/// A queue as typed in one word: "codel, 1s, target=10ms".
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueChoice {
    /// The policy.
    pub(crate) kind: Option<String>,
    /// The room, as typed.
    pub(crate) limit: Option<String>,
    /// The settings of the policy: keys of a scenario's queue, and values.
    pub(crate) settings: Vec<(String, String)>,
}

impl FromStr for QueueChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut choice = Self::default();
        for part in text.split(',').map(str::trim) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim()),
                // Policies begin with a letter, limits with a digit.
                None if part.starts_with(|c: char| c.is_ascii_alphabetic()) => ("kind", part),
                None => ("limit", part),
            };
            match key {
                "kind" if choice.kind.is_none() => {
                    is_policy(value).map_err(|error| error.to_string())?;
                    choice.kind = Some(value.into());
                }
                "limit" if choice.limit.is_none() => {
                    let read = value.parse::<scenario::Limit>();
                    read.map_err(|error| format!("{error}; or a policy, such as codel"))?;
                    choice.limit = Some(value.into());
                }
                "kind" => {
                    return Err(format!("two policies: {} and {value}", choice.kind.unwrap_or_default()));
                }
                "limit" => {
                    return Err(format!("two limits: {} and {value}", choice.limit.unwrap_or_default()));
                }
                _ => choice.settings.push((key.into(), value.into())),
            }
        }
        Ok(choice)
    }
}
