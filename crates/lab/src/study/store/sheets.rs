//! The series of a run as tables, with their values at their places in the record: one row per sample.
//!
//! The Parquet writer takes these sheets as they are, so that no value is held twice. [`series`] copies them into
//! [`Table`]s for a program that calls the library.

use crate::run::metric::Unit;
use crate::run::record::{
    AckRow, AckSeries, FairnessSeries, FlowSeries, LinkSeries, Percentiles, Series, Spread, SpreadSeries,
    measure_names, measure_values,
};
use crate::study::table::{Column, Field, Table};
use std::borrow::Cow;

/// Returns the series of a run as tables, by their names: `flows`, `spread`, `link`, `queue`, `fairness` and `acks`,
/// those that the run has. They have the columns of the Parquet files.
#[must_use]
pub fn series(series: &Series) -> Vec<(&'static str, Table)> {
    let table = |sheets: Vec<Sheet<'_>>| Table { fields: sheets.iter().map(Sheet::to_field).collect() };
    all(series).into_iter().map(|(name, sheets)| (name, table(sheets))).collect()
}

/// Returns the sheets of a run's series by the names of their files.
pub(super) fn all(series: &Series) -> Vec<(&'static str, Vec<Sheet<'_>>)> {
    let mut all = vec![("flows", flows(&series.flows))];
    if !series.spread.is_empty() {
        all.push(("spread", spread(&series.spread)));
    }
    all.push(("link", link(&series.link)));
    all.push(("queue", queue(&series.queue_length)));
    if !series.fairness.t_s.is_empty() {
        all.push(("fairness", fairness(&series.fairness)));
    }
    if !series.acks.is_empty() {
        all.push(("acks", acks(&series.acks)));
    }
    all
}

/// A column by the places of its values.
pub(super) struct Sheet<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) unit: &'static str,
    pub(super) kind: Kind,
    pub(super) pieces: Vec<RowRange<'a>>,
}

/// The kind of a column's values.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Required,
    Number,
    Whole,
    Text,
}

/// Some rows of a column.
pub(super) enum RowRange<'a> {
    /// The values, and the number of rows. Values that are not finite are null, and so are rows beyond the values.
    Numbers(Cow<'a, [f64]>, usize),
    /// A function that returns the value of each row, and the number of rows.
    Each(Box<dyn Fn(usize) -> Option<f64> + 'a>, usize),
    /// A function that returns the whole number of each row, and the number of rows.
    Whole(Box<dyn Fn(usize) -> Option<u64> + 'a>, usize),
    /// A text that stands in every row, and the number of rows.
    Text(&'a str, usize),
}

impl<'a> Sheet<'a> {
    /// Creates a column whose name has its unit at its end.
    fn of_name(name: impl Into<Cow<'a, str>>, kind: Kind, pieces: Vec<RowRange<'a>>) -> Self {
        let name = name.into();
        Self { unit: Unit::of_name(&name).1.in_files(), name, kind, pieces }
    }

    /// Creates the column of packets that were counted in each of `rows` rows.
    fn of_counts(name: &'static str, counts: &'a [u64], rows: usize) -> Self {
        let count = |row: usize| counts.get(row).map(|count| *count as f64);
        let pieces = vec![RowRange::Each(Box::new(count), rows)];
        Self { name: name.into(), unit: "packets", kind: Kind::Number, pieces }
    }

    /// Creates the sheet of a table's column.
    #[cfg(feature = "parquet")]
    pub(super) fn of(field: &'a Field) -> Self {
        let rows = field.column.len();
        let (kind, pieces) = match &field.column {
            Column::Required(values) => (Kind::Required, vec![RowRange::Numbers(values.into(), rows)]),
            Column::Number(values) => (Kind::Number, vec![RowRange::Each(Box::new(|row| values[row]), rows)]),
            Column::Whole(values) => (Kind::Whole, vec![RowRange::Whole(Box::new(|row| values[row]), rows)]),
            Column::Text(texts) => (Kind::Text, texts.iter().map(|text| RowRange::Text(text, 1)).collect()),
        };
        Self { name: field.name.as_str().into(), unit: field.unit, kind, pieces }
    }

    /// Copies the values into a column of a table.
    fn to_field(&self) -> Field {
        let numbers = || self.pieces.iter().flat_map(RowRange::numbers);
        let column = match self.kind {
            Kind::Required => Column::Required(numbers().map(|value| value.unwrap_or(f64::NAN)).collect()),
            Kind::Number => Column::Number(numbers().collect()),
            Kind::Whole => Column::Whole(self.pieces.iter().flat_map(RowRange::wholes).collect()),
            Kind::Text => Column::Text(self.pieces.iter().flat_map(RowRange::texts).collect()),
        };
        let words = Unit::of_name(&self.name).0.replace('_', " ");
        Field::new(&*self.name, self.unit, words, column)
    }
}

impl RowRange<'_> {
    /// Returns the number of rows.
    #[cfg(feature = "parquet")]
    pub(super) const fn rows(&self) -> usize {
        let (Self::Numbers(_, rows) | Self::Each(_, rows) | Self::Whole(_, rows) | Self::Text(_, rows)) =
            self;
        *rows
    }

    /// Returns the place of numbers in memory, and their number; `None` unless there is one for each row.
    #[cfg(feature = "parquet")]
    pub(super) fn place(&self) -> Option<(*const f64, usize)> {
        match self {
            Self::Numbers(values, rows) if values.len() == *rows => Some((values.as_ptr(), *rows)),
            _ => None,
        }
    }

    fn numbers(&self) -> Vec<Option<f64>> {
        match self {
            Self::Numbers(values, rows) => {
                let finite = |row: usize| values.get(row).copied().filter(|value| value.is_finite());
                (0..*rows).map(finite).collect()
            }
            Self::Each(value, rows) => (0..*rows).map(value).collect(),
            Self::Whole(..) | Self::Text(..) => Vec::new(),
        }
    }

    fn wholes(&self) -> Vec<Option<u64>> {
        match self {
            Self::Whole(value, rows) => (0..*rows).map(value).collect(),
            Self::Numbers(..) | Self::Each(..) | Self::Text(..) => Vec::new(),
        }
    }

    fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text, rows) => vec![(*text).to_owned(); *rows],
            Self::Numbers(..) | Self::Each(..) | Self::Whole(..) => Vec::new(),
        }
    }
}

/// Returns `t_s, flow, rate_bps, rtt_s, window_bytes`, and for a live run the requested and the granted socket buffer:
/// one row per flow and sample. A column that was not recorded is null throughout. The measurements of controllers come
/// after, a column per name, where they were recorded.
fn flows(flows: &[FlowSeries]) -> Vec<Sheet<'_>> {
    fn numbers<'a>(
        flows: &'a [FlowSeries],
        name: &'a str,
        of: impl Fn(&'a FlowSeries) -> &'a [f64],
    ) -> Sheet<'a> {
        let pieces = flows.iter().map(|flow| RowRange::Numbers(of(flow).into(), flow.t_s.len()));
        Sheet::of_name(name, Kind::Number, pieces.collect())
    }
    let times = flows.iter().map(|flow| RowRange::Numbers((&*flow.t_s).into(), flow.t_s.len()));
    let names = flows.iter().map(|flow| RowRange::Text(&flow.name, flow.t_s.len()));
    let mut sheets = vec![
        Sheet::of_name("t_s", Kind::Required, times.collect()),
        Sheet { name: "flow".into(), unit: "", kind: Kind::Text, pieces: names.collect() },
        numbers(flows, "rate_bps", |flow| &flow.rate_bps),
        numbers(flows, "rtt_s", |flow| &flow.rtt_s),
        numbers(flows, "window_bytes", |flow| &flow.window_bytes),
        numbers(flows, "requested_buffer_bytes", |flow| &flow.socket_buffer.requested),
        numbers(flows, "granted_buffer_bytes", |flow| &flow.socket_buffer.granted),
        numbers(flows, "observed_window_bytes", |flow| &flow.socket_buffer.observed),
        numbers(flows, "data_bytes", |flow| &flow.data_bytes),
    ];
    let measured = measure_names(flows).into_iter();
    sheets.extend(measured.map(|name| numbers(flows, name, move |flow| measure_values(flow, name))));
    sheets
}

/// Returns `t_s, flows`, and for each recorded column the mean and the percentiles over all flows: one row per sample.
fn spread(series: &SpreadSeries) -> Vec<Sheet<'_>> {
    let flows = RowRange::Whole(Box::new(|row| Some(series.flows[row])), series.flows.len());
    let mut sheets = vec![
        Sheet::of_name(
            "t_s",
            Kind::Required,
            vec![RowRange::Numbers((&series.t_s).into(), series.t_s.len())],
        ),
        Sheet::of_name("flows", Kind::Whole, vec![flows]),
    ];
    let quantities = [
        ("rate", "bps", &series.rate_bps),
        ("rtt", "s", &series.rtt_s),
        ("window", "bytes", &series.window_bytes),
        ("data", "bytes", &series.data_bytes),
    ];
    for (name, unit, spreads) in quantities.into_iter().filter(|(_, _, spreads)| !spreads.is_empty()) {
        let mut column = |which: &str, of: Box<dyn Fn(&Spread) -> f64>| {
            let value = move |row: usize| Some(of(&spreads[row])).filter(|value| value.is_finite());
            let pieces = vec![RowRange::Each(Box::new(value), spreads.len())];
            sheets.push(Sheet::of_name(format!("{name}_{which}_{unit}"), Kind::Number, pieces));
        };
        column("mean", Box::new(|spread| spread.mean));
        for (place, percentile) in Percentiles::<f64>::NAMES.iter().enumerate() {
            column(percentile, Box::new(move |spread| spread.percentiles.values()[place]));
        }
    }
    sheets
}

/// Returns `t_s, backlog_bytes, drops`: one row per sample. Where a limit moves, `limit_packets` is added; for a
/// wireless cell, `busy_share`.
fn link<'a>(link: &'a LinkSeries) -> Vec<Sheet<'a>> {
    let samples = link.t_s.len();
    let numbers = |values: &'a [f64]| vec![RowRange::Numbers(values.into(), samples)];
    let mut sheets = vec![
        Sheet::of_name("t_s", Kind::Required, numbers(&link.t_s)),
        Sheet::of_name("backlog_bytes", Kind::Number, numbers(&link.backlog_bytes)),
        Sheet::of_counts("drops", &link.drops, samples),
    ];
    if !link.limit_packets.is_empty() {
        sheets.push(Sheet::of_counts("limit_packets", &link.limit_packets, samples));
    }
    if !link.busy_share.is_empty() {
        sheets.push(Sheet::of_name("busy_share", Kind::Number, numbers(&link.busy_share)));
    }
    if !link.capacity_bps.is_empty() {
        sheets.push(Sheet::of_name("capacity_bps", Kind::Number, numbers(&link.capacity_bps)));
    }
    sheets
}

/// Returns `t_s, jain_index`: one row per interval, null where fewer than two flows were active throughout.
fn fairness(fairness: &FairnessSeries) -> Vec<Sheet<'_>> {
    let intervals = fairness.t_s.len();
    vec![
        Sheet::of_name("t_s", Kind::Required, vec![RowRange::Numbers((&fairness.t_s).into(), intervals)]),
        Sheet::of_name(
            "jain_index",
            Kind::Number,
            vec![RowRange::Numbers((&fairness.jain_index).into(), intervals)],
        ),
    ]
}

/// Returns `t_s, flow, sent_bytes, …`: one row for each acknowledgement.
fn acks(acks: &AckSeries) -> Vec<Sheet<'_>> {
    fn numbers<'a>(
        acks: &'a AckSeries,
        name: &'static str,
        of: impl Fn(&AckRow) -> Option<f64> + 'a,
    ) -> Sheet<'a> {
        let value = move |row: usize| of(&acks.rows[row]).filter(|value: &f64| value.is_finite());
        Sheet::of_name(name, Kind::Number, vec![RowRange::Each(Box::new(value), acks.rows.len())])
    }
    fn words<'a>(
        acks: &'a AckSeries,
        name: &'static str,
        words: &'a [String],
        of: impl Fn(&AckRow) -> u32,
    ) -> Sheet<'a> {
        let runs = acks.rows.chunk_by(|one, next| of(one) == of(next));
        let pieces = runs.map(|run| RowRange::Text(&words[of(&run[0]) as usize], run.len())).collect();
        Sheet { name: name.into(), unit: "", kind: Kind::Text, pieces }
    }
    vec![
        numbers(acks, "t_s", |row| Some(row.t_s)),
        words(acks, "flow", &acks.names, |row| row.flow),
        numbers(acks, "sent_bytes", |row| Some(row.sent_bytes as f64)),
        numbers(acks, "acked_bytes", |row| Some(row.acked_bytes as f64)),
        numbers(acks, "delivered_bytes", |row| Some(row.delivered_bytes as f64)),
        numbers(acks, "cwnd_bytes", |row| Some(row.cwnd_bytes as f64)),
        numbers(acks, "ssthresh_bytes", |row| row.ssthresh_bytes.map(|bytes| bytes as f64)),
        numbers(acks, "pacing_bps", |row| Some(row.pacing_bps)),
        numbers(acks, "rtt_s", |row| Some(row.rtt_s)),
        numbers(acks, "srtt_s", |row| Some(row.srtt_s)),
        numbers(acks, "in_flight_bytes", |row| Some(row.in_flight_bytes as f64)),
        words(acks, "state", &acks.states, |row| row.state),
    ]
}

/// Returns `packets, time_share, at_least`: for each length of the queue the share of the measured interval it lasted.
/// `at_least` is the share during which the queue was no shorter.
fn queue<'a>(shares: &'a [f64]) -> Vec<Sheet<'a>> {
    // The sum begins at the end, where the small shares are.
    let mut at_least: Vec<f64> = shares
        .iter()
        .rev()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    at_least.reverse();
    let packets: Vec<f64> = (0..shares.len()).map(|packets| packets as f64).collect();
    let numbers = |values: Cow<'a, [f64]>| vec![RowRange::Numbers(values, shares.len())];
    vec![
        Sheet {
            name: "packets".into(),
            unit: "packets",
            kind: Kind::Required,
            pieces: numbers(packets.into()),
        },
        Sheet::of_name("time_share", Kind::Required, numbers(shares.into())),
        Sheet::of_name("at_least", Kind::Required, numbers(at_least.into())),
    ]
}
