//! Ack scripts: what a controller is told, and the window it must answer with; one file per RFC.

mod driver;
mod rfc3465;
mod rfc3742;
mod rfc5681;
mod rfc9406;
