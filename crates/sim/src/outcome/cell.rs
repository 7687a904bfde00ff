//! The report of a wireless cell.

use air::access::Category;
use air::{Airtime, FunctionReport};
use link::LinkReport;
use units::{Rate, Span};

/// A wireless cell over the measured interval.
#[derive(Clone, Debug)]
pub struct CellReport {
    /// The length of the interval.
    pub measured: Span,
    /// The medium's time within it.
    pub airtime: Airtime,
    /// Every access function: the access point's, then each station's, in the plan's order.
    pub functions: Vec<AccessReport>,
    /// The limit of the watched queue, packets, as a time average; `None` if it does not move.
    pub mean_moving_limit: Option<f64>,
}

/// One access function over the measured interval.
#[derive(Clone, Debug)]
pub struct AccessReport {
    /// Its station's name; the access point's is [`CellPlan::ACCESS_POINT`](crate::CellPlan::ACCESS_POINT).
    pub station: String,
    /// Its category.
    pub category: Category,
    /// Its use of the medium.
    pub access: FunctionReport,
    /// The queue before it; `None` if it is saturated.
    pub queue: Option<LinkReport>,
}

impl CellReport {
    /// Returns the payload of all acknowledged frames over the measured time: IP packets, their headers included.
    #[must_use]
    pub fn throughput(&self) -> Rate {
        Rate::of(self.functions.iter().map(|function| function.access.payload).sum(), self.measured)
    }

    /// Returns the attempts that collided over all attempts; zero without any.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        let sum = |of: fn(&FunctionReport) -> u64| -> u64 {
            self.functions.iter().map(|function| of(&function.access)).sum()
        };
        sum(|access| access.collisions) as f64 / (sum(|access| access.attempts) as f64).max(1.0)
    }

    /// Returns the share of the time in which nobody transmits and no acknowledgement is due.
    #[must_use]
    pub fn idle_share(&self) -> f64 {
        self.airtime.idle.as_secs_f64() / self.measured.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the payload of the acknowledged frames of `function` over the measured time.
    #[must_use]
    pub fn throughput_of(&self, function: &AccessReport) -> Rate {
        Rate::of(function.access.payload, self.measured)
    }

    /// Returns the share of the time that the acknowledged exchanges of `function` take.
    #[must_use]
    pub fn airtime_share(&self, function: &AccessReport) -> f64 {
        function.access.airtime.as_secs_f64() / self.measured.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}
