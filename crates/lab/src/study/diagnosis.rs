//! A change that would help a connection, with its effect in numbers: from the evidence and the diagnosis of
//! `estimate`, [`propose`] makes a [`Proposal`].
//!
//! Every number about a change is simulated. The path is written from the evidence: the bottleneck's rate, the base RTT,
//! the buffer, the control and the limit in use. The present state is simulated as well. If it does not have the goodput
//! that was measured, the proposal says so. Without a round trip or a rate nothing is simulated, and the sentences say
//! what is missing.
//!
//! Reading order: `proposal.rs` has the result, `path.rs` the path and its simulation. `windows.rs` has the proposals
//! for windows and buffers, `others.rs` those for programs, slow start and the network. `words.rs` has amounts for
//! people and commands to paste, `programs.rs` the programs with windows of their own.

mod others;
mod path;
mod programs;
mod proposal;
mod windows;
mod words;

pub use programs::{PROGRAMS, Program, programs_with};
pub use proposal::{End, Outcome, Proposal, Remedy, Subject};

use estimate::diagnosis::{Cause, Confidence, Diagnosis, Evidence};
use path::ObservedPath;

/// Proposes a change to one direction of a connection. It takes less than half a second of processor time.
#[must_use]
pub fn propose(evidence: &Evidence, diagnosis: &Diagnosis, subject: &Subject<'_>) -> Proposal {
    let mut proposal = Proposal { measured_bps: evidence.goodput().as_bps_f64(), ..Proposal::default() };
    let Some(cause) = diagnosis.cause else {
        proposal.say("The evidence does not show what limits it, so no change is proposed.");
        return proposal;
    };
    if diagnosis.confidence == Confidence::Low {
        proposal.say("The confidence is low, so look for more evidence before you change anything.");
    }
    let path = match ObservedPath::of(evidence, subject.rate) {
        Ok(path) => path,
        Err(missing) => {
            proposal.say(missing);
            return proposal;
        }
    };
    let case = Case { evidence, diagnosis, subject, path };
    match cause {
        Cause::ReceiveWindow => windows::receive_window(&case, &mut proposal),
        Cause::SendBuffer => windows::send_buffer(&case, &mut proposal),
        Cause::ProgramWindow => windows::program_window(&case, &mut proposal),
        Cause::SendingProgram | Cause::ReceivingProgram => others::program(&case, &mut proposal),
        Cause::SlowStart => others::slow_start(&case, &mut proposal),
        Cause::Network => others::network(&case, &mut proposal),
    }
    proposal.assume(&case);
    proposal
}

/// A connection, and what is known about it.
struct Case<'a> {
    evidence: &'a Evidence,
    diagnosis: &'a Diagnosis,
    subject: &'a Subject<'a>,
    path: ObservedPath,
}
