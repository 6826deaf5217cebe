//! Linear modes of a body with changed stitches.

use super::edited::EditedModes;
use super::edits::Edit;
use super::flesh::LinearModes;
use super::linear::LinearProblem;
use crate::operators::Stitches;
use crate::{Progress, Result};

impl LinearProblem {
    /// The body with these stitches in place of its own, and its `count` lowest modes, without another
    /// factorisation.
    ///
    /// `modes` are the body's lowest, including the six rigid motions of each free component, and a few
    /// more than `count`, because stitches raise some modes above others: rigid motions become slow modes
    /// of the whole, or stay rigid if nothing holds it. Modes are found as in
    /// [`ModesProblem::update`](crate::subspace::ModesProblem::update), with three columns per stitch. A
    /// body that was stitched starts again from the body it was stitched from, so that errors do not
    /// accumulate and the order of edits does not matter. Gaps have no effect: no stitch pulls at rest. The
    /// stiffness of a body that was [`stiffened`](Self::stiffened) stays, and so does a [`cut`](Self::cut).
    /// `[IDSR sec. 4.1]`
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for stitches or modes of another mesh,
    /// [`Error::Range`](crate::Error::Range) unless there are `count` modes,
    /// [`Error::Numerical`](crate::Error::Numerical).
    pub fn stitched(&self, modes: &LinearModes, stitches: &Stitches, count: usize) -> Result<EditedModes> {
        self.check_modes(modes)?;
        stitches.check_vertices(self.mesh().vertices().len())?;
        let edit = Edit { stitches: stitches.clone(), ..self.edit() };
        self.edited(modes, edit, count, &Progress::default())
    }
}
