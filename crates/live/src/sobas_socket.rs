//! [`SobasSocket`]: a program's own connection, with a receive window that SOBAS finds.

use crate::error::LiveError;
use crate::pilot::Pilot;
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

/// A TCP connection that data is received through, whose window is sized while it runs [sobas:IV].
///
/// The program reads from the socket as ever, and calls [`poll`](Self::poll) now and then. A call after each read is
/// well, and costs next to nothing when nothing is due. No more than 10 ms should pass between two calls while data
/// comes. Nothing else is asked of it. Alone it knows only the measurements of the receiving socket. With a
/// [`Prober`] and reports from its sender it decides sooner, and tells a lossy path from a full one.
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
    pilot: Pilot,
    clock: Clock,
    pacing: Option<Option<Rate>>,
}

impl<S: AsFd> SobasSocket<S> {
    /// Takes over the window of an *established* connection, with what its own socket tells.
    ///
    /// # Errors
    /// [`LiveError::Host`] if it is no TCP connection, or the kernel refuses.
    pub fn new(socket: S) -> Result<Self, LiveError> {
        Self::make(socket, None, |config| SizerConfig { trains: 0, ..config })
    }

    /// The same with probes and packet trains from the [`Echoer`](probe::Echoer) at `echoer`, on the machine that
    /// sends the data. Call it before data flows: the trains measure the path then.
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
        Ok(Self { socket, pilot: Pilot::new(group, prober), clock, pacing: None })
    }

    /// Measures, decides and sets the window, as far as anything is due.
    ///
    /// # Errors
    /// [`LiveError::Host`]: the connection is unharmed, and may be read on without this.
    pub fn poll(&mut self) -> Result<(), LiveError> {
        let pace = self.pilot.poll(from_ref(&self.socket), &self.clock)?;
        self.pacing = pace.or(self.pacing);
        Ok(())
    }

    /// When [`poll`](Self::poll) has something to do next, for programs that wait; `None`: as soon as it is called.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let wait = self.pilot.wakeup().since(self.clock.now());
        (wait > Span::ZERO).then(|| Duration::from_nanos(wait.as_nanos()))
    }

    /// Whether the path is being measured without the data: a program whose protocol can, has its sender wait so
    /// long. Only with probes, and for some round trips at the beginning.
    #[must_use]
    pub fn wants_quiet(&self) -> bool {
        self.pilot.wants_quiet()
    }

    /// Says what the sender of the data knows about its own transfer, where the program's protocol can carry that.
    ///
    /// # Errors
    /// As for [`poll`](Self::poll).
    pub fn on_sender_report(&mut self, report: SenderReport) -> Result<(), LiveError> {
        self.pilot.group.tell(from_ref(&self.socket), self.clock.now(), Input::Sender(report))
    }

    /// The rate at which the sender should pace since this was asked last, where the program's protocol can carry that;
    /// `Some(None)`: without a cap.
    pub fn take_pacing(&mut self) -> Option<Option<Rate>> {
        self.pacing.take()
    }

    /// The window asked for; `None` for the maximum.
    #[must_use]
    pub const fn window(&self) -> Option<Bytes> {
        self.pilot.group.requested()
    }

    /// What SOBAS is doing and why.
    #[must_use]
    pub fn state(&self) -> SizerState {
        self.pilot.group.sizer().state()
    }

    /// The phases so far; their times count from the beginning of this.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        self.pilot.group.changes()
    }

    /// What probes the path, to wait for its socket.
    #[must_use]
    pub const fn prober(&self) -> Option<&Prober> {
        self.pilot.prober()
    }

    /// The socket.
    #[must_use]
    pub const fn get_ref(&self) -> &S {
        &self.socket
    }

    /// The socket, to read from.
    #[must_use]
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.socket
    }

    /// The socket alone; its window stays as it is.
    #[must_use]
    pub fn into_inner(self) -> S {
        self.socket
    }
}
