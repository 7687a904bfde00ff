//! A whole cell as data.

use crate::access::{Access, Category};
use crate::frame::Sizes;
use crate::phy::Phy;
use serde::Serialize;
use units::{Bytes, Complaint, Rate, Span};

/// The time for which the stations wait after a collision, beyond the AIFS of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AfterCollision {
    /// No further time.
    Difs,
    /// A time of `EIFS - DIFS` (10.23.2.4 b), because the frame received had an error.
    Eifs,
    /// This time.
    Wait(Span),
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// The PHY of every station.
    pub phy: Phy,
    /// The sizes around the payload.
    pub sizes: Sizes,
    /// The rate of acknowledgements, unless the data frame is slower: [`Phy::acknowledgement_rate`].
    pub control_rate: Rate,
    /// The wait after a collision.
    pub after_collision: AfterCollision,
    /// The time from the end of its own frame after which a station that collided counts down again, with AIFS
    /// (10.23.2.4 c). The standard's value is [`Phy::ack_timeout`]. `None`: it counts down together with the others, as
    /// in the models of saturation, so that all boundaries of the cell are a whole number of slots apart.
    pub ack_timeout: Option<Span>,
    /// The stations, including the access point.
    pub stations: Vec<StationConfig>,
    /// The seed of the backoff draws. Each function has a stream of its own, by its station's name and its category.
    pub seed: u64,
}

/// A station.
#[derive(Clone, Debug, PartialEq)]
pub struct StationConfig {
    /// The name of the station, of its random numbers and in errors.
    pub name: String,
    /// The rate of its data frames. The access point has none: it sends to each station at that station's rate.
    pub rate: Option<Rate>,
    /// Its access functions, one per category at most.
    pub functions: Vec<FunctionConfig>,
}

/// An access function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionConfig {
    /// Its category.
    pub category: Category,
    /// Its parameters.
    pub access: Access,
    /// Payload and destination, if it always has a frame to send.
    pub saturated: Option<(Bytes, usize)>,
}

impl CellConfig {
    /// Creates a cell without stations: sizes by the standard, acknowledgements at the fastest mandatory rate, EIFS,
    /// seed 1.
    #[must_use]
    pub fn new(phy: Phy) -> Self {
        Self {
            phy,
            sizes: Sizes::default(),
            control_rate: phy.mandatory[phy.mandatory.len() - 1],
            after_collision: AfterCollision::Eifs,
            ack_timeout: None,
            stations: Vec::new(),
            seed: 1,
        }
    }

    /// Returns the rate of a frame from one station to another; `None` if one of them does not exist, or neither has a
    /// rate.
    #[must_use]
    pub fn rate(&self, from: usize, to: usize) -> Option<Rate> {
        let (from, to) = (self.stations.get(from)?, self.stations.get(to)?);
        from.rate.or(to.rate)
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Returns the first parameter that is not right. Examples are a rate that the PHY does not have, an access
    /// parameter out of range, a repeated category or name, and an unknown destination.
    pub fn check(&self) -> Result<(), Complaint> {
        self.phy.check_rate("control_rate", self.control_rate)?;
        for (index, station) in self.stations.iter().enumerate() {
            let place = format!("station {:?}", station.name);
            if self.stations[..index].iter().any(|other| other.name == station.name) {
                return Err(Complaint::new(place, "a second station of this name").help("rename one of them"));
            }
            if let Some(rate) = station.rate {
                self.phy.check_rate(&format!("{place}: rate"), rate)?;
            }
            for (nth, function) in station.functions.iter().enumerate() {
                let place = format!("{place}: ac.{}", function.category.name());
                if station.functions[..nth].iter().any(|other| other.category == function.category) {
                    return Err(Complaint::new(place, "a second function of this category")
                        .accepted("one per category"));
                }
                function.access.check(&place)?;
                if let Some((_, to)) = function.saturated
                    && self.rate(index, to).is_none()
                {
                    return Err(Complaint::new(place, format!("sends to station number {to}"))
                        .accepted("a station that exists, the access point at one end"));
                }
            }
        }
        Ok(())
    }
}

impl StationConfig {
    /// Creates a station that sends at `rate`, without access functions yet.
    #[must_use]
    pub fn new(name: impl Into<String>, rate: Rate) -> Self {
        Self { name: name.into(), rate: Some(rate), functions: Vec::new() }
    }

    /// Creates an access point, without access functions yet.
    #[must_use]
    pub fn access_point(name: impl Into<String>) -> Self {
        Self { name: name.into(), rate: None, functions: Vec::new() }
    }

    /// Adds a function that sends the frames that `Cell::push` hands to it.
    #[must_use]
    pub fn function(mut self, category: Category, access: Access) -> Self {
        self.functions.push(FunctionConfig { category, access, saturated: None });
        self
    }

    /// Adds a function that always has a frame of `payload` for station number `to`.
    #[must_use]
    pub fn saturated(mut self, category: Category, access: Access, payload: Bytes, to: usize) -> Self {
        self.functions.push(FunctionConfig { category, access, saturated: Some((payload, to)) });
        self
    }
}
