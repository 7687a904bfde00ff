//! Files that say how a link changes: opportunities, tables of values, numbers of packets.

use std::io::{self, Read, Write};
use tightlink_capture::over_time::{CapacityFile, Table, capacity, delays, packet_numbers, shares};
use tightlink_capture::{Place, TraceError};
use units::{Bytes, Fraction, Rate, Span};

const MOST: Bytes = Bytes::new(1 << 20);

fn rate(text: &str) -> Result<CapacityFile, TraceError> {
    capacity(text.as_bytes(), true, MOST)
}

#[test]
fn a_line_of_a_trace_is_a_millisecond_and_an_opportunity() {
    let CapacityFile::Opportunities(all) = rate("0\n5\n10\n10").unwrap() else { panic!("not opportunities") };
    assert_eq!((all.count(), all.period(), all.repeats()), (4, Span::from_millis(10), true));
    assert_eq!(all.mean_rate(), Rate::from_bps(4_800_000));
    // The last line may have an end, and the file may be compressed.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"0\n5\n10\n10\n").unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(capacity(&packed[..], true, MOST).unwrap(), CapacityFile::Opportunities(all));
    let cut = capacity(&packed[..packed.len() - 9], true, MOST).unwrap_err();
    assert!(cut.to_string().contains("ends too early"), "{cut}");
}

/// A file of opportunities, the line of its fault, and words of it.
const FAULTS: &[(&str, Option<u64>, &str)] = &[
    ("", None, "an empty file"),
    ("\n \n", None, "an empty file"),
    ("0\n\n5\n", Some(2), "an empty line"),
    ("5\n4\n", Some(2), "4 after 5: the time goes back"),
    ("0\n0\n", None, "all times are 0"),
    ("0\n1.5\n", Some(2), "\"1.5\""),
    ("0\n-1\n", Some(2), "\"-1\""),
    ("0\n 1\n", Some(2), "\" 1\""),
    ("0\n1 \n", Some(2), "\"1 \""),
    ("0\n1\r\n", Some(2), "a line end of Windows"),
    ("0\n1\n\n", Some(3), "an empty line"),
    ("0\n315360000001\n", Some(2), "beyond ten years"),
    ("0\n99999999999999999999\n", Some(2), "\"99999999999999999999\""),
    ("0\n1\n\u{1b}[31m\n", None, "binary data"),
    ("0\n\0\0\0", None, "binary data"),
];

#[test]
fn each_fault_of_a_trace_names_its_line_and_what_it_found() {
    for (text, line, words) in FAULTS {
        let error = rate(text).unwrap_err();
        let place = line.map_or(Place::Whole, Place::Line);
        assert_eq!(error.place, place, "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?}: {error}");
        assert!(!error.accepted.is_empty());
    }
    let long = format!("0\n{}\n", "1".repeat(1 << 20));
    assert!(rate(&long).unwrap_err().found.len() < 300, "the line is cut");
    let pcap = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    let error = capacity(&pcap[..], true, MOST).unwrap_err();
    assert!(error.help.unwrap().contains("kind = \"replay\""));
}

/// Lines without end.
struct Endless {
    read: usize,
    line: &'static [u8],
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        for byte in into.iter_mut() {
            *byte = self.line[self.read % self.line.len()];
            self.read += 1;
        }
        Ok(into.len())
    }
}

#[test]
fn memory_has_a_bound_and_binary_data_end_early() {
    let mut times = 0_u64..;
    let numbers = std::iter::from_fn(|| times.next().map(|time| format!("{time}\n"))).take(400_000);
    let error = rate(&numbers.collect::<String>()).unwrap_err();
    assert!(error.found.contains("in memory"), "{error}");
    let mut noise = Endless { read: 0, line: b"\xff\xfe\xfd\xfc" };
    let error = capacity(&mut noise, true, MOST).unwrap_err();
    assert!(noise.read < 1 << 20, "{} bytes were read for {error}", noise.read);
    // Equal lines take next to no memory, so that a long file of them is read in full.
    let many = capacity(Endless { read: 0, line: b"7\n" }.take(40_000_000), true, MOST).unwrap();
    let CapacityFile::Opportunities(all) = many else { panic!("not opportunities") };
    assert_eq!(all.count(), 20_000_000);
    assert!(all.held() < Bytes::new(4096));
}

#[test]
fn a_table_has_its_units_in_the_header() {
    let tables = [
        "time_s,rate_bps\n0,20000000\n10,0\n",
        "time (s),rate (Mbit/s)\n0,20\n10,0\n",
        "Time [ms];Bandwidth [kbit/s]\n0;20000\n10000;0\n",
        "t_ms\trate_kbps\n0\t20000\n10000\t0\n",
        "# recorded in May\nserial,time_us,mbps_of_cell,rate_mbps\n1,0,x,20\n2,10000000,y,0e0\n",
        "\u{feff}\"time_s\",\"rate_mbit/s\"\r\n\"0.0\",\"20.0\"\r\n10.000,0\r\n",
    ];
    let expected = vec![(Span::ZERO, Rate::from_bps(20_000_000)), (Span::from_secs(10), Rate::ZERO)];
    for table in tables {
        let read = Table { values: expected.clone(), every: None };
        assert_eq!(rate(table), Ok(CapacityFile::Rates(read)), "{table}");
    }
    let delay = vec![(Span::ZERO, Span::from_millis(20)), (Span::from_millis(500), Span::from_micros(1500))];
    assert_eq!(
        delays(&b"time_s,delay_ms\n0,20\n0.5,1.5\n"[..], MOST),
        Ok(Table { values: delay, every: None })
    );
    let values = vec![(Span::ZERO, Fraction::new(0.1).unwrap()), (Span::from_secs(1), Fraction::ONE)];
    let loss = Table { values, every: None };
    assert_eq!(shares(&b"time_s,loss\n0,0.1\n1,1\n"[..], MOST), Ok(loss.clone()));
    assert_eq!(shares(&b"time_s,loss (%)\n0,10\n1,100\n"[..], MOST), Ok(loss));
}

/// A table of rates, the line of its fault, and words of it with the accepted form or the help.
const FAULTY_TABLES: &[(&str, Option<u64>, &str)] = &[
    ("time,rate\n0,5\n", Some(1), "the time \"time\" without a unit"),
    ("time_s,rate\n0,5\n", Some(1), "a header without a rate and its unit"),
    ("rate_bps\n5\n", Some(1), "a header with 0 columns of a time"),
    ("time_s,a_mbps,b_mbps\n0,1,2\n", Some(1), "several columns of a rate: a_mbps, b_mbps"),
    ("0,5\n1,6\n", Some(1), "numbers in place of a header"),
    ("time_s,rate_mbps\n", None, "a table without a line of values"),
    ("time_s,rate_mbps\n1,5\n", Some(2), "a first time of 1s"),
    ("time_s,rate_mbps\n0,5\n2,6\n2,7\n", Some(4), "a time of 2s after 2s"),
    ("time_s,rate_mbps\n0,5\n1,-6\n", Some(3), "the rate \"-6\""),
    ("time_s,rate_mbps\n0,nan\n", Some(2), "the rate \"nan\""),
    ("time_s,rate_mbps\n0,1e12\n", Some(2), "a rate from 0 to 10 Tbit/s"),
    ("time_s,rate_mbps\n0\n", Some(2), "a line without a rate"),
    ("time_s,x,rate_mbps\n0\n", Some(2), "a line without a rate"),
    ("time_s,rate_mbps\n-1,5\n", Some(2), "the time \"-1\""),
];

#[test]
fn each_fault_of_a_table_names_its_line_and_the_accepted_header() {
    for (text, line, words) in FAULTY_TABLES {
        let error = rate(text).unwrap_err();
        assert_eq!(error.place, line.map_or(Place::Whole, Place::Line), "{text:?}: {error}");
        let all = format!("{error}; accepted: {}; help: {:?}", error.accepted, error.help);
        assert!(all.contains(words), "{text:?}: {all}");
    }
    assert!(delays(&b"time_s,rate_mbps\n0,5\n"[..], MOST).unwrap_err().accepted.contains("time_s,delay_ms"));
    assert!(shares(&b"time_s,loss\n0,1.5\n"[..], MOST).unwrap_err().accepted.contains("a share from 0 to 1"));
}

#[test]
fn models_of_netem_trace_are_read_as_rattan_reads_them() {
    let mbit = |rate: u64| Rate::from_bps(rate * 1_000_000);
    let read = |text: &str| match rate(text) {
        Ok(CapacityFile::Rates(table)) => table,
        other => panic!("{other:?}"),
    };
    let (low, high) = (
        "{\"StaticBwConfig\":{\"bw\":\"12Mbps\",\"duration\":\"1s\"}}",
        "{\"StaticBwConfig\":{\"bw\":{\"gbps\":0,\"bps\":24000000},\"duration\":{\"secs\":1,\"nanos\":500000000}}}",
    );
    let repeated = |count: u64| {
        format!("{{\"RepeatedBwPatternConfig\":{{\"pattern\":[{low},{high}],\"count\":{count}}}}}")
    };
    let two = vec![(Span::ZERO, mbit(12)), (Span::from_secs(1), mbit(24))];
    assert_eq!(read(&repeated(0)), Table { values: two.clone(), every: Some(Span::from_millis(2500)) });
    let mut four = two;
    four.extend([(Span::from_millis(2500), mbit(12)), (Span::from_millis(3500), mbit(24))]);
    assert_eq!(read(&repeated(2)), Table { values: four, every: None });
    let trace = "\n{\"TraceBwConfig\":{\"pattern\":[[\"25ms\",[\"2Mbps\",\"4Mbps\"]],[\"2ms\",[\"1Mbps 500kbps\"]]]}}";
    let values = vec![
        (Span::ZERO, mbit(2)),
        (Span::from_millis(25), mbit(4)),
        (Span::from_millis(50), Rate::from_bps(1_500_000)),
    ];
    assert_eq!(read(trace), Table { values, every: None });
    let delay = "{\"StaticDelayConfig\":{\"delay\":\"10ms\",\"duration\":\"1s\"}}";
    let delay = delays(delay.as_bytes(), MOST).unwrap();
    assert_eq!(delay.values, [(Span::ZERO, Span::from_millis(10))]);
    let loss = "{\"StaticLossConfig\":{\"loss\":[0.1],\"duration\":\"1s\"}}";
    assert_eq!(shares(loss.as_bytes(), MOST).unwrap().values, [(Span::ZERO, Fraction::new(0.1).unwrap())]);
    let nested = format!("{{\"RepeatedBwPatternConfig\":{{\"pattern\":[{}],\"count\":0}}}}", repeated(0));
    let equal = format!("{{\"RepeatedBwPatternConfig\":{{\"pattern\":[{low}],\"count\":{}}}}}", u64::MAX);
    for (text, words) in [
        ("{\"NormalizedBwConfig\":{\"seed\":42}}", "the model \"NormalizedBwConfig\""),
        ("{\"StaticBwConfig\":{\"duration\":\"1s\"}}", "StaticBwConfig without bw"),
        ("{\"StaticBwConfig\":{\"bw\":\"x\",\"duration\":\"1s\"}}", "StaticBwConfig without bw"),
        ("{\"StaticDelayConfig\":{\"delay\":\"10ms\",\"duration\":\"1s\"}}", "StaticDelayConfig"),
        ("{\"RepeatedBwPatternConfig\":{\"pattern\":[],\"count\":0}}", "a model without values"),
        ("{\"a\": 1, \"b\": 2}", "not a model of netem-trace"),
        ("{\n\"a\"", ":2: not JSON"),
        (&nested, "an endless pattern within another"),
        (&repeated(u64::MAX), "in memory"),
        (&equal, "more than 1000000 steps"),
    ] {
        let error = rate(text).unwrap_err();
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
    let conditional = "{\"StaticLossConfig\":{\"loss\":[0.1,0.2],\"duration\":\"1s\"}}";
    assert!(shares(conditional.as_bytes(), MOST).is_err());
}

#[test]
fn numbers_of_packets_rise_from_one() {
    assert_eq!(packet_numbers(&b"5\n17\n"[..], MOST), Ok(vec![5, 17]));
    for (text, line, words) in [
        ("0\n", Place::Line(1), "number 0"),
        ("5\n5\n", Place::Line(2), "5 after 5"),
        ("5\nx\n", Place::Line(2), "\"x\""),
        ("", Place::Whole, "an empty file"),
    ] {
        let error = packet_numbers(text.as_bytes(), MOST).unwrap_err();
        assert!(error.place == line && error.found.contains(words), "{text:?}: {error}");
    }
}
