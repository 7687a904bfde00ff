//! For the fuzz targets only (`--cfg fuzzing`): a receiver that hears bytes of an input, and what must hold after that.
//!
//! `fuzzing/place.rs`: the folder received into, with a neighbourhood that must stay as it was; `fuzzing/model.rs`: which
//! entries a sender has offered and sent; `fuzzing/landing.rs`: messages without frames; `fuzzing/visit.rs`:
//! bytes of connections.

mod landing;
mod model;
mod place;
mod visit;

pub use landing::landing;
pub use visit::visit;
