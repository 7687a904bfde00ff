//! Estimates from samples, each against values by hand.

mod limits;
mod samples;
mod trains;
