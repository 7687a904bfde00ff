//! Both ends of a flow over a link, in virtual time: every control compared with the simulator, and equal runs.

mod against_sim;
mod path;
