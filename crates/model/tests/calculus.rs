//! TCP-Madison's equations: hand values, each inverse put back, limits, and what is said of arguments out of range.

use proptest::prelude::*;
use testkit::close;
use tightlink_model::bottleneck::{self, calculus::*};
use units::{Bytes, Complaint, Rate};

#[test]
fn hand_values() {
    // 7 100^2 - 3600 + 32 = 66 432.
    close(vegas_loss(100.0).unwrap(), 32.0 / 66_432.0, 1e-12);
    close(vegas_window(32.0 / 66_432.0).unwrap(), 100.0, 1e-12);
    // LEDGER P3.eq1-3.
    close(target_backlog(1e-4).unwrap(), 5.085, 1e-4);
    close(target_loss(10.0).unwrap(), 2.55e-5, 3e-3);
    // 1500 bytes at 100 Mbit/s take 0.12 ms; where packets wait for 0.6 ms, five do.
    let service = service_time(Rate::from_bps(100_000_000), Bytes::new(1500)).unwrap();
    close(service, 120e-6, 1e-12);
    close(total_backlog(600e-6, service).unwrap(), 5.0, 1e-12);
    // Half the link is 4167 packets per second, and 2.5 of the five.
    let own = rate(0.5, service).unwrap();
    close(own, 12_500.0 / 3.0, 1e-12);
    close(own_backlog(own, 600e-6).unwrap(), 2.5, 1e-12);
    // Five packets: U = 10/11, two flows of 5/11.
    let used = utilization(5.0).unwrap();
    close(used, 10.0 / 11.0, 1e-12);
    close(cross_share(used, 0.5).unwrap(), 10.0 / 11.0 - 0.5, 1e-12);
    close(equivalent_flows(used, 5.0 / 11.0).unwrap(), 2.0, 1e-12);
    // Half the capacity free of others, b = 5: x = 10/11 of it.
    close(starting_rate(5.0, 0.5).unwrap(), 5.0 / 11.0, 1e-12);
    // Three flows of 0.3 among which all adapt, b = 5: x = 10/31.
    close(shared_rate(5.0, 0.6, 0.3, 3.0).unwrap(), 10.0 / 31.0, 1e-12);
    close(shared_backlog(10.0 / 31.0, 0.6, 0.3, 3.0).unwrap(), 5.0, 1e-12);
    close(reached_backlog(0.5, 0.9).unwrap(), 2.5, 1e-12);
}

#[test]
fn at_the_ends_of_their_ranges_they_have_their_limits() {
    close(vegas_loss(36.0 / 7.0).unwrap(), 1.0, 1e-12);
    assert!(vegas_loss(1e12).unwrap() < 1e-22);
    assert_eq!((utilization(0.0).unwrap(), backlog(0.0).unwrap()), (0.0, 0.0));
    assert!(utilization(1e12).unwrap() <= 1.0 && backlog(1.0 - 1e-12).unwrap() > 1e11);
    assert_eq!(starting_rate(0.0, 0.3).unwrap(), 0.0);
    // A wanted backlog without bound takes what others leave.
    close(starting_rate(1e12, 0.3).unwrap(), 0.7, 1e-9);
    close(shared_rate(1e12, 0.0, 0.0, 4.0).unwrap(), 0.25, 1e-9);
    assert_eq!(reached_backlog(0.0, 0.0).unwrap(), 0.0);
}

#[test]
fn what_is_out_of_range_is_told_with_the_range() {
    let told = |error: tightlink_model::OutOfRange| error.to_string();
    let cases = [
        (told(vegas_loss(5.0).unwrap_err()), "window is 5; it must be 36/7 packets or more"),
        (told(target_backlog(0.0).unwrap_err()), "loss rate is 0; it must be above 0, at most 1"),
        (
            told(reno_backlog(1.0, 0.1).unwrap_err()),
            "queueing delay over RTT is 1; it must be between 0 and 1",
        ),
        (told(backlog(1.0).unwrap_err()), "utilization is 1; it must be from 0 to below 1"),
        (told(utilization(-1.0).unwrap_err()), "backlog is -1; it must be zero packets or more"),
        (told(total_backlog(0.1, 0.0).unwrap_err()), "service time is 0; it must be more than zero seconds"),
        (told(equal_share(0.9, 0.5).unwrap_err()), "number of flows is 0.5; it must be one or more"),
        (told(cross_share(0.5, 0.6).unwrap_err()), "own share is 0.6; it must be from 0 to the utilization"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
    // A target below that of a path which loses every packet; two flows that overflow the link.
    assert!(target_loss(0.12).is_err() && target_loss(0.122).is_ok());
    assert!(shared_backlog(0.5, 0.0, 0.0, 2.0).is_err());
    assert!(needed_utilization(0.9, 1.0).is_err());
    assert!(service_time(Rate::ZERO, Bytes::new(1500)).is_err() && capacity(1.0, Bytes::ZERO).is_err());
    for not_a_number in [f64::NAN, f64::INFINITY] {
        assert!(utilization(not_a_number).is_err() && backlog(not_a_number).is_err());
        assert!(target_backlog(not_a_number).is_err() && starting_rate(not_a_number, 0.1).is_err());
        assert!(share(not_a_number, 1.0).is_err() && own_rate(1.0, not_a_number).is_err());
    }
    let complaint = Complaint::from(backlog(1.5).unwrap_err());
    assert_eq!(complaint.to_string(), "utilization: 1.5\n  accepted: from 0 to below 1");
}

proptest! {
    #[test]
    fn each_inverse_leads_back(
        loss in 1e-9..1.0f64,
        ratio in 1e-4..0.999f64,
        packets in 1e-3..1e5f64,
        used in 1e-3..0.999f64,
        part in 1e-3..1.0f64,
        count in 1.0..100.0f64,
        service in 1e-9..1.0f64,
    ) {
        let back = |found: f64, expected: f64| prop_assert_close(found, expected);
        back(vegas_loss(vegas_window(loss).unwrap()).unwrap(), loss)?;
        back(reno_loss(ratio, reno_backlog(ratio, loss).unwrap()).unwrap(), loss)?;
        back(target_loss(target_backlog(loss).unwrap()).unwrap(), loss)?;
        back(own_backlog(own_rate(packets, service).unwrap(), service).unwrap(), packets)?;
        back(total_backlog(queueing_delay(packets, service).unwrap(), service).unwrap(), packets)?;
        back(utilization(backlog(used).unwrap()).unwrap(), used)?;
        back(share(rate(used, service).unwrap(), service).unwrap(), used)?;
        let own = used * part;
        back(own_share(used, cross_share(used, own).unwrap()).unwrap(), own)?;
        back(equivalent_flows(used, equal_share(used, count).unwrap()).unwrap(), count)?;
        let reached = reached_backlog(own, used).unwrap();
        back(needed_utilization(own, reached).unwrap(), used)?;
        let wanted = packets.min(1e3);
        back(starting_backlog(starting_rate(wanted, used).unwrap(), used).unwrap(), wanted)?;
        let rate = shared_rate(wanted, used * (1.0 - part), own, count).unwrap();
        back(shared_backlog(rate, used * (1.0 - part), own, count).unwrap(), wanted)?;
        let bits = Rate::from_bps((1e6 / service) as u64);
        let found = capacity(service_time(bits, Bytes::new(1500)).unwrap(), Bytes::new(1500)).unwrap();
        prop_assert!(found.as_bps().abs_diff(bits.as_bps()) <= 1 + bits.as_bps() / (1 << 50));
    }

    #[test]
    fn they_are_those_of_the_controller(loss in 1e-9..1.0f64, packets in 0.0..1e5f64, used in 0.0..0.999f64, count in 1.0..9.0f64) {
        prop_assert_eq!(target_backlog(loss).unwrap(), bottleneck::target_backlog(loss));
        prop_assert_eq!(utilization(packets).unwrap(), bottleneck::utilization(packets));
        prop_assert_eq!(starting_rate(packets, used).unwrap(), bottleneck::starting_rate(packets, used));
        prop_assert_eq!(
            shared_rate(packets, used, 0.1, count).unwrap(),
            bottleneck::shared_rate(packets, used, 0.1, count)
        );
    }

    #[test]
    fn the_flows_that_adapted_are_told_by_what_they_reached(before in 0.01..0.1f64, factor in 1.1..2.0f64, count in 1.0..4.0f64) {
        let (after, cross) = (before * factor, before * 4.0);
        // Those that do not adapt keep their rate.
        let reached = shared_backlog(after, cross, before, count).unwrap();
        prop_assert_close(adapting_flows(reached, cross, before, after).unwrap().unwrap(), count)?;
    }
}

fn prop_assert_close(found: f64, expected: f64) -> Result<(), TestCaseError> {
    prop_assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{found}, not {expected}");
    Ok(())
}
