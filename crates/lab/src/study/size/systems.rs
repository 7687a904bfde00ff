//! Systems for which there are lines to paste, with the source of each form and the values that it takes.

use super::answer::Line;
use std::ops::RangeInclusive;

/// The systems of an access point's queue.
pub(super) const MAC80211: &str = "Linux, mac80211's queues (FQ-CoDel; all stations and categories together)";
pub(super) const DRIVER: &str = "Linux, a driver without mac80211's queues";
pub(super) const AIRTIME: &str =
    "Linux, the airtime limits that \"fq-codel, airtime limits\" has (its default)";

/// A system, and the manual that has the form of its line. docs/guide/size.md has the same table.
pub(super) const SOURCES: [(&str, &str); 27] = [
    ("Linux", "tc-bfifo(8) and tc-pfifo(8), iproute2 6.1"),
    ("Linux, in packets", "tc-pfifo(8), iproute2 6.1"),
    ("Linux, shaped", "tc-tbf(8), iproute2 6.1"),
    ("Linux, FQ-CoDel", "tc-fq_codel(8), iproute2 6.1"),
    ("Linux, FQ-CoDel behind a shaper", "tc-fq_codel(8) and tc-htb(8), iproute2 6.1"),
    ("Linux, CoDel", "tc-codel(8), iproute2 6.1"),
    ("Linux, CoDel behind a shaper", "tc-codel(8) and tc-htb(8), iproute2 6.1"),
    ("Linux, PIE", "tc-pie(8), iproute2 6.1"),
    ("Linux, PIE behind a shaper", "tc-pie(8) and tc-htb(8), iproute2 6.1"),
    ("Linux, FQ-PIE", "tc-fq_pie(8), iproute2 6.1"),
    ("Linux, FQ-PIE behind a shaper", "tc-fq_pie(8) and tc-htb(8), iproute2 6.1"),
    ("Linux, DualPI2", "tc-dualpi2(8), iproute2 6.18; Linux 6.17 or later"),
    ("Linux, DualPI2 behind a shaper", "tc-dualpi2(8) and tc-htb(8), iproute2 6.18; Linux 6.17 or later"),
    ("Linux, CAKE", "tc-cake(8), iproute2 6.1"),
    (MAC80211, "iw(8), iw phy set txq limit"),
    (DRIVER, "tc-pfifo(8), iproute2 6.1"),
    (AIRTIME, "net/mac80211/debugfs.c of Linux, aql_txq_limit"),
    ("OpenWrt, FQ-CoDel", "openwrt.org, SQM configuration; simplest.qos of sqm-scripts 88608a16"),
    ("OpenWrt, CAKE", "openwrt.org, SQM configuration; piece_of_cake.qos of sqm-scripts 39284957"),
    (
        "MikroTik",
        "RouterOS 7, help.mikrotik.com, Queue types; /queue/interface of its command reference (Queue)",
    ),
    (
        "MikroTik, FQ-CoDel",
        "RouterOS 7, help.mikrotik.com, Queues; names as in terraform-provider-routeros 1b16e50a",
    ),
    (
        "MikroTik, CAKE",
        "RouterOS 7, help.mikrotik.com, Queues; names as in terraform-provider-routeros 1b16e50a",
    ),
    ("Junos", "juniper.net, buffer-size (Schedulers), Junos OS 13.1"),
    (
        "Arista EOS",
        "openconfig-qos-mem-mgmt.yang and pathreport.csv of EOS 4.36.1F (github.com/aristanetworks/yang)",
    ),
    ("IOS", "Cisco IOS in a Nutshell, 2nd edition, queue-limit (policy-map class)"),
    ("IOS XR", "Modular QoS Command Reference for the Cisco CRS Router, Release 4.0, queue-limit"),
    ("Nokia SR OS", "nokia-conf-qos.yang of SR OS 26.3, sap-egress queue (github.com/nokia/7x50_YangModels)"),
];

/// The largest `limit` of tc, in bytes or packets (tc-pfifo(8)).
const TC: RangeInclusive<u64> = 0..=4_294_967_295;
/// Microseconds of a buffer in Junos. Some interface cards of the M Series take less, and those with large buffers more.
const JUNOS: RangeInclusive<u64> = 1..=200_000;
/// Microseconds of a queue's part of the shared buffer in EOS.
const EOS: RangeInclusive<u64> = 0..=4_294_967_295;
/// Bytes of a queue in IOS XR.
const IOS_XR: RangeInclusive<u64> = 1..=4_294_967_295;
/// Bytes of a queue in SR OS.
const SR_OS: RangeInclusive<u64> = 0..=1_073_741_824;

/// Creates a line for `system`, which is one of [`SOURCES`].
pub(super) fn line(system: &'static str, line: String, says: String) -> Line {
    let source = SOURCES.iter().find(|(name, _)| *name == system).map_or("", |(_, source)| source);
    Line { system, line, says, source }
}

/// Returns lines of routers and switches for a limit of `packets`, of `bytes` with Ethernet's headers, and of `micros`
/// at the link's rate. `micros` is `None` if the link has several rates.
pub(super) fn routers(packets: u64, bytes: u64, micros: Option<u64>) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(micros.map(|micros| {
        line(
            "Junos",
            format!("set class-of-service schedulers SCHEDULER buffer-size temporal {micros}"),
            beyond(micros, &JUNOS, "us", "Junos takes on an M Series router without large buffers")
                .unwrap_or_default(),
        )
    }));
    lines.extend(micros.map(|micros| {
        let says =
            "OpenConfig by gNMI, in us of the queue's guaranteed share of the rate; EOS 4.35.2F or later";
        line("Arista EOS", arista(micros), with_range(says.into(), beyond(micros, &EOS, "us", "EOS takes")))
    }));
    // The lines of Cisco are for class-default, because any other class needs a bandwidth or a shape before it accepts
    // a queue-limit.
    let cisco = |unit: &str| format!("policy-map POLICY\n class class-default\n  queue-limit {unit}");
    lines.push(line("IOS", cisco(&format!("{packets} packets")), String::new()));
    let of_xr = "in bytes, because its packets are units of 256 bytes";
    lines.push(line(
        "IOS XR",
        cisco(&format!("{bytes} bytes")),
        with_range(of_xr.into(), beyond(bytes, &IOS_XR, "bytes", "IOS XR takes")),
    ));
    lines.push(line(
        "Nokia SR OS",
        format!("/configure qos sap-egress \"POLICY\" queue 1 mbs {bytes}"),
        with_range("MD-CLI, in bytes".into(), beyond(bytes, &SR_OS, "bytes", "SR OS takes")),
    ));
    lines.push(mikrotik("MikroTik", "pfifo", &format!(" pfifo-limit={packets}"), "of whatever length"));
    lines
}

/// Returns the configuration of EOS for a queue's limit. EOS takes it in time only, and by gNMI only.
fn arista(micros: u64) -> String {
    format!(
        r#"{{"openconfig-qos:qos": {{
 "queues": {{"queue": [{{"name": "QUEUE", "config": {{"name": "QUEUE"}}}}]}},
 "buffer-allocation-profiles": {{"buffer-allocation-profile": [
  {{"name": "tightlink", "config": {{"name": "tightlink"}}, "queues": {{"queue": [
   {{"name": "QUEUE", "config": {{"name": "QUEUE", "use-shared-buffer": true,
    "shared-buffer-limit-type": "STATIC", "static-shared-buffer-limit-temporal": {micros}}}}}]}}}}]}},
 "interfaces": {{"interface": [
  {{"interface-id": "INTERFACE", "config": {{"interface-id": "INTERFACE"}},
   "output": {{"config": {{"buffer-allocation-profile": "tightlink"}}}}}}]}}}}}}"#
    )
}

/// Returns the line of a queue type of RouterOS, and its use at an interface.
pub(super) fn mikrotik(system: &'static str, kind: &str, settings: &str, says: &str) -> Line {
    let text = format!(
        "/queue type add name=tightlink kind={kind}{settings}\n/queue interface set INTERFACE queue=tightlink"
    );
    line(system, text, says.into())
}

/// Returns the lines of OpenWrt's package sqm-scripts for a shaper of `kbps` with `qdisc`.
pub(super) fn openwrt(system: &'static str, qdisc: &str, script: &str, kbps: u64, says: &str) -> Line {
    let settings = [
        ("interface", "DEV".to_owned()),
        ("upload", kbps.to_string()),
        ("download", "0".into()),
        ("qdisc", qdisc.into()),
        ("script", script.into()),
        ("enabled", "1".into()),
    ];
    let set = settings.map(|(key, value)| format!("uci set sqm.tightlink.{key}='{value}'")).join("\n");
    line(
        system,
        format!("uci set sqm.tightlink=queue\n{set}\nuci commit sqm\n/etc/init.d/sqm restart"),
        says.into(),
    )
}

/// Says that a limit of tc is too large; `None` if it is not.
pub(super) fn beyond_tc(limit: u64) -> Option<String> {
    beyond(limit, &TC, "bytes", "tc takes")
}

fn beyond(value: u64, range: &RangeInclusive<u64>, unit: &str, takes: &str) -> Option<String> {
    let (least, most) = (range.start(), range.end());
    (!range.contains(&value)).then(|| format!("{value} is beyond what {takes}: {least} to {most} {unit}"))
}

/// Joins a description and the doubt about its value.
pub(super) fn with_range(says: String, doubt: Option<String>) -> String {
    match doubt {
        Some(doubt) => format!("{says}; {doubt}"),
        None => says,
    }
}
