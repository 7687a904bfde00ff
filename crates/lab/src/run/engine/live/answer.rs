//! The record of a run on the kernel, made from the reports of the path, the senders and the receivers.

use super::sessions::wires;
use super::{kernel_flows, least_rtt, send_memory_note};
use crate::run::batches::{Reading, half_widths, nearest, possible};
use crate::run::cost::peak_rss_bytes;
use crate::run::engine::{ended_early, marked, sizer_notes, unmarked};
use crate::run::fairness;
use crate::run::record::{
    Departures, Engine, FlowSeries, FlowSummary, Hosts, LinkSeries, Note, OfferedRate, Record, RttStatistics,
    Series, Summary, traffic,
};
use crate::run::resolve::{Resolved, ResolvedFlow};
use ::live::{Lateness, ReceivedFlow, SentFlow};
use emu::{FlowKey, PathReport};
use scenario::Column;
use units::{Bytes, Rate, Span, Time};

pub(super) fn record(
    resolved: &Resolved,
    report: &PathReport,
    sent: &[SentFlow],
    received: &[ReceivedFlow],
    wall_s: f64,
) -> Record {
    let flows = sent.iter().zip(received).zip(resolved.flows.iter().zip(wires(resolved)));
    let mut flows: Vec<FlowSummary> = flows
        .map(|((sent, received), (of, wire))| FlowSummary {
            loss_rate: loss_rate(report, wire),
            ..flow_summary(sent, received, of)
        })
        .collect();
    fairness::compare(&mut flows, resolved);
    let ci95 = half_widths(&batches(resolved, report));
    let mut summary = Summary {
        wall_s,
        peak_rss_bytes: peak_rss_bytes(),
        hosts: Some(Hosts::of(report)),
        ..Summary::of(Engine::Live, resolved, &report.link, ci95, flows)
    };
    if let Some(sources) = &report.link.sources {
        let end = Time::ZERO + resolved.warmup + report.link.measured;
        summary.traffic = traffic(resolved, &sources.cross, end);
    }
    let established =
        sent.iter().filter_map(|sent| sent.connected).map(|at| at.since(Time::ZERO).as_secs_f64());
    summary.delivers_from(established, resolved);
    // Loss episodes are left out if a flow can end, because the emulated link does not know which flows end, nor when.
    if resolved.flows.iter().all(|flow| flow.size.is_none() && flow.stop.is_none()) {
        summary.set_losses(report.losses, resolved);
    }
    let mut notes: Vec<Note> = report.notes.iter().cloned().map(Note::from).collect();
    notes.extend(report.stalled().map(Note::from));
    notes.extend(report.doubts(least_rtt(resolved)).into_iter().map(Note::from));
    notes.extend(report.hosts.iter().flat_map(emu::HostReport::notes).map(Note::from));
    notes.extend(marked(&report.link).map(Note::from));
    notes.extend(unmarked(&summary, resolved).map(Note::from));
    notes.extend(late_departures(sent.iter().map(|sent| (sent.name.as_str(), sent.lateness))));
    notes.extend(overflowed(resolved, report.hosts.iter().map(|host| host.losses.udp_rcvbuf_errors).sum()));
    if kernel_flows(resolved).next().is_some() {
        notes.push(format!("live: {}", ::live::KERNEL_DECIDES).into());
    }
    notes.extend(send_memory_note(resolved).map(Note::from));
    for (sent, received) in sent.iter().zip(received) {
        let own = sent.notes.iter().chain(&received.notes).map(|note| format!("{}: {note}", sent.name));
        notes.extend(own.map(Note::from));
        notes.extend(window_note(received, Time::ZERO + resolved.warmup).map(Note::from));
        notes.extend(phase_notes(received).into_iter().map(Note::from));
        notes.extend(measures_note(sent, resolved).map(Note::from));
    }
    notes.extend(ended_early(&summary, resolved).into_iter().map(Note::from));
    notes.dedup();
    Record { summary, series: series(resolved, report, sent, received), notes }
}

/// The lateness of departures above which a run is in doubt. Controls that place departures read a path's delays by
/// them, and gaps are of the order of a millisecond.
const LATE: Span = Span::from_micros(100);

/// Returns a doubt if packets of some flow left too late; it names the flow with the latest ones.
fn late_departures<'a>(flows: impl Iterator<Item = (&'a str, Option<Lateness>)>) -> Option<Note> {
    let late = |(name, lateness): (&'a str, Option<Lateness>)| Some((name, lateness?.p99));
    let late: Vec<_> = flows.filter_map(late).filter(|(_, p99)| *p99 > LATE).collect();
    let (name, p99) = late.iter().max_by_key(|(_, p99)| *p99)?;
    let others = if late.len() > 1 {
        format!(" (and fewer in {} other flows)", late.len() - 1)
    } else {
        String::new()
    };
    Some(Note::Busy(format!(
        "{name}: 1 % of the packets left more than {} after they were due{others}, where {} are allowed: the machine \
         was too busy, so the control saw delays that are not the path's",
        p99.rounded(),
        LATE.rounded()
    )))
}

/// Returns a doubt if sockets of QUIC flows lost packets that had crossed the path.
fn overflowed(resolved: &Resolved, lost: u64) -> Option<Note> {
    (lost > 0 && resolved.flows.iter().any(ResolvedFlow::is_quic)).then(|| {
        Note::Busy(format!(
            "{lost} packets were lost in the sockets' receive buffers, behind the path: the machine was too busy for \
             QUIC"
        ))
    })
}

/// Lists the quantities that a flow's control measured, as they were at the end.
fn measures_note(sent: &SentFlow, resolved: &Resolved) -> Option<String> {
    let kept = resolved.columns.contains(&Column::Measures) && !sent.measures.is_empty();
    let listed =
        || sent.measures.iter().map(|(name, value)| format!("{name} {value:.4}")).collect::<Vec<_>>();
    kept.then(|| format!("{}: the control's measures at the end: {}", sent.name, listed().join(", ")))
}

/// Returns the tight link's counters at the ends of batches, from the samples nearest to them.
fn batches(resolved: &Resolved, report: &PathReport) -> Vec<Reading> {
    let Some(end) = resolved.end else { return Vec::new() };
    let (from, end) = (Time::ZERO + resolved.warmup, Time::ZERO + end);
    // Samples before measurement begins are skipped, because their counters belong to another interval.
    let measured = report.samples.iter().filter(|sample| sample.at >= from);
    let readings: Vec<Reading> = measured
        .map(|sample| Reading {
            at: sample.at,
            busy: sample.busy,
            possible: possible(sample.at, sample.changing),
            arrivals: sample.arrivals_total,
            drops: sample.drops_total,
        })
        .collect();
    nearest(&readings, from, end)
}

/// Describes the requested, granted and observed window after the warm-up, if the scenario asks for one.
fn window_note(received: &ReceivedFlow, warmup: Time) -> Option<String> {
    let last = received.samples.last()?.window;
    let requested = last.requested?;
    let after = received.samples.iter().filter(|sample| sample.at >= warmup);
    let observed = after.filter_map(|sample| sample.window.observed).max();
    let observed = observed.map_or_else(|| "unknown".to_owned(), Bytes::rounded);
    Some(format!(
        "{}: socket buffer requested {}, granted {}, largest window observed {observed}",
        received.name,
        requested.rounded(),
        last.granted.rounded()
    ))
}

/// Lists the changes of a sizer, with their times and reasons.
fn phase_notes(received: &ReceivedFlow) -> Vec<String> {
    let changes = received.phases.iter().map(|change| (change.at, &change.state, change.window));
    sizer_notes::notes(&received.name, changes, received.final_window)
}

/// Returns the share of a flow's packets that the link dropped.
fn loss_rate(report: &PathReport, (protocol, port): (u8, u16)) -> Option<f64> {
    let own = |key: &&(FlowKey, emu::FlowCount)| key.0.protocol == protocol && key.0.source_port == port;
    report.flows.iter().find(own).map(|(_, count)| count.loss_rate())
}

fn flow_summary(sent: &SentFlow, received: &ReceivedFlow, of: &ResolvedFlow) -> FlowSummary {
    let goodput = match (of.size, sent.completion) {
        (Some(size), Some(completion)) => Rate::of(size, completion),
        _ => received.measured.goodput(),
    };
    let last = sent.samples.last().filter(|_| of.is_quic());
    let threshold = last.and_then(|last| last.slow_start_threshold);
    FlowSummary {
        name: sent.name.clone(),
        goodput_bps: goodput.as_bps_f64(),
        retransmits: Some(sent.measured.retransmits),
        marks: received.marks.filter(|_| of.transport.ecn.is_on()),
        rtt_s: sent.rtt.map(|rtt| RttStatistics {
            min: sent.min_rtt.unwrap_or(rtt.min).as_secs_f64(),
            mean: rtt.mean.as_secs_f64(),
            p95: Some(rtt.p95.as_secs_f64()),
        }),
        rtt_p99_s: sent.rtt.map(|rtt| rtt.p99.as_secs_f64()),
        completion_s: sent.completion.map(Span::as_secs_f64),
        handshake_s: sent.handshake.map(Span::as_secs_f64),
        size_bytes: of.size.map(|size| size.get() as f64),
        delivered_bytes: Some(received.measured.payload.get() as f64),
        departure_late_s: sent
            .lateness
            .map(|late| Departures { mean: late.mean.as_secs_f64(), p99: late.p99.as_secs_f64() }),
        threshold_segments: threshold.map(|bytes| bytes.get() as f64 / sent.segment_payload.get() as f64),
        window_bytes: received.final_window.map(|window| window.get() as f64),
        ..FlowSummary::default()
    }
}

/// Makes the series from the samples of the kernel and the link, in the columns that the scenario asks for.
fn series(resolved: &Resolved, report: &PathReport, sent: &[SentFlow], received: &[ReceivedFlow]) -> Series {
    let keeps = |column| resolved.columns.contains(&column);
    let times = report.samples.iter().map(|sample| sample.at.as_secs_f64());
    let mut link = LinkSeries { t_s: times.collect(), ..LinkSeries::default() };
    let mut drops = 0;
    let mut offered = OfferedRate::default();
    for sample in &report.samples {
        if keeps(Column::Backlog) {
            link.backlog_bytes.push(sample.backlog.bytes.get() as f64);
            link.capacity_bps
                .extend(sample.changing.map(|changing| offered.next(sample.at, changing.offered)));
        }
        if keeps(Column::Drops) {
            link.drops.push(sample.drops_total.saturating_sub(drops));
            drops = sample.drops_total;
        }
    }
    let flows = sent.iter().zip(received).map(|(sent, received)| {
        // Both sides sample with one period; the shorter series sets the length.
        let samples = || sent.samples.iter().zip(&received.samples);
        let times = samples().map(|(ours, _)| ours.at.as_secs_f64());
        let mut flow = FlowSeries { name: sent.name.clone(), t_s: times.collect(), ..FlowSeries::default() };
        for (ours, theirs) in samples() {
            if keeps(Column::Rate) {
                flow.rate_bps.push(theirs.goodput.as_bps_f64());
            }
            if keeps(Column::Rtt) {
                flow.rtt_s.push(ours.rtt.map_or(f64::NAN, Span::as_secs_f64));
            }
            if keeps(Column::Window) {
                flow.window_bytes.push(ours.send_window.get() as f64);
            }
            if let Some(requested) = theirs.window.requested {
                let observed = theirs.window.observed.map_or(f64::NAN, |window| window.get() as f64);
                flow.socket_buffer.requested.push(requested.get() as f64);
                flow.socket_buffer.granted.push(theirs.window.granted.get() as f64);
                flow.socket_buffer.observed.push(observed);
            }
        }
        flow
    });
    Series {
        flows: flows.collect(),
        link,
        queue_length: report.link.queue_length.shares(),
        ..Series::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::resolve::resolve_document;

    #[test]
    fn late_departures_and_overflowing_sockets_of_quic_put_a_run_in_doubt() {
        let late = |micros| {
            let late = Lateness { p99: Span::from_micros(micros), ..Lateness::default() };
            late_departures([("b", None), ("a", Some(late))].into_iter())
        };
        assert_eq!(late(100), None);
        let Some(Note::Busy(text)) = late(101) else { panic!("no doubt") };
        assert!(text.starts_with("a: 1 % of the packets left more than 101 us"), "{text}");
        let of = |transport: &str, lost| {
            let text = format!(
                "title = 't'\nduration = '1s'\n[link]\nrate = '1Mbit/s'\ndelay = '5ms'\n\
                 queue.limit = '9 packets'\n[[flow]]\ntransport = '{transport}'\n"
            );
            let document = scenario::Document::parse("x.toml", &text).unwrap();
            overflowed(&resolve_document(&document).unwrap(), lost)
        };
        assert_eq!((of("quic", 0), of("tcp", 3)), (None, None));
        assert!(matches!(of("quic", 3), Some(Note::Busy(_))));
    }
}
