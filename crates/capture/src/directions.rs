//! The directions of packets, by their addresses.

use crate::error::{Place, TraceError};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The number of pairs of addresses that are counted; later pairs are ignored.
const MOST_PAIRS: usize = 1 << 16;
/// The number of packets of a capture for each packet that may go the other way. So few packets, such as echoes or
/// packets with a spoofed address, do not count as a second direction.
const STRAY: u64 = 1000;

/// An address, or all addresses that begin like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// Returns true if `address` has this prefix.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let shared = |one: u128, other: u128, bits: u32| {
            let length = u32::from(self.length);
            length == 0 || (one ^ other) >> (bits - length) == 0
        };
        match (self.address, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => shared(one.to_bits().into(), other.to_bits().into(), 32),
            (IpAddr::V6(one), IpAddr::V6(other)) => shared(one.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

/// "198.18.0.2", "198.18.0.0/15", "2001:db8::/32".
impl FromStr for Prefix {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, length) = text.split_once('/').map_or((text, None), |(begin, end)| (begin, Some(end)));
        let address: IpAddr = address.trim().parse().map_err(|_| ())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            None => most,
            Some(text) => text.trim().parse().ok().filter(|length| *length <= most).ok_or(())?,
        };
        Ok(Self { address, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.address.is_ipv4() { 32 } else { 128 };
        match self.length {
            length if length == whole => self.address.fmt(f),
            length => write!(f, "{}/{length}", self.address),
        }
    }
}

/// A filter that takes packets of a file by their addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PacketFilter {
    /// The prefix of their destination; `None`: any.
    pub toward: Option<Prefix>,
    /// The prefix of their source; `None`: any.
    pub from: Option<Prefix>,
}

impl PacketFilter {
    /// Returns true if a packet with these ends is chosen. Unknown ends fit only if the user named no prefix for them.
    fn takes(&self, ends: Option<(IpAddr, IpAddr)>) -> bool {
        let fits = |prefix: Option<Prefix>, end: Option<IpAddr>| {
            prefix.is_none_or(|prefix| end.is_some_and(|end| prefix.contains(end)))
        };
        fits(self.toward, ends.map(|(_, to)| to)) && fits(self.from, ends.map(|(from, _)| from))
    }

    /// Describes the choice: `toward = "198.18.0.2"`.
    fn described(&self) -> String {
        let keys = [("toward", self.toward), ("from", self.from)];
        let keys = keys.map(|(key, prefix)| prefix.map(|prefix| format!("{key} = \"{prefix}\"")));
        keys.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    packets: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// "73 packets with 3008700 bytes".
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} packet{} with {} bytes",
            self.packets,
            if self.packets == 1 { "" } else { "s" },
            self.bytes
        )
    }
}

/// The packets of a file by source and destination.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    wanted: PacketFilter,
    pairs: HashMap<(IpAddr, IpAddr), Count>,
    taken: u64,
    left_out: u64,
}

impl Directions {
    pub(crate) fn new(wanted: PacketFilter) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Counts a packet. Returns true if it is taken.
    pub(crate) fn takes(&mut self, ends: Option<(IpAddr, IpAddr)>, size: u32) -> bool {
        if let Some(ends) = ends
            && (self.pairs.len() < MOST_PAIRS || self.pairs.contains_key(&ends))
        {
            self.pairs.entry(ends).or_default().add(Count { packets: 1, bytes: size.into() });
        }
        let takes = self.wanted.takes(ends);
        *(if takes { &mut self.taken } else { &mut self.left_out }) += 1;
        takes
    }

    /// Returns the counted pairs of addresses whose packets are taken, in order.
    fn pairs(&self) -> BTreeMap<(IpAddr, IpAddr), Count> {
        let taken = self.pairs.iter().filter(|(ends, _)| self.wanted.takes(Some(**ends)));
        taken.map(|(ends, count)| (*ends, *count)).collect()
    }

    /// Returns a note on the packets that the scenario's keys leave out.
    pub(crate) fn note(&self) -> Option<String> {
        let (taken, left_out) = (self.taken, self.left_out);
        (left_out > 0)
            .then(|| format!("{} takes {taken} packets and leaves {left_out} out", self.wanted.described()))
    }

    /// Returns an error if no packet goes the requested way.
    pub(crate) fn some(&self) -> Result<(), TraceError> {
        if self.taken > 0 || self.left_out == 0 {
            return Ok(());
        }
        let found = format!("no packet fits {}", self.wanted.described());
        let error = |accepted: String| Err(TraceError::new(Place::Whole, found, accepted));
        let hosts = hosts(self.pairs.iter().map(|(ends, count)| (*ends, *count)));
        let Some((address, there, _)) = busiest(&hosts) else {
            return error("packets of which at least the IP header was captured".into());
        };
        error(format!("an address of the capture, such as {address}, to which {there} go"))
    }

    /// Finds conversations of which packets of both directions are taken. Returns the counts each way and the host that
    /// chooses one direction; `None` if there are no such conversations.
    pub(crate) fn both(&self) -> Option<BothDirections> {
        let pairs = self.pairs();
        let back = |(from, to): &(IpAddr, IpAddr)| (from != to).then(|| pairs.get(&(*to, *from))).flatten();
        let two_way = || pairs.iter().filter_map(|(ends, there)| Some((*ends, *there, *back(ends)?)));
        let against: u64 = two_way().map(|(_, there, back)| there.packets.min(back.packets)).sum::<u64>() / 2;
        if against == 0 {
            return None;
        }
        let hosts = hosts(two_way().map(|(ends, there, _)| (ends, there)));
        let (host, there, from) = busiest(&hosts)?;
        let mut others = two_way().filter(|((one, _), ..)| *one == host).map(|((_, other), ..)| other);
        let only = others.next().filter(|_| others.next().is_none());
        Some(BothDirections { host, only, there, back: from, refused: against * STRAY > self.taken, against })
    }

    /// Returns the address that sends the most bytes to itself, as on a loopback device. The direction of such packets
    /// is unknown.
    pub(crate) fn to_itself(&self) -> Option<IpAddr> {
        let pairs = self.pairs();
        let itself = pairs.iter().filter(|((from, to), _)| from == to);
        itself.max_by_key(|(_, count)| count.bytes).map(|((address, _), _)| *address)
    }
}

/// Sums the packets to and from each host.
fn hosts(pairs: impl Iterator<Item = ((IpAddr, IpAddr), Count)>) -> BTreeMap<IpAddr, (Count, Count)> {
    let mut hosts = BTreeMap::<IpAddr, (Count, Count)>::new();
    for ((from, to), count) in pairs {
        hosts.entry(to).or_default().0.add(count);
        hosts.entry(from).or_default().1.add(count);
    }
    hosts
}

/// Finds the host to which the most bytes go.
fn busiest(hosts: &BTreeMap<IpAddr, (Count, Count)>) -> Option<(IpAddr, Count, Count)> {
    let most = hosts.iter().max_by_key(|(_, (there, _))| there.bytes)?;
    Some((*most.0, most.1.0, most.1.1))
}

/// A capture that holds both directions.
#[derive(Debug)]
pub(crate) struct BothDirections {
    host: IpAddr,
    /// The other host of its conversations, if there is only one.
    only: Option<IpAddr>,
    there: Count,
    back: Count,
    /// True if too many packets go against the others to be strays.
    pub refused: bool,
    /// The number of packets that go against the direction of most packets of their conversation.
    against: u64,
}

impl BothDirections {
    /// Describes the packets each way.
    pub(crate) fn counts(&self) -> String {
        let Self { host, there, back, .. } = self;
        let from = self.only.map_or_else(|| "from others".to_owned(), |other| format!("from {other}"));
        format!("both directions: {there} go {from} to {host}, and {back} go back")
    }

    pub(crate) fn error(&self) -> TraceError {
        let Self { host, .. } = self;
        let help = format!(
            "choose one: toward = \"{host}\" in this [[traffic]], or from = \"{host}\" for the other; an address or \
             a prefix. Or capture one direction: tcpdump -Q in"
        );
        TraceError::new(Place::Whole, self.counts(), "packets of one direction of the link").help(help)
    }

    /// Returns the note on a capture that is taken although some packets go the other way.
    pub(crate) fn note(&self) -> String {
        if self.refused {
            let Self { host, .. } = self;
            return format!("{}; all are taken. toward = \"{host}\" takes one direction", self.counts());
        }
        let against = self.against;
        format!("{against} packets go against the direction of the others, and are taken with them")
    }
}
