//! Projection from coefficients to displacements of points, and of forces at the points back.

mod basis;
mod handles;
mod modes;
mod project;
mod vertices;

use faer::MatRef;

use crate::mesh::{Embedding, TetMesh};
use crate::subspace::Handles;
use crate::{Error, Result, check};
use basis::DisplacementProjector;
use handles::HandleProjector;
use modes::ModeProjector;
use project::Project;
use vertices::VertexProjector;

/// Map from coefficients to displacements at fixed points: tet vertices or render vertices.
///
/// ```
/// use jounce::kinematics::Projector;
///
/// // Two points and one mode, whose weight is 1 at the first point and a half at the second.
/// let projector = Projector::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 0.5], 1)?;
/// // An affine map of 3 x 4: the mode moves along z by 2 m.
/// let coefficients = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
/// let mut moved = [0.0; 6];
/// projector.displacement(&coefficients, &mut moved)?;
/// assert_eq!(moved, [0.0, 0.0, 2.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct Projector(Box<dyn Project>);

impl Projector {
    /// Projector of modes, from points (p x 3) and the mode weights at them (p x m, C order).
    ///
    /// # Errors
    /// [`Error::Shape`] if the lengths do not match.
    pub fn new(points: &[[f64; 3]], weights: &[f64], modes: usize) -> Result<Self> {
        Ok(Self(Box::new(ModeProjector::new(points, weights, modes)?)))
    }

    /// Projector of the full space, whose coefficients are the vertex displacements.
    pub(crate) fn of_vertices(mesh: &TetMesh, embedding: Option<&Embedding>) -> Result<Self> {
        Ok(Self(Box::new(VertexProjector::new(mesh, embedding)?)))
    }

    /// Projector of a basis of vertex displacements, 3n x r.
    pub(crate) fn of_basis(
        basis: MatRef<'_, f64>,
        mesh: &TetMesh,
        embedding: Option<&Embedding>,
    ) -> Result<Self> {
        Ok(Self(Box::new(DisplacementProjector::new(basis, mesh, embedding)?)))
    }

    /// Projector of handles on vertices, or on the points of an embedding in tets of the vertices.
    pub(crate) fn of_handles(
        handles: &Handles,
        vertices: &[[f64; 3]],
        embedding: Option<(&Embedding, &[[u32; 4]])>,
    ) -> Self {
        Self(Box::new(HandleProjector::new(handles, vertices, embedding)))
    }

    /// Number of points p.
    pub fn point_count(&self) -> usize {
        self.0.point_count()
    }

    /// Writes the displacements, p x 3 in metres, of coefficients in C order: m x 3 x 4 for modes, n x 3
    /// for vertices, r for a basis or k x 3 x 4 for handles.
    ///
    /// Large bodies are split between threads, with identical bits for any number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if either slice has the wrong length.
    pub fn displacement(&self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        check::shape("out", &[self.point_count(), 3], out.len())?;
        if coefficients.len() != self.0.coefficient_count() {
            let got = format!("{} numbers", coefficients.len());
            return Err(Error::Shape { what: "coefficients", expected: self.0.shape(), got });
        }
        self.0.displacement(coefficients, out);
        Ok(())
    }

    /// The generalised force, of the shape of the coefficients, of forces at the points, p x 3 in newtons:
    /// the exact transpose of [`Projector::displacement`].
    ///
    /// Work on the coefficients equals work on the displacements. Summed in f64 and in the same order for
    /// any number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for the forces.
    pub fn reduce_forces(&self, forces: &[f64]) -> Result<Vec<f64>> {
        check::shape("forces", &[self.point_count(), 3], forces.len())?;
        check::finite("forces", forces, 3)?;
        Ok(self.0.reduce_forces(forces))
    }
}
