//! The Python module `index._native`: the only file of the crate that knows Python.
//!
//! `index/_native.pyi` is its contract; `make lint` holds the two together.

use pyo3::prelude::*;

/// The native core of the matching index.
#[pymodule]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = crate::VERSION;
}
