//! For the fuzz targets only (`--cfg fuzzing`): a test that a crate was compiled with the checks that fuzzing relies
//! on.

/// Defines `checked()` in the crate that calls it. It returns true if *that* crate was compiled with overflow checks
/// and debug assertions. It lets both fail, so it must run under a panic hook that does not end the process.
#[macro_export]
macro_rules! fuzzing_checks {
    () => {
        /// Returns true if an overflow and a failed `debug_assert!` in this crate panic.
        #[must_use]
        #[inline(never)]
        pub fn checked() -> bool {
            use std::hint::black_box;
            let overflow = std::panic::catch_unwind(|| black_box(black_box(u8::MAX) + black_box(1)));
            let assertion = std::panic::catch_unwind(|| debug_assert!(black_box(false)));
            overflow.is_err() && assertion.is_err()
        }
    };
}

fuzzing_checks!();
