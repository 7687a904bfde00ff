//! Pages and the sentences on them.

mod diagnosis;
#[cfg(feature = "kernel")]
mod emulated;
mod heat;
mod many_flows;
mod numbers;
mod page;
mod picture;
mod sample;
mod sentences;
mod size;
mod study;
