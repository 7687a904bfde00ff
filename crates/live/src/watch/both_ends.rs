//! [`merge`]: a connection with both ends in one namespace is seen twice. The sender's view stays, with the facts that
//! only the receiver knows ([`learn`]).

use super::connection::WatchedConnection;
use estimate::diagnosis::{Direction, Evidence, Vantage};
use std::collections::BTreeMap;

/// Removes the receiver's view of each direction that the sender's socket shows as well.
pub(super) fn merge(connections: &mut Vec<WatchedConnection>) {
    let mut senders: BTreeMap<Direction, usize> = BTreeMap::new();
    for (place, connection) in connections.iter().enumerate() {
        let sent = connection.evidence.iter().filter(|evidence| is_sender(evidence));
        senders.extend(sent.map(|evidence| (evidence.direction, place)));
    }
    let mut receivers = Vec::new();
    for connection in connections.iter_mut() {
        let is_double =
            |evidence: &mut Evidence| !is_sender(evidence) && senders.contains_key(&evidence.direction);
        receivers.extend(connection.evidence.extract_if(.., is_double));
    }
    for receiver in receivers {
        let views = senders.get(&receiver.direction).and_then(|&place| connections.get_mut(place));
        let mut views = views.into_iter().flat_map(|connection| &mut connection.evidence);
        let sender = views.find(|evidence| is_sender(evidence) && evidence.direction == receiver.direction);
        if let Some(sender) = sender {
            learn(sender, &receiver);
        }
    }
    connections.retain(|connection| !connection.evidence.is_empty());
}

fn is_sender(evidence: &Evidence) -> bool {
    evidence.vantage == Vantage::SenderSocket
}

/// Adds what the receiver knows to the sender's view of the same direction. Both views have the same clock.
pub fn learn(sender: &mut Evidence, receiver: &Evidence) {
    sender.sizing = receiver.sizing;
    let mut theirs = receiver.intervals.iter().peekable();
    for interval in &mut sender.intervals {
        let middle = interval.from + interval.length.scale(0.5);
        while theirs.next_if(|their| their.from + their.length < middle).is_some() {}
        interval.unread = theirs.peek().and_then(|their| their.unread);
    }
}
