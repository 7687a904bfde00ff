//! Help for unknown options. clap guesses by letters, which misleads people who mean an option of the program behind
//! the link or of another tool.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the error with a tip that names the likely intention.
pub(super) fn tipped(mut error: Error) -> Error {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((command, words)) = words.split_first() else { return error };
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.clone(),
        _ => String::new(),
    };
    // For an option that is nearly right clap's own tip stays, except with `sweep`.
    let near = error.get(ContextKind::SuggestedArg).is_some();
    let unknown_option = error.kind() == ErrorKind::UnknownArgument;
    if unknown_option && (command == "sweep" || !near) || runs_a_program(command, words, error.kind()) {
        let tip = tip(command, words, &unknown, error.kind());
        if let Some(tip) = tip {
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
    }
    error
}

/// Returns true if the program that `tune` is to run stands among the arguments of `tune` itself
/// (`emulate::explained` does the same for `emulate`).
fn runs_a_program(command: &str, words: &[String], kind: ErrorKind) -> bool {
    let kinds = [ErrorKind::UnknownArgument, ErrorKind::ArgumentConflict, ErrorKind::MissingRequiredArgument];
    command == "tune"
        && kinds.contains(&kind)
        && words.iter().any(|word| !word.starts_with('-'))
        && !words.iter().any(|word| word == "--")
}

fn tip(command: &str, words: &[String], unknown: &str, kind: ErrorKind) -> Option<String> {
    if runs_a_program(command, words, kind) {
        return Some("put -- before the program and its options: tightlink tune -- CMD…".to_owned());
    }
    match command {
        "sweep" if unknown == "--repeat" => Some(
            "a sweep repeats its points with the seeds that it lists: seed = [1, 2, 3, 4, 5] below [sweep]"
                .to_owned(),
        ),
        _ => None,
    }
}
