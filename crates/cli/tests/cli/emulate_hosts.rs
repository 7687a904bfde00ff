//! `tightlink emulate`: what it says of the programs' hosts, of marks, of cross traffic, and of how it was asked.

use crate::place::{Ended, Place, alone, root};
use serde_json::Value;
use testkit::tries::{in_one_of_five, in_time};

/// Runs `emulate --json` with `link` before a line of Python at the near end, and perhaps one at the far end.
fn python(link: &[&str], server: Option<&str>, program: &str) -> (Ended, Value) {
    let server = server.map(|server| format!("exec python3 -uc '{server}'"));
    let server: Vec<&str> = server.iter().flat_map(|server| ["--server", server.as_str()]).collect();
    let arguments = [&["emulate"], link, &server, &["--json", "--", "python3", "-uc", program]].concat();
    let ended = Place::new().run(&arguments).well();
    let last = ended.out.lines().last().expect("JSON").to_owned();
    let json = serde_json::from_str(&last).unwrap_or_else(|error| panic!("{error}: {last}"));
    (ended, json)
}

/// Sends `count` datagrams of 1400 bytes with the field `tos`, a millisecond's worth at a time, at `rate` a second.
fn datagrams(count: u32, rate: u32, tos: u8) -> String {
    format!(
        "import os, socket, time\n\
         s = socket.socket(type=socket.SOCK_DGRAM); s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, {tos})\n\
         t = time.time()\n\
         for n in range({count}):\n    \
             s.sendto(bytes(1400), (os.environ[\"TIGHTLINK_FAR\"], 9999)); time.sleep(max(0, t + n / {rate} - time.time()))\n"
    )
}

#[test]
fn datagrams_lost_in_a_socket_at_the_far_end_are_told() {
    let _alone = alone();
    if root() {
        // A program that looks at its socket late, as one that is busy does.
        let server = "import socket, time\n\
            s = socket.socket(type=socket.SOCK_DGRAM); s.bind((\"0.0.0.0\", 9999)); time.sleep(1.5); s.setblocking(False); n = 0\n\
            try:\n    while s.recv(2000): n += 1\n\
            except BlockingIOError: print(\"held\", n)";
        let program = datagrams(1200, 5000, 0) + "time.sleep(1.8)";
        in_one_of_five(|| {
            let link = ["--rate", "100Mbit/s", "--delay", "1ms"];
            let (ended, json) = python(&link, Some(server), &program);
            let held = ended.out.lines().find_map(|line| line.strip_prefix("held ")?.parse::<u64>().ok());
            let held = held.expect("the server says");
            let lost = json["hosts"]["far"]["udp_rcvbuf_errors"].as_u64().expect("a number");
            assert!(lost + held <= 1200, "{lost} and {held}");
            assert_eq!(json["hosts"]["near"]["udp_rcvbuf_errors"], 0);
            let note = format!(
                "note: {lost} datagrams were lost in a receiving program's socket buffer at the far end (RcvbufErrors): \
                 raise net.core.rmem_default"
            );
            assert!(lost == 0 || ended.err.contains(&note), "{}", ended.err);
            in_time(lost > 500 && lost + held == 1200, format!("{lost} lost, {held} held"))
        });
    }
}

#[test]
fn packets_with_ect1_use_the_l_queue_of_dualpi2() {
    let _alone = alone();
    if root() {
        // Twenty times, 40 datagrams with ECT(0) at once, which take 46 ms, and then two with ECT(1).
        let program = "import os, socket, time\n\
            to = (os.environ[\"TIGHTLINK_FAR\"], 9999)\n\
            c, l = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(2)]\n\
            c.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2); l.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 1)\n\
            for n in range(20):\n    \
                for s in [c] * 40 + [l] * 2: s.sendto(bytes(1400), to)\n    \
                time.sleep(0.06)\n";
        in_one_of_five(|| {
            let link = ["--rate", "10Mbit/s", "--delay", "1ms", "--queue", "dualpi2"];
            let (ended, json) = python(&link, None, program);
            let far = &json["to_far"];
            let of = |class: &str, key: &str| far[class][key].as_f64().unwrap_or_else(|| panic!("{far}"));
            // One packet is being sent, one of the C queue may have its turn, and one is the other of the two.
            let most = of("l4s_delay_s", "max");
            assert!(ended.err.contains(" ms, L4S packets mean ") && ended.err.contains(", others mean "));
            let classic = of("classic_delay_s", "p50");
            in_time(most < 0.004 && classic > 0.01, format!("{most} and {classic} s"))
        });
    }
}

#[test]
fn packets_that_the_queue_marked_are_told() {
    let _alone = alone();
    if root() {
        // 1428 bytes 2000 times a second are 22.8 Mbit/s.
        let program = datagrams(3000, 2000, 2);
        in_one_of_five(|| {
            let link = ["--rate", "20Mbit/s", "--delay", "10ms", "--queue", "codel, 1s"];
            let (ended, json) = python(&link, None, &program);
            let (marks, packets) = (json["to_far"]["marks"].as_u64(), json["to_far"]["packets"].as_u64());
            let (marks, packets) = (marks.expect("a number"), packets.expect("a number"));
            assert!(packets <= 3000 && json["to_far"]["packets_dropped"] == 0, "{json}");
            let told = format!(
                "0 of {packets} packets dropped (0.00 %), {marks} marked ({:.1} %)",
                100.0 * marks as f64 / packets as f64
            );
            assert!(marks == 0 || ended.err.contains(&told), "{}", ended.err);
            in_time(marks > 20, format!("{marks} marks"))
        });
    }
}

#[test]
fn cross_traffic_is_counted_apart() {
    let _alone = alone();
    if root() {
        in_one_of_five(|| {
            let link = ["--rate", "10Mbit/s", "--delay", "20ms", "--cross", "6Mbit/s"];
            let (ended, json) = python(&link, None, &(datagrams(3, 10, 0) + "time.sleep(0.7)"));
            let to_far = &json["to_far"];
            assert_eq!((&to_far["packets"], &to_far["packets_dropped"]), (&3.into(), &0.into()), "{json}");
            let number = |value: &Value| value.as_f64().expect("a number");
            let measured = number(&json["measured_s"]);
            // All that the programs sent, and no more.
            assert!(number(&to_far["rate_bps"]) <= 3.0 * 1428.0 * 8.0 / measured + 1.0, "{json}");
            let cross = &to_far["cross"][0];
            assert_eq!(cross["name"], "cross");
            let (rate, packets) = (number(&cross["rate_bps"]), number(&cross["packets"]));
            assert!(rate <= 6.0e6 * 1.02 && packets <= 500.0 * measured + 2.0, "{json}");
            assert!(ended.err.contains("busy, cross traffic included)"), "{}", ended.err);
            let lines: Vec<&str> = ended.err.lines().collect();
            assert!(lines[0].contains(", 0 of 3 packets dropped (0.00 %)"), "{}", ended.err);
            assert!(lines[1].starts_with("cross traffic:    "), "{}", ended.err);
            in_time(rate > 5.4e6 && number(&to_far["utilization"]) > 0.55, json.to_string())
        });
        let silent = ["emulate", "--rate", "10Mbit/s", "--cross", "6Mbit/s", "--", "true"];
        let ended = Place::new().run(&silent).well();
        assert!(ended.err.contains("note: no packet crossed the link"), "{}", ended.err);
    }
}

#[test]
fn the_traffic_of_a_scenario_is_counted_apart_by_its_name() {
    let _alone = alone();
    if root() {
        let place = Place::new();
        place.write(
            "calls.toml",
            "title = 'calls'\nduration = '9s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '20 packets'\n\
             [[flow]]\n[[traffic]]\nname = 'calls'\nkind = 'cbr'\nrate = '1Mbit/s'\npacket = '200B'\n\
             [[traffic]]\nname = 'greedy'\nkind = 'cbr'\nrate = '12Mbit/s'\n",
        );
        let ended = place.run(&["emulate", "calls.toml", "--json", "--", "sleep", "1"]).well();
        let json: Value = serde_json::from_str(ended.out.trim()).expect("an object");
        assert_eq!(json["to_far"]["packets"], 0, "{json}");
        let cross = json["to_far"]["cross"].as_array().expect("two sources");
        let names: Vec<&str> = cross.iter().filter_map(|source| source["name"].as_str()).collect();
        assert_eq!(names, ["calls", "greedy"]);
        let drops: u64 = cross.iter().filter_map(|source| source["packets_dropped"].as_u64()).sum();
        assert!(drops > 0 && json["to_far"]["packets_dropped"] == 0, "{json}");
        assert!(ended.err.contains("cross traffic greedy: "), "{}", ended.err);
    }
}

#[test]
fn the_default_queue_has_room_for_a_new_flow() {
    let _alone = alone();
    if root() {
        // Ten full packets at once, on paths whose bandwidth-delay product is 3.3, 1.7, 0.8 packets and nothing.
        let burst = "import os, socket\ns = socket.socket(type=socket.SOCK_DGRAM)\n\
            for n in range(10): s.sendto(bytes(1472), (os.environ[\"TIGHTLINK_FAR\"], 9999))";
        let paths: [&[&str]; 4] = [
            &["--rate", "100Mbit/s", "--delay", "200us"],
            &["--rate", "10Mbit/s", "--delay", "1ms"],
            &["--rate", "1Mbit/s", "--delay", "5ms"],
            &["--rate", "12kbit/s"],
        ];
        for path in paths {
            let (ended, json) = python(path, None, burst);
            assert_eq!(
                (&json["to_far"]["packets"], &json["to_far"]["packets_dropped"]),
                (&10.into(), &0.into())
            );
            assert!(!ended.err.contains("the queue holds"), "{}", ended.err);
        }
        let (ended, _) = python(&["--rate", "10Mbit/s", "--delay", "1ms", "--queue", "5kB"], None, burst);
        let note = "note: the queue holds 3 packets to the far end and 3 packets from the far end. A new TCP flow sends \
                    10 packets at once";
        assert!(ended.err.contains(note), "{}", ended.err);
    }
    let refused = Place::new().run(&["emulate", "--rate", "12kbit/s", "--queue", "1bdp", "--", "true"]);
    refused.failed(2, &["less room than one packet", "without a --delay the bandwidth-delay product is 0"]);
    assert!(!refused.err.contains("twice"), "{}", refused.err);
}

#[test]
fn the_programs_have_the_congestion_control_asked_for() {
    let _alone = alone();
    if root() {
        let server = "import os, socket; s = socket.create_server((os.environ[\"TIGHTLINK_FAR\"], 7)); c, _ = s.accept()\n\
            os.write(1, b\"far \" + c.getsockopt(6, 13, 16).split(b\"\\0\")[0] + b\"\\n\"); c.sendall(b\"x\"); c.recv(1)";
        let program = "import os, socket; c = socket.create_connection((os.environ[\"TIGHTLINK_FAR\"], 7))\n\
            os.write(1, b\"near \" + c.getsockopt(6, 13, 16).split(b\"\\0\")[0] + b\"\\n\"); c.recv(1); c.close()";
        let file = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let available = std::fs::read_to_string(file).expect("/proc is there");
        // Those that everyone may choose and those that only root may.
        for control in available.split_whitespace() {
            let link = ["--rate", "20Mbit/s", "--delay", "1ms", "--control", control];
            let (ended, json) = python(&link, Some(server), program);
            for end in ["near", "far"] {
                assert!(ended.out.lines().any(|line| line == format!("{end} {control}")), "{}", ended.out);
            }
            assert_eq!((&json["control"], &json["control_asked"]), (&control.into(), &true.into()));
            let told = format!("congestion control of programs that choose none: {control} (by --control)");
            assert!(ended.err.contains(&told), "{}", ended.err);
        }
        let (ended, json) = python(&["--rate", "20Mbit/s"], Some(server), program);
        let own = json["control"].as_str().expect("a name");
        assert!(ended.out.lines().any(|line| line == format!("near {own}")), "{}", ended.out);
        assert!(ended.err.contains(&format!(": {own} (this machine's")), "{}", ended.err);
        let unknown = ["emulate", "--rate", "20Mbit/s", "--control", "nosuch", "--", "echo", "ran"];
        Place::new().run(&unknown).failed(
            2,
            &["--control: this kernel has no congestion control \"nosuch\"", "accepted: ", "reno"],
        );
    }
}

#[test]
fn a_name_or_address_outside_is_refused_at_once() {
    let _alone = alone();
    if root() {
        // The reverse look-up of the client, as many servers make it, and an address of the Internet.
        let look = "import errno, os, socket, time\n\
            def late(step):\n    t = time.time()\n    try: step()\n    except OSError as error: e = error.errno\n    return time.time() - t, e\n\
            print(\"looked\", *late(lambda: socket.gethostbyaddr(os.environ[\"TIGHTLINK_NEAR\"])))\n\
            print(\"reached\", *late(lambda: socket.create_connection((\"192.0.2.1\", 53), timeout=3)), errno.ENETUNREACH)\n";
        in_one_of_five(|| {
            let (ended, _) = python(&["--rate", "20Mbit/s", "--delay", "5ms"], Some(look), look);
            let mut slowest: f64 = 0.0;
            for line in
                ended.out.lines().filter(|line| line.starts_with("looked") || line.starts_with("reached"))
            {
                let words: Vec<&str> = line.split(' ').collect();
                slowest = slowest.max(words[1].parse().expect("seconds"));
                assert!(words[0] == "looked" || words[2] == words[3], "not unreachable: {line}");
            }
            in_time(slowest > 0.0 && slowest < 0.1, &ended.out)
        });
    }
}

#[test]
fn programs_that_wait_for_a_processor_are_told() {
    let _alone = alone();
    if root() {
        // Three shells that are busy on one processor for 1.5 s: each gets a third of it, and writes how long it waited.
        let busy = "taskset -c 0 sh -c 'end=$(($(date +%s%N) / 1000000 + 1500))
            while [ $(($(date +%s%N) / 1000000)) -lt $end ]; do i=0; while [ $i -lt 9999 ]; do i=$((i + 1)); done; done
            read run waited turns < /proc/$$/schedstat; echo $waited >> waited'";
        let line = format!("{busy} & {busy} & {busy}; wait");
        let place = Place::new();
        let ended = place.run(&["emulate", "--rate", "20Mbit/s", "--json", "--", "sh", "-c", &line]).well();
        let json: Value = serde_json::from_str(ended.out.trim()).expect("an object");
        let own = std::fs::read_to_string(place.path().join("waited")).expect("the shells wrote it");
        let own: Vec<f64> =
            own.lines().map(|waited| waited.parse::<f64>().expect("nanoseconds") * 1e-9).collect();
        assert_eq!(own.len(), 3, "{}", ended.err);
        let longest = own.into_iter().fold(0.0, f64::max);
        let share = json["hosts"]["near"]["waited_share"].as_f64().expect("a number");
        let waited = share * json["measured_s"].as_f64().expect("a number");
        // The last look may be some tenths of a second before a shell ends, or between its line and its end.
        assert!(waited < longest + 0.2 && waited > longest - 0.4, "{waited} s seen, {longest} s waited");
        let note = format!(
            "note: the machine was too busy: a program at the near end waited for a processor for {:.0} % of the time",
            share * 100.0
        );
        assert_eq!(ended.err.contains(&note), share > 0.4, "{}", ended.err);
        assert_eq!(json["hosts"]["far"]["waited_share"], Value::Null, "nothing ran there");
    }
}

#[test]
fn mistakes_of_the_command_line_have_their_remedy() {
    let place = Place::new();
    let refused = |arguments: &[&str], words: &[&str]| {
        place.run(&[&["emulate"], arguments].concat()).failed(2, words);
    };
    let before = "put -- before the command: tightlink emulate --rate 100Mbit/s -- ping -c 1 X";
    refused(&["ping", "-c", "1", "X"], &[before]);
    refused(&["--rate", "10Mbit/s", "--json", "ping", "-c", "1", "X"], &[before]);
    refused(&["ls"], &["put -- before the command: tightlink emulate --rate 100Mbit/s -- ls"]);
    refused(&["10Mbit/s", "--", "true"], &["a rate is written --rate 10Mbit/s"]);
    for file in ["trace.txt", "lte.up"] {
        let found = format!("--rate: {file}: No such file");
        refused(&["--rate", file, "--", "true"], &[&found, "accepted: a file that can be read"]);
    }
    refused(&["--rate", "20Mbits", "--", "true"], &["unknown unit \"Mbits\""]);
    let _alone = alone();
    if root() {
        let line = place.run(&["emulate", "--rate", "20Mbit/s", "--", "ping -c 1 $X"]);
        line.failed(3, &["the command ping -c 1 $X", "to run a line of shell: -- sh -c 'ping -c 1 $X'"]);
    }
}

/// Accurate ECN in the headers of TCP: AE, CWR and ECE as a counter, and the options 172 and 174 [rfc9768:3.1]. No kernel of
/// today sends them unasked, so a raw socket does.
#[test]
fn the_fields_of_accurate_ecn_cross_the_link_as_they_are() {
    let _alone = alone();
    if root() {
        // The command begins once a socket listens.
        let server = "import os, socket, struct\n\
            s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)\n\
            listens = socket.create_server((os.environ[\"TIGHTLINK_FAR\"], 7))\n\
            for _ in range(64):\n    \
                p = s.recv(2000); t = p[20:]\n    \
                print(\"came\", p[1] & 3, (t[12] & 1) << 2 | t[13] >> 6, t[20:32].hex(), len(t))";
        let program = "import os, socket, struct, time; time.sleep(0.5)\n\
            s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)\n\
            for ace in range(8):\n  \
              for kind in (172, 174):\n    \
                for tos in range(4):\n      \
                  s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)\n      \
                  o = bytes([kind, 11]) + bytes(range(ace, ace + 9)) + bytes([1])\n      \
                  h = struct.pack(\"!HHIIBBHHH\", 4321, 9, 7, 8, 8 << 4 | ace >> 2, 16 | (ace & 3) << 6, 500, 0, 0)\n      \
                  s.sendto(h + o + bytes(5), (os.environ[\"TIGHTLINK_FAR\"], 0))\n\
            time.sleep(0.5)";
        let (ended, _) = python(&["--rate", "20Mbit/s", "--delay", "5ms"], Some(server), program);
        let came: Vec<&str> = ended.out.lines().filter_map(|line| line.strip_prefix("came ")).collect();
        let mut sent = Vec::new();
        for ace in 0..8u8 {
            for kind in [172u8, 174] {
                let counters: String = (ace..ace + 9).map(|byte| format!("{byte:02x}")).collect();
                sent.extend((0..4).map(|tos| format!("{tos} {ace} {kind:02x}0b{counters}01 37")));
            }
        }
        assert_eq!(came, sent);
    }
}
