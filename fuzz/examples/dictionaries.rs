//! Writes the dictionaries of the targets: `dictionaries FOLDER` makes `FOLDER/TARGET.dict`. The words of scenarios come
//! from the schema, and their values from the faults that list what is accepted.

// Its coverage counters are libFuzzer's.
use libfuzzer_sys as _;
use scenario::Document;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let out = PathBuf::from(std::env::args_os().nth(1).expect("dictionaries FOLDER"));
    fs::create_dir_all(&out)?;
    let columns = [
        "time",
        "time_s",
        "time_ms",
        "time_us",
        "time_ns",
        "size",
        "size_bytes",
        "bytes",
        "length",
        "\n",
        ",",
    ];
    dictionary(&out, "traces", &columns)?;
    let units =
        ["ns", "us", "µs", "ms", "s", "min", "h", "B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"];
    let rates =
        ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "bps", "kbps", "Mbps", "b/s", "kb/s", "Gb/s", "%"];
    dictionary(&out, "quantities", &[&units[..], &rates].concat())?;
    let mut words: Vec<String> = scenario::fuzzing::keys().into_iter().map(str::to_owned).collect();
    words.extend(listed_words());
    let forms = [
        "[[", "]]", " = ", "{ ", " }", "\"\"\"", "'''", ".0.", "\0", "bdp", "packets", "model", "sim",
        "live", "true",
    ];
    words.extend([&units[..], &rates, &forms].concat().into_iter().map(str::to_owned));
    dictionary(&out, "scenario", &words)
}

/// The words in quotes that faults name as accepted, for each key in each table.
fn listed_words() -> Vec<String> {
    let mut words = Vec::new();
    let sound = "duration='1s'\n[link]\nrate='1Mbit/s'\ndelay='1ms'\nqueue={limit='9 packets'}\n[[flow]]\nrtt='9ms'\n\
                 [[traffic]]\nkind='cbr'\nrate='1Mbit/s'\n";
    let keys = scenario::fuzzing::keys();
    for table in ["", "link.", "link.queue.", "flow.", "flow.socket_buffer.", "traffic.", "live.", "record."]
    {
        for key in &keys {
            let Ok(mut document) = Document::parse("x.toml", sound) else { continue };
            if document.set(&format!("{table}{key}"), "'no such word'").is_err() {
                continue;
            }
            if let Err(faults) = document.scenario() {
                let quoted = faults.iter().flat_map(|fault| {
                    fault.complaint.accepted.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
                });
                words.extend(quoted);
            }
        }
    }
    words
}

/// A dictionary in libFuzzer's form.
fn dictionary(out: &Path, target: &str, words: &[impl AsRef<str>]) -> io::Result<()> {
    let mut lines: Vec<String> =
        words.iter().map(|word| format!("\"{}\"\n", escaped(word.as_ref()))).collect();
    lines.sort_unstable();
    lines.dedup();
    fs::write(out.join(format!("{target}.dict")), lines.concat())
}

fn escaped(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\') || byte == b' ';
    word.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("\\x{byte:02x}") })
        .collect()
}
