//! The inverse of a factored problem with changed stitches.

use faer::linalg::solvers::{PartialPivLu, Solve};
use faer::{Mat, MatRef};

use super::change::Change;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::math::{HalfSolved, Halfway, SparseCholesky};
use crate::subspace::eigenpairs::Eigenproblem;
use crate::{Error, Result};

/// Share of the largest work below which a stitch force is left out.
const IDLE: f64 = 1e-12;

/// `(K + A k A')^-1 = K^-1 - K^-1 A (k^-1 + S)^-1 A' K^-1`, `S = A' K^-1 A` (Woodbury's formula).
pub(super) struct Inverse<'a> {
    factor: &'a SparseCholesky,
    half: HalfSolved,
    /// S.
    compliance: Mat<f64>,
    /// `sqrt |k|`.
    root: Vec<f64>,
    /// Factor of `sign k + r S r` with these roots r, so that nothing overflows for very soft or very stiff
    /// stitches.
    small: PartialPivLu<f64>,
}

/// Responses to some loads, before back substitution.
pub(super) struct Response<'a> {
    halfway: Halfway<'a>,
    /// `b' (K + A k A')^-1 b` of each load b, c.
    pub energies: Vec<f64>,
    /// Stitch forces under the loads, s x c.
    forces: Mat<f64>,
}

impl<'a> Inverse<'a> {
    pub fn new(problem: &'a Eigenproblem, change: &Change) -> Self {
        let half = problem.factor.half_solved(&change.columns);
        let compliance = half.inverse_gram();
        let root: Vec<f64> = change.stiffness.iter().map(|k| k.abs().sqrt()).collect();
        let small = Mat::from_fn(root.len(), root.len(), |i, j| {
            let sign = if i == j { change.stiffness[i].signum() } else { 0.0 };
            root[i] * compliance[(i, j)] * root[j] + sign
        });
        let small = small.partial_piv_lu();
        Self { factor: &problem.factor, half, compliance, root, small }
    }

    /// Forces F that correct the modes W by `K^-1 A F`, as in [`Eigenproblem::update`], given `A' W`;
    /// `None` if the stitches are unchanged.
    pub fn corrections(&self, stretches: MatRef<'_, f64>) -> Result<Option<Mat<f64>>> {
        let count = self.root.len();
        if count == 0 {
            return Ok(None);
        }
        if count <= stretches.ncols() {
            return Ok(Some(Mat::identity(count, count)));
        }
        let forces = self.forces(stretches);
        if !forces.is_all_finite() {
            return Err(Error::Numerical { what: "stitches", why: "their forces are not finite".into() });
        }
        // Forces of unit work, `F' S F = 1`.
        let work = inner(forces.as_ref(), product(self.compliance.as_ref(), forces.as_ref()).as_ref());
        let (values, vectors) = symmetric_eigen(work.as_ref())?;
        let least = IDLE * values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > least).collect();
        let combine =
            Mat::from_fn(vectors.nrows(), kept.len(), |i, j| vectors[(i, kept[j])] / values[kept[j]].sqrt());
        Ok(Some(product(forces.as_ref(), combine.as_ref())))
    }

    /// Loads b, n x c, on the way to `(K + A k A')^-1 b`.
    pub fn begin(&self, loads: MatRef<'_, f64>) -> Response<'a> {
        let halfway = Halfway::new(self.factor, loads);
        let (mut energies, pulls) = halfway.forms(&self.half);
        let forces = self.forces(pulls.as_ref());
        for (c, energy) in energies.iter_mut().enumerate() {
            *energy -= pulls.col(c).transpose() * forces.col(c);
        }
        Response { halfway, energies, forces }
    }

    /// `(K + A k A')^-1 b` for some of the columns b.
    pub fn finish(&self, response: &Response<'_>, chosen: &[usize]) -> Mat<f64> {
        response.halfway.solve(chosen, &self.half, &response.forces)
    }

    /// `(k^-1 + S)^-1 g`.
    fn forces(&self, pulls: MatRef<'_, f64>) -> Mat<f64> {
        let scaled = |x: MatRef<'_, f64>| Mat::from_fn(x.nrows(), x.ncols(), |s, c| self.root[s] * x[(s, c)]);
        if self.root.is_empty() { pulls.to_owned() } else { scaled(self.small.solve(scaled(pulls)).as_ref()) }
    }
}
