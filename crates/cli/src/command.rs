//! The commands, one file for each.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod diagnose;
pub(crate) mod docs;
pub(crate) mod emulate;
pub(crate) mod enter;
pub(crate) mod figure;
pub(crate) mod keys;
pub(crate) mod list;
pub(crate) mod new;
mod path_test;
pub(crate) mod receive;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod size;
pub(crate) mod sweep;
pub(crate) mod tune;
pub(crate) mod verify;
