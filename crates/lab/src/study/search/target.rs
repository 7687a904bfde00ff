//! Targets as the command line writes them.

use crate::run::metric;
use crate::study::task::{Bound, Target};
use units::{Complaint, Span};

/// Reads a share or a time, as the command line writes a target's bound.
fn bound(text: &str) -> Option<f64> {
    text.parse::<f64>()
        .ok()
        .or_else(|| text.parse::<units::Fraction>().ok().map(units::Fraction::get))
        .or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64))
        .filter(|bound| bound.is_finite() && *bound >= 0.0)
}

impl std::str::FromStr for Target {
    type Err = Complaint;

    /// Reads `METRIC<=BOUND` or `METRIC>=BOUND`. `METRIC=BOUND` means `>=` for a number of which more is better,
    /// otherwise `<=`.
    fn from_str(text: &str) -> Result<Self, Complaint> {
        let read = || {
            let (metric, value) = text.split_once('=')?;
            let value = bound(value.trim())?;
            let (metric, least) = match (metric.strip_suffix('<'), metric.strip_suffix('>')) {
                (Some(metric), _) => (metric.trim(), false),
                (_, Some(metric)) => (metric.trim(), true),
                (None, None) => {
                    let better = metric::described(metric.trim()).map(|(metric, _)| metric.better);
                    (metric.trim(), better == Some(metric::Better::Higher))
                }
            };
            let bound = if least { Bound::AtLeast(value) } else { Bound::AtMost(value) };
            (!metric.is_empty()).then(|| Self { metric: metric.into(), bound })
        };
        read().ok_or_else(|| {
            Complaint::new(text, "no target")
                .accepted("METRIC<=BOUND or METRIC>=BOUND, such as idle_fraction<=1%, utilization>=99% or queueing_delay_s.p95<=10ms")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_bound_from_either_side() {
        let read = |text: &str| text.parse::<Target>().map(|target| target.to_string());
        assert_eq!(read("idle_fraction=1%"), Ok("idle_fraction <= 0.01".into()));
        assert_eq!(read("idle_fraction <= 1%"), Ok("idle_fraction <= 0.01".into()));
        assert_eq!(read("utilization=99%"), Ok("utilization >= 0.99".into()));
        assert_eq!(read("utilization<=0.5"), Ok("utilization <= 0.5".into()));
        assert_eq!(read("queueing_delay_s.p95<=10ms"), Ok("queueing_delay_s.p95 <= 0.01".into()));
        for text in ["idle_fraction", "idle_fraction=", "idle_fraction=-1", "=1%", "idle_fraction=1 apple"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
