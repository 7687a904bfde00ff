//! Ack scripts: what a controller is told, and the window it must answer with; one file per RFC or paper.

mod africa;
mod bbr;
mod bic;
mod driver;
mod fast;
mod hystart;
mod low_priority;
mod prague;
mod rfc3465;
mod rfc3649;
mod rfc3742;
mod rfc5681;
mod rfc8257;
mod rfc9406;
mod rfc9438;
mod scalable;
mod vegas;
mod westwood;
