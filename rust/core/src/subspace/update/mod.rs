//! Updates of modes after a change of stitches or stiffness, for weights and for displacements alike.

mod change;
mod displacements;
mod inverse;
mod quality;
mod space;
mod weights;

pub(super) use change::{Change, Rounds};
pub(super) use displacements::Seam;
use faer::{Mat, MatRef};
use inverse::{Inverse, Response};
use quality::Quality;
use space::{Ritz, Space};
pub use weights::ModesUpdate;

use super::eigenpairs::Eigenproblem;
use super::modes::check_truncation;
use crate::Result;
use crate::math::dense::{add_product, product};

/// Bound of an eigenvalue's relative error at which modes are accepted.
pub(super) const GOOD: f64 = 5e-3;
/// Share of that bound above which a mode contributes to widening the space.
const WIDENING: f64 = 0.2;
/// Share of a mode that may lie beyond the cut to the modes that are not returned.
const MIXED: f64 = 0.05;

/// Vectors found by an update, at all rows, and their residuals.
pub(super) struct Updated<'a> {
    pub(crate) eigenvalues: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
    /// Residuals as in [`ModesUpdate::residuals`].
    pub(crate) residuals: Vec<f64>,
    /// Residual loads of the vectors; `None` if nothing has changed.
    left: Option<Left<'a>>,
}

/// Responses to the residual loads of vectors at the free rows.
struct Left<'a> {
    inverse: Inverse<'a>,
    response: Response<'a>,
    /// [`Quality::growth`] of each vector.
    growth: Vec<f64>,
}

impl Left<'_> {
    /// Error of the vectors, to first order.
    fn lacking(self) -> Mat<f64> {
        let vectors: Vec<usize> = (0..self.growth.len()).collect();
        let mut lacking = self.inverse.finish(&self.response, &vectors);
        for (column, growth) in lacking.col_iter_mut().zip(&self.growth) {
            column.iter_mut().for_each(|x| *x *= growth);
        }
        lacking
    }
}

impl Eigenproblem {
    /// The `count` lowest vectors after a change, starting from the previous ones, at all rows; see
    /// [`ModesProblem::update`].
    ///
    /// [`ModesProblem::update`]: super::ModesProblem::update
    pub(crate) fn update<'a>(
        &'a self,
        (vectors, values): (MatRef<'_, f64>, &[f64]),
        change: &'a Change,
        count: usize,
    ) -> Result<Updated<'a>> {
        check_truncation(count, values.len())?;
        if change.is_none() {
            let (eigenvalues, vectors) = (values[..count].to_vec(), vectors.subcols(0, count).to_owned());
            return Ok(Updated { eigenvalues, vectors, residuals: vec![0.0; count], left: None });
        }
        let old = self.free.rows_of_dense(vectors);
        let inverse = Inverse::new(self, change);
        let mut space = Space::new(self, change, old, values);
        if let Some(others) = &change.others {
            space.widen(others.as_ref());
        }
        if let Some(forces) = inverse.corrections(space.stretches())? {
            let mut columns = Mat::zeros(self.mass.len(), forces.ncols());
            change.add_columns(&mut columns, &forces);
            self.factor.solve_in_place(columns.as_mut());
            // The part already in the modes would swamp the rest: K is nearly singular along rigid motions.
            let mut along = product(space.stretches().transpose(), forces.as_ref());
            let compliance = |k: usize| 1.0 / (values[k] + self.shift);
            along
                .row_iter_mut()
                .enumerate()
                .for_each(|(k, row)| row.iter_mut().for_each(|x| *x *= compliance(k)));
            add_product(columns.as_mut(), -1.0, space.columns(), along.as_ref());
            space.widen(columns.as_ref());
        }
        for round in 0.. {
            // The extra vectors keep one from being mistaken for a higher one, or for a mixture of two close
            // ones.
            let Ritz { mut eigenvalues, vectors, loads } = space.lowest(values.len())?;
            let response = inverse.begin(loads.as_ref());
            let energies: Vec<f64> =
                response.energies.iter().map(|energy| energy * change.softening).collect();
            let qualities = Quality::of(&energies, &eigenvalues, self.shift, |value| self.deforms(value));
            let (residuals, mixed) = quality::bounds(&qualities, count);
            let worst = residuals.iter().copied().fold(0.0, f64::max);
            let is_good = worst <= GOOD && mixed.iter().all(|&share| share <= MIXED);
            let left = change.rounds.most - round;
            if is_good || left == 0 || worst > GOOD * change.rounds.hope.powi(left) {
                let mut vectors = self.spread(space.orthonormal(&vectors)?.as_ref(), &eigenvalues);
                eigenvalues.truncate(count);
                vectors.truncate(vectors.nrows(), count);
                let growth = qualities[..count].iter().map(|quality| quality.growth).collect();
                let (residuals, left) = (told(&residuals, &mixed), Some(Left { inverse, response, growth }));
                return Ok(Updated { eigenvalues, vectors, residuals, left });
            }
            let far = |k: usize| if k < count { residuals[k] } else { qualities[k].left() };
            let is_bad = |&k: &usize| far(k) > WIDENING * GOOD || mixed[k] > WIDENING * MIXED;
            let bad: Vec<usize> = (0..qualities.len()).filter(is_bad).collect();
            space.widen(inverse.finish(&response, &bad).as_ref());
        }
        unreachable!("the rounds end");
    }
}

/// The error bounds, or the share of a mode that may lie beyond the cut, if this is large.
fn told(residuals: &[f64], mixed: &[f64]) -> Vec<f64> {
    let both = residuals.iter().zip(mixed);
    both.map(|(residual, share)| if *share > MIXED { residual.max(share.min(1.0)) } else { *residual })
        .collect()
}
