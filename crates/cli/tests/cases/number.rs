//! Numbers in an output: of JSON objects by path, of the printed table by column.
//!
//! A path is keys and names with points between: `queueing_delay_s.mean`, `flows.second.completion_s`. A `*` stands for
//! every item of a list. `sum`, `max` or `min` before a path makes one number of them. Paths and numbers are joined by
//! ` * ` and ` / `, from left to right: `flows.file.goodput_bps * flows.file.completion_s / 8`.

use serde_json::Value;

/// One answer: an object of the output, with its engine.
#[derive(Debug)]
pub struct Answer {
    pub engine: Option<String>,
    value: Value,
}

/// The JSON objects of `output`, one a line.
pub fn answers(output: &str) -> Vec<Answer> {
    let objects = output.lines().filter(|line| line.starts_with('{'));
    let parsed = objects.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    parsed.map(|value| Answer { engine: value["engine"].as_str().map(str::to_owned), value }).collect()
}

impl Answer {
    /// True if the answer names an assumption that the scenario breaks.
    pub fn starred(&self) -> bool {
        let assumptions = &self.value["summary"]["assumptions"];
        assumptions.as_array().is_some_and(|list| !list.is_empty())
    }

    /// The values of `expression`; none where a path leads nowhere.
    pub fn numbers(&self, expression: &str) -> Vec<f64> {
        let mut words = expression.split_whitespace();
        let mut result = self.term(&mut words);
        while let Some(sign) = words.next() {
            let right = self.term(&mut words);
            let of = |left: f64, right: f64| if sign == "/" { left / right } else { left * right };
            result = match (result.as_slice(), right.as_slice()) {
                (left, [right]) => left.iter().map(|left| of(*left, *right)).collect(),
                ([left], right) => right.iter().map(|right| of(*left, *right)).collect(),
                (left, right) if left.len() == right.len() => {
                    left.iter().zip(right).map(|(left, right)| of(*left, *right)).collect()
                }
                _ => Vec::new(),
            };
        }
        result
    }

    fn term<'a>(&self, words: &mut impl Iterator<Item = &'a str>) -> Vec<f64> {
        let word = words.next().unwrap_or_default();
        let fold: fn(f64, f64) -> f64 = match word {
            "sum" => |one, other| one + other,
            "max" => f64::max,
            "min" => f64::min,
            _ => return self.path(word),
        };
        let values = self.path(words.next().unwrap_or_default());
        values.into_iter().reduce(fold).into_iter().collect()
    }

    fn path(&self, path: &str) -> Vec<f64> {
        if let Ok(number) = path.parse() {
            return vec![number];
        }
        let steps: Vec<&str> = path.split('.').collect();
        let summary = &self.value["summary"];
        let found = if summary.is_null() { Vec::new() } else { walk(summary, &steps) };
        if found.is_empty() { walk(&self.value, &steps) } else { found }
    }
}

/// The numbers at the end of `steps`. A boolean is 1 or 0, a list its length.
fn walk(value: &Value, steps: &[&str]) -> Vec<f64> {
    let Some((step, rest)) = steps.split_first() else {
        return match value {
            Value::Bool(yes) => vec![f64::from(u8::from(*yes))],
            Value::Array(list) => vec![list.len() as f64],
            other => other.as_f64().into_iter().collect(),
        };
    };
    match value {
        Value::Array(items) if *step == "*" => items.iter().flat_map(|item| walk(item, rest)).collect(),
        Value::Array(items) => {
            let named = |item: &&Value| ["name", "what", "queue"].iter().any(|key| item[key] == **step);
            let item = items.iter().find(named).or_else(|| items.get(step.parse::<usize>().ok()?));
            item.map_or_else(Vec::new, |item| walk(item, rest))
        }
        Value::Object(table) => table.get(*step).map_or_else(Vec::new, |value| walk(value, rest)),
        _ => Vec::new(),
    }
}

/// The numbers in the column `name` of the table in `output`, in rows that begin with `engine`.
pub fn column(output: &str, name: &str, engine: Option<&str>) -> Vec<f64> {
    let Some((at, header)) = output.lines().enumerate().find(|(_, line)| line.contains(name)) else {
        return Vec::new();
    };
    // Columns are right-aligned: a cell ends where its header does.
    let Some(end) = header.find(name).map(|start| header[..start].chars().count() + name.chars().count())
    else {
        return Vec::new();
    };
    let rows = output.lines().skip(at + 1);
    let of_engine = rows.filter(|row| engine.is_none_or(|engine| row.trim_start().starts_with(engine)));
    of_engine
        .filter_map(|row| {
            let upto: String = row.chars().take(end).collect();
            let cell = upto.rsplit("  ").next()?.trim();
            cell.split_whitespace().next()?.parse().ok()
        })
        .collect()
}
