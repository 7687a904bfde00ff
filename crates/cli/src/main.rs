//! tightlink
fn main() {}
