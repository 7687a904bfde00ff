//! Both ends of a flow over a link, in virtual time.

mod against_sim;
mod attackers;
mod endurance;
mod equal_runs;
mod faults;
mod path;
mod windows;
