//! The scenario that the options of `tightlink emulate` describe.

use crate::args::{EmulateOptions, QueueChoice, RateChoice};
use crate::problem::Problem;
use crate::source;
use lab::run::emulated::{FIRST_WINDOW, UNNAMED};
use lab::run::resolve::{Resolved, RoomScale, resolve_document};
use link::queue::DROP_TAIL;
use scenario::spec::Outage;
use scenario::{Document, Flow, Scenario};
use units::{Bytes, Complaint, Rate, Span};

/// The limit of a queue if the bandwidth-delay product is zero.
const WITHOUT_DELAY: &str = "50ms";
/// The least default limit, in packets, for a policy other than drop-tail, which keeps the queue short by itself:
/// Linux's default for CoDel.
const BESIDE_POLICY: u64 = 1000;

/// The size of the flow that the program replaces. With a size the scenario needs no duration, which nobody knows.
const SIZE: Bytes = Bytes::new(1_000_000_000);

/// Returns the link as a scenario with one flow, which has the link's base RTT; the program replaces that flow. The
/// scenario is resolved, too.
pub(super) fn document(options: &EmulateOptions) -> Result<(Document, Resolved), Problem> {
    let Some(rate) = &options.rate else { unreachable!("--rate is required without a scenario") };
    let mtu = u16::try_from(options.mtu.get()).ok().filter(|mtu| *mtu >= 576);
    let Some(mtu) = mtu else {
        let found = format!("{}, which is not a valid size of an IP packet", options.mtu);
        return Err(Problem::usage(Complaint::new("--mtu", found).accepted("576B to 65535B")));
    };
    let rtt = options.delay * 2;
    let choice = options.queue.clone().unwrap_or_default();
    let kind = choice.kind.as_deref().unwrap_or(DROP_TAIL);
    // A pipe gives its content once. These links have it until the scenario is resolved.
    let mut alone = Vec::new();
    let mut room = |option: &str, key: &str, rate: &RateChoice| {
        let link = by_itself(option, key, rate, options)?;
        let room = room(&choice, kind, link.link.rate, rtt, options.mtu);
        alone.push(link);
        room
    };
    let mut draft = Scenario::link(rate.clone(), options.delay)
        .title("A program behind a link")
        .of_link("loss", options.loss)
        .queue(kind)
        .limit(room("--rate", "link.rate", rate)?)
        .flow(Flow::reno().rtt(rtt).size(SIZE).set("segment", Bytes::new(mtu.into())));
    if let Some(back) = &options.rate_back {
        draft = draft
            .of_link("reverse.rate", back.clone())
            .of_link("reverse.loss", options.loss)
            .of_link("reverse.queue.kind", kind)
            .of_link("reverse.queue.limit", room("--rate-back", "link.reverse.rate", back)?);
    }
    if let Some(outage) = &options.outage {
        draft = draft.of_link("outage", Outage::clone(&outage.0));
    }
    if let Some(cross) = options.cross.filter(|rate| *rate > Rate::ZERO) {
        draft = draft.traffic("cbr", &[("name", &UNNAMED), ("rate", &cross)]);
    }
    let mut document = draft.document()?;
    for (key, value) in &choice.settings {
        document.set(&format!("link.queue.{key}"), value)?;
        if options.rate_back.is_some() {
            document.set(&format!("link.reverse.queue.{key}"), value)?;
        }
    }
    let ways = if options.rate_back.is_some() { &["link", "link.reverse"][..] } else { &["link"] };
    for table in ways {
        shaper(&mut document, table, options)?;
    }
    source::change(&mut document, &options.changes)?;
    let resolved = resolve_document(&document)?;
    Ok((document, resolved))
}

/// Writes the shaper of the link or direction `table`, if there is one.
fn shaper(document: &mut Document, table: &str, options: &EmulateOptions) -> Result<(), Problem> {
    let Some(shaper) = &options.shaper else { return Ok(()) };
    document.set(&format!("{table}.shaper.rate"), &shaper.0)?;
    let choice = options.shaper_queue.clone().unwrap_or_default();
    let of_queue = [("kind", choice.kind), ("limit", choice.limit)];
    let of_queue = of_queue.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    for (key, value) in of_queue.chain(choice.settings) {
        document.set(&format!("{table}.shaper.queue.{key}"), &value)?;
    }
    Ok(())
}

/// Resolves a link of the rate of `option` alone, with what `--set` changes of its key. The room of the link's queue
/// needs its mean.
fn by_itself(
    option: &str,
    key: &str,
    rate: &RateChoice,
    options: &EmulateOptions,
) -> Result<Resolved, Problem> {
    let mut alone = Scenario::link(rate.clone(), Span::ZERO).limit("1 packets").flow(Flow::reno().size(SIZE));
    if let Some(outage) = &options.outage {
        alone = alone.of_link("outage", Outage::clone(&outage.0));
    }
    let (mut alone, mut place) = (alone.document()?, option);
    for (changed, value) in options.changes.set.iter().filter_map(|change| change.split_once('=')) {
        let part = changed.trim().strip_prefix(key).filter(|part| part.is_empty() || part.starts_with('.'));
        if let Some(part) = part {
            alone.set(&format!("link.rate{part}"), value.trim())?;
            place = key;
        }
    }
    resolve_document(&alone).map_err(|faults| {
        let complaint = faults.as_slice().first().map(|fault| fault.complaint.clone()).unwrap_or_default();
        let place = if complaint.place.starts_with("link.outage") { "--outage" } else { place };
        Problem::usage(Complaint { place: place.to_owned(), ..complaint })
    })
}

/// Returns the queue's limit in the form of a scenario; refuses one that is smaller than a packet. The default has room
/// for the first packets of a new flow, even on a short path.
fn room(choice: &QueueChoice, kind: &str, rate: Rate, rtt: Span, mtu: Bytes) -> Result<String, Problem> {
    let product = rate.volume(rtt);
    let scale = RoomScale { rate, mean_rtt: rtt, packet: mtu };
    // Reading never fails, because the text was checked before or is a constant here.
    let volume = |room: &str| room.parse().map_or(Bytes::ZERO, |limit| scale.bytes(scale.limit(limit)));
    let Some(room) = &choice.limit else {
        let (usual, least) = match kind {
            // Without a delay the product is zero, so the default limit is a time.
            DROP_TAIL if product == Bytes::ZERO => (WITHOUT_DELAY, FIRST_WINDOW),
            DROP_TAIL => ("1 bdp", FIRST_WINDOW),
            _ => ("1 bdp", BESIDE_POLICY),
        };
        let least = format!("{least} packets");
        return Ok(if volume(usual) > volume(&least) { usual.to_owned() } else { least });
    };
    if volume(room) < mtu {
        let of_product = match room.parse() {
            Ok(scenario::Limit::Bdp(_)) if product == Bytes::ZERO => {
                "; without a --delay the bandwidth-delay product is 0".to_owned()
            }
            Ok(scenario::Limit::Bdp(_)) => {
                format!("; the bandwidth-delay product of {rate} and a base RTT of {rtt} is {product}")
            }
            _ => String::new(),
        };
        return Err(Problem::usage(
            Complaint::new("--queue", format!("less room than one packet of {mtu}{of_product}"))
                .accepted("1 packet or more, such as 100packets, 512kB, 40ms, or 1bdp with a --delay"),
        ));
    }
    Ok(room.clone())
}
