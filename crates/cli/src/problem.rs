//! [`Problem`]: the reason why a command failed, as a message for a person and an exit code.

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
/// The command or the scenario has a mistake.
pub(crate) const USAGE: u8 = 2;
/// The machine or the user's rights lack something.
pub(crate) const ENVIRONMENT: u8 = 3;
/// Only some of a transfer's files arrived.
pub(crate) const PARTIAL: u8 = 4;
/// The network or the end of the other program interrupted a transfer: the same commands continue it.
pub(crate) const NETWORK: u8 = 5;
/// The other program or the receiver's user refused the transfer.
pub(crate) const REFUSED: u8 = 6;
/// A disk is full or fails.
pub(crate) const DISK: u8 = 7;

/// The reader of the output has left: 128 + SIGPIPE, as a shell reports for any other program in a pipe.
const READER_LEFT: u8 = 141;

/// The reason why a command ended, and its exit code. An empty message is not shown.
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

    /// Makes the problem for an error that occurred in writing to stdout.
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
            // An engine that cannot run the scenario is a mistake in usage, because the user chose both.
            ErrorKind::Usage | ErrorKind::Engine => USAGE,
            _ => ENVIRONMENT,
        };
        Self { message: error.to_string(), code }
    }
}

/// Converts each of these errors to an [`Error`] first. The kind of that error decides on the exit code.
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

impl From<live::watch::WatchError> for Problem {
    fn from(error: live::watch::WatchError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::environment(error) }
    }
}
