//! [`Percentiles`]: the percentiles of a summary, in one list.

use serde::{Deserialize, Serialize};

/// Defines [`Percentiles`] from a list of names, shares and descriptions.
macro_rules! percentiles {
    ($($name:ident = $share:literal, $says:literal;)+) => {
        /// Percentiles of one distribution. Queue lengths and delays are weighted by time, and each session counts
        /// once.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Percentiles<T> {
            $(#[doc = $says] pub $name: T,)+
        }

        impl<T: Copy> Percentiles<T> {
            /// The names of all percentiles, ascending.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Computes each percentile by calling `quantile` with its share, in ascending order.
            pub fn of(mut quantile: impl FnMut(f64) -> T) -> Self {
                Self { $($name: quantile($share),)+ }
            }

            /// Returns the values in the order of [`Self::NAMES`].
            #[must_use]
            pub fn values(&self) -> Vec<T> {
                vec![$(self.$name),+]
            }
        }
    };
}

percentiles! {
    p1 = 0.01, "1 % are at most this.";
    p5 = 0.05, "5 % are at most this.";
    p50 = 0.5, "The median.";
    p95 = 0.95, "95 % are at most this.";
    p99 = 0.99, "99 % are at most this.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_its_share_and_they_ascend() {
        let percentiles = Percentiles::of(|share| share);
        for (name, share) in Percentiles::<f64>::NAMES.iter().zip(percentiles.values()) {
            assert_eq!(*name, format!("p{}", share * 100.0));
        }
        assert!(percentiles.values().is_sorted());
    }
}
