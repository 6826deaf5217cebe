//! Full-space solvers, the truth that reductions are measured against, and least squares.

mod complementary;
mod nnls;

pub use complementary::{ComplementarySolver, ComplementarySolverParams};
pub use nnls::nonnegative_least_squares;
