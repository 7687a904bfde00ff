//! The scale of a receive window (RFC 7323, 2), which only the handshake states.
//!
//! Without the handshake two things bound it. A sender never sends beyond the window, so the bytes in flight give the
//! least scale. While a program reads nothing, the window falls by what was acknowledged; the ratio of both is the scale.

/// The largest scale.
const LARGEST: usize = 14;
/// The least fall of a window that gives a vote: smaller ones are rounded too much.
const LEAST_FALL: u32 = 6;
/// The votes from which the most frequent ratio counts.
const ENOUGH: u32 = 8;

/// The statement of a handshake about the scale of one receiver's windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::connections) enum Scaling {
    /// The SYNs were not seen.
    #[default]
    Unknown,
    /// An end did not offer window scaling, so that neither end scales (RFC 7323, 2.2).
    Off,
    /// The scale.
    By(u8),
}

/// The scale of one receiver's windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    /// The scale of the handshake, or zero if an end has no scale.
    stated: Option<u8>,
    /// True if the handshake has no window scaling.
    off: bool,
    votes: [u32; LARGEST + 1],
    least: u8,
    last: Option<(u64, u32)>,
    /// The right edge of the window that the sender knows.
    edge: u64,
}

impl Scale {
    /// Takes the scale of the handshake.
    pub(super) const fn state(&mut self, scale: Scaling) {
        match scale {
            Scaling::Off => (self.stated, self.off) = (Some(0), true),
            Scaling::By(scale) => self.stated = Some(scale),
            Scaling::Unknown => {}
        }
    }

    /// Returns the scale, if it is known or inferred to be above zero.
    pub(super) fn found(&self) -> Option<u8> {
        let scale = self.value();
        (!self.off && (scale > 0 || self.stated.is_some())).then_some(scale)
    }

    /// Returns true if the handshake has no window scaling.
    pub(super) const fn is_off(&self) -> bool {
        self.off
    }

    /// Returns true if the handshake did not state it.
    pub(super) const fn is_inferred(&self) -> bool {
        self.stated.is_none()
    }

    /// Returns the scale as far as it is known.
    pub(super) fn value(&self) -> u8 {
        if let Some(stated) = self.stated {
            return stated;
        }
        let most = (0..=LARGEST).max_by_key(|&scale| self.votes[scale]).unwrap_or(0);
        let all: u32 = self.votes.iter().sum();
        if self.votes[most] >= ENOUGH && self.votes[most] * 2 > all {
            self.least.max(most as u8)
        } else {
            self.least
        }
    }

    /// Observes an acknowledgement, in the order of the capture.
    pub(super) fn observe(&mut self, acknowledged: u64, window: u32) {
        if self.stated.is_some() {
            return;
        }
        if let Some((before, larger)) = self.last {
            let fall = larger.saturating_sub(window);
            if fall >= LEAST_FALL && acknowledged > before {
                let scale = libm::log2((acknowledged - before) as f64 / f64::from(fall));
                let nearest = scale.round();
                if (scale - nearest).abs() < 0.2 && (0.0..=LARGEST as f64).contains(&nearest) {
                    self.votes[nearest as usize] = self.votes[nearest as usize].saturating_add(1);
                }
            }
        }
        self.last = Some((acknowledged, window));
    }

    /// Takes the window that the sender knows now.
    pub(super) fn known(&mut self, acknowledged: u64, window: u32) {
        self.edge = self.edge.max(acknowledged + (u64::from(window) << self.value()));
    }

    /// Returns the right edge of the window that the sender knows.
    pub(super) const fn edge(&self) -> u64 {
        self.edge
    }

    /// Observes that the sender, which knows this window, sent up to `end`.
    pub(super) fn sent(&mut self, end: u64, acknowledged: u64, window: u32) {
        if self.stated.is_some() || window == 0 || end <= self.edge {
            return;
        }
        let flight = end.saturating_sub(acknowledged);
        while usize::from(self.least) < LARGEST && u64::from(window) << self.least < flight {
            self.least += 1;
        }
        self.edge = self.edge.max(acknowledged + (u64::from(window) << self.least));
    }
}
