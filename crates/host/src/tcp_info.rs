//! [`TcpInfo`]: the kernel's data on one connection (`TCP_INFO`), with units.
//!
//! [`RawTcpInfo`] mirrors `struct tcp_info` of `include/uapi/linux/tcp.h`. The kernel returns the fields that it knows;
//! fields that an older kernel omits are `None`.

use crate::error::HostError;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd};
use units::{Bytes, Rate, Span};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The kernel's layout, with zeros where it returned nothing.
#[repr(C)]
#[derive(Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
struct RawTcpInfo {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    /// Two bit fields of four: the sender's shift in the low half, the receiver's in the high half.
    wscales: u8,
    /// Bit fields. The lowest bit is set if the delivery rate was measured while there was too little to send.
    flags: u8,
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
    received_ce: u32,
    /// Bytes acknowledged and received by the ECN field that they had: ECT(1), ECT(0), CE. The first three are counted
    /// with accurate ECN alone, the others with classic ECN, too.
    delivered_e1_bytes: u32,
    delivered_e0_bytes: u32,
    delivered_ce_bytes: u32,
    received_e1_bytes: u32,
    received_e0_bytes: u32,
    received_ce_bytes: u32,
    /// The state of the option of accurate ECN, whose layout differs between kernels.
    accurate_ecn: u32,
}

/// The options that both ends agreed on in the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// RFC 7323 time stamps.
    pub timestamps: bool,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Window scaling; without it no window exceeds 65535 bytes.
    pub window_scaling: bool,
    /// Explicit congestion notification.
    pub ecn: bool,
}

/// One reading of `TCP_INFO`. Fields count segments unless the type says bytes or time; sums run from the start of the
/// connection. A field is `None` if this kernel does not report the value, or has no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// The connection's state by the kernel's number: 1 established, 7 closed, 8 the peer has finished.
    pub state: u8,
    /// The options that the handshake agreed on.
    pub options: TcpOptions,
    /// The shift that the peer applies to the windows it advertises.
    pub snd_wscale: u8,
    /// The shift that this end applies to the windows it advertises: they are multiples of 2 to this power.
    pub rcv_wscale: u8,
    /// Retransmission timeout.
    pub rto: Span,
    /// Payload of a full segment sent.
    pub snd_mss: Bytes,
    /// Payload of a full segment received, as the kernel estimates it.
    pub rcv_mss: Bytes,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u32,
    /// Segments of `unacked` that are selectively acknowledged; without SACK, the number of duplicate acknowledgements.
    pub sacked: u32,
    /// Segments of `unacked` that are believed lost.
    pub lost: u32,
    /// Segments retransmitted and not acknowledged.
    pub retrans: u32,
    /// Segments ever retransmitted.
    pub total_retrans: u32,
    /// Smoothed round-trip time.
    pub rtt: Option<Span>,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// Least round-trip time of the last five minutes (`net.ipv4.tcp_min_rtt_wlen`).
    pub min_rtt: Option<Span>,
    /// The receiver's estimate of the round-trip time. With time stamps, it has steps of a millisecond.
    pub rcv_rtt: Option<Span>,
    /// The time since the last data arrived, in steps of the kernel's timer.
    pub last_data_recv: Span,
    /// The limit of the window that this end advertises: it grows as data arrives.
    pub rcv_ssthresh: Bytes,
    /// Congestion window.
    pub snd_cwnd: u32,
    /// Slow-start threshold; `None` while it is unlimited.
    pub snd_ssthresh: Option<u32>,
    /// The rate at which the sender paces; `None` if unlimited.
    pub pacing_rate: Option<Rate>,
    /// Sequence space acknowledged by the peer: payload, plus one for a SYN this end sent actively and for a FIN.
    pub bytes_acked: Bytes,
    /// Sequence space received in order: payload, plus one for the peer's FIN.
    pub bytes_received: Bytes,
    /// Bytes written and not sent for the first time.
    pub notsent_bytes: Bytes,
    /// Segments with payload sent, retransmissions included.
    pub data_segs_out: u32,
    /// Segments with payload received.
    pub data_segs_in: u32,
    /// The latest sample of the delivery rate.
    pub delivery_rate: Option<Rate>,
    /// True if that rate was measured while the program had written too little: the path may carry more.
    pub app_limited: bool,
    /// The time with data outstanding.
    pub busy_time: Option<Span>,
    /// The time during which the peer's window was the limit.
    pub rwnd_limited: Option<Span>,
    /// The time during which the send buffer was the limit.
    pub sndbuf_limited: Option<Span>,
    /// Payload sent, retransmissions included.
    pub bytes_sent: Option<Bytes>,
    /// Payload retransmitted.
    pub bytes_retrans: Option<Bytes>,
    /// Segments that the receiver acknowledged with a sign of congestion. With classic ECN they are all segments that are
    /// acknowledged while the echo is on: 307 for 12 marks (6.18, CUBIC, 10 Mbit/s, 20 ms, CoDel).
    pub delivered_ce: Option<u32>,
    /// Segments that arrived with a mark of congestion, with classic ECN and with accurate ECN; since 6.18.
    pub received_ce: Option<u32>,
    /// Segments retransmitted without need, as the receiver reported by D-SACK.
    pub dsack_dups: Option<u32>,
    /// Segments received out of order.
    pub rcv_ooopack: Option<u32>,
    /// The peer's window as last advertised.
    pub snd_wnd: Option<Bytes>,
    /// The window that this end offered last, before the header limits it to 65535 shifted by `rcv_wscale`.
    pub rcv_wnd: Option<Bytes>,
    /// Attempts to find another path by a new hash.
    pub rehash: Option<u32>,
    /// Retransmission timeouts.
    pub timeouts: Option<u16>,
}

/// The state in which the peer has sent its FIN, and this end has not closed.
const STATE_CLOSE_WAIT: u8 = 8;

impl TcpInfo {
    /// Reads `TCP_INFO` of a TCP socket. Costs about a microsecond.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn of(socket: &impl AsFd) -> Result<Self, HostError> {
        read(socket)
            .map(|(raw, length)| Self::from_raw(&raw, length))
            .map_err(HostError::system("read TCP_INFO"))
    }

    /// Returns the bytes that the sender has in flight, counted in full segments as the kernel does. They are the
    /// unacknowledged bytes, less those that have arrived or are lost, plus those retransmitted.
    #[must_use]
    pub fn in_flight(&self) -> Bytes {
        let gone = self.sacked.saturating_add(self.lost);
        let segments = self.unacked.saturating_sub(gone).saturating_add(self.retrans);
        self.snd_mss * u64::from(segments)
    }

    /// Returns the congestion window in payload bytes.
    #[must_use]
    pub fn congestion_window(&self) -> Bytes {
        self.snd_mss * u64::from(self.snd_cwnd)
    }

    /// Returns the lesser of the congestion window and the peer's window; the congestion window if the kernel does not
    /// report the other.
    #[must_use]
    pub fn send_window(&self) -> Bytes {
        let window = self.congestion_window();
        self.snd_wnd.map_or(window, |peer| window.min(peer))
    }

    /// Returns the stream bytes received in order: `bytes_received` less the peer's FIN.
    #[must_use]
    pub fn stream_received(&self) -> Bytes {
        self.bytes_received.saturating_sub(Bytes::new(u64::from(self.state == STATE_CLOSE_WAIT)))
    }

    /// Reads the kernel's layout from the bytes of a netlink attribute, which may be shorter or longer than ours.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut raw = RawTcpInfo::default();
        let length = bytes.len().min(size_of::<RawTcpInfo>());
        raw.as_mut_bytes()[..length].copy_from_slice(&bytes[..length]);
        Self::from_raw(&raw, length)
    }

    fn from_raw(raw: &RawTcpInfo, length: usize) -> Self {
        macro_rules! returned {
            ($field:ident) => {
                (length >= offset_of!(RawTcpInfo, $field) + size_of_val(&raw.$field)).then_some(raw.$field)
            };
        }
        let micros = |value: u32| Span::from_micros(u64::from(value));
        let bytes = |value: u32| Bytes::new(u64::from(value));
        let rate = |bytes_per_second: u64| Rate::from_bps(bytes_per_second.saturating_mul(8));
        Self {
            state: raw.state,
            options: TcpOptions {
                timestamps: raw.options & 1 != 0,
                sack: raw.options & 2 != 0,
                window_scaling: raw.options & 4 != 0,
                ecn: raw.options & 8 != 0,
            },
            snd_wscale: raw.wscales & 0xf,
            rcv_wscale: raw.wscales >> 4,
            rto: micros(raw.rto),
            snd_mss: bytes(raw.snd_mss),
            rcv_mss: bytes(raw.rcv_mss),
            unacked: raw.unacked,
            sacked: raw.sacked,
            lost: raw.lost,
            retrans: raw.retrans,
            total_retrans: raw.total_retrans,
            rtt: (raw.rtt != 0).then(|| micros(raw.rtt)),
            rttvar: micros(raw.rttvar),
            min_rtt: returned!(min_rtt).filter(|&value| value != 0 && value != u32::MAX).map(micros),
            rcv_rtt: (raw.rcv_rtt != 0).then(|| micros(raw.rcv_rtt)),
            last_data_recv: Span::from_millis(u64::from(raw.last_data_recv)),
            rcv_ssthresh: bytes(raw.rcv_ssthresh),
            snd_cwnd: raw.snd_cwnd,
            // TCP_INFINITE_SSTHRESH
            snd_ssthresh: (raw.snd_ssthresh < 0x7fff_ffff).then_some(raw.snd_ssthresh),
            pacing_rate: returned!(pacing_rate).filter(|&value| value != u64::MAX).map(rate),
            bytes_acked: Bytes::new(raw.bytes_acked),
            bytes_received: Bytes::new(raw.bytes_received),
            notsent_bytes: bytes(raw.notsent_bytes),
            data_segs_out: raw.data_segs_out,
            data_segs_in: raw.data_segs_in,
            delivery_rate: returned!(delivery_rate).filter(|&value| value != 0).map(rate),
            app_limited: raw.flags & 1 != 0,
            busy_time: returned!(busy_time).map(Span::from_micros),
            rwnd_limited: returned!(rwnd_limited).map(Span::from_micros),
            sndbuf_limited: returned!(sndbuf_limited).map(Span::from_micros),
            bytes_sent: returned!(bytes_sent).map(Bytes::new),
            bytes_retrans: returned!(bytes_retrans).map(Bytes::new),
            delivered_ce: returned!(delivered_ce),
            received_ce: returned!(received_ce),
            dsack_dups: returned!(dsack_dups),
            rcv_ooopack: returned!(rcv_ooopack),
            snd_wnd: returned!(snd_wnd).map(bytes),
            rcv_wnd: returned!(rcv_wnd).map(bytes),
            rehash: returned!(rehash),
            timeouts: returned!(total_rto),
        }
    }
}

#[expect(unsafe_code, reason = "getsockopt(TCP_INFO) has no safe wrapper that returns the whole structure")]
fn read(socket: &impl AsFd) -> io::Result<(RawTcpInfo, usize)> {
    let mut raw = RawTcpInfo::default();
    let mut length = size_of::<RawTcpInfo>() as libc::socklen_t;
    // SAFETY: the descriptor is open while borrowed; the kernel writes at most `length` bytes into `raw`, which
    // is plain integers, so any bytes are valid.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut raw).cast(),
            &raw mut length,
        )
    };
    if rc == 0 { Ok((raw, length as usize)) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_the_kernels() {
        // The offsets of include/uapi/linux/tcp.h, counted by hand.
        assert_eq!(offset_of!(RawTcpInfo, rtt), 68);
        assert_eq!(offset_of!(RawTcpInfo, pacing_rate), 104);
        assert_eq!(offset_of!(RawTcpInfo, delivery_rate), 160);
        assert_eq!(offset_of!(RawTcpInfo, bytes_retrans), 208);
        assert_eq!(offset_of!(RawTcpInfo, snd_wnd), 228);
        assert_eq!(offset_of!(RawTcpInfo, total_rto_time), 244);
        assert_eq!((offset_of!(RawTcpInfo, received_ce), size_of::<RawTcpInfo>()), (248, 280));
    }

    #[test]
    fn what_an_older_kernel_leaves_out_is_none() {
        let raw = RawTcpInfo { snd_cwnd: 10, snd_mss: 1448, ..RawTcpInfo::default() };
        let info = TcpInfo::from_raw(&raw, offset_of!(RawTcpInfo, rcv_wnd));
        assert_eq!(info.snd_wnd, Some(Bytes::ZERO));
        assert_eq!((info.rcv_wnd, info.rehash, info.timeouts), (None, None, None));
        let info = TcpInfo::from_raw(&raw, offset_of!(RawTcpInfo, delivery_rate));
        assert_eq!((info.snd_wnd, info.rwnd_limited, info.bytes_retrans), (None, None, None));
        assert_eq!(info.send_window(), Bytes::new(14_480));
    }
}
