//! The Python module `index._native`: the only file of the crate that knows Python.
//!
//! `index/_native.pyi` is its contract; `make lint` holds the two together. Everything that takes
//! longer than a moment lets the GIL go. What leaves here as text is JSON: the Python side makes
//! dictionaries of it where somebody asked for them.

use pyo3::prelude::*;

/// The native core of the matching index.
#[pymodule]
mod _native {
    use crate::engine::core::Core;
    use crate::engine::event_json::{EventError, EventProblem};
    use crate::engine::index::{Beside, Index as Shared};
    use crate::engine::search::Scratch;
    use crate::engine::{report, snapshot};
    use crate::language::{Limits, Schema, TreeError, Type};
    use pyo3::exceptions::{PyAssertionError, PyKeyError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyString, PyTuple};
    use std::path::PathBuf;
    use std::time::Instant;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = crate::VERSION;

    type Item = (u64, PyBackedBytes, i64, Option<f64>, Option<f64>);

    /// An index of expressions in JSON form, for any number of threads.
    #[pyclass(frozen, module = "index._native")]
    struct Index {
        shared: Shared,
        schema: Py<PyAny>,
    }

    fn beside(score: i64, start: Option<f64>, end: Option<f64>) -> Beside {
        let window = (start.is_some() || end.is_some()).then(|| {
            (
                start.unwrap_or(f64::NEG_INFINITY),
                end.unwrap_or(f64::INFINITY),
            )
        });
        Beside { score, window }
    }

    fn tree_error(py: Python, error: &TreeError) -> PyErr {
        let made = py
            .import("index.language.errors")
            .and_then(|module| module.getattr("TreeError"))
            .and_then(|class| class.call1((error.code, &error.message, &error.pointer)));
        match made {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }

    fn event_error(py: Python, error: EventError) -> PyErr {
        let problems = match error {
            EventError::Problems(problems) => problems,
            EventError::Json(reason) => vec![EventProblem {
                attribute: String::new(),
                code: "event.json",
                message: format!("this is not JSON: {reason}"),
                element: None,
            }],
            EventError::Shape(got) => vec![EventProblem {
                attribute: String::new(),
                code: "event.shape",
                message: format!("an event is an object of attributes, not {got}"),
                element: None,
            }],
        };
        let make = || -> PyResult<Bound<PyAny>> {
            let module = py.import("index.event")?;
            let class = module.getattr("EventProblem")?;
            let list = PyList::empty(py);
            for p in problems {
                list.append(class.call1((p.attribute, p.code, p.message, p.element))?)?;
            }
            module.getattr("EventError")?.call1((list,))
        };
        match make() {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }

    /// A value of a dictionary does not fit; the Python side knows how to say it.
    struct Unfit;

    fn set_value(
        core: &Core,
        scratch: &mut Scratch,
        attribute: u32,
        value: &Bound<PyAny>,
        checked: bool,
    ) -> Result<(), Unfit> {
        let event = &mut scratch.event;
        let strings = core.long.strings();
        match core.types[attribute as usize] {
            Type::Bool => {
                let value = value.cast::<PyBool>().map_err(|_| Unfit)?;
                event.set_bool(attribute, value.is_true());
            }
            Type::Int => event.set_int(attribute, int(value)?),
            Type::Float => event.set_float(attribute, float(value)?),
            Type::Str => event.set_text(attribute, text(value)?, strings),
            kind => {
                let start = event.begin_list();
                let elements: Vec<Bound<PyAny>> = if let Ok(list) = value.cast::<PyList>() {
                    list.iter().collect()
                } else if let Ok(tuple) = value.cast::<PyTuple>() {
                    tuple.iter().collect()
                } else if checked && let Ok(set) = value.cast::<PyFrozenSet>() {
                    set.iter().collect() // what `check_event` makes of a list
                } else {
                    return Err(Unfit);
                };
                for element in &elements {
                    if kind == Type::IntList {
                        event.push_int(int(element)?);
                    } else {
                        event.push_text(text(element)?, strings);
                    }
                }
                event.end_list(attribute, start, elements.len());
            }
        }
        Ok(())
    }

    fn int(value: &Bound<PyAny>) -> Result<i64, Unfit> {
        if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
            return Err(Unfit);
        }
        value.extract().map_err(|_| Unfit)
    }

    fn float(value: &Bound<PyAny>) -> Result<f64, Unfit> {
        if let Ok(float) = value.cast::<PyFloat>() {
            let float = float.value();
            return if float.is_finite() {
                Ok(float)
            } else {
                Err(Unfit)
            };
        }
        let int = int(value)?;
        let double = int as f64;
        // The largest doubles below 2^63 are exact integers; 2^63 itself would saturate.
        if double as i64 == int && double < 9.2e18 && double > -9.3e18 {
            Ok(double)
        } else {
            Err(Unfit)
        }
    }

    fn text<'a>(value: &'a Bound<PyAny>) -> Result<&'a str, Unfit> {
        let text = value.cast::<PyString>().map_err(|_| Unfit)?;
        let text = text.to_str().map_err(|_| Unfit)?;
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err(Unfit);
        }
        Ok(text)
    }

    fn fill_dict(
        shared: &Shared,
        core: &Core,
        scratch: &mut Scratch,
        event: &Bound<PyAny>,
        checked: bool,
    ) -> Result<(), Unfit> {
        let event = event.cast::<PyDict>().map_err(|_| Unfit)?;
        let mut unknown = Vec::new();
        for (name, value) in event {
            let name = name.cast::<PyString>().map_err(|_| Unfit)?;
            match name.to_str().ok().and_then(|name| core.schema.attr(name)) {
                Some(attribute) if value.is_none() => scratch.event.unset(attribute),
                Some(attribute) => set_value(core, scratch, attribute, &value, checked)?,
                None => unknown.push(name.to_string_lossy().into_owned()),
            }
        }
        if !unknown.is_empty() {
            shared.count_unknown(unknown);
        }
        Ok(())
    }

    impl Index {
        /// Match an event given as a dictionary; `take` runs without the GIL, and lets the index go
        /// before it asks for the GIL again.
        fn ask_dict<T: Send>(
            &self,
            py: Python,
            event: &Bound<PyAny>,
            take: impl FnOnce(&Core, &mut Scratch) -> T + Send,
        ) -> PyResult<T> {
            let mut question = self.shared.question();
            let filled = fill_dict(
                &self.shared,
                &question.core,
                &mut question.scratch,
                event,
                false,
            );
            if filled.is_ok() {
                return Ok(py.detach(|| question.answer(take)));
            }
            // Python code must not run while a question is held.
            py.detach(|| drop(question));
            let checked = self.check_event(py, event)?;
            let mut question = self.shared.question();
            match fill_dict(
                &self.shared,
                &question.core,
                &mut question.scratch,
                &checked,
                true,
            ) {
                Ok(()) => Ok(py.detach(|| question.answer(take))),
                Err(Unfit) => Err(PyValueError::new_err("the event cannot be read")),
            }
        }

        /// What Python makes of an event that is unusual or wrong: it knows all the rules, and how
        /// to say which is broken.
        fn check_event<'py>(
            &self,
            py: Python<'py>,
            event: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let check = py.import("index.event")?.getattr("check_event")?;
            let checked = check.call1((event, &self.schema))?;
            let unknown: Vec<String> = checked.get_item(1)?.extract()?;
            self.shared.count_unknown(unknown);
            checked.get_item(0)
        }

        fn ask_json<T: Send>(
            &self,
            py: Python,
            json: &[u8],
            extra: Option<&Bound<PyDict>>,
            take: impl FnOnce(&Core, &mut Scratch) -> T + Send,
        ) -> PyResult<T> {
            let shared = &self.shared;
            let mut question = shared.question();
            let read = shared.fill_json(&question.core, &mut question.scratch, json);
            if let Err(error) = read {
                py.detach(|| drop(question));
                return Err(event_error(py, error));
            }
            if let Some(extra) = extra
                && fill_dict(shared, &question.core, &mut question.scratch, extra, false).is_err()
            {
                py.detach(|| drop(question));
                self.check_event(py, extra)?;
                return Err(PyValueError::new_err("the extra attributes cannot be read"));
            }
            Ok(py.detach(|| question.answer(take)))
        }
    }

    fn ids_and_total((out, total): (Vec<(i64, u64)>, usize)) -> (Vec<u64>, usize) {
        (out.into_iter().map(|(_, id)| id).collect(), total)
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
                schema,
            })
        }

        /// Insert or replace an expression, given as the JSON form of its checked tree.
        fn insert(
            &self,
            py: Python,
            id: u64,
            tree: &[u8],
            score: i64,
            start: Option<f64>,
            end: Option<f64>,
        ) -> PyResult<()> {
            let beside = beside(score, start, end);
            py.detach(|| self.shared.insert(id, tree, beside))
                .map_err(|error| tree_error(py, &error))
        }

        /// Insert many: all, or none if one is no checked tree.
        fn insert_many(&self, py: Python, items: Vec<Item>) -> PyResult<()> {
            py.detach(|| -> Result<(), TreeError> {
                for item in &items {
                    self.shared.check(&item.1)?;
                }
                let items = items.iter().map(|(id, tree, score, start, end)| {
                    (*id, &**tree, beside(*score, *start, *end))
                });
                self.shared
                    .insert_many(items)
                    .map(|_| ())
                    .map_err(|(_, error)| error)
            })
            .map_err(|error| tree_error(py, &error))
        }

        /// Remove an expression; whether it was there.
        fn remove(&self, py: Python, id: u64) -> bool {
            py.detach(|| self.shared.remove(id))
        }

        /// Declare one more attribute.
        fn add_attribute(&self, py: Python, name: &str, kind: &str) -> PyResult<()> {
            let kind = read_type(kind)?;
            py.detach(|| self.shared.add_attribute(name, kind))
                .map_err(|_| PyValueError::new_err(format!("the attribute {name} is declared")))
        }

        /// The ids that an event matches, ascending.
        #[pyo3(name = "match")]
        fn match_(&self, py: Python, event: &Bound<PyAny>, at: Option<f64>) -> PyResult<Vec<u64>> {
            self.ask_dict(py, event, move |core, scratch| {
                let mut out = Vec::new();
                core.matches(scratch, at, &mut out);
                out
            })
        }

        /// The best matches of an event, and how many there are in all.
        fn top(
            &self,
            py: Python,
            event: &Bound<PyAny>,
            limit: usize,
            at: Option<f64>,
        ) -> PyResult<(Vec<u64>, usize)> {
            self.ask_dict(py, event, move |core, scratch| {
                let mut out = Vec::new();
                let total = core.top(scratch, at, limit, &mut out);
                (out, total)
            })
            .map(ids_and_total)
        }

        /// The ids that an event matches, from the JSON of its attributes.
        fn match_json(
            &self,
            py: Python,
            event: &[u8],
            at: Option<f64>,
            extra: Option<&Bound<PyDict>>,
        ) -> PyResult<Vec<u64>> {
            self.ask_json(py, event, extra, move |core, scratch| {
                let mut out = Vec::new();
                core.matches(scratch, at, &mut out);
                out
            })
        }

        /// The best matches of an event, from the JSON of its attributes.
        fn top_json(
            &self,
            py: Python,
            event: &[u8],
            limit: usize,
            at: Option<f64>,
            extra: Option<&Bound<PyDict>>,
        ) -> PyResult<(Vec<u64>, usize)> {
            self.ask_json(py, event, extra, move |core, scratch| {
                let mut out = Vec::new();
                let total = core.top(scratch, at, limit, &mut out);
                (out, total)
            })
            .map(ids_and_total)
        }

        /// Nanoseconds of each match into a reused buffer, the ids of each, and the postings that
        /// each touched.
        fn time_matches(
            &self,
            py: Python,
            events: Vec<PyBackedBytes>,
        ) -> PyResult<(Vec<u64>, Vec<usize>, Vec<u64>)> {
            let mut out = Vec::new();
            let (mut times, mut counts, mut touched) = (Vec::new(), Vec::new(), Vec::new());
            for event in &events {
                let asked = py.detach(|| {
                    self.shared.ask(
                        |core, scratch| self.shared.fill_json(core, scratch, event),
                        |core, scratch| {
                            let started = Instant::now();
                            core.matches(scratch, None, &mut out);
                            (started.elapsed().as_nanos() as u64, scratch.touched)
                        },
                    )
                });
                let (time, postings) = asked.map_err(|error| event_error(py, error))?;
                times.push(time);
                touched.push(postings);
                counts.push(out.len());
            }
            Ok((times, counts, touched))
        }

        /// The JSON form of an expression's tree as it was written; `None` if it is not kept.
        fn tree(&self, id: u64) -> Option<String> {
            let tree = self.shared.tree(id)?;
            Some(String::from_utf8_lossy(&tree).into_owned())
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

        /// A picture of the programs of some ids, in the language of Graphviz.
        fn to_dot(&self, limit: usize) -> String {
            self.shared.read(|core| report::to_dot(core, limit))
        }

        /// Let statistics (JSON) steer, or none, and plan everything anew.
        fn use_statistics(&self, py: Python, statistics: Option<&[u8]>) -> PyResult<()> {
            py.detach(|| self.shared.use_statistics(statistics))
                .map_err(|error| {
                    PyValueError::new_err(format!("these are no statistics: {}", error.0))
                })
        }

        /// Give postings fewer guards than two, to see what they bring.
        fn limit_guards(&self, py: Python, guards: usize) {
            py.detach(|| self.shared.limit_guards(guards));
        }

        /// Plan everything anew with what the index has seen of events.
        fn replan(&self, py: Python) {
            py.detach(|| self.shared.replan());
        }

        /// The longest that an update held matching up so far, in nanoseconds; and start anew.
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

        /// Read into an empty index what `save` wrote.
        fn load(&self, py: Python, path: PathBuf) -> PyResult<()> {
            py.detach(|| snapshot::load(&self.shared, &path))
                .map_err(|error| PyValueError::new_err(error.to_string()))
        }

        /// All ids, ascending.
        fn ids(&self, py: Python) -> Vec<u64> {
            py.detach(|| {
                self.shared.read(|core| {
                    let mut ids: Vec<u64> =
                        core.slots.taken().map(|slot| core.slots.id(slot)).collect();
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

    fn read_type(name: &str) -> PyResult<Type> {
        Type::from_name(name)
            .ok_or_else(|| PyValueError::new_err(format!("{name} is no type of attribute")))
    }

    fn read_schema(attributes: &[(String, String)]) -> PyResult<Schema> {
        if attributes.len() > crate::engine::check::MAX_ATTRIBUTES {
            return Err(PyValueError::new_err(
                "an index takes at most 65,536 attributes",
            ));
        }
        let mut declared = Vec::with_capacity(attributes.len());
        for (name, kind) in attributes {
            declared.push((name.as_str(), read_type(kind)?));
        }
        Schema::new(declared).map_err(|repeated| {
            PyValueError::new_err(format!("the attribute {} is declared twice", repeated.name))
        })
    }
}
