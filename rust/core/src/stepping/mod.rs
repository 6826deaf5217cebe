//! Time stepping of any method: the state with its history, substeps, cuts and undo.

pub(crate) mod method;
pub(crate) mod recurrence;
pub(crate) mod state;
pub(crate) mod stepper;

pub use state::State;
