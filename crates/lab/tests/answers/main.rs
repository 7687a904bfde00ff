//! Answers of theories and of the simulator to scenarios: which engines answer, what they assume, and what they find.

mod cells;
mod common;
mod fluid;
mod networks;
mod theories;
