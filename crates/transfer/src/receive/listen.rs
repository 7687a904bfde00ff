//! Listening, and the admission of senders.
//!
//! A new connection has some seconds to prove that it holds the ticket (`door.rs`). `pending.rs` limits the number of
//! such connections, and decides which of them are closed when there are more. Each rejected connection is reported in
//! one line, up to a number of lines per second.

pub(super) mod door;
mod pending;
mod socket;
mod standing;
#[cfg(test)]
#[path = "../../tests/within/listen.rs"]
mod tests;
mod turns;

pub(super) use socket::{bind, own_addresses};
pub(super) use standing::Standing;

use super::Receiver;
use super::registry::{Registry, SessionHandle};
use super::session::{self, Event};
use super::stream;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::progress::Observer;
use crate::summary::Summary;
use crate::wire::Greeting;
use door::{Behind, Door};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Events, channel};
use turns::Busy;
use units::{Span, Time};

/// The time for a rejected sender to read the reason.
pub(super) const LAST_WORD: Span = Span::from_secs(2);
/// Lets senders in, one after the other, until the session is finished or cannot go on.
pub(super) fn serve(receiver: &Receiver, observer: &dyn Observer) -> Result<Summary, TransferError> {
    let registry = Registry::new(receiver, observer)?;
    door::serve(&registry);
    registry.take_result().expect("a receiver that is done has a result")
}

impl Behind for Registry<'_> {
    fn door(&self) -> &Door<'_> {
        &self.door
    }

    fn is_done(&self) -> bool {
        self.open().result.is_some()
    }

    fn look(&self) -> Time {
        self.look_for_senders()
    }

    /// Serves a sender that holds the ticket: a control connection, or one for data.
    fn serve_peer(&self, channel: &Arc<Channel>, greeting: Greeting) {
        match greeting {
            Greeting::Control { version, streams, echo } => {
                if let Some((link, events)) = self.admit(channel, version, streams, echo) {
                    let (replaced, ended) = session::serve(self, &link, channel, &events);
                    self.end(&link, replaced, ended);
                }
            }
            Greeting::Data { token, .. } => match self.join(&token, channel) {
                Some(link) => {
                    stream::serve(&self.receiver.assembly, &link.events, channel);
                    self.leave(channel);
                }
                None => self.door.turned_away(channel.peer(), "its control connection has ended"),
            },
        }
    }
}

impl Registry<'_> {
    /// Lets a sender in when it is its turn, or sends it the reason for not doing so.
    pub(super) fn admit(
        &self,
        control: &Arc<Channel>,
        version: u16,
        streams: u16,
        echo: u16,
    ) -> Option<(Arc<SessionHandle>, Events<Event>)> {
        let (sender, events) = channel();
        match self.begin(control, (version, streams, echo), sender) {
            Ok(link) => Some((link, events)),
            Err(Busy { reason, crowded }) => {
                self.door.limited(&format!("{} must wait: {reason}", host::plain(control.peer())));
                let patience = if crowded { Span::ZERO } else { LAST_WORD };
                door::refuse(control, reason, self.receiver.clock.now(), patience);
                None
            }
        }
    }
}

/// Describes an error for the log.
pub(super) fn why(error: &TransferError) -> String {
    match error {
        TransferError::Tls { source: rustls::Error::InvalidCertificate(_), .. } => {
            "it does not hold this session's ticket".into()
        }
        TransferError::Tls { source: rustls::Error::NoCertificatesPresented, .. } => {
            "it presented no key, so it is not tightlink".into()
        }
        TransferError::Tls { source, .. } => format!("it does not follow tightlink's protocol ({source})"),
        TransferError::PeerGone { reason } => reason.clone(),
        other => other.complaint().head().to_string(),
    }
}
