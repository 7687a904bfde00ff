//! For the fuzz targets only (`--cfg fuzzing`): a channel without a connection, whose incoming bytes a script says.
//! Nothing on it waits.

use super::{Channel, Got, RAW};
use crate::fuzzing::clock;
use crate::keys::{Key, receiver_tls};
use crate::lock::locked;
use crate::ticket::Secret;
use rustls::{ServerConfig, ServerConnection};
use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// What comes next.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// Bytes, all at once.
    Bytes(Vec<u8>),
    /// Something happens beside the channel, which its reader does when it is asked to wait: a kind, and more about it.
    Turn(u8, Vec<u8>),
}

/// What comes on a channel, and what was written to it.
#[derive(Debug)]
pub(super) struct Script {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    left: VecDeque<Segment>,
    /// The reader was told that nothing came, because of a turn.
    stopped: bool,
    written: Vec<u8>,
}

impl Script {
    pub(super) fn read(&self, plain: &mut Vec<u8>) -> Got {
        let mut state = self.lock();
        if std::mem::take(&mut state.stopped) {
            // Nobody here takes turns.
            state.left.pop_front();
        }
        match state.left.front() {
            Some(Segment::Bytes(_)) => {
                let Some(Segment::Bytes(bytes)) = state.left.pop_front() else { unreachable!() };
                assert!(bytes.len() <= RAW, "one read");
                plain.extend(bytes);
                Got::Bytes
            }
            Some(Segment::Turn(..)) => {
                state.stopped = true;
                Got::Nothing
            }
            None => Got::End,
        }
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        self.lock().written.extend(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl Channel {
    /// A channel on which these segments come.
    pub(crate) fn scripted(segments: impl IntoIterator<Item = Segment>) -> Self {
        /// Both ends of a connection on which nothing passes, for who asks the kernel, and a configuration.
        type Shared = (Arc<TcpStream>, TcpStream, Arc<ServerConfig>);
        static SHARED: OnceLock<Shared> = OnceLock::new();
        let (tcp, _, tls) = SHARED.get_or_init(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let one = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
            let (other, _) = listener.accept().expect("a connection");
            (Arc::new(one), other, receiver_tls(&Key::new(&[1; 32]), &Secret([2; 16])))
        });
        let state = State { left: segments.into_iter().collect(), stopped: false, written: Vec::new() };
        let tls = ServerConnection::new(Arc::clone(tls)).expect("the configuration is whole");
        Self {
            tcp: Arc::clone(tcp),
            tls: Mutex::new(tls.into()),
            peer: ([192, 0, 2, 7], 5).into(),
            clock: clock(),
            early: Mutex::default(),
            pace: Mutex::default(),
            waited: Default::default(),
            taken: AtomicU64::new(0),
            held: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            script: Some(Script { state: Mutex::new(state) }),
        }
    }

    /// The turn that its reader has come to.
    pub(crate) fn turn(&self) -> Option<(u8, Vec<u8>)> {
        let mut state = self.script.as_ref()?.lock();
        if !std::mem::take(&mut state.stopped) {
            return None;
        }
        match state.left.pop_front() {
            Some(Segment::Turn(kind, about)) => Some((kind, about)),
            other => unreachable!("it stopped at {other:?}"),
        }
    }

    /// All that was written to it.
    pub(crate) fn take_written(&self) -> Vec<u8> {
        self.script.as_ref().map(|script| std::mem::take(&mut script.lock().written)).unwrap_or_default()
    }
}
