//! Sample times, which series that are sampled together share.

use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// Sample times in seconds, ascending. A copy shares the memory of the original.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<f64>", into = "Vec<f64>")]
pub struct Times(Arc<Vec<f64>>);

impl From<Vec<f64>> for Times {
    fn from(seconds: Vec<f64>) -> Self {
        Self(Arc::new(seconds))
    }
}

impl From<Times> for Vec<f64> {
    fn from(times: Times) -> Self {
        Arc::unwrap_or_clone(times.0)
    }
}

impl FromIterator<f64> for Times {
    fn from_iter<I: IntoIterator<Item = f64>>(seconds: I) -> Self {
        Vec::from_iter(seconds).into()
    }
}

impl Deref for Times {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}
