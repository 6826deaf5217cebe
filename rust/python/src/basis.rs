//! `Basis` and `mass_pca`: displacement bases of a body.

use std::sync::Arc;

use jounce::subspace::{self, Share};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::errors::refused;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::recipe::made_by;

/// Displacement fields on all vertices, the basis of a body's motion: `u = sum_j shapes_j q_j`.
///
/// Parameters
/// ----------
/// shapes : (r, n, 3) array
///     Displacement fields. Given directly, they may be neither orthonormal nor independent.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape and for values that are not finite.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> sway = np.zeros((1, len(mesh.vertices), 3))
/// >>> sway[0, :, 2] = mesh.vertices[:, 0] ** 2
/// >>> jounce.Basis(sway).shapes.shape == sway.shape
/// True
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

    /// Basis fields, (r, n, 3) float64; orthonormal in the mass if made by `mass_pca`, 1/sqrt(kg).
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (rows, r) = self.0.columns.shape();
        arrays::owned(py, self.0.shapes(), &[r, rows / 3, 3])
    }

    /// Singular values of the snapshots, (k,) float64, m sqrt(kg), descending. All are listed; the basis
    /// keeps the first r directions. Empty for a basis made directly.
    #[getter]
    fn singular_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.singular_values.clone(), &[self.0.singular_values.len()])
    }

    #[staticmethod]
    fn _with_values(shapes: &Bound<'_, PyAny>, singular_values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = arrays::array::<f64>(singular_values, "singular_values", &[Axis::Any("r")])?;
        let basis = Arc::unwrap_or_clone(Self::new(shapes)?.0);
        Ok(Self(Arc::new(subspace::Basis { singular_values: values.slice().to_vec(), ..basis })))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_with_values", (self.shapes(py)?, self.singular_values(py)?), None)
    }

    fn __repr__(&self) -> String {
        let (rows, r) = self.0.columns.shape();
        format!("Basis({} vertices, {r} displacements)", rows / 3)
    }
}

/// Mass-orthonormal displacements closest to the displacements of a shot: mass-PCA [MOR eq. 12].
///
/// `M^1/2 A = U~ S V'` with snapshots as columns of A, `U = M^-1/2 U~`. In the mass norm, the error of
/// the first r fields is the root of the sum of the remaining squared singular values.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     Material, whose density gives the mass norm.
/// snapshots : (f, n, 3) array
///     Displacements in each frame, metres, such as those of a full-space simulation.
/// count : int, optional
///     Largest r; fewer fields if the snapshots have a lower rank.
/// energy : float, optional
///     Share of the sum of squared singular values, in (0, 1], that the smallest r must have. With
///     both, the smaller r wins; with neither, energy is 0.999.
///
/// Returns
/// -------
/// Basis
///     The basis.
///
/// Raises
/// ------
/// ValueError
///     For snapshots of another mesh, for values that are not finite, and for snapshots without
///     motion.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> shot = np.sin(np.arange(6.0))[:, None, None] * mesh.vertices[None]
/// >>> basis = jounce.mass_pca(mesh, jounce.Material(), shot)
/// >>> len(basis.shapes)
/// 1
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
