//! Linear modes of a body that has changed since its factorisation.

use std::sync::Arc;

use super::edits::{Edit, Edits};
use super::flesh::{Flesh, LinearModes};
use super::linear::LinearProblem;
use super::update::{GOOD, Seam, Updated};
use crate::parallel::on_pool;
use crate::{Progress, Result};

/// A changed body with its modes and their residuals.
#[non_exhaustive]
pub struct EditedModes {
    /// The changed body.
    pub problem: LinearProblem,
    /// The lowest modes of the changed body, mass-orthonormal.
    pub modes: LinearModes,
    /// Bounds of the relative errors of the eigenvalues, k, as in
    /// [`ModesUpdate::residuals`](super::ModesUpdate::residuals); for a mode that does not deform the body,
    /// relative to the shift. 0 for modes of a new factor.
    pub residuals: Vec<f64>,
    /// `true` if the body was factored anew, because modes from before would take longer or miss the bound.
    pub refactored: bool,
}

impl LinearProblem {
    /// Changes of the body so far.
    pub(super) fn edit(&self) -> Edit {
        let none = || Edit { stitches: self.flesh.stitches.clone(), factors: None, cut: None };
        self.edits.as_ref().map_or_else(none, |edits| edits.edit.clone())
    }

    /// The body with these changes in place of earlier ones, and its lowest modes; edits start from the body
    /// as factored.
    pub(super) fn edited(
        &self,
        modes: &LinearModes,
        edit: Edit,
        count: usize,
        progress: &Progress,
    ) -> Result<EditedModes> {
        let flesh = self.flesh.clone();
        let modes = self.edits.as_ref().map_or_else(|| Arc::new(modes.clone()), |edits| edits.modes.clone());
        let edits = Edits { modes: modes.clone(), edit, anew: Arc::default() };
        let (edit, mut problem) = (edits.edit.clone(), Self { flesh, edits: Some(edits), seam: None });
        if edit.cut.as_ref().is_some_and(|cut| cut.is_long()) || problem.flesh.is_far(&edit) {
            return problem.anew(count, progress);
        }
        let opened = edit.cut.as_ref().map(|cut| problem.flesh.opened(cut)).transpose()?;
        let swings = opened.as_ref().unwrap_or(&problem.flesh.swings);
        let change = problem.flesh.change(swings, &modes, &edit)?;
        let lifted = edit.cut.as_ref().map(|cut| cut.lifted(&modes.shapes));
        let known = (lifted.as_ref().unwrap_or(&modes.shapes).as_ref(), modes.eigenvalues.as_slice());
        let Updated { eigenvalues, vectors, residuals, .. } =
            on_pool(|| swings.update(known, &change, count))?;
        if edit.is_of_stitches() {
            let rigid = eigenvalues.iter().filter(|&&value| !swings.deforms(value)).count();
            problem.seam = Some(Seam { change: Arc::new(change), modes, rigid });
        } else if residuals.iter().any(|residual| *residual > GOOD) {
            return problem.anew(count, progress);
        }
        let modes = LinearModes { shapes: vectors, eigenvalues };
        Ok(EditedModes { problem, modes, residuals, refactored: false })
    }

    /// Modes of the changed body from a factor of its own.
    fn anew(self, count: usize, progress: &Progress) -> Result<EditedModes> {
        let modes = self.factored(progress)?.swings.lowest_swings(count, progress)?;
        Ok(EditedModes { problem: self, modes, residuals: vec![0.0; count], refactored: true })
    }

    /// The body with a factor that, with the seam, gives its static responses.
    pub(super) fn factored(&self, progress: &Progress) -> Result<&Flesh> {
        let Some(Edits { edit, anew, .. }) = self.edits.as_ref().filter(|edits| !edits.edit.is_of_stitches())
        else {
            return Ok(&self.flesh);
        };
        if let Some(flesh) = anew.get() {
            return Ok(flesh);
        }
        let flesh = &self.flesh;
        let factors = edit.factors.as_deref();
        let material = factors.map_or_else(|| Ok(flesh.material.clone()), |f| flesh.material.stiffened(f))?;
        let like = (edit.cut.is_none() && edit.stitches == flesh.stitches).then_some(&*flesh.swings.factor);
        let held = (&flesh.vertices(edit.cut.as_deref()), flesh.constraint.clone());
        let body = (self.mesh().clone(), material);
        let made = Flesh::new(body, held, edit.stitches.clone(), like, progress)?;
        Ok(anew.get_or_init(|| made))
    }
}
