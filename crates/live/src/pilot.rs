//! What probes found out, in a sizer's words.

use probe::ProbeEvent;
use sizing::Input;

/// What a sizer is told of `event`.
#[must_use]
pub fn input(event: &ProbeEvent) -> Input {
    match event {
        ProbeEvent::Echo(round_trip) => Input::Probe(Some(*round_trip)),
        ProbeEvent::Lost => Input::Probe(None),
        ProbeEvent::Train(train) => {
            train.remains().map_or_else(|| Input::Train(train.rate()), Input::TrainRemains)
        }
    }
}
