//! `Basis` and `mass_pca`: displacements that span the motion of a body.

use std::sync::Arc;

use jounce::subspace::{self, Share};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::refused;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;

/// Displacements of all vertices that span the motion of a body: `u = sum_j shapes_j q_j`.
///
/// shapes: (r, n, 3) float64. Usually made by `mass_pca`; made directly, they need be neither orthonormal nor independent.
/// Raises ValueError for a wrong shape and for a number that is not finite.
#[pyclass(frozen, module = "jounce", name = "Basis")]
pub struct Basis(pub Arc<subspace::Basis>);

#[pymethods]
impl Basis {
    #[new]
    #[pyo3(text_signature = "(shapes)")]
    fn new(shapes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let axes = [Axis::Any("r"), Axis::Any("n"), Axis::Is(3)];
        let shapes = arrays::array::<f64>(shapes, "shapes", &axes)?;
        let basis = subspace::Basis::from_shapes(shapes.slice(), shapes.len(0)).map_err(refused)?;
        Ok(Self(Arc::new(basis)))
    }

    /// The displacements, (r, n, 3) float64; from `mass_pca` orthonormal in the mass, 1/sqrt(kg).
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (rows, r) = self.0.columns.shape();
        arrays::owned(py, self.0.shapes(), &[r, rows / 3, 3])
    }

    /// How much of the snapshots each direction has, (k,) float64, m sqrt(kg), descending: all that there are, of which the
    /// first r are kept. Empty for a basis made directly.
    #[getter]
    fn singular_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.singular_values.clone(), &[self.0.singular_values.len()])
    }

    fn __repr__(&self) -> String {
        let (rows, r) = self.0.columns.shape();
        format!("Basis({} vertices, {r} displacements)", rows / 3)
    }
}

/// The displacements of mass one that come closest to those of a shot: mass-PCA [MOR eq. 12].
///
/// `M^1/2 A = U~ S V'` with snapshots as columns of A, `U = M^-1/2 U~`: what the first r leave out of the shot is, in the mass
/// norm, the root of the sum of the other squared singular values. snapshots: (f, n, 3) float64, metres, displacements that
/// are added to the rig, such as those of a full-space simulation. count: at most so many, fewer where the snapshots
/// have no more; energy: in (0, 1], the fewest whose squared singular values are this share of all; the less of both. Without both
/// energy is 0.999.
/// Returns Basis. Raises ValueError for snapshots of another mesh, for numbers that are not finite, and where nothing
/// moves.
#[pyfunction]
#[pyo3(signature = (mesh, material, snapshots, count=None, energy=None))]
pub fn mass_pca(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    snapshots: &Bound<'_, PyAny>,
    count: Option<i64>,
    energy: Option<f64>,
) -> PyResult<Basis> {
    let axes = [Axis::Any("f"), Axis::Is(mesh.0.vertices().len()), Axis::Is(3)];
    let snapshots = arrays::array::<f64>(snapshots, "snapshots", &axes)?.slice().to_vec();
    let share = Share {
        energy: energy.unwrap_or(if count.is_some() { 1.0 } else { 0.999 }),
        count: count.map_or(Ok(usize::MAX), |count| arrays::count(count, "count"))?,
    };
    let (mesh, material) = (mesh.0.clone(), material.0.clone());
    let find =
        move |progress: &jounce::Progress| subspace::mass_pca(&mesh, &material, &snapshots, share, progress);
    made(py, find).map(Basis)
}
