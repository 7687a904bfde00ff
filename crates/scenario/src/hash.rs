//! The content hash of a scenario, which does not depend on comments, layout or the order of keys.

use crate::schema;
use crate::spec::{Flow, Scenario};
use crate::table::Table;
use crate::tables::ends::Ends;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::sync::LazyLock;

impl Scenario {
    /// Returns the scenario's name in stores and reports: 16 hexadecimal digits of BLAKE3 over the canonical JSON of
    /// the data. So comments, layout and spelled-out defaults do not change the name, and every value does.
    #[must_use]
    pub fn hash(&self) -> String {
        self.hash_with(&[])
    }

    /// Returns the [`hash`](Scenario::hash) with the fingerprints of the files that the scenario names, because their
    /// content is part of the scenario.
    #[must_use]
    pub fn hash_with(&self, contents: &[u64]) -> String {
        // Fields have a fixed order, there are no maps, and floats have their shortest exact form: one text per value.
        let mut canonical = serde_json::to_vec(self).expect("plain data without maps always serializes");
        canonical.extend(contents.iter().flat_map(|content| content.to_le_bytes()));
        blake3::hash(&canonical).to_hex()[..16].to_owned()
    }
}

/// The parts of a flow's hash, in this order. A part with a `?` is left out where it is the default.
///
/// Later keys need no entry: a key that the list lacks follows behind it, as if with a `?`. So scenarios that are
/// older than a key keep their hash, wherever its entry stands.
const PARTS: &str = "name count control size rtt segment delayed_ack delayed_ack_timeout socket_buffer start ?handshake \
     ?stop send_jitter initial_window initial_ssthresh slow_start max_ssthresh ?fast_alpha byte_counting min_rto \
     initial_rto timestamps sack recovery loss_detection ecn pacing ?bbr_variant ?cubic_variant ?window_variant ?tso \
     ?gro ?quick_ack ?quick_growth ?sack_compression ?pause ?pause_interval ?wake_up ?send_buffer ?access_rate path \
     direction ?cell";

/// All parts in their order, each with true if it is left out where it is the default.
static ORDER: LazyLock<Vec<(&str, bool)>> = LazyLock::new(|| {
    let part = |part: &'static str| part.strip_prefix('?').map_or((part, false), |key| (key, true));
    let parts: Vec<_> = PARTS.split(' ').map(part).collect();
    let later = schema::names(Flow::KEYS).filter(|key| parts.iter().all(|(known, _)| known != key));
    let later: Vec<_> = later.map(|key| (key, true)).collect();
    parts.into_iter().chain(later).collect()
});

impl Serialize for Flow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ends = |flow: &Self| Ends { host: flow.transport.host };
        let (usual, own_ends) = (Self::default(), ends(self));
        let usual_ends = ends(&usual);
        let mut map = serializer.serialize_map(None)?;
        for (key, is_optional) in &*ORDER {
            match *key {
                "access_rate" if self.access_rate.is_some() => map.serialize_entry(key, &self.access_rate)?,
                "transport" if self.carrier != usual.carrier => map.serialize_entry(key, &self.carrier)?,
                "cell" if self.cell.is_some() => map.serialize_entry(key, &self.cell)?,
                _ => {
                    self.hash(key, is_optional.then_some(&usual), &mut map)?;
                    self.marking.hash(key, is_optional.then_some(&usual.marking), &mut map)?;
                    own_ends.hash(key, is_optional.then_some(&usual_ends), &mut map)?;
                }
            }
        }
        map.end()
    }
}
