//! Linear modes and static responses of a body with changed stitches.

use std::sync::Arc;

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};

use super::Change;
use crate::math::dense::{add_product, inner, product, symmetric_eigen};
use crate::subspace::flesh::{Flesh, LinearModes, pairs};
use crate::{Error, Progress, Result};

/// Share of the stiffest rigid motion's stiffness below which the stitches do not hold a rigid motion.
const IDLE: f64 = 1e-12;

/// Difference between a stitched body and the body that was factored.
#[derive(Clone)]
pub(in crate::subspace) struct Seam {
    pub(in crate::subspace) change: Arc<Change>,
    /// The lowest modes of the body as factored.
    pub(in crate::subspace) modes: Arc<LinearModes>,
    /// Number of rigid modes of the stitched body.
    pub(in crate::subspace) rigid: usize,
}

impl Seam {
    /// `(K + A k A')^-1` of loads at the free coordinates; the body's inertia balances loads along rigid
    /// motions.
    pub(in crate::subspace) fn static_response(
        &self,
        flesh: &Flesh,
        loads: Mat<f64>,
        progress: &Progress,
    ) -> Result<Mat<f64>> {
        let alone = flesh.static_response(&self.modes, loads.clone(), progress)?;
        self.join(flesh, alone, || Ok(loads), progress)
    }

    /// As [`Self::static_response`], given the response without the change: `x - Y f + R y`, see
    /// [`LinearProblem::carried_derivatives`].
    pub(in crate::subspace) fn join(
        &self,
        flesh: &Flesh,
        mut alone: Mat<f64>,
        loads: impl FnOnce() -> Result<Mat<f64>>,
        progress: &Progress,
    ) -> Result<Mat<f64>> {
        let change = &self.change;
        let size = change.stiffness.len();
        if size == 0 {
            return Ok(alone);
        }
        let root: Vec<f64> = change.stiffness.iter().map(|k| k.abs().sqrt()).collect();
        let pulls = |x: MatRef<'_, f64>| {
            let stretches = change.stretches(x);
            Mat::from_fn(size, x.ncols(), |s, c| root[s] * stretches[(s, c)])
        };
        let held = self.held(flesh, pulls)?;
        let give = flesh.static_response(&self.modes, change.columns.to_dense(), progress)?;
        let (compliance, pulled) = (pulls(give.as_ref()), pulls(held.as_ref()));
        let rigid = held.ncols();
        // Bordered matrix of `sign k + r S r`, with r the roots of the stiffness, so that nothing overflows
        // for very soft or very stiff stitches.
        let matrix = Mat::from_fn(size + rigid, size + rigid, |i, j| match (i < size, j < size) {
            (true, true) if i == j => compliance[(i, i)] * root[i] + change.stiffness[i].signum(),
            (true, true) => compliance[(i, j)] * root[j],
            (true, false) => -pulled[(i, j - size)],
            (false, true) => pulled[(j, i - size)],
            (false, false) => 0.0,
        });
        let opened = pulls(alone.as_ref());
        let along =
            if rigid > 0 { inner(held.as_ref(), loads()?.as_ref()) } else { Mat::zeros(0, alone.ncols()) };
        let sides = Mat::from_fn(size + rigid, alone.ncols(), |i, c| {
            if i < size { opened[(i, c)] } else { along[(i - size, c)] }
        });
        let found = matrix.partial_piv_lu().solve(&sides);
        if !found.is_all_finite() {
            return Err(Error::Numerical { what: "stitches", why: "their forces are not finite".into() });
        }
        let forces = Mat::from_fn(size, alone.ncols(), |s, c| root[s] * found[(s, c)]);
        add_product(alone.as_mut(), -1.0, give.as_ref(), forces.as_ref());
        add_product(alone.as_mut(), 1.0, held.as_ref(), found.as_ref().subrows(size, rigid));
        Ok(alone)
    }

    /// Rigid motions of components held by the stitches, each with a stitch energy of one half.
    fn held(&self, flesh: &Flesh, pulls: impl Fn(MatRef<'_, f64>) -> Mat<f64>) -> Result<Mat<f64>> {
        let values = &self.modes.eigenvalues;
        let rigid: Vec<usize> = (0..values.len()).filter(|&k| !flesh.swings.deforms(values[k])).collect();
        let shapes = flesh.swings.free.rows_of_dense(self.modes.shapes.as_ref());
        let motions = Mat::from_fn(shapes.nrows(), rigid.len(), |i, j| shapes[(i, rigid[j])]);
        // With soft springs, components move far, and the non-rigid part of these motions would matter:
        // `(K + s M)^-1 s M R`.
        let mut motions = flesh.swings.heavy(motions.as_ref());
        motions *= faer::Scale(flesh.swings.shift);
        flesh.swings.factor.solve_in_place(motions.as_mut());
        let pulled = pulls(motions.as_ref());
        let (stiffness, turns) = symmetric_eigen(inner(pulled.as_ref(), pulled.as_ref()).as_ref())?;
        let least = flesh.swings.rigid().max(IDLE * stiffness.last().copied().unwrap_or(0.0));
        let kept: Vec<usize> = (0..stiffness.len()).filter(|&i| stiffness[i] > least).collect();
        if self.rigid > stiffness.len() - kept.len() {
            let why = "stitches that are gone let a part go that the factor holds; find the modes anew";
            return Err(Error::Unsupported { what: "derivatives", why });
        }
        let turns =
            Mat::from_fn(turns.nrows(), kept.len(), |i, j| turns[(i, kept[j])] / stiffness[kept[j]].sqrt());
        Ok(product(motions.as_ref(), turns.as_ref()))
    }

    /// Checks for one derivative per pair of modes, else [`Error::Shape`].
    pub(in crate::subspace) fn check_derivatives(&self, derivatives: MatRef<'_, f64>) -> Result<()> {
        let (rows, columns) = (self.modes.shapes.nrows(), pairs(self.modes.eigenvalues.len()).len());
        if derivatives.shape() == (rows, columns) {
            return Ok(());
        }
        let shape = |(rows, columns): (usize, usize)| format!("({columns}, {}, 3)", rows / 3);
        let (expected, got) = (shape((rows, columns)), shape(derivatives.shape()));
        Err(Error::Shape { what: "derivatives", expected, got })
    }
}
