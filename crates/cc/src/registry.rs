//! The controllers and slow starts that a scenario can name.

pub use crate::controls::CONTROLS;

use crate::controls::{Reno, RttScaling};
use crate::growth::Growth;
use crate::slow_start::{HyStart, HyStartPlusPlus, Limited, SlowStart, Standard};
use crate::{CongestionControl, LossBased, Start};
use serde::Serialize;
use std::sync::{PoisonError, RwLock};
use units::{Bytes, Complaint};

/// A controller in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The name in a scenario.
    pub name: &'static str,
    /// The effect, in one line.
    pub summary: &'static str,
    /// The RFC, paper or program that defines it.
    pub source: &'static str,
    /// The kind of that source: [`STANDARD`], [`EXPERIMENTAL`], [`PAPER`] or [`YARDSTICK`].
    pub status: &'static str,
    /// The function that makes one.
    pub build: fn(&Recipe<'_>) -> Box<dyn CongestionControl>,
}

/// A slow start in the registry, for controllers that grow by `G`. Its name and its description are the same for every
/// `G`.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartName<G = Reno> {
    /// The name in a scenario.
    pub name: &'static str,
    /// The effect, in one line.
    pub summary: &'static str,
    /// The RFC, paper or program that defines it.
    pub source: &'static str,
    /// The kind of that source, as for a [`Control`].
    pub status: &'static str,
    /// The function that makes a controller of this slow start and a growth, with a start and a tuning.
    pub build: fn(Start, &Tuning, G) -> Box<dyn CongestionControl>,
}

/// The ingredients of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// The state in which it begins.
    pub start: Start,
    /// The slow start's name, one of [`SLOW_STARTS`]. A controller that is not a slow start and a growth ignores it.
    pub slow_start: &'a str,
    /// The settings that a scenario may change.
    pub tuning: Tuning,
}

impl Recipe<'_> {
    /// Makes a controller of `growth`, for segments of the recipe's size, and the recipe's slow start.
    pub fn loss_based<G: Growth + 'static>(&self, growth: fn(Bytes) -> G) -> Box<dyn CongestionControl> {
        let slow_start = SlowStartName::ALL.iter().find(|entry| entry.name == self.slow_start);
        let slow_start = slow_start.unwrap_or(&SlowStartName::STANDARD);
        (slow_start.build)(self.start, &self.tuning, growth(self.start.segment))
    }
}

/// An RFC on the standards track.
pub const STANDARD: &str = "standard";
/// An experimental RFC or a draft.
pub const EXPERIMENTAL: &str = "experimental";
/// A publication without an RFC.
pub const PAPER: &str = "paper";
/// A controller for comparison or validation, not for networks.
pub const YARDSTICK: &str = "yardstick";

/// Every slow start that can be named.
pub const SLOW_STARTS: &[SlowStartName] = SlowStartName::ALL;

impl<G: Growth + 'static> SlowStartName<G> {
    const STANDARD: Self = Self {
        name: "standard",
        summary: "one segment per acknowledgement",
        source: "RFC 5681 section 3.1",
        status: STANDARD,
        build: |start, tuning, growth| pair(start, tuning, Standard, growth),
    };

    /// The slow starts of [`SLOW_STARTS`], for controllers that grow by `G`.
    pub const ALL: &'static [Self] = &[
        Self::STANDARD,
        Self {
            name: LIMITED,
            summary: "above max_ssthresh segments, at most half of that per round trip",
            source: "RFC 3742",
            status: EXPERIMENTAL,
            build: |start, tuning, growth| {
                pair(start, tuning, Limited::new(start.segment, tuning.max_ssthresh), growth)
            },
        },
        Self {
            name: HYSTART,
            summary: "ends when a round's acknowledgements span half the path, or its least RTT rises; Linux's CUBIC has it",
            source: "Ha, Rhee 2011; Linux, tcp_cubic.c",
            status: PAPER,
            build: |start, tuning, growth| pair(start, tuning, HyStart::new(start.segment), growth),
        },
        Self {
            name: HYSTART_PLUS_PLUS,
            summary: "slows down when a round's least RTT rises, and leaves slow start if that lasts",
            source: "RFC 9406",
            status: STANDARD,
            build: |start, tuning, growth| pair(start, tuning, HyStartPlusPlus::default(), growth),
        },
    ];
}

/// Makes a controller of a slow start and a growth. Each pair is monomorphised.
fn pair<S: SlowStart + 'static, G: Growth + 'static>(
    start: Start,
    tuning: &Tuning,
    slow_start: S,
    growth: G,
) -> Box<dyn CongestionControl> {
    let control = LossBased::new(start, tuning.byte_counting, slow_start, growth);
    Box::new(if tuning.linux_window { control.by_segments() } else { control })
}

/// The name of the slow start that reads [`Tuning::max_ssthresh`].
pub const LIMITED: &str = "limited";
/// The name of the slow start of Linux's CUBIC.
pub const HYSTART: &str = "hystart";
const HYSTART_PLUS_PLUS: &str = "hystart++";

/// The settings of a controller that a scenario may change, beyond its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tuning {
    /// The number of segments that one acknowledgement may count for in slow start, the L of RFC 3465. With zero,
    /// slow start and congestion avoidance count acknowledgements and not bytes, as RFC 2581 allowed.
    pub byte_counting: u64,
    /// The window at which limited slow start becomes slower, in segments.
    pub max_ssthresh: u64,
    /// The number of packets that FAST wants in the queue; `None` if FAST derives it from its throughput.
    pub fast_alpha: Option<u64>,
    /// The RTT scaling of Prague; `None` if it has none.
    pub prague_rtt: Option<RttScaling>,
    /// True if the host sends super-packets ([`super_packet`](crate::super_packet)), for which BBR leaves room.
    pub offload: bool,
    /// True if BBR v1 is Linux's and not the draft's.
    pub linux_bbr: bool,
    /// True if CUBIC is Linux's and not the RFC's.
    pub linux_cubic: bool,
    /// True if loss-based windows move as Linux's and not as RFC 5681's ([`LossBased::by_segments`]).
    pub linux_window: bool,
}

impl Default for Tuning {
    /// Returns the settings by the RFCs: an acknowledgement counts for RFC 5681's `min(N, SMSS)`, and `max_ssthresh` is
    /// the one that RFC 3742 recommends.
    fn default() -> Self {
        Self {
            byte_counting: 1,
            max_ssthresh: crate::slow_start::MAX_SSTHRESH,
            fast_alpha: None,
            prague_rtt: Some(RttScaling::default()),
            offload: false,
            linux_bbr: false,
            linux_cubic: false,
            linux_window: false,
        }
    }
}

/// Controllers that the program has added.
static ADDED: RwLock<Vec<Control>> = RwLock::new(Vec::new());

/// Adds a controller of the program's own: from then on scenarios may name it.
///
/// # Errors
/// If a controller has that name already.
pub fn add(control: Control) -> Result<(), Complaint> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if CONTROLS.iter().chain(&*added).any(|known| known.name == control.name) {
        let found = format!("there is a congestion control \"{}\" already", control.name);
        return Err(Complaint::new("", found).accepted("a name of its own"));
    }
    added.push(control);
    Ok(())
}

/// Returns every controller that can be named: [`CONTROLS`], then those that the program has added.
#[must_use]
pub fn controls() -> Vec<Control> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    CONTROLS.iter().chain(&*added).copied().collect()
}

/// Returns true if the program has added a controller called `name`.
#[must_use]
pub fn is_added(name: &str) -> bool {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).iter().any(|control| control.name == name)
}

fn find(name: &str) -> Option<Control> {
    let added = || {
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        added.iter().find(|control| control.name == name).copied()
    };
    CONTROLS.iter().find(|control| control.name == name).copied().or_else(added)
}

/// Returns true if a controller is called `name`.
#[must_use]
pub fn has_control(name: &str) -> bool {
    find(name).is_some()
}

/// Returns the router feedback that `control` requires at every link; `None` if it requires none or is unknown.
#[must_use]
pub fn assist(control: &str) -> Option<&'static str> {
    let start = Start { segment: Bytes::new(1), window: Bytes::new(1), threshold: Bytes::MAX };
    build(control, "standard", start)?.assist()
}

/// Returns true if `control` answers the share of congestion marks, so that it needs their feedback.
#[must_use]
pub fn wants_marks(control: &str) -> bool {
    let start = Start { segment: Bytes::new(1), window: Bytes::new(1), threshold: Bytes::MAX };
    build(control, "standard", start).is_some_and(|control| control.wants().marks)
}

/// Returns true if `control` is scalable, so that its packets belong to L4S (ECT(1)).
#[must_use]
pub fn is_scalable(control: &str) -> bool {
    let start = Start { segment: Bytes::new(1), window: Bytes::new(1), threshold: Bytes::MAX };
    build(control, "standard", start).is_some_and(|control| control.wants().scalable)
}

/// Returns true if a slow start is called `name`.
#[must_use]
pub fn has_slow_start(name: &str) -> bool {
    SLOW_STARTS.iter().any(|slow_start| slow_start.name == name)
}

/// Makes the controller called `control` with the slow start called `slow_start`. Returns `None` if the registry lacks
/// either.
#[must_use]
pub fn build(control: &str, slow_start: &str, start: Start) -> Option<Box<dyn CongestionControl>> {
    tuned(control, slow_start, start, Tuning::default())
}

/// Makes a controller as [`build`] does, with the settings `tuning`.
#[must_use]
pub fn tuned(
    control: &str,
    slow_start: &str,
    start: Start,
    tuning: Tuning,
) -> Option<Box<dyn CongestionControl>> {
    let entry = find(control)?;
    has_slow_start(slow_start).then(|| (entry.build)(&Recipe { start, slow_start, tuning }))
}
