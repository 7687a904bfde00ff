//! The rows of acknowledgements that a scenario asks for.

use crate::run::record::{AckRow, AckSeries};
use crate::run::resolve::Resolved;
use sim::{AckView, SenderState};
use units::{Bytes, Rate, Span, Time};

/// A recorder of the acknowledgements of some flows.
pub(super) struct AckRecorder {
    /// The place of each flow's name; `None`: its acknowledgements are not recorded.
    places: Vec<Option<u32>>,
    series: AckSeries,
}

impl AckRecorder {
    /// Creates the recorder for a scenario that asks for acknowledgements.
    pub(super) fn of(resolved: &Resolved) -> Option<Self> {
        let chosen = resolved.acks.as_ref()?;
        let mut places = vec![None; resolved.flows.len()];
        for (place, index) in (0..).zip(chosen) {
            places[*index] = Some(place);
        }
        let names = chosen.iter().map(|index| resolved.flows[*index].name.clone()).collect();
        let states = STATES.map(|state| state.name().to_owned()).into();
        Some(Self { places, series: AckSeries { names, states, rows: Vec::new() } })
    }

    /// Takes an acknowledgement.
    pub(super) fn take(&mut self, ack: &AckView) {
        let Some(flow) = self.places.get(ack.flow).copied().flatten() else { return };
        let state = STATES.iter().position(|state| *state == ack.state).unwrap_or_default();
        let seconds = |span: Option<Span>| span.map_or(f64::NAN, Span::as_secs_f64);
        self.series.rows.push(AckRow {
            t_s: ack.at.since(Time::ZERO).as_secs_f64(),
            flow,
            state: state as u32,
            sent_bytes: ack.sent.get(),
            acked_bytes: ack.acked.get(),
            delivered_bytes: ack.delivered.get(),
            cwnd_bytes: ack.window.get(),
            ssthresh_bytes: ack.threshold.map(Bytes::get),
            in_flight_bytes: ack.in_flight.get(),
            pacing_bps: ack.pacing.map_or(f64::NAN, Rate::as_bps_f64),
            rtt_s: seconds(ack.rtt),
            srtt_s: seconds(ack.smoothed_rtt),
        });
    }

    /// Returns the rows.
    pub(super) fn into_series(self) -> AckSeries {
        self.series
    }
}

/// The states of a sender, in the order of the words in the series.
const STATES: [SenderState; 4] =
    [SenderState::SlowStart, SenderState::Avoidance, SenderState::Recovery, SenderState::Loss];
