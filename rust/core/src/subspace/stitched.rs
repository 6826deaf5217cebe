//! Linear modes of a body with changed stitches.

use std::sync::Arc;

use super::flesh::LinearModes;
use super::linear::LinearProblem;
use super::update::{Change, Seam, Updated};
use crate::Result;
use crate::operators::{Stitches, for_each_coordinate};
use crate::parallel::on_pool;

/// A stitched body with its modes and their residuals.
pub struct StitchedModes {
    /// The body with stitches and the same factor.
    pub problem: LinearProblem,
    /// The lowest modes of the stitched body, mass-orthonormal.
    pub modes: LinearModes,
    /// Bounds of the relative errors of the eigenvalues, k, as in
    /// [`ModesUpdate::residuals`](super::ModesUpdate::residuals); for a mode that does not deform the body,
    /// relative to the shift.
    pub residuals: Vec<f64>,
}

impl LinearProblem {
    /// The body with these stitches in place of its own, and its `count` lowest modes, without another
    /// factorisation.
    ///
    /// `modes` are the body's lowest, including the six rigid motions of each free component, and a few
    /// more than `count`, because stitches raise some modes above others: rigid motions become slow modes
    /// of the whole, or stay rigid if nothing holds it. Modes are found as in
    /// [`ModesProblem::update`](crate::subspace::ModesProblem::update), with three columns per stitch. A
    /// body that was stitched starts again from the body it was stitched from, so that errors do not
    /// accumulate and the order of edits does not matter. Gaps have no effect: no stitch pulls at rest.
    /// `[IDSR sec. 4.1]`
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for stitches or modes of another mesh,
    /// [`Error::Range`](crate::Error::Range) unless there are `count` modes,
    /// [`Error::Numerical`](crate::Error::Numerical).
    pub fn stitched(&self, modes: &LinearModes, stitches: &Stitches, count: usize) -> Result<StitchedModes> {
        self.check_modes(modes)?;
        stitches.check_vertices(self.mesh().vertices().len())?;
        let swings = &self.flesh.swings;
        let modes = self.seam.as_ref().map_or_else(|| Arc::new(modes.clone()), |seam| seam.modes.clone());
        let change = self.flesh.stitches.change_to(stitches);
        let stiffness = change.stiffness().flat_map(|k| [k; 3]).collect();
        let change = Change::new(swings, &for_each_coordinate(&change.differences()), stiffness);
        let known = (modes.shapes.as_ref(), modes.eigenvalues.as_slice());
        let Updated { eigenvalues, vectors, residuals, .. } =
            on_pool(|| swings.update(known, &change, count))?;
        let rigid = eigenvalues.iter().filter(|&&value| !swings.deforms(value)).count();
        let seam = Some(Seam { change: Arc::new(change), modes, rigid });
        let problem = Self { flesh: self.flesh.clone(), seam };
        Ok(StitchedModes { problem, modes: LinearModes { shapes: vectors, eigenvalues }, residuals })
    }
}
