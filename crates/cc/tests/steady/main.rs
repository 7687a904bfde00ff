//! Each controller's steady state against its own published response function.

mod aimd;
mod bic;
mod cubic;
mod highspeed;
mod marks;
mod path;
mod scalable;
mod westwood;
