//! The proposals for windows and buffers: the receive window, the send buffer, a window of the program's own.

use super::Case;
use super::path::{Limit, Trial};
use super::programs::programs_with;
use super::proposal::Proposal;
use super::words::{delay, in_steps, rate, receive_memory, send_memory, set};
use estimate::diagnosis::{HostSettings, UNSCALED, Vantage, WindowSizing};
use units::{Bytes, Rate};

/// The ratio of a receive buffer to its window. Linux before 6.6 gives half of the buffer to the window
/// (`tcp_adv_win_scale`). Later kernels give 0.66 to 0.89 of it, by the memory that segments take.
const BUFFER_FOR_WINDOW: u64 = 2;
/// The ratio of a send buffer to the data in flight that it surely has room for. A program fills the buffer again only
/// when a third is free (`sk_stream_is_writeable`).
const BUFFER_FOR_FLIGHT: f64 = 1.5;
/// The ratio of the proposed window to the present one where the path was never full, so that its rate is unknown.
const REACH: u64 = 4;
/// The share of the bottleneck's rate from which a window is large enough.
const FILLED: f64 = 0.95;
/// The windows that are tried, over the needed one: bursts and pauses of hosts take some of it.
const TRIED: [f64; 3] = [1.0, 1.25, 1.5];
/// The least ratio of two goodputs that counts as a difference.
const DIFFERENT: f64 = 1.15;
/// The most connections that are proposed and simulated.
const MOST_CONNECTIONS: u64 = 64;
/// The least share of a window in flight with which it is full.
const FULL: f64 = 0.9;
/// The most programs of a window that are named.
const MOST_PROGRAMS: usize = 2;

pub(super) fn receive_window(case: &Case<'_>, proposal: &mut Proposal) {
    let Some(window) = window_in_use(case) else {
        proposal.say("The size of the window is unknown, so the effect of a change cannot be simulated.");
        return;
    };
    let about = if case.evidence.inferred_scale { "about " } else { "" };
    proposal.say(format!("The receive window of {about}{} limits it.", window.rounded()));
    let Some(needed) = enlarge(case, window, Limit::Window, proposal) else { return };
    let largest = largest_window(case);
    let fits = largest.is_none_or(|largest| needed <= largest);
    match largest.filter(|_| !fits) {
        Some(_) if case.evidence.scaling_off => window_scaling(case, proposal),
        Some(largest) => proposal.say(format!(
            "This connection cannot advertise more than {}, because its handshake fixed the scale. A new one can.",
            largest.rounded()
        )),
        None => {}
    }
    let place = case.receiver();
    let buffer = needed * BUFFER_FOR_WINDOW;
    let settings = case.receiver_settings();
    match case.evidence.sizing {
        Some(WindowSizing::Program) => {
            proposal.say("The receiving program sets SO_RCVBUF, so the kernel does not size the window: use the program's own option.");
            say_program(case, window, true, proposal);
            proposal.offer(&place, set(&format!("net.core.rmem_max={}", in_steps(needed))));
        }
        Some(WindowSizing::AutotuningOff) => autotuning(&place, buffer, settings.as_ref(), proposal),
        known => {
            // A command that sets what is set already would change nothing.
            if settings.is_none_or(|settings| settings.receive_memory[2] < buffer) {
                proposal.offer(&place, set(&receive_memory(buffer, settings.as_ref())));
            }
            if known.is_none() {
                proposal.say("If the receiving program sets SO_RCVBUF itself, only its own option helps.");
                say_program(case, window, true, proposal);
            }
        }
    }
    if fits {
        proposal.offer(&place, case.tune());
    }
}

/// Says why a connection has no window scaling, as far as that is known, and where it is turned on.
fn window_scaling(case: &Case<'_>, proposal: &mut Proposal) {
    let command = || set("net.ipv4.tcp_window_scaling=1");
    proposal.say("Window scaling is off in this connection, so its window has 65,535 bytes at most. A new connection with window scaling can have more.");
    let here = case.evidence.host.map(|host| host.scales);
    let (own, other) = match case.evidence.vantage {
        Vantage::ReceiverSocket => (case.receiver(), case.sender()),
        _ => (case.sender(), case.receiver()),
    };
    match here {
        Some(false) => proposal.offer(&own, command()),
        Some(true) => {
            proposal.say(
                "This host offers it, so the other host has it off, or a middlebox removes it from handshakes.",
            );
            proposal.offer(&other, command());
        }
        None => {
            proposal.say("At least one of both hosts has it off, or a middlebox removes it from handshakes.");
            proposal.offer(&own, command());
            proposal.offer(&other, command());
        }
    }
}

/// Proposes to turn autotuning on, or to enlarge the buffer that every connection has without it.
fn autotuning(place: &str, buffer: Bytes, settings: Option<&HostSettings>, proposal: &mut Proposal) {
    let [least, first, largest] = settings.copied().unwrap_or_default().receive_memory;
    proposal.say(format!(
        "Autotuning is off there (net.ipv4.tcp_moderate_rcvbuf = 0), so a receive buffer stays at the second number of \
         tcp_rmem, {}.",
        first.rounded()
    ));
    let mut on = set("net.ipv4.tcp_moderate_rcvbuf=1");
    if largest < buffer {
        on = format!("{on} {}", receive_memory(buffer, settings));
    }
    proposal.offer(place, on);
    let first = in_steps(buffer);
    let sizes = format!("{} {first} {}", least.get(), first.max(largest.get()));
    proposal.offer(place, set(&format!("net.ipv4.tcp_rmem=\"{sizes}\"")));
    proposal.say(
        "The second number of tcp_rmem counts for new connections, and autotuning for present ones as well.",
    );
}

pub(super) fn send_buffer(case: &Case<'_>, proposal: &mut Proposal) {
    let peaks =
        case.evidence.intervals.iter().filter_map(|interval| interval.peak_flight.or(interval.flight));
    let Some(flight) = case.diagnosis.in_use.or_else(|| peaks.clone().max()) else {
        proposal.say("The size of the buffer is unknown, so the effect of a change cannot be simulated.");
        return;
    };
    proposal.say(format!("The send buffer limits it, with {} in flight.", flight.rounded()));
    let buffer = |flight: Bytes| Limit::SendBuffer(flight.scale(BUFFER_FOR_FLIGHT));
    let Some(needed) = enlarge(case, flight, buffer, proposal) else { return };
    let (buffer, settings) = (needed.scale(BUFFER_FOR_FLIGHT), case.sender_settings());
    if settings.is_none_or(|settings| settings.send_memory[2] < buffer) {
        proposal.offer(&case.sender(), set(&send_memory(buffer, settings.as_ref())));
    }
    proposal.say("If the sending program sets SO_SNDBUF itself, only its own option helps.");
}

/// Simulates the present state, with `flight` in flight, and one in which the path is full, and says what that needs.
/// `limit` makes the limit that has room for a payload in flight. Returns that payload; `None` if no more would help.
fn enlarge(
    case: &Case<'_>,
    flight: Bytes,
    limit: impl Fn(Bytes) -> Limit,
    proposal: &mut Proposal,
) -> Option<Bytes> {
    let path = &case.path;
    let (link, mut needed) = match path.rate {
        Some(known) => (known, path.needed(known)),
        None => {
            let wanted = flight * REACH;
            (path.on_the_wire(Rate::of(wanted, path.round_trip)), wanted)
        }
    };
    proposal.rate_bps = Some(link.as_bps_f64());
    proposal.rate_assumed = path.rate.is_none();
    let simulate = |limit: Limit| path.simulate(&Trial { limit, ..path.trial(link) });
    proposal.now = simulate(limit(flight));
    if path.rate.is_some() && needed <= flight {
        proposal.needed_bytes = Some(needed.get());
        proposal.say(format!(
            "{} needs only {}, so a larger one would add a queue and no goodput.",
            case.over(link),
            needed.rounded()
        ));
        return None;
    }
    for factor in TRIED {
        let wanted = needed.scale(factor);
        let Some(after) = simulate(limit(wanted)) else { break };
        let more = proposal.after.is_none_or(|before| after.goodput_bps > 1.01 * before.goodput_bps);
        if more {
            proposal.after = Some(after);
            proposal.needed_bytes = Some(wanted.get());
        }
        if !more || path.rate.is_none() || after.utilization >= FILLED {
            break;
        }
    }
    needed = proposal.needed_bytes.map_or(needed, Bytes::new);
    proposal.needed_bytes = Some(needed.get());
    let measured = rate(proposal.measured_bps);
    match (proposal.after, path.rate) {
        (Some(after), Some(_)) => proposal.say(format!(
            "{} needs {}; simulated with it: {} (now {measured}), queueing delay {}.",
            case.over(link),
            needed.rounded(),
            rate(after.goodput_bps),
            delay(after.queueing_delay_s)
        )),
        (Some(after), None) => {
            proposal.say("The path was never full, so its rate is unknown.");
            proposal.say(format!(
                "{REACH} times {} would carry up to {} over {} if the path has that (now {measured}). A diagnosis after the change shows the \
                 next limit.",
                flight.rounded(),
                rate(after.goodput_bps),
                path.round_trip.rounded()
            ));
        }
        (None, _) => proposal.say(format!(
            "{} needs {} (now {measured}). The path is too fast for a short simulation.",
            case.over(link),
            needed.rounded()
        )),
    }
    if let Some(now) = proposal.now {
        let ratio = now.goodput_bps / proposal.measured_bps;
        let reason = match ratio {
            more if more > DIFFERENT => "so something else limits it part of the time",
            less if less < 1.0 / DIFFERENT => "less than measured, so more was in flight at times",
            _ => return Some(needed),
        };
        proposal.say(format!(
            "Simulated with {} it has {}, {reason}.",
            flight.rounded(),
            rate(now.goodput_bps)
        ));
    }
    Some(needed)
}

/// Returns the median of the receive windows of the intervals in which the data in flight reached the window, or are
/// unknown, as at a receiver's socket. Without such intervals returns the window that was in use.
fn window_in_use(case: &Case<'_>) -> Option<Bytes> {
    let full = case.evidence.intervals.iter().filter_map(|interval| {
        let window = interval.receive_window?;
        let flight = interval.peak_flight.or(interval.flight);
        flight.is_none_or(|flight| flight.get() as f64 >= FULL * window.get() as f64).then_some(window)
    });
    let mut full: Vec<Bytes> = full.collect();
    full.sort_unstable();
    full.get(full.len() / 2).copied().or(case.diagnosis.in_use)
}

/// Returns the largest window that the connection can advertise; `None` if its scale is not surely known.
fn largest_window(case: &Case<'_>) -> Option<Bytes> {
    match case.evidence.window_scale {
        Some(_) if case.evidence.inferred_scale => None,
        Some(scale) => Some(UNSCALED * (1 << scale.min(14))),
        None => case.evidence.scaling_off.then_some(UNSCALED),
    }
}

pub(super) fn program_window(case: &Case<'_>, proposal: &mut Proposal) {
    let path = &case.path;
    let window = case.diagnosis.in_use.unwrap_or_else(|| case.evidence.goodput().volume(path.round_trip));
    proposal.say(format!(
        "The program keeps {} in flight, less than both windows of the kernel: a window of its own limits it.",
        window.rounded()
    ));
    say_program(case, window, false, proposal);
    proposal.say(
        "Larger buffers of the kernel do not help: the program's own option does, or several connections.",
    );
    let Some(link) = path.rate else {
        proposal.say("The path was never full, so the number of connections that fill it is unknown.");
        return;
    };
    let needed = path.needed(link);
    proposal.rate_bps = Some(link.as_bps_f64());
    proposal.needed_bytes = Some(needed.get());
    let connections = needed.get().div_ceil(window.get().max(1));
    proposal.now = path.simulate(&Trial { limit: Limit::Window(window), ..path.trial(link) });
    if !(2..=MOST_CONNECTIONS).contains(&connections) {
        return;
    }
    proposal.connections = Some(connections);
    let several = Trial { limit: Limit::Window(window), connections, ..path.trial(link) };
    proposal.after = path.simulate(&several);
    if let Some(after) = proposal.after {
        proposal.say(format!(
            "{} needs {}; simulated with {connections} connections: {} in all (now {}), queueing delay {}.",
            case.over(link),
            needed.rounded(),
            rate(after.goodput_bps),
            rate(proposal.measured_bps),
            delay(after.queueing_delay_s)
        ));
    }
}

/// Adds a sentence for each program that has a window of this size. `of_socket`: it is the kernel's receive window.
fn say_program(case: &Case<'_>, window: Bytes, of_socket: bool, proposal: &mut Proposal) {
    // Only the socket of the end that has the window knows its program.
    let own = match case.evidence.vantage {
        Vantage::ReceiverSocket => true,
        Vantage::SenderSocket => !of_socket,
        _ => false,
    };
    let process = case.subject.program.filter(|_| own);
    for program in programs_with(window, of_socket, process).iter().take(MOST_PROGRAMS) {
        proposal.say(format!(
            "{} has such a window: {}. What helps: {}.",
            program.name, program.limit, program.remedy
        ));
    }
}
