//! Difference between a body and its factored problem.

use faer::{Mat, MatRef};

use crate::math::dense::product;
use crate::math::{Sparse, multiply_columns};
use crate::subspace::eigenpairs::Eigenproblem;

/// Change of the Hessian: stitches `sum_s k_s a_s a_s'`, and the stiffness of the flesh.
pub(in crate::subspace) struct Change {
    /// a at the free rows: one column per stitch for weights, three for displacements.
    pub columns: Sparse,
    /// k of each column, negative for stiffness that is removed.
    pub stiffness: Vec<f64>,
    /// Hessian at the free rows, with the problem's stitches, that replaces the problem's own; `None` if
    /// unchanged.
    pub hessian: Option<Sparse>,
    /// Largest softening factor of the flesh relative to the problem, at least 1.
    pub softening: f64,
    /// Vectors at the free rows to search among, beside the problem's own.
    pub others: Option<Mat<f64>>,
    /// Rounds that widen the space by residuals.
    pub rounds: Rounds,
}

/// Rounds of an update: no round is begun if the remaining ones cannot suffice.
pub(in crate::subspace) struct Rounds {
    /// Maximum number.
    pub most: i32,
    /// Expected reduction of the error per round.
    pub hope: f64,
}

/// Rounds under the exact inverse of the stitched body.
const ROUNDS: Rounds = Rounds { most: 4, hope: 8.0 };

impl Change {
    /// A change from columns at all rows.
    pub fn new(problem: &Eigenproblem, columns: &Sparse, stiffness: Vec<f64>) -> Self {
        let columns = problem.free.rows_of(columns);
        Self { columns, stiffness, hessian: None, softening: 1.0, others: None, rounds: ROUNDS }
    }

    /// `A' x`, s x k.
    pub fn stretches(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(self.stiffness.len(), x.ncols(), |s, k| {
            self.columns.row_idx_of_col(s).zip(self.columns.val_of_col(s)).map(|(i, a)| a * x[(i, k)]).sum()
        })
    }

    /// `k t`, s x k.
    fn forces(&self, stretches: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(stretches.nrows(), stretches.ncols(), |s, k| self.stiffness[s] * stretches[(s, k)])
    }

    /// `x += A f`.
    pub fn add_columns(&self, x: &mut Mat<f64>, forces: &Mat<f64>) {
        for k in 0..x.ncols() {
            for s in 0..self.stiffness.len() {
                let entries = self.columns.row_idx_of_col(s).zip(self.columns.val_of_col(s));
                entries.for_each(|(i, a)| x[(i, k)] += a * forces[(s, k)]);
            }
        }
    }

    /// `x += A k t`.
    pub fn add_springs(&self, x: &mut Mat<f64>, stretches: &Mat<f64>) {
        self.add_columns(x, &self.forces(stretches));
    }

    /// `t' k t'` of two matrices of stretches.
    pub fn springs(&self, one: &Mat<f64>, other: &Mat<f64>) -> Mat<f64> {
        product(one.transpose(), self.forces(other).as_ref())
    }

    /// `H x` with the flesh and the original stitches.
    pub fn flesh(&self, problem: &Eigenproblem, x: MatRef<'_, f64>) -> Mat<f64> {
        multiply_columns(self.hessian.as_ref().unwrap_or(&problem.hessian), x)
    }

    /// `true` if nothing changes.
    pub fn is_none(&self) -> bool {
        self.stiffness.is_empty() && self.hessian.is_none()
    }

    /// `H x` with the changed Hessian.
    pub fn image(&self, problem: &Eigenproblem, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut image = self.flesh(problem, x);
        self.add_springs(&mut image, &self.stretches(x));
        image
    }
}
