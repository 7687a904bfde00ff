//! What `tightlink size` can be asked.

use super::{Changes, EngineName};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lab::study::size::{CONTROL, Ends, Mix, PACKET, PLACES, RTT, TARGET};
use std::path::PathBuf;
use std::str::FromStr;
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// What only a question without a scenario has.
const OWN: [&str; 7] = ["rate", "rtt", "flows", "place", "control", "packet", "queue"];

#[derive(Debug, Args)]
pub(crate) struct SizeOptions {
    /// A scenario with the tight link in question, in place of --rate and its companions; "-" reads standard input
    #[arg(conflicts_with_all = OWN)]
    pub(crate) file: Option<PathBuf>,
    /// Capacity of the link, e.g. 10Gbit/s
    #[arg(long, required_unless_present = "file", allow_hyphen_values = true)]
    pub(crate) rate: Option<Rate>,
    /// Base RTT of the flows: one, or a range over which they are spread, e.g. 20ms..80ms
    #[arg(long, value_name = "TIME", default_value_t = RTT, allow_hyphen_values = true, value_parser = ends::<Span>)]
    pub(crate) rtt: Ends<Span>,
    /// Flows that send at the same time and always have data: a number, or a range whose worse end counts, e.g.
    /// 100..500
    #[arg(long, value_name = "N", conflicts_with = "place", allow_hyphen_values = true, value_parser = ends::<u64>)]
    pub(crate) flows: Option<Ends<u64>>,
    /// Where the queue is, if the number of flows is not known. The edge has 1 to 10 flows, an aggregation 50 to 500,
    /// the core 1000 to 10000
    #[arg(long, default_value = PLACES[0].0, value_parser = PossibleValuesParser::new(PLACES.map(|(name, _)| name)))]
    pub(crate) place: String,
    /// Congestion control of the flows, or shares of several, e.g. cubic:80%,bbr:20%
    #[arg(long, value_name = "CONTROL", default_value = CONTROL, allow_hyphen_values = true)]
    pub(crate) control: Mix,
    /// Wished mean utilization of the link
    #[arg(long, value_name = "SHARE", default_value_t = target(), allow_hyphen_values = true)]
    pub(crate) target_utilization: Fraction,
    /// Largest queueing delay for 95 % of the time, e.g. 5ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) max_delay: Option<Span>,
    /// Largest loss rate, e.g. 0.1%
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) max_loss: Option<Fraction>,
    /// A full packet
    #[arg(long, value_name = "SIZE", default_value_t = PACKET, allow_hyphen_values = true)]
    pub(crate) packet: Bytes,
    /// Queue policy, one of `tightlink list queues`
    #[arg(long, short, value_name = "QUEUE", default_value = link::queue::DROP_TAIL)]
    pub(crate) queue: String,
    /// Answer by theory alone, at once: the same as --engine model
    #[arg(long, conflicts_with = "engine")]
    pub(crate) quick: bool,
    /// What checks the answer: model, theory alone; sim, simulation; live, simulation, and the kernel at the
    /// recommended limit
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
}

fn target() -> Fraction {
    Fraction::new(TARGET).unwrap_or(Fraction::ONE)
}

/// Reads one value or a range. Where a range is written as elsewhere, the error has it as it is written here.
fn ends<T>(text: &str) -> Result<Ends<T>, Complaint>
where
    Ends<T>: FromStr<Err = Complaint>,
{
    text.parse().map_err(|error: Complaint| {
        let written = ["...", "..", "-", "–", " to ", ","].iter().find_map(|between| {
            let (least, most) = text.split_once(between)?;
            let (least, most) = (least.trim(), most.trim());
            let unit = most.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let unit = if least.ends_with(|c: char| c.is_ascii_digit()) { unit } else { "" };
            Some(format!("{least}{unit}..{most}")).filter(|written| written.parse::<Ends<T>>().is_ok())
        });
        // An RTT without a unit is in milliseconds, as ping has it.
        let written = written
            .or_else(|| Some(format!("{}ms", text.trim())).filter(|text| text.parse::<Ends<T>>().is_ok()));
        match written {
            Some(written) => error.help(format!("write {written}")),
            None => error,
        }
    })
}
