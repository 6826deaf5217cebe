//! A cut of a body's mesh.

use faer::Mat;

use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::{Error, Result};

/// Largest number of doubled vertices up to which a border of the factor is cheaper than another factor.
const LONGEST: usize = 40;

/// The cut mesh with the origin of its vertices.
pub(super) struct Cut {
    /// The cut mesh.
    pub(super) mesh: TetMesh,
    /// Vertex of the body's mesh for each of the cut one.
    pub(super) origin: Vec<u32>,
    /// Number of vertices of the body's mesh.
    pub(super) before: usize,
}

impl Cut {
    /// A mesh as a cut of another one, by the vertices of its tets.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a mesh that is no cut of this one.
    pub(super) fn new(whole: &TetMesh, mesh: &TetMesh) -> Result<Self> {
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
