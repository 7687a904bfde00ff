//! For the fuzz targets only (`--cfg fuzzing`): a receiver that hears bytes of an input, and what must hold after that.
//!
//! `fuzzing/place.rs` is the folder received into, with a neighbourhood that must stay as it was. `fuzzing/model.rs`
//! has the entries that a sender has offered and sent. `fuzzing/assembly.rs` has messages without frames,
//! `fuzzing/sender_session.rs` bytes of connections.

mod assembly;
mod model;
mod place;
mod sender_session;

pub use assembly::assembly;
pub use sender_session::sender_session;
