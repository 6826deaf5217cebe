//! Model files: versioned, validated, refused when anything is off.
