//! Linear modes of a body that was cut after its factorisation: cutting as the inverse of stitching.

use std::sync::Arc;

use faer::Mat;

use super::edits::{Edit, EditedModes};
use super::eigenpairs::Eigenproblem;
use super::flesh::{Flesh, LinearModes};
use super::linear::LinearProblem;
use super::update::Openings;
use crate::math::{Selection, add_diagonal};
use crate::mesh::TetMesh;
use crate::operators::{Stitches, lumped_mass};
use crate::{Error, Progress, Result};

/// Largest number of doubled vertices up to which a border of the factor is cheaper than another factor.
const LONGEST: usize = 40;

/// A cut of a body's mesh.
pub(super) struct Cut {
    /// The cut mesh.
    pub(super) mesh: TetMesh,
    /// Vertex of the body's mesh for each of the cut one.
    pub(super) origin: Vec<u32>,
    /// Number of vertices of the body's mesh.
    before: usize,
}

impl Cut {
    /// A mesh as a cut of another one, by the vertices of its tets.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a mesh that is no cut of this one.
    fn new(whole: &TetMesh, mesh: &TetMesh) -> Result<Self> {
        let before = whole.vertices().len();
        let why = "it is no cut of the body's mesh; make it from this mesh by `cut`";
        let wrong = || Error::Unsupported { what: "mesh", why };
        let count = mesh.vertices().len();
        let is_alike = mesh.tets().len() == whole.tets().len() && mesh.cells().len() == whole.cells().len();
        if !is_alike || count < before || mesh.solid() != whole.solid() {
            return Err(wrong());
        }
        let mut origin: Vec<u32> = (0..before as u32).chain((before..count).map(|_| u32::MAX)).collect();
        let corners = |mesh: &TetMesh| mesh.tets().as_flattened().to_vec();
        for (new, old) in corners(mesh).into_iter().zip(corners(whole)) {
            let known = &mut origin[new as usize];
            *known = if *known == u32::MAX { old } else { *known };
            if *known != old || mesh.vertices()[new as usize] != whole.vertices()[old as usize] {
                return Err(wrong());
            }
        }
        Ok(Self { mesh: mesh.clone(), origin, before })
    }

    /// `true` if a border of the factor is more expensive than another factor.
    pub(super) fn is_long(&self) -> bool {
        self.origin.len() - self.before > LONGEST
    }

    /// Displacements with both sides of the cut together.
    pub(super) fn lifted(&self, shapes: &Mat<f64>) -> Mat<f64> {
        let old = |row: usize| 3 * self.origin[row / 3] as usize + row % 3;
        Mat::from_fn(3 * self.origin.len(), shapes.ncols(), |row, k| shapes[(old(row), k)])
    }

    /// Stitches of the uncut mesh, at the vertices that keep their number.
    pub(super) fn stitches(&self, stitches: &Stitches) -> Result<Stitches> {
        Stitches::from_stitches(self.origin.len(), stitches.stitches().to_vec())
    }
}

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

impl Flesh {
    /// The eigenproblem of the cut body: the factor with a border.
    pub(super) fn opened(&self, cut: &Cut) -> Result<Eigenproblem> {
        let (vertices, swings) = (self.vertices(Some(cut)), &self.swings);
        let hessian = self.matrix(&self.energies, Some(cut))?.whole();
        let mass = vertices.values(&lumped_mass(&cut.mesh, &self.material));
        let mass: Vec<f64> = mass.iter().flat_map(|&mass| [mass; 3]).collect();
        let new = vertices.rows().iter().filter(|&&vertex| vertex as usize >= cut.before);
        let old = |&vertex: &u32| (0..3).map(move |c| 3 * cut.origin[vertex as usize] + c);
        let place = |row: u32| swings.free.place(row).expect("a doubled vertex moves with its origin");
        let origin = new.flat_map(old).map(place).collect();
        let openings = Some(Openings::new(&add_diagonal(&hessian, &mass, swings.shift), origin));
        let free = Selection::new(3 * cut.origin.len(), |row| vertices.contains(row / 3));
        let (shift, factor) = (swings.shift, swings.factor.clone());
        Ok(Eigenproblem { free, hessian, mass, constraints: 0, shift, factor, openings })
    }
}
