//! Rates, delays and losses of links in numbers, with the files of those that change over time.

use super::complaint::complaint;
use super::files::{Files, WithCarried};
use super::kept::{self, BoundedSource, Content, Kept, MOST_HELD};
use capture::TraceError;
use capture::over_time::{CapacityFile, Table, capacity, delays, packet_numbers, shares};
use link::LinkConfig;
use link::changes::{Capacity, Changes, ExtraDelay, GilbertElliott, LossModel, Outage, Steps};
use scenario::spec::{self, Loss, OverTime, PacketNumbers};
use scenario::{Flow, Limit, Scenario, Spread};
use std::io;
use std::sync::Arc;
use units::{Complaint, Fraction, Rate, Span, one_line};

/// A direction of a link in numbers, without its queue.
#[derive(Clone, Debug)]
pub(super) struct Quantities {
    /// The rate; the mean one if it changes, by the time without outages.
    pub(super) rate: Rate,
    /// The delay; the least one if it changes.
    pub(super) delay: Span,
    /// The probability of independent losses.
    pub(super) loss: Fraction,
    pub(super) changes: Changes,
}

impl Quantities {
    /// Returns the configuration of the link, without jitter.
    pub(super) fn config(&self) -> LinkConfig {
        let Self { rate, delay, loss, changes } = self.clone();
        LinkConfig { loss, changes, ..LinkConfig::constant(rate, delay) }
    }
}

/// A link's forward direction, and the other one if it has a queue.
pub(super) type LinkQuantities = (Quantities, Option<Quantities>);

/// The links of a scenario in numbers.
pub(super) struct LinkNumbers {
    pub(super) links: Vec<LinkQuantities>,
    /// The fingerprints of the files.
    pub(super) contents: Vec<u64>,
    /// Remarks on rates that change.
    pub(super) notes: Vec<String>,
}

/// Reads the files of links that change, and computes means.
///
/// # Errors
/// Returns a complaint for each key whose file cannot be read, or does not fit.
pub(super) fn read(scenario: &Scenario, files: &dyn Files) -> Result<LinkNumbers, Vec<Complaint>> {
    let files = &WithCarried(files);
    let mut reader = Reader { files, end: scenario.duration, contents: Vec::new(), notes: Vec::new() };
    let (mut links, mut complaints) = (Vec::new(), Vec::new());
    for (place, link) in scenario.links.iter().enumerate() {
        let table = if scenario.links.len() == 1 { "link".to_owned() } else { format!("link[{place}]") };
        let forward = reader.quantities(
            &table,
            &link.rate,
            &link.delay,
            &link.loss,
            link.outage.as_ref(),
            link.queue.limit,
        );
        let back = link.reverse.as_ref().map(|back| {
            let delay = OverTime::Constant(forward.as_ref().map_or(Span::ZERO, |forward| forward.delay));
            reader.quantities(
                &format!("{table}.reverse"),
                &back.rate,
                &delay,
                &back.loss,
                None,
                back.queue.limit,
            )
        });
        match (forward, back.transpose()) {
            (Ok(forward), Ok(back)) => links.push((forward, back)),
            (forward, back) => complaints.extend(forward.err().into_iter().chain(back.err())),
        }
    }
    let Reader { contents, notes, .. } = reader;
    if complaints.is_empty() {
        complaints.extend(short_rtts(scenario, &links));
    }
    if complaints.is_empty() { Ok(LinkNumbers { links, contents, notes }) } else { Err(complaints) }
}

/// Returns a complaint for each flow whose base RTT is less than the delay of its links, where a file has that delay.
/// The scenario's own reader compares the other delays.
fn short_rtts(scenario: &Scenario, numbers: &[LinkQuantities]) -> Vec<Complaint> {
    let flows = scenario.flows.iter().enumerate().map(|(index, flow)| (format!("flow[{index}]"), flow));
    let users = scenario.sessions.iter().map(|users| (format!("traffic[{}]", users.entry), &users.flow));
    let short = |(table, flow): (String, &Flow)| {
        let crossed = scenario.links.iter().zip(numbers).filter(|(link, _)| flow.path.contains(&link.name));
        crossed.clone().find(|(link, _)| link.delay.least().is_none())?;
        let round: Span = crossed.map(|(_, (forward, _))| forward.delay * 2).sum();
        let least = match flow.rtt.as_ref()? {
            Spread::All(rtt) | Spread::Uniform(rtt, _) => *rtt,
            Spread::List(rtts) => rtts.iter().copied().min()?,
            // A draw below the links' delay is raised to it.
            Spread::Pareto { .. } | Spread::ParetoQuantiles { .. } | Spread::Exponential(_) => return None,
        };
        let found = format!("an RTT of {least}, less than the links' delay there and back ({round})");
        let accepted = format!("at least {round}, twice the least one-way delay of the flow's links");
        (least < round).then(|| complaint(format!("{table}.rtt"), found, accepted, None))
    };
    flows.chain(users).filter_map(short).collect()
}

struct Reader<'a> {
    files: &'a dyn Files,
    /// The time at which the run stops, if it is known.
    end: Option<Span>,
    contents: Vec<u64>,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn quantities(
        &mut self,
        table: &str,
        rate: &OverTime<Rate>,
        delay: &OverTime<Span>,
        loss: &Loss,
        outage: Option<&spec::Outage>,
        limit: Limit,
    ) -> Result<Quantities, Complaint> {
        let (mean, capacity) = self.rate(&format!("{table}.rate"), rate)?;
        let (delay, extra) = self.delay(&format!("{table}.delay"), delay)?;
        let (loss, model) = self.loss(&format!("{table}.loss"), loss)?;
        let outage =
            outage.map(|outage| Outage { first: outage.first, every: outage.every, length: outage.bounds() });
        let rate = outage.map_or(mean, |outage| mean.scale(outage.available()));
        // Behind outages a rate that is one stays what it is, although its mean is less.
        let constant = || Steps::new(vec![(Span::ZERO, mean)], None).ok().map(Arc::new).map(Capacity::Rates);
        let capacity = capacity.or_else(|| outage.and_then(|_| constant()));
        if capacity.is_some() && matches!(limit, Limit::Bdp(_) | Limit::Time(_)) {
            let mean = rate.rounded();
            self.notes.push(format!("{table}.queue.limit: {limit} by the mean rate, {mean}"));
        }
        let changes = Changes { capacity, delay: extra, outage, loss: model };
        Ok(Quantities { rate, delay, loss, changes })
    }

    /// Returns the mean rate, and the capacity over time unless the rate is one.
    fn rate(&mut self, key: &str, rate: &OverTime<Rate>) -> Result<(Rate, Option<Capacity>), Complaint> {
        let capacity = match rate {
            OverTime::Constant(rate) => return Ok((*rate, None)),
            OverTime::Steps { steps, every, .. } => Capacity::Rates(Arc::new(listed(key, steps, *every)?)),
            OverTime::Trace { trace, repeat, every, .. } => {
                let asked = format!("rate {repeat:?} {every:?}");
                let kept = self.file(&format!("{key}.trace"), trace, &asked, |source| {
                    match capacity(source, repeat.unwrap_or(true), MOST_HELD)? {
                        CapacityFile::Opportunities(all) => Ok(Content::Opportunities(Arc::new(all))),
                        CapacityFile::Rates(rates) => Ok(Content::Rates(Arc::new(steps(rates, *every)?))),
                    }
                })?;
                match kept {
                    Content::Opportunities(_) if every.is_some() => {
                        let help = "leave every out: the last time of the trace is its period";
                        let found = "a period of opportunities, which have one of their own";
                        return Err(complaint(format!("{key}.every"), found, "no period", Some(help.into())));
                    }
                    Content::Rates(_) if repeat.is_some() => {
                        let found = "repeat, where the file is a table of rates";
                        let help = "write every = \"20s\", the time after which the table begins anew";
                        return Err(complaint(format!("{key}.repeat"), found, "every", Some(help.into())));
                    }
                    Content::Opportunities(all) => Capacity::Opportunities(all),
                    Content::Rates(rates) => Capacity::Rates(rates),
                    _ => unreachable!("the file was read as a rate"),
                }
            }
        };
        self.remark_on_end(key, rate, &capacity);
        let mean = match &capacity {
            Capacity::Opportunities(all) => all.mean_rate(),
            Capacity::Rates(rates) => {
                Rate::from_bps_f64(rates.mean_until(self.end, |rate| rate.as_bps_f64()))
            }
        };
        if mean == Rate::ZERO {
            let found = "a mean rate of zero: nothing would pass";
            return Err(complaint(key, found, "a rate above zero at some time of the run", None));
        }
        Ok((mean, Some(capacity)))
    }

    /// Adds a note if a trace ends before the run does. A small gap gets no remark, because traces are often cut to the
    /// duration of the run.
    fn remark_on_end(&mut self, key: &str, rate: &OverTime<Rate>, capacity: &Capacity) {
        let (OverTime::Trace { trace, .. }, Some(end)) = (rate, self.end) else { return };
        let (last, then) = match capacity {
            Capacity::Opportunities(all) if !all.repeats() => (all.period(), "nothing passes from then on"),
            Capacity::Rates(rates) if rates.period().is_none() => {
                (rates.last_begins(), "the last rate holds from then on; every = \"…\" begins it anew")
            }
            _ => return,
        };
        if end.saturating_sub(last) > end.scale(0.01) {
            let name = one_line(trace);
            self.notes.push(format!("{key}: {name} ends at {} of {}: {then}", last.rounded(), end.rounded()));
        }
    }

    /// Returns the least delay, and the rest over time unless the delay is one.
    fn delay(&mut self, key: &str, delay: &OverTime<Span>) -> Result<(Span, Option<ExtraDelay>), Complaint> {
        let (least, steps, reorder) = match delay {
            OverTime::Constant(delay) => return Ok((*delay, None)),
            OverTime::Steps { steps, every, reorder } => {
                let (least, steps) = rest(&listed(key, steps, *every)?);
                (least, Arc::new(steps), *reorder)
            }
            OverTime::Trace { trace, every, reorder, .. } => {
                let kept =
                    self.file(&format!("{key}.trace"), trace, &format!("delay {every:?}"), |source| {
                        let (least, steps) = rest(&steps(delays(source, MOST_HELD)?, *every)?);
                        Ok(Content::Delays(least, Arc::new(steps)))
                    })?;
                let Content::Delays(least, steps) = kept else { unreachable!("the file was read as delays") };
                (least, steps, *reorder)
            }
        };
        Ok((least, Some(ExtraDelay { steps, reorder })))
    }

    /// Returns the probability of independent losses, or else the model of others.
    fn loss(&mut self, key: &str, loss: &Loss) -> Result<(Fraction, Option<LossModel>), Complaint> {
        let model = match loss {
            Loss::Independent(OverTime::Constant(share)) => return Ok((*share, None)),
            Loss::Independent(OverTime::Steps { steps, every, .. }) => {
                LossModel::Shares(Arc::new(listed(key, steps, *every)?))
            }
            Loss::Independent(OverTime::Trace { trace, every, .. }) => {
                let kept =
                    self.file(&format!("{key}.trace"), trace, &format!("loss {every:?}"), |source| {
                        Ok(Content::Shares(Arc::new(steps(shares(source, MOST_HELD)?, *every)?)))
                    })?;
                let Content::Shares(shares) = kept else { unreachable!("the file was read as shares") };
                if shares.values().all(|share| share == Fraction::ONE) {
                    let found = "a loss of 100% throughout: nothing would pass";
                    return Err(complaint(key, found, "a share below 1 at some time", None));
                }
                LossModel::Shares(shares)
            }
            Loss::Bursts { gilbert_elliott: states } => LossModel::GilbertElliott(GilbertElliott {
                to_bad: states.to_bad,
                to_good: states.to_good,
                good_loss: states.good_loss,
                bad_loss: states.bad_loss,
            }),
            Loss::Packets { packets: PacketNumbers::Listed(numbers) } => {
                LossModel::Packets(numbers.as_slice().into())
            }
            Loss::Packets { packets: PacketNumbers::Trace { trace } } => {
                let kept =
                    self.file(&format!("{key}.packets.trace"), trace, "packets to lose", |source| {
                        Ok(Content::Numbers(packet_numbers(source, MOST_HELD)?.into()))
                    })?;
                let Content::Numbers(numbers) = kept else { unreachable!("the file was read as numbers") };
                LossModel::Packets(numbers)
            }
        };
        Ok((Fraction::ZERO, Some(model)))
    }

    /// Returns the content of the file `name`, which the value of `key` names. `asked` says what is read of it.
    fn file(
        &mut self,
        key: &str,
        name: &str,
        asked: &str,
        read: impl FnOnce(&mut dyn io::Read) -> Result<Content, FileFault>,
    ) -> Result<Content, Complaint> {
        let shown = self.files.shown(name);
        let opened = self.files.open(name).map_err(|error| {
            let help =
                "give the path of a file, relative to the folder of the scenario if there is one".to_owned();
            complaint(key, format!("{shown}: {error}"), "a file that can be read", Some(help))
        })?;
        let version = format!("{} {asked}", opened.identity);
        let kept = match kept::known(&version) {
            Some(known) => known,
            None => {
                let mut source = BoundedSource::new(opened);
                let content = read(&mut source).map_err(|fault| fault.complaint(key, &shown))?;
                Kept { content, fingerprint: source.fingerprint(), notes: Vec::new() }
            }
        };
        kept::keep(version, &kept).map_err(|held| {
            let (found, accepted, help) = kept::too_large(&shown, held);
            complaint(key, found, accepted, Some(help))
        })?;
        self.contents.push(kept.fingerprint);
        Ok(kept.content)
    }
}

/// The reason why a file does not give what a key needs.
enum FileFault {
    File(TraceError),
    /// The period of the key ends before the last time of the file.
    Period,
    /// The key has a period, and so has the file.
    Periods,
}

impl From<TraceError> for FileFault {
    fn from(error: TraceError) -> Self {
        Self::File(error)
    }
}

impl FileFault {
    fn complaint(self, key: &str, shown: &str) -> Complaint {
        match self {
            Self::File(error) => complaint(key, format!("{shown}{error}"), error.accepted, error.help),
            Self::Periods => {
                let key = key.replace(".trace", ".every");
                let found = format!("a period, where {shown} has one of its own");
                complaint(key, found, "one period", Some("leave every out".into()))
            }
            Self::Period => {
                let key = key.replace(".trace", ".every");
                let found = format!("a period that ends before the last time of {shown}");
                complaint(key, found, "a longer one", None)
            }
        }
    }
}

fn steps<T: Copy>(table: Table<T>, every: Option<Span>) -> Result<Steps<T>, FileFault> {
    if table.every.is_some() && every.is_some() {
        return Err(FileFault::Periods);
    }
    Steps::new(table.values, every.or(table.every)).map_err(|_| FileFault::Period)
}

/// Makes steps of a list in the scenario, which its reader has checked.
fn listed<T: Copy>(key: &str, values: &[(Span, T)], every: Option<Span>) -> Result<Steps<T>, Complaint> {
    Steps::new(values.to_vec(), every).map_err(|error| {
        complaint(format!("{key}.steps"), format!("{error:?}"), "steps that rise from 0s", None)
    })
}

/// Splits delays into the least and the rest of each.
fn rest(delays: &Steps<Span>) -> (Span, Steps<Span>) {
    let least = delays.values().min().unwrap_or_default();
    (least, delays.map(|delay| delay.saturating_sub(least)))
}
