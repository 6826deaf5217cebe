//! `Collider`: what full-space bodies, loose ones and domains touch.

use jounce::mesh::SurfaceMesh;
use jounce::method::loads::contact::{self, Shape};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::run;

/// A rigid obstacle that full-space flesh, loose bodies and domains cannot enter; made by `Collider.plane`, `sphere`, `capsule`, `box` or `mesh`.
///
/// A Simulation or DomainTree has its colliders for good; they stand where they were made until a step gives them other places.
/// friction: Coulomb's coefficient, >= 0. Raises ValueError for sizes that are not positive and numbers that are not
/// finite.
#[pyclass(frozen, module = "jounce", name = "Collider")]
pub struct Collider {
    pub inner: contact::Collider,
    kind: &'static str,
}

impl Collider {
    fn new(
        py: Python<'_>,
        kind: &'static str,
        friction: f64,
        shape: impl FnOnce() -> jounce::Result<Shape> + Send,
    ) -> PyResult<Self> {
        let inner = run(py, || contact::Collider::new(shape()?, friction))?;
        Ok(Self { inner, kind })
    }
}

#[pymethods]
impl Collider {
    /// All that is behind a plane through a point, such as the ground. normal: of any length.
    #[staticmethod]
    #[pyo3(signature = (point=[0.0, 0.0, 0.0], normal=[0.0, 0.0, 1.0], friction=0.5),
           text_signature = "(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0), friction=0.5)")]
    fn plane(py: Python<'_>, point: [f64; 3], normal: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "plane", friction, || Shape::plane(point, normal))
    }

    /// A ball.
    #[staticmethod]
    #[pyo3(signature = (radius, center=[0.0, 0.0, 0.0], friction=0.5),
           text_signature = "(radius, center=(0.0, 0.0, 0.0), friction=0.5)")]
    fn sphere(py: Python<'_>, radius: f64, center: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "sphere", friction, || Shape::sphere(center, radius))
    }

    /// All that is no further from the segment between two points than a radius.
    #[staticmethod]
    #[pyo3(signature = (start, end, radius, friction=0.5))]
    fn capsule(py: Python<'_>, start: [f64; 3], end: [f64; 3], radius: f64, friction: f64) -> PyResult<Self> {
        Self::new(py, "capsule", friction, || Shape::capsule(start, end, radius))
    }

    /// A box along the axes, of the three sides given.
    #[staticmethod]
    #[pyo3(name = "box", signature = (size, center=[0.0, 0.0, 0.0], friction=0.5),
           text_signature = "(size, center=(0.0, 0.0, 0.0), friction=0.5)")]
    fn cuboid(py: Python<'_>, size: [f64; 3], center: [f64; 3], friction: f64) -> PyResult<Self> {
        Self::new(py, "box", friction, || Shape::cuboid(center, size))
    }

    /// What a surface encloses, by a grid of signed distances with `resolution` cells along its longest side, 8 to 128:
    /// details and walls thinner than a cell are lost.
    ///
    /// points: (p, 3) float64, metres. triangles: (q, 3) int32 or int64. It may be in parts, cut itself, and have
    /// holes and triangles turned around. Raises ValueError where it encloses nothing that the grid sees.
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
        Self::new(py, "mesh", friction, || Shape::mesh(&SurfaceMesh::new(points, triangles)?, resolution))
    }

    /// The same collider, through which some of the points that touch pass, such as those of the flesh around it.
    ///
    /// points: (k,) int32 or int64, indices into the `contact_points` of a Simulation, or without them into the
    /// vertices of the mesh's boundary, in order. A Simulation raises ValueError for one that there is not.
    fn sparing(&self, points: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = arrays::indices::<1>(points, "points", &[Axis::Any("k")], u32::MAX as usize)?;
        Ok(Self { inner: self.inner.clone().sparing(points.as_flattened()), kind: self.kind })
    }

    /// Coulomb's coefficient of friction.
    #[getter]
    fn friction(&self) -> f64 {
        self.inner.friction()
    }

    /// Signed distance of a point from where the collider was made, metres, negative inside, and the outward normal.
    fn distance(&self, point: [f64; 3]) -> (f64, [f64; 3]) {
        self.inner.shape().distance(point)
    }

    /// Signed distances of points (n, 3) from where the collider was made, (n,) float64, metres, negative inside.
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

    fn __repr__(&self) -> String {
        format!("Collider({}, friction={})", self.kind, self.inner.friction())
    }
}
