//! A transfer that was under way, on a path whose base RTT was found: see `takeover.rs`.

use super::path::Level;
use super::{Sobas, shown_ms};
use crate::Input;
use crate::SizerConfig;
use units::{Bytes, Rate, Span, Time};

impl Sobas {
    /// For a transfer that is under way at `now` over a path with this `base` RTT. With a goodput and its RTT, `standing`, a
    /// queue stood: it begins with S = R T. Without, the window is open.
    #[must_use]
    pub fn under_way(config: SizerConfig, now: Time, base: Span, standing: Option<(Rate, Span)>) -> Self {
        let running = Some(config.running.unwrap_or(config.maximum));
        let mut sobas = Self::new(SizerConfig { running, ..config });
        sobas.began = now;
        sobas.path.begin_transfer();
        sobas.path.rebase(base + config.thresholds.clock_step);
        sobas.path.observe(now, Input::RoundTrip(base), Bytes::new(sobas.window as u64));
        let Some((rate, average)) = standing else {
            sobas.reason = format!("base RTT {}, no queue stands: watching for a flat rate", shown_ms(base));
            return sobas;
        };
        let level = Level { rate: rate.as_bps_f64(), average, median: average };
        // What was promised has been used up.
        sobas.window = 0.0;
        sobas.phase = sobas.decide(now, level, "a dip of the window");
        sobas.reason = format!(
            "base RTT {} by a dip of the window, {} before it: R = {}, S = {}",
            shown_ms(base),
            shown_ms(average),
            level.rate(),
            sobas.shown()
        );
        sobas
    }
}
