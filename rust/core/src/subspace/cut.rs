//! Linear modes of a body that was cut after its factorisation: cutting as the inverse of stitching.

use std::sync::Arc;

use super::cut_mesh::Cut;
use super::edited::EditedModes;
use super::edits::Edit;
use super::flesh::LinearModes;
use super::linear::LinearProblem;
use crate::mesh::TetMesh;
use crate::{Error, Progress, Result};

impl LinearProblem {
    /// The body with a cut mesh, made by [`TetMesh::cut`] from the mesh it was built with, and its `count`
    /// lowest modes.
    ///
    /// A cut is the inverse of a stitch: a border of the factored matrix with the stiffness of the doubled
    /// vertices, where a stitch has one with the negative compliance of its spring. Modes are searched for in
    /// the span of those before and of residuals under the exact inverse of the cut body; a cut through many
    /// vertices takes another factor, and [`EditedModes::refactored`] tells it. A cut replaces an earlier
    /// one, the uncut mesh undoes it bit for bit, and stitches that were added since go: sew the
    /// vertices of the cut mesh by [`stitched`](Self::stitched). Stiffness stays. `modes` are the body's
    /// lowest, a few more than `count`.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another mesh, [`Error::Unsupported`] for a mesh that is no cut of this
    /// one and for modes complementary to a rig, [`Error::Range`] unless there are `count` modes,
    /// [`Error::Numerical`], [`Error::Cancelled`].
    pub fn cut(
        &self,
        modes: &LinearModes,
        mesh: &TetMesh,
        count: usize,
        progress: &Progress,
    ) -> Result<EditedModes> {
        self.check_modes(modes)?;
        if self.flesh.constraint.is_some() {
            let why =
                "the modes complement a rig, whose constraint a cut changes; find those of the cut mesh";
            return Err(Error::Unsupported { what: "cut", why });
        }
        let cut = Cut::new(&self.flesh.mesh, mesh)?;
        let cut = (cut.origin.len() > cut.before).then(|| Arc::new(cut));
        let before = &self.flesh.stitches;
        let stitches = cut.as_ref().map_or_else(|| Ok(before.clone()), |cut| cut.stitches(before))?;
        self.edited(modes, Edit { stitches, cut, ..self.edit() }, count, progress)
    }
}
