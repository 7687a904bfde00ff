//! One request on a connection of its own, as a program makes it that has no connection yet.

use super::{Opener, dial, handshake};
use crate::channel::{Message, MessageReader};
use crate::error::TransferError;
use crate::wire::test::{Load, SEPARATE};
use crate::wire::{Greeting, frame};
use units::Span;

/// The time for the answer.
const PATIENCE: Span = Span::from_secs(10);

impl Opener {
    /// Connects, sends a request and awaits its answer. Returns the times of the TCP handshake, the TLS handshake and
    /// the request. Each takes one round trip.
    pub(in crate::send) fn separate_request(&self) -> Result<[Span; 3], TransferError> {
        let began = self.clock.now();
        let socket = dial(self.address).map_err(TransferError::gone)?;
        let connected = self.clock.now();
        let channel = handshake(socket, &self.tls, self.address, &self.clock)?;
        let proved = self.clock.now();
        let mut out = Vec::new();
        frame::append(&mut out, &Greeting::Data { token: self.token, stream: SEPARATE });
        frame::append(&mut out, &Load::Request(0));
        channel.write(&out)?;
        let answer = MessageReader::new(&channel).message(proved + PATIENCE)?;
        let answered = self.clock.now();
        channel.cut();
        match answer {
            Message::Is(Load::Answer(0)) => {
                Ok([connected.since(began), proved.since(connected), answered.since(proved)])
            }
            _ => Err(TransferError::gone("no answer")),
        }
    }
}
