//! A receiver for the fuzz targets only (`--cfg fuzzing`). It takes the bytes of an input, and the harness checks what
//! must hold after that.
//!
//! `place.rs` has the folder received into, with a neighbourhood that must stay unchanged. `model.rs` has the entries
//! that a sender has offered and sent. `assembly.rs` plays messages without frames, and `sender_session.rs` the bytes
//! of connections.

mod assembly;
mod model;
mod place;
mod sender_session;

pub use assembly::assembly;
pub use sender_session::sender_session;
