//! `tightlink verify` checks files against their digests.

use crate::args::VerifyOptions;
use crate::print;
use crate::problem::{CLAIM_FAILED, Problem};
use serde_json::{Value, json};
use std::process::ExitCode;
use transfer::digests::{self, Checked, Report};
use units::{Complaint, Foreign};

pub(crate) fn run(options: &VerifyOptions) -> Result<ExitCode, Problem> {
    let mut written = Ok(());
    let mut each = |name: &[u8], found: Checked| {
        if written.is_ok() && (options.verbose || found != Checked::Same) {
            written = if options.json {
                print::json(&as_json(name, &found))
            } else {
                print::data(line(name, &found))
            };
        }
    };
    let report = digests::check(&options.file, &options.dir, &mut each)?;
    written?;
    if report == Report::default() {
        return Err(Problem::usage(
            Complaint::new(Foreign::path(&options.file).to_string(), "holds no digests")
                .accepted("a file that `tightlink receive --digests` or `b3sum` wrote"),
        ));
    }
    if options.json {
        let Report { same, differ, missing, failed } = report;
        print::json(&json!({ "same": same, "differ": differ, "missing": missing, "failed": failed }))?;
    } else {
        print::talk(summary(report));
    }
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(CLAIM_FAILED) })
}

fn line(name: &[u8], found: &Checked) -> String {
    let name = Foreign::new(name);
    match found {
        Checked::Same => format!("{name}: ok"),
        Checked::Differs => format!("{name}: FAILED"),
        Checked::Missing => format!("{name}: missing"),
        Checked::Failed(why) => format!("{name}: FAILED ({why})"),
    }
}

fn as_json(name: &[u8], found: &Checked) -> Value {
    let name = String::from_utf8_lossy(name);
    match found {
        Checked::Same => json!({ "name": name, "result": "same" }),
        Checked::Differs => json!({ "name": name, "result": "differs" }),
        Checked::Missing => json!({ "name": name, "result": "missing" }),
        Checked::Failed(why) => json!({ "name": name, "result": "failed", "reason": why }),
    }
}

/// Returns "3 files are unchanged" or "3 of 5 files are unchanged: 1 differs, 1 is missing".
fn summary(report: Report) -> String {
    let Report { same, differ, missing, failed } = report;
    let all = same + differ + missing + failed;
    if report.is_good() {
        return match all {
            1 => "1 file is unchanged".into(),
            all => format!("{all} files are unchanged"),
        };
    }
    let mut faults = Vec::new();
    let mut fault = |count: u64, one: &str, many: &str| {
        if count > 0 {
            faults.push(format!("{count} {}", if count == 1 { one } else { many }));
        }
    };
    fault(differ, "differs", "differ");
    fault(missing, "is missing", "are missing");
    fault(failed, "could not be checked", "could not be checked");
    format!("{same} of {all} files are unchanged: {}", faults.join(", "))
}
