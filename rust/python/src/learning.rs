//! `LearnJob`: a reduced model learnt from a full-space shot of a body.

use std::sync::Arc;

use jounce::body::{self, Lesson};
use jounce::model::reduced::Bounds;
use jounce::subspace::Share;
use jounce::{Progress, material, model};
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::body::Body;
use crate::cubature::shot_poses;
use crate::job::{Job, Making};
use crate::material::Material;
use crate::model::Model;

/// Default number of tets a displacement.
const TETS: usize = 3;
/// Kept share of the shot's energy. The rest is noise at the full space's tolerance, not reproducible by
/// tets.
const ENERGY: f64 = 1.0 - 1e-5;

/// Checked arguments of `Body.learn` and `LearnJob`, free of Python.
pub struct Learning {
    body: Arc<body::Body>,
    material: Option<Arc<material::Material>>,
    snapshots: Vec<f64>,
    poses: Vec<f64>,
    count: usize,
    tets: usize,
    frequency: Option<f64>,
    bounds: Bounds,
    seed: u64,
}

impl Learning {
    /// counts: of displacements, of tets if given, and the seed.
    pub fn new(
        body: Arc<body::Body>,
        [snapshots, poses]: [&Bound<'_, PyAny>; 2],
        (count, tets, seed): (i64, Option<i64>, i64),
        material: Option<&Material>,
        frequency: Option<f64>,
        bounds: Bounds,
    ) -> PyResult<Self> {
        let axes = [Axis::Any("f"), Axis::Is(body.mesh.vertices().len()), Axis::Is(3)];
        let snapshots = arrays::array::<f64>(snapshots, "snapshots", &axes)?;
        let poses = shot_poses(Some(poses), snapshots.len(0), body.rig.bone_count())?;
        let count = arrays::count(count, "count")?;
        Ok(Self {
            material: material.map(|material| material.0.clone()),
            snapshots: snapshots.slice().to_vec(),
            tets: tets.map_or(Ok(TETS * count), |tets| arrays::count(tets, "tets"))?,
            seed: arrays::count(seed, "seed")?,
            body,
            poses,
            count,
            frequency,
            bounds,
        })
    }

    /// The model.
    pub fn run(&self, progress: &Progress) -> jounce::Result<model::Model> {
        let lesson = Lesson {
            poses: arrays::transforms(&self.poses),
            snapshots: &self.snapshots,
            share: Share { count: self.count, energy: ENERGY },
            tets: self.tets,
            frequency: self.frequency,
            bounds: self.bounds,
            seed: self.seed,
        };
        self.body.learn(self.material.as_deref(), &lesson, progress)
    }
}

/// Background job for `Body.learn`, with the same arguments; the thread never touches Python.
///
/// Stages: "displacements", "reduction", "forces" and, with limits, "limits"; `result()` gives the
/// Model, or raises the error.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> simulation = jounce.Simulation(body.full_space(), damping=0.05)
/// >>> poses = np.tile(np.eye(3, 4), (12, 1, 1, 1))
/// >>> poses[:, 0, 2, 3] = 0.2 * np.sin(np.arange(12))
/// >>> simulation.reset(poses[0])
/// >>> shot = []
/// >>> for pose in poses:
/// ...     report = simulation.step(pose)
/// ...     shot.append(simulation.coefficients.copy())
/// >>> jounce.LearnJob(body, shot, poses, count=4).result().coefficient_shape
/// (4,)
#[pyclass(frozen, extends = Job, module = "jounce", name = "LearnJob")]
pub struct LearnJob {
    model: Making<model::Model>,
    body: Py<Body>,
    material: Option<Arc<material::Material>>,
}

#[pymethods]
impl LearnJob {
    #[new]
    #[pyo3(signature = (body, snapshots, poses, count=64, tets=None, material=None, frequency=None,
                        limit=None, stretch=None, seed=0))]
    fn new(
        body: &Bound<'_, Body>,
        snapshots: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
        count: i64,
        tets: Option<i64>,
        material: Option<&Material>,
        frequency: Option<f64>,
        limit: Option<f64>,
        stretch: Option<f64>,
        seed: i64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (inner, counts) = (body.get().inner.clone(), (count, tets, seed));
        let learning =
            Learning::new(inner, [snapshots, poses], counts, material, frequency, Bounds { limit, stretch })?;
        let model = Making::start(move |progress| learning.run(progress))?;
        let material = material.map(|material| material.0.clone());
        Ok(model.job().add_subclass(Self { model, body: body.clone().unbind(), material }))
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
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> poses = np.tile(np.eye(3, 4), (6, 1, 1, 1))
    /// >>> sway = body.modes.weights[:, :1] * [0.0, 0.0, 1.0]
    /// >>> shot = np.sin(np.arange(6.0))[:, None, None] * sway
    /// >>> learnt = jounce.LearnJob(body, shot, poses, count=4).result()
    /// >>> np.array_equal(learnt.basis.shapes, body.learn(shot, poses, count=4).basis.shapes)
    /// True
    fn result(&self, py: Python<'_>) -> PyResult<Model> {
        let model = self.model.result(py)?;
        Body::reduced_model(self.body.bind(py), &model, self.material.as_ref())
    }
}
