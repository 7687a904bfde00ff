//! Checks for the fuzz targets only (`--cfg fuzzing`).

units::fuzzing_checks!();
