//! `Collider`: obstacles for full-space bodies, loose bodies and domains.

use jounce::mesh::SurfaceMesh;
use jounce::potentials::contact::{self, Shape};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::errors::run;
use crate::recipe::Recipe;

/// A rigid obstacle of bodies and domains, made by `Collider.plane`, `sphere`, `capsule`, `box` or
/// `mesh`.
///
/// The colliders of a Simulation or DomainTree are fixed at construction. Each stays at its initial
/// place until a step moves it. Friction is Coulomb's coefficient, >= 0.
///
/// Raises
/// ------
/// ValueError
///     For sizes that are not positive and for values that are not finite.
///
/// Examples
/// --------
/// >>> ball = jounce.Collider.sphere(0.5, center=(0, 0, 1))
/// >>> ball.distances([[0, 0, 2], [0, 0, 1]]).tolist()
/// [0.5, -0.5]
#[pyclass(frozen, module = "jounce", name = "Collider")]
pub struct Collider {
    pub inner: contact::Collider,
    kind: &'static str,
    recipe: Recipe,
}

impl Collider {
    fn new<'py>(
        py: Python<'py>,
        kind: &'static str,
        friction: f64,
        arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
        shape: impl FnOnce() -> jounce::Result<Shape> + Send,
    ) -> PyResult<Self> {
        let inner = run(py, || contact::Collider::new(shape()?, friction))?;
        let recipe = Recipe::new(py.get_type::<Self>().as_any(), kind, arguments, None)?;
        Ok(Self { inner, kind, recipe })
    }
}

#[pymethods]
impl Collider {
    /// The half-space behind a plane through a point, such as the ground.
    ///
    /// Parameters
    /// ----------
    /// point : 3 floats, default (0.0, 0.0, 0.0)
    ///     A point of the plane, metres.
    /// normal : 3 floats, default (0.0, 0.0, 1.0)
    ///     Outward direction; any length.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider.
    ///
    /// Examples
    /// --------
    /// >>> jounce.Collider.plane().distance((0, 0, 2))
    /// (2.0, [0.0, 0.0, 1.0])
    #[staticmethod]
    #[pyo3(signature = (point=[0.0, 0.0, 0.0], normal=[0.0, 0.0, 1.0], friction=0.5),
           text_signature = "(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0), friction=0.5)")]
    fn plane(py: Python<'_>, point: [f64; 3], normal: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "plane", friction, (point, normal, friction), || Shape::plane(point, normal))
    }

    /// A ball.
    ///
    /// Parameters
    /// ----------
    /// radius : float
    ///     Radius, metres.
    /// center : 3 floats, default (0.0, 0.0, 0.0)
    ///     Centre, metres.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider.
    ///
    /// Examples
    /// --------
    /// >>> ball = jounce.Collider.sphere(0.5, center=(0, 0, 1))
    /// >>> ball.distance((0, 0, 2))
    /// (0.5, [0.0, 0.0, 1.0])
    #[staticmethod]
    #[pyo3(signature = (radius, center=[0.0, 0.0, 0.0], friction=0.5),
           text_signature = "(radius, center=(0.0, 0.0, 0.0), friction=0.5)")]
    fn sphere(py: Python<'_>, radius: f64, center: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "sphere", friction, (radius, center, friction), || Shape::sphere(center, radius))
    }

    /// All points within a radius of the segment between two points.
    ///
    /// Parameters
    /// ----------
    /// start : 3 floats
    ///     First end of the axis, metres.
    /// end : 3 floats
    ///     Second end of the axis, metres.
    /// radius : float
    ///     Radius, metres.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider.
    ///
    /// Examples
    /// --------
    /// >>> bone = jounce.Collider.capsule((0, 0, 0), (0, 0, 1), radius=0.1)
    /// >>> bone.distances([[0.3, 0, 0.5]]).round(3).tolist()
    /// [0.2]
    #[staticmethod]
    #[pyo3(signature = (start, end, radius, friction=0.5))]
    fn capsule(py: Python<'_>, start: [f64; 3], end: [f64; 3], radius: f64, friction: f64) -> PyResult<Self> {
        Self::new(py, "capsule", friction, (start, end, radius, friction), || {
            Shape::capsule(start, end, radius)
        })
    }

    /// An axis-aligned box with the given three sides.
    ///
    /// Parameters
    /// ----------
    /// size : 3 floats
    ///     Lengths of the sides, metres.
    /// center : 3 floats, default (0.0, 0.0, 0.0)
    ///     Centre, metres.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider.
    ///
    /// Examples
    /// --------
    /// >>> table = jounce.Collider.box((2.0, 1.0, 0.1), center=(0.0, 0.0, 0.75))
    /// >>> table.distances([[0, 0, 1], [0, 0, 0.75], [1.5, 0, 0.75]]).round(3).tolist()
    /// [0.2, -0.05, 0.5]
    #[staticmethod]
    #[pyo3(name = "box", signature = (size, center=[0.0, 0.0, 0.0], friction=0.5),
           text_signature = "(size, center=(0.0, 0.0, 0.0), friction=0.5)")]
    fn cuboid(py: Python<'_>, size: [f64; 3], center: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "box", friction, (size, center, friction), || Shape::cuboid(center, size))
    }

    /// The inside of a surface, as a grid of signed distances with `resolution` cells along the longest
    /// side, 8 to 128. Details and walls thinner than a cell are lost.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Positions on the surface, metres.
    /// triangles : (q, 3) array of integers
    ///     Indices of the points. The surface may have several parts, intersect itself, and have holes and
    ///     flipped triangles.
    /// resolution : int, default 64
    ///     Cells of the distance grid along the longest side.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a surface without an inside at this resolution.
    ///
    /// Examples
    /// --------
    /// >>> collider = jounce.Collider.mesh(*jounce.shapes.box((4.0, 1.0, 1.0)), resolution=32)
    /// >>> bool(collider.distances([[2.0, 0.5, 0.5]])[0] < 0)
    /// True
    #[staticmethod]
    #[pyo3(signature = (points, triangles, resolution=64, friction=0.5))]
    fn mesh(
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        resolution: i64,
        friction: f64,
    ) -> PyResult<Self> {
        let resolution = arrays::count(resolution, "resolution")?;
        let points = arrays::points(points, "points")?;
        let axes = [Axis::Any("q"), Axis::Is(3)];
        let triangles = arrays::indices::<3>(triangles, "triangles", &axes, points.len())?;
        let kept = arrays::owned(py, points.as_flattened().to_vec(), &[points.len(), 3])?;
        let corners = arrays::owned(py, arrays::signed(triangles.as_flattened()), &[triangles.len(), 3])?;
        Self::new(py, "mesh", friction, (kept, corners, resolution, friction), || {
            Shape::mesh(&SurfaceMesh::new(points, triangles)?, resolution)
        })
    }

    /// The solids behind patches of a surface: the part of the inside that is nearest to a patch, up to a
    /// quarter of its longest side deep. Solids of neighbouring patches overlap. Each with a placement of its
    /// own, they are together a collider that deforms.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Positions on the surface, metres.
    /// triangles : (q, 3) array of integers
    ///     Indices of the points.
    /// patches : list of (k,) arrays of integers
    ///     Indices of the triangles of each patch.
    /// resolution : int, default 64
    ///     Cells of a distance grid along the longest side of the whole surface; a patch has at least 8.
    /// friction : float, default 0.5
    ///     Coulomb's coefficient, >= 0.
    ///
    /// Returns
    /// -------
    /// list of Collider
    ///     A collider for each patch.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no patch has an inside at this resolution.
    /// IndexError
    ///     For an unknown point or triangle.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> right = (points[triangles][:, :, 0] > 2.0).any(axis=1)
    /// >>> sides = [np.flatnonzero(~right), np.flatnonzero(right)]
    /// >>> halves = jounce.Collider.patches(points, triangles, sides)
    /// >>> [bool(half.distances([[3.9, 0.5, 0.5]])[0] < 0) for half in halves]
    /// [False, True]
    #[staticmethod]
    #[pyo3(signature = (points, triangles, patches, resolution=64, friction=0.5))]
    fn patches(
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        patches: Vec<Bound<'_, PyAny>>,
        resolution: i64,
        friction: f64,
    ) -> PyResult<Vec<Self>> {
        let cells = arrays::count(resolution, "resolution")?;
        let points = arrays::points(points, "points")?;
        let axes = [Axis::Any("q"), Axis::Is(3)];
        let triangles = arrays::indices::<3>(triangles, "triangles", &axes, points.len())?;
        let own = |patch: &Bound<'_, PyAny>| {
            let found = arrays::indices::<1>(patch, "patches", &[Axis::Any("k")], triangles.len())?;
            PyResult::Ok(found.as_flattened().to_vec())
        };
        let patches: Vec<Vec<u32>> = patches.iter().map(own).collect::<PyResult<_>>()?;
        let kept = arrays::owned(py, points.as_flattened().to_vec(), &[points.len(), 3])?;
        let corners = arrays::owned(py, arrays::signed(triangles.as_flattened()), &[triangles.len(), 3])?;
        let made = run(py, || {
            let shapes = Shape::patches(&SurfaceMesh::new(points, triangles)?, &patches, cells)?;
            shapes
                .into_iter()
                .map(|shape| contact::Collider::new(shape, friction))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let alone = py.import("jounce._pickling")?.getattr("only_patch")?;
        let collider = |(patch, inner): (&Vec<u32>, contact::Collider)| {
            let words = (&kept, &corners, patch.clone(), resolution, friction);
            Ok(Self { inner, kind: "patch", recipe: Recipe::new(&alone, "", words, None)? })
        };
        patches.iter().zip(made).map(collider).collect()
    }

    /// The same collider with contact switched off for some contact points, such as those of the flesh
    /// around it.
    ///
    /// Parameters
    /// ----------
    /// points : (k,) array of integers
    ///     Indices into the `contact_points` of a Simulation, or without them into the boundary vertices of
    ///     the mesh, in order. A Simulation refuses an index out of range.
    ///
    /// Returns
    /// -------
    /// Collider
    ///     The collider without contact at these points.
    ///
    /// Examples
    /// --------
    /// >>> arm = jounce.Collider.capsule((0, 0, 0), (0, 0, 1), radius=0.1)
    /// >>> spared = arm.sparing([0, 3])
    fn sparing(slf: &Bound<'_, Self>, points: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = arrays::indices::<1>(points, "points", &[Axis::Any("k")], u32::MAX as usize)?;
        let Self { inner, kind, .. } = slf.get();
        let spared = points.as_flattened();
        let recipe = Recipe::new(slf.as_any(), "sparing", (spared.to_vec(),), None)?;
        Ok(Self { inner: inner.clone().sparing(spared), kind, recipe })
    }

    /// Coulomb coefficient of friction.
    #[getter]
    fn friction(&self) -> f64 {
        self.inner.friction()
    }

    /// Signed distance of a point to the collider at its initial place, metres, negative inside, and the
    /// outward normal.
    ///
    /// Parameters
    /// ----------
    /// point : 3 floats
    ///     Position, metres.
    ///
    /// Returns
    /// -------
    /// tuple of (float, list of float)
    ///     Distance, metres, negative inside, and outward normal.
    ///
    /// Examples
    /// --------
    /// >>> ball = jounce.Collider.sphere(1.0)
    /// >>> distance, normal = ball.distance((3.0, 4.0, 0.0))
    /// >>> nearest = np.array([3.0, 4.0, 0.0]) - distance * np.array(normal)
    /// >>> nearest.round(6).tolist()
    /// [0.6, 0.8, 0.0]
    fn distance(&self, point: [f64; 3]) -> (f64, [f64; 3]) {
        self.inner.shape().distance(point)
    }

    /// Signed distances of points (n, 3) to the collider at its initial place, (n,) float64, metres,
    /// negative inside.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Positions, metres.
    ///
    /// Returns
    /// -------
    /// (p,) array
    ///     Distances, metres, negative inside.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> bone = jounce.Collider.capsule((0.0, 0.5, 0.5), (2.0, 0.5, 0.5), radius=0.3)
    /// >>> inside = bone.distances(mesh.vertices) < 0
    /// >>> int(inside.sum()), bool(mesh.vertices[inside, 0].max() < 2.3)
    /// (5, True)
    fn distances<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let points = arrays::points(points, "points")?;
        let shape = self.inner.shape();
        let distances: Vec<f64> = py.detach(|| points.iter().map(|&point| shape.distance(point).0).collect());
        arrays::owned(py, distances, &[points.len()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("Collider({}, friction={})", self.kind, self.inner.friction())
    }
}
