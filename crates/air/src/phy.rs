//! A PHY as data: slot, SIFS, rates, and the duration of frames. Each PHY has a file and an entry in [`Phy::ALL`].

mod a;
mod b;
mod g;

pub use a::IEEE_80211A;
pub use b::IEEE_80211B;
pub use g::IEEE_80211G;

use serde::Serialize;
use units::{Bytes, Complaint, Rate, Span};

/// The times and rates of a PHY. A field may be replaced where the default is not wanted:
/// `Phy { slot, ..IEEE_80211G }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Phy {
    /// The name as in a scenario: `802.11g`.
    pub name: &'static str,
    /// The slot time, `aSlotTime`.
    pub slot: Span,
    /// The SIFS time, `aSIFSTime`.
    pub sifs: Span,
    /// The least contention window, `aCWmin`.
    pub cw_min: u32,
    /// The largest contention window, `aCWmax`.
    pub cw_max: u32,
    /// The time from the start of a frame to the receiver's notice of it, `aRxPHYStartDelay`.
    pub rx_start_delay: Span,
    /// The default TXOP limit of video.
    pub txop_video: Span,
    /// The default TXOP limit of voice.
    pub txop_voice: Span,
    /// The rule for the duration of a frame.
    pub framing: Framing,
    /// The rates, ascending.
    pub rates: &'static [Rate],
    /// The rates that every station has, ascending; not empty.
    pub mandatory: &'static [Rate],
    /// Frame duration and rate at the lowest mandatory rate of the standard, if that is not one of `mandatory`. 802.11g
    /// has the rates of 802.11b, too.
    pub lowest: Option<(Framing, Rate)>,
}

/// A rule for the duration of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Framing {
    /// OFDM, with whole symbols of `rate x symbol` bits each (17.4.3).
    Ofdm {
        /// The training fields and the SIGNAL field.
        preamble: Span,
        /// One symbol.
        symbol: Span,
        /// The signal extension: time without a transmission that counts as part of the frame (18.3.2.4).
        extension: Span,
    },
    /// DSSS, in whole microseconds (16.3.4).
    Dsss {
        /// The PLCP preamble and header.
        long: Span,
        /// The short PLCP preamble and header, at rates over 1 Mbit/s.
        short: Span,
        /// True if the short form is used.
        use_short: bool,
    },
}

/// The bits that OFDM adds to a frame: the SERVICE field and the tail (17.3.5.2).
const SERVICE_AND_TAIL: u64 = 16 + 6;
const NANOS_PER_SEC: u128 = 1_000_000_000;
/// The rate at which frames always have the long preamble of DSSS (16.2.2.3).
const DSSS_BASE: Rate = Rate::from_bps(1_000_000);

impl Framing {
    /// Returns the airtime of a frame of `length` bytes at `rate`.
    fn time(&self, length: Bytes, rate: Rate) -> Span {
        match *self {
            Self::Ofdm { preamble, symbol, extension } => {
                let bits_per_symbol =
                    u128::from(rate.as_bps()) * u128::from(symbol.as_nanos()) / NANOS_PER_SEC;
                let symbols = (SERVICE_AND_TAIL + 8 * length.get()).div_ceil(bits_per_symbol as u64);
                preamble + symbol * symbols + extension
            }
            Self::Dsss { long, short, use_short } => {
                // A frame at 1 Mbit/s always has the long form.
                let short_form = use_short && rate > DSSS_BASE;
                let header = if short_form { short } else { long };
                header + Span::from_micros((8_000_000 * length.get()).div_ceil(rate.as_bps()))
            }
        }
    }
}

impl Phy {
    /// All PHYs.
    pub const ALL: &'static [Self] = &[IEEE_80211A, IEEE_80211B, IEEE_80211G];

    /// Returns the PHY called `name`.
    ///
    /// # Errors
    /// If no PHY has that name.
    pub fn named(name: &str) -> Result<&'static Self, Complaint> {
        Self::ALL.iter().find(|phy| phy.name == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|phy| phy.name).collect();
            Complaint::new("phy", format!("unknown PHY \"{name}\"")).accepted(names.join(", "))
        })
    }

    /// Returns this PHY with the short preamble.
    ///
    /// # Errors
    /// If it has no short preamble.
    pub fn with_short_preamble(self) -> Result<Self, Complaint> {
        let Framing::Dsss { long, short, .. } = self.framing else {
            let complaint = Complaint::new("preamble", format!("{} has no short preamble", self.name));
            return Err(complaint.accepted("802.11b"));
        };
        let framing = Framing::Dsss { long, short, use_short: true };
        Ok(Self { framing, rx_start_delay: short, ..self })
    }

    /// Returns the airtime of a frame of `length` bytes, MAC header and FCS included, at `rate`.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn frame_time(&self, length: Bytes, rate: Rate) -> Span {
        self.framing.time(length, rate)
    }

    /// Returns the rate of the acknowledgement of a frame at `rate`. Acknowledgements are sent at `control` if the
    /// frame allows that, and never faster than the frame (10.6.6.5.2). Otherwise it is the fastest mandatory rate up
    /// to that of the frame.
    #[must_use]
    pub fn acknowledgement_rate(&self, rate: Rate, control: Rate) -> Rate {
        if control <= rate {
            return control;
        }
        let slower = self.mandatory.iter().rev().find(|mandatory| **mandatory <= rate);
        slower.copied().unwrap_or(self.mandatory[0])
    }

    /// Returns `EIFS - DIFS` (10.3.2.3.7): SIFS and an acknowledgement of `length` bytes at the lowest mandatory rate.
    #[must_use]
    pub fn eifs_less_difs(&self, length: Bytes) -> Span {
        let (framing, rate) = self.lowest.unwrap_or((self.framing, self.mandatory[0]));
        self.sifs + framing.time(length, rate)
    }

    /// Returns `EIFS - DIFS` with an acknowledgement at `rate`, which was checked or is the lowest of the standard.
    #[must_use]
    pub fn eifs_less_difs_at(&self, length: Bytes, rate: Rate) -> Span {
        match self.lowest {
            Some((framing, lowest)) if lowest == rate => self.sifs + framing.time(length, rate),
            _ => self.sifs + self.frame_time(length, rate),
        }
    }

    /// Returns the time for which a station waits for the start of an acknowledgement (10.3.2.11): SIFS, a slot,
    /// `aRxPHYStartDelay`.
    #[must_use]
    pub fn ack_timeout(&self) -> Span {
        self.sifs + self.slot + self.rx_start_delay
    }

    /// Checks that the PHY has `rate`; `place` names the place where it was read.
    ///
    /// # Errors
    /// If the PHY does not have it.
    pub fn check_rate(&self, place: &str, rate: Rate) -> Result<(), Complaint> {
        if self.rates.contains(&rate) {
            return Ok(());
        }
        let rates: Vec<_> = self.rates.iter().map(ToString::to_string).collect();
        Err(Complaint::new(place, format!("{} has no rate of {rate}", self.name)).accepted(rates.join(", ")))
    }
}
