//! `Body`: the whole way from a rigged surface to a model.

use std::sync::Arc;

use jounce::body;
use jounce::model;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays;
use crate::body_input::{Weights, named};
use crate::material::Material;
use crate::mesh::{Embedding, TetMesh};
use crate::model::Model;
use crate::recipe::{Recipe, made_by};
use crate::rig::Rig;
use crate::skeleton::role_name;
use crate::subspace::SkinningModes;

/// A rigged surface and everything for its simulation, built in one call.
///
/// Fills the surface with a lattice, carries the weights to the lattice, and computes leak, modes,
/// clusters and model.
///
/// `BodyJob` does the same without blocking.
///
/// Without `merge_into` and `bone_parents`, the modes are complementary to every bone. A pose always
/// has a transform for each bone.
///
/// Parameters
/// ----------
/// points : (p, 3) array
///     Positions on the surface, metres.
/// triangles : (q, 3) array of integers
///     Indices of the points.
/// weights : (p, b) array
///     Skinning weights, one row a point, each with a sum of 1.
/// resolution : int, optional
///     Cells along the longest side; None is those for about 12,000 tets, between 16 and 64.
/// solid : bool, default True
///     Count only the inside of the surface, as in `TetMesh.lattice`; False counts each touched
///     cell in full.
/// modes : int, default 24
///     Number of modes.
/// clusters : int, optional
///     Number of clusters, whose tets share one rotation; None is 140.
/// cubature : int, optional
///     Number of tets whose weighted forces stand for all; 0 uses clusters instead. None is 140, or 0
///     with clusters.
/// young : float or array, default 10000.0
///     Young's modulus, Pa, one number or (p,), interpolated to the inside on a log scale.
/// poisson : float, default 0.0
///     Poisson's ratio, in [0, 0.5); above 0 with a law other than "arap".
/// density : float, default 1000.0
///     Mass density, kg/m^3.
/// locality : float, default 0.0
///     Locality as in `localised_modes`; 0 for global modes.
/// driven : bool, optional
///     True for `driven_modes`, with locality 0; None is True for a body with a core.
/// law : {'arap', 'corotated'}, default 'arap'
///     Elastic law, as in `Material`.
/// leak : (p,) array, optional
///     Share of the default leak to keep at each point, in [0, 1]; None keeps all.
/// strength : (p,) array, optional
///     Factor on the rig's acceleration felt at each point, >= 0; None is 1 everywhere.
/// pinned : (p,) array of bool, optional
///     Points that follow the rig exactly.
/// core : SkeletonCore, optional
///     Bone inside the flesh, of the b bones, whose vertices follow the rig exactly too. With a core,
///     only parts of the body without core have modes complementary to the rig, leak multiplies
///     strength, and there may be fewer modes than requested.
/// merge_into : (b,) array of integers, optional
///     The bone that stands for each bone in the complementarity constraint; a bone that names
///     itself counts on its own.
/// bone_parents : (b,) array of integers, optional
///     Parent of each bone, -1 for none: a bone whose subtree moves less than 0.3 percent of the
///     mass counts as its parent.
/// shapes : (s, p, 3) array, optional
///     Displacements at rest that the artist animates, such as shape keys, metres; modes do not imitate
///     them. Each step receives their motion through `reduce_offsets`.
/// seed : int, default 0
///     Seed of the random draws; the same seed gives the same result.
/// stitches : (s, 2) array of integers, optional
///     Pairs of points joined by springs.
/// stitch_stiffness : float or array, default 10000.0
///     Stiffness of each stitch, N/m, one number or (s,).
/// stitch_gap : float or array, default 0.0
///     Share of the rest distance to keep, one number or (s,).
/// stitch_group : (s,) array of integers, optional
///     Group of each stitch, as in `Stitches`.
/// stitch_radius : float or array, default 0.0
///     Radius of the flesh at each end, metres, as in `Stitches`.
/// stitch_known : float or array, default 1.0
///     Share of the stitch stiffness used in the modal analysis, in (0, 1]. Use less than 1 for
///     stitches that a Simulation's `stitching` opens, since the modes then include the opening.
/// editable : bool, default False
///     Keep the factor of the modal analysis, tens of megabytes, for a fast `like`.
/// like : Body, optional
///     Body of the same surface and weights whose unchanged parts are reused. If only stiffness or
///     stitches differ and both bodies are editable, modes are updated from its modes, to about one
///     percent, and clusters stay.
///
/// Raises
/// ------
/// ValueError
///     With the error of the failing stage.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> body.mesh.tets.shape[1], body.model.mode_count
/// (4, 4)
/// >>> simulation = jounce.Simulation(body.model, dt=1 / 24)
/// >>> simulation.reset(np.eye(3, 4)[None])
#[pyclass(frozen, module = "jounce", name = "Body")]
pub struct Body {
    pub inner: Arc<body::Body>,
    model: Py<Model>,
    /// The weights as given.
    weights: Arc<Weights>,
}

impl Body {
    pub fn wrap(py: Python<'_>, inner: Arc<body::Body>, weights: Arc<Weights>) -> PyResult<Self> {
        let model = Py::new(py, Model::wrap(inner.model.clone(), Some(inner.material.clone())))?;
        Ok(Self { inner, model, weights })
    }

    /// A reduced model of the body, of its own or another material, as Python has it.
    pub fn reduced_model(
        slf: &Bound<'_, Self>,
        model: &model::Model,
        material: Option<&Arc<jounce::material::Material>>,
    ) -> PyResult<Model> {
        let known = material.unwrap_or(&slf.get().inner.material);
        let model = Model::wrap(model.clone(), Some(known.clone()));
        let material = material.map(|material| Material(material.clone()));
        let parts = (model.basis(), model.cubature(), material, model.frequency(), model.limit_samples());
        let recipe = Recipe::new(slf.as_any(), "reduced", parts, None)?;
        Ok(model.made_by(recipe))
    }
}

#[pymethods]
impl Body {
    /// Largest bound of the relative errors of the modes' eigenvalues after `like`, provided that no mode
    /// is missing; 0 for a new body.
    #[getter]
    fn residual(&self) -> f64 {
        self.inner.residual
    }

    /// Estimated error of modes updated by `like` at the tet vertices, (n,) float64: root mean square over
    /// modes of the bound of the error to first order, as a share of the mode's largest weight. Zeros for a
    /// new body.
    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let count = self.inner.mesh.vertices().len();
        let apart = self.inner.apart.as_deref().cloned().unwrap_or_else(|| vec![0.0; count]);
        arrays::owned(py, apart, &[count])
    }

    /// Points of the surface, (p, 3) float64, metres, read only.
    #[getter]
    fn points<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |body| body.inner.surface().points().as_flattened(), &[3])
    }

    /// Triangles of the surface, (q, 3) int32.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let triangles = self.inner.surface().triangles();
        arrays::owned(py, arrays::signed(triangles.as_flattened()), &[triangles.len(), 3])
    }

    /// Weights of the surface points as given, (p, b) float64.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (p, b) = (self.inner.surface().points().len(), self.inner.rig.bone_count());
        arrays::owned(py, self.weights.dense(p * b), &[p, b])
    }

    /// Settings of the body by the names of the constructor:
    /// `Body(body.points, body.triangles, body.weights, **body.settings)` is the same body.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        named(py, self.inner.params(), self.inner.surface().points().len())
    }

    /// The simulated lattice.
    #[getter]
    fn mesh(&self) -> TetMesh {
        TetMesh(self.inner.mesh.clone())
    }

    /// Embedding of the surface points in the mesh.
    #[getter]
    pub fn embedding(&self) -> Embedding {
        Embedding::wrap(self.inner.embedding.clone(), self.inner.mesh.clone())
    }

    /// Rig weights, carried to the tet vertices.
    #[getter]
    fn rig(&self) -> Rig {
        Rig(self.inner.rig.clone())
    }

    /// Leak at the tet vertices, (n,) float64 in [0, 1], read only.
    #[getter]
    fn leak<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |body| &body.inner.leak, &[])
    }

    /// Vertices at which the modes vanish, (n,) bool: pinned vertices and the core.
    #[getter]
    fn pinned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        arrays::owned(py, self.inner.pinned.clone(), &[self.inner.pinned.len()])
    }

    /// Role of the flesh of each bone, b of "flesh", "rigid" and "free"; empty without a core.
    #[getter]
    fn roles(&self) -> Vec<&'static str> {
        self.inner.roles.iter().map(|&role| role_name(role)).collect()
    }

    /// Names of the parts found by the anatomy of the core; empty without one.
    #[getter]
    fn parts(&self) -> Vec<&'static str> {
        self.inner.parts().iter().map(|found| found.part.name()).collect()
    }

    /// Share of each tet vertex that belongs to each part, (k, n) float64 in [0, 1].
    #[getter]
    fn part_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let parts = self.inner.parts();
        let weights = parts.iter().flat_map(|found| found.weights.iter().copied()).collect();
        arrays::owned(py, weights, &[parts.len(), self.inner.mesh.vertices().len()])
    }

    /// Share of bone at each tet vertex, (n,) float64 in [0, 1]; empty without an anatomy.
    #[getter]
    fn core_share<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::lent(slf, |body| body.inner.core_share(), &[])
    }

    /// The bone that stands for each bone in the constraint, (b,) int32.
    #[getter]
    fn merged<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(&self.inner.merged), &[self.inner.merged.len()])
    }

    /// The material, with one stiffness a tet if stiffness is painted.
    #[getter]
    fn material(&self) -> Material {
        Material(self.inner.material.clone())
    }

    /// The rig-complementary modes.
    #[getter]
    fn modes(&self) -> SkinningModes {
        SkinningModes(self.inner.modes.clone())
    }

    /// Cluster of each tet, (t,) int32, read only.
    #[getter]
    fn labels<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::lent(slf, |body| &body.inner.labels, &[])
    }

    /// The model, ready to simulate.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, body) = (slf.py(), slf.get());
        if body.inner.residual > 0.0 {
            let text =
                "pickle: the modes of this body were updated from those of another; build it without `like`";
            return Err(PyValueError::new_err(text));
        }
        let parts = (Self::points(slf)?, body.triangles(py)?, body.weights(py)?);
        made_by::<Self>(py, "", parts, Some(body.settings(py)?))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let (mesh, modes) = (&self.inner.mesh, self.inner.model.mode_count());
        format!("Body({} tets, {} bones, {modes} modes)", mesh.tets().len(), self.inner.rig.bone_count())
    }
}
