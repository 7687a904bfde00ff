//! Estimates from samples, each against values by hand.

mod diagnosis;
mod limits;
mod samples;
mod trains;
