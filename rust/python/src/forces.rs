//! `ForceSamples` and `Drag`: forces and drag on parts of a body.

use jounce::inputs;
use std::sync::Arc;

use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Array, Axis, optional};
use crate::errors::run;
use crate::model::{Model, flat};
use crate::recipe::{Recipe, made_by};

/// Sample points for force fields: centres of mass of parts of a body; made by `Model.force_samples`.
///
/// The force on a part is distributed over its mass. A uniform field therefore acts exactly as gravity
/// does.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
/// >>> samples = body.model.force_samples(20)
/// >>> samples.points.shape
/// (20, 3)
/// >>> weight = samples.masses[:, None] * [0.0, 0.0, -9.81]
/// >>> samples.reduce(weight).shape == body.model.coefficient_shape
/// True
#[pyclass(frozen, module = "jounce", name = "ForceSamples")]
pub struct ForceSamples {
    pub inner: Arc<inputs::ForceSamples>,
    pub model: Py<Model>,
    pub recipe: Recipe,
}

#[pymethods]
impl ForceSamples {
    /// Centres of mass at rest, (k, 3) float64, metres; `Simulation.sample_positions` gives the moving
    /// positions.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, flat(self.inner.points()), &[self.inner.points().len(), 3])
    }

    /// Masses of the parts, (k,) float64, kg.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.inner.masses().to_vec(), &[self.inner.masses().len()])
    }

    /// Centres in a pose without secondary displacement, (k, 3) float64, metres. Forces read there depend
    /// on the pose alone.
    ///
    /// Parameters
    /// ----------
    /// pose : (b, 3, 4) array, optional
    ///     Transform of each bone; None without a rig.
    ///
    /// Returns
    /// -------
    /// (k, 3) array
    ///     Posed places of the samples, metres.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> samples = body.model.force_samples(20)
    /// >>> pose = np.eye(3, 4)[None].copy()
    /// >>> pose[0, :, 3] = [0.0, 0.0, 0.5]
    /// >>> bool(np.allclose(samples.posed(pose), samples.points + [0.0, 0.0, 0.5]))
    /// True
    #[pyo3(signature = (pose=None))]
    fn posed<'py>(
        &self,
        py: Python<'py>,
        pose: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let model = &self.model.get().inner;
        let axes = [Axis::Is(model.bone_count()), Axis::Is(3), Axis::Is(4)];
        let pose = pose.map(|pose| arrays::array::<f64>(pose, "pose", &axes)).transpose()?;
        let pose = pose.as_ref().map(|pose| arrays::transforms(pose.slice()));
        let positions = run(py, || model.posed_samples(&self.inner, pose))?;
        arrays::owned(py, flat(&positions), &[positions.len(), 3])
    }

    /// Generalised force (m, 3, 4) float64 of forces (k, 3) float64 on the parts, newtons.
    ///
    /// Parameters
    /// ----------
    /// forces : (k, 3) array
    ///     Force on each part, newtons.
    ///
    /// Returns
    /// -------
    /// array
    ///     Generalised force of `Model.coefficient_shape`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> samples, pose = body.model.force_samples(20), np.eye(3, 4)[None]
    /// >>> weight = samples.reduce(samples.masses[:, None] * [0.0, 0.0, -9.81])
    /// >>> pushed = jounce.Simulation(body.model)
    /// >>> heavy = jounce.Simulation(body.model, gravity=(0.0, 0.0, -9.81))
    /// >>> reports = [pushed.step(pose, weight), heavy.step(pose)]
    /// >>> bool(np.allclose(pushed.displacement(), heavy.displacement(), atol=1e-6))
    /// True
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        forces: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let axes = [Axis::Is(self.inner.points().len()), Axis::Is(3)];
        let forces = arrays::array::<f64>(forces, "forces", &axes)?;
        let (forces, model) = (forces.slice(), &self.model.get().inner);
        let reduced = run(py, || model.reduce_sample_forces(&self.inner, forces))?;
        arrays::owned(py, reduced, &[model.mode_count(), 3, 4])
    }

    /// Drag of a medium on the parts: a force `-(linear + quadratic |w|) w` on each, with w the total
    /// velocity of the part relative to the medium.
    ///
    /// Parameters
    /// ----------
    /// linear : (k,) array
    ///     Linear coefficient of each part, N s/m.
    /// quadratic : (k,) array, optional
    ///     Quadratic coefficient of each part, N s^2/m^2; None is 0.
    /// velocity : (k, 3) array, optional
    ///     Velocity of the medium, m/s; None is 0.
    ///
    /// Returns
    /// -------
    /// Drag
    ///     The drag, for `Simulation.step`; stable for any coefficients.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For coefficients below 0.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> samples = body.model.force_samples(20)
    /// >>> wind = samples.drag(np.full(20, 5.0), velocity=np.tile([0.0, 10.0, 0.0], (20, 1)))
    /// >>> simulation = jounce.Simulation(body.model)
    /// >>> report = simulation.step(np.eye(3, 4)[None], drag=wind)
    #[pyo3(signature = (linear, quadratic=None, velocity=None))]
    fn drag(
        slf: &Bound<'_, Self>,
        py: Python<'_>,
        linear: &Bound<'_, PyAny>,
        quadratic: Option<&Bound<'_, PyAny>>,
        velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Drag> {
        let samples = &slf.get().inner;
        let k = Axis::Is(samples.masses().len());
        let linear = arrays::array::<f64>(linear, "linear", &[k])?;
        let quadratic = optional(quadratic, "quadratic", &[k])?;
        let velocity = optional(velocity, "velocity", &[k, Axis::Is(3)])?;
        let (linear, quadratic) = (linear.slice(), quadratic.as_ref().map(Array::slice));
        let velocity = velocity.as_ref().map(Array::slice);
        let drag = run(py, || inputs::Drag::new(samples.clone(), linear, quadratic, velocity))?;
        Ok(Drag(drag, Some(slf.clone().unbind())))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        format!("ForceSamples({} parts)", self.inner.points().len())
    }
}

/// Drag of a medium on parts of a body, constant in each part; made by `ForceSamples.drag`. The
/// constructor makes vertex drag for a full-space, reduced or projective model: linear (n,) float64, N
/// s/m; quadratic (n,) or None; velocity of the medium (n, 3) or None, as in `ForceSamples.drag`.
///
/// Parameters
/// ----------
/// linear : (n,) array
///     Linear coefficient of each vertex, N s/m.
/// quadratic : (n,) array, optional
///     Quadratic coefficient of each vertex, N s^2/m^2; None is 0.
/// velocity : (n, 3) array, optional
///     Velocity of the medium, m/s; None is 0.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held)
/// >>> simulation = jounce.Simulation(model)
/// >>> air = jounce.Drag(np.full(len(mesh.vertices), 0.5))
/// >>> simulation.reset()
/// >>> report = simulation.step(drag=air)
#[pyclass(frozen, module = "jounce", name = "Drag")]
pub struct Drag(pub inputs::Drag, Option<Py<ForceSamples>>);

#[pymethods]
impl Drag {
    #[new]
    #[pyo3(signature = (linear, quadratic=None, velocity=None))]
    fn new(
        py: Python<'_>,
        linear: &Bound<'_, PyAny>,
        quadratic: Option<&Bound<'_, PyAny>>,
        velocity: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let linear = arrays::array::<f64>(linear, "linear", &[Axis::Any("n")])?;
        let n = Axis::Is(linear.slice().len());
        let quadratic = optional(quadratic, "quadratic", &[n])?;
        let velocity = optional(velocity, "velocity", &[n, Axis::Is(3)])?;
        let (linear, quadratic) = (linear.slice(), quadratic.as_ref().map(Array::slice));
        let velocity = velocity.as_ref().map(Array::slice);
        let drag = run(py, || inputs::Drag::at_vertices(linear, quadratic, velocity))?;
        Ok(Self(drag, None))
    }

    /// Linear coefficients, (k,) float64, N s/m.
    #[getter]
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.linear().to_vec(), &[self.0.linear().len()])
    }

    /// Quadratic coefficients, (k,) float64, N s^2/m^2.
    #[getter]
    fn quadratic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.quadratic().to_vec(), &[self.0.quadratic().len()])
    }

    /// Velocities of the medium, (k, 3) float64, m/s.
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, flat(self.0.velocity()), &[self.0.velocity().len(), 3])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = (self.linear(py)?, self.quadratic(py)?, self.velocity(py)?);
        match &self.1 {
            Some(samples) => Recipe::new(samples.bind(py), "drag", parts, None)?.reduced(py),
            None => made_by::<Self>(py, "", parts, None),
        }
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
