//! [`MessageReader`]: the reading end of a [`Channel`].

use super::{Channel, RAW, ReadOutcome};
use crate::error::TransferError;
use crate::lock::locked;
use crate::wire::frame::{self, Framed};
use std::sync::atomic::Ordering;
use units::Time;

/// The reading end of a channel: decrypted bytes, in order.
#[derive(Debug)]
pub(crate) struct MessageReader<'a> {
    channel: &'a Channel,
    raw: Vec<u8>,
    plain: Vec<u8>,
    at: usize,
}

impl<'a> MessageReader<'a> {
    pub(crate) fn new(channel: &'a Channel) -> Self {
        let early = std::mem::take(&mut *locked(&channel.early));
        Self { channel, raw: vec![0; RAW], plain: early, at: 0 }
    }

    /// Returns the received bytes that are not consumed.
    pub(crate) fn held(&self) -> &[u8] {
        &self.plain[self.at..]
    }

    /// Consumes `count` of the held bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.plain.len());
        if self.at == self.plain.len() {
            self.plain.clear();
            self.at = 0;
        }
    }

    /// Reads once more.
    pub(crate) fn more(&mut self, until: Time) -> Result<ReadOutcome, TransferError> {
        if self.channel.ended.load(Ordering::Relaxed) {
            return Ok(ReadOutcome::End);
        }
        if self.at > 0 {
            self.plain.drain(..self.at);
            self.at = 0;
        }
        self.channel.read(&mut self.raw, &mut self.plain, until)
    }
}

impl MessageReader<'_> {
    /// Waits for the next message until `until`.
    ///
    /// # Errors
    /// Returns [`TransferError::Protocol`] for bytes that are not a message, and any error of reading.
    pub(crate) fn message<M: Framed>(&mut self, until: Time) -> Result<Message<M>, TransferError> {
        let mut overdue = false;
        loop {
            let first = frame::first(self.held()).map_err(|error| self.protocol(error))?;
            if let Some((message, length)) = first {
                self.consume(length);
                return Ok(Message::Is(message));
            }
            // Bytes that arrive without ever completing a message must not extend the deadline.
            if overdue {
                return Ok(Message::Nothing);
            }
            overdue = self.channel.clock.now() > until;
            match self.more(until)? {
                ReadOutcome::Bytes | ReadOutcome::Last => {}
                ReadOutcome::Nothing => return Ok(Message::Nothing),
                ReadOutcome::End if self.held().is_empty() => return Ok(Message::End),
                ReadOutcome::End => return Err(TransferError::gone("closed within a message")),
            }
        }
    }

    /// Waits for messages until `until` and returns all complete ones, possibly none. Returns `None` at the end.
    ///
    /// # Errors
    /// As for [`message`](Self::message).
    pub(crate) fn messages<M: Framed>(&mut self, until: Time) -> Result<Option<Vec<M>>, TransferError> {
        let mut messages = match self.message(until)? {
            Message::Is(message) => vec![message],
            Message::Nothing => return Ok(Some(Vec::new())),
            Message::End => return Ok(None),
        };
        // Bytes that are not a message end the loop, and the next call reports them.
        while let Ok(Some((message, length))) = frame::first(self.held()) {
            self.consume(length);
            messages.push(message);
        }
        Ok(Some(messages))
    }

    /// Leaves the bytes that are not consumed to the next reader.
    pub(crate) fn put_back(self) {
        *locked(&self.channel.early) = self.held().to_vec();
    }

    /// Makes the error for a violation of the protocol by the other side.
    #[expect(clippy::needless_pass_by_value, reason = "a text or an error, as it comes")]
    pub(crate) fn protocol(&self, reason: impl ToString) -> TransferError {
        TransferError::Protocol { peer: self.channel.peer, reason: reason.to_string() }
    }
}

/// The outcome of waiting for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<M> {
    /// The message.
    Is(M),
    /// No message came in time.
    Nothing,
    /// No message will come.
    End,
}
