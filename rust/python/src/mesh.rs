//! `TetMesh`, `SurfaceMesh` and `Embedding`.

use std::sync::Arc;

use jounce::{Error, file, mesh};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::job::made;
use crate::recipe::made_by;

/// A tetrahedral mesh with positive volumes: `det[x1 - x0, x2 - x0, x3 - x0] / 6 > 0`.
///
/// Tets are linear elements, which resist bending too much: a beam sags 0.56 to 0.68 times as far as it
/// should with two cubes of tets across, and 0.80 to 0.88 times with four. The cells of `TetMesh.lattice`
/// do not.
///
/// Parameters
/// ----------
/// vertices : (n, 3) array
///     Positions, metres.
/// tets : (t, 4) array of integers
///     Vertex indices of each tet.
/// solid : (t,) array, optional
///     Share of flesh in each tet, in (0, 1]; None is 1.
///
/// Raises
/// ------
/// ValueError
///     For a vertex that is not finite, an index out of range, a flat or inverted tet, a vertex
///     without a tet, and a share out of range.
///
/// Examples
/// --------
/// >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
/// >>> mesh = jounce.TetMesh(corners, [[0, 1, 2, 3]])
/// >>> mesh
/// TetMesh(4 vertices, 1 tets)
/// >>> mesh.volumes.round(3).tolist()
/// [0.167]
#[pyclass(frozen, module = "jounce", name = "TetMesh")]
pub struct TetMesh(pub Arc<mesh::TetMesh>);

#[pymethods]
impl TetMesh {
    #[new]
    #[pyo3(signature = (vertices, tets, *, solid=None))]
    fn new(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        tets: &Bound<'_, PyAny>,
        solid: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let vertices = arrays::points(vertices, "vertices")?;
        let tets = arrays::indices::<4>(tets, "tets", &[Axis::Any("t"), Axis::Is(4)], vertices.len())?;
        let axes = [Axis::Is(tets.len())];
        let solid = solid.map(|solid| arrays::array::<f64>(solid, "solid", &axes)).transpose()?;
        let solid = solid.as_ref().map(|solid| solid.slice());
        let mesh = run(py, || {
            let mesh = mesh::TetMesh::new(vertices, tets)?;
            match solid {
                Some(solid) => mesh.with_solid(solid),
                None => Ok(mesh),
            }
        })?;
        Ok(Self(Arc::new(mesh)))
    }

    /// Fills a surface with a lattice of tets. The surface may be open, have several parts, or intersect
    /// itself.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Positions on the surface, metres.
    /// triangles : (q, 3) array of integers
    ///     Indices of the points.
    /// resolution : int, default 32
    ///     Cells along the longest side of the bounding box.
    /// tet_count : int, optional
    ///     If given, selects the resolution with about as many tets; at most 20 million.
    /// solid : bool, default False
    ///     Count only the inside share of tets cut by the surface; not with tet_count.
    ///
    /// Returns
    /// -------
    /// TetMesh
    ///     The mesh.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For arguments out of range.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> round(float(mesh.volumes.sum()), 3)
    /// 4.0
    #[staticmethod]
    #[pyo3(signature = (points, triangles, resolution=32, *, tet_count=None, solid=false))]
    fn lattice(
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        resolution: i64,
        tet_count: Option<i64>,
        solid: bool,
    ) -> PyResult<Self> {
        if solid && tet_count.is_some() {
            return Err(PyValueError::new_err("solid, tet_count: expected one of them, got both"));
        }
        let resolution = arrays::count(resolution, "resolution")?;
        let tet_count = tet_count.map(|count| arrays::count(count, "tet_count")).transpose()?;
        let surface = surface(points, triangles)?;
        made(py, move |progress| match tet_count {
            Some(count) => mesh::lattice_with_tet_count(&surface, count, progress),
            None if solid => mesh::solid_lattice(&surface, resolution, progress),
            None => mesh::lattice(&surface, resolution, progress),
        })
        .map(Self)
    }

    /// Vertex positions, (n, 3) float64, metres, read only.
    #[getter]
    fn vertices<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.0.vertices().as_flattened(), &[3])
    }

    /// Vertex indices of each tet, (t, 4) int32.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let tets = self.0.tets();
        arrays::owned(py, arrays::signed(tets.as_flattened()), &[tets.len(), 4])
    }

    /// Share of flesh in each tet, (t,) float64 in (0, 1], read only.
    #[getter]
    fn solid<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.0.solid(), &[])
    }

    /// Corners of the cells with a single elastic energy, (c, 8) int32; five consecutive tets each. Empty
    /// if each tet has an energy of its own.
    #[getter]
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let corners: Vec<u32> = self.0.cells().iter().flat_map(|cell| cell.corners).collect();
        arrays::owned(py, arrays::signed(&corners), &[self.0.cells().len(), 8])
    }

    /// Centre of the flesh in each of `cells` and its variance along each axis, (c, 2, 3) float64: 0 and
    /// 1/3 for a full cell with sides at -1 and 1.
    #[getter]
    fn flesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let numbers = self.0.cells().iter().flat_map(|cell| [cell.centre, cell.spread]).flatten().collect();
        arrays::owned(py, numbers, &[self.0.cells().len(), 2, 3])
    }

    /// Volume of the flesh in each tet, (t,) float64, cubic metres, read only.
    #[getter]
    fn volumes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.0.volumes(), &[])
    }

    /// Volume of flesh lumped to each vertex, (n,) float64, cubic metres: the vertex mass at a density of
    /// 1. Each tet gives a quarter to each corner; in partly filled `cells`, vertices near the flesh get
    /// more.
    #[getter]
    fn vertex_volumes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let volumes = jounce::operators::vertex_volumes(&self.0);
        let shape = [volumes.len()];
        arrays::owned(py, volumes, &shape)
    }

    /// The same mesh, open along every triangle between a tet of side -1 and a tet of side 1.
    ///
    /// Vertices are doubled where the cut separates the tets around them, and new ones come last. Tets keep
    /// their order.
    ///
    /// Parameters
    /// ----------
    /// sides : (t,) array of integers
    ///     -1 or 1 beside the cut, 0 elsewhere; all tets of a cell have the same side.
    ///
    /// Returns
    /// -------
    /// TetMesh
    ///     The cut mesh.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other numbers, for a cut through a cell, and for one that opens nothing.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> middle = mesh.vertices[mesh.tets].mean(axis=1)[:, 0]
    /// >>> cut = mesh.cut(np.where(middle < 2.0, -1, 1))
    /// >>> len(cut.vertices) > len(mesh.vertices)
    /// True
    fn cut(&self, py: Python<'_>, sides: &Bound<'_, PyAny>) -> PyResult<Self> {
        let sides = arrays::labels(sides, "sides", &[Axis::Is(self.0.tets().len())])?;
        run(py, || self.0.cut(&sides)).map(|made| Self(Arc::new(made)))
    }

    /// Triangles of a single tet, oriented outwards, (q, 3) int32.
    #[getter]
    fn boundary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let boundary = self.0.boundary();
        arrays::owned(py, arrays::signed(boundary.as_flattened()), &[boundary.len(), 3])
    }

    #[staticmethod]
    fn _decoded(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_mesh(data)).map(|made| Self(Arc::new(made)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_decoded", (PyBytes::new(py, &file::encode_mesh(&self.0)),), None)
    }

    fn __repr__(&self) -> String {
        format!("TetMesh({} vertices, {} tets)", self.0.vertices().len(), self.0.tets().len())
    }
}

/// A surface of triangles without volume, such as a cape, a skirt or a hair card.
///
/// Parameters
/// ----------
/// points : (n, 3) array
///     Positions, metres.
/// triangles : (q, 3) array of integers
///     Indices of the points. The surface may be open, have several parts, and have flipped or
///     degenerate triangles.
///
/// Raises
/// ------
/// ValueError
///     For a point that is not finite and an index out of range.
///
/// Examples
/// --------
/// >>> jounce.SurfaceMesh(*jounce.shapes.box())
/// SurfaceMesh(8 points, 12 triangles)
#[pyclass(frozen, module = "jounce", name = "SurfaceMesh")]
pub struct SurfaceMesh(pub Arc<mesh::SurfaceMesh>);

#[pymethods]
impl SurfaceMesh {
    #[new]
    #[pyo3(text_signature = "(points, triangles)")]
    fn new(points: &Bound<'_, PyAny>, triangles: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Arc::new(surface(points, triangles)?)))
    }

    /// Positions, (n, 3) float64, metres, read only.
    #[getter]
    fn points<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.0.points().as_flattened(), &[3])
    }

    /// Point indices of each triangle, (q, 3) int32.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let triangles = self.0.triangles();
        arrays::owned(py, arrays::signed(triangles.as_flattened()), &[triangles.len(), 3])
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        made_by::<Self>(py, "", (Self::points(slf)?, slf.get().triangles(py)?), None)
    }

    fn __repr__(&self) -> String {
        format!("SurfaceMesh({} points, {} triangles)", self.0.points().len(), self.0.triangles().len())
    }
}

/// A mesh of tets or a surface without volume.
#[derive(FromPyObject)]
pub enum AnyMesh<'py> {
    Tets(Bound<'py, TetMesh>),
    Surface(Bound<'py, SurfaceMesh>),
}

impl<'py> AnyMesh<'py> {
    /// The object of Python.
    pub fn any(&self) -> &Bound<'py, PyAny> {
        match self {
            Self::Tets(mesh) => mesh.as_any(),
            Self::Surface(surface) => surface.as_any(),
        }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        match self {
            Self::Tets(mesh) => mesh.get().0.vertices().len(),
            Self::Surface(surface) => surface.get().0.points().len(),
        }
    }

    /// The mesh free of Python, with the thickness of a surface in metres.
    pub fn shape(&self, thickness: Option<f64>) -> PyResult<Shape> {
        let refused = |why| Err(refused(Error::Unsupported { what: "thickness", why }));
        match (self, thickness) {
            (Self::Tets(mesh), None) => Ok(Shape::Tets(mesh.get().0.clone())),
            (Self::Surface(surface), Some(thickness)) => {
                Ok(Shape::Surface(surface.get().0.clone(), thickness))
            }
            (Self::Tets(_), Some(_)) => refused("tets have a volume; leave it out"),
            (Self::Surface(_), None) => refused("a surface without volume has one; give it in metres"),
        }
    }
}

/// A mesh of tets, or a surface with its thickness in metres.
pub enum Shape {
    Tets(Arc<mesh::TetMesh>),
    Surface(Arc<mesh::SurfaceMesh>, f64),
}

/// Points embedded in a tet mesh: `x = sum_i barycentric_i x_i` over the corners of one tet each.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     Mesh around the points.
/// points : (p, 3) array
///     Positions at rest, metres. A point outside is attached to the nearest point of the mesh; its
///     barycentric weights too are in [0, 1] with a sum of 1.
///
/// Raises
/// ------
/// ValueError
///     For a point that is not finite.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> embedding = jounce.Embedding(mesh, points)
/// >>> bool(np.allclose(embedding.interpolate(mesh.vertices), points))
/// True
#[pyclass(frozen, module = "jounce", name = "Embedding")]
pub struct Embedding {
    pub inner: Arc<mesh::Embedding>,
    pub mesh: Arc<mesh::TetMesh>,
}

impl Embedding {
    pub fn wrap(inner: Arc<mesh::Embedding>, mesh: Arc<mesh::TetMesh>) -> Self {
        Self { inner, mesh }
    }
}

#[pymethods]
impl Embedding {
    #[new]
    #[pyo3(text_signature = "(mesh, points)")]
    fn new(py: Python<'_>, mesh: &TetMesh, points: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = arrays::points(points, "points")?;
        let mesh = mesh.0.clone();
        let inner = run(py, || mesh::Embedding::new(&mesh, points))?;
        Ok(Self { inner: Arc::new(inner), mesh })
    }

    /// Linear interpolation of vertex values to the points: (n, k) float64 to (p, k) float64.
    ///
    /// Parameters
    /// ----------
    /// values : (n, k) array
    ///     Values at the vertices.
    ///
    /// Returns
    /// -------
    /// (p, k) array
    ///     The values at the points.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> markers = jounce.Embedding(mesh, [[0.3, 0.5, 0.5], [1.7, 0.2, 0.9]])
    /// >>> stretched = mesh.vertices * [2.0, 1.0, 1.0]
    /// >>> markers.interpolate(stretched).round(6).tolist()
    /// [[0.6, 0.5, 0.5], [3.4, 0.2, 0.9]]
    fn interpolate<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let n = self.mesh.vertices().len();
        let values = arrays::array::<f64>(values, "values", &[Axis::Is(n), Axis::Any("k")])?;
        let (k, values) = (values.len(1), values.slice());
        let result = run(py, || self.inner.interpolate(&self.mesh, values, k))?;
        arrays::owned(py, result, &[self.inner.points().len(), k])
    }

    /// The points at rest, (p, 3) float64, metres, read only.
    #[getter]
    fn points<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.inner.points().as_flattened(), &[3])
    }

    /// Tet of each point, (p,) int32.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(self.inner.tets()), &[self.inner.tets().len()])
    }

    /// Barycentric weights of each point in its tet, (p, 4) float64, rows sum to 1, read only.
    #[getter]
    fn barycentric<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |mesh| mesh.inner.barycentric().as_flattened(), &[4])
    }

    /// Largest distance of a point from the mesh, metres; 0 if all points are inside.
    #[getter]
    fn furthest(&self) -> f64 {
        self.inner.furthest()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(slf.py(), "", (TetMesh(slf.get().mesh.clone()), Self::points(slf)?), None)
    }

    fn __repr__(&self) -> String {
        format!("Embedding({} points)", self.inner.points().len())
    }
}

/// The surface of points (p, 3) and triangles (q, 3).
pub fn surface(points: &Bound<'_, PyAny>, triangles: &Bound<'_, PyAny>) -> PyResult<mesh::SurfaceMesh> {
    let points = arrays::points(points, "points")?;
    let axes = [Axis::Any("q"), Axis::Is(3)];
    let triangles = arrays::indices::<3>(triangles, "triangles", &axes, points.len())?;
    mesh::SurfaceMesh::new(points, triangles).map_err(refused)
}
