//! The options of `tightlink diagnose`.

use super::PictureOptions;
use clap::Args;
use std::path::PathBuf;
use units::{Rate, Span};

#[derive(Debug, Args)]
#[command(override_usage = "tightlink diagnose [--pid <PID>] [--port <N>] [--to <HOST>] [OPTIONS]\n       \
                            tightlink diagnose <CAPTURE> [OPTIONS]")]
pub(crate) struct DiagnoseOptions {
    /// A capture to read: pcapng or pcap, also compressed by gzip; without one, running connections are watched
    #[arg(value_name = "CAPTURE", conflicts_with_all = ["pid", "time"])]
    pub(crate) file: Option<PathBuf>,
    /// Only connections of this process and of the programs that it started
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    /// Only connections with this port at either end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Only connections to this host: an address, or a name
    #[arg(long, value_name = "HOST")]
    pub(crate) to: Option<String>,
    /// Time for which connections are watched; Ctrl-C ends it earlier
    #[arg(long = "for", id = "time", value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub(crate) time: Span,
    /// Report on all connections, and not only on the five with the most data
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the report as JSON, one object per direction of a connection
    #[arg(long)]
    pub(crate) json: bool,
    /// Rate of the slowest link, if you know it: proposals count on it where the path was never full
    #[arg(long)]
    pub(crate) rate: Option<Rate>,
    /// Write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureOptions,
}
