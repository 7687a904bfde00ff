//! One data connection: it reads, hashes and sends wanted files.

use super::outgoing::Outgoing;
use super::queue::Job;
use super::root::is_change;
use super::transfer::Transfer;
use crate::channel::Channel;
use crate::chunks::{ChunkHasher, small_file_digest};
use crate::error::TransferError;
use crate::progress::{EntryOutcome, Observer};
use crate::wire::data::{Data, LONGEST_PIECE};
use crate::wire::frame;
use rustix::fs::SeekFrom;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use units::Foreign;

/// The number of bytes handed to TLS at once: sixteen full records, and one system call.
const GATHER: usize = 256 << 10;

pub(super) struct Stream<'a> {
    transfer: &'a Transfer,
    observer: &'a dyn Observer,
    channel: &'a Channel,
    out: Vec<u8>,
}

/// An error that ends the sending of a file.
enum FileError {
    /// The file has changed since its offer.
    Changed,
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The error ends the whole transfer.
    Transfer(TransferError),
}

impl From<TransferError> for FileError {
    fn from(error: TransferError) -> Self {
        Self::Transfer(error)
    }
}

/// Sends until no more jobs come.
pub(super) fn serve(
    transfer: &Transfer,
    channel: &Channel,
    observer: &dyn Observer,
) -> Result<(), TransferError> {
    let mut stream = Stream::new(transfer, channel, observer);
    let mut used = false;
    loop {
        let job = match transfer.queue.take_now() {
            Some(job) => job,
            None => {
                stream.flush()?;
                match transfer.idle_for(|| transfer.queue.take()) {
                    Some(job) => job,
                    None => break,
                }
            }
        };
        if !std::mem::replace(&mut used, true) {
            transfer.uses(channel);
        }
        stream.work(&job)?;
        if stream.out.len() >= GATHER.min(transfer.limit.burst()) {
            stream.flush()?;
        }
    }
    stream.channel.finish();
    Ok(())
}

impl<'a> Stream<'a> {
    pub(super) fn new(transfer: &'a Transfer, channel: &'a Channel, observer: &'a dyn Observer) -> Self {
        Self { transfer, observer, channel, out: Vec::with_capacity(GATHER * 2) }
    }

    pub(super) fn work(&mut self, job: &Job) -> Result<(), TransferError> {
        let (Job::Small(file) | Job::Chunk(file, _) | Job::End(file)) = job;
        let result = match *job {
            Job::Small(_) => self.small(file),
            Job::Chunk(_, index) => self.chunk(file, index),
            Job::End(_) => self.end(file),
        };
        match result {
            Ok(()) => {}
            Err(FileError::Transfer(error)) => return Err(error),
            Err(lost) => self.give_up(file, lost)?,
        }
        Ok(())
    }

    fn small(&mut self, file: &Arc<Outgoing>) -> Result<(), FileError> {
        let length = file.chunks.size() as usize;
        let mut content = vec![0; length];
        let handle = self.read(|| {
            let handle = file.open()?;
            handle.read_exact_at(&mut content, 0)?;
            Ok(handle)
        })?;
        if !file.is_unchanged(&handle) {
            return Err(FileError::Changed);
        }
        let (digest, _) = small_file_digest(&content);
        frame::append(&mut self.out, &Data::Small { id: file.id, length: length as u32, digest });
        self.out.extend(&content);
        self.transfer.sent.fetch_add(length as u64, Relaxed);
        self.handed_over(file);
        Ok(())
    }

    fn chunk(&mut self, file: &Arc<Outgoing>, index: u32) -> Result<(), FileError> {
        let handle = self.file(file)?;
        let range = file.chunks.range(index);
        let mut hasher = ChunkHasher::default();
        let mut at = range.start;
        while at < range.end && !file.is_given_up() {
            let Some(data) = next_stretch(file, &handle, at, range.end)? else { break };
            at = data.start;
            while at < data.end {
                let length = (data.end - at).min(LONGEST_PIECE.min(self.transfer.limit.burst()) as u64);
                let offset = at - range.start;
                self.piece(file, &handle, index, offset, at, length as usize, &mut hasher)?;
                at += length;
            }
        }
        let digest = hasher.finish(range.end - range.start);
        frame::append(&mut self.out, &Data::ChunkEnd { id: file.id, chunk: index, digest });
        if file.sent(index, digest).is_some() {
            self.end(file)?;
        }
        Ok(())
    }

    /// Reads a piece straight behind its frame, so that the bytes are copied once.
    #[expect(clippy::too_many_arguments, reason = "the place of a piece, said in full")]
    fn piece(
        &mut self,
        file: &Outgoing,
        handle: &File,
        chunk: u32,
        offset: u64,
        at: u64,
        length: usize,
        hasher: &mut ChunkHasher,
    ) -> Result<(), FileError> {
        let start = self.out.len();
        let piece = Data::Piece { id: file.id, chunk, offset: offset as u32, length: length as u32 };
        frame::append(&mut self.out, &piece);
        let content = self.out.len();
        self.out.resize(content + length, 0);
        let began = self.transfer.clock.now();
        let read = handle.read_exact_at(&mut self.out[content..], at);
        self.transfer.disk.fetch_add(self.transfer.clock.now().since(began).as_nanos(), Relaxed);
        if let Err(error) = read {
            self.out.truncate(start);
            return Err(fault(error));
        }
        hasher.update(offset, &self.out[content..]);
        self.transfer.sent.fetch_add(length as u64, Relaxed);
        if self.out.len() >= GATHER.min(self.transfer.limit.burst()) {
            self.flush()?;
        }
        Ok(())
    }

    /// Ends a file of which all chunks are sent, or existed before.
    fn end(&mut self, file: &Arc<Outgoing>) -> Result<(), FileError> {
        let handle = self.file(file)?;
        if !file.is_unchanged(&handle) {
            return Err(FileError::Changed);
        }
        if let Some(digest) = file.digest() {
            frame::append(&mut self.out, &Data::FileEnd { id: file.id, digest });
            self.handed_over(file);
        }
        Ok(())
    }

    /// Ends the offer of a file that was sent.
    fn handed_over(&self, file: &Outgoing) {
        if self.transfer.queue.end(file.id).is_some() {
            self.observer.moved(&file.name, EntryOutcome::Sent);
        }
    }

    /// Gives up a file that cannot be sent now, or that cannot be read at all.
    fn give_up(&mut self, file: &Arc<Outgoing>, lost: FileError) -> Result<(), TransferError> {
        if !file.give_up() {
            return Ok(());
        }
        frame::append(&mut self.out, &Data::Gone { id: file.id });
        // A new offer of the file must not overtake this message.
        self.flush()?;
        if let FileError::Unreadable(error) = lost {
            let path = file.shown();
            self.transfer.lost_file(file, format!("{}: {error}", Foreign::path(&path)));
        } else {
            self.transfer.queue.again(file);
        }
        Ok(())
    }

    /// Returns the open file, unless it has changed since its offer.
    fn file(&self, file: &Outgoing) -> Result<Arc<File>, FileError> {
        self.read(|| file.file())?.ok_or(FileError::Changed)
    }

    fn read<T>(&self, read: impl FnOnce() -> io::Result<T>) -> Result<T, FileError> {
        let began = self.transfer.clock.now();
        let result = read();
        self.transfer.disk.fetch_add(self.transfer.clock.now().since(began).as_nanos(), Relaxed);
        result.map_err(fault)
    }

    pub(super) fn flush(&mut self) -> Result<(), TransferError> {
        if !self.out.is_empty() {
            self.transfer.limit.take(self.out.len() as u64);
            self.channel.write_data(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}

/// Classifies an error of reading. A file that is shorter than before, has vanished, or can be reached only through a
/// link counts as changed. The next offer of it reports the reason.
fn fault(error: io::Error) -> FileError {
    if error.kind() == io::ErrorKind::UnexpectedEof || is_change(&error) {
        FileError::Changed
    } else {
        FileError::Unreadable(error)
    }
}

/// Returns the next bytes between `at` and `end` that must be read.
fn next_stretch(file: &Outgoing, handle: &File, at: u64, end: u64) -> Result<Option<Range<u64>>, FileError> {
    if file.sparse { next_data(handle, at, end) } else { Ok(Some(at..end)) }
}

/// Returns the next bytes between `at` and `end` that are not in a hole.
fn next_data(file: &File, at: u64, end: u64) -> Result<Option<Range<u64>>, FileError> {
    let seek = |from| rustix::fs::seek(file, from);
    let start = match seek(SeekFrom::Data(at)) {
        Ok(start) if start < end => start,
        Ok(_) | Err(rustix::io::Errno::NXIO) => return Ok(None),
        // This file system knows no holes.
        Err(rustix::io::Errno::INVAL) => return Ok(Some(at..end)),
        Err(error) => return Err(fault(error.into())),
    };
    let stop = seek(SeekFrom::Hole(start)).map_err(|error| fault(error.into()))?;
    Ok(Some(start..stop.min(end)))
}
