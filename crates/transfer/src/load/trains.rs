//! The rate of a path by packet trains, measured by the end that receives them.

use crate::wire::test::TrainRate;
use estimate::{Capacity, Estimator, LEAST_TRAIN, LONG_TRAIN_PACKETS, TRAIN_PACKETS, TRAINS, train_bytes};
use host::{Clock, PollFd, PollFlags};
use probe::{ProbeEvent, ProbeKey, Prober};
use std::net::SocketAddr;
use units::{Rate, Span};

/// The session of the probes that ask for trains.
pub(crate) const TRAIN_SESSION: u64 = 0;
/// The time for all trains of one length to arrive.
const PATIENCE: Span = Span::from_secs(3);
/// The number of measurements of five trains each.
const ROUNDS: usize = 2;

/// Measures the rate of the path from the echoer at `echoer` to `local`.
pub(crate) fn rate_by_trains(
    local: SocketAddr,
    echoer: SocketAddr,
    key: &ProbeKey,
    clock: &Clock,
) -> TrainRate {
    let local = SocketAddr::new(local.ip(), 0);
    let Ok(mut prober) = Prober::connect_from(local, echoer, key, TRAIN_SESSION) else {
        return TrainRate::default();
    };
    let short = measure(&mut prober, TRAIN_PACKETS, clock);
    let long =
        short.estimate().is_some_and(|rate| rate.serialization(train_bytes(TRAIN_PACKETS)) < LEAST_TRAIN);
    let capacity = if long { measure(&mut prober, LONG_TRAIN_PACKETS, clock) } else { short };
    TrainRate {
        bps: capacity.estimate().map(Rate::as_bps),
        whole: capacity.whole() as u16,
        lost: capacity.lost() as u16,
    }
}

/// Asks for trains of so many packets, and waits until they are over.
fn measure(prober: &mut Prober, packets: usize, clock: &Clock) -> Capacity {
    let mut capacity = Capacity::new();
    for _ in 0..ROUNDS {
        (0..TRAINS).for_each(|_| prober.ask_train(packets));
        let (mut left, until) = (TRAINS, clock.now() + PATIENCE);
        while left > 0 && clock.now() < until {
            let wait = prober.wakeup().min(until).since(clock.now());
            // An interruption does no harm, because the prober looks at everything again.
            let _ = host::wait(&mut [PollFd::new(&*prober, PollFlags::IN)], Some(wait));
            for event in prober.poll(clock) {
                let ProbeEvent::Train(train) = event else { continue };
                left -= 1;
                match train.remains() {
                    Some(rate) => capacity.observe_remains(rate),
                    None => capacity.observe(clock.now(), train.rate()),
                }
            }
        }
        if left == TRAINS {
            break;
        }
    }
    capacity
}
