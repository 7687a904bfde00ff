//! [`Frame`]: a table for Python, which other libraries read as an Arrow stream.

use crate::errors::{nearest, no_such_key, wrong};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema};
use cli::metric::{Unit, described};
use cli::table::{Column, Field, Table};
use cli::units::Complaint;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::sync::Arc;

/// A table: columns of equal length with their units.
#[pyclass(frozen, module = "tightlink._native")]
#[derive(Clone)]
pub(crate) struct Frame(pub(crate) Arc<Table>);

/// A column as pickles have it: name, unit, words, kind, values.
type Pickled = (String, String, String, String, Py<PyList>);

/// The units that columns may have. A table refers to these texts, which are static.
const UNITS: [&str; 10] = ["", "1", "s", "ms", "B", "bit/s", "packets", "packets/s", "segments", "bdp"];

impl From<Table> for Frame {
    fn from(table: Table) -> Self {
        Self(Arc::new(table))
    }
}

#[pymethods]
impl Frame {
    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.fields.iter().map(|field| field.name.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }

    /// Returns the values of a column: float, int, str, or None where a number is missing.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        values(py, self.field(py, name)?)
    }

    /// Returns the numbers of a column as bytes of 64-bit floats, or of unsigned 64-bit integers, in the order of this
    /// machine. A missing number is NaN, or 0.
    fn buffer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Vec<u8> = match &self.field(py, name)?.column {
            Column::Required(values) => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
            Column::Number(values) => {
                values.iter().flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()).collect()
            }
            Column::Whole(values) => {
                values.iter().flat_map(|value| value.unwrap_or(0).to_ne_bytes()).collect()
            }
            Column::Text(_) => {
                let complaint = Complaint::new(name, "a column of texts");
                return Err(wrong(py, complaint.accepted("a column of numbers")));
            }
        };
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns "float", "int" (unsigned, 64 bits) or "str".
    fn kind(&self, py: Python<'_>, name: &str) -> PyResult<&'static str> {
        Ok(match self.field(py, name)?.column {
            Column::Required(_) | Column::Number(_) => "float",
            Column::Whole(_) => "int",
            Column::Text(_) => "str",
        })
    }

    /// Returns the unit of a column: "bit/s", "s", "1"; "" for texts.
    fn unit(&self, py: Python<'_>, name: &str) -> PyResult<&'static str> {
        Ok(self.field(py, name)?.unit)
    }

    /// Returns the meaning of a column in words.
    fn words(&self, py: Python<'_>, name: &str) -> PyResult<&str> {
        Ok(&self.field(py, name)?.words)
    }

    /// Returns the unit for readers, and the factor to it: ("Mbit/s", 1e-6).
    fn shown(&self, py: Python<'_>, name: &str) -> PyResult<(&'static str, f64)> {
        let field = self.field(py, name)?;
        let of_metric = described(name).map(|(metric, _)| metric.unit);
        let unit = of_metric.or(match field.unit {
            "bit/s" => Some(Unit::BitRate),
            "s" if name != "t_s" => Some(Unit::Delay),
            "B" => Some(Unit::Bytes),
            "1" if name.ends_with("_share") => Some(Unit::Share),
            _ => None,
        });
        Ok(match (unit, field.unit) {
            (Some(unit), _) => (unit.shown(), unit.scale()),
            (None, "1") => ("", 1.0),
            (None, unit) => (unit, 1.0),
        })
    }

    /// Returns the table as CSV, as `tightlink sweep` writes it.
    fn to_csv(&self) -> String {
        self.0.to_csv()
    }

    /// Returns the columns as lists by their names.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for field in &self.0.fields {
            dict.set_item(&field.name, values(py, field)?)?;
        }
        Ok(dict)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&schema(&self.0)).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The requested types are ignored, which the Arrow interface allows.
        let _ = requested_schema;
        let schema = Arc::new(schema(&self.0));
        let columns = self.0.fields.iter().map(|field| array(&field.column)).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(broken)?;
        let batches = RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// Makes a frame of columns: name, unit, words, kind and values of each.
    #[staticmethod]
    fn restored(py: Python<'_>, columns: Vec<Pickled>) -> PyResult<Self> {
        let field = |(name, unit, words, kind, values): Pickled| {
            let values = values.bind(py);
            let column = match kind.as_str() {
                "required" => Column::Required(values.extract()?),
                "float" => Column::Number(values.extract()?),
                "int" => Column::Whole(values.extract()?),
                _ => Column::Text(values.extract()?),
            };
            let unit = UNITS.into_iter().find(|known| *known == unit);
            let unit =
                unit.ok_or_else(|| wrong(py, Complaint::new(&name, "a column with an unknown unit")))?;
            Ok(Field::new(name, unit, words, column))
        };
        let fields = columns.into_iter().map(field).collect::<PyResult<Vec<_>>>()?;
        let rows = fields.first().map_or(0, |field| field.column.len());
        if let Some(field) = fields.iter().find(|field| field.column.len() != rows) {
            let found = format!("{} rows, and the first column has {rows}", field.column.len());
            return Err(wrong(py, Complaint::new(&field.name, found).accepted("columns of equal length")));
        }
        Ok(Table { fields }.into())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Vec<Pickled>,))> {
        let py = slf.py();
        let pickled = |field: &Field| {
            let kind = match field.column {
                Column::Required(_) => "required",
                Column::Number(_) => "float",
                Column::Whole(_) => "int",
                Column::Text(_) => "str",
            };
            let (name, words) = (field.name.clone(), field.words.clone());
            Ok((name, field.unit.to_owned(), words, kind.to_owned(), values(py, field)?.unbind()))
        };
        let columns = slf.get().0.fields.iter().map(pickled).collect::<PyResult<_>>()?;
        Ok((slf.get_type().getattr("restored")?, (columns,)))
    }

    fn __repr__(&self) -> String {
        format!("<Frame of {} rows, {} columns>", self.0.rows(), self.0.fields.len())
    }
}

impl Frame {
    fn field(&self, py: Python<'_>, name: &str) -> PyResult<&Field> {
        self.0.field(name).ok_or_else(|| {
            let complaint = Complaint::new(name, "no column has this name");
            no_such_key(py, nearest(complaint, name, self.0.fields.iter().map(|field| &*field.name)))
        })
    }
}

fn values<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyList>> {
    match &field.column {
        Column::Required(values) => PyList::new(py, values),
        Column::Number(values) => PyList::new(py, values),
        Column::Whole(values) => PyList::new(py, values),
        Column::Text(values) => PyList::new(py, values),
    }
}

fn schema(table: &Table) -> Schema {
    let field = |field: &Field| {
        let (kind, nullable) = match field.column {
            Column::Required(_) => (DataType::Float64, false),
            Column::Number(_) => (DataType::Float64, true),
            Column::Whole(_) => (DataType::UInt64, true),
            Column::Text(_) => (DataType::Utf8, false),
        };
        let metadata = [("unit", field.unit), ("words", &field.words)];
        let metadata = metadata.into_iter().filter(|(_, text)| !text.is_empty());
        let metadata: HashMap<String, String> =
            metadata.map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
        ArrowField::new(&field.name, kind, nullable).with_metadata(metadata)
    };
    Schema::new(table.fields.iter().map(field).collect::<Vec<_>>())
}

fn array(column: &Column) -> ArrayRef {
    match column {
        Column::Required(values) => Arc::new(Float64Array::from(values.clone())),
        Column::Number(values) => Arc::new(Float64Array::from(values.clone())),
        Column::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
        Column::Text(values) => Arc::new(StringArray::from_iter_values(values)),
    }
}

fn broken(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
