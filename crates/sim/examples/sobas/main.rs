//! SOBAS on simulated paths.
//!
//! ```text
//! cargo run --release -p tightlink-sim --example sobas -- matrix [WORDS]
//! cargo run --release -p tightlink-sim --example sobas -- decisions
//! ```

mod decisions;
mod matrix;
mod path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((what, rest)) if what == "matrix" => matrix::print(rest),
        Some((what, [])) if what == "decisions" => decisions::print(),
        _ => {
            eprintln!("usage: sobas matrix [WORDS] | sobas decisions");
            std::process::exit(2);
        }
    }
}
