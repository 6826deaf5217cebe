//! Minimisers of energies of many vertices.

mod compact;
mod descent;
mod lbfgs;
mod line_search;

pub use crate::math::dense::nnls::nonnegative_least_squares;
pub(crate) use compact::Compact;
pub(crate) use descent::{Descent, Objective, Outcome};
pub(crate) use lbfgs::{Lbfgs, Learnt};
pub(crate) use line_search::Value;
