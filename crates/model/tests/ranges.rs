//! The whole range of arguments, nonsense included: a formula has a finite number, shares lie in [0, 1], and what is out of range is an
//! error that says the range.

use proptest::prelude::*;
use tightlink_model::OutOfRange;
use tightlink_model::bianchi::{self, Channel, Countdown};
use tightlink_model::bottleneck::{self, calculus::*};
use tightlink_model::fixed_point::{self, Bottleneck, Flow, NoFixedPoint, Queue};
use tightlink_model::fluid::{self, FluidError};
use tightlink_model::mft::{self, CrossTraffic};
use tightlink_model::red::Red;
use tightlink_model::response::{Protocol, epoch::epoch, highspeed};
use tightlink_model::rules::single_flow::{self, Recovery, WindowCycle};
use tightlink_model::rules::{self, bursts, many_flows};
use tightlink_model::slow_start::{self, Connection, Growth, Repair};
use tightlink_model::{empty_queue, overflow, pftk, sawtooth, throughput};
use units::{Bytes, Fraction, Rate, Span};

const GROWTHS: [single_flow::Growth; 3] =
    [single_flow::Growth::PerRound, single_flow::Growth::Cubic, single_flow::Growth::Exponential];

/// Any number at all.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => any::<f64>(),
        3 => -2.0..2.0f64,
        2 => (-30.0..30.0f64).prop_map(|power| libm::pow(10f64, power)),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX]),
    ]
}

/// Any number from zero on.
fn a_size() -> impl Strategy<Value = f64> {
    any_number().prop_map(|number| if number.is_nan() { 0.0 } else { number.abs() })
}

/// Any whole number, large and small ones alike.
fn any_whole() -> impl Strategy<Value = u64> {
    prop_oneof![(0u32..64).prop_map(|bits| 1 << bits), any::<u64>(), 0u64..10, Just(u64::MAX)]
}

fn fraction() -> impl Strategy<Value = Fraction> {
    prop_oneof![0.0..=1.0f64, Just(0.0), Just(1.0), (-18.0..0.0f64).prop_map(|power| libm::pow(10f64, power))]
        .prop_map(|share| Fraction::new(share).unwrap())
}

/// A finite number, or the range that was left.
fn told(name: &str, found: Result<f64, OutOfRange>) -> Result<(), TestCaseError> {
    match found {
        Ok(number) => prop_assert!(number.is_finite(), "{name}: {number}"),
        Err(error) => prop_assert!(!error.accepted.is_empty() && !error.what.is_empty(), "{name}: {error:?}"),
    }
    Ok(())
}

/// The same of a share.
fn told_share(name: &str, found: Result<f64, OutOfRange>) -> Result<(), TestCaseError> {
    if let Ok(share) = found {
        prop_assert!((0.0..=1.0).contains(&share), "{name}: {share}");
    }
    told(name, found)
}

/// Cross traffic whose windows equal the buffer leaves a share that rounding hides.
#[test]
fn a_share_that_rounding_hides_is_none() {
    let base_rtt = Span::from_nanos(4);
    let path = mft::Path {
        capacity: Rate::from_bps(1 << 42),
        cross: CrossTraffic::BufferLimited { window: Bytes::MAX, base_rtt },
        base_rtt,
        buffer: Bytes::MAX,
        loss: Fraction::ZERO,
    };
    let found = mft::prediction(&path, &mft::Target::reno(Bytes::MAX));
    assert!(found.goodput <= path.capacity && found.rtt > base_rtt, "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_calculus_has_a_number_or_says_its_range(
        (a, b, c, d) in (any_number(), any_number(), any_number(), any_number()), bits in any_whole(), bytes in any_whole()
    ) {
        told("vegas_loss", vegas_loss(a))?;
        told("vegas_window", vegas_window(a))?;
        told("reno_backlog", reno_backlog(a, b))?;
        told("reno_loss", reno_loss(a, b))?;
        told("target_backlog", target_backlog(a))?;
        told("target_loss", target_loss(a))?;
        told("own_backlog", own_backlog(a, b))?;
        told("own_rate", own_rate(a, b))?;
        told("service_time", service_time(Rate::from_bps(bits), Bytes::new(bytes)))?;
        told("capacity", capacity(a, Bytes::new(bytes)).map(Rate::as_bps_f64))?;
        told("total_backlog", total_backlog(a, b))?;
        told("queueing_delay", queueing_delay(a, b))?;
        told_share("utilization", utilization(a))?;
        told("backlog", backlog(a))?;
        told("share", share(a, b))?;
        told("rate", rate(a, b))?;
        told_share("cross_share", cross_share(a, b))?;
        told_share("own_share", own_share(a, b))?;
        told("equivalent_flows", equivalent_flows(a, b))?;
        told("equal_share", equal_share(a, b))?;
        told("reached_backlog", reached_backlog(a, b))?;
        told("needed_utilization", needed_utilization(a, b))?;
        told("starting_rate", starting_rate(a, b))?;
        told("starting_backlog", starting_backlog(a, b))?;
        told("shared_rate", shared_rate(a, b, c, d))?;
        told("shared_backlog", shared_backlog(a, b, c, d))?;
        told("adapting_flows", adapting_flows(a, b, c, d).map(Option::unwrap_or_default))?;
    }

    #[test]
    fn response_functions_have_a_number_or_say_their_range(
        loss in fraction(), decrease in any_number(), window in any_number(), nanos in any_whole()
    ) {
        // Without loss it has no end.
        if loss > Fraction::ZERO {
            told("peak", highspeed::peak(loss, decrease))?;
        }
        let closed = highspeed::closed_form(decrease).map(|law| law.ln_window(-7.0, 0.0));
        told("closed_form", closed)?;
        for protocol in Protocol::ALL {
            let rtt = Span::from_nanos(nanos);
            for found in [protocol.window(loss, rtt), protocol.packets_per_second(loss, rtt)].into_iter().flatten() {
                prop_assert!(!found.is_nan() && found >= 0.0, "{protocol:?}: {found}");
            }
            match epoch(protocol, loss) {
                Ok(None) => {}
                Ok(Some(found)) => prop_assert!(found.mean_window.is_finite() && found.rounds >= 0.0, "{found:?}"),
                Err(error) => prop_assert!(!error.accepted.is_empty()),
            }
        }
        // More segments than any link has bits.
        if (1.0..1e30).contains(&window) {
            for found in [highspeed::increment(window), highspeed::decrease(window), highspeed::loss_rate(window)] {
                prop_assert!(found.is_finite() && found >= 0.0, "{window}: {found}");
            }
        }
    }

    #[test]
    fn a_path_has_a_regime_and_no_share_beyond_one(
        (bps, nanos, bytes, window) in (any_whole(), any_whole(), any_whole(), any_whole()),
        cross in any_whole(), loss in fraction(), held: bool
    ) {
        let (capacity, base_rtt) = (Rate::from_bps(bps.max(1)), Span::from_nanos(nanos.clamp(1, 1 << 60)));
        let cross = if held {
            CrossTraffic::BufferLimited { window: Bytes::new(cross), base_rtt }
        } else {
            CrossTraffic::Unresponsive { rate: Rate::from_bps(cross.min(bps)) }
        };
        let path = mft::Path { capacity, cross, base_rtt, buffer: Bytes::new(bytes), loss };
        let found = mft::prediction(&path, &mft::Target::reno(Bytes::new(window)));
        prop_assert!(!found.loss.is_nan() && found.loss >= 0.0, "{found:?}");
        prop_assert!(found.rtt > Span::ZERO, "{found:?}");
        prop_assert!(found.goodput <= capacity || found.goodput.as_bps() <= bps.saturating_add(bps / 1_000).saturating_add(1), "{found:?}");
    }

    #[test]
    fn rules_have_numbers_and_shares_or_say_their_range(
        (bps, nanos, bytes, flows) in (any_whole(), any_whole(), any_whole(), any::<u32>()),
        (buffer, beta, wanted, window) in (any_number(), any_number(), any_number(), any_number()),
        (load, small) in (fraction(), fraction()), growth in prop::sample::select(GROWTHS.to_vec())
    ) {
        let (rate, rtt, buffer_bytes) = (Rate::from_bps(bps), Span::from_nanos(nanos), Bytes::new(bytes));
        let cycle = WindowCycle { growth, beta };
        let _ = (rules::bandwidth_delay_product(rate, rtt), rules::sqrt_n_buffer(rate, rtt, flows));
        told_share("sawtooth::utilization", sawtooth::utilization(buffer))?;
        told_share("least_utilization", single_flow::least_utilization(beta, buffer))?;
        told_share("mean_utilization", single_flow::mean_utilization(cycle, buffer))?;
        told_share("held_utilization", single_flow::held_utilization(cycle, buffer))?;
        told_share("recovery_rate, halt", single_flow::recovery_rate(beta, buffer, Recovery::Halt))?;
        told_share("recovery_rate, PRR", single_flow::recovery_rate(beta, buffer, Recovery::Proportional))?;
        let senders = bursts::Flows {
            count: flows.into(),
            protocol: Protocol::ALL[flows as usize % Protocol::ALL.len()],
            beta: small.get(),
            pipe: window.abs(),
            rtt,
            together: buffer.abs(),
            spread: load.get(),
            gathered: wanted.abs(),
            asleep: beta.abs(),
            timeout: Span::from_nanos(bytes),
            probes: flows % 2 == 0,
        };
        let met = bursts::balance(&senders, bytes);
        told_share("bursts, utilization", met.clone().map(|met| met.utilization))?;
        told_share("bursts, loss", met.map(|met| met.loss))?;
        told("deterministic_loss", bursts::deterministic_loss(buffer.abs(), window.abs()))?;
        told_share("bbr_least_utilization", single_flow::bbr_least_utilization(buffer))?;
        told_share("bbr_mean_utilization", single_flow::bbr_mean_utilization(buffer))?;
        told_share("many_flows::least_utilization", many_flows::least_utilization(beta, flows, buffer))?;
        told("buffer_in_bdps", sawtooth::buffer_in_bdps(wanted))?;
        told("buffer_for_least", single_flow::buffer_for_least(beta, wanted))?;
        told("buffer_for_mean", single_flow::buffer_for_mean(cycle, wanted))?;
        told("mean_backlog", single_flow::mean_backlog(cycle, buffer))?;
        told("backlog_quantile", single_flow::backlog_quantile(cycle, buffer, wanted))?;
        told("bbr_buffer_for_least", single_flow::bbr_buffer_for_least(wanted))?;
        told("bbr_buffer_for_mean", single_flow::bbr_buffer_for_mean(wanted))?;
        told("window_deviation", many_flows::window_deviation(beta))?;
        told("many_flows::buffer_for_least", many_flows::buffer_for_least(beta, flows, wanted).map(Option::unwrap_or_default))?;
        told("short_flow_buffer", rules::short_flow_buffer(load, &[2, 4, 8], small))?;
        told("tiny_buffer", rules::tiny_buffer(load, window, small))?;
        let rtts = [rtt, Span::ZERO, Span::from_millis(1)];
        let _ = (
            empty_queue::minimum_backlog(rate, buffer_bytes, &rtts),
            empty_queue::guaranteed_buffer(rate, &rtts),
            empty_queue::usual_buffer(rate, &rtts),
        );
        if let Some(found) = sawtooth::sawtooth(rate, rtt, buffer_bytes, Bytes::new(nanos % 70_000), flows) {
            prop_assert!((0.0..=1.0).contains(&found.utilization) && !found.packets_per_cycle.is_nan(), "{found:?}");
        }
    }

    #[test]
    fn a_fixed_point_has_shares_or_says_its_range(
        (bps, beside, packets, loss) in (any_whole(), any_whole(), prop_oneof![any_whole(), 1u64..2000], fraction()),
        red in prop::option::of((any_number(), any_number(), any_number())),
        flows in prop::collection::vec((any::<u32>(), 0usize..5, any_whole(), any_whole(), any_number()), 0..4)
    ) {
        let queue = red.map_or(Queue::DropTail, |(min_threshold, max_threshold, max_probability)| {
            Queue::Red(Red { min_threshold, max_threshold, max_probability })
        });
        let bottleneck = Bottleneck {
            capacity: Rate::from_bps(bps), unresponsive: Rate::from_bps(beside % bps.max(1)), loss,
            packets: if red.is_some() { packets % 2000 } else { packets }, queue,
        };
        let flows: Vec<Flow> = flows.into_iter().map(|(count, protocol, nanos, bytes, max_window)| Flow {
            count, protocol: Protocol::ALL[protocol], base_rtt: Span::from_nanos(nanos), packet: Bytes::new(bytes), max_window,
        }).collect();
        match fixed_point::fixed_point(&bottleneck, &flows) {
            Ok(found) => {
                for share in [found.utilization, found.loss, found.path_loss, found.lengths.none_waits()] {
                    prop_assert!((0.0..=1.0).contains(&share), "{bottleneck:?} {flows:?}: {found:?}");
                }
                for number in [found.load, found.waiting, found.mean_packet, found.residual] {
                    prop_assert!(number.is_finite(), "{bottleneck:?} {flows:?}: {found:?}");
                }
                prop_assert!(found.flows.iter().all(|flow| !flow.window.is_nan()), "{found:?}");
            }
            Err(NoFixedPoint::OutOfRange(error)) => prop_assert!(!error.accepted.is_empty()),
            Err(NoFixedPoint::NoResponse(_) | NoFixedPoint::NotConverged { .. }) => {}
        }
    }

    #[test]
    fn what_a_controller_measures_gives_shares(
        (backlog, others, own) in (a_size(), a_size(), a_size()), adapting in 1.0..1e6f64, length in any_number()
    ) {
        let thresholds = Red { min_threshold: own.clamp(0.0, 1e9), max_threshold: others.clamp(1.0, 1e10), max_probability: 0.1 };
        for share in [
            bottleneck::utilization(backlog), bottleneck::starting_rate(backlog, others),
            bottleneck::shared_rate(backlog, others.clamp(0.0, 1.0), own.clamp(0.0, 1.0), adapting),
            thresholds.probability(length),
        ] {
            prop_assert!((0.0..=1.0).contains(&share), "{backlog} {others} {own} {adapting}: {share}");
        }
    }

    #[test]
    fn one_flow_s_rates_are_rates(
        (payload, nanos, timeout, window) in (1u64..1 << 16, any_whole(), any_whole(), any_whole()), loss in fraction(),
        bps in any_whole(), delayed_ack in 1u32..10
    ) {
        let rtt = Span::from_nanos(nanos.max(1));
        let flow = pftk::LossyFlow {
            payload: Bytes::new(payload), rtt, timeout: Span::from_nanos(timeout.max(1)), loss, delayed_ack, max_window: Bytes::new(window),
        };
        let (short, full) = (pftk::pftk(&flow), pftk::pftk_full(&flow));
        let least = throughput::throughput(Bytes::new(window), rtt);
        let most = least.as_bps_f64() * (1.0 + 1e-9) + 1.0;
        prop_assert!(short.as_bps_f64() <= most, "{short} {full} {least}");
        prop_assert!(throughput::buffer_limited_throughput(Bytes::new(window), rtt, Rate::from_bps(bps)) <= Rate::from_bps(bps));
        prop_assert!(throughput::congested_throughput(&flow, Rate::from_bps(bps)) <= Rate::from_bps(bps));
        let _ = overflow::slow_start_latency(Rate::from_bps(bps), Bytes::new(window), delayed_ack);
        let (of, segment) = (Rate::from_bps(bps), Bytes::new(payload - 1));
        let _ = overflow::congestion_avoidance_latency(of, Bytes::new(window), Span::from_nanos(nanos), segment, delayed_ack);
        let _ = throughput::square_root_throughput(segment, Span::from_nanos(nanos), loss, delayed_ack);
        let _ = throughput::square_root_loss(segment, Span::from_nanos(nanos), of, delayed_ack);
    }

    #[test]
    fn a_saturated_cell_is_busy_or_idle(
        (stations, aifsn, cw_min, cw_max) in (any::<u32>(), 0u32..300, 0u32..70_000, 0u32..70_000), attempts in 0u32..300,
        (payload, data, beyond, slot) in (0u64..1 << 20, 0u64..1 << 30, 0u64..1 << 30, 0u64..1 << 20)
    ) {
        let class = bianchi::Class {
            stations: stations % 200_000, aifsn, cw_min, cw_max, attempts: Some(attempts).filter(|attempts| *attempts < 280),
            payload: Bytes::new(payload), exchange: Span::from_nanos(data.saturating_add(beyond)), data: Span::from_nanos(data),
        };
        let channel = Channel { slot: Span::from_nanos(slot), sifs: Span::from_micros(10), after_collision: Span::ZERO };
        for countdown in [Countdown::EveryBoundary, Countdown::IdleSlots] {
            match bianchi::saturation(&channel, &class, countdown) {
                Ok(found) => for share in [found.collision_probability, found.drop_probability, found.attempt_probability, found.airtime_share, found.idle_share] {
                    prop_assert!((0.0..=1.0).contains(&share), "{found:?}");
                },
                Err(complaint) => prop_assert!(!complaint.accepted.is_empty() && !complaint.place.is_empty(), "{complaint}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_file_takes_a_time_or_says_its_range(
        (bps, segment, nanos, bytes) in (any_whole(), 0u64..1 << 16, any_whole(), any_whole()),
        (delayed_ack, byte_counting) in (0u64..20, 0u64..20), segments in 0u64..3000, (window, threshold) in (any_number(), any_number())
    ) {
        let path = slow_start::Path {
            capacity: Rate::from_bps(bps), segment: Bytes::new(segment), rtt: Span::from_nanos(nanos), buffer: Bytes::new(bytes),
        };
        let growth = Growth { delayed_ack, byte_counting };
        told("overflow_window", slow_start::overflow_window(&path, growth))?;
        told("burst_buffer", slow_start::burst_buffer(&path, growth))?;
        told("detection_window", slow_start::detection_window(window, threshold, growth))?;
        told("next_threshold", slow_start::next_threshold(window))?;
        told("buffer_for", slow_start::buffer_for(&path, growth, window).map(|bytes| bytes.get() as f64))?;
        match slow_start::transfer(&path, &Connection::new(segments, growth, Repair::NewReno)) {
            Ok(found) => prop_assert!(found.threshold >= 1.0, "{found:?}"),
            Err(error) => prop_assert!(!error.accepted.is_empty()),
        }
    }

    #[test]
    fn fluids_have_shares_or_say_their_range(
        (capacity, buffer, flows, base_rtt, start) in (any_number(), any_number(), any_number(), any_number(), any_number()),
        protocol in prop::sample::select(Protocol::ALL.to_vec())
    ) {
        let bottleneck = fluid::Bottleneck { capacity, buffer, red: None };
        let class = fluid::Class { protocol, flows, base_rtt, window: start };
        // A few round trips, so that none takes seconds.
        match fluid::trajectory(&bottleneck, &[class], 4.0 * base_rtt, 0.5 * base_rtt) {
            Ok(found) => {
                prop_assert!(found.utilization.iter().chain(&found.loss).all(|share| (0.0..=1.0).contains(share)), "{found:?}");
                prop_assert!(found.windows[0].iter().all(|window| window.is_finite() && *window >= 1.0), "{found:?}");
            }
            Err(FluidError::Range(error)) => prop_assert!(!error.accepted.is_empty()),
            Err(FluidError::Unsolved(_)) => {}
        }
    }
}
