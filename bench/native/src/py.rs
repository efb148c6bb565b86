//! The Python module `bench._peers`: the only file of the crate that knows Python.

use _native::language::{Schema, Type};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::clock::thread_ns;

fn schema_of(attributes: &[(String, String)]) -> PyResult<Schema> {
    let mut typed = Vec::new();
    for (name, kind) in attributes {
        let kind = Type::from_name(kind).ok_or_else(|| to_python(format!("{kind} is no type")))?;
        typed.push((name.as_str(), kind));
    }
    Schema::new(typed).map_err(|twice| to_python(format!("{} is declared twice", twice.name)))
}

fn to_python(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// The peers that Copse is measured against.
#[pymodule]
mod _peers {
    use super::*;

    /// A flat scan over contiguous programs.
    #[pyclass]
    struct Flat(crate::flat::Flat);

    #[pymethods]
    impl Flat {
        #[new]
        fn new(schema: Vec<(String, String)>) -> PyResult<Self> {
            Ok(Flat(crate::flat::Flat::new(schema_of(&schema)?)))
        }

        fn insert(&mut self, id: u64, tree: &str) -> PyResult<()> {
            self.0.insert(id, tree).map_err(to_python)
        }

        fn match_ns(&self, events: Vec<String>) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let mut times = Vec::new();
            for event in events {
                let board = self.0.board(&event).map_err(to_python)?;
                let started = thread_ns();
                self.0.scan(&board, &mut found);
                times.push(thread_ns() - started);
            }
            Ok(times)
        }

        fn matching(&self, event: &str) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            self.0
                .scan(&self.0.board(event).map_err(to_python)?, &mut found);
            Ok(found)
        }

        fn bytes_held(&self) -> usize {
            self.0.bytes()
        }
    }

    /// The crate a-tree, and the bytes that it allocated.
    #[pyclass]
    struct ATree(crate::peer::Peer, isize);

    #[pymethods]
    impl ATree {
        #[new]
        fn new(schema: Vec<(String, String)>) -> PyResult<Self> {
            let before = crate::bytes_held();
            let schema = schema_of(&schema)?;
            let peer = crate::peer::Peer::new(schema).map_err(to_python)?;
            Ok(ATree(
                peer,
                crate::bytes_held().wrapping_sub(before) as isize,
            ))
        }

        fn insert(&mut self, id: u64, tree: &str) -> PyResult<()> {
            let before = crate::bytes_held();
            let inserted = self.0.insert(id, tree);
            self.1 += crate::bytes_held().wrapping_sub(before) as isize;
            inserted.map_err(to_python)
        }

        fn translate(&self, tree: &str) -> PyResult<String> {
            self.0.translate(tree).map_err(to_python)
        }

        fn match_ns(&self, events: Vec<String>) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let mut times = Vec::new();
            for event in events {
                let event = self.0.event(&event).map_err(to_python)?;
                let started = thread_ns();
                self.0.search(&event, &mut found).map_err(to_python)?;
                times.push(thread_ns() - started);
            }
            Ok(times)
        }

        fn matching(&self, event: &str) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let event = self.0.event(event).map_err(to_python)?;
            self.0.search(&event, &mut found).map_err(to_python)?;
            Ok(found)
        }

        fn bytes_held(&self) -> isize {
            self.1
        }
    }

    /// The crate quamina, and the bytes that it allocated.
    #[pyclass]
    struct Quamina(crate::quamina::Peer, isize);

    #[pymethods]
    impl Quamina {
        #[new]
        fn new(schema: Vec<(String, String)>) -> PyResult<Self> {
            Ok(Quamina(crate::quamina::Peer::new(schema_of(&schema)?), 0))
        }

        fn insert(&mut self, id: u64, tree: &str) -> PyResult<()> {
            let before = crate::bytes_held();
            let inserted = self.0.insert(id, tree);
            self.1 += crate::bytes_held().wrapping_sub(before) as isize;
            inserted.map_err(to_python)
        }

        fn translate(&self, tree: &str) -> PyResult<String> {
            self.0.translate(tree).map_err(to_python)
        }

        fn match_ns(&self, events: Vec<String>) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let mut times = Vec::new();
            self.0.compile().map_err(to_python)?;
            for event in events {
                let started = thread_ns();
                self.0.search(&event, &mut found).map_err(to_python)?;
                times.push(thread_ns() - started);
            }
            Ok(times)
        }

        fn matching(&self, event: &str) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            self.0.compile().map_err(to_python)?;
            self.0.search(event, &mut found).map_err(to_python)?;
            Ok(found)
        }

        fn bytes_held(&self) -> isize {
            self.1
        }
    }

    /// An engine of the papers, by name, and the bytes that it allocated.
    #[pyclass]
    struct Paper(Box<dyn crate::papers::engine::Engine>, isize);

    impl Paper {
        /// Run something and count what it allocates.
        fn counted<T>(
            &mut self,
            run: impl FnOnce(&mut dyn crate::papers::engine::Engine) -> Result<T, String>,
        ) -> PyResult<T> {
            let before = crate::bytes_held();
            let result = run(&mut *self.0);
            self.1 += crate::bytes_held().wrapping_sub(before) as isize;
            result.map_err(to_python)
        }
    }

    #[pymethods]
    impl Paper {
        #[new]
        #[pyo3(signature = (name, schema, setting=None))]
        fn new(
            name: &str,
            schema: Vec<(String, String)>,
            setting: Option<usize>,
        ) -> PyResult<Self> {
            let engine = crate::papers::make(name, schema_of(&schema)?, setting);
            let engine = engine.ok_or_else(|| to_python(format!("{name} is no engine")))?;
            Ok(Paper(engine, 0))
        }

        #[staticmethod]
        fn names() -> Vec<&'static str> {
            crate::papers::NAMES.to_vec()
        }

        fn learn(&mut self, events: Vec<String>) -> PyResult<()> {
            self.counted(|engine| engine.learn(&events))
        }

        fn insert(&mut self, id: u64, tree: &str) -> PyResult<()> {
            self.counted(|engine| engine.insert(id, tree))
        }

        fn remove(&mut self, id: u64) -> PyResult<bool> {
            self.counted(|engine| Ok(engine.remove(id)))
        }

        fn maintain(&mut self, events: Vec<String>) -> PyResult<()> {
            self.counted(|engine| engine.maintain(&events))
        }

        fn match_ns(&mut self, events: Vec<String>) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let mut times = Vec::new();
            for event in events {
                let event = self.0.event(&event).map_err(to_python)?;
                let started = thread_ns();
                self.0.search(&event, &mut found);
                times.push(thread_ns() - started);
            }
            Ok(times)
        }

        fn matching(&mut self, event: &str) -> PyResult<Vec<u64>> {
            let mut found = Vec::new();
            let event = self.0.event(event).map_err(to_python)?;
            self.0.search(&event, &mut found);
            Ok(found)
        }

        fn check_invariants(&self) {
            self.0.check_invariants();
        }

        fn bytes_held(&self) -> isize {
            self.1
        }
    }
}
