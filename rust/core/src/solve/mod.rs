//! Minimisers of energies of many vertices.

mod compact;
mod descent;
mod lbfgs;
mod line_search;
mod objective;

pub(crate) use compact::Compact;
pub(crate) use descent::{Descent, Outcome};
pub(crate) use lbfgs::{CurvaturePairs, Lbfgs};
pub(crate) use objective::{FAR, Objective, Value, share_of_tolerance, take_lowest};
