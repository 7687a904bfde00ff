//! One sender's session, from its greeting to its end: what its connections share.
//!
//! `sender/control.rs` is its control connection, `sender/workers.rs` what is done beside that: reading what is there,
//! giving names to whole files, asking the receiver's user.

mod control;
mod workers;

use super::assembly::{Examination, Trouble};
use super::consent::Consent;
use super::listen::Standing;
use super::shared::Shared;
use super::windows::{Echo, WindowState};
use crate::channel::Channel;
use crate::error::{Ending, TransferError};
use crate::keys::fill_random;
use crate::limits::LimitTimes;
use crate::lock::locked;
use crate::progress::Question;
use crate::summary::Summary;
use crate::wire::control::{Id, Report, ToSender, Verdict, Why};
use crate::wire::{TAKEN_OVER, frame};
use control::Control;
use host::TcpInfo;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use units::{Span, Time};
pub(super) use workers::name_all;

/// Data that a dead sender had sent may still arrive.
const LINGER: Span = Span::from_secs(2);
/// More data connections than this are of no use to anybody.
const MOST_STREAMS: u16 = 64;
/// From this version of the protocol on, more data connections may come than were announced.
const JOINING: u16 = 3;
/// How often it is looked whether threads have left.
const EXIT_POLL: Duration = Duration::from_millis(5);

/// What the connections of one sender share.
#[derive(Debug)]
pub(super) struct SenderSession {
    pub(super) peer: SocketAddr,
    token: [u8; 16],
    /// Data connections that were announced, or the most that were there at a time.
    streams: AtomicU16,
    closed: AtomicBool,
    /// Why the session cannot go on.
    fatal: Mutex<Option<TransferError>>,
    /// Entries that cannot be had, to be told.
    lost: Mutex<Vec<(Id, String)>>,
    /// Offers that were answered after something was read.
    answers: Mutex<Vec<(Id, Verdict)>>,
    jobs: Mutex<Jobs>,
    /// There is something to do, or the sender session is over.
    nudge: Condvar,
    /// Of the protocol, as the sender speaks it.
    version: u16,
    data: Mutex<Vec<Arc<Channel>>>,
    /// What the sender said of its connections last.
    pub(super) report: Mutex<Report>,
    /// What limited them, according to the sender.
    limits: Mutex<Option<LimitTimes>>,
    /// Over all data connections.
    pub(super) window: Mutex<WindowState>,
    /// The path is being measured without the data: answers that would let it flow wait.
    quiet: AtomicBool,
    /// Where probes are echoed.
    pub(super) echo: Option<Echo>,
    /// Nanoseconds that data connections which have ended waited for the network.
    waited: AtomicU64,
    /// Bytes that came on those.
    received: AtomicU64,
    /// Whether it keeps its place when another sender comes.
    pub(super) standing: Standing,
}

/// What is to be done beside the control connection.
#[derive(Debug, Default)]
struct Jobs {
    examinations: VecDeque<Box<Examination>>,
    question: Option<Question>,
    /// The receiver's user has answered.
    answer: Option<bool>,
    over: bool,
}

impl SenderSession {
    pub(super) fn new(
        peer: SocketAddr,
        version: u16,
        streams: u16,
        echo: Option<Echo>,
        standing: Standing,
    ) -> Self {
        let mut token = [0; 16];
        fill_random(&mut token);
        Self {
            peer,
            token,
            streams: AtomicU16::new(streams.clamp(1, MOST_STREAMS)),
            closed: AtomicBool::new(false),
            fatal: Mutex::default(),
            lost: Mutex::default(),
            answers: Mutex::default(),
            jobs: Mutex::default(),
            nudge: Condvar::new(),
            version,
            data: Mutex::default(),
            report: Mutex::default(),
            limits: Mutex::default(),
            window: Mutex::default(),
            quiet: AtomicBool::new(false),
            echo,
            waited: AtomicU64::new(0),
            received: AtomicU64::new(0),
            standing,
        }
    }

    /// From now on answers wait, for [`QUIET`] at most.
    pub(super) fn begin_quiet(&self) {
        self.quiet.store(true, Ordering::Release);
    }

    /// The data may flow.
    pub(super) fn end_quiet(&self) {
        self.quiet.store(false, Ordering::Release);
    }

    /// The data connections, so far as they have come.
    pub(super) fn channels(&self) -> Vec<Arc<Channel>> {
        locked(&self.data).clone()
    }

    /// How many data connections there are or will soon be.
    pub(super) fn streams(&self) -> u16 {
        self.streams.load(Ordering::Relaxed)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Nanoseconds that all data connections waited for the network.
    fn waited(&self) -> u64 {
        let open: u64 = locked(&self.data).iter().map(|channel| channel.waited_to_receive().as_nanos()).sum();
        open + self.waited.load(Ordering::Relaxed)
    }

    /// Bytes that came on all data connections.
    fn received(&self) -> u64 {
        let open: u64 = locked(&self.data).iter().map(|channel| came(channel)).sum();
        open + self.received.load(Ordering::Relaxed)
    }

    pub(super) fn is(&self, token: &[u8; 16]) -> bool {
        blake3::hash(&self.token) == blake3::hash(token) && !self.closed.load(Ordering::Acquire)
    }

    /// One more data connection; false if there are enough.
    pub(super) fn join(&self, channel: &Arc<Channel>) -> bool {
        let mut data = locked(&self.data);
        let most = if self.version >= JOINING { MOST_STREAMS } else { self.streams() };
        let room = data.len() < usize::from(most) && !self.closed.load(Ordering::Acquire);
        if room {
            data.push(Arc::clone(channel));
            self.streams.fetch_max(data.len() as u16, Ordering::Relaxed);
        }
        room
    }

    /// A data connection has ended.
    pub(super) fn leave(&self, channel: &Arc<Channel>) {
        self.waited.fetch_add(channel.waited_to_receive().as_nanos(), Ordering::Relaxed);
        self.received.fetch_add(came(channel), Ordering::Relaxed);
        locked(&self.data).retain(|other| !Arc::ptr_eq(other, channel));
    }

    /// Ends all data connections, and waits until their threads have left.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        for channel in locked(&self.data).iter() {
            channel.cut();
        }
        while !locked(&self.data).is_empty() {
            std::thread::park_timeout(EXIT_POLL);
        }
    }

    /// What the sender is told when the sender session ends by `error`.
    fn last_word(&self, error: &TransferError) -> ToSender {
        match error {
            _ if self.standing.is_replaced() => ToSender::Abort { reason: TAKEN_OVER.to_owned() },
            TransferError::NotAccepted(reason) if self.version >= 2 => {
                ToSender::GivesUp { why: Why::Declined, reason: reason.clone() }
            }
            full if full.ending() == Ending::Disk && self.version >= 2 => {
                ToSender::GivesUp { why: Why::Disk, reason: full.for_the_other_side() }
            }
            other => ToSender::Abort { reason: other.for_the_other_side() },
        }
    }

    /// What a data connection ran into.
    pub(super) fn trouble(&self, trouble: Trouble, id: Id) {
        match trouble {
            Trouble::File(reason) => locked(&self.lost).push((id, reason)),
            Trouble::Session(error) => {
                locked(&self.fatal).get_or_insert(error);
            }
            Trouble::Protocol(reason) => {
                let error = TransferError::Protocol { peer: self.peer, reason };
                locked(&self.fatal).get_or_insert(error);
            }
        }
    }
}

/// Bytes that came on a connection, according to the kernel.
fn came(channel: &Channel) -> u64 {
    TcpInfo::of(channel).map_or(0, |info| info.bytes_received.get())
}

/// Says that it cannot be now, and gives the sender until then to read it.
pub(super) fn turn_away(channel: &Channel, reason: String, until: Time) {
    let mut out = Vec::new();
    frame::append(&mut out, &ToSender::Busy(reason));
    let _ = channel.write(&out);
    channel.finish();
    channel.drain(until);
}

/// Serves a sender until its session is finished (what was received), or it leaves before that.
pub(super) fn serve(
    shared: &Shared<'_>,
    sender: &SenderSession,
    channel: &Channel,
) -> Result<Option<Summary>, TransferError> {
    let now = shared.receiver.clock.now();
    let resumed = shared.receiver.assembly.begin()?;
    let word = if resumed { "goes on with the session" } else { "begins" };
    shared.observer.say(&format!("{} {word}", sender.peer));
    let spent = std::mem::take(&mut *locked(&shared.spent));
    let consent = Consent::new(shared.receiver.accept, sender.peer, spent);
    let mut control = Control::new(shared, sender, channel, consent, resumed, now);
    frame::append(&mut control.out, &ToSender::Welcome { token: sender.token, resumed });
    let ended = workers::beside(shared, sender, || control.flush().and_then(|()| control.run()));
    if let Err(error) = &ended {
        match error {
            TransferError::PeerGone { .. } if !sender.standing.is_replaced() => control.linger(),
            other => {
                // What was not said yet is of no interest any more.
                control.out.clear();
                frame::append(&mut control.out, &sender.last_word(other));
                let _ = control.flush();
                channel.finish();
                // Closed with something unread, the connection would be reset, and the reason lost.
                channel.drain(shared.receiver.clock.now() + LINGER);
            }
        }
    }
    *locked(&shared.spent) = control.into_spent();
    // Whole files that wait for their names get them, whatever ended the sender session.
    let named = shared.receiver.assembly.name_waiting();
    shared.receiver.assembly.checkpoint()?;
    let ended = ended?;
    named?;
    Ok(ended)
}
