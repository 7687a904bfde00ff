//! [`Proposal`]: sentences, commands to paste, and the simulated numbers behind them.

use super::Case;
use serde::Serialize;
use units::Rate;

/// An end of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host that sends the data.
    Sender,
    /// The host that receives them.
    Receiver,
}

/// The owner of a connection, as far as the observer knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// The process of this host that has the socket.
    pub pid: Option<u32>,
    /// The name of that process.
    pub program: Option<&'a str>,
    /// The bottleneck's rate by the user's word or by another measurement, for a path that was never full.
    pub rate: Option<Rate>,
    /// The end at which the proposal is read; `None` for the end whose socket is the evidence.
    pub here: Option<End>,
}

/// The effects of a state of the path, simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The goodput, bits per second.
    pub goodput_bps: f64,
    /// The share of the bottleneck's rate that is used.
    pub utilization: f64,
    /// The mean queueing delay at the bottleneck, seconds.
    pub queueing_delay_s: f64,
}

/// A command to paste.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// The host on which the command helps: "here", "at the receiver 192.0.2.1".
    pub place: String,
    /// The command.
    pub command: String,
}

/// A change that would help a connection, with its effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Proposal {
    /// The proposal in words, a sentence each.
    pub sentences: Vec<String>,
    /// Commands to paste, of which one is enough.
    pub remedies: Vec<Remedy>,
    /// The goodput that was measured, bits per second.
    pub measured_bps: f64,
    /// The bottleneck's rate in the simulations, bits per second; `None` without a simulation.
    pub rate_bps: Option<f64>,
    /// True if the path was never full. The rate of the simulations is then an assumption.
    pub rate_assumed: bool,
    /// The data in flight that fill the path, bytes.
    pub needed_bytes: Option<u64>,
    /// The number of connections that fill the path together, where a program's own window is the limit.
    pub connections: Option<u64>,
    /// The present state; `None` if it is not simulated.
    pub now: Option<Outcome>,
    /// The state after the change; `None` if no change helps, or if it cannot be simulated.
    pub after: Option<Outcome>,
    /// The assumptions of the simulations.
    pub assumptions: Vec<String>,
}

impl Proposal {
    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        self.sentences.push(sentence.into());
    }

    pub(super) fn offer(&mut self, place: &str, command: String) {
        self.remedies.push(Remedy { place: place.to_owned(), command });
    }

    /// Adds the assumptions of the simulations, if there were any.
    pub(super) fn assume(&mut self, case: &Case<'_>) {
        if self.now.is_some() || self.after.is_some() {
            self.assumptions.extend(case.path.assumptions());
        }
    }
}
