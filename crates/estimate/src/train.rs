//! Capacity from the dispersion of packet trains.

use crate::{Estimator, median};
use units::{Bytes, Rate, Span, Time};

/// The number of packets of one train. 50 packets gave 97.0, 622.0 and 969.3 Mb/s on emulated paths of 97, 622 and 970;
/// 20 came within 0.3 % (our measurement). The source gives no number.
pub const TRAIN_PACKETS: usize = 20;

/// The number of packets of one train on a path that carries [`TRAIN_PACKETS`] in less than [`LEAST_TRAIN`].
pub const LONG_TRAIN_PACKETS: usize = 100;

/// The least duration of a useful train: hosts take packets from their network cards in lumps of a tenth of it.
pub const LEAST_TRAIN: Span = Span::from_millis(1);

/// The length of each packet with its IP header: the largest that Ethernet carries.
pub const TRAIN_PACKET: Bytes = Bytes::new(1500);

/// Returns the bytes that a train of `packets` puts into the queue at once.
#[must_use]
pub const fn train_bytes(packets: usize) -> Bytes {
    Bytes::new(packets as u64 * TRAIN_PACKET.get())
}

/// The number of trains of one measurement: the source's five [sobas:IV].
pub const TRAINS: usize = 5;

/// The least time between two requests for trains.
pub const TRAINS_APART: Span = Span::from_millis(15);

/// The share of a train that is left out at its head. Packets there find queues that the train has not filled yet, so
/// that links before the narrow one still determine their dispersion.
const HEAD: f64 = 0.2;

/// The least number of packets after the head from which a rate is computed. A median needs as many lumps.
const LEAST: usize = 4;

/// The share of the mean gap below which a packet came in one lump with the one before it.
const LUMP: f64 = 0.1;

/// One packet of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainPacket {
    /// Its number in the train, from zero.
    pub number: usize,
    /// The time of its arrival.
    pub at: Time,
    /// Its length at the layer whose capacity is measured, usually the IP layer.
    pub length: Bytes,
}

/// A train at its arrival: packets that left back to back.
#[derive(Clone, Debug)]
pub struct Train {
    packets: usize,
    came: Vec<TrainPacket>,
}

impl Train {
    /// Makes a train of `packets` packets, none of which has arrived.
    #[must_use]
    pub fn new(packets: usize) -> Self {
        Self { packets, came: Vec::with_capacity(packets) }
    }

    /// Returns the number of packets with which it left.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Returns true if every packet has arrived.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.came.len() == self.packets
    }

    /// Returns the rate at which the train was dispersed, without its head. Each packet is compared with a later one,
    /// half of these packets further on, and the median of the resulting rates is taken. An interrupt or a packet of
    /// cross traffic disturbs a few of them, not the median. Of packets that a host took in one lump only the last
    /// counts, because the others have waited for it. `None` if packets are missing or arrived out of order, because
    /// then some gaps have other causes than the link [sobas:IV].
    #[must_use]
    pub fn dispersion(&self) -> Option<Rate> {
        if self.is_whole() { self.slope() } else { None }
    }

    /// Returns the rate at which the rest of a train with losses was dispersed. A burst that overflows a buffer loses
    /// packets while the link is busy, so those that arrive still lie one service time apart. Packets lost behind the
    /// link leave gaps, and make the rate too low. `None` if the train arrived whole, if too little of it arrived, or
    /// if it arrived out of order.
    #[must_use]
    pub fn remains(&self) -> Option<Rate> {
        if self.is_whole() { None } else { self.slope() }
    }

    fn slope(&self) -> Option<Rate> {
        if !self.came.is_sorted_by(|before, after| before.number < after.number) {
            return None;
        }
        let body = &self.came[(self.came.len() as f64 * HEAD) as usize..];
        if body.len() < LEAST {
            return None;
        }
        let ends = ends_of_lumps(body);
        // Fewer than four lumps give no median, so each packet counts.
        let points: Vec<usize> = if ends.len() < LEAST { (0..body.len()).collect() } else { ends };
        let lag = points.len() / 2;
        let slope = |first: usize| {
            let (from, to) = (points[first], points[first + lag]);
            let sum: Bytes = body[from + 1..=to].iter().map(|packet| packet.length).sum();
            let span = body[to].at.since(body[from].at);
            (span > Span::ZERO).then(|| sum.bits_f64() / span.as_secs_f64())
        };
        let mut slopes: Vec<f64> = (0..points.len() - lag).filter_map(slope).collect();
        median(&mut slopes).map(Rate::from_bps_f64)
    }
}

/// Returns the places in `body` of the last packet of each lump. If packets come in lumps, the last lump is left out,
/// because the end of the train ended it, and not the time for which the host waits.
fn ends_of_lumps(body: &[TrainPacket]) -> Vec<usize> {
    let gap = |pair: &[TrainPacket]| pair[1].at.since(pair[0].at).as_secs_f64();
    let mean = body.windows(2).map(gap).sum::<f64>() / (body.len() - 1) as f64;
    let apart = body.windows(2).map(|pair| gap(pair) > LUMP * mean);
    let mut ends: Vec<usize> = (0..).zip(apart).filter_map(|(place, apart)| apart.then_some(place)).collect();
    if 2 * ends.len() >= body.len() {
        ends.push(body.len() - 1);
    }
    ends
}

impl Estimator for Train {
    type Sample = TrainPacket;
    type Estimate = Rate;

    fn observe(&mut self, _at: Time, packet: TrainPacket) {
        if self.came.len() < self.packets {
            self.came.push(packet);
        }
    }

    fn estimate(&self) -> Option<Rate> {
        self.dispersion()
    }
}

/// C': the median dispersion rate of several trains. Only whole trains count [sobas:IV]. Until one has arrived, the
/// remaining packets of trains with losses stand in, because a path whose buffer holds no whole train has no other
/// samples.
///
/// It is a dispersion rate: with cross traffic it lies between the available bandwidth and the capacity.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    rates: Vec<f64>,
    remains: Vec<f64>,
    lost: usize,
}

impl Capacity {
    /// Makes an estimator without trains.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of trains that arrived whole.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.rates.len()
    }

    /// Returns the number of trains with losses.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Returns the spread of the rates of the trains, as a share of their median. Of five trains or more, the slowest
    /// and the fastest do not count, because a host may have delayed one. `None` without a train.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        let mut rates = if self.rates.is_empty() { self.remains.clone() } else { self.rates.clone() };
        rates.sort_by(f64::total_cmp);
        let middle = if rates.len() >= TRAINS { &rates[1..rates.len() - 1] } else { &rates[..] };
        crate::spread(middle)
    }

    /// Adds a train that lost packets; the rest arrived at `rate`, see [`Train::remains`].
    pub fn observe_remains(&mut self, rate: Rate) {
        self.lost += 1;
        self.remains.push(rate.as_bps_f64());
    }
}

impl Estimator for Capacity {
    /// A train's dispersion rate; `None` for a train with losses.
    type Sample = Option<Rate>;
    type Estimate = Rate;

    fn observe(&mut self, _at: Time, train: Option<Rate>) {
        match train {
            Some(rate) => self.rates.push(rate.as_bps_f64()),
            None => self.lost += 1,
        }
    }

    fn estimate(&self) -> Option<Rate> {
        let rates = if self.rates.is_empty() { &self.remains } else { &self.rates };
        median(&mut rates.clone()).map(Rate::from_bps_f64)
    }
}
