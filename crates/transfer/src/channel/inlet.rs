//! [`Inlet`]: the reading end of a [`Channel`].

use super::{Channel, Got, RAW};
use crate::error::TransferError;
use crate::lock::locked;
use crate::wire::frame::{self, Framed};
use std::sync::atomic::Ordering;
use units::Time;

/// The reading end of a channel: decrypted bytes, in order.
#[derive(Debug)]
pub(crate) struct Inlet<'a> {
    channel: &'a Channel,
    raw: Vec<u8>,
    plain: Vec<u8>,
    at: usize,
}

impl<'a> Inlet<'a> {
    pub(crate) fn new(channel: &'a Channel) -> Self {
        let early = std::mem::take(&mut *locked(&channel.early));
        Self { channel, raw: vec![0; RAW], plain: early, at: 0 }
    }

    /// What is there and not consumed.
    pub(crate) fn held(&self) -> &[u8] {
        &self.plain[self.at..]
    }

    /// `count` bytes of what is held were used.
    pub(crate) fn consume(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.plain.len());
        if self.at == self.plain.len() {
            self.plain.clear();
            self.at = 0;
        }
    }

    /// Reads more, once.
    pub(crate) fn more(&mut self, until: Time) -> Result<Got, TransferError> {
        if self.channel.ended.load(Ordering::Relaxed) {
            return Ok(Got::End);
        }
        if self.at > 0 {
            self.plain.drain(..self.at);
            self.at = 0;
        }
        self.channel.read(&mut self.raw, &mut self.plain, until)
    }
}

impl Inlet<'_> {
    /// The next message, and `None` if none came until then.
    ///
    /// # Errors
    /// [`TransferError::Protocol`] for what is no message, and what reading can end with.
    pub(crate) fn message<M: Framed>(&mut self, until: Time) -> Result<Message<M>, TransferError> {
        let mut overdue = false;
        loop {
            let first = frame::first(self.held()).map_err(|error| self.protocol(error))?;
            if let Some((message, length)) = first {
                self.consume(length);
                return Ok(Message::Is(message));
            }
            // What comes without an end is no message either.
            if overdue {
                return Ok(Message::Nothing);
            }
            overdue = self.channel.clock.now() > until;
            match self.more(until)? {
                Got::Bytes | Got::Last => {}
                Got::Nothing => return Ok(Message::Nothing),
                Got::End if self.held().is_empty() => return Ok(Message::End),
                Got::End => return Err(TransferError::gone("closed within a message")),
            }
        }
    }

    /// Waits for messages until then, and returns all that are whole; none if none came. `None` at the end.
    ///
    /// # Errors
    /// As for [`message`](Self::message).
    pub(crate) fn messages<M: Framed>(&mut self, until: Time) -> Result<Option<Vec<M>>, TransferError> {
        let mut messages = match self.message(until)? {
            Message::Is(message) => vec![message],
            Message::Nothing => return Ok(Some(Vec::new())),
            Message::End => return Ok(None),
        };
        // What is no message shows when it is the next one.
        while let Ok(Some((message, length))) = frame::first(self.held()) {
            self.consume(length);
            messages.push(message);
        }
        Ok(Some(messages))
    }

    /// What is not consumed is left to the next inlet.
    pub(crate) fn put_back(self) {
        *locked(&self.channel.early) = self.held().to_vec();
    }

    /// The other side broke the rules.
    #[expect(clippy::needless_pass_by_value, reason = "a text or an error, as it comes")]
    pub(crate) fn protocol(&self, reason: impl ToString) -> TransferError {
        TransferError::Protocol { peer: self.channel.peer, reason: reason.to_string() }
    }
}

/// The outcome of waiting for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<M> {
    /// Here it is.
    Is(M),
    /// None came in time.
    Nothing,
    /// None will come.
    End,
}
