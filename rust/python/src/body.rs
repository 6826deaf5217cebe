//! `Body`: the whole way from a rigged surface to a model.

use std::sync::Arc;

use jounce::body;
use jounce::model;
use jounce::model::reduced::Bounds;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis};
use crate::basis::Basis;
use crate::body_input::{Weights, named};
use crate::body_jobs::BodyJob;
use crate::cubature::Cubature;
use crate::errors::run;
use crate::fibres::Fibres;
use crate::job::made;
use crate::learning::Learning;
use crate::limit_samples::LimitSamples;
use crate::material::Material;
use crate::mesh::{Embedding, TetMesh};
use crate::model::Model;
use crate::recipe::{Recipe, made_by};
use crate::rig::Rig;
use crate::simulation::Simulation;
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
    #[new]
    #[pyo3(signature = (*arguments, **settings),
           text_signature = "(points, triangles, weights, *, resolution=None, solid=True, modes=24, clusters=None, \
                            cubature=None, young=1e4, \
                            poisson=0.0, density=1000.0, locality=0.0, driven=None, law='arap', leak=None, \
                            strength=None, pinned=None, core=None, merge_into=None, bone_parents=None, shapes=None, \
                            seed=0, stitches=None, stitch_stiffness=1e4, stitch_gap=0.0, stitch_group=None, stitch_radius=0.0, stitch_known=1.0, \
                            editable=False, \
                            like=None)")]
    fn new(
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let job = py.get_type::<BodyJob>().call(arguments, settings)?.cast_into::<BodyJob>()?;
        job.get().result(py)
    }

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
    fn embedding(&self) -> Embedding {
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

    /// Full-space model of the same body: mesh, rig, pins, strength and stitches. The reference for the
    /// reduced model.
    ///
    /// As `Model.full_space`.
    ///
    /// Parameters
    /// ----------
    /// material : Material, optional
    ///     Material of any law; None is the body's own.
    /// fibres : Fibres, optional
    ///     Fibres in the tets of the mesh.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> body.full_space().coefficient_shape == (len(body.mesh.vertices), 3)
    /// True
    #[pyo3(signature = (material=None, fibres=None))]
    fn full_space(
        &self,
        py: Python<'_>,
        material: Option<&Material>,
        fibres: Option<&Fibres>,
    ) -> PyResult<Model> {
        let (body, material) = (self.inner.clone(), material.map(|material| material.0.clone()));
        let fibres = fibres.map(|fibres| fibres.0.clone());
        let known = material.as_ref().unwrap_or(&body.material).clone();
        let full =
            made(py, move |progress| body.full_space(material.as_deref(), fibres.as_deref(), progress))?;
        Ok(Model::wrap((*full).clone(), Some(known)))
    }

    /// Reduced model of the same body, learnt from a full-space shot: mass-PCA and a cubature.
    ///
    /// Parameters
    /// ----------
    /// snapshots : (f, n, 3) array
    ///     Displacements of the tet vertices in each frame, metres.
    /// poses : (f, b, 3, 4) array
    ///     Pose of each of these frames.
    /// count : int, default 64
    ///     Largest size of the basis. It ends earlier once it has all but 1e-5 of the shot's energy,
    ///     because the rest is below the tolerance of the full space.
    /// tets : int, optional
    ///     Largest size of the cubature; None is three times count.
    /// material : Material, optional
    ///     The material of the full space, of any law; None is the body's own.
    /// frequency : float, optional
    ///     Reference frequency of the damping ratio, usually the full space's; None is the lowest
    ///     learnt frequency.
    /// limit : float, optional
    ///     Displacement limit of the shot's simulation; None for none. With a limit, the model gets limit
    ///     samples, up to `tets`, as in `LimitSamples.of_shot`.
    /// stretch : float, optional
    ///     Stretch limit of the shot's simulation, likewise; None for none.
    /// seed : int, default 0
    ///     Seed of the random draws; the same seed gives the same result.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    #[pyo3(signature = (snapshots, poses, count=64, tets=None, material=None, frequency=None, limit=None,
                        stretch=None, seed=0))]
    fn learn(
        slf: &Bound<'_, Self>,
        snapshots: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
        count: i64,
        tets: Option<i64>,
        material: Option<&Material>,
        frequency: Option<f64>,
        limit: Option<f64>,
        stretch: Option<f64>,
        seed: i64,
    ) -> PyResult<Model> {
        let (body, counts) = (slf.get().inner.clone(), (count, tets, seed));
        let learning =
            Learning::new(body, [snapshots, poses], counts, material, frequency, Bounds { limit, stretch })?;
        let model = made(slf.py(), move |progress| learning.run(progress))?;
        Self::reduced_model(slf, &model, material.map(|material| &material.0))
    }

    /// Reduced model of the same body in a given basis, such as a stored learnt basis, with the body's
    /// mesh, rig and strength.
    ///
    /// As `Model.reduced` and `Model.limited`.
    ///
    /// Parameters
    /// ----------
    /// basis : Basis
    ///     Basis of a model made by `learn`, or rebuilt from stored arrays.
    /// cubature : Cubature, optional
    ///     Cubature of the same model; None evaluates the forces at all tets.
    /// material : Material, optional
    ///     Material of any law; None is the body's own.
    /// frequency : float, optional
    ///     Reference frequency of the damping ratio, Hz, as in `learn`.
    /// limits : LimitSamples, optional
    ///     Samples of the limits; without them the model has no limits.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    #[pyo3(signature = (basis, cubature=None, material=None, frequency=None, limits=None))]
    fn reduced(
        slf: &Bound<'_, Self>,
        basis: &Basis,
        cubature: Option<&Cubature>,
        material: Option<&Material>,
        frequency: Option<f64>,
        limits: Option<&LimitSamples>,
    ) -> PyResult<Model> {
        let (body, basis) = (slf.get().inner.clone(), basis.0.clone());
        let material = material.map(|material| material.0.clone());
        let own = material.clone();
        let cubature = cubature.map(|cubature| cubature.0.clone());
        let limits = limits.map(|limits| limits.0.clone());
        let model = made(slf.py(), move |progress| {
            let samples = (cubature.as_ref(), limits.as_ref());
            body.reduced(own.as_deref(), &basis, samples, frequency, progress)
        })?;
        Self::reduced_model(slf, &model, material.as_ref())
    }

    /// Reduces rig offsets, the difference of a rig from linear skinning at the surface points, for
    /// `Simulation.step`.
    ///
    /// Parameters
    /// ----------
    /// offsets : (p, 3) array
    ///     Posed points minus linear skinning with the weights and the pose, in world space, metres.
    ///
    /// Returns
    /// -------
    /// (k, 3) array
    ///     Offsets for simulations of this body's model. The first call prepares operators of the body and
    ///     takes longer.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for values that are not finite.
    fn reduce_offsets<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let p = self.inner.embedding.points().len();
        let offsets = arrays::array::<f64>(offsets, "offsets", &[Axis::Is(p), Axis::Is(3)])?;
        let offsets = offsets.slice();
        let reduced = run(py, || self.inner.reduce_offsets(offsets))?;
        let k = reduced.len() / 3;
        arrays::owned(py, reduced, &[k, 3])
    }

    /// Carries rig offsets from the surface points to the vertices of the mesh, for a step in the full
    /// space.
    ///
    /// Parameters
    /// ----------
    /// offsets : (p, 3) array
    ///     Offsets of the points, as in `reduce_offsets`.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Offsets for simulations of `full_space()`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `reduce_offsets`.
    fn vertex_offsets<'py>(
        &self,
        py: Python<'py>,
        offsets: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let p = self.inner.embedding.points().len();
        let offsets = arrays::array::<f64>(offsets, "offsets", &[Axis::Is(p), Axis::Is(3)])?;
        let offsets = offsets.slice();
        let carried = run(py, || self.inner.vertex_offsets(offsets))?;
        arrays::owned(py, carried, &[self.inner.mesh.vertices().len(), 3])
    }

    /// Spreads values at the surface points to the vertices of the mesh, as for painted maps: the boundary
    /// takes the value at the closest point of the surface, the inside is harmonic.
    ///
    /// Parameters
    /// ----------
    /// values : (p,) array
    ///     Values at the points.
    ///
    /// Returns
    /// -------
    /// (n,) array
    ///     Values at the vertices.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for values that are not finite.
    fn spread<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let values =
            arrays::array::<f64>(values, "values", &[Axis::Is(self.inner.embedding.points().len())])?;
        let values = values.slice();
        let carried = run(py, || self.inner.spread(values))?;
        let n = carried.len();
        arrays::owned(py, carried, &[n])
    }

    /// Surface points in a pose, without secondary motion.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array
    ///     Transform of each bone, rest to posed, in world space.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Posed points, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape and for a pose that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> raised = np.eye(3, 4)[None] + [[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.5]]]
    /// >>> bool(np.allclose(body.posed(raised), points + [0, 0, 0.5]))
    /// True
    fn posed<'py>(&self, py: Python<'py>, pose: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let pose = arrays::pose(pose, self.inner.rig.bone_count())?;
        let pose = arrays::transforms(pose.slice());
        let posed = run(py, || self.inner.posed(pose))?;
        let p = posed.len();
        arrays::owned(py, posed.into_flattened(), &[p, 3])
    }

    /// Surface points as they are shown after the last step: posed, and moved by the flesh.
    ///
    /// Parameters
    /// ----------
    /// simulation : Simulation
    ///     Simulation of a model of this body, reduced or in the full space.
    /// pose : (b, 3, 4) array
    ///     Pose of the last step.
    ///
    /// Returns
    /// -------
    /// (p, 3) array
    ///     Deformed points, metres.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a simulation of another mesh, and as `posed`.
    fn deformed<'py>(
        &self,
        py: Python<'py>,
        simulation: &Simulation,
        pose: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let pose = arrays::pose(pose, self.inner.rig.bone_count())?;
        let (model, coefficients) = (simulation.model.get(), simulation.lock()?.coefficients().to_vec());
        let projector = run(py, || model.projector(Some(&self.embedding())))?;
        let pose = arrays::transforms(pose.slice());
        let mut moved = vec![0.0_f32; 3 * projector.point_count()];
        let posed = run(py, || {
            projector.displacement(&coefficients, &mut moved)?;
            let mut posed = self.inner.posed(pose)?;
            let rows = posed.as_flattened_mut().iter_mut().zip(&moved);
            rows.for_each(|(x, u)| *x += f64::from(*u));
            Ok(posed)
        })?;
        let p = posed.len();
        arrays::owned(py, posed.into_flattened(), &[p, 3])
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
