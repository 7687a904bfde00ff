//! Python's values as the text of scenarios.

use cli::units::Complaint;
use cli::{Document, Written};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyMapping, PyString};

/// The values within values that are followed.
const DEEPEST: usize = 32;
const ACCEPTED: &str = "a bool, an int, a finite float, a str, or a list or dict of these";

/// Returns the value of the key at `place` as TOML.
///
/// # Errors
/// If a scenario cannot have such a value.
pub(crate) fn written(value: &Bound<'_, PyAny>, place: &str) -> Result<String, Complaint> {
    within(value, place, &mut Vec::new())
}

/// Returns the value as `--set` takes it. A text has no quotes, unless `--set` would then read it as another value.
///
/// # Errors
/// If a scenario cannot have such a value.
pub(crate) fn typed(value: &Bound<'_, PyAny>, place: &str) -> Result<String, Complaint> {
    let text = written(value, place)?;
    let bare = value.cast::<PyString>().ok().and_then(|bare| bare.to_str().ok());
    let is_bare = |bare: &&str| {
        let quoted = bare.is_empty() || bare.trim() != *bare || bare.starts_with(['[', '{', '"', '\'']);
        !quoted && Document::parse("", &format!("key = {bare}")).is_err()
    };
    Ok(bare.filter(is_bare).map_or(text, str::to_owned))
}

/// Returns a list of a swept key's values as TOML.
///
/// # Errors
/// If it is not a list, or a scenario cannot have one of the values.
pub(crate) fn axis(values: &Bound<'_, PyAny>, key: &str) -> Result<String, Complaint> {
    if values.is_instance_of::<PyString>() || values.cast::<PyMapping>().is_ok() || values.try_iter().is_err()
    {
        let complaint = Complaint::new(key, format!("{}, and not a list of values", described(values)));
        return Err(complaint.accepted("a list such as [\"0.1 bdp\", \"1 bdp\"] or range(8)"));
    }
    list(values, key, &mut Vec::new())
}

/// Returns the text of a scenario with the keys and values of a dict.
///
/// # Errors
/// If a key is not a str, or a scenario cannot have one of the values.
pub(crate) fn text_of(dict: &Bound<'_, PyAny>) -> Result<String, Complaint> {
    let Ok(mapping) = dict.cast::<PyMapping>() else {
        return Err(Complaint::new("", described(dict)).accepted("a dict of keys and values"));
    };
    let lines = entries(mapping, "", &mut vec![identity(dict)])?;
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}

fn within(value: &Bound<'_, PyAny>, place: &str, outer: &mut Vec<usize>) -> Result<String, Complaint> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(truth.is_true().written());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text
            .to_str()
            .map_err(|error| Complaint::new(place, format!("a str that is not Unicode: {error}")))?;
        return Ok(text.written());
    }
    if value.is_instance_of::<PyInt>() {
        // The text is used, because an int of Python may be of any size.
        return value.str().map(|text| text.to_string()).map_err(|_| refused(value, place));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        return match number.is_finite() {
            true => Ok(number.written()),
            false => Err(Complaint::new(place, format!("{number}")).accepted("a finite number")),
        };
    }
    // A number of numpy is converted to Python's own.
    if value.getattr("shape").is_ok_and(|shape| shape.len().is_ok_and(|dimensions| dimensions == 0))
        && let Ok(item) = value.call_method0("item")
        && !item.is(value)
    {
        return within(&item, place, outer);
    }
    let is_bytes = value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>();
    let mapping = value.cast::<PyMapping>().ok();
    if is_bytes || (mapping.is_none() && value.try_iter().is_err()) {
        return Err(refused(value, place));
    }
    if outer.contains(&identity(value)) {
        return Err(
            Complaint::new(place, format!("{} that contains itself", described(value))).accepted(ACCEPTED)
        );
    }
    if outer.len() >= DEEPEST {
        return Err(
            Complaint::new(place, format!("more than {DEEPEST} values in each other")).accepted(ACCEPTED)
        );
    }
    outer.push(identity(value));
    let text = match mapping {
        Some(mapping) => format!("{{ {} }}", entries(mapping, place, outer)?.join(", ")),
        None => list(value, place, outer)?,
    };
    outer.pop();
    Ok(text)
}

fn list(values: &Bound<'_, PyAny>, place: &str, outer: &mut Vec<usize>) -> Result<String, Complaint> {
    let mut items = Vec::new();
    for (index, item) in values.try_iter().map_err(|_| refused(values, place))?.enumerate() {
        let item = item.map_err(|error| Complaint::new(place, error.to_string()))?;
        items.push(within(&item, &format!("{place}[{index}]"), outer)?);
    }
    Ok(format!("[{}]", items.join(", ")))
}

/// Returns a text `key = value` for each entry.
fn entries(
    mapping: &Bound<'_, PyMapping>,
    place: &str,
    outer: &mut Vec<usize>,
) -> Result<Vec<String>, Complaint> {
    let items = mapping.items().map_err(|_| refused(mapping.as_any(), place))?;
    let mut lines = Vec::new();
    for item in items.iter() {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            item.extract().map_err(|_| refused(mapping.as_any(), place))?;
        let Ok(key) = key.extract::<String>() else {
            return Err(Complaint::new(place, format!("a key that is {}", described(&key)))
                .accepted("keys of type str"));
        };
        let path = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        lines.push(format!("{} = {}", key.written(), within(&value, &path, outer)?));
    }
    Ok(lines)
}

fn refused(value: &Bound<'_, PyAny>, place: &str) -> Complaint {
    let complaint = Complaint::new(place, described(value)).accepted(ACCEPTED);
    match value.is_none() {
        true => complaint.help("leave the key out, so that it has its default"),
        false => complaint.help("write a quantity as a str with its unit, such as \"20ms\""),
    }
}

/// Returns "a value of type date".
fn described(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    let name = value.get_type().name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string());
    format!("a value of type {name}")
}

fn identity(value: &Bound<'_, PyAny>) -> usize {
    value.as_ptr() as usize
}
