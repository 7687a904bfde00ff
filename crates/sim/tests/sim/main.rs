//! The simulator from outside: against closed forms, and its two ways of driving the link against each other.

mod any_cell;
mod assisted;
mod batches;
mod cell;
mod cell_queues;
mod closed_form;
mod common;
mod engset;
mod equilibria;
mod handshake;
mod highspeed;
mod madison;
mod marks;
mod network;
mod ns2;
mod options;
mod plans;
mod recovery;
mod right_sizing;
mod short_files;
mod slow_starts;
mod sobas;
mod two_paths;
mod watched;
mod way_back;
