//! [`TrainArrivals`]: the arrivals of a packet train.

use estimate::{Estimator, LONG_TRAIN_PACKETS, TRAIN_PACKET, Train, TrainPacket};
use units::{Bytes, Rate, Time};

/// The number of packets of a train: the most that a prober requests, and that an echoer sends.
pub(crate) const PACKETS: u16 = LONG_TRAIN_PACKETS as u16;
/// The length of each packet with its IP header.
pub(crate) const PACKET: u16 = TRAIN_PACKET.get() as u16;
/// The lengths of the headers of IPv4 with UDP, and of IPv6 with UDP, in bytes.
pub(crate) const HEADERS: [u16; 2] = [28, 48];

/// The packets of one train that arrived, in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainArrivals {
    /// The number of packets requested.
    pub packets: u16,
    /// The length of each packet, IP header included.
    pub packet: Bytes,
    /// The place of each packet in the train, from 0, and the kernel's stamp of its arrival. The stamps' origin is
    /// arbitrary.
    pub arrivals: Vec<(u16, Time)>,
}

impl TrainArrivals {
    /// Returns true if all packets arrived, in order.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.arrivals.len() == usize::from(self.packets)
            && self.arrivals.iter().zip(0..).all(|((place, _), expected)| *place == expected)
    }

    /// Returns the rate at which the train was dispersed, the packets' IP headers included: see [`estimate::Train`].
    /// `None` if packets are missing or arrived out of order [sobas:IV].
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.train().estimate()
    }

    /// Returns the rate at which the packets that arrived were dispersed, if some are missing: see
    /// [`estimate::Train::remains`].
    #[must_use]
    pub fn remains(&self) -> Option<Rate> {
        self.train().remains()
    }

    fn train(&self) -> Train {
        let mut train = Train::new(self.packets.into());
        for &(place, at) in &self.arrivals {
            train.observe(at, TrainPacket { number: place.into(), at, length: self.packet });
        }
        train
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    fn train(gaps: impl IntoIterator<Item = u64>) -> TrainArrivals {
        let mut at = Time::from_nanos(1_000_000);
        let mut arrivals = vec![(0, at)];
        for (gap, place) in gaps.into_iter().zip(1..) {
            at += Span::from_micros(gap);
            arrivals.push((place, at));
        }
        TrainArrivals { packets: arrivals.len() as u16, packet: Bytes::new(1500), arrivals }
    }

    #[test]
    fn equal_gaps_are_the_rate_and_a_head_or_a_stall_does_not_count() {
        let even = train([120; 49]);
        assert_eq!(even.rate(), Some(Rate::from_bps(100_000_000)));
        let head = train((0..49).map(|gap| if gap < 9 { 30 } else { 120 }));
        assert_eq!(head.rate(), Some(Rate::from_bps(100_000_000)));
        let stalled = train((0..49).map(|gap| if gap == 12 { 5000 } else { 120 }));
        assert_eq!(stalled.rate(), Some(Rate::from_bps(100_000_000)));
    }

    #[test]
    fn a_train_with_a_hole_or_out_of_order_has_no_rate() {
        let mut short = train([120; 49]);
        short.arrivals.remove(20);
        // Half of the slopes reach over the hole: 19 packets in the time of 20.
        assert_eq!((short.rate(), short.remains()), (None, Some(Rate::from_bps(95_238_095))));
        let mut swapped = train([120; 49]);
        swapped.arrivals.swap(20, 21);
        assert_eq!((swapped.is_whole(), swapped.rate(), swapped.remains()), (false, None, None));
        assert_eq!(train([]).rate(), None);
        assert_eq!(train([0; 49]).rate(), None, "no time passed: no stamps");
    }
}
