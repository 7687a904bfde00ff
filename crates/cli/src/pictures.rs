//! Pictures of a report's charts, and their files.

use crate::args::PictureOptions;
use crate::print;
use crate::problem::Problem;
use lab::files::{make_folder, replace, try_replace};
use report::picture::Picture;
use std::io;
use std::path::{Path, PathBuf};
use units::Complaint;

/// Checks, before anything runs, that the options fit together and that the files can be written.
pub(crate) fn check(options: &PictureOptions) -> Result<(), Problem> {
    if !options.are_wanted() {
        let odd = [("--chart", !options.chart.is_empty()), ("--size", options.size.is_some())];
        if let Some((option, _)) = odd.into_iter().find(|(_, given)| *given) {
            let complaint = Complaint::new(option, "no picture is asked for");
            return Err(Problem::usage(
                complaint.accepted("--chart and --size together with --svg FILE or --pdf FILE"),
            ));
        }
        return Ok(());
    }
    for file in options.svg.iter().chain(&options.pdf) {
        if file.file_name().is_none() {
            let complaint = Complaint::new(file.display().to_string(), "not the name of a file");
            return Err(Problem::usage(complaint.help("name a file, such as figure.svg")));
        }
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder).map_err(|error| unwritable(folder, &error))?;
        }
        try_replace(file).map_err(|error| unwritable(file, &error))?;
    }
    if options.svg.is_some() && options.svg == options.pdf {
        let complaint = Complaint::new("--svg and --pdf", "both name the same file");
        return Err(Problem::usage(complaint.help("name two files, or leave one of the options out")));
    }
    Ok(())
}

/// Draws the chosen ones of the `pictures`, and writes their files. Without a file the pictures are not made.
pub(crate) fn write(
    options: &PictureOptions,
    pictures: impl FnOnce() -> Vec<Picture>,
) -> Result<(), Problem> {
    if !options.are_wanted() {
        return Ok(());
    }
    let pictures = pictures();
    let chosen = chosen(&options.chart, &pictures)?;
    let size = options.size.unwrap_or_default();
    for picture in &chosen {
        let name = (chosen.len() > 1).then(|| picture.name());
        let drawn = picture.draw(size);
        let missing = drawn.missing();
        if !missing.is_empty() {
            let letters: String = missing.into_iter().collect();
            print::talk(format_args!(
                "note: the font of pictures lacks the letters {letters}; a box stands for each in {}",
                picture.name()
            ));
        }
        if let Some(file) = &options.svg {
            save(&named(file, name), drawn.svg().as_bytes())?;
        }
        if let Some(file) = &options.pdf {
            save(&named(file, name), &drawn.pdf())?;
        }
    }
    Ok(())
}

/// Returns the pictures of these names, once each and in their order; all of them without names.
fn chosen<'a>(names: &[String], pictures: &'a [Picture]) -> Result<Vec<&'a Picture>, Problem> {
    if pictures.is_empty() {
        return Err(Problem::environment(Complaint::new(
            "",
            "the report has no chart, so no picture was written",
        )));
    }
    let known = || pictures.iter().map(Picture::name);
    let mut chosen: Vec<&Picture> = Vec::new();
    for name in names {
        let Some(picture) = pictures.iter().find(|picture| picture.name() == name) else {
            let complaint = Complaint::new("--chart", format!("the report has no chart \"{name}\""));
            let complaint = complaint.accepted(known().collect::<Vec<_>>().join(", "));
            let help = scenario::did_you_mean(name, known());
            return Err(Problem::usage(Complaint { help, ..complaint }));
        };
        if !chosen.iter().any(|other| other.name() == name) {
            chosen.push(picture);
        }
    }
    Ok(if names.is_empty() { pictures.iter().collect() } else { chosen })
}

/// Returns the file of one of several pictures: `figure.svg` is `figure-rate.svg` for the chart `rate`.
fn named(file: &Path, name: Option<&str>) -> PathBuf {
    let Some(name) = name else { return file.to_owned() };
    let mut own = file.file_stem().unwrap_or_default().to_owned();
    own.push("-");
    own.push(name);
    if let Some(end) = file.extension() {
        own.push(".");
        own.push(end);
    }
    file.with_file_name(own)
}

fn save(file: &Path, content: &[u8]) -> Result<(), Problem> {
    replace(file, content).map_err(|error| unwritable(file, &error))?;
    print::talk(format_args!("picture: {}", file.display()));
    Ok(())
}

fn unwritable(file: &Path, error: &io::Error) -> Problem {
    let complaint = Complaint::new(file.display().to_string(), format!("cannot write the picture: {error}"));
    Problem::environment(complaint.help("choose another file with --svg or --pdf"))
}
