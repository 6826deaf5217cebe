//! Newton's method on the same energy: what goes on where quasi-Newton steps stall.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

use super::objective::Incremental;
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
        self.energy.evaluate(y, &mut vec![[0.0; 3]; y.len()]);
        let factor = Llt::new(self.energy.hessian(f64::abs).as_ref(), Side::Lower);
        self.factor = Some(
            factor
                .map_err(|error| Error::Numerical { what: "Newton's method", why: format!("{error:?}") })?,
        );
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
