//! [`Script`]: the bytes of a channel without a connection, whose incoming bytes it contains. No read or write on it
//! waits.

use super::clock;
use crate::channel::{ByteStream, Channel, RAW, ReadOutcome};
use crate::error::TransferError;
use crate::lock::locked;
use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use units::{Rate, Span, Time};

/// The next step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// Bytes that come all at once.
    Bytes(Vec<u8>),
    /// An event apart from the channel: its kind, and its parameters.
    Turn(u8, Vec<u8>),
}

/// The bytes that come on a channel, and those that were written to it.
#[derive(Debug, Default)]
pub(crate) struct Script {
    left: Mutex<VecDeque<Vec<u8>>>,
    written: Mutex<Vec<u8>>,
}

impl Script {
    /// Makes a channel on which these bytes come.
    pub(crate) fn channel(pieces: impl IntoIterator<Item = Vec<u8>>) -> (Arc<Self>, Arc<Channel>) {
        let left = Mutex::new(pieces.into_iter().collect());
        let script = Arc::new(Self { left, written: Mutex::default() });
        let carrier: Arc<dyn ByteStream> = script.clone();
        (script, Arc::new(Channel::over(carrier, ([192, 0, 2, 7], 5).into(), clock())))
    }

    /// Takes everything that was written to it.
    pub(crate) fn take_written(&self) -> Vec<u8> {
        std::mem::take(&mut locked(&self.written))
    }
}

impl ByteStream for Script {
    fn tcp(&self) -> &TcpStream {
        /// Both ends of a connection on which nothing passes, for callers that query the kernel.
        static SOCKETS: OnceLock<(TcpStream, TcpStream)> = OnceLock::new();
        let (tcp, _) = SOCKETS.get_or_init(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let one = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
            (one, listener.accept().expect("a connection").0)
        });
        tcp
    }

    fn exporter(&self, _label: &str) -> Result<[u8; 32], TransferError> {
        Ok([3; 32])
    }

    fn write(&self, bytes: &[u8], _closed: Span) -> Result<(), TransferError> {
        locked(&self.written).extend(bytes);
        Ok(())
    }

    fn read(&self, _raw: &mut [u8], plain: &mut Vec<u8>, _until: Time) -> Result<ReadOutcome, TransferError> {
        let Some(bytes) = locked(&self.left).pop_front() else { return Ok(ReadOutcome::End) };
        assert!(bytes.len() <= RAW, "one read");
        plain.extend(bytes);
        Ok(ReadOutcome::Bytes)
    }

    fn finish(&self) {}

    fn cut(&self) {}

    fn has_left(&self, _until: Time) -> Result<bool, TransferError> {
        Ok(false)
    }

    fn why(&self) -> TransferError {
        TransferError::gone("connection closed")
    }

    fn pace(&self, _rate: Option<Rate>) {}

    fn is_paced(&self) -> bool {
        false
    }

    fn is_held(&self) -> bool {
        false
    }

    fn waited(&self) -> [Span; 2] {
        [Span::ZERO; 2]
    }
}
