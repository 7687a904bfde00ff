//! Tables of a value over time: a header with units, then a time and a value in each line.

use super::{Values, held};
use crate::csv::{Record, Records, nanos};
use crate::error::{Place, TraceError};
use crate::input::Input;
use units::{Bytes, Foreign, Fraction, Rate, Span};

/// A quantity that a column can have.
pub(super) trait Quantity: Copy {
    /// Its name in errors.
    const NAME: &'static str;
    /// Its units, in lower case, each as a multiple of the first.
    const UNITS: &'static [(&'static str, f64)];
    /// The names of a column that need no unit.
    const PLAIN: &'static [&'static str];
    /// The range of its numbers, in words.
    const RANGE: &'static str;
    /// The accepted files, for errors.
    const ACCEPTED: &'static str;

    /// Makes the quantity from a number of the first unit.
    fn of(number: f64) -> Option<Self>;
}

impl Quantity for Rate {
    const NAME: &'static str = "rate";
    const RANGE: &'static str = "a rate from 0 to 10 Tbit/s";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("bps", 1.0),
        ("kbps", 1e3),
        ("mbps", 1e6),
        ("gbps", 1e9),
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("mbit/s", 1e6),
        ("gbit/s", 1e9),
        ("b/s", 1.0),
        ("kb/s", 1e3),
        ("mb/s", 1e6),
        ("gb/s", 1e9),
    ];
    const PLAIN: &'static [&'static str] = &[];
    const ACCEPTED: &'static str = "a trace of mahimahi, which has a time in whole milliseconds in each line; or CSV \
                                    with the units of its columns in the header, such as \"time_s,rate_bps\", \
                                    \"time_ms,rate_kbps\" or \"time (s),rate (Mbit/s)\"; or a model of \
                                    netem-trace in JSON";
    fn of(number: f64) -> Option<Self> {
        (0.0..=MOST_RATE).contains(&number).then(|| Self::from_bps_f64(number))
    }
}

impl Quantity for Span {
    const NAME: &'static str = "delay";
    const RANGE: &'static str = "a time from 0 to one hour";
    const UNITS: &'static [(&'static str, f64)] = &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];
    const PLAIN: &'static [&'static str] = &[];
    const ACCEPTED: &'static str = "CSV with the units of its columns in the header, such as \"time_s,delay_ms\" or \
                                    \"time (s),delay (ms)\"; or a model of netem-trace in JSON";
    fn of(number: f64) -> Option<Self> {
        (0.0..=MOST_DELAY).contains(&number).then(|| Self::from_secs_f64(number))
    }
}

impl Quantity for Fraction {
    const NAME: &'static str = "loss";
    const RANGE: &'static str = "a share from 0 to 1";
    const UNITS: &'static [(&'static str, f64)] = &[("share", 1.0), ("%", 0.01), ("percent", 0.01)];
    const PLAIN: &'static [&'static str] = &["loss", "loss_rate", "probability"];
    const ACCEPTED: &'static str = "CSV with the unit of time in the header and losses as shares from 0 to 1, such as \
                                    \"time_s,loss\" or \"time (s),loss (%)\"; or a model of netem-trace in \
                                    JSON";
    fn of(number: f64) -> Option<Self> {
        Self::new(number)
    }
}

/// The highest rate of a table, bit/s. A higher number has the wrong unit.
const MOST_RATE: f64 = 1e13;
/// The longest delay of a table, seconds. A higher number has the wrong unit.
const MOST_DELAY: f64 = 3600.0;
/// The names of the column of times.
const TIMES: &[&str] = &["time", "t", "timestamp", "start"];
/// The units of times, each with the number of decimals down to a nanosecond.
const TIME_UNITS: &[(&str, u32)] = &[("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];

/// The places of both columns, and their units.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    decimals: u32,
    value: usize,
    factor: f64,
}

/// Reads the values of a table, of up to `most_held` bytes of memory.
pub(super) fn values<T: Quantity>(input: &mut Input<'_>, most_held: Bytes) -> Result<Values<T>, TraceError> {
    let mut records = Records::new(input)?;
    let (mut columns, mut values) = (None, Values::new());
    while let Some(record) = records.next(input, T::ACCEPTED)? {
        if record.is_blank() {
            continue;
        }
        match columns {
            None => columns = Some(header::<T>(&record)?),
            Some(columns) => {
                row(&record, columns, &mut values)?;
                held(Bytes::new(size_of_val(&values[..]) as u64), most_held)?;
            }
        }
    }
    if let Some(compression) = input.cut() {
        let found = format!("the {compression} data ends too early");
        return Err(TraceError::new(Place::Whole, found, "a whole file"));
    }
    if values.is_empty() {
        return Err(TraceError::new(Place::Whole, "a table without a line of values", T::ACCEPTED));
    }
    values.shrink_to_fit();
    Ok(values)
}

fn header<T: Quantity>(record: &Record<'_>) -> Result<Columns, TraceError> {
    let names: Vec<String> =
        record.cells().map(|name| name.trim_start_matches('\u{feff}').to_ascii_lowercase()).collect();
    let error = |found: String| record.error(found, T::ACCEPTED);
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let help = format!("begin the file with a header such as time_s,{}", example::<T>());
        return Err(error("numbers in place of a header".to_owned()).help(help));
    }
    let with_unit: Vec<(&str, &str)> = names.iter().map(|name| split(name)).collect();
    let times: Vec<usize> = places(&with_unit, |(base, _)| TIMES.contains(base));
    let [time] = times[..] else {
        return Err(error(format!("a header with {} columns of a time", times.len())));
    };
    let unit = with_unit[time].1;
    let Some((_, decimals)) = TIME_UNITS.iter().find(|(known, _)| *known == unit) else {
        let found = format!("the time {:#} without a unit that is known", Foreign::new(&names[time]));
        return Err(error(found).help("write time_s, time_ms, time_us or time_ns"));
    };
    let factor = |(base, unit): &(&str, &str)| {
        let plain = || T::PLAIN.contains(base) && unit.is_empty();
        let known = T::UNITS.iter().find(|(known, _)| known == unit).map(|(_, factor)| *factor);
        known.or_else(|| plain().then_some(1.0))
    };
    let values: Vec<usize> = places(&with_unit, |column| factor(column).is_some());
    let values: Vec<usize> = values.into_iter().filter(|column| *column != time).collect();
    match values[..] {
        [value] => {
            let factor = factor(&with_unit[value]).unwrap_or(1.0);
            Ok(Columns { time, decimals: *decimals, value, factor })
        }
        [] => {
            let found = format!("a header without a {} and its unit", T::NAME);
            Err(error(found).help(format!("write a header such as time_s,{}", example::<T>())))
        }
        _ => {
            let named: Vec<&str> = values.iter().map(|column| names[*column].as_str()).collect();
            let found = format!("several columns of a {}: {}", T::NAME, Foreign::new(&named.join(", ")));
            Err(error(found).help("keep one of them"))
        }
    }
}

fn example<T: Quantity>() -> String {
    match T::PLAIN.first() {
        Some(name) => (*name).to_owned(),
        None => format!("{}_{}", T::NAME, T::UNITS[1].0),
    }
}

/// Returns the indices of the columns that are `wanted`.
fn places(columns: &[(&str, &str)], wanted: impl Fn(&(&str, &str)) -> bool) -> Vec<usize> {
    (0..columns.len()).filter(|column| wanted(&columns[*column])).collect()
}

/// Splits the name of a column, such as "rate (mbit/s)" or "time_ms", into the name proper and its unit.
fn split(name: &str) -> (&str, &str) {
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((base, unit)) = name.strip_suffix(close).and_then(|name| name.split_once(open)) {
            return (base.trim().trim_end_matches('_'), unit.trim());
        }
    }
    match name.rsplit_once(['_', ' ']) {
        Some((base, unit)) if is_unit(unit) => (base.trim(), unit),
        _ => (name, ""),
    }
}

fn is_unit(unit: &str) -> bool {
    let known = |units: &[(&str, f64)]| units.iter().any(|(known, _)| *known == unit);
    known(Rate::UNITS) || known(Span::UNITS) || known(Fraction::UNITS)
}

fn row<T: Quantity>(record: &Record<'_>, columns: Columns, values: &mut Values<T>) -> Result<(), TraceError> {
    let time = record.value(columns.time, "time")?;
    let number = record.value(columns.value, T::NAME)?;
    let Some(at) = nanos(time, columns.decimals).map(Span::from_nanos) else {
        let found = format!("the time {:#}", Foreign::new(time));
        return Err(record.error(found, "a number from 0 to 18446744073 seconds"));
    };
    let value = number.parse::<f64>().ok().and_then(|number| T::of(number * columns.factor));
    let Some(value) = value else {
        let found = format!("the {} {:#}", T::NAME, Foreign::new(number));
        return Err(record.error(found, format!("{} in the unit of the header", T::RANGE)));
    };
    match values.last() {
        None if at > Span::ZERO => {
            let found = format!("a first time of {at}");
            return Err(record
                .error(found, "0 in the first line: the value from the start on")
                .help("subtract the first time from all"));
        }
        Some((before, _)) if at <= *before => {
            let found = format!("a time of {at} after {before}");
            return Err(record.error(found, "times that rise").help("sort the file by time"));
        }
        _ => {}
    }
    values.push((at, value));
    Ok(())
}
