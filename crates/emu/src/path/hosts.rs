//! The hosts at the two ends of a path: their own losses, and the time for which they waited for a processor.

use super::doubt::Doubt;
use host::HostLosses;
use units::Span;

/// The share of the time above which a thread's wait for a processor makes a result doubtful. 80 CUBIC flows at 200
/// Mbit/s on two cores lost 0.66 to 0.72 % of their packets if the receiver waited for 3 to 52 % of the time. They lost
/// 0.87 to 1.08 % at 56 to 59 %, 1.3 % at 80 %, and 2.7 to 3.0 % at 95 % (Linux 6.18, 2026-11-28).
const WAITED_SHARE: f64 = 0.4;

/// The wait up to which no run is in doubt. The start of a program alone causes a short wait.
const WAITED_FLOOR: Span = Span::from_millis(200);

/// The host at one end of a path during a run.
#[derive(Clone, Copy, Debug)]
pub struct HostReport {
    /// The host's name in sentences: "the near end".
    pub place: &'static str,
    /// Its losses since [`Path::begin`](crate::Path::begin), warm-up included.
    pub losses: HostLosses,
    /// The total time for which the thread that waited longest waited for a processor, and the period over which that
    /// was counted; `None` if it was not measured.
    pub waited: Option<(Span, Span)>,
}

impl HostReport {
    /// The reports of both ends before anything is known.
    pub(super) const BOTH: [Self; 2] = [Self::new("the near end"), Self::new("the far end")];

    const fn new(place: &'static str) -> Self {
        Self { place, losses: HostLosses::NONE, waited: None }
    }

    /// Returns the share of the time for which the thread that waited longest waited for a processor.
    #[must_use]
    pub fn waited_share(&self) -> Option<f64> {
        let (waited, of) = self.waited?;
        (of > Span::ZERO).then(|| (waited.as_secs_f64() / of.as_secs_f64()).min(1.0))
    }

    /// Returns a doubt if a thread waited for too long.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let waited = self.waited?.0;
        let share = self.waited_share()?;
        (share > WAITED_SHARE && waited > WAITED_FLOOR).then_some(Doubt::Waited { place: self.place, share })
    }

    /// Returns a sentence for each kind of loss.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let (at, losses) = (self.place, &self.losses);
        let kinds = [
            (
                losses.udp_rcvbuf_errors,
                [
                    "datagram was lost in a receiving program's socket buffer",
                    "datagrams were lost in a receiving program's socket buffer",
                ],
                "RcvbufErrors",
                "raise net.core.rmem_default or the program's SO_RCVBUF",
            ),
            (
                losses.udp_other_errors,
                ["datagram was not delivered", "datagrams were not delivered"],
                "InErrors",
                "the host had no memory for them, or their checksums were wrong",
            ),
            (
                losses.udp_sndbuf_errors,
                [
                    "call could not send a datagram, because the socket's buffer was full,",
                    "calls could not send a datagram, because the socket's buffer was full,",
                ],
                "SndbufErrors",
                "lost unless the program repeats the call; raise net.core.wmem_default or SO_SNDBUF",
            ),
            (
                losses.listen_overflows,
                [
                    "connection found the queue of a listening socket full",
                    "connections found the queue of a listening socket full",
                ],
                "ListenOverflows",
                "raise the backlog in the program's listen() and net.core.somaxconn; each try costs a second or more",
            ),
            (
                losses.listen_drops,
                [
                    "connection was not taken by a listening socket",
                    "connections were not taken by a listening socket",
                ],
                "ListenDrops",
                "raise net.ipv4.tcp_max_syn_backlog; each try costs a second or more",
            ),
            (
                losses.tcp_backlog_drops,
                [
                    "TCP segment was lost while its program held the socket",
                    "TCP segments were lost while their programs held the socket",
                ],
                "TCPBacklogDrop",
                "the program was too slow, or waited for a processor; SO_RCVBUF raises the limit",
            ),
            (
                losses.tcp_rcvbuf_drops,
                [
                    "TCP segment found no room in a receive buffer",
                    "TCP segments found no room in a receive buffer",
                ],
                "TCPRcvQDrop, TCPOFODrop, TCPZeroWindowDrop",
                "raise the last number of net.ipv4.tcp_rmem, or SO_RCVBUF",
            ),
        ];
        let lost = kinds.into_iter().filter(|(count, ..)| *count > 0);
        lost.map(|(count, [one, many], counter, help)| {
            let what = if count == 1 { one } else { many };
            format!("{count} {what} at {at} ({counter}): {help}")
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_in_a_host_is_said_with_its_place_its_counter_and_the_way_out() {
        let losses = HostLosses { udp_rcvbuf_errors: 1108, listen_drops: 1, ..HostLosses::default() };
        let notes = HostReport { losses, ..HostReport::new("the far end") }.notes();
        assert_eq!(
            notes,
            [
                "1108 datagrams were lost in a receiving program's socket buffer at the far end (RcvbufErrors): raise \
                 net.core.rmem_default or the program's SO_RCVBUF",
                "1 connection was not taken by a listening socket at the far end (ListenDrops): raise \
                 net.ipv4.tcp_max_syn_backlog; each try costs a second or more",
            ]
        );
        assert!(HostReport::new("the near end").notes().is_empty());
    }

    #[test]
    fn a_host_that_waits_for_a_processor_makes_a_result_doubtful() {
        let waiting = |waited: u64, of: u64| HostReport {
            waited: Some((Span::from_millis(waited), Span::from_millis(of))),
            ..HostReport::new("the near end")
        };
        assert_eq!(waiting(500, 1000).doubt(), Some(Doubt::Waited { place: "the near end", share: 0.5 }));
        assert_eq!(waiting(400, 1000).doubt(), None, "as much as is allowed");
        assert_eq!(waiting(190, 200).doubt(), None, "a start is not held against a run");
        assert_eq!(waiting(7, 0).doubt(), None);
        assert_eq!(HostReport::new("the near end").doubt(), None, "nobody looked");
    }
}
