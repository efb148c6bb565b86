//! Queries from Python: an event, a dictionary or JSON, and which of its matches to return.
//!
//! Code that holds a `Question` (a read lock) must not wait for the GIL. So a question is answered
//! or dropped without it.

use super::_native::Index;
use super::events::{builtin_error, fill_dict};
use crate::engine::index::Question;
use crate::engine::matching::answer;
use crate::engine::matching::event_json::Unfit;
use crate::engine::matching::filter::Filter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// The fields of `index.Query`, whose constructor has checked them.
#[derive(Default, FromPyObject)]
pub struct Query<'py> {
    at: Option<f64>,
    limit: Option<usize>,
    total: bool,
    exclude: Option<Exclude>,
    floor: u64,
    builtins: Option<Bound<'py, PyDict>>,
}

/// The fields of `index.Exclude`.
#[derive(Default, FromPyObject)]
struct Exclude {
    ids: Vec<u64>,
    groups: Vec<u64>,
    labels: Vec<String>,
    within: Option<Vec<String>>,
}

/// The matches of an event.
#[pyclass(frozen, module = "index._native")]
pub struct Matches {
    found: Found,
    total: Option<usize>,
    pending: Vec<u64>,
}

enum Found {
    /// All ids, ascending.
    All(Vec<u64>),
    /// Scores and ids, best first.
    Best(Vec<(i64, u64)>),
}

#[pymethods]
impl Matches {
    /// The ids: ascending, or best first if the query had a limit.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.found {
            Found::All(ids) => PyList::new(py, ids),
            Found::Best(best) => PyList::new(py, best.iter().map(|&(_, id)| id)),
        }
    }

    fn __len__(&self) -> usize {
        match &self.found {
            Found::All(ids) => ids.len(),
            Found::Best(best) => best.len(),
        }
    }

    /// The ids that depend on calls: of `ids`, or of all matches if the query asked for a total.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.pending)
    }

    /// The number of all matches; `None` unless the query asked for it.
    #[getter]
    fn total(&self) -> Option<usize> {
        self.total
    }

    /// The score of each id; `None` if the query had no limit.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        match &self.found {
            Found::All(_) => Ok(None),
            Found::Best(best) => PyList::new(py, best.iter().map(|&(score, _)| score)).map(Some),
        }
    }

    /// The matches as JSON, followed by the tail.
    fn to_json<'py>(&self, py: Python<'py>, tail: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        match &self.found {
            Found::All(_) => Err(PyValueError::new_err(
                "only a query with a limit has an answer in JSON",
            )),
            Found::Best(best) => Ok(PyBytes::new(py, &answer::write(best, self.total, tail))),
        }
    }
}

impl Index {
    /// The matches of an event, a dictionary or JSON. Searches without the GIL.
    pub(super) fn matches(
        &self,
        py: Python,
        event: &Bound<PyAny>,
        query: Query,
    ) -> PyResult<Matches> {
        let mut question = self.question(py, event)?;
        if let Some(builtins) = &query.builtins {
            question = self.add(py, question, builtins)?;
        }
        let Exclude {
            ids,
            groups,
            labels,
            within,
        } = query.exclude.unwrap_or_default();
        let filter = Filter {
            at: query.at,
            ids,
            groups,
            labels,
            within,
            floor: query.floor,
        };
        let (limit, wants_total) = (query.limit, query.total);
        let answer = py.detach(|| {
            question.answer(|core, scratch| match limit {
                None => {
                    let mut ids = Vec::new();
                    core.matches(scratch, &filter, &mut ids);
                    Matches {
                        total: wants_total.then_some(ids.len()),
                        pending: core.pending_of(ids.iter().copied()),
                        found: Found::All(ids),
                    }
                }
                Some(limit) if wants_total => {
                    let (mut best, mut ids) = (Vec::new(), Vec::new());
                    let total = core.top(scratch, &filter, limit, &mut best);
                    if !core.pending.is_empty() {
                        core.matches(scratch, &filter, &mut ids);
                    }
                    Matches {
                        total: Some(total),
                        pending: core.pending_of(ids.into_iter()),
                        found: Found::Best(best),
                    }
                }
                Some(limit) => {
                    let mut best = Vec::new();
                    core.best(scratch, &filter, limit, &mut best);
                    Matches {
                        total: None,
                        pending: core.pending_of(best.iter().map(|&(_, id)| id)),
                        found: Found::Best(best),
                    }
                }
            })
        });
        Ok(answer)
    }

    fn question(&self, py: Python, event: &Bound<PyAny>) -> PyResult<Question<'_>> {
        let mut question = self.shared.question();
        let filled = if let Ok(json) = event.cast::<PyBytes>() {
            let Question { core, scratch, .. } = &mut question;
            self.shared.fill_json(core, scratch, json.as_bytes())
        } else {
            self.fill(&mut question, event, false)
        };
        if filled.is_ok() {
            return Ok(question);
        }
        // Python code must not run while a question is held.
        py.detach(|| drop(question));
        let checked = self.check_event(py, event)?;
        let mut question = self.shared.question();
        match self.fill(&mut question, &checked, true) {
            Ok(()) => Ok(question),
            Err(Unfit) => {
                py.detach(|| drop(question));
                Err(PyValueError::new_err("the event cannot be read"))
            }
        }
    }

    fn fill(&self, to: &mut Question, event: &Bound<PyAny>, checked: bool) -> Result<(), Unfit> {
        fill_dict(&self.shared, &to.core, &mut to.scratch, event, checked)
    }

    /// Add built-in attributes to the event of a question, which must not have them.
    fn add<'a>(
        &'a self,
        py: Python,
        mut question: Question<'a>,
        builtins: &Bound<PyDict>,
    ) -> PyResult<Question<'a>> {
        let sent: Vec<String> = builtins
            .keys()
            .iter()
            .filter_map(|name| name.extract::<String>().ok())
            .filter(|name| {
                let attribute = question.core.schema.attr(name);
                attribute.is_some_and(|attribute| question.scratch.event.has(attribute))
            })
            .collect();
        if !sent.is_empty() {
            py.detach(|| drop(question));
            return Err(builtin_error(py, sent));
        }
        if self.fill(&mut question, builtins, false).is_err() {
            py.detach(|| drop(question));
            self.check_event(py, builtins)?;
            return Err(PyValueError::new_err(
                "the built-in attributes cannot be read",
            ));
        }
        Ok(question)
    }

    /// Have Python check an event that is unusual or wrong: it has all the rules and the messages.
    fn check_event<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let schema = self.schema.lock().clone_ref(py);
        let module = py.import("index.event")?;
        let event = if event.is_instance_of::<PyBytes>() {
            module.call_method1("read_event", (event,))?
        } else {
            event.clone()
        };
        let checked = module.call_method1("check_event", (event, schema))?;
        let unknown: Vec<String> = checked.get_item(1)?.extract()?;
        self.shared.count_unknown(unknown);
        checked.get_item(0)
    }
}
