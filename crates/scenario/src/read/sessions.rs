//! `[[traffic]]` of kind "engset": users whose packets respond to congestion as those of a flow do.

use super::flow::transfers;
use super::partial::PartialFlow;
use super::way::LinkNames;
use crate::cursor::{Keys, ValueAt};
use crate::spec::{Sessions, Spread, Volume};
use crate::tables::spread;
use units::Span;

/// Reads a population of users: their connections as a flow with one transfer per user, and the population.
pub(super) fn sessions<'a>(
    keys: &Keys<'a>,
    entry: usize,
    default_name: &str,
    ways: &LinkNames,
) -> (PartialFlow<'a>, Option<Sessions>) {
    let users = keys.read("users", |at| at.count("zero users"));
    let session = keys.read("session", session);
    let think = keys.read("think", |at| spread::drawn::<Span>(at, "s"));
    let handshake = keys.read("handshake", ValueAt::boolean);
    let flow = transfers(keys, default_name, Some(users), ways);
    let sessions = || {
        Some(Sessions {
            entry,
            session: session?,
            think: think?,
            handshake: handshake?,
            flow: flow.flow.clone()?,
        })
    };
    let sessions = sessions();
    (flow, sessions)
}

fn session(at: &ValueAt<'_>) -> Option<Spread<Volume>> {
    let session = spread::drawn::<Volume>(at, " packets")?;
    let least = match &session {
        Spread::All(volume) | Spread::Uniform(volume, _) | Spread::Exponential(volume) => volume,
        Spread::Pareto { mean, .. } => mean,
        Spread::List(_) | Spread::ParetoQuantiles { .. } => return None,
    };
    if least.count() == 0 {
        at.fault("sessions of nothing", "at least \"1 packets\"", None);
        return None;
    }
    Some(session)
}
