//! The simulator from outside: against closed forms, and its two ways of driving the link against each other.

mod closed_form;
mod common;
mod engset;
mod ns2;
mod recovery;
mod two_paths;
