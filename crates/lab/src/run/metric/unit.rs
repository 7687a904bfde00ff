//! Units: those of records and files, and those for readers.

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits per second, shown in Mbit/s.
    BitRate,
    /// Seconds of a round trip or a wait, shown in ms.
    Delay,
    /// Seconds of a transfer or a run, shown as seconds.
    Time,
    /// Bytes of a buffer, shown in kB.
    Bytes,
    /// Bytes of a transfer, shown in MB.
    Data,
    /// Packets.
    Packets,
    /// Packets per second.
    PacketRate,
    /// TCP segments.
    Segments,
    /// A share from 0 to 1, shown in per cent.
    Share,
    /// A number of other things.
    Count,
    /// A number without a unit.
    Number,
}

/// Endings of names and their units. A longer ending stands before a shorter one that it contains.
const ENDS: [(&str, Unit); 6] = [
    ("_packets_per_s", Unit::PacketRate),
    ("_packets", Unit::Packets),
    ("_segments", Unit::Segments),
    ("_bytes", Unit::Bytes),
    ("_bps", Unit::BitRate),
    ("_s", Unit::Delay),
];

impl Unit {
    /// Returns the unit in records and files; "1" for a number without a unit.
    #[must_use]
    pub const fn in_files(self) -> &'static str {
        match self {
            Self::BitRate => "bit/s",
            Self::Delay | Self::Time => "s",
            Self::Bytes | Self::Data => "B",
            Self::Packets => "packets",
            Self::PacketRate => "packets/s",
            Self::Segments => "segments",
            Self::Share | Self::Count | Self::Number => "1",
        }
    }

    /// Returns the unit for readers; empty for a number without a unit.
    #[must_use]
    pub const fn shown(self) -> &'static str {
        match self {
            Self::BitRate => "Mbit/s",
            Self::Delay => "ms",
            Self::Bytes => "kB",
            Self::Data => "MB",
            Self::Share => "%",
            Self::Count | Self::Number => "",
            Self::Time | Self::Packets | Self::PacketRate | Self::Segments => self.in_files(),
        }
    }

    /// Returns the factor from the unit of files to the unit for readers.
    #[must_use]
    pub const fn scale(self) -> f64 {
        match self {
            Self::BitRate | Self::Data => 1e-6,
            Self::Delay => 1e3,
            Self::Bytes => 1e-3,
            Self::Share => 1e2,
            Self::Time | Self::Packets | Self::PacketRate | Self::Segments | Self::Count | Self::Number => {
                1.0
            }
        }
    }

    /// Converts `value` from the unit of files to the unit for readers.
    #[must_use]
    pub fn to_shown(self, value: f64) -> f64 {
        // Dividing by a whole number keeps the last digit: 11 966 B are 11.966 kB.
        if self.scale() < 1.0 { value / (1.0 / self.scale()).round() } else { value * self.scale() }
    }

    /// Returns the number of decimals with which most numbers are shown.
    pub(super) const fn digits(self) -> usize {
        match self {
            Self::BitRate | Self::Delay | Self::Packets => 2,
            Self::Time | Self::Bytes | Self::Data => 1,
            Self::Share => 3,
            Self::Segments | Self::Count => 0,
            Self::PacketRate | Self::Number => 4,
        }
    }

    /// Splits the name of a series' column into the name without its ending and the unit that the ending states.
    #[must_use]
    pub fn of_name(name: &str) -> (&str, Self) {
        let known = ENDS.iter().find_map(|(end, unit)| Some((name.strip_suffix(end)?, *unit)));
        known.unwrap_or((name, Self::Number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_its_unit() {
        assert_eq!(Unit::of_name("queueing_delay_s"), ("queueing_delay", Unit::Delay));
        assert_eq!(Unit::of_name("rate_packets_per_s"), ("rate", Unit::PacketRate));
        assert_eq!(Unit::of_name("utilization"), ("utilization", Unit::Number));
    }
}
