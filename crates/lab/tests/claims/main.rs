//! Claims: what holds, what fails, and that nothing passes by not being looked at.

mod bands;
mod cases;
mod common;
mod files;
mod relations;
mod runs;
mod tally;
