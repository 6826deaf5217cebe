//! Newton's method on the same energy: what goes on where quasi-Newton steps stall.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

use super::objective::Incremental;
use crate::math::dense::product;
use crate::math::rows::Rows;
use crate::solve::{Objective, Value};
use crate::{Error, Result};

/// The incremental energy in the metric of its own Hessian, with the magnitudes of the elements' eigenvalues, which do
/// better than projected ones far from a minimum `[AbsoluteNewton]`.
pub(super) struct Newton<'a, 'b> {
    energy: &'a mut Incremental<'b>,
    factor: Option<Llt<f64>>,
}

impl<'a, 'b> Newton<'a, 'b> {
    pub(super) fn new(energy: &'a mut Incremental<'b>) -> Self {
        Self { energy, factor: None }
    }
}

impl Objective for Newton<'_, '_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        self.energy.evaluate(y, gradient)
    }

    fn visit(&mut self, y: &Rows, _: u32) -> Result<bool> {
        if !self.energy.elastic.is_at(&y.as_flattened()[..self.energy.model.data.rank()]) {
            self.energy.evaluate(y, &mut vec![[0.0; 3]; y.len()]);
        }
        let hessian = self.energy.hessian(f64::abs);
        let factor = Llt::new(hessian.as_ref(), Side::Lower).or_else(|_| {
            Llt::new(magnitudes(&hessian)?.as_ref(), Side::Lower).map_err(|error| format!("{error:?}"))
        });
        self.factor = Some(factor.map_err(|why| Error::Numerical { what: "Newton's method", why })?);
        Ok(false)
    }

    fn solve(&mut self, rows: &mut Rows) {
        let Some(factor) = &self.factor else { return self.energy.solve(rows) };
        let numbers = &mut rows.as_flattened_mut()[..self.energy.model.data.rank()];
        let solved = factor.solve(Mat::from_fn(numbers.len(), 1, |i, _| numbers[i]));
        numbers.iter_mut().enumerate().for_each(|(i, number)| *number = solved[(i, 0)]);
    }

    fn length(&self, step: &Rows) -> f64 {
        self.energy.length(step)
    }
}

/// A matrix with the magnitudes of its eigenvalues: what polynomials have where they are not convex.
fn magnitudes(matrix: &Mat<f64>) -> std::result::Result<Mat<f64>, String> {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|error| format!("{error:?}"))?;
    let values = eigen.S().column_vector();
    let scaled = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| eigen.U()[(i, j)] * values[j].abs());
    Ok(product(scaled.as_ref(), eigen.U().transpose()))
}
