//! A column of a table, whatever file it is written to.

/// A column of a table with its name and unit.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, which may have dots in it as keys do.
    pub name: String,
    /// Its unit; empty for texts.
    pub unit: &'static str,
    /// Its values.
    pub column: Column,
}

impl Field {
    /// Creates a column with its name and unit.
    pub fn new(name: impl Into<String>, unit: &'static str, column: Column) -> Self {
        Self { name: name.into(), unit, column }
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
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
