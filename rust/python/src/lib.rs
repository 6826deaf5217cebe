//! The Python module `jounce._jounce`.
