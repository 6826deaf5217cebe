//! `Grip` and `Pull`: springs from points of a projective body to targets.

use jounce::{inputs, model};
use std::sync::Arc;

use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::errors::run;
use crate::mesh::Embedding;
use crate::model::Model;
use crate::recipe::Recipe;

/// Points of a projective model prepared for pulling: by the pointer, a pin, a string.
///
/// Parameters
/// ----------
/// model : Model
///     A projective model.
/// points : (k,) array of integers
///     Vertices, or with `embedding` its points; at most 64.
/// embedding : Embedding, optional
///     Points in the model's mesh; None for its vertices.
///
/// Raises
/// ------
/// ValueError
///     For an index out of range, for duplicates, and for other models.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
/// >>> corner = int(np.argmax(mesh.vertices.sum(axis=1)))
/// >>> grip = jounce.Grip(model, [corner])
/// >>> simulation = jounce.Simulation(model)
/// >>> report = simulation.step(pull=grip.pull(mesh.vertices[[corner]] + [0.0, 0.0, 0.5]))
/// >>> bool(simulation.displacement()[corner, 2] > 0)
/// True
#[pyclass(frozen, module = "jounce", name = "Grip")]
pub struct Grip(Arc<inputs::Grip>, Recipe);

#[pymethods]
impl Grip {
    #[new]
    #[pyo3(signature = (model, points, embedding=None))]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        points: &Bound<'_, PyAny>,
        embedding: Option<&Bound<'_, Embedding>>,
    ) -> PyResult<Self> {
        let model::Model::Projective(projective) = &model.get().inner else {
            return Err(PyValueError::new_err(
                "model: points of a projective model alone are held; pull others by a generalised force",
            ));
        };
        let inside = embedding.map(|embedding| &*embedding.get().inner);
        let count = inside.map_or(projective.vertices().len(), |inside| inside.points().len());
        let points = arrays::indices::<1>(points, "points", &[Axis::Any("k")], count)?;
        let points = points.as_flattened();
        let grip = run(py, || inputs::Grip::new(projective, points, inside))?;
        let parts = (model, points.to_vec(), embedding);
        Ok(Self(grip.into(), Recipe::new(py.get_type::<Self>().as_any(), "", parts, None)?))
    }

    /// Pulls the points to targets throughout a step, each by a critically damped spring with the
    /// effective mass of the point: `c'' = -w^2 (c - g) - 2 w c'` with `w = 2 pi frequency`.
    ///
    /// Parameters
    /// ----------
    /// targets : (k, 3) array
    ///     Target of each point, metres.
    /// frequency : float, default 10.0
    ///     Stiffness of the springs as a frequency, Hz, at most 1e5, the value of a pin.
    /// calm : float, default 0.0
    ///     Decay rate of the pulled body's velocity, 1/s, against swinging and spinning.
    ///
    /// Returns
    /// -------
    /// Pull
    ///     The pull, for `Simulation.step`; stable for any values.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a frequency that is not positive and for a rate below 0.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
    /// >>> corner = int(np.argmax(mesh.vertices.sum(axis=1)))
    /// >>> pin = jounce.Grip(model, [corner]).pull(mesh.vertices[[corner]], frequency=1e5)
    /// >>> simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81))
    /// >>> for frame in range(12):
    /// ...     report = simulation.step(pull=pin)
    /// >>> moved = np.linalg.norm(simulation.displacement(), axis=1)
    /// >>> bool(moved[corner] < 1e-4), bool(moved.max() > 1.0)
    /// (True, True)
    #[pyo3(signature = (targets, frequency=10.0, calm=0.0))]
    fn pull(slf: &Bound<'_, Self>, targets: &Bound<'_, PyAny>, frequency: f64, calm: f64) -> PyResult<Pull> {
        let grip = &slf.get().0;
        let targets = arrays::array::<f64>(targets, "targets", &[Axis::Is(grip.point_count()), Axis::Is(3)])?;
        let targets = targets.slice().as_chunks::<3>().0;
        let pull = run(slf.py(), || inputs::Pull::new(grip.clone(), targets, frequency, calm))?;
        let parts = (targets.to_vec(), frequency, calm);
        Ok(Pull(pull, Recipe::new(slf.as_any(), "pull", parts, None)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.1.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("Grip({} points)", self.0.point_count())
    }
}

/// Points with targets for a step; made by `Grip.pull`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> model = jounce.Model.projective(mesh, jounce.Material(), handles=8, clusters=20)
/// >>> pull = jounce.Grip(model, [0]).pull([[0.0, 0.0, 1.0]])
/// >>> pull.targets.tolist()
/// [[0.0, 0.0, 1.0]]
#[pyclass(frozen, module = "jounce", name = "Pull")]
pub struct Pull(pub inputs::Pull, Recipe);

#[pymethods]
impl Pull {
    /// Target positions, (k, 3) float64, metres.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let targets = self.0.targets();
        arrays::owned(py, targets.as_flattened().to_vec(), &[targets.len(), 3])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.1.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("Pull({} points)", self.0.targets().len())
    }
}
