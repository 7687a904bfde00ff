//! How a command can end badly: a message for a person and an exit code.

use lab::run::engine::EngineError;
use lab::study::claims::ClaimError;
use lab::study::curves::CurvesError;
use lab::study::experiment::ExperimentError;
use lab::study::search::SearchError;
use lab::study::store::StoreError;
use lab::study::sweep::SweepError;
use scenario::Faults;
use std::fmt::Display;
use std::io;

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

impl From<Faults> for Problem {
    fn from(faults: Faults) -> Self {
        Self::usage(faults)
    }
}
impl From<SweepError> for Problem {
    fn from(error: SweepError) -> Self {
        Self::environment(error)
    }
}
impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Faults(faults) => faults.into(),
            SearchError::Engine(error) => (*error).into(),
            SearchError::Keep(error) => (*error).into(),
            SearchError::NoAnswer(reason) => Self::usage(reason),
        }
    }
}
impl From<CurvesError> for Problem {
    fn from(error: CurvesError) -> Self {
        match error {
            CurvesError::Sweep(error) => error.into(),
            CurvesError::Search(error) => error.into(),
            CurvesError::Faults(faults) => faults.into(),
            unknown @ CurvesError::Unknown(_) => Self::usage(unknown),
        }
    }
}
impl From<ExperimentError> for Problem {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Faults(faults) => faults.into(),
            ExperimentError::Engine(error) => error.into(),
            ExperimentError::Machine(error) => error.into(),
            ExperimentError::Store(error) => error.into(),
            ExperimentError::Sweep(error) => error.into(),
            ExperimentError::Search(error) => error.into(),
            ExperimentError::Curves(error) => error.into(),
            ExperimentError::Unanswered(_)
            | ExperimentError::Unanswerable(_)
            | ExperimentError::NothingDrawn(_)
            | ExperimentError::Varied(_) => Self::usage(error),
            ExperimentError::Page(_) | ExperimentError::Table(_) | ExperimentError::Stopped { .. } => {
                Self::environment(error)
            }
        }
    }
}
impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            // The scenario asks for what the engine is not: the person chose both.
            EngineError::CannotAnswer(_)
            | EngineError::NothingMeasured(_)
            | EngineError::TooLarge(_)
            | EngineError::Emulator(emu::EmuError::Refused(_)) => Self::usage(error),
            EngineError::Emulator(_)
            | EngineError::Host(_)
            | EngineError::Live(_)
            | EngineError::Stopped
            | EngineError::Broken(_) => Self::environment(error),
        }
    }
}
impl From<emu::EmuError> for Problem {
    fn from(error: emu::EmuError) -> Self {
        Self::from(EngineError::from(error))
    }
}
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::environment(error)
    }
}
impl From<ClaimError> for Problem {
    fn from(error: ClaimError) -> Self {
        Self::usage(error)
    }
}
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
