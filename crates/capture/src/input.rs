//! The bytes of a file: decompressed, counted, and seen through a window.
//!
//! Compressed input is untrusted: a kilobyte of it can stand for a gigabyte. So decompressed data passes through one
//! buffer and is never kept, and its sum has a limit.

use crate::error::{FILES, Place, TraceError};
use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4;
use ruzstd::decoding::BlockDecodingStrategy::UptoBlocks;
use ruzstd::decoding::FrameDecoder as Zstd;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// The number of bytes that are read at a time.
const PIECE: usize = 1 << 18;
/// The most bytes of a file, decompressed: 64 GiB. Reading a longer file ends with an error.
pub const MOST_BYTES: u64 = 1 << 36;

/// The first bytes of the files that each decoder reads.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const LZ4: &[u8] = &[0x04, 0x22, 0x4d, 0x18];
/// The last three bytes of the sixteen numbers with which skippable frames begin (RFC 8878, 3.1.2); `pzstd` writes such
/// a frame in front.
const SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Files that have to be unpacked first: their first bytes, the format, the command.
const PACKED: &[(&[u8], &str, &str)] = &[
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz", "xz -dk FILE"),
    (b"BZh", "bzip2", "bzip2 -dk FILE"),
    (&[0x1f, 0x9d], "compress", "gzip -dk FILE"),
    (b"PK\x03\x04", "zip", "unzip FILE"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x FILE"),
    (b"LZIP", "lzip", "lzip -dk FILE"),
];

/// A file's bytes, from which the readers of its formats take.
pub(crate) struct Input<'a> {
    source: Box<dyn Read + 'a>,
    /// The name of the file's compression.
    compression: Option<&'static str>,
    window: Vec<u8>,
    /// The place in `window` of the first byte that has not been taken.
    at: usize,
    /// The end in `window` of the bytes that have not been taken.
    end: usize,
    /// The offset of `at` in the file.
    offset: u64,
    ended: bool,
    /// True if the compressed data ends too early.
    cut: bool,
}

impl<'a> Input<'a> {
    /// Opens `source`, and detects its compression.
    pub(crate) fn new(source: impl Read + 'a) -> Result<Self, TraceError> {
        let mut source = BufReader::with_capacity(PIECE, source);
        // A pipe may return a byte at a time, so the bytes read here are put back in front.
        let mut first = Vec::new();
        let read = source.by_ref().take(6).read_to_end(&mut first);
        read.map_err(|error| TraceError::new(Place::Whole, error.to_string(), "a file that can be read"))?;
        for (magic, name, command) in PACKED {
            if first.starts_with(magic) {
                return Err(TraceError::new(Place::Whole, format!("compressed with {name}"), FILES)
                    .help(format!("decompress it: {command}")));
            }
        }
        let skippable = first.get(1..4) == Some(SKIPPABLE) && first[0] & 0xf0 == 0x50;
        let kind = (first.starts_with(GZIP).then_some("gzip"))
            .or((first.starts_with(ZSTD) || skippable).then_some("zstd"))
            .or(first.starts_with(LZ4).then_some("lz4"));
        let whole = BufReader::with_capacity(PIECE, io::Cursor::new(first).chain(source));
        let source: Box<dyn Read + 'a> = match kind {
            Some("gzip") => Box::new(Gzip(Some(GzDecoder::new(whole)))),
            Some("zstd") => Box::new(ZstdFrames { decoder: Zstd::new(), source: whole }),
            Some(_) => Box::new(Lz4Frames(Lz4::new(whole))),
            None => Box::new(whole),
        };
        let window = Vec::new();
        Ok(Self { source, compression: kind, window, at: 0, end: 0, offset: 0, ended: false, cut: false })
    }

    /// Returns the bytes that have not been taken: at least `wanted`, unless the file ends before.
    pub(crate) fn see(&mut self, wanted: usize) -> Result<&[u8], TraceError> {
        while self.end - self.at < wanted && !self.ended {
            if self.window.len() - self.at < wanted || self.window.len() == self.end {
                self.window.copy_within(self.at..self.end, 0);
                (self.at, self.end) = (0, self.end - self.at);
                self.window.resize(self.window.len().max(wanted + PIECE), 0);
            }
            match self.source.read(&mut self.window[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.failed(&error)?,
            }
            if self.offset + (self.end - self.at) as u64 > MOST_BYTES {
                let found = format!("more than {} GiB of packets", MOST_BYTES >> 30);
                return Err(TraceError::new(Place::Whole, found, "a file of at most so much, decompressed")
                    .help("take a part of it: editcap -r IN OUT 1-1000000"));
            }
        }
        Ok(&self.window[self.at..self.end])
    }

    /// Handles an error of reading. Compressed data that ends too early is a capture that was cut off; other errors end
    /// the reading.
    fn failed(&mut self, error: &io::Error) -> Result<(), TraceError> {
        let Some(compression) = self.compression else {
            return Err(TraceError::new(Place::Whole, error.to_string(), "a file that can be read"));
        };
        if error.kind() == ErrorKind::UnexpectedEof {
            (self.ended, self.cut) = (true, true);
            return Ok(());
        }
        let found = format!("damaged {compression} data: {error}");
        Err(TraceError::new(Place::Whole, found, format!("whole {compression} data")))
    }

    /// Moves on by `length` bytes that were seen.
    pub(crate) fn take(&mut self, length: usize) {
        self.at += length;
        self.offset += length as u64;
        debug_assert!(self.at <= self.end);
    }

    /// Moves on by `length` bytes, seen or not. Returns false if the file has fewer.
    pub(crate) fn skip(&mut self, mut length: u64) -> Result<bool, TraceError> {
        while length > 0 {
            let seen = self.see(1)?.len();
            if seen == 0 {
                return Ok(false);
            }
            let step = usize::try_from(length).unwrap_or(usize::MAX).min(seen);
            self.take(step);
            length -= step as u64;
        }
        Ok(true)
    }

    /// Returns the number of bytes that have been taken.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the name of the compression, if the compressed data ends too early.
    pub(crate) fn cut(&self) -> Option<&'static str> {
        self.compression.filter(|_| self.cut)
    }
}

/// The members of a gzip file one after the other. Zeros may follow the last, as `tar` and tapes leave them.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            match member.read(into)? {
                0 => {}
                read => return Ok(read),
            }
            let mut rest = self.0.take().map(GzDecoder::into_inner);
            while let Some(source) = &mut rest {
                let ahead = source.fill_buf()?;
                let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
                let (ends, goes_on) = (ahead.is_empty(), zeros < ahead.len());
                source.consume(zeros);
                if ends {
                    rest = None;
                } else if goes_on {
                    break;
                }
            }
            self.0 = rest.map(GzDecoder::new);
        }
        Ok(0)
    }
}

/// The frames of a zstd file one after the other, each with its checksum (RFC 8878).
struct ZstdFrames<R> {
    decoder: Zstd,
    source: R,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(into);
            }
            if !self.decoder.is_finished() {
                self.decoder.decode_blocks(&mut self.source, UptoBlocks(1)).map_err(io_error)?;
                continue;
            }
            let (says, is) = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
            if says.is_some() && says != is {
                return Err(io::Error::new(ErrorKind::InvalidData, "the checksum does not fit"));
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {}
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.source.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io_error(error)),
            }
        }
    }
}

/// Converts an error of the decoder, which wraps the end of its input in errors of its own.
fn io_error(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::UnexpectedEof) {
            return ErrorKind::UnexpectedEof.into();
        }
        cause = inner.source();
    }
    io::Error::new(ErrorKind::InvalidData, error)
}

/// The frames of an lz4 file one after the other: the decoder stops at the end of each.
struct Lz4Frames<R: BufRead>(Lz4<R>);

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(into)?;
            if read > 0 || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(read);
            }
        }
    }
}
