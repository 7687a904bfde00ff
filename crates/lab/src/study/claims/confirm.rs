//! Repetition of doubtful cases. A single run of the kernel is weak evidence, so a case in which it contradicts a claim
//! is run again, and the median judges.

use super::check::{check, has, selected};
use super::{Claim, ClaimSettings, Evidence, Relation, evidence};
use crate::run::record::{Engine, Record};
use crate::study::claims::Verdict;
use crate::study::curves::CurvesError;
use crate::study::task::Answer;
use scenario::Document;

/// The number of the kernel's runs in a doubtful case, the first included.
const RUNS: u64 = 3;

/// Adds further runs of the kernel to `found`, and returns it with the number of cases that were run again. These are
/// the cases in which a single run contradicts a claim. The number of runs is fixed, so that no case is repeated until
/// it passes.
///
/// # Errors
/// [`CurvesError`]; finished runs are kept.
pub fn confirmed(
    document: &Document,
    claims: &[Claim],
    mut found: Evidence,
    judging: &ClaimSettings<'_, '_>,
) -> Result<(Evidence, usize), CurvesError> {
    if !judging.run.contains(&Engine::Live) {
        return Ok((found, 0));
    }
    let doubted: Vec<Claim> =
        claims.iter().flat_map(|claim| doubted(claim, &found.answers, judging.asked)).collect();
    if doubted.is_empty() {
        return Ok((found, 0));
    }
    let again = ClaimSettings { run: &[Engine::Live], live: Some(RUNS), ..*judging };
    let more = evidence(document, &doubted, &again)?;
    let mut cases = 0;
    for answer in &mut found.answers {
        let Some(own) = more.answers.iter().find(|own| own.task.point == answer.task.point) else { continue };
        let is_other = |record: &Record| record.summary.engine != Engine::Live;
        answer.records.retain(is_other);
        answer.runs.retain(is_other);
        answer.records.extend(own.record(Engine::Live).cloned());
        answer.runs.extend(own.runs(Engine::Live).into_iter().cloned());
        cases += 1;
    }
    Ok((found, cases))
}

/// Returns a copy of `claim` for each case that the kernel ran once and in which the claim fails. A trend over cases
/// that fails is returned as it is.
#[must_use]
pub fn doubted(claim: &Claim, answers: &[Answer], asked: &[Engine]) -> Vec<Claim> {
    let alone = [Engine::Live];
    let asked = if claim.relation() == Relation::Between { asked } else { &alone };
    let fails =
        |claim: &Claim| check(std::slice::from_ref(claim), answers, asked).iter().any(Verdict::failed);
    if claim.validity || !claim.judged(asked).contains(&Engine::Live) || !fails(claim) {
        return Vec::new();
    }
    if claim.relation() == Relation::Trend {
        return vec![claim.clone()];
    }
    let judged = claim.judged(asked);
    let once = answers
        .iter()
        .filter(|answer| selected(claim, &judged, answer) && answer.runs(Engine::Live).len() == 1);
    once.map(|answer| only(claim, answer)).filter(fails).collect()
}

/// Returns `claim` for the case of this answer alone.
fn only(claim: &Claim, answer: &Answer) -> Claim {
    let mut own = claim.clone();
    own.cases.extend(answer.task.point.iter().cloned());
    own.disagrees.retain(|known| known.cases.iter().all(|(key, value)| has(answer, key, value)));
    own
}
