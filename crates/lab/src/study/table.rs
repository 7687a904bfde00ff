//! [`Table`]: columns of equal length as data. CSV is made here, Parquet in `store/columns.rs`.

use units::one_line;

/// A table: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns in their order.
    pub fields: Vec<Field>,
}

/// A column of a table with its name, unit and words.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name, which may have dots in it as keys do.
    pub name: String,
    /// Its unit; empty for texts.
    pub unit: &'static str,
    /// Its meaning in words; may be empty.
    pub words: String,
    /// Its values.
    pub column: Column,
}

impl Field {
    /// Creates a column with its name, unit and words.
    pub fn new(
        name: impl Into<String>,
        unit: &'static str,
        words: impl Into<String>,
        column: Column,
    ) -> Self {
        Self { name: name.into(), unit, words: words.into(), column }
    }
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// A number in every row.
    Required(Vec<f64>),
    /// A number, or null where it is missing.
    Number(Vec<Option<f64>>),
    /// A whole number with all its digits, or null where it is missing.
    Whole(Vec<Option<u64>>),
    /// A text in every row.
    Text(Vec<String>),
}

impl Column {
    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Required(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns true without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Inserts a row at `at`, or at the end if there are fewer: `text` in a column of texts or of whole numbers,
    /// otherwise `number`.
    pub(crate) fn insert(&mut self, at: usize, text: &str, number: Option<f64>) {
        let at = at.min(self.len());
        match self {
            Self::Text(values) => values.insert(at, text.to_owned()),
            Self::Whole(values) => values.insert(at, text.parse().ok()),
            Self::Number(values) => values.insert(at, number),
            Self::Required(values) => {
                let mut values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
                values.insert(at, number);
                *self = Self::Number(values);
            }
        }
    }
}

impl Table {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.fields.first().map_or(0, |field| field.column.len())
    }

    /// Returns the column called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Writes the table by RFC 4180, with quotes where a value needs them and an empty cell where a number is missing.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let head: Vec<String> = self.fields.iter().map(|field| quoted(&field.name)).collect();
        let mut text = head.join(",");
        text.push('\n');
        for row in 0..self.rows() {
            let cells: Vec<String> = self.fields.iter().map(|field| cell(&field.column, row)).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Required(values) => values[row].to_string(),
        Column::Number(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Column::Whole(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Column::Text(values) => quoted(&values[row]),
    }
}

/// Returns the text on one line. A text that a spreadsheet would take for a formula gets an apostrophe, which marks it
/// as text; a number with a sign does not.
fn quoted(value: &str) -> String {
    let line = one_line(value);
    let is_formula = line.starts_with(['=', '+', '-', '@']) && line.parse::<f64>().is_err();
    let text = if is_formula { format!("'{line}") } else { line.into_owned() };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
