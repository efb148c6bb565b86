//! The Python module `index._native`. Only this file and those in `py/` know Python.
//!
//! `index/_native.pyi` is its contract; `make lint` compares the two. Everything slow releases the
//! GIL. Strings that leave here are JSON; the Python side parses them.

mod events;
mod query;
mod rows;

use pyo3::prelude::*;

/// The native core of the matching index.
#[pymodule]
mod _native {
    use super::query::Query;
    use super::rows::{self, Row, tree_error};
    use crate::engine::core::Core;
    use crate::engine::expression::literal_word::MAX_ATTRIBUTES;
    use crate::engine::ids::slots::Properties;
    use crate::engine::ids::{digest, score};
    use crate::engine::index::Index as Shared;
    use crate::engine::matching::filter::Filter;
    use crate::engine::memory::write_lock::thread_ns;
    use crate::engine::{report, snapshot};
    use crate::language::{Limits, Schema, Type};
    use parking_lot::Mutex;
    use pyo3::exceptions::{PyAssertionError, PyKeyError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use pyo3::types::PyList;
    use std::path::PathBuf;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = crate::VERSION;

    /// The number of lower bits of a score that are the bid.
    #[pymodule_export]
    const BID_BITS: u32 = score::BID_BITS;

    #[pymodule_export]
    use super::query::Matches;

    /// The number of rows inserted between two calls of the progress callback.
    const PORTION: usize = 10_000;
    /// How often the clock is read to find out how long that takes.
    const FLOORS: usize = 20;

    /// An index of expressions in JSON form, for any number of threads.
    #[pyclass(frozen, module = "index._native")]
    pub(super) struct Index {
        pub(super) shared: Shared,
        /// The Python schema, to check unusual events with.
        pub(super) schema: Mutex<Py<PyAny>>,
    }

    #[pymethods]
    impl Index {
        #[new]
        fn new(
            schema: Py<PyAny>,
            attributes: Vec<(String, String)>,
            predicates: usize,
            depth: usize,
            set_values: usize,
            keep_trees: bool,
        ) -> PyResult<Self> {
            let limits = Limits {
                predicates,
                depth,
                set_values,
            };
            let declared = read_schema(&attributes)?;
            Ok(Index {
                shared: Shared::new(declared, limits, keep_trees),
                schema: Mutex::new(schema),
            })
        }

        /// Insert or replace an expression, given as the JSON form of its checked tree.
        #[pyo3(signature = (id, tree, score=0, start=None, end=None, group=0, version=0, labels=None))]
        #[allow(clippy::too_many_arguments)] // as Python passes them
        fn insert(
            &self,
            py: Python,
            id: u64,
            tree: &[u8],
            score: i64,
            start: Option<f64>,
            end: Option<f64>,
            group: u64,
            version: u32,
            labels: Option<&Bound<PyAny>>,
        ) -> PyResult<()> {
            let labels = labels.map_or(Ok(String::new()), rows::labels);
            let labels = labels.map_err(|_| PyValueError::new_err("labels are texts"))?;
            let properties = Properties {
                labels: &labels,
                ..rows::properties(score, start, end, group, version)
            };
            py.detach(|| self.shared.insert(id, tree, properties))
                .map_err(|error| tree_error(py, &error))
        }

        /// Insert many rows: all of them, or none if one is invalid.
        #[pyo3(signature = (rows, progress=None))]
        fn insert_many(
            &self,
            py: Python,
            rows: &Bound<PyList>,
            progress: Option<&Bound<PyAny>>,
        ) -> PyResult<()> {
            let rows: Vec<Row> = rows::read_all(py, rows)?;
            let checked = py
                .detach(|| self.shared.check_many(rows.iter().map(Row::tree)))
                .map_err(|(place, error)| rows::row_error(py, place, &rows, &error))?;
            let mut done = 0;
            for portion in rows.chunks(PORTION) {
                let portion: Vec<_> = portion.iter().map(Row::shared).collect();
                py.detach(|| self.shared.insert_checked(&portion, &checked, done))
                    .map_err(|(place, error)| rows::row_error(py, done + place, &rows, &error))?;
                done += portion.len();
                if let Some(progress) = progress {
                    progress.call1((done, rows.len()))?;
                }
            }
            Ok(())
        }

        /// Remove an expression. Returns whether it was there.
        fn remove(&self, py: Python, id: u64) -> bool {
            py.detach(|| self.shared.remove(id))
        }

        /// Keep the ids of a group from matching until it is unmuted. Returns whether that is new.
        fn mute(&self, py: Python, group: u64) -> bool {
            py.detach(|| self.shared.mute(group))
        }

        /// Let the ids of a group match again. Returns whether the group was muted.
        fn unmute(&self, py: Python, group: u64) -> bool {
            py.detach(|| self.shared.unmute(group))
        }

        /// The muted groups, ascending.
        fn muted(&self) -> Vec<u64> {
            self.shared.read(|core| core.slots.groups().muted())
        }

        /// A digest of all ids and their versions.
        fn digest(&self) -> u64 {
            self.shared.read(|core| core.slots.digest())
        }

        /// Declare one more attribute; `schema` includes it.
        fn add_attribute(
            &self,
            py: Python,
            name: &str,
            kind: &str,
            schema: Py<PyAny>,
        ) -> PyResult<()> {
            let kind = read_type(kind)?;
            // An attribute of strings takes two numbers.
            if self.shared.read(|core| core.schema.len()) + 2 > MAX_ATTRIBUTES {
                return Err(too_many_attributes());
            }
            py.detach(|| self.shared.add_attribute(name, kind))
                .map_err(|_| PyValueError::new_err(format!("the attribute {name} is declared")))?;
            // Drop the old one after the lock is released: that may run Python code.
            let _old = std::mem::replace(&mut *self.schema.lock(), schema);
            Ok(())
        }

        /// The matches of an event, a dictionary or JSON, that a query asks for, or all. Reading
        /// the fields of a query takes 0.1 µs.
        #[pyo3(signature = (event, query=None))]
        fn ask(&self, py: Python, event: &Bound<PyAny>, query: Option<Query>) -> PyResult<Matches> {
            self.matches(py, event, query.unwrap_or_default())
        }

        /// For each event: CPU nanoseconds of the match, number of matches, postings read; with a
        /// limit, of the best matches only.
        #[pyo3(signature = (events, limit = None))]
        fn time_matches(
            &self,
            py: Python,
            events: Vec<PyBackedBytes>,
            limit: Option<usize>,
        ) -> PyResult<(Vec<u64>, Vec<usize>, Vec<u64>)> {
            let (mut out, mut best, filter) = (Vec::new(), Vec::new(), Filter::default());
            let (mut times, mut counts, mut touched) = (Vec::new(), Vec::new(), Vec::new());
            // The clock itself takes longer than a small match.
            let floor = (0..FLOORS).map(|_| thread_ns().abs_diff(thread_ns())).min();
            for event in &events {
                let asked = py.detach(|| {
                    self.shared.ask(
                        |core, scratch| self.shared.fill_json(core, scratch, event),
                        |core, scratch| {
                            let started = thread_ns();
                            match limit {
                                None => core.matches(scratch, &filter, &mut out),
                                Some(limit) => core.best(scratch, &filter, limit, &mut best),
                            }
                            (thread_ns() - started, scratch.touched)
                        },
                    )
                });
                let (time, postings) =
                    asked.map_err(|_| PyValueError::new_err("the event cannot be read"))?;
                times.push(time.saturating_sub(floor.unwrap_or(0)));
                touched.push(postings);
                counts.push(out.len().max(best.len()));
            }
            Ok((times, counts, touched))
        }

        /// The JSON form of an expression's tree as written; `None` if the index does not keep it.
        fn tree(&self, id: u64) -> Option<String> {
            self.shared.tree(id)
        }

        /// The group and the version of an id; zeros if it is unknown.
        fn origin(&self, id: u64) -> (u64, u32) {
            self.shared.read(|core| {
                core.slots.find(id).map_or((0, 0), |slot| {
                    let properties = core.slots.properties(slot);
                    (properties.group, properties.version)
                })
            })
        }

        /// The labels of an id, in order.
        fn labels(&self, id: u64) -> Vec<String> {
            self.shared.read(|core| {
                let slot = core.slots.find(id);
                let text = slot.map_or("", |slot| core.slots.properties(slot).labels);
                text.split_terminator('\n').map(str::to_owned).collect()
            })
        }

        /// The normal form of a tree in JSON form, as JSON.
        fn normal_form(&self, py: Python, tree: &[u8]) -> PyResult<String> {
            py.detach(|| self.shared.normal_form(tree))
                .map_err(|error| tree_error(py, &error))
        }

        /// How the index will look for an expression, as JSON.
        fn plan(&self, id: u64) -> PyResult<String> {
            self.shared
                .read(|core| report::plan(core, id))
                .ok_or_else(|| PyKeyError::new_err(format!("there is no expression {id}")))
        }

        /// What the index holds, as JSON.
        fn stats(&self, py: Python) -> String {
            py.detach(|| report::stats(&self.shared))
        }

        /// The cheap part of `stats`, which reads no expression, as JSON.
        fn usage(&self, py: Python) -> String {
            py.detach(|| report::usage(&self.shared))
        }

        /// The programs of some ids as a Graphviz graph.
        fn to_dot(&self, limit: usize) -> String {
            self.shared.read(|core| report::to_dot(core, limit))
        }

        /// Plan everything again by these statistics (JSON), or without.
        fn use_statistics(&self, py: Python, statistics: Option<&[u8]>) -> PyResult<()> {
            py.detach(|| self.shared.use_statistics(statistics))
                .map_err(|error| PyValueError::new_err(format!("invalid statistics: {}", error.0)))
        }

        /// Switch one of the core's optimisations off or on, for benchmarks.
        fn tune(&self, py: Python, name: &str, value: u32) -> PyResult<()> {
            py.detach(|| self.shared.tune(name, value))
                .map_err(|error| PyValueError::new_err(error.to_string()))
        }

        /// Plan everything again by the events that the index has sampled.
        #[pyo3(signature = (progress=None))]
        fn replan(&self, py: Python, progress: Option<Py<PyAny>>) -> PyResult<()> {
            let mut result = Ok(());
            py.detach(|| {
                self.shared.replan(|done, total| {
                    if let Some(progress) = &progress {
                        result = Python::attach(|py| progress.call1(py, (done, total))).map(drop);
                    }
                    result.is_ok()
                });
            });
            result
        }

        /// How many events are sampled, by how many everything was planned, and the drift since.
        fn sampled(&self, py: Python) -> (usize, usize, f32) {
            py.detach(|| self.shared.sampled())
        }

        /// The longest time in nanoseconds that an update blocked matching, since the last call.
        fn take_longest_update_ns(&self) -> u64 {
            let longest = self.shared.longest_update_ns();
            self.shared.reset_longest();
            longest
        }

        /// Write the index to a file.
        fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
            py.detach(|| snapshot::save(&self.shared, &path))
                .map_err(|error| PyValueError::new_err(error.to_string()))
        }

        /// Load a file that `save` wrote into this index, which must be empty.
        fn load(&self, py: Python, path: PathBuf) -> PyResult<()> {
            py.detach(|| snapshot::load(&self.shared, &path))
                .map_err(|error| PyValueError::new_err(error.to_string()))
        }

        /// All ids that are multiples of a number, ascending.
        #[pyo3(signature = (multiples_of=1))]
        fn ids(&self, py: Python, multiples_of: u64) -> Vec<u64> {
            py.detach(|| {
                self.shared.read(|core| {
                    let ids = core.slots.taken().map(|slot| core.slots.id(slot));
                    let mut ids: Vec<u64> =
                        ids.filter(|id| id.is_multiple_of(multiples_of)).collect();
                    ids.sort_unstable();
                    ids
                })
            })
        }

        fn check_invariants(&self, py: Python) -> PyResult<()> {
            py.detach(|| self.shared.read(Core::check_invariants))
                .map_err(PyAssertionError::new_err)
        }

        fn __len__(&self) -> usize {
            self.shared.read(|core| core.slots.len())
        }

        fn __contains__(&self, id: u64) -> bool {
            self.shared.read(|core| core.slots.find(id).is_some())
        }
    }

    /// A text without upper and lower case, as `ignoring case` compares it.
    #[pyfunction]
    fn fold(text: &str) -> String {
        crate::language::folding::fold(text)
    }

    /// The digest of an index that holds these pairs of an id and a version.
    #[pyfunction]
    fn digest_of(py: Python, pairs: &Bound<PyAny>) -> PyResult<u64> {
        let mut sum = 0u64;
        for pair in pairs.try_iter()? {
            let (id, version) = rows::read_pair(py, &pair?)?;
            sum = sum.wrapping_add(digest::term(id, version));
        }
        Ok(sum)
    }

    fn too_many_attributes() -> PyErr {
        PyValueError::new_err(
            "an index takes at most 65,536 attributes, where one of strings counts twice",
        )
    }

    fn read_type(name: &str) -> PyResult<Type> {
        Type::from_name(name)
            .ok_or_else(|| PyValueError::new_err(format!("unknown attribute type: {name}")))
    }

    fn read_schema(attributes: &[(String, String)]) -> PyResult<Schema> {
        let mut declared = Vec::with_capacity(attributes.len());
        for (name, kind) in attributes {
            declared.push((name.as_str(), read_type(kind)?));
        }
        let schema = Schema::new(declared).map_err(|repeated| {
            PyValueError::new_err(format!("the attribute {} is declared twice", repeated.name))
        })?;
        if schema.len() > MAX_ATTRIBUTES {
            return Err(too_many_attributes());
        }
        Ok(schema)
    }
}
