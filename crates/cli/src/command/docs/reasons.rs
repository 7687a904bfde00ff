//! The reasons for the defaults of options. `args.rs` has the values.

/// The command, the option and the reason. An empty command means every command with the option.
const REASONS: &[(&str, &str, &str)] = &[
    ("", "seed", "the scenario's seed gives the numbers that the scenario documents"),
    ("", "out", "results stay next to the scenario, in a folder that can be deleted"),
    ("", "report", "a report is found next to the results"),
    ("", "chart", "a file for each chart shows what there is"),
    ("", "size", "one column of most journals"),
    ("", "jobs", "simulations have no IO to wait for"),
    ("", "engine", "the simulator knows every scenario and takes milliseconds"),
    ("", "control", "what hosts on the internet have"),
    ("run", "repeat", "one run of the simulator is exact"),
    ("run", "pcap_at", "tshark and tcptrace take a packet that they see twice for a retransmission"),
    ("compare", "engines", "three answers are the purpose of a comparison"),
    ("compare", "repeat", "one run of the simulator is exact"),
    ("figure", "engines", "published claims are judged by all three"),
    ("figure", "repeat", "one run of the simulator is exact"),
    ("figure", "seeds", "the median of ten decides even where seeds differ"),
    ("check", "engines", "published claims are judged by all three"),
    ("check", "repeat", "the kernel runs in real time"),
    ("check", "seeds", "the median of ten decides even where seeds differ"),
    ("new", "preset", "the scenario of README"),
    ("list", "what", "all lists fit on a few screens"),
    ("keys", "key", "all keys fit on a few screens"),
    ("size", "rtt", "between a national and a continental path"),
    ("size", "place", "most queues are at the edge"),
    ("size", "target_utilization", "above 99 % the buffer grows faster than the utilization"),
    ("size", "packet", "Ethernet's MTU"),
    ("size", "queue", "most interfaces drop arrivals when the queue is full"),
    ("size", "engine", "a simulation checks theory in seconds"),
    ("diagnose", "time", "long enough for slow start and for some losses on most paths"),
    ("tune", "window", "the sizer that finds the window while data arrive"),
    ("tune", "max", "10 Gbit/s with an RTT of 25 ms"),
    ("emulate", "delay", "a delay belongs to the question"),
    (
        "emulate",
        "queue",
        "one bandwidth-delay product is the old rule for routers; without a delay there is no product",
    ),
    ("emulate", "shaper_queue", "the usual shaper of home routers, with its least room"),
    ("emulate", "loss", "losses come from the queue"),
    ("emulate", "mtu", "Ethernet's MTU"),
    ("emulate", "pcap_at", "tshark and tcptrace take a packet that they see twice for a retransmission"),
    ("emulate", "program", "a shell is the place to try things"),
    ("enter", "program", "a shell is the place to try things"),
    ("enter", "path", "most users run one path at a time"),
    ("receive", "listen", "a free port needs no choice, and the ticket names it"),
    ("receive", "window", "the sizer that finds the window while data arrive"),
    ("receive", "existing", "no file is lost"),
    ("receive", "expire", "one working day is enough to start the sender"),
    ("receive", "wait", "without a valid ticket nobody can come"),
    ("send", "streams", "one connection fills a path if its buffers are large enough"),
    ("send", "control", "the administrator's choice"),
    (
        "send",
        "direction",
        "either direction may have the queue that is too long, as iperf3 and crusader show",
    ),
    ("send", "retry", "a router has restarted within 10 minutes"),
    ("verify", "dir", "as `b3sum --check` does"),
];

/// Returns the reason for the default of `option` of `command`.
pub(super) fn of(command: &str, option: &str) -> Option<&'static str> {
    let find = |of: &str| REASONS.iter().find(|(command, name, _)| *command == of && *name == option);
    find(command).or_else(|| find("")).map(|(_, _, reason)| *reason)
}
