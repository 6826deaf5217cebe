//! Newton's method on the same energy: the fallback after a stall of quasi-Newton steps.

use faer::{Mat, Side};

use super::objective::{Incremental, solve};
use crate::math::DenseCholesky;
use crate::math::dense::product;
use crate::math::rows::Rows;
use crate::potentials::contact::Inverse;
use crate::potentials::elastic::samples::Keep;
use crate::solve::{Lbfgs, Objective, Value};
use crate::{Error, Result};

/// The incremental energy in the metric of its own Hessian, with absolute eigenvalues of the elements,
/// which are better than projected ones far from a minimum `[AbsoluteNewton]`.
pub(super) struct Newton<'a, 'b> {
    energy: &'a mut Incremental<'b>,
    factor: &'a mut DenseCholesky,
}

impl<'a, 'b> Newton<'a, 'b> {
    /// Newton's method with scratch for the coordinates.
    pub(super) fn new(energy: &'a mut Incremental<'b>, factor: &'a mut DenseCholesky) -> Self {
        Self { energy, factor }
    }
}

impl Objective for Newton<'_, '_> {
    fn evaluate(&mut self, y: &Rows, gradient: &mut Rows) -> Value {
        self.energy.evaluate(y, gradient)
    }

    fn visit(&mut self, y: &Rows, iteration: u32) -> Result<bool> {
        self.energy.left.has_begun = iteration > 0;
        if !self.energy.elastic.is_at(&y.as_flattened()[..self.energy.model.data.rank()]) {
            self.energy.evaluate(y, &mut vec![[0.0; 3]; y.len()]);
        }
        let keep: Keep = f64::abs;
        self.energy.write_hessian(keep, &mut self.factor.matrix);
        if !self.factor.factor() {
            self.energy.write_hessian(keep, &mut self.factor.matrix);
            self.factor.matrix = magnitudes(&self.factor.matrix)?;
            if !self.factor.factor() {
                return Err(failed("it has no factor".into()));
            }
        }
        Ok(false)
    }

    fn solve(&mut self, rows: &mut Rows) {
        self.factor.solve(&mut rows.as_flattened_mut()[..self.energy.model.data.rank()], 1);
    }

    fn correct(&mut self, y: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        let Self { energy: Incremental { model, terms, contact, .. }, factor } = self;
        if let Some(contact) = contact {
            // The factor is new in each iteration.
            memory.change_metric();
            let rank = model.data.rank();
            let mut even = |rows: &mut Rows| solve(model, terms.metric(), rows);
            let mut newton = |rows: &mut Rows| factor.solve(&mut rows.as_flattened_mut()[..rank], 1);
            contact.correct(y, memory, (direction, value), Inverse::coupled(&mut newton, &mut even));
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.energy.further_slope(direction)
    }

    fn left(&mut self, slope: f64) -> Option<f64> {
        self.energy.left(slope)
    }

    fn length(&self, step: &Rows) -> f64 {
        self.energy.length(step)
    }
}

/// Matrix with absolute eigenvalues, for polynomials, which may be non-convex.
fn magnitudes(matrix: &Mat<f64>) -> Result<Mat<f64>> {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|error| failed(format!("{error:?}")))?;
    let values = eigen.S().column_vector();
    let scaled = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| eigen.U()[(i, j)] * values[j].abs());
    Ok(product(scaled.as_ref(), eigen.U().transpose()))
}

fn failed(why: String) -> Error {
    Error::Numerical { what: "Newton's method", why }
}
