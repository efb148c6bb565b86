//! Rows from Python: an id, the JSON form of its tree, and the rest of its entry.
//!
//! This module only detects an invalid row; `index/rows.py` makes the error.

use super::events::int;
use crate::engine::ids::labels::text_of;
use crate::engine::ids::slots::Properties;
use crate::engine::index;
use crate::engine::matching::event_json::Unfit;
use crate::language::TreeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyFloat, PyList, PyTuple};

/// Doubles hold all integers up to this exactly.
const EXACT: i64 = 1 << 53;

/// A valid row, whose tree is not checked yet.
pub struct Row {
    pub id: u64,
    properties: Properties<'static>,
    labels: String,
    tree: Json,
}

enum Json {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
}

impl Row {
    /// The JSON form of its tree.
    pub fn tree(&self) -> &[u8] {
        match &self.tree {
            Json::Bytes(bytes) => bytes,
            Json::Text(text) => text.as_bytes(),
        }
    }

    /// The row for `Index::insert_checked`.
    pub fn shared(&self) -> index::Row<'_> {
        index::Row {
            id: self.id,
            tree: self.tree(),
            properties: Properties {
                labels: &self.labels,
                ..self.properties
            },
        }
    }
}

/// The score, window, group and version of an entry, without labels.
pub fn properties(
    score: i64,
    start: Option<f64>,
    end: Option<f64>,
    group: u64,
    version: u32,
) -> Properties<'static> {
    let window = (start.is_some() || end.is_some()).then(|| {
        (
            start.unwrap_or(f64::NEG_INFINITY),
            end.unwrap_or(f64::INFINITY),
        )
    });
    Properties {
        score,
        window,
        group,
        version,
        labels: "",
    }
}

/// All rows of a list, or the error of the first invalid one.
pub fn read_all(py: Python, rows: &Bound<PyList>) -> PyResult<Vec<Row>> {
    let mut read = Vec::with_capacity(rows.len());
    for (position, row) in rows.iter().enumerate() {
        match read_row(&row) {
            Ok(row) => read.push(row),
            Err(Unfit) => {
                let check = py.import("index.rows")?.getattr("check_row")?;
                check.call1((position, row))?;
                return Err(PyValueError::new_err(format!(
                    "row {position} cannot be read"
                )));
            }
        }
    }
    Ok(read)
}

fn read_row(row: &Bound<PyAny>) -> Result<Row, Unfit> {
    let Ok(row) = row.cast::<PyTuple>() else {
        let items: Vec<Bound<PyAny>> = row
            .try_iter()
            .and_then(Iterator::collect)
            .map_err(|_| Unfit)?;
        return read_items(items.len(), items.into_iter());
    };
    read_items(row.len(), row.iter())
}

fn read_items<'py>(
    len: usize,
    mut items: impl Iterator<Item = Bound<'py, PyAny>>,
) -> Result<Row, Unfit> {
    let (Some(id), Some(tree)) = (items.next(), items.next()) else {
        return Err(Unfit);
    };
    if len > 8 {
        return Err(Unfit);
    }
    let score = items.next().map_or(Ok(0), |score| int(&score))?;
    let start = items.next().map_or(Ok(None), |start| moment(&start))?;
    let end = items.next().map_or(Ok(None), |end| moment(&end))?;
    if let (Some(start), Some(end)) = (start, end)
        && start >= end
    {
        return Err(Unfit);
    }
    let group = items.next().map_or(Ok(0), |group| natural(&group))?;
    let version = items.next().map_or(Ok(0), |version| natural(&version))?;
    let version = u32::try_from(version).map_err(|_| Unfit)?;
    let labels = items
        .next()
        .map_or(Ok(String::new()), |some| labels(&some))?;
    Ok(Row {
        id: natural(&id)?,
        tree: json(&tree)?,
        properties: properties(score, start, end, group, version),
        labels,
    })
}

/// The text of a set of labels, given as a list or a tuple.
pub fn labels(value: &Bound<PyAny>) -> Result<String, Unfit> {
    if !value.is_instance_of::<PyTuple>() && !value.is_instance_of::<PyList>() {
        return Err(Unfit);
    }
    let labels: Vec<PyBackedStr> = value.extract().map_err(|_| Unfit)?;
    let is_label = |label: &PyBackedStr| !label.is_empty() && !label.contains('\n');
    let fit = labels.iter().all(is_label);
    fit.then(|| text_of(&labels)).ok_or(Unfit)
}

/// An integer from 0 to 2^63 - 1.
fn natural(value: &Bound<PyAny>) -> Result<u64, Unfit> {
    u64::try_from(int(value)?).map_err(|_| Unfit)
}

/// A number of epoch seconds, or `None`.
fn moment(value: &Bound<PyAny>) -> Result<Option<f64>, Unfit> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let float = float.value();
        return float.is_finite().then_some(Some(float)).ok_or(Unfit);
    }
    let int = int(value)?;
    (-EXACT..=EXACT)
        .contains(&int)
        .then_some(Some(int as f64))
        .ok_or(Unfit)
}

fn json(value: &Bound<PyAny>) -> Result<Json, Unfit> {
    if let Ok(bytes) = value.extract::<PyBackedBytes>() {
        return Ok(Json::Bytes(bytes));
    }
    value
        .extract::<PyBackedStr>()
        .map(Json::Text)
        .map_err(|_| Unfit)
}

/// A pair of an id and a version.
pub fn read_pair(py: Python, pair: &Bound<PyAny>) -> PyResult<(u64, u32)> {
    if let Ok((id, version)) = pair.extract::<(Bound<PyAny>, Bound<PyAny>)>()
        && let (Ok(id), Ok(version)) = (natural(&id), natural(&version))
        && let Ok(version) = u32::try_from(version)
    {
        return Ok((id, version));
    }
    let check = py.import("index.digest")?.getattr("check_pair")?;
    check.call1((pair,))?.extract()
}

/// The Python exception for bytes that are not a checked tree.
pub fn tree_error(py: Python, error: &TreeError) -> PyErr {
    let made = py
        .import("index.language.errors")
        .and_then(|module| module.getattr("TreeError"))
        .and_then(|class| class.call1((error.code, &error.message, &error.pointer)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The Python exception for a row with an invalid tree.
pub fn row_error(py: Python, position: usize, rows: &[Row], error: &TreeError) -> PyErr {
    let problem = tree_error(py, error);
    let made = py
        .import("index.rows")
        .and_then(|module| module.getattr("RowError"))
        .and_then(|class| class.call1((position, rows[position].id, problem.value(py))));
    match made {
        Ok(made) => {
            let made = PyErr::from_value(made);
            made.set_cause(py, Some(problem));
            made
        }
        Err(error) => error,
    }
}
