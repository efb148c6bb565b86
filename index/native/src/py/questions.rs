//! Questions from Python: an event, from a dictionary or from JSON, and how it is answered.
//!
//! Whoever holds a question must not wait for the GIL: so it is answered, or let go of, without.

use super::_native::Index;
use super::events::{Unfit, builtin_error, event_error, fill_dict};
use crate::engine::core::Core;
use crate::engine::index::Question;
use crate::engine::matching::search::Scratch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Attributes that are added to an event.
#[derive(Clone, Copy)]
pub enum Added<'a, 'py> {
    /// They replace what the event has under their names.
    Extra(Option<&'a Bound<'py, PyDict>>),
    /// The event must not have them.
    Builtins(Option<&'a Bound<'py, PyDict>>),
}

impl Index {
    /// Match an event, a dictionary or JSON; `take` runs without the GIL, and lets the index go
    /// before it asks for the GIL again.
    pub(super) fn ask<T: Send>(
        &self,
        py: Python,
        event: &Bound<PyAny>,
        added: Added,
        take: impl FnOnce(&Core, &mut Scratch) -> T + Send,
    ) -> PyResult<T> {
        if let Ok(json) = event.cast::<PyBytes>() {
            return self.ask_json(py, json.as_bytes(), added, take);
        }
        let question = self.question_of(py, event)?;
        let question = self.add(py, question, added)?;
        Ok(py.detach(|| question.answer(take)))
    }

    pub(super) fn ask_json<T: Send>(
        &self,
        py: Python,
        json: &[u8],
        added: Added,
        take: impl FnOnce(&Core, &mut Scratch) -> T + Send,
    ) -> PyResult<T> {
        let mut question = self.shared.question();
        let read = (self.shared).fill_json(&question.core, &mut question.scratch, json);
        if let Err(error) = read {
            py.detach(|| drop(question));
            return Err(event_error(py, error));
        }
        let question = self.add(py, question, added)?;
        Ok(py.detach(|| question.answer(take)))
    }

    /// A question with the event of a dictionary.
    pub(super) fn question_of(&self, py: Python, event: &Bound<PyAny>) -> PyResult<Question<'_>> {
        let mut question = self.shared.question();
        if self.fill(&mut question, event, false).is_ok() {
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

    /// Add attributes to a question's event.
    fn add<'a>(
        &'a self,
        py: Python,
        mut question: Question<'a>,
        added: Added,
    ) -> PyResult<Question<'a>> {
        let (Added::Extra(Some(extra)) | Added::Builtins(Some(extra))) = added else {
            return Ok(question);
        };
        if let Added::Builtins(_) = added {
            let sent: Vec<String> = extra
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
        }
        if self.fill(&mut question, extra, false).is_err() {
            py.detach(|| drop(question));
            self.check_event(py, extra)?;
            return Err(PyValueError::new_err("the extra attributes cannot be read"));
        }
        Ok(question)
    }

    /// What Python makes of an event that is unusual or wrong: it knows all the rules, and how
    /// to say which is broken.
    fn check_event<'py>(
        &self,
        py: Python<'py>,
        event: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let schema = self.schema.lock().clone_ref(py);
        let check = py.import("index.event")?.getattr("check_event")?;
        let checked = check.call1((event, schema))?;
        let unknown: Vec<String> = checked.get_item(1)?.extract()?;
        self.shared.count_unknown(unknown);
        checked.get_item(0)
    }
}
