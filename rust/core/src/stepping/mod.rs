//! Time stepping of any method: the state with its history, substeps, cuts and undo.

pub(crate) mod motion;
pub(crate) mod recurrence;
pub(crate) mod state;
pub(crate) mod substep;

pub use state::State;
