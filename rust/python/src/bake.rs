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
/// Frame i is `sum over j of values_ij keys_j`. frames: (f, p, 3) float32, metres. tolerance: largest
/// distance of any point in any frame, metres. max_keys: upper bound of the number of shapes, even at the
/// cost of a larger error. Returns keys (k, p, 3) float32 in metres, values (f, k) float32, and the
/// remaining error in metres. `ModalKeysJob` does the same without blocking. Raises ValueError for values
/// that are not finite and for a tolerance below 0.
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
/// points: (p, 3), rest positions, metres. frames: (f, p, 3) float32, positions in each frame. transforms:
/// (f, b, 3, 4), the existing bones, from the rest shape. weights: (p, b), skinning weights of the existing
/// bones, rows sum to 1. count: number of helper bones. influences: most nonzero weights a point. passes:
/// alternating updates of weights and bones. Returns weights (p, b + count), the helper bones' transforms
/// (f, count, 3, 4), and the root mean square and the largest remaining distance in metres.
/// `HelperBonesJob` does the same without blocking. Raises ValueError for wrong shapes, values that are not
/// finite, and rows with another sum.
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

/// Displacements before skinning from displacements after skinning: solves
/// `matrices_i d_i = displacement_i`.
///
/// If skinning flattens space at a point, d_i is the shortest least-squares solution. displacement: (p, 3)
/// float32, metres. matrices: (p, 3, 3) float64, the linear part of the skinning at each point. Returns (p,
/// 3) float32, metres. Raises ValueError for a wrong shape and for values that are not finite.
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
