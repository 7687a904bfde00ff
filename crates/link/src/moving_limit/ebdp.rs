//! eBDP: the bandwidth-delay product at the measured service rate, plus some packets, `[P4.ebdp]`.

use serde::Serialize;
use units::Span;

/// The parameters of eBDP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EbdpParameters {
    /// `T`, the target queueing delay.
    pub target: Span,
    /// `a`, packets beyond that, for service times that vary.
    pub extra: u64,
    /// The share of the newest service time in the mean, in (0, 1].
    pub weight: f64,
    /// `Qmax`, the most packets.
    pub most: u64,
}

impl Default for EbdpParameters {
    /// Returns the values printed in P4: 200 ms, 40 packets, 0.001, 400 packets.
    fn default() -> Self {
        Self { target: Span::from_millis(200), extra: 40, weight: 0.001, most: 400 }
    }
}

/// The limit of eBDP:
///
/// ```text
/// T_serv <- (1 - weight) T_serv + weight (te - ts)
/// Q = min(T/T_serv + a, Qmax)
/// ```
/// The first service time is the first mean. Before it the limit is `Qmax`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ebdp {
    parameters: EbdpParameters,
    /// The mean service time, seconds.
    mean_service: Option<f64>,
}

impl Ebdp {
    /// Creates a limit of `Qmax`.
    #[must_use]
    pub fn new(parameters: EbdpParameters) -> Self {
        Self { parameters, mean_service: None }
    }

    /// Takes the service time `service` = `te - ts` of a packet.
    pub fn served(&mut self, service: Span) {
        let newest = service.as_secs_f64();
        let mean = self.mean_service.get_or_insert(newest);
        *mean += self.parameters.weight * (newest - *mean);
    }

    /// Returns `T_serv`, once it is known.
    #[must_use]
    pub fn mean_service(&self) -> Option<Span> {
        self.mean_service.map(Span::from_secs_f64)
    }

    /// Returns `Q`, in whole packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let EbdpParameters { target, extra, most, .. } = self.parameters;
        let Some(mean) = self.mean_service else { return most };
        // A service time of zero makes the product infinite, which becomes the largest integer.
        let product = (target.as_secs_f64() / mean) as u64;
        product.saturating_add(extra).min(most)
    }
}
