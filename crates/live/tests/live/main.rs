//! Real transfers over loopback, each test in a network namespace of its own.

mod group;
mod kernel;
mod namespace;
mod sized;
mod transfer;
mod watch;
