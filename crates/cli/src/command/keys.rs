//! `tightlink keys`: the keys of a scenario file with their values, from the schema.

use crate::args::KeysOptions;
use crate::print;
use crate::problem::Problem;
use scenario::reference::{KeyMatch, Row, look_up, plain, rows};
use scenario::{DefaultValue, Key};
use std::process::ExitCode;
use units::Complaint;

pub(crate) fn run(options: &KeysOptions) -> Result<ExitCode, Problem> {
    let found = options.key.as_deref().map_or_else(|| KeyMatch::Parts(rows()), look_up);
    match found {
        KeyMatch::Key(row) if options.json => as_json(&row)?,
        KeyMatch::Key(row) => in_full(&row)?,
        KeyMatch::Parts(rows) if options.json => rows.iter().try_for_each(as_json)?,
        KeyMatch::Parts(rows) => in_a_line_each(&rows)?,
        KeyMatch::Nothing(help) => {
            let key = options.key.as_deref().unwrap_or_default();
            let help = help.unwrap_or_else(|| "tightlink keys lists all of them".to_owned());
            return Err(Problem::usage(
                Complaint::new("", format!("no key is called \"{key}\""))
                    .accepted("a key such as flow.rtt or rtt, or a part of keys such as ack")
                    .help(help),
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints path, type and default in columns.
fn in_a_line_each(rows: &[Row]) -> Result<(), Problem> {
    let width = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
    for Row { path, key } in rows {
        let default = match key.default {
            DefaultValue::Required(_) => "required".to_owned(),
            _ => match default(key) {
                words if words.starts_with("required") => words,
                words => format!("default {words}"),
            },
        };
        print::entry(&format!("  {path:width$}  "), &format!("{}; {default}", plain(key.kind)))?;
    }
    Ok(())
}

/// Prints the whole entry of a key.
fn in_full(Row { path, key }: &Row) -> Result<(), Problem> {
    print::data(path)?;
    let line = |what: &str, text: &str| print::entry(&format!("  {what:<8}  "), text);
    line("type", &plain(key.kind))?;
    line("default", &default(key))?;
    if let DefaultValue::Hosts { linux, with, source, .. } = key.default {
        let with = with.map_or_else(String::new, |control| format!(" and control = \"{control}\""));
        line("", &format!("{linux} with host = \"linux\"{with} ({})", plain(source)))?;
    }
    let refused = if key.refused_by.is_empty() { "" } else { "; refused by " };
    line("engines", &format!("{}{refused}{}", key.engines, key.refused_by))?;
    if !key.kinds.is_empty() {
        line("kinds", key.kinds)?;
    }
    let within: Vec<&str> = key.holds().collect();
    if !within.is_empty() {
        line("keys", &within.join(", "))?;
    }
    line("meaning", &plain(key.meaning))
}

fn default(key: &Key) -> String {
    match key.default {
        DefaultValue::Required(accepted) => format!("none; required: {accepted}"),
        DefaultValue::Written(text) | DefaultValue::Hosts { rfc: text, .. } => text.to_owned(),
        DefaultValue::Words(words) => plain(words),
    }
}

/// Prints `"key": "flow.rtt", "type": …`. A default that can be written appears as in a file, others are `null`.
fn as_json(Row { path, key }: &Row) -> Result<(), Problem> {
    let written = match key.default {
        DefaultValue::Written(text) | DefaultValue::Hosts { rfc: text, .. } => Some(text),
        DefaultValue::Required(_) | DefaultValue::Words(_) => None,
    };
    let hosts = match key.default {
        DefaultValue::Hosts { rfc, linux, with, source } => {
            serde_json::json!({ "rfc": rfc, "linux": linux, "linux_only_with": with, "source": plain(source) })
        }
        _ => serde_json::Value::Null,
    };
    let list = |names: &'static str| names.split_whitespace().collect::<Vec<_>>();
    print::json(&serde_json::json!({
        "key": path,
        "type": plain(key.kind),
        "required": matches!(key.default, DefaultValue::Required(_)),
        "default": written,
        "absent_means": if let DefaultValue::Words(words) = key.default { Some(plain(words)) } else { None },
        "hosts": hosts,
        "engines": list(key.engines),
        "refused_by": list(key.refused_by),
        "kinds": list(key.kinds),
        "keys": key.holds().collect::<Vec<_>>(),
        "meaning": plain(key.meaning),
    }))
}
