//! Scenarios drawn from all tables: the one generator of the property test and of the comparison with the kernel.
//!
//! A set is a name: `dev` is for choosing, `test` judges and is not looked at while anything is chosen. Any other word makes another
//! set. The scenario of a set and an index is always the same.

use std::fmt::Write;
use units::random::Stream;

/// Which engines have to be able to run a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every table: networks, reverse queues, cells, users, stops.
    Sim,
    /// What the kernel can run, too.
    Live,
}

/// A drawn scenario.
#[derive(Debug)]
pub struct Drawn {
    /// `dev 17`.
    pub name: String,
    /// Its TOML.
    pub text: String,
    /// A trace that it names as `trace.csv`, if it does.
    pub trace: Option<String>,
}

/// The scenario of `set` and `index`.
pub fn drawn(set: &str, index: u64, reach: Reach) -> Drawn {
    let name = format!("{set} {index}");
    let own = Stream::new(index, &format!("{set} shaper"));
    let mut draw = Draw { stream: Stream::new(index, set), own, reach, end: 0.0, trace: None };
    let text = draw.scenario(&name);
    Drawn { name, text, trace: draw.trace }
}

struct Draw {
    stream: Stream,
    /// The stream of later keys, so that the others stay as they were.
    own: Stream,
    reach: Reach,
    /// The duration, seconds.
    end: f64,
    trace: Option<String>,
}

impl Draw {
    /// From `low` to `high`, log-uniform.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.stream.uniform_in(libm::log(low), libm::log(high)))
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.stream.integer(0, words.len() as u64 - 1) as usize]
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.stream.chance(probability)
    }

    fn scenario(&mut self, name: &str) -> String {
        self.end = self.stream.integer(8, 10) as f64;
        let mut text = format!(
            "title = \"{name}\"\nseed = {}\nduration = \"{}s\"\n",
            self.stream.integer(1, 1000),
            self.end
        );
        // Half of the runs are measured from their first packet.
        if self.chance(0.5) {
            text += "warmup = \"2s\"\n";
        }
        text += "[record]\ncolumns = []\n";
        if self.reach == Reach::Sim && self.chance(0.08) {
            self.cell(&mut text);
            return text;
        }
        let rate = self.log(1e6, if self.reach == Reach::Live { 60e6 } else { 100e6 }).round();
        let delay = self.log(1e-3, 100e-3);
        let links = if self.reach == Reach::Sim && self.chance(0.12) { 2 } else { 1 };
        let reverse = self.reach == Reach::Sim && self.chance(0.2);
        for link in 0..links {
            // A second link is up to twice as fast or slow.
            let rate = if link == 0 { rate } else { (rate * self.log(0.5, 2.0)).round() };
            let head = if links > 1 { "[[link]]" } else { "[link]" };
            writeln!(
                text,
                "{head}\nrate = \"{rate}bit/s\"\ndelay = \"{:.0}us\"",
                delay / f64::from(links) * 1e6
            )
            .unwrap();
            let queue = self.queue(rate, delay);
            writeln!(text, "queue = {queue}").unwrap();
            if self.own.chance(0.2) {
                self.shaper(&mut text);
            }
            if self.chance(0.15) {
                writeln!(text, "loss = {:.6}", self.log(1e-4, 1e-2)).unwrap();
            }
            if self.chance(0.08) {
                writeln!(text, "jitter = \"{:.0}us\"", self.log(1e-5, 2e-3) * 1e6).unwrap();
            }
            if reverse {
                let back = (rate * self.log(0.05, 1.0)).round();
                let queue = self.queue(back, delay);
                writeln!(text, "reverse = {{ rate = \"{back}bit/s\", queue = {queue} }}").unwrap();
            }
        }
        let flows = self.stream.integer(1, 3);
        for flow in 0..flows {
            self.flow(&mut text, flow, rate, delay, reverse);
        }
        for traffic in 0..self.stream.integer(0, 2) {
            self.traffic(&mut text, traffic, rate, reverse);
        }
        text
    }

    /// A queue before a link of `rate` with room for ten packets at least.
    fn queue(&mut self, rate: f64, delay: f64) -> String {
        let ten = 10.0 * 1500.0 * 8.0 / rate;
        let limit = match self.stream.integer(0, 3) {
            0 => format!("{:.0} packets", self.log(10.0, 500.0)),
            1 => format!("{:.3} bdp", self.log(0.3, 4.0).max(ten / (2.0 * delay))),
            2 => format!("{:.0}B", self.log(20e3, 500e3)),
            _ => format!("{:.0}ms", self.log(40.0, 400.0).max(ten * 1e3 + 1.0)),
        };
        let kind = self.one(&[
            "drop-tail",
            "drop-tail",
            "drop-tail",
            "codel",
            "fq-codel",
            "pie",
            "red",
            "fq-pie",
            "dualpi2",
        ]);
        // An active queue has room to act in.
        let limit =
            if kind == "drop-tail" { limit } else { format!("{:.0} packets", self.log(100.0, 1000.0)) };
        format!("{{ kind = \"{kind}\", limit = \"{limit}\" }}")
    }

    fn flow(&mut self, text: &mut String, index: u64, rate: f64, delay: f64, reverse: bool) {
        let control = self.one(&["cubic", "cubic", "reno", "reno", "bbr"]);
        let linux = self.reach == Reach::Live || self.chance(0.6);
        let host = if linux { "linux" } else { "rfc" };
        writeln!(text, "[[flow]]\nname = \"flow-{index}\"\ncontrol = \"{control}\"\nhost = \"{host}\"")
            .unwrap();
        let count = if self.chance(0.3) { self.stream.integer(2, 4) } else { 1 };
        if count > 1 {
            writeln!(text, "count = {count}").unwrap();
        }
        // A file that the link could carry in a tenth to the whole of the run, and no less than two packets.
        let sized = self.chance(0.5);
        if sized {
            let size = (rate / 8.0 * self.end * self.log(0.002, 0.3) / count as f64).max(2000.0);
            writeln!(text, "size = \"{size:.0}B\"").unwrap();
        }
        let start = if self.chance(0.4) { self.stream.uniform_in(0.0, self.end / 2.0) } else { 0.0 };
        if start > 0.0 {
            writeln!(text, "start = \"{:.0}ms\"", start * 1e3).unwrap();
        }
        if self.reach == Reach::Sim && !sized && self.chance(0.2) {
            writeln!(text, "stop = \"{:.0}ms\"", self.stream.uniform_in(start + 0.5, self.end) * 1e3)
                .unwrap();
        }
        if self.chance(0.3) {
            writeln!(text, "rtt = \"{:.0}us\"", (2.0 * delay + self.log(1e-3, 100e-3)) * 1e6).unwrap();
        }
        // The kernel has one segment for all.
        if self.reach == Reach::Sim && self.chance(0.15) {
            let segment = self.one(&["588B", "1000B", "1280B"]);
            writeln!(text, "segment = \"{segment}\"").unwrap();
        }
        if self.chance(0.15) {
            writeln!(text, "socket_buffer = \"{:.0}B\"", self.log(10e3, 1e6)).unwrap();
        }
        if reverse && self.chance(0.3) {
            text.push_str("direction = \"reverse\"\n");
        }
        self.marking(text);
    }

    /// A shaper from well below the link's rate to just above it, with any queue and any framing.
    fn shaper(&mut self, text: &mut String) {
        let percent = self.own.integer(60, 100);
        let kinds = ["drop-tail", "fq-codel", "cobalt", "cake", "cake"];
        let kind = kinds[self.own.integer(0, 4) as usize];
        let framing = ["none", "atm", "ptm"][self.own.integer(0, 2) as usize];
        let (overhead, packets) = (self.own.integer(0, 48), self.own.integer(100, 1000));
        let queue = format!("{{ kind = \"{kind}\", limit = \"{packets} packets\" }}");
        let medium = format!("overhead = \"{overhead}B\", framing = \"{framing}\"");
        writeln!(text, "shaper = {{ rate = \"{percent}%\", {medium}, queue = {queue} }}").unwrap();
    }

    /// Now and then a class, and where hosts may have names, a host.
    fn marking(&mut self, text: &mut String) {
        if self.own.chance(0.2) {
            let dscp = ["\"ef\"", "\"cs1\"", "\"af41\"", "1", "63"][self.own.integer(0, 4) as usize];
            writeln!(text, "dscp = {dscp}").unwrap();
        }
        if self.reach == Reach::Sim && self.own.chance(0.2) {
            writeln!(text, "sending_host = \"host-{}\"", self.own.integer(1, 2)).unwrap();
        }
    }

    fn traffic(&mut self, text: &mut String, index: u64, rate: f64, reverse: bool) {
        let kinds: &[&str] = match self.reach {
            Reach::Sim => &["cbr", "poisson", "poisson", "on-off", "replay", "engset"],
            Reach::Live => &["cbr", "poisson", "poisson", "on-off", "replay"],
        };
        let kind = self.one(kinds);
        writeln!(text, "[[traffic]]\nname = \"traffic-{index}\"\nkind = \"{kind}\"").unwrap();
        let share = self.log(0.02, 0.45);
        match kind {
            "engset" => {
                let (users, session) = (self.stream.integer(1, 10), self.stream.integer(5, 200));
                let think = self.log(0.2, 3.0);
                writeln!(text, "users = {users}\nsession = {{ exponential = \"{session} packets\" }}\nthink = {{ exponential = \"{think:.2}s\" }}").unwrap();
            }
            "replay" => {
                text.push_str("file = \"trace.csv\"\n");
                if self.chance(0.5) {
                    text.push_str("repeat = true\n");
                }
                if self.trace.is_none() {
                    self.trace = Some(self.packets(rate * share));
                }
            }
            _ => {
                // Calls are small packets; a call of 100 bytes takes fifteen times the packets of a download.
                let packet = self.one(&["100B", "200B", "600B", "1500B", "1500B"]);
                let share = if packet == "100B" { share / 3.0 } else { share };
                writeln!(text, "rate = \"{:.0}bit/s\"\npacket = \"{packet}\"", rate * share).unwrap();
                if kind == "on-off" {
                    let peak = rate * share * self.stream.uniform_in(2.0, 4.0);
                    writeln!(text, "peak = \"{peak:.0}bit/s\"\nburst = \"{:.0}ms\"", self.log(20.0, 1000.0))
                        .unwrap();
                }
            }
        }
        if kind != "engset" && self.chance(0.4) {
            let start = self.stream.uniform_in(0.0, self.end / 2.0);
            writeln!(text, "start = \"{:.0}ms\"", start * 1e3).unwrap();
            if self.chance(0.5) {
                writeln!(text, "stop = \"{:.0}ms\"", self.stream.uniform_in(start + 0.5, self.end) * 1e3)
                    .unwrap();
            }
        }
        if reverse && self.chance(0.3) {
            text.push_str("direction = \"reverse\"\n");
        }
    }

    /// Up to four seconds of packets of all sizes at `rate`, and on one trace in four a last packet long after the others.
    fn packets(&mut self, rate: f64) -> String {
        let (mut at, mut trace) = (0.0, String::from("time_s,size\n"));
        let end = self.stream.uniform_in(1.0, 4.0);
        while at < end {
            let size = [40, 100, 576, 1500, 1500][self.stream.integer(0, 4) as usize];
            writeln!(trace, "{at:.6},{size}").unwrap();
            at += self.stream.exponential(f64::from(size) * 8.0 / rate);
        }
        if self.chance(0.25) {
            writeln!(trace, "{:.6},1500", end + self.stream.uniform_in(1.0, 4.0)).unwrap();
        }
        trace
    }

    fn cell(&mut self, text: &mut String) {
        let (phy, rate) = [("802.11b", "11Mbit/s"), ("802.11g", "54Mbit/s"), ("802.11a", "24Mbit/s")]
            [self.stream.integer(0, 2) as usize];
        let stations = self.stream.integer(1, 4);
        let limit = self.log(20.0, 400.0);
        writeln!(text, "[wlan]\nphy = \"{phy}\"\nrate = \"{rate}\"\nqueue.limit = \"{limit:.0} packets\"\nbackhaul = {{ rate = \"100Mbit/s\", delay = \"{:.0}us\", queue.limit = \"1000 packets\" }}\n[[station]]\nname = \"s\"\ncount = {stations}", self.log(1e-3, 50e-3) * 1e6).unwrap();
        for flow in 0..self.stream.integer(1, 3) {
            let station = if stations == 1 {
                "s".to_owned()
            } else {
                format!("s-{}", self.stream.integer(1, stations))
            };
            let (control, direction) = (self.one(&["cubic", "reno"]), self.one(&["down", "down", "up"]));
            writeln!(text, "[[flow]]\nname = \"flow-{flow}\"\ncontrol = \"{control}\"\nstation = \"{station}\"\ndirection = \"{direction}\"").unwrap();
            if self.chance(0.5) {
                writeln!(text, "size = \"{:.0}B\"", self.log(2e3, 3e6)).unwrap();
            }
        }
    }
}
