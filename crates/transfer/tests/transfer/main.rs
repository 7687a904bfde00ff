//! Transfers between two threads over loopback. What needs two processes is in `crates/cli/tests/cli/transfer.rs`.
//!
//! `bench.rs` has the two ends, the other files one topic each.

mod addresses;
mod bench;
mod chunks;
mod consent;
mod digests;
mod existing;
mod names;
mod planted;
mod proxy;
mod reconnect;
mod resume;
mod swaps;
mod trees;
mod unauthenticated;
mod whole;
