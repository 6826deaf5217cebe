//! `modal_keys` and `helper_bones` with their jobs, and `pull_back`.

use jounce::bake::{self, HelperSettings};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::errors::run;
use crate::job::{Job, Making};

/// Shapes (k, p, 3), their values (f, k), and the largest error in metres.
type ModalKeys<'py> = (Bound<'py, PyArrayDyn<f32>>, Bound<'py, PyArrayDyn<f32>>, f64);

/// The fewest shapes, from the singular value decomposition of all frames, within a tolerance.
///
/// Frame i is `sum over j of values_ij keys_j`.
///
/// Parameters
/// ----------
/// frames : (f, p, 3) array
///     Displacements in each frame, metres.
/// tolerance : float
///     Largest distance of any point in any frame, metres.
/// max_keys : int, default 30
///     Largest number of shapes, even at the cost of a larger error.
///
/// Returns
/// -------
/// tuple of (array, array, float)
///     Keys (k, p, 3) float32 in metres, values (f, k) float32, and the remaining error in metres.
///     `ModalKeysJob` does the same without blocking.
///
/// Raises
/// ------
/// ValueError
///     For values that are not finite and for a tolerance below 0.
///
/// Examples
/// --------
/// >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
/// >>> keys, values, error = jounce.modal_keys(frames, tolerance=1e-4)
/// >>> keys.shape, values.shape, error < 1e-4
/// ((1, 8, 3), (24, 1), True)
#[pyfunction]
#[pyo3(signature = (frames, tolerance, max_keys=30))]
pub fn modal_keys<'py>(
    py: Python<'py>,
    frames: &Bound<'py, PyAny>,
    tolerance: f64,
    max_keys: i64,
) -> PyResult<ModalKeys<'py>> {
    Py::new(py, ModalKeysJob::new(frames, tolerance, max_keys)?)?.get().result(py)
}

/// Background job for `modal_keys`, with the same arguments; the thread never touches Python.
///
/// Invalid arrays raise at once; `result()` raises later errors.
///
/// Examples
/// --------
/// >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
/// >>> keys, values, error = jounce.ModalKeysJob(frames, 1e-4).result()
/// >>> len(keys)
/// 1
#[pyclass(frozen, extends = Job, module = "jounce", name = "ModalKeysJob")]
pub struct ModalKeysJob {
    keys: Making<bake::ModalKeys>,
    frames: usize,
    points: usize,
}

#[pymethods]
impl ModalKeysJob {
    #[new]
    #[pyo3(signature = (frames, tolerance, max_keys=30))]
    fn new(frames: &Bound<'_, PyAny>, tolerance: f64, max_keys: i64) -> PyResult<PyClassInitializer<Self>> {
        let max_keys = arrays::count(max_keys, "max_keys")?;
        let frames = arrays::array::<f32>(frames, "frames", &[Axis::Any("f"), Axis::Any("p"), Axis::Is(3)])?;
        let (f, points, frames) = (frames.len(0), frames.len(1), frames.slice().to_vec());
        let keys =
            Making::start(move |progress| bake::modal_keys(&frames, f, tolerance, max_keys, progress))?;
        Ok(keys.job().add_subclass(Self { keys, frames: f, points }))
    }

    /// Waits for keys, values and error, or raises the error of the job.
    ///
    /// Returns
    /// -------
    /// tuple of (array, array, float)
    ///     Keys, values and error, as of `modal_keys`.
    ///
    /// Examples
    /// --------
    /// >>> frames = np.sin(np.arange(24))[:, None, None] * np.ones((1, 8, 3))
    /// >>> keys, values, error = jounce.ModalKeysJob(frames, 1e-4).result()
    /// >>> bool(np.allclose(np.tensordot(values, keys, axes=1), frames, atol=1e-4))
    /// True
    fn result<'py>(&self, py: Python<'py>) -> PyResult<ModalKeys<'py>> {
        let found = self.keys.result(py)?;
        Ok((
            arrays::owned(py, found.keys.clone(), &[found.count, self.points, 3])?,
            arrays::owned(py, found.values.clone(), &[self.frames, found.count])?,
            found.error,
        ))
    }
}

/// Weights (p, b + count), transforms (f, count, 3, 4), root mean square and largest distance in metres.
type HelperBones<'py> = (Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<f64>>, f64, f64);

/// Extra rigid bones with which plain skinning follows a motion, for game engines [SSDR].
///
/// Parameters
/// ----------
/// points : (p, 3) array
///     Rest positions, metres.
/// frames : (f, p, 3) array
///     Positions in each frame, metres.
/// transforms : (f, b, 3, 4) array
///     Transforms of the existing bones from the rest shape in each frame.
/// weights : (p, b) array
///     Skinning weights of the existing bones, rows sum to 1.
/// count : int
///     Number of helper bones.
/// influences : int, default 4
///     Largest number of nonzero weights a point.
/// passes : int, default 15
///     Number of alternating updates of weights and bones.
///
/// Returns
/// -------
/// tuple of (array, array, float, float)
///     Weights (p, b + count), the helper bones' transforms (f, count, 3, 4), and the root mean
///     square and the largest remaining distance in metres. `HelperBonesJob` does the same without
///     blocking.
///
/// Raises
/// ------
/// ValueError
///     For wrong shapes, values that are not finite, and rows with another sum.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box()
/// >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
/// >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
/// >>> made = jounce.helper_bones(points, frames, still, np.ones((8, 1)), count=1)
/// >>> weights, transforms, mean, largest = made
/// >>> weights.shape, transforms.shape, largest < 1e-3
/// ((8, 2), (8, 1, 3, 4), True)
#[pyfunction]
#[pyo3(signature = (points, frames, transforms, weights, count, influences=4, passes=15))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn helper_bones<'py>(
    py: Python<'py>,
    points: &Bound<'py, PyAny>,
    frames: &Bound<'py, PyAny>,
    transforms: &Bound<'py, PyAny>,
    weights: &Bound<'py, PyAny>,
    count: i64,
    influences: i64,
    passes: i64,
) -> PyResult<HelperBones<'py>> {
    let job = HelperBonesJob::new(points, frames, transforms, weights, count, influences, passes)?;
    Py::new(py, job)?.get().result(py)
}

/// Background job for `helper_bones`, with the same arguments; the thread never touches Python.
///
/// Invalid arrays raise at once; `result()` raises later errors.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box()
/// >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
/// >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
/// >>> jounce.HelperBonesJob(points, frames, still, np.ones((8, 1)), 1).result()[0].shape
/// (8, 2)
#[pyclass(frozen, extends = Job, module = "jounce", name = "HelperBonesJob")]
pub struct HelperBonesJob {
    fit: Making<bake::HelperBones>,
    points: usize,
    count: usize,
}

#[pymethods]
impl HelperBonesJob {
    #[new]
    #[pyo3(signature = (points, frames, transforms, weights, count, influences=4, passes=15))]
    fn new(
        points: &Bound<'_, PyAny>,
        frames: &Bound<'_, PyAny>,
        transforms: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        count: i64,
        influences: i64,
        passes: i64,
    ) -> PyResult<PyClassInitializer<Self>> {
        let settings = HelperSettings {
            count: arrays::count(count, "count")?,
            influences: arrays::count(influences, "influences")?,
            passes: arrays::count(passes, "passes")?,
        };
        let points = arrays::points(points, "points")?;
        let p = points.len();
        let frames = arrays::array::<f32>(frames, "frames", &[Axis::Any("f"), Axis::Is(p), Axis::Is(3)])?;
        let axes = [Axis::Is(frames.len(0)), Axis::Any("b"), Axis::Is(3), Axis::Is(4)];
        let given = arrays::array::<f64>(transforms, "transforms", &axes)?;
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(p), Axis::Is(given.len(1))])?;
        let (frames, weights) = (frames.slice().to_vec(), weights.slice().to_vec());
        let given = arrays::transforms(given.slice()).to_vec();
        let fit = Making::start(move |progress| {
            bake::helper_bones(&points, &frames, &given, &weights, settings, progress)
        })?;
        Ok(fit.job().add_subclass(Self { fit, points: p, count: settings.count }))
    }

    /// Waits for weights, transforms, root mean square and largest distance, or raises the error of the
    /// job.
    ///
    /// Returns
    /// -------
    /// tuple of (array, array, float, float)
    ///     Weights, transforms, mean and largest distance, as of `helper_bones`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box()
    /// >>> frames = points + np.linspace(0, 1, 8)[:, None, None] * (points[:, :1] > 0.5)
    /// >>> still = np.tile(np.eye(3, 4), (8, 1, 1, 1))
    /// >>> job = jounce.HelperBonesJob(points, frames, still, np.ones((8, 1)), 1)
    /// >>> weights, helpers, mean, largest = job.result()
    /// >>> bones = np.concatenate([still, helpers], axis=1)
    /// >>> skinned = np.einsum("pb,fbij,pj->fpi", weights, bones, np.hstack([points, np.ones((8, 1))]))
    /// >>> bool(np.allclose(skinned, frames, atol=1e-3))
    /// True
    fn result<'py>(&self, py: Python<'py>) -> PyResult<HelperBones<'py>> {
        let found = self.fit.result(py)?;
        let (p, count) = (self.points, self.count);
        let moved = found.transforms.as_flattened().as_flattened().to_vec();
        Ok((
            arrays::owned(py, found.weights.clone(), &[p, found.weights.len() / p])?,
            arrays::owned(py, moved, &[found.transforms.len() / count, count, 3, 4])?,
            found.rms,
            found.error,
        ))
    }
}

/// Displacements before skinning from displacements after skinning: solves `matrices_i d_i =
/// displacement_i`.
///
/// If skinning flattens space at a point, d_i is the shortest least-squares solution.
///
/// Parameters
/// ----------
/// displacement : (p, 3) array
///     Displacements in the posed shape, metres.
/// matrices : (p, 3, 3) array
///     The linear part of the skinning at each point.
///
/// Returns
/// -------
/// (p, 3) array
///     Displacements in the rest shape, metres.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape and for values that are not finite.
///
/// Examples
/// --------
/// >>> jounce.pull_back([[0, 2, 0]], [np.diag([1, 2, 1])]).tolist()
/// [[0.0, 1.0, 0.0]]
#[pyfunction]
pub fn pull_back<'py>(
    py: Python<'py>,
    displacement: &Bound<'py, PyAny>,
    matrices: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let displacement = arrays::array::<f32>(displacement, "displacement", &[Axis::Any("p"), Axis::Is(3)])?;
    let p = displacement.len(0);
    let matrices = arrays::array::<f64>(matrices, "matrices", &[Axis::Is(p), Axis::Is(3), Axis::Is(3)])?;
    let (displacement, matrices) = (displacement.slice(), matrices.slice());
    let matrices = matrices.as_chunks::<3>().0.as_chunks::<3>().0;
    arrays::owned(py, run(py, || bake::pull_back(displacement, matrices))?, &[p, 3])
}
