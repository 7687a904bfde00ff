//! [`Percentiles`]: which percentiles a summary has, in one list.

use serde::{Deserialize, Serialize};

/// Makes [`Percentiles`] of a list of names, shares and what each says.
macro_rules! percentiles {
    ($($name:ident = $share:literal, $says:literal;)+) => {
        /// Percentiles of one distribution: of the queue's length and delay weighted by time, of sessions by their
        /// number.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Percentiles<T> {
            $(#[doc = $says] pub $name: T,)+
        }

        impl<T: Copy> Percentiles<T> {
            /// The keys, ascending.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Each by the quantile of its share, called with ascending shares.
            pub fn of(mut quantile: impl FnMut(f64) -> T) -> Self {
                Self { $($name: quantile($share),)+ }
            }

            /// In the order of [`Self::NAMES`].
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
