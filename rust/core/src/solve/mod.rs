//! Reference solvers in the full space, minimisers, and non-negative least squares.

mod compact;
mod complementary;
mod descent;
mod lbfgs;
mod line_search;
mod nnls;

pub(crate) use compact::Compact;
pub use complementary::{ComplementarySolver, ComplementarySolverParams};
pub(crate) use descent::{Descent, Objective, Outcome};
pub(crate) use lbfgs::{Lbfgs, Learnt};
pub(crate) use line_search::Value;
pub use nnls::nonnegative_least_squares;
