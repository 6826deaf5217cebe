//! `BodyJob` and `FullSpaceJob`: a body and its full space, made without blocking.

use std::sync::Arc;

use jounce::body::{self, BodyParams, standard};
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::subspace::Restraint;
use jounce::{material, model};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::body::Body;
use crate::body_input::{Input, Maps, Weights, counts, params};
use crate::fibres::Fibres;
use crate::job::{Job, Making};
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::model::Model;
use crate::skeleton::SkeletonCore;

/// Background job for a `Body`, with the same arguments; the thread never touches Python.
///
/// Stages: "lattice", "embedding", "weights", "leak", "modes", "clusters", "forces" and "model";
/// `result()` gives the Body. Invalid arrays raise at once; `result()` raises the errors of a stage.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> job.result().model.mode_count
/// 4
#[pyclass(frozen, extends = Job, module = "jounce", name = "BodyJob")]
pub struct BodyJob(Making<body::Body>, Arc<Weights>);

#[pymethods]
impl BodyJob {
    #[new]
    #[pyo3(signature = (points, triangles, weights, *, resolution=None, solid=true,
                        modes=standard::MODES as i64, clusters=None, cubature=None, young=None,
                        poisson=0.0, density=1000.0, locality=0.0, driven=None, law="arap", leak=None,
                        strength=None, pinned=None, core=None, merge_into=None, bone_parents=None,
                        shapes=None, seed=0, stitches=None, stitch_stiffness=None, stitch_gap=None,
                        stitch_group=None, stitch_radius=None, stitch_known=None, editable=false, like=None),
           text_signature = "(points, triangles, weights, *, resolution=None, solid=True, modes=24, \
                            clusters=None, cubature=None, young=1e4, poisson=0.0, density=1000.0, \
                            locality=0.0, driven=None, law='arap', leak=None, strength=None, pinned=None, \
                            core=None, merge_into=None, bone_parents=None, shapes=None, seed=0, \
                            stitches=None, stitch_stiffness=1e4, stitch_gap=0.0, stitch_group=None, \
                            stitch_radius=0.0, stitch_known=1.0, editable=False, like=None)")]
    fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        resolution: Option<i64>,
        solid: bool,
        modes: i64,
        clusters: Option<i64>,
        cubature: Option<i64>,
        young: Option<&Bound<'_, PyAny>>,
        poisson: f64,
        density: f64,
        locality: f64,
        driven: Option<bool>,
        law: &str,
        leak: Option<&Bound<'_, PyAny>>,
        strength: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
        core: Option<&Bound<'_, SkeletonCore>>,
        merge_into: Option<&Bound<'_, PyAny>>,
        bone_parents: Option<&Bound<'_, PyAny>>,
        shapes: Option<&Bound<'_, PyAny>>,
        seed: i64,
        stitches: Option<&Bound<'_, PyAny>>,
        stitch_stiffness: Option<&Bound<'_, PyAny>>,
        stitch_gap: Option<&Bound<'_, PyAny>>,
        stitch_group: Option<&Bound<'_, PyAny>>,
        stitch_radius: Option<&Bound<'_, PyAny>>,
        stitch_known: Option<&Bound<'_, PyAny>>,
        editable: bool,
        like: Option<&Bound<'_, Body>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let driven = driven.unwrap_or(core.is_some());
        let [clusters, cubature] = counts(clusters, cubature);
        let params = params(
            [resolution.unwrap_or_default(), modes, clusters, cubature, seed],
            law,
            [poisson, density, locality],
            [driven, editable],
        )?;
        let maps = Maps {
            young,
            leak,
            strength,
            pinned,
            core: core.map(|core| core.get().0.clone()),
            merge_into,
            bone_parents,
            shapes,
            stitches,
            stitch_stiffness,
            stitch_gap,
            stitch_others: [stitch_group, stitch_radius, stitch_known],
        };
        let params = BodyParams { solid, ..params };
        let input = Input::new(points, triangles, weights, &maps, params, resolution.is_none())?;
        let like = like.map(|like| like.get().inner.clone());
        let weights = Arc::new(input.sparse_weights());
        let body = Making::start(move |progress| input.build(like.as_deref(), progress))?;
        Ok(body.job().add_subclass(Self(body, weights)))
    }

    /// Waits for the Body, or raises the error of the job.
    ///
    /// Returns
    /// -------
    /// Body
    ///     The body.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> settings = {"resolution": 8, "modes": 4, "clusters": 20}
    /// >>> job = jounce.BodyJob(points, triangles, np.ones((8, 1)), **settings)
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), **settings)
    /// >>> np.array_equal(job.result().modes.weights, body.modes.weights)
    /// True
    pub fn result(&self, py: Python<'_>) -> PyResult<Body> {
        Body::wrap(py, self.0.result(py)?, self.1.clone())
    }
}

/// A rigged body, or the mesh of a loose one.
#[derive(FromPyObject)]
pub enum Flesh<'py> {
    Body(Bound<'py, Body>),
    Mesh(Bound<'py, TetMesh>),
}

/// Background job for `Body.full_space`, with the same arguments, or for a loose body by
/// `Model.full_space` of a TetMesh with a Material; the thread never touches Python.
///
/// The only stage is "full space"; `result()` gives the Model, or raises the error.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> jounce.FullSpaceJob(body).result().coefficient_shape == (len(body.mesh.vertices), 3)
/// True
#[pyclass(frozen, extends = Job, module = "jounce", name = "FullSpaceJob")]
pub struct FullSpaceJob(Making<model::Model>, Arc<material::Material>);

#[pymethods]
impl FullSpaceJob {
    #[new]
    #[pyo3(signature = (body, material=None, fibres=None))]
    fn new(
        body: Flesh<'_>,
        material: Option<&Bound<'_, Material>>,
        fibres: Option<&Bound<'_, Fibres>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let material = material.map(|material| material.get().0.clone());
        let fibres = fibres.map(|fibres| fibres.get().0.clone());
        let (model, known) = match body {
            Flesh::Body(body) => {
                let body = body.get().inner.clone();
                let known = material.as_ref().unwrap_or(&body.material).clone();
                let model = Making::start(move |progress| {
                    progress.enter("full space", 0.0, 1.0)?;
                    body.full_space(material.as_deref(), fibres.as_deref(), progress)
                })?;
                (model, known)
            }
            Flesh::Mesh(mesh) => {
                let mesh = mesh.get().0.clone();
                let material = material
                    .ok_or_else(|| PyValueError::new_err("material: none given, which a TetMesh needs"))?;
                let known = material.clone();
                let model = Making::start(move |progress| {
                    progress.enter("full space", 0.0, 1.0)?;
                    let extras = FullSpaceExtras { fibres: fibres.as_deref(), ..FullSpaceExtras::default() };
                    let restraint = Restraint::default();
                    let model = FullSpaceModel::of(&mesh, &material, &restraint, &extras, progress)?;
                    Ok(model::Model::FullSpace(model.into()))
                })?;
                (model, known)
            }
        };
        Ok(model.job().add_subclass(Self(model, known)))
    }

    /// Waits for the Model, or raises the error of the job.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> jelly = jounce.Material(young=2e4, poisson=0.4, law="neo_hookean")
    /// >>> jounce.FullSpaceJob(mesh, jelly).result()
    /// Model(81 vertices, 0 bones, Material(neo_hookean, young=2e4))
    fn result(&self, py: Python<'_>) -> PyResult<Model> {
        Ok(Model::wrap((*self.0.result(py)?).clone(), Some(self.1.clone())))
    }
}

#[pymethods]
impl Body {
    #[new]
    #[pyo3(signature = (*arguments, **settings),
           text_signature = "(points, triangles, weights, *, resolution=None, solid=True, modes=24, \
                            clusters=None, cubature=None, young=1e4, poisson=0.0, density=1000.0, \
                            locality=0.0, driven=None, law='arap', leak=None, strength=None, pinned=None, \
                            core=None, merge_into=None, bone_parents=None, shapes=None, seed=0, \
                            stitches=None, stitch_stiffness=1e4, stitch_gap=0.0, stitch_group=None, \
                            stitch_radius=0.0, stitch_known=1.0, editable=False, like=None)")]
    fn new(
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let job = py.get_type::<BodyJob>().call(arguments, settings)?.cast_into::<BodyJob>()?;
        job.get().result(py)
    }
}
