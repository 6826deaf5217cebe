//! `Dents`: a displayed skin pressed by colliders.

use jounce::potentials::contact;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis, copied};
use crate::contact::Collider;
use crate::errors::run;
use crate::mesh::Embedding;
use crate::recipe::Recipe;

/// A displayed skin whose points inside colliders move to their surfaces.
///
/// A Simulation keeps its contact points out of colliders, moving the body in its own coordinates. Modes have
/// no dent of the size of a finger, and a fine skin has points between those in contact. Here each point
/// moves by itself, out of a collider the nearest way: `u = d n` for a small depth d. Below it flesh gives
/// way up to half of its distance from pinned vertices, at most a twentieth of the skin's size. Deeper skin
/// stays in place more and more, and skin that would close around a collider stays too. The body feels
/// nothing of it.
///
/// Parameters
/// ----------
/// embedding : Embedding
///     Points of the skin in the mesh of the body.
/// triangles : (q, 3) array of integers
///     Triangles of the skin.
/// pinned : (n,) array of bool, optional
///     Vertices of the mesh that do not give way.
///
/// Raises
/// ------
/// ValueError
///     For another number of vertices, and for triangles of unknown points.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> dents = jounce.Dents(jounce.Embedding(mesh, points), triangles)
/// >>> floor = jounce.Collider.plane((0, 0, 0.01))
/// >>> shown = dents.press(points, [floor], np.eye(3, 4)[None])
/// >>> sorted(set(shown[:, 2].round(3).tolist()))
/// [0.01, 1.0]
#[pyclass(frozen, module = "jounce", name = "Dents")]
pub struct Dents {
    inner: contact::Dents,
    recipe: Recipe,
}

#[pymethods]
impl Dents {
    #[new]
    #[pyo3(signature = (embedding, triangles, pinned=None))]
    fn new(
        py: Python<'_>,
        embedding: Bound<'_, Embedding>,
        triangles: &Bound<'_, PyAny>,
        pinned: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let given = (&embedding, copied(triangles)?, pinned.map(copied).transpose()?);
        let recipe = Recipe::new(py.get_type::<Self>().as_any(), "", given, None)?;
        let Embedding { inner: skin, mesh } = embedding.get();
        let (count, vertices) = (skin.points().len(), mesh.vertices().len());
        let axes = [Axis::Any("q"), Axis::Is(3)];
        let triangles = arrays::indices::<3>(triangles, "triangles", &axes, count)?;
        let pinned = match pinned {
            Some(pinned) => arrays::array::<bool>(pinned, "pinned", &[Axis::Is(vertices)])?.slice().to_vec(),
            None => vec![false; vertices],
        };
        let inner = run(py, || contact::Dents::new(mesh, skin, &triangles, &pinned))?;
        Ok(Self { inner, recipe })
    }

    /// Displayed places of the points among colliders.
    ///
    /// Parameters
    /// ----------
    /// points : (p, 3) array
    ///     Places of the points with their displacement, metres.
    /// colliders : sequence of Collider
    ///     The colliders; points that one spares are not moved by it.
    /// transforms : (c, 3, 4) array
    ///     Rotation and translation of each collider from its initial place, metres.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Places, metres; points outside of all colliders keep all bits.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape, values that are not finite, and transforms that are not rigid.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((1.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> dents = jounce.Dents(jounce.Embedding(mesh, points), triangles)
    /// >>> ball, lifted = jounce.Collider.sphere(0.1, (1.0, 1.0, 1.0)), np.eye(3, 4)[None]
    /// >>> lifted[0, 2, 3] = 0.08
    /// >>> moved = dents.press(points, [ball], lifted) - points
    /// >>> (moved[moved.any(axis=1)].round(3) + 0.0).tolist()
    /// [[0.0, 0.0, -0.02]]
    fn press<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        colliders: Vec<Bound<'py, Collider>>,
        transforms: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let axes = [Axis::Is(colliders.len()), Axis::Is(3), Axis::Is(4)];
        let transforms = arrays::array::<f64>(transforms, "transforms", &axes)?;
        let colliders: Vec<_> = colliders.iter().map(|collider| collider.get().inner.clone()).collect();
        let mut places = arrays::points(points, "points")?;
        let transforms = arrays::transforms(transforms.slice());
        run(py, || self.inner.press(&colliders, transforms, &mut places))?;
        arrays::owned(py, places.as_flattened().to_vec(), &[places.len(), 3])
    }

    /// Depth of the flesh that gives way below each point, (p,) float64, metres.
    #[getter]
    fn depths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let depths = self.inner.depths();
        arrays::owned(py, depths.to_vec(), &[depths.len()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("Dents({} points)", self.inner.depths().len())
    }
}
