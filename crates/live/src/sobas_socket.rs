//! [`SobasSocket`]: a program's own connection, with a receive window that SOBAS finds.

use crate::error::LiveError;
use crate::probed_group::ProbedGroup;
use crate::sized_group::SizedGroup;
use host::Clock;
use host::TcpInfo;
use probe::{ProbeKey, Prober};
use sizing::{
    Input, PhaseChange, SenderReport, SizerConfig, SizerState, Sobas, USUAL_MAXIMUM, USUAL_SEGMENT,
};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::slice::from_ref;
use std::time::Duration;
use units::{Bytes, Rate, Span};

/// A TCP connection through which data is received, and whose window is sized while it runs [sobas:IV].
///
/// The program reads from the socket as usual, and calls [`poll`](Self::poll) regularly. A call after each read is
/// enough, and costs almost nothing when nothing is due. While data arrives, no more than 10 ms should pass between two
/// calls. By itself the sizer has only the measurements of the receiving socket. With a [`Prober`] and reports from its
/// sender it decides sooner, and can tell a lossy path from a full one.
///
/// ```
/// use std::io::{Read, Write};
/// use std::net::{TcpListener, TcpStream};
/// use tightlink_live::SobasSocket;
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?;
/// let sender = std::thread::spawn(move || TcpStream::connect(address)?.write_all(&[7; 2_000_000]));
///
/// let (stream, _) = listener.accept()?;
/// let mut sized = SobasSocket::new(stream)?;
/// let (mut received, mut buffer) = (0, vec![0; 64 * 1024]);
/// loop {
///     let length = sized.get_mut().read(&mut buffer)?;
///     if length == 0 {
///         break;
///     }
///     received += length;
///     sized.poll()?;
/// }
/// assert_eq!(received, 2_000_000);
/// println!("window {:?}: {}", sized.window(), sized.state().reason);
/// # sender.join().expect("no panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SobasSocket<S> {
    socket: S,
    probed_group: ProbedGroup,
    clock: Clock,
    pacing: Option<Option<Rate>>,
}

impl<S: AsFd> SobasSocket<S> {
    /// Takes over the window of an *established* connection, with the measurements of its own socket.
    ///
    /// # Errors
    /// [`LiveError::Host`] if it is not a TCP connection, or the kernel refuses.
    pub fn new(socket: S) -> Result<Self, LiveError> {
        Self::make(socket, None, |config| SizerConfig { trains: 0, ..config })
    }

    /// Takes over the window, with probes and packet trains from the [`Echoer`](probe::Echoer) at `echoer`, on the
    /// machine that sends the data. Call it before data flows, because the trains measure the path then.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and [`LiveError::Probe`].
    pub fn with_probes(
        socket: S,
        echoer: SocketAddr,
        key: &ProbeKey,
        session: u64,
    ) -> Result<Self, LiveError> {
        let prober = Prober::connect(echoer, key, session)?;
        Self::make(socket, Some(prober), |config| config)
    }

    fn make(
        socket: S,
        prober: Option<Prober>,
        adapt: impl FnOnce(SizerConfig) -> SizerConfig,
    ) -> Result<Self, LiveError> {
        let info = TcpInfo::of(&socket)?;
        let came = info.stream_received() > Bytes::ZERO;
        let segment = if came { info.rcv_mss } else { USUAL_SEGMENT };
        let sobas = Sobas::new(adapt(SizerConfig::new(segment, USUAL_MAXIMUM)));
        let clock = Clock::start();
        let mut group = SizedGroup::new(Box::new(sobas), segment, USUAL_MAXIMUM, clock.now());
        group.join(from_ref(&socket))?;
        Ok(Self { socket, probed_group: ProbedGroup::new(group, prober), clock, pacing: None })
    }

    /// Measures, decides and sets the window, as far as these are due.
    ///
    /// # Errors
    /// [`LiveError::Host`] if the kernel refuses. The connection is unharmed, and the program may go on reading without
    /// calling this.
    pub fn poll(&mut self) -> Result<(), LiveError> {
        let pace = self.probed_group.poll(from_ref(&self.socket), &self.clock)?;
        self.pacing = pace.or(self.pacing);
        Ok(())
    }

    /// Returns the time until the next call of [`poll`](Self::poll) is due, for programs that wait; `None`: it is due
    /// now.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let wait = self.probed_group.wakeup().since(self.clock.now());
        (wait > Span::ZERO).then(|| Duration::from_nanos(wait.as_nanos()))
    }

    /// Returns true while the path is measured without data: only with probes, for some round trips at the beginning.
    /// If the program's protocol allows it, the sender should hold its data back for so long.
    #[must_use]
    pub fn wants_quiet(&self) -> bool {
        self.probed_group.wants_quiet()
    }

    /// Takes the sender's report on its own transfer, where the program's protocol can carry one.
    ///
    /// # Errors
    /// As for [`poll`](Self::poll).
    pub fn on_sender_report(&mut self, report: SenderReport) -> Result<(), LiveError> {
        self.probed_group.group.tell(from_ref(&self.socket), self.clock.now(), Input::Sender(report))
    }

    /// Returns the rate at which the sender should pace, if it changed since the last call, where the program's
    /// protocol can carry it; `Some(None)`: without a cap.
    pub fn take_pacing(&mut self) -> Option<Option<Rate>> {
        self.pacing.take()
    }

    /// Returns the requested window; `None` for the maximum.
    #[must_use]
    pub const fn window(&self) -> Option<Bytes> {
        self.probed_group.group.requested()
    }

    /// Returns the current state of SOBAS and the reason for it.
    #[must_use]
    pub fn state(&self) -> SizerState {
        self.probed_group.group.sizer().state()
    }

    /// Returns the phases so far; their times count from the creation of this value.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        self.probed_group.group.changes()
    }

    /// Returns the prober, so that the program can wait for its socket.
    #[must_use]
    pub const fn prober(&self) -> Option<&Prober> {
        self.probed_group.prober()
    }

    /// Returns the socket.
    #[must_use]
    pub const fn get_ref(&self) -> &S {
        &self.socket
    }

    /// Returns the socket, to read from.
    #[must_use]
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.socket
    }

    /// Returns the socket alone; its window stays as it is.
    #[must_use]
    pub fn into_inner(self) -> S {
        self.socket
    }
}
