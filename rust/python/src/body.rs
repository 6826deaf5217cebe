//! `Body` and `BodyJob`: the whole way from a rigged surface to a model.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use jounce::body::{self, BodyParams, CountingBones, Painted};
use jounce::material::Field;
use jounce::mesh::SurfaceMesh;
use jounce::{Error, Progress};
use numpy::PyArrayDyn;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::{Failure, attempt, refused, run};
use crate::material::{self, Material};
use crate::mesh::{Embedding, TetMesh, surface};
use crate::model::Model;
use crate::rig::Rig;
use crate::subspace::SkinningModes;

/// What a job leaves behind.
type Outcome = Result<Arc<body::Body>, Failure>;

/// Checked arguments of `Body` and `BodyJob`, free of Python.
struct Input {
    surface: SurfaceMesh,
    weights: Vec<f64>,
    bones: usize,
    params: BodyParams,
}

/// What is given at each surface point or for each bone, as it came.
struct Maps<'a, 'py> {
    young: Option<&'a Bound<'py, PyAny>>,
    leak: Option<&'a Bound<'py, PyAny>>,
    strength: Option<&'a Bound<'py, PyAny>>,
    pinned: Option<&'a Bound<'py, PyAny>>,
    merge_into: Option<&'a Bound<'py, PyAny>>,
    bone_parents: Option<&'a Bound<'py, PyAny>>,
    shapes: Option<&'a Bound<'py, PyAny>>,
}

impl Maps<'_, '_> {
    /// The settings with these maps of p points and b bones in them.
    fn put(&self, p: usize, b: usize, params: BodyParams) -> PyResult<BodyParams> {
        let points = [Axis::Is(p)];
        let map = |map: Option<&Bound<'_, PyAny>>, what| -> PyResult<Option<Vec<f64>>> {
            map.map(|map| Ok(arrays::array::<f64>(map, what, &points)?.slice().to_vec())).transpose()
        };
        let pinned =
            self.pinned.map(|pinned| arrays::array::<bool>(pinned, "pinned", &points)).transpose()?;
        let young = match self.young {
            Some(young) => match arrays::field(young, "young", &points)? {
                Field::Uniform(young) => Painted::Uniform(young),
                Field::PerTet(young) => Painted::Points(young),
            },
            None => params.young,
        };
        let bones = match (self.merge_into, self.bone_parents) {
            (None, None) => CountingBones::All,
            (Some(into), None) => CountingBones::Merged(
                arrays::indices::<1>(into, "merge_into", &[Axis::Is(b)], b)?.into_flattened(),
            ),
            (None, Some(parents)) => CountingBones::Large(bones_above(parents, b)?),
            _ => {
                return Err(PyValueError::new_err(
                    "merge_into, bone_parents: expected one of them, got both",
                ));
            }
        };
        Ok(BodyParams {
            young,
            leak: map(self.leak, "leak")?,
            strength: map(self.strength, "strength")?,
            pinned: pinned.map(|pinned| pinned.slice().to_vec()),
            bones,
            shapes: self.shapes(p)?,
            ..params
        })
    }
}

impl Maps<'_, '_> {
    fn shapes(&self, p: usize) -> PyResult<Vec<Vec<f64>>> {
        let Some(shapes) = self.shapes else { return Ok(Vec::new()) };
        let shapes = arrays::array::<f64>(shapes, "shapes", &[Axis::Any("s"), Axis::Is(p), Axis::Is(3)])?;
        Ok(shapes.slice().chunks_exact(3 * p.max(1)).map(<[f64]>::to_vec).collect())
    }
}

/// The bone above each of b bones, from numbers of which -1 means none.
fn bones_above(parents: &Bound<'_, PyAny>, b: usize) -> PyResult<Vec<Option<u32>>> {
    let what = "bone_parents";
    let above = arrays::integers(parents, what, &[Axis::Is(b)])?;
    let bone = |(element, index): (usize, i64)| match u32::try_from(index) {
        Ok(index) => Ok(Some(index)),
        Err(_) if index == -1 => Ok(None),
        Err(_) => Err(refused(Error::Index { what, element, index, count: b })),
    };
    above.into_iter().enumerate().map(bone).collect()
}

impl Input {
    fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        maps: &Maps<'_, '_>,
        params: BodyParams,
    ) -> PyResult<Self> {
        let surface = surface(points, triangles)?;
        let p = surface.points().len();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(p), Axis::Any("b")])?;
        let bones = weights.len(1);
        Ok(Self { surface, bones, weights: weights.slice().to_vec(), params: maps.put(p, bones, params)? })
    }

    fn build(self, progress: &Progress) -> jounce::Result<body::Body> {
        body::Body::new(&self.surface, &self.weights, self.bones, &self.params, progress)
    }
}

/// Settings from `[resolution, modes, clusters, seed]`, the law and `[poisson, density, locality]`.
fn params(counts: [i64; 4], law: &str, [poisson, density, locality]: [f64; 3]) -> PyResult<BodyParams> {
    let [resolution, modes, clusters, seed] = counts;
    Ok(BodyParams {
        resolution: arrays::count(resolution, "resolution")?,
        modes: arrays::count(modes, "modes")?,
        clusters: arrays::count(clusters, "clusters")?,
        seed: arrays::count(seed, "seed")?,
        law: material::law(law)?,
        poisson,
        density,
        locality,
        ..BodyParams::default()
    })
}

/// A rigged surface with everything that its simulation needs, made in one call.
///
/// Fills the surface with a lattice, carries the weights to it, and computes leak, modes, clusters and model.
/// points: (p, 3) float64, metres. triangles: (q, 3) int32 or int64. weights: (p, b) float64, rows sum to 1.
/// resolution: cells along the longest side. density: kg/m^3. locality: 0 for global modes, above 0 as in
/// `localised_modes`.
/// young: Pa, one number or (p,) float64, which is carried inside on a log scale.
/// leak: (p,) float64 in [0, 1], the share of the default leak kept at each point; None keeps all.
/// strength: (p,) float64, >= 0, how much of the rig's acceleration is felt at each point; None is 1 everywhere.
/// law: "arap" or "corotated", as in `Material`.
/// pinned: (p,) bool, the points that stay exactly where the rig puts them.
/// merge_into: (b,) int32 or int64, for each bone the one it counts as in the complementarity constraint, itself to
/// count on its own; bone_parents: (b,) int32 or int64, the bone above each, -1 for none: bones that move less than
/// 0.3 percent of the mass, with all below them, then count as their parents. Without both all bones count. The
/// pose has a transform for each bone in any case.
/// shapes: (s, p, 3) float64, metres, displacements at rest that the animator adds to the pose, such as shape keys:
/// the flesh does not imitate them. Their motion is given to each step, by `reduce_offsets`.
/// Raises ValueError for whatever a stage refuses. `BodyJob` does the same without blocking.
#[pyclass(frozen, module = "jounce", name = "Body")]
pub struct Body {
    inner: Arc<body::Body>,
    model: Py<Model>,
}

impl Body {
    fn wrap(py: Python<'_>, inner: Arc<body::Body>) -> PyResult<Self> {
        let model = Py::new(py, Model::wrap(inner.model.clone()))?;
        Ok(Self { inner, model })
    }
}

#[pymethods]
impl Body {
    #[new]
    #[pyo3(signature = (points, triangles, weights, *, resolution=32, modes=16, clusters=100, young=None,
                        poisson=0.0, density=1000.0, locality=0.0, law="arap", leak=None, strength=None,
                        pinned=None, merge_into=None, bone_parents=None, shapes=None, seed=0),
           text_signature = "(points, triangles, weights, *, resolution=32, modes=16, clusters=100, young=1e4, \
                            poisson=0.0, density=1000.0, locality=0.0, law='arap', leak=None, strength=None, \
                            pinned=None, merge_into=None, bone_parents=None, shapes=None, seed=0)")]
    fn new(
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        resolution: i64,
        modes: i64,
        clusters: i64,
        young: Option<&Bound<'_, PyAny>>,
        poisson: f64,
        density: f64,
        locality: f64,
        law: &str,
        leak: Option<&Bound<'_, PyAny>>,
        strength: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
        merge_into: Option<&Bound<'_, PyAny>>,
        bone_parents: Option<&Bound<'_, PyAny>>,
        shapes: Option<&Bound<'_, PyAny>>,
        seed: i64,
    ) -> PyResult<Self> {
        let params = params([resolution, modes, clusters, seed], law, [poisson, density, locality])?;
        let maps = Maps { young, leak, strength, pinned, merge_into, bone_parents, shapes };
        let input = Input::new(points, triangles, weights, &maps, params)?;
        let inner = run(py, || input.build(&Progress::default()))?;
        Self::wrap(py, Arc::new(inner))
    }

    /// The lattice that is simulated.
    #[getter]
    fn mesh(&self) -> TetMesh {
        TetMesh(self.inner.mesh.clone())
    }

    /// How the surface's points hang in the mesh.
    #[getter]
    fn embedding(&self) -> Embedding {
        Embedding::wrap(self.inner.embedding.clone(), self.inner.mesh.clone())
    }

    /// The weights, carried to the tet vertices.
    #[getter]
    fn rig(&self) -> Rig {
        Rig(self.inner.rig.clone())
    }

    /// Leak at the tet vertices, (n,) float64 in [0, 1], read only.
    #[getter]
    fn leak<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let leak = &slf.get().inner.leak;
        // SAFETY: the body is immutable and lives as long as this object.
        unsafe { arrays::view(slf.clone().into_any(), leak, &[leak.len()]) }
    }

    /// Where the modes vanish, (n,) bool.
    #[getter]
    fn pinned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
        arrays::owned(py, self.inner.pinned.clone(), &[self.inner.pinned.len()])
    }

    /// The bone that each bone counts as in the constraint, (b,) int32.
    #[getter]
    fn merged<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(&self.inner.merged), &[self.inner.merged.len()])
    }

    /// The material, with one stiffness a tet where it is painted.
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
        let labels = &slf.get().inner.labels;
        // SAFETY: the body is immutable and lives as long as this object.
        unsafe { arrays::view(slf.clone().into_any(), labels, &[labels.len()]) }
    }

    /// The model, ready to simulate.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Reduces what a rig adds to linear skinning at the surface's points to what `Simulation.step` takes.
    ///
    /// offsets: (p, 3) float64, metres, world space: posed points less what the weights and the pose's transforms
    /// make of them. Returns (k, 3) float64, for simulations of this body's model. The first call prepares
    /// operators of the body, and takes longer. Raises ValueError for a wrong shape and for a number that is not
    /// finite.
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

    fn __repr__(&self) -> String {
        let (mesh, modes) = (&self.inner.mesh, self.inner.model.mode_count());
        format!("Body({} tets, {} bones, {modes} modes)", mesh.tets().len(), self.inner.rig.bone_count())
    }
}

/// Where the thread of a job leaves its outcome.
#[derive(Default)]
struct Slot {
    outcome: Mutex<Option<Outcome>>,
    filled: Condvar,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, outcome: Outcome) {
        *self.lock() = Some(outcome);
        self.filled.notify_all();
    }

    fn wait(&self) -> Outcome {
        let mut outcome = self.lock();
        loop {
            if let Some(outcome) = outcome.as_ref() {
                return outcome.clone();
            }
            outcome = self.filled.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A `Body` in the making, on a thread of its own that never touches Python; same arguments.
///
/// Poll `done`; show `progress` and `stage`; `result()` gives the Body. Dropping the job cancels it.
/// Wrong arrays raise at once; what a stage refuses is raised by `result()`.
#[pyclass(frozen, module = "jounce", name = "BodyJob")]
pub struct BodyJob {
    progress: Arc<Progress>,
    slot: Arc<Slot>,
}

#[pymethods]
impl BodyJob {
    #[new]
    #[pyo3(signature = (points, triangles, weights, *, resolution=32, modes=16, clusters=100, young=None,
                        poisson=0.0, density=1000.0, locality=0.0, law="arap", leak=None, strength=None,
                        pinned=None, merge_into=None, bone_parents=None, shapes=None, seed=0),
           text_signature = "(points, triangles, weights, *, resolution=32, modes=16, clusters=100, young=1e4, \
                            poisson=0.0, density=1000.0, locality=0.0, law='arap', leak=None, strength=None, \
                            pinned=None, merge_into=None, bone_parents=None, shapes=None, seed=0)")]
    fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        resolution: i64,
        modes: i64,
        clusters: i64,
        young: Option<&Bound<'_, PyAny>>,
        poisson: f64,
        density: f64,
        locality: f64,
        law: &str,
        leak: Option<&Bound<'_, PyAny>>,
        strength: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
        merge_into: Option<&Bound<'_, PyAny>>,
        bone_parents: Option<&Bound<'_, PyAny>>,
        shapes: Option<&Bound<'_, PyAny>>,
        seed: i64,
    ) -> PyResult<Self> {
        let params = params([resolution, modes, clusters, seed], law, [poisson, density, locality])?;
        let maps = Maps { young, leak, strength, pinned, merge_into, bone_parents, shapes };
        let input = Input::new(points, triangles, weights, &maps, params)?;
        let job = Self { progress: Arc::default(), slot: Arc::default() };
        let (progress, slot) = (job.progress.clone(), job.slot.clone());
        let work = move || slot.put(attempt(|| input.build(&progress)).map(Arc::new));
        thread::Builder::new()
            .name("jounce-body".into())
            .spawn(work)
            .map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
        Ok(job)
    }

    /// The fraction done, in [0, 1].
    #[getter]
    fn progress(&self) -> f32 {
        self.progress.fraction()
    }

    /// What is being computed: "lattice", "embedding", "weights", "leak", "modes", "clusters" or "model".
    #[getter]
    fn stage(&self) -> &'static str {
        self.progress.stage()
    }

    /// Whether `result()` would return or raise at once.
    #[getter]
    fn done(&self) -> bool {
        self.slot.lock().is_some()
    }

    /// Asks the job to stop soon; `result()` then raises ValueError "cancelled".
    fn cancel(&self) {
        self.progress.cancel();
    }

    /// Waits for the Body, and returns it or raises what went wrong.
    fn result(&self, py: Python<'_>) -> PyResult<Body> {
        Body::wrap(py, py.detach(|| self.slot.wait())?)
    }

    fn __repr__(&self) -> String {
        format!("BodyJob({:.0} %, {:?})", 100.0 * self.progress.fraction(), self.progress.stage())
    }
}

impl Drop for BodyJob {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}
