//! `LimitSamples`: sample elements for the limits of a reduced model.

use jounce::model::reduced::{self, Bounds, Shot};
use jounce::{Progress, sampling};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::cubature::shot_poses;
use crate::job::made;
use crate::model::Model;
use crate::recipe::made_by;

/// Sample tets and vertices for the limits of stretch and displacement, and the weight of each.
///
/// `LimitSamples.of_shot` and `Body.learn` are the usual sources; the constructor restores stored tets,
/// (c,) integers, their weights, (c,) float64, vertices, (v,), and theirs.
///
/// Parameters
/// ----------
/// tets : (t,) array of integers
///     Sample tets of the stretch limit.
/// tet_weights : (t,) array
///     Weight of each tet.
/// vertices : (v,) array of integers
///     Sample vertices of the displacement limit.
/// vertex_weights : (v,) array
///     Weight of each vertex.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape; the model checks the fit to its mesh.
///
/// Examples
/// --------
/// >>> jounce.LimitSamples([0, 3], [1.0, 2.0], [5], [1.0]).tets.tolist()
/// [0, 3]
#[pyclass(frozen, module = "jounce", name = "LimitSamples")]
pub struct LimitSamples(pub reduced::LimitSamples);

#[pymethods]
impl LimitSamples {
    #[new]
    #[pyo3(text_signature = "(tets, tet_weights, vertices, vertex_weights)")]
    fn new(
        tets: &Bound<'_, PyAny>,
        tet_weights: &Bound<'_, PyAny>,
        vertices: &Bound<'_, PyAny>,
        vertex_weights: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let indices = |given: &Bound<'_, PyAny>, name| -> PyResult<Vec<u32>> {
            let rows = arrays::indices::<1>(given, name, &[Axis::Any("c")], u32::MAX as usize)?;
            Ok(rows.into_iter().flatten().collect())
        };
        let numbers = |given: &Bound<'_, PyAny>, name, count| -> PyResult<Vec<f64>> {
            Ok(arrays::array::<f64>(given, name, &[Axis::Is(count)])?.slice().to_vec())
        };
        let (tets, vertices) = (indices(tets, "tets")?, indices(vertices, "vertices")?);
        let weights = numbers(tet_weights, "tet_weights", tets.len())?;
        let vertex_weights = numbers(vertex_weights, "vertex_weights", vertices.len())?;
        let tets = sampling::Cubature { tets, weights };
        Ok(Self(reduced::LimitSamples { tets, vertices, weights: vertex_weights }))
    }

    /// Trains samples of the limits by non-negative least squares on a shot of a reduced model.
    ///
    /// Parameters
    /// ----------
    /// model : Model
    ///     A reduced model.
    /// coefficients : (f, r) array
    ///     Coefficients in each frame, from `Model.nearest`.
    /// poses : (f, b, 3, 4) array, optional
    ///     Pose in each frame; None without a rig.
    /// limit : float, optional
    ///     Displacement limit of the shot's simulation; None for none.
    /// stretch : float, optional
    ///     Stretch limit of the shot's simulation; None for none.
    /// tets : int, default 100
    ///     Largest number of tets; a shot below its limits has none.
    /// vertices : int, default 50
    ///     Largest number of vertices; a shot below its limits has none.
    /// seed : int, default 0
    ///     Seed of the draws; the same seed gives the same samples.
    ///
    /// Returns
    /// -------
    /// LimitSamples
    ///     The samples.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a limit that is not positive and as `Cubature.of_shot`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
    /// >>> shot = np.linspace(-2.0, 2.0, 6)[:, None] * np.ones(4)
    /// >>> samples = jounce.LimitSamples.of_shot(model, shot, stretch=0.1, tets=12)
    /// >>> len(samples.tets) <= 12
    /// True
    #[staticmethod]
    #[pyo3(signature = (model, coefficients, poses=None, limit=None, stretch=None, tets=100, vertices=50,
                        seed=0))]
    fn of_shot(
        py: Python<'_>,
        model: &Model,
        coefficients: &Bound<'_, PyAny>,
        poses: Option<&Bound<'_, PyAny>>,
        limit: Option<f64>,
        stretch: Option<f64>,
        tets: i64,
        vertices: i64,
        seed: i64,
    ) -> PyResult<Self> {
        let counts = [arrays::count(tets, "tets")?, arrays::count(vertices, "vertices")?];
        let drawn = (counts, arrays::count(seed, "seed")?);
        let model = model.reduced_model("limit samples")?.clone();
        let axes = [Axis::Any("f"), Axis::Is(model.displacement_count())];
        let coefficients = arrays::array::<f64>(coefficients, "coefficients", &axes)?;
        let poses = shot_poses(poses, coefficients.len(0), model.bone_count())?;
        let coefficients = coefficients.slice().to_vec();
        let train = move |progress: &Progress| {
            let shot = Shot { poses: arrays::transforms(&poses), coefficients: &coefficients };
            model.train_limits(&shot, Bounds { limit, stretch }, drawn, progress)
        };
        made(py, train).map(|samples| Self((*samples).clone()))
    }

    /// Indices of the tets, (c,) int32.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        let tets = &self.0.tets.tets;
        arrays::owned(py, arrays::signed(tets), &[tets.len()])
    }

    /// Weight of each tet, (c,) float64, above 0.
    #[getter]
    fn tet_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let weights = &self.0.tets.weights;
        arrays::owned(py, weights.clone(), &[weights.len()])
    }

    /// Indices of the vertices, (v,) int32.
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(&self.0.vertices), &[self.0.vertices.len()])
    }

    /// Weight of each vertex, (v,) float64, above 0.
    #[getter]
    fn vertex_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.weights.clone(), &[self.0.weights.len()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(
            py,
            "",
            (self.tets(py)?, self.tet_weights(py)?, self.vertices(py)?, self.vertex_weights(py)?),
            None,
        )
    }

    fn __repr__(&self) -> String {
        format!("LimitSamples({} tets, {} vertices)", self.0.tets.tets.len(), self.0.vertices.len())
    }
}
