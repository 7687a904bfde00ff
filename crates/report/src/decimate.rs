//! Thinning: the points of a long column that a page may leave out, and those that it must keep.
//!
//! [`envelope`] for quantities sampled at an instant (RTT, window, backlog): every peak and trough survives.
//! [`interval_means`] for quantities that are themselves means over an interval (goodput): the mean survives.
//! [`interval_sums`] for counts (drops): the total survives.

/// A thinned column: sample times, values, and the span that one point covers (0 for an instant).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinned {
    /// The sample times, seconds.
    pub t: Vec<f64>,
    /// The values, in the unit of the column.
    pub y: Vec<f64>,
    /// The seconds that one point covers.
    pub every: f64,
}

/// Keeps at most about `cap` points: the first, the last, and the least and greatest of every stretch between them.
///
/// Columns of different length are cut to the shorter. A stretch without a finite value stays visible as a gap.
#[must_use]
pub fn envelope(t: &[f64], y: &[f64], cap: usize) -> Thinned {
    let n = t.len().min(y.len());
    if n <= cap.max(4) {
        return Thinned { t: t[..n].to_vec(), y: y[..n].to_vec(), every: 0.0 };
    }
    let stretches = (cap.max(4) - 2) / 2;
    let inner = n - 2;
    let mut kept = vec![0];
    for s in 0..stretches {
        let from = 1 + s * inner / stretches;
        let to = 1 + (s + 1) * inner / stretches;
        let finite = || (from..to).filter(|&i| y[i].is_finite());
        let least = finite().min_by(|&a, &b| y[a].total_cmp(&y[b]));
        let most = finite().max_by(|&a, &b| y[a].total_cmp(&y[b]));
        match (least, most) {
            (Some(a), Some(b)) if a != b => kept.extend([a.min(b), a.max(b)]),
            (Some(a), _) => kept.push(a),
            (None, _) if from < to => kept.push(from),
            (None, _) => {}
        }
    }
    kept.push(n - 1);
    Thinned { t: kept.iter().map(|&i| t[i]).collect(), y: kept.iter().map(|&i| y[i]).collect(), every: 0.0 }
}

/// Returns at most `cap` points. Each is the mean of neighbours, weighted by the interval that each of them covers, at
/// the end of the time it covers.
#[must_use]
pub fn interval_means(t: &[f64], y: &[f64], cap: usize) -> Thinned {
    let n = t.len().min(y.len());
    let group = n.div_ceil(cap.max(1)).max(1);
    let every = typical_interval(&t[..n]) * group as f64;
    if group == 1 {
        return Thinned { t: t[..n].to_vec(), y: y[..n].to_vec(), every };
    }
    let mut out = Thinned { every, ..Thinned::default() };
    for from in (0..n).step_by(group) {
        let to = (from + group).min(n);
        let (mut weight, mut sum) = (0.0, 0.0);
        for i in (from..to).filter(|&i| y[i].is_finite()) {
            let width = interval(t, i);
            weight += width;
            sum += width * y[i];
        }
        out.t.push(t[to - 1]);
        out.y.push(if weight > 0.0 { sum / weight } else { f64::NAN });
    }
    out
}

/// Returns at most `cap` points, each the sum of neighbours, at the middle of the time it covers.
#[must_use]
pub fn interval_sums(t: &[f64], y: &[f64], cap: usize) -> Thinned {
    let n = t.len().min(y.len());
    let group = n.div_ceil(cap.max(1)).max(1);
    let every = typical_interval(&t[..n]) * group as f64;
    let mut out = Thinned { every, ..Thinned::default() };
    for from in (0..n).step_by(group) {
        let to = (from + group).min(n);
        out.t.push(t[to - 1] - every / 2.0);
        out.y.push(y[from..to].iter().filter(|v| v.is_finite()).sum());
    }
    out
}

/// Returns the time that sample `i` covers: since the sample before it. The first covers as much as the second.
fn interval(t: &[f64], i: usize) -> f64 {
    let i = i.max(1);
    if t.len() < 2 { 1.0 } else { (t[i] - t[i - 1]).max(0.0) }
}

/// Returns the mean distance of the samples, seconds; 0 for fewer than two.
fn typical_interval(t: &[f64]) -> f64 {
    match (t.first(), t.last()) {
        (Some(a), Some(b)) if t.len() > 1 => (b - a) / (t.len() - 1) as f64,
        _ => 0.0,
    }
}
