//! The hot core of Copse's matching index.
//!
//! This crate knows nothing of Python: only `py.rs` and `py/`, behind the feature `python`, do. So the
//! core builds and tests with no interpreter around:
//!
//! ```text
//! cargo test --manifest-path index/native/Cargo.toml
//! ```

pub mod engine;
pub mod language;
#[cfg(feature = "python")]
mod py;

/// The version of the core, which is also the version of the Python package around it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::VERSION;

    #[test]
    fn version_has_three_numeric_parts() {
        let parts: Vec<&str> = VERSION.split('.').collect();
        assert_eq!(parts.len(), 3, "{VERSION}");
        assert!(
            parts.iter().all(|part| part.parse::<u32>().is_ok()),
            "{VERSION}"
        );
    }
}
