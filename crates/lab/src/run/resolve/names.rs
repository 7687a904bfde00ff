//! Checks of names that must be in a registry.

use super::assist;
use super::complaint::complaint;
use scenario::spec::Carrier;
use scenario::{Scenario, SocketBuffer, did_you_mean};
use units::Complaint;

/// Congestion controls that the kernels of all Linux distributions have.
pub const KERNEL_CONTROLS: &[&str] = &["reno", "cubic", "bbr"];

/// Returns the congestion controls that a kernel offers to the live engine: those of [`KERNEL_CONTROLS`], then those
/// that the kernel of this machine has loaded beyond them.
#[must_use]
pub fn kernel_controls() -> Vec<String> {
    with_loaded(&loaded())
}

/// Returns [`KERNEL_CONTROLS`] and the further names of `loaded`, the kernel's list.
fn with_loaded(loaded: &str) -> Vec<String> {
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let more = loaded.split_whitespace().filter(is_name).filter(|name| !KERNEL_CONTROLS.contains(name));
    KERNEL_CONTROLS.iter().copied().chain(more).map(str::to_owned).collect()
}

/// Returns the kernel's list of the congestion controls that it has loaded.
#[cfg(feature = "kernel")]
fn loaded() -> String {
    let listed = host::options::available_controls();
    // A remark in brackets says that the kernel's list cannot be read.
    if listed.starts_with('(') { String::new() } else { listed }
}

#[cfg(not(feature = "kernel"))]
fn loaded() -> String {
    String::new()
}

/// Returns the help for a control that neither a registry nor the kernel has.
pub fn load_module(control: &str) -> String {
    format!("if it is a module of the kernel, load it for --engine live: sudo modprobe tcp_{control}")
}

/// Returns the names of the congestion controls that flows over QUIC may have: those that need neither routers nor
/// congestion marks.
pub fn quic_controls() -> Vec<&'static str> {
    let all = cc::registry::controls();
    let alone = all.iter().filter(|control| beyond_quic(control.name).is_none());
    alone.map(|control| control.name).collect()
}

/// Returns the thing that `control` needs and that flows over QUIC do not have.
fn beyond_quic(control: &str) -> Option<&'static str> {
    if cc::registry::assist(control).is_some() {
        return Some("routers that assist it");
    }
    cc::registry::wants_marks(control)
        .then_some("the share of congestion marks, and this version asks for no marks there")
}

/// Checks that a queue policy called `name` exists.
///
/// # Errors
/// If not, the complaint lists the names of all policies.
pub fn is_policy(name: &str) -> Result<(), Complaint> {
    let known: Vec<&str> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let help = did_you_mean(name, known.clone());
    let complaint = Complaint::new("", format!("unknown queue \"{name}\"")).accepted(known.join(", "));
    Err(Complaint { help, ..complaint })
}

/// Checks every name of the scenario.
///
/// # Errors
/// Returns the names that no registry has.
pub(super) fn check(scenario: &Scenario) -> Result<(), Vec<Complaint>> {
    let mut faults = Vec::new();
    let kernel = kernel_controls();
    let flows = scenario.flows.iter().enumerate().map(|(index, flow)| (format!("flow[{index}]"), flow));
    let users =
        scenario.sessions.iter().map(|sessions| (format!("traffic[{}]", sessions.entry), &sessions.flow));
    for (table, flow) in flows.chain(users) {
        let known: Vec<&str> = cc::registry::controls().iter().map(|control| control.name).collect();
        if flow.carrier == Carrier::Quic
            && let Some(need) = beyond_quic(&flow.control)
        {
            let found = format!("control \"{}\" over QUIC: it needs {need}", flow.control);
            let help = "choose another control, or write transport = \"tcp\"".to_owned();
            let accepted = quic_controls().join(", ");
            faults.push(complaint(format!("{table}.control"), found, accepted, Some(help)));
        }
        if !known.contains(&flow.control.as_str()) && !kernel.contains(&flow.control) {
            let accepted = format!("{} (simulator); {} (kernel)", known.join(", "), kernel.join(", "));
            let found = format!("unknown congestion control \"{}\"", flow.control);
            let names = known.iter().copied().chain(kernel.iter().map(String::as_str));
            let help = did_you_mean(&flow.control, names).unwrap_or_else(|| load_module(&flow.control));
            faults.push(complaint(format!("{table}.control"), found, accepted, Some(help)));
        }
        if flow.control == "fixed" && flow.socket_buffer == SocketBuffer::Max {
            let help = "write socket_buffer = \"400kB\"".to_owned();
            let found = "control \"fixed\" with socket_buffer \"max\": nothing limits this flow";
            faults.push(complaint(format!("{table}.socket_buffer"), found, "a size", Some(help)));
        }
        if let SocketBuffer::Sized { sizer, regret: Some(_), .. } = &flow.socket_buffer
            && sizer != "sobas"
        {
            let found = format!("a bound on what the sizer \"{sizer}\" may give up");
            let key = format!("{table}.socket_buffer.regret");
            faults.push(complaint(key, found, "regret with the sizer \"sobas\"", None));
        }
        if let SocketBuffer::Sized { sizer, .. } = &flow.socket_buffer
            && !sizing::registry::has(sizer)
        {
            let known: Vec<&str> = sizing::registry::sizers().iter().map(|sizer| sizer.name).collect();
            let found = format!("unknown sizer \"{sizer}\"");
            let key = format!("{table}.socket_buffer.sizer");
            faults.push(complaint(key, found, known.join(", "), None));
        }
        if !cc::registry::has_slow_start(&flow.slow_start) {
            let known: Vec<&str> =
                cc::registry::SLOW_STARTS.iter().map(|slow_start| slow_start.name).collect();
            let found = format!("unknown slow start \"{}\"", flow.slow_start);
            let (key, help) = (format!("{table}.slow_start"), did_you_mean(&flow.slow_start, known.clone()));
            faults.push(complaint(key, found, known.join(", "), help));
        }
    }
    assist::check(scenario, &mut faults);
    let known: Vec<&str> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
    let cell = scenario.wlan.iter().flat_map(|wlan| {
        let wire = wlan.backhaul.as_ref().map(|wire| ("wlan.backhaul".to_owned(), &wire.queue));
        std::iter::once(("wlan".to_owned(), &wlan.queue.queue)).chain(wire)
    });
    let links = scenario.links.iter().enumerate().flat_map(|(index, link)| {
        let table = if scenario.links.len() > 1 { format!("link[{index}]") } else { "link".into() };
        let back = link.reverse.as_ref().map(|back| (format!("{table}.reverse"), &back.queue));
        let shaper = link.shaper.as_ref().map(|shaper| (format!("{table}.shaper"), &shaper.queue));
        let behind = link.reverse.as_ref().and_then(|back| back.shaper.as_ref());
        let behind = behind.map(|shaper| (format!("{table}.reverse.shaper"), &shaper.queue));
        std::iter::once((table, &link.queue)).chain(back).chain(shaper).chain(behind)
    });
    for (table, queue) in links.chain(cell) {
        if !known.contains(&queue.kind.as_str()) {
            let found = format!("unknown queue \"{}\"", queue.kind);
            let help = did_you_mean(&queue.kind, known.clone());
            faults.push(complaint(format!("{table}.queue.kind"), found, known.join(", "), help));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_that_the_kernel_has_loaded_come_after_the_usual_controls() {
        assert_eq!(with_loaded("reno cubic vegas bbr dctcp\n"), ["reno", "cubic", "bbr", "vegas", "dctcp"]);
        assert_eq!(with_loaded(""), KERNEL_CONTROLS);
    }
}
