//! Writes drawn scenarios that the kernel can run: `drawn SET COUNT FOLDER`, for `scripts/drawn-scenarios`. Each has a folder of
//! its own, `FOLDER/SET-INDEX`, with `scenario.toml` and the trace that it names.

#[path = "../tests/drawn/draw.rs"]
mod draw;

use draw::{Reach, drawn};
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [set, count, folder] = &arguments[..] else { return Err("usage: drawn SET COUNT FOLDER".into()) };
    for index in 0..count.parse()? {
        let drawn = drawn(set, index, Reach::Live);
        let folder = Path::new(folder).join(drawn.name.replace(' ', "-"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("scenario.toml"), drawn.text)?;
        if let Some(trace) = drawn.trace {
            fs::write(folder.join("trace.csv"), trace)?;
        }
    }
    Ok(())
}
