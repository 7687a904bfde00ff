//! The program from outside: what is typed, what comes out on stdout and stderr, exit codes, and what is left behind.
//!
//! Reading order: `place.rs` (a folder to work in, the program, what became of it), then one file per topic.
//! Parts that need root (namespaces, mounts, other users) say so and pass without it.

mod bad_input;
mod claims;
mod compare;
mod counting;
mod diagnose;
mod docs;
mod elsewhere;
mod emulate;
mod emulate_changing;
mod emulate_hosts;
mod enter;
mod environment;
mod figures;
mod keys;
mod kill;
mod lesson;
mod live;
mod names;
mod new;
mod other_users;
mod packets;
mod path_test;
mod pictures;
mod pipe;
mod place;
mod queues;
mod run;
mod search;
mod size;
mod size_of_trace;
mod snapshots;
mod sweep;
mod takeover;
mod transfer;
mod transfer_kill;
mod transfer_limits;
mod transfer_path;
mod transfer_secrets;
mod transfer_ticket;
mod transfer_unauthenticated;
mod tune;
mod two_tuners;
mod version;
