//! The options of `tightlink size`.

use super::PictureOptions;
use super::{Changes, EngineName};
use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use lab::study::size::{CONTROL, Ends, Mix, PACKET, PLACES, RTT, TARGET};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use units::{Bytes, Complaint, Fraction, Rate, Span, TextError};

/// The options that only a question without a scenario has.
const OWN: [&str; 8] = ["rate", "trace", "rtt", "flows", "place", "control", "packet", "queue"];

#[derive(Debug, Args)]
pub(crate) struct SizeOptions {
    /// A scenario with the tight link in question, in place of --rate and its companions; "-" reads standard input
    #[arg(conflicts_with_all = OWN, value_parser = OsStringValueParser::new().try_map(file))]
    pub(crate) file: Option<PathBuf>,
    /// Capacity of the link, e.g. 10Gbit/s
    #[arg(long, required_unless_present_any = ["file", "trace"], allow_hyphen_values = true, value_parser = rate)]
    pub(crate) rate: Option<Rate>,
    /// A file with the rate of a link that changes, in place of --rate: a trace of mahimahi, or CSV with time and rate.
    /// It is repeated
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    pub(crate) trace: Option<String>,
    /// Base RTT of the flows: one, or a range over which they are spread, e.g. 20ms..80ms
    #[arg(long, value_name = "TIME", default_value_t = RTT, allow_hyphen_values = true)]
    pub(crate) rtt: Ends<Span>,
    /// Flows that send at the same time and always have data: a number, or a range whose worse end counts, e.g.
    /// 100..500
    #[arg(long, value_name = "N", conflicts_with = "place", allow_hyphen_values = true)]
    pub(crate) flows: Option<Ends<u64>>,
    /// Place of the queue in the network, if the number of flows is not known. The edge has 1 to 10 flows, an
    /// aggregation link 50 to 500, the core 1000 to 10000
    #[arg(long, default_value = PLACES[0].0, value_parser = PossibleValuesParser::new(PLACES.map(|(name, _)| name)))]
    pub(crate) place: String,
    /// Congestion control of the flows, or shares of several, e.g. cubic:80%,bbr:20%
    #[arg(long, value_name = "CONTROL", default_value = CONTROL, allow_hyphen_values = true)]
    pub(crate) control: Mix,
    /// Mean utilization of the link that is wanted
    #[arg(long, value_name = "SHARE", default_value_t = target(), value_parser = utilization, allow_hyphen_values = true)]
    pub(crate) target_utilization: Fraction,
    /// Largest queueing delay for 95 % of the time, e.g. 5ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) max_delay: Option<Span>,
    /// Largest loss rate, e.g. 0.1%
    #[arg(long, value_name = "SHARE", value_parser = loss, allow_hyphen_values = true)]
    pub(crate) max_loss: Option<Fraction>,
    /// Size of a full packet
    #[arg(long, value_name = "SIZE", default_value_t = PACKET, allow_hyphen_values = true)]
    pub(crate) packet: Bytes,
    /// Queue policy, one of `tightlink list queues`
    #[arg(long, short, value_name = "QUEUE", default_value = link::queue::DROP_TAIL)]
    pub(crate) queue: String,
    /// Answer at once, by theory alone: the same as --engine model
    #[arg(long, conflicts_with = "engine")]
    pub(crate) quick: bool,
    /// Check of the answer: theory alone (model), simulation (sim), or simulation and a run of the kernel at the
    /// recommended limit (live)
    #[arg(long, short, value_enum, default_value = "sim")]
    pub(crate) engine: EngineName,
    #[command(flatten)]
    pub(crate) changes: Changes,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for results and the report; finished simulations are reused from it
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// The report's file (default: size.html in the results folder; by theory alone no report)
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureOptions,
}

fn target() -> Fraction {
    Fraction::new(TARGET).unwrap_or(Fraction::ONE)
}

/// Reads the path of a scenario file. A rate in its place is meant for a link.
fn file(text: OsString) -> Result<PathBuf, Complaint> {
    let path = PathBuf::from(text);
    let rate = path.to_str().filter(|text| text.parse::<Rate>().is_ok() && !path.exists());
    match rate {
        Some(rate) => Err(Complaint::new("", format!("no file is called \"{rate}\", which is a rate"))
            .accepted("a scenario file, or --rate and its companions")
            .help(format!("write --rate {rate}"))),
        None => Ok(path),
    }
}

/// Reads a rate. A file in its place is meant for a trace.
fn rate(text: &str) -> Result<Rate, Complaint> {
    text.parse().map_err(|error: TextError| {
        let complaint = Complaint::new("", error.to_string());
        if Path::new(text).is_file() { complaint.help(format!("write --trace {text}")) } else { complaint }
    })
}

/// Reads a utilization. A bare number above 1 is a percentage: `95` is `95%`.
fn utilization(text: &str) -> Result<Fraction, Complaint> {
    let percent = text.trim().parse::<f64>().ok().filter(|number| *number > 1.0 && *number <= 100.0);
    let text = if percent.is_some() { format!("{}%", text.trim()) } else { text.to_owned() };
    text.parse().map_err(|error: TextError| {
        Complaint::new("", error.to_string()).accepted("from 50% to below 100%, such as 99%")
    })
}

/// Reads a loss rate. A bare number of 1 or more is refused, because it could be a percentage.
fn loss(text: &str) -> Result<Fraction, Complaint> {
    text.parse().map_err(|error: TextError| {
        let complaint = Complaint::new("", error.to_string()).accepted("a share such as 0.1%");
        match text.trim().parse::<f64>() {
            Ok(number) if number >= 1.0 => complaint.help(format!("write {}%", text.trim())),
            _ => complaint,
        }
    })
}
