//! Full-space solvers: the truth that reductions are measured against.

mod complementary;

pub use complementary::{ComplementarySolver, ComplementarySolverParams};
