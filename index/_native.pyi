"""The native core of the matching index: the contract of the Rust crate in `index/native/`.

The module is optional. Where it could not be built, importing it raises `ImportError`.
"""

__all__ = ["__version__"]

__version__: str
"""The version of the core; always that of the package."""
