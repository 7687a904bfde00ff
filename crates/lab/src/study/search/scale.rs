//! The values that a search tries: whole packets for the room of a queue, otherwise numbers in the scenario's own unit.

use super::SearchError;
use crate::run::resolve::{Resolved, ResolvedLink, Room, resolve_document};
use crate::study::task::Goal;
use link::Limit;
use scenario::Document;
use units::{Complaint, split_quantity};

/// A bracket of values that are not packets is narrow enough if its ends differ by less than this share.
const RESOLUTION: f64 = 0.01;
/// The most doublings or halvings of the first value in search of a bracket. The first number is for a queue's room,
/// the second for any other value, on which the cost of a run may depend.
const DOUBLINGS: (u32, u32) = (24, 10);
/// The number of packets beyond the answer that are tried: with few flows an odd room and an even one differ.
const BEYOND: u32 = 3;

/// The values that a search tries.
pub(super) struct Scale {
    pub(super) start: f64,
    unit: String,
    step: Step,
}

enum Step {
    /// A queue's room in whole packets, also if the scenario writes it in another unit.
    Packets(usize, Option<Written>),
    /// Bytes, in whole numbers as far as the resolution asks.
    Bytes,
    Any,
}

/// A room as the scenario writes it, in a unit other than packets.
struct Written {
    unit: String,
    per_packet: f64,
}

impl Scale {
    /// Returns the scale of the value that `key` has in the document.
    pub(super) fn of(document: &Document, key: &str) -> Result<Self, SearchError> {
        let text = document.value(key)?;
        let quantity = split_quantity(&text, "a number with a unit, where the search starts");
        let quantity =
            quantity.map_err(|error| SearchError::NoAnswer(Complaint::new(key, error.to_string())))?;
        let (value, unit) = (quantity.value(), quantity.unit.to_owned());
        let resolved = resolve_document(document)?;
        let Some(link) = queue_of(document, &resolved, key) else {
            let step = if unit == "B" { Step::Bytes } else { Step::Any };
            return Ok(Self { start: value, unit, step });
        };
        let queue = &resolved.links[link];
        let written = match queue.limit {
            Limit::Packets(_) => None,
            Limit::Bytes(bytes) => {
                let per_packet = value / bytes.get().max(1) as f64 * queue.room_scale().packet.get() as f64;
                Some(Written { unit, per_packet })
            }
        };
        let start = packets(queue).max(1.0);
        Ok(Self { start, unit: "packets".into(), step: Step::Packets(link, written) })
    }

    /// Writes a value as a scenario does.
    pub(super) fn text(&self, value: f64) -> String {
        match self.step {
            Step::Packets(..) | Step::Bytes => format!("{value:.0} {}", self.unit),
            // Four digits suffice, because the search stops at 1 %.
            Step::Any => format!("{} {}", significant(value, 4, f64::round), self.unit),
        }
    }

    /// Writes a number of packets in the scenario's own unit, if that is not packets. It is the shortest number that
    /// makes room for as many packets of the mean length and for no more.
    pub(super) fn written(&self, document: &Document, key: &str, packets: f64) -> Option<String> {
        let Step::Packets(link, Some(written)) = &self.step else { return None };
        let exact = packets * written.per_packet;
        let same = |text: &String| {
            let mut document = document.clone();
            document.set(key, text).is_ok()
                && resolve_document(&document)
                    .is_ok_and(|resolved| self::packets(&resolved.links[*link]) == packets)
        };
        let texts =
            (2..=12).map(|digits| format!("{} {}", significant(exact, digits, f64::ceil), written.unit));
        texts.into_iter().find(same)
    }

    /// Returns the geometric mean, because the effect of a buffer depends on its ratio.
    pub(super) fn middle(&self, low: f64, high: f64) -> f64 {
        let middle = (low.max(high / 1e6) * high).sqrt();
        if self.is_whole() { middle.round().clamp(low + 1.0, high - 1.0) } else { middle }
    }

    /// Returns true if there is a value to try between one that misses the target and one that meets it.
    pub(super) fn has_between(&self, low: f64, high: f64) -> bool {
        match self.step {
            Step::Packets(..) => high - low > 1.0,
            Step::Bytes => high - low > 1.0 && high > low * (1.0 + RESOLUTION / 2.0),
            Step::Any => high > low * (1.0 + RESOLUTION),
        }
    }

    /// Returns numbers of packets a little below the smallest that meets the target, or above the largest, the nearest
    /// first.
    pub(super) fn beyond(&self, value: f64, sought: Goal) -> impl Iterator<Item = f64> + use<> {
        let count = if matches!(self.step, Step::Packets(..)) { BEYOND } else { 0 };
        let step = if sought == Goal::Smallest { -1.0 } else { 1.0 };
        (1..=count).map(move |nth| value + step * f64::from(nth)).take_while(|value| *value >= 1.0)
    }

    /// Returns values a little above the smallest that meets the target, or below the largest. If the metric is
    /// monotone, they meet it, too.
    pub(super) fn within(&self, value: f64, sought: Goal) -> Vec<f64> {
        let way = if sought == Goal::Smallest { 1.0 } else { -1.0 };
        let (near, far) = (value * (1.0 + way * RESOLUTION), value * (1.0 + way * 5.0 * RESOLUTION));
        if !self.is_whole() {
            return vec![near, far];
        }
        let away = |value: f64| if way > 0.0 { value.ceil() } else { value.floor() };
        let near = if matches!(self.step, Step::Packets(..)) { value + way } else { away(near) };
        let far = if way > 0.0 { away(far).max(near + 1.0) } else { away(far).min(near - 1.0) };
        [near, far].into_iter().filter(|value| *value >= 1.0).collect()
    }

    /// Estimates the number of halvings that an answer between two values takes.
    pub(super) fn steps(&self, low: f64, high: f64) -> f64 {
        let (low, least) = (low.max(high / 1e6), 1.0 + RESOLUTION);
        if matches!(self.step, Step::Packets(..)) {
            libm::log2((high - low).max(1.0))
        } else {
            libm::log2((libm::log(high / low) / libm::log(least)).max(1.0))
        }
    }

    /// Returns the room of `packets` in every unit, where the key is a queue's room.
    pub(super) fn room(&self, document: &Document, packets: f64) -> Option<Room> {
        let Step::Packets(link, _) = &self.step else { return None };
        let resolved = resolve_document(document).ok()?;
        Some(resolved.links[*link].room_scale().room(packets as u64))
    }

    pub(super) fn is_whole(&self) -> bool {
        !matches!(self.step, Step::Any)
    }

    pub(super) fn doublings(&self) -> u32 {
        if matches!(self.step, Step::Packets(..)) { DOUBLINGS.0 } else { DOUBLINGS.1 }
    }
}

/// Returns the first link whose queue's limit `key` is, if it is one.
fn queue_of(document: &Document, resolved: &Resolved, key: &str) -> Option<usize> {
    let tables = document.tables_limited_by(key);
    resolved.links.iter().position(|link| tables.contains(&link.table))
}

/// Returns the whole packets of mean length that a queue has room for.
fn packets(link: &ResolvedLink) -> f64 {
    link.room_scale().packets(link.limit).floor()
}

/// Writes a value to this many significant digits, without trailing zeros.
fn significant(value: f64, digits: i32, round: fn(f64) -> f64) -> String {
    let decimals = (digits - 1 - libm::log10(value.abs().max(1e-9)).floor() as i32).clamp(0, 12);
    let scale = 10f64.powi(decimals);
    let text = format!("{:.*}", decimals as usize, round(value * scale) / scale);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
#[path = "../../../tests/within/scale.rs"]
mod tests;
