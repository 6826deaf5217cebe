//! Minimisers, and a reference solver in the full space.

mod compact;
mod complementary;
mod descent;
mod lbfgs;
mod line_search;

pub use crate::math::dense::nnls::nonnegative_least_squares;
pub(crate) use compact::Compact;
pub use complementary::{ComplementarySolver, ComplementarySolverParams};
pub(crate) use descent::{Descent, Objective, Outcome};
pub(crate) use lbfgs::{Lbfgs, Learnt};
pub(crate) use line_search::Value;
