//! Linear modes of a body that has changed since its factorisation.

use std::sync::{Arc, OnceLock};

use super::cut::Cut;
use super::eigenpairs::Eigenproblem;
use super::flesh::{Flesh, LinearModes};
use super::linear::LinearProblem;
use super::update::{Change, GOOD, Rounds, Seam, Updated};
use crate::operators::{Stitches, for_each_coordinate};
use crate::parallel::on_pool;
use crate::{Progress, Result};

/// Rounds under the inverse of another stiffness, beyond which a factor of the body's own is cheaper.
const ROUNDS: Rounds = Rounds { most: 3, hope: 5.0 };
/// Ratio of the factors of stiffness beyond which a search with the factor before takes more rounds.
const FARTHEST: f64 = 30.0;

/// A changed body with its modes and their residuals.
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

/// Changes of a body since its factorisation.
#[derive(Clone)]
pub(super) struct Edits {
    /// The lowest modes of the body as factored.
    modes: Arc<LinearModes>,
    pub(super) edit: Edit,
    /// The changed body with a factor of its own, if it was needed.
    anew: Arc<OnceLock<Flesh>>,
}

/// Changes of a body.
#[derive(Clone)]
pub(super) struct Edit {
    pub(super) stitches: Stitches,
    /// Factor of each tet's stiffness; `None` if all are 1.
    pub(super) factors: Option<Arc<[f64]>>,
    pub(super) cut: Option<Arc<Cut>>,
}

impl Edit {
    /// `true` if stitches alone have changed.
    fn is_of_stitches(&self) -> bool {
        self.factors.is_none() && self.cut.is_none()
    }
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

impl Flesh {
    /// `true` if a part of the body has factors of stiffness so different that it is better factored anew.
    fn is_far(&self, edit: &Edit) -> bool {
        let Some(factors) = &edit.factors else { return false };
        let extreme = |pick: fn(f64, f64) -> f64| factors.iter().copied().reduce(pick).unwrap_or(1.0);
        // Stitches of a cut mesh connect no parts of the uncut one.
        let stitches = if edit.cut.is_some() { &self.stitches } else { &edit.stitches };
        extreme(f64::max) > FARTHEST * extreme(f64::min)
            && self.factor_of_parts(stitches, factors).contains(&0.0)
    }

    /// A change of the body, as a change of the eigenproblem of its cut mesh or its own.
    fn change(&self, swings: &Eigenproblem, modes: &LinearModes, edit: &Edit) -> Result<Change> {
        let springs = self.stitches.change_to(&edit.stitches);
        let stiffness = springs.stiffness().flat_map(|k| [k; 3]).collect();
        let mut change = Change::new(swings, &for_each_coordinate(&springs.differences()), stiffness);
        change.hessian = edit.cut.as_ref().map(|_| swings.hessian.clone());
        if let Some(factors) = &edit.factors {
            let energies = self.material.stiffened(factors)?.energies(factors.len());
            change.hessian = Some(self.matrix(&energies, edit.cut.as_deref())?.whole());
            change.rounds = ROUNDS;
            change.softening = factors.iter().map(|factor| factor.recip()).fold(1.0, f64::max);
            if edit.cut.is_none() {
                change.others = self.restricted(modes, &self.factor_of_parts(&edit.stitches, factors));
            }
        }
        Ok(change)
    }
}
