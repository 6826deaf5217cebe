//! `Rig`, `spread_to_interior` and `momentum_leak`.

use std::sync::Arc;

use jounce::{file, operators, rig};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::mesh::{AnyMesh, TetMesh};
use crate::recipe::made_by;

/// Linear-blend weights of a mesh: a posed vertex is `x_i = sum_j weights_ij T_j [X_i; 1]`.
///
/// Parameters
/// ----------
/// mesh : TetMesh or SurfaceMesh
///     Mesh of the vertices; a SurfaceMesh for an attached surface.
/// weights : (n, b) array
///     Skinning weights, one row a vertex, each with a sum of 1.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape, a weight that is not finite, and a row with another sum.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> along = mesh.vertices[:, 0] / 4
/// >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
/// >>> rig.bone_count
/// 2
#[pyclass(frozen, module = "jounce", name = "Rig")]
pub struct Rig(pub Arc<rig::Rig>);

#[pymethods]
impl Rig {
    #[new]
    #[pyo3(text_signature = "(mesh, weights)")]
    fn new(py: Python<'_>, mesh: AnyMesh<'_>, weights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let n = mesh.vertex_count();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(n), Axis::Any("b")])?;
        let (bones, weights) = (weights.len(1), weights.slice());
        run(py, || rig::Rig::new(n, bones, weights)).map(|rig| Self(Arc::new(rig)))
    }

    /// Number of bones b.
    #[getter]
    fn bone_count(&self) -> usize {
        self.0.bone_count()
    }

    /// The weights, (n, b) float64, rows sum to 1.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (n, b) = (self.0.vertex_count(), self.0.bone_count());
        let mut dense = vec![0.0; n * b];
        for bone in 0..b {
            for &(vertex, weight) in self.0.bone(bone) {
                dense[vertex as usize * b + bone] = weight;
            }
        }
        arrays::owned(py, dense, &[n, b])
    }

    /// The rig in which bone j moves as bone into[j], without the merged bones.
    ///
    /// Parameters
    /// ----------
    /// into : (b,) array of integers
    ///     The bone that replaces each; a kept bone names itself.
    ///
    /// Returns
    /// -------
    /// Rig
    ///     The rig, for constraints only: poses keep all bones.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an unknown bone and for a cyclic chain.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> along = mesh.vertices[:, 0] / 4
    /// >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
    /// >>> rig.merged([0, 0]).bone_count
    /// 1
    fn merged(&self, into: &Bound<'_, PyAny>) -> PyResult<Self> {
        let b = self.0.bone_count();
        let into = arrays::indices::<1>(into, "merge_into", &[Axis::Is(b)], b)?.into_flattened();
        self.0.merged(&into).map(|rig| Self(Arc::new(rig))).map_err(refused)
    }

    /// The same rig with shapes animated by the artist; modes do not imitate them.
    ///
    /// Parameters
    /// ----------
    /// shapes : (s, n, 3) array
    ///     Displacements at rest, of which only the directions matter.
    ///
    /// Returns
    /// -------
    /// Rig
    ///     The rig with the shapes.
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
    /// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    /// >>> breath = np.zeros((1, len(mesh.vertices), 3))
    /// >>> breath[0, :, 2] = mesh.vertices[:, 0]
    /// >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4, rig.with_shapes(breath))
    fn with_shapes(&self, shapes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let n = self.0.vertex_count();
        let shapes = arrays::array::<f64>(shapes, "shapes", &[Axis::Any("s"), Axis::Is(n), Axis::Is(3)])?;
        let rig = self.0.as_ref().clone();
        rig.with_shapes(shapes.slice()).map(|rig| Self(Arc::new(rig))).map_err(refused)
    }

    /// Vertices in a pose: `x_i = sum_j weights_ij T_j [X_i; 1]`.
    ///
    /// Parameters
    /// ----------
    /// points : (n, 3) array
    ///     Places of the vertices at rest, such as `mesh.vertices`, metres.
    /// pose : (b, 3, 4) array
    ///     Transform of each bone, rest to posed, in world space.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Posed places, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for a pose that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> along = mesh.vertices[:, 0] / 4
    /// >>> rig = jounce.Rig(mesh, np.stack([1 - along, along], axis=1))
    /// >>> pose = np.tile(np.eye(3, 4), (2, 1, 1))
    /// >>> pose[1, 2, 3] = 0.4
    /// >>> lift = rig.posed(mesh.vertices, pose) - mesh.vertices
    /// >>> bool(np.allclose(lift[:, 2], 0.4 * along))
    /// True
    fn posed<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        pose: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let points = arrays::points(points, "points")?;
        let pose = arrays::pose(pose, self.0.bone_count())?;
        let pose = arrays::transforms(pose.slice());
        let posed = run(py, || self.0.posed(&points, pose))?;
        arrays::owned(py, posed.into_flattened(), &[points.len(), 3])
    }

    #[staticmethod]
    fn _decoded(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_rig(data)).map(|made| Self(Arc::new(made)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_decoded", (PyBytes::new(py, &file::encode_rig(&self.0)),), None)
    }

    fn __repr__(&self) -> String {
        format!("Rig({} vertices, {} bones)", self.0.vertex_count(), self.0.bone_count())
    }
}

/// Harmonic extension of values from some vertices to all: `div grad f = 0` at the others.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// vertex_ids : (k,) array of integers
///     Vertices with a given value.
/// values : (k,) or (k, c) array
///     Values at these vertices.
///
/// Returns
/// -------
/// (n, k) array
///     Values at all vertices, in the same unit.
///
/// Raises
/// ------
/// ValueError
///     For an id out of range and for values that are not finite.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> outside = np.unique(mesh.boundary)
/// >>> spread = jounce.spread_to_interior(mesh, outside, mesh.vertices[outside])
/// >>> bool(np.allclose(spread, mesh.vertices))
/// True
#[pyfunction]
pub fn spread_to_interior<'py>(
    py: Python<'py>,
    mesh: &TetMesh,
    vertex_ids: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let n = mesh.0.vertices().len();
    let ids = arrays::indices::<1>(vertex_ids, "vertex_ids", &[Axis::Any("s")], n)?.into_flattened();
    let values = arrays::array::<f64>(values, "values", &[Axis::Is(ids.len()), Axis::Any("k")])?;
    let (k, values) = (values.len(1), values.slice());
    let spread = run(py, || operators::spread_to_interior(&mesh.0, &ids, values, k))?;
    arrays::owned(py, spread, &[n, k])
}

/// Momentum leak from the rig to the flesh: 1 on the surface, falling to 0 deepest inside.
///
/// Diffusion from the surface over a time derived from the mesh, independent of scale.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
///
/// Returns
/// -------
/// (n,) array
///     Leak of each vertex, in [0, 1]; 1 - leak is the matrix D of [FastCD].
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> leak = jounce.momentum_leak(mesh)
/// >>> round(float(leak.min()), 6), round(float(leak.max()), 4)
/// (0.0, 1.0)
#[pyfunction]
pub fn momentum_leak<'py>(py: Python<'py>, mesh: &TetMesh) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let leak = run(py, || operators::momentum_leak(&mesh.0))?;
    let n = leak.len();
    arrays::owned(py, leak, &[n])
}
