//! Sparse matrices: elimination orders, Cholesky factors, solves and eigenpairs.

pub(crate) mod cholesky;
pub(crate) mod conjugate_gradients;
mod cut;
mod dissection;
pub(crate) mod eigen;
pub(crate) mod few_columns;
mod fronts;
mod graph;
pub(crate) mod inverse_forms;
pub(crate) mod matrix;
mod ordering;
mod panels;
pub(crate) mod selection;
mod separator;
mod substitution;
mod supernodes;
mod symbolic;
