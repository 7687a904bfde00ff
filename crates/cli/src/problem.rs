//! How a command can end badly: a message for a person and an exit code.

use lab::run::engine::EngineError;
use lab::study::claims::ClaimError;
use lab::study::curves::CurvesError;
use lab::study::experiment::ExperimentError;
use lab::study::search::SearchError;
use lab::study::store::StoreError;
use lab::study::sweep::SweepError;
use scenario::{Complaints, Faults};
use std::fmt::Display;
use std::io;
use tightlink::{Error, ErrorKind};

/// A claim failed, or a file is not as it was.
pub(crate) const CLAIM_FAILED: u8 = 1;
/// The command or the scenario is not right.
pub(crate) const USAGE: u8 = 2;
/// The machine or the user's rights lack something.
pub(crate) const ENVIRONMENT: u8 = 3;
/// Some of a transfer's files are there, some are not.
pub(crate) const PARTIAL: u8 = 4;
/// A transfer was interrupted by the network or the other program's end: the same commands go on.
pub(crate) const NETWORK: u8 = 5;
/// The other side does not want the transfer, or the receiver's user does not.
pub(crate) const REFUSED: u8 = 6;
/// A disk is full, or fails.
pub(crate) const DISK: u8 = 7;

/// The reader of our output has left: 128 + SIGPIPE, what a shell reports of any other program in a pipe.
const READER_LEFT: u8 = 141;

/// Why a command ended, and its exit code. An empty message is not shown.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Problem {
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { message: message.to_string(), code: USAGE }
    }

    pub(crate) fn environment(message: impl Display) -> Self {
        Self { message: message.to_string(), code: ENVIRONMENT }
    }

    /// stdout did not take what was written to it.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self { message: String::new(), code: READER_LEFT },
            _ => Self::environment(format!("standard output: {error}")),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let code = match error.kind {
            // The scenario asks for what the engine is not: the person chose both.
            ErrorKind::Usage | ErrorKind::Engine => USAGE,
            _ => ENVIRONMENT,
        };
        Self { message: error.to_string(), code }
    }
}

/// Each of these errors is first made an [`Error`], whose kind decides on the exit code.
macro_rules! by_error {
    ($($error:ty),*) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Error::from(error).into()
            }
        }
    )*};
}

by_error!(
    Complaints,
    Faults,
    ExperimentError,
    EngineError,
    emu::EmuError,
    SearchError,
    CurvesError,
    SweepError,
    StoreError,
    ClaimError
);

impl From<transfer::TransferError> for Problem {
    fn from(error: transfer::TransferError) -> Self {
        use transfer::Ending;
        let code = match error.ending() {
            Ending::Usage => USAGE,
            Ending::Environment => ENVIRONMENT,
            Ending::Partial => PARTIAL,
            Ending::Network => NETWORK,
            Ending::Refused => REFUSED,
            Ending::Disk => DISK,
        };
        Self { message: error.to_string(), code }
    }
}
impl From<live::tune::TuneError> for Problem {
    fn from(error: live::tune::TuneError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::environment(error) }
    }
}
