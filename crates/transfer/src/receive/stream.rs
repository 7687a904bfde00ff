//! One data connection: it reads frames and writes their bytes into files.

use super::assembly::{Assembly, ReceiveError};
use super::incoming::OpenChunk;
use super::session::Event;
use super::session::workers::name;
use crate::channel::{Channel, Message, MessageReader, ReadOutcome};
use crate::error::TransferError;
use crate::wire::control::Id;
use crate::wire::data::{Data, LONGEST_PIECE, SMALL};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use units::Time;

/// Takes in data until the connection ends, and reports events to the session.
pub(super) fn serve(assembly: &Assembly, events: &Sender<Event>, channel: &Arc<Channel>) {
    let _ = events.send(Event::StreamBegan(Arc::clone(channel)));
    let ended = Stream { assembly, events, reader: MessageReader::new(channel), open: None }.run();
    channel.over_now();
    let _ = events.send(Event::StreamEnded(Arc::clone(channel), ended));
}

struct Stream<'a> {
    assembly: &'a Assembly,
    events: &'a Sender<Event>,
    reader: MessageReader<'a>,
    open: Option<(Id, u32, OpenChunk)>,
}

impl Stream<'_> {
    fn run(mut self) -> Result<(), ReceiveError> {
        loop {
            let message = match self.reader.message::<Data>(Time::NEVER) {
                Ok(Message::Is(message)) => message,
                Ok(Message::Nothing | Message::End) => return Ok(()),
                Err(error) => return Err(broke(error)),
            };
            let id = match message {
                Data::Small { id, .. }
                | Data::Piece { id, .. }
                | Data::ChunkEnd { id, .. }
                | Data::FileEnd { id, .. }
                | Data::Gone { id } => id,
            };
            let taken = self.take(message);
            if self.assembly.is_full() {
                name(self.assembly, self.events);
            }
            match taken {
                // Only this file is lost.
                Err(ReceiveError::File(reason)) => drop(self.events.send(Event::FileLost(id, reason))),
                other => other?,
            }
            if !matches!(message, Data::Piece { .. }) && self.assembly.settles() {
                let _ = self.events.send(Event::ChunkDone);
            }
        }
    }

    fn take(&mut self, message: Data) -> Result<(), ReceiveError> {
        let assembly = self.assembly;
        match message {
            Data::Small { id, length, digest } => {
                let length = length as usize;
                if length > SMALL {
                    return Err(ReceiveError::Protocol(format!("a small file of {length} bytes")));
                }
                while self.reader.held().len() < length {
                    self.more()?;
                }
                let stored = assembly.small(id, &self.reader.held()[..length], &digest);
                self.reader.consume(length);
                stored
            }
            Data::Piece { id, chunk, offset, length } => self.piece(id, chunk, offset, length as usize),
            Data::ChunkEnd { id, chunk, digest } => {
                let open = match self.open.take() {
                    Some((file, index, open)) if (file, index) == (id, chunk) => Some(open),
                    // No piece of the chunk came, so it is only a hole.
                    _ => assembly.chunk(id, chunk)?,
                };
                open.map_or(Ok(()), |open| assembly.chunk_end(open, &digest))
            }
            Data::FileEnd { id, digest } => assembly.file_end(id, &digest),
            Data::Gone { id } => {
                self.open = None;
                assembly.gone(id)
            }
        }
    }

    fn piece(&mut self, id: Id, chunk: u32, offset: u32, length: usize) -> Result<(), ReceiveError> {
        if length > LONGEST_PIECE {
            return Err(ReceiveError::Protocol(format!("a piece of {length} bytes")));
        }
        let assembly = self.assembly;
        let mut fate = Ok(());
        if self.open.as_ref().is_none_or(|(file, index, _)| (*file, *index) != (id, chunk)) {
            self.open = match assembly.chunk(id, chunk) {
                Ok(open) => open.map(|open| (id, chunk, open)),
                Err(trouble) => {
                    fate = Err(trouble);
                    None
                }
            };
        }
        // The bytes are read in any case, because the next message follows them.
        let (mut at, mut left) = (u64::from(offset), length);
        while left > 0 {
            while self.reader.held().is_empty() {
                self.more()?;
            }
            let held = self.reader.held();
            let part = &held[..held.len().min(left)];
            let count = part.len();
            if let Some((_, _, open)) = &mut self.open
                && fate.is_ok()
            {
                fate = assembly.piece(open, at, part);
            }
            self.reader.consume(count);
            at += count as u64;
            left -= count;
        }
        if fate.is_err() {
            self.open = None;
        }
        fate
    }

    fn more(&mut self) -> Result<(), ReceiveError> {
        match self.reader.more(Time::NEVER).map_err(broke)? {
            ReadOutcome::End => Err(broke(TransferError::gone("closed within a file"))),
            ReadOutcome::Bytes | ReadOutcome::Last | ReadOutcome::Nothing => Ok(()),
        }
    }
}

/// Makes the error of a broken data connection. It ends the sender's session, because the data on its way is lost, and
/// both sides would wait for it.
fn broke(error: TransferError) -> ReceiveError {
    match error {
        TransferError::PeerGone { reason } => {
            TransferError::gone(format!("a data connection broke: {reason}")).into()
        }
        other => other.into(),
    }
}
