//! Basis and samples of a `Model`.

use std::sync::Arc;

use jounce::model;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::basis::Basis;
use crate::cubature::Cubature;
use crate::errors::run;
use crate::forces::ForceSamples;
use crate::limit_samples::LimitSamples;
use crate::model::Model;
use crate::recipe::Recipe;

#[pymethods]
impl Model {
    /// The same reduced model with elastic forces evaluated at a cubature.
    ///
    /// Parameters
    /// ----------
    /// cubature : Cubature
    ///     Sample tets and their weights.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model with the cubature.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for a model with a cubature.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
    /// >>> shot = np.linspace(-0.2, 0.2, 6)[:, None] * np.ones(4)
    /// >>> fast = model.sampled(jounce.Cubature.of_shot(model, shot, count=12))
    fn sampled(slf: &Bound<'_, Self>, cubature: &Cubature) -> PyResult<Self> {
        let model = slf.get().reduced_model("sampled")?;
        let made = run(slf.py(), || model.sampled(&cubature.0))?;
        let recipe = Recipe::new(slf.as_any(), "sampled", (Cubature(cubature.0.clone()),), None)?;
        let known = slf.get().known_material();
        Ok(Self::wrap(model::Model::Reduced(Arc::new(made)), known).made_by(recipe))
    }

    /// The same reduced model with limits, evaluated at sample tets and vertices.
    ///
    /// Parameters
    /// ----------
    /// limits : LimitSamples
    ///     Samples of the limits.
    ///
    /// Returns
    /// -------
    /// Model
    ///     The model with limits.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for indices out of range.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
    /// >>> limited = model.limited(jounce.LimitSamples([0, 3], [1.0, 1.0], [5], [1.0]))
    /// >>> simulation = jounce.Simulation(limited, stretch=0.2)
    fn limited(slf: &Bound<'_, Self>, limits: &LimitSamples) -> PyResult<Self> {
        let model = slf.get().reduced_model("limited")?;
        let made = run(slf.py(), || model.limited(&limits.0))?;
        let recipe = Recipe::new(slf.as_any(), "limited", (LimitSamples(limits.0.clone()),), None)?;
        let known = slf.get().known_material();
        Ok(Self::wrap(model::Model::Reduced(Arc::new(made)), known).made_by(recipe))
    }

    /// Least-squares coefficients, (f, r) float64, of given displacements in a reduced model, in the mass
    /// norm.
    ///
    /// Parameters
    /// ----------
    /// displacements : (f, n, 3) array
    ///     Displacements in each frame, metres.
    ///
    /// Returns
    /// -------
    /// (f, r) array
    ///     Nearest coefficients of each frame.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For other models and for displacements of another mesh.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
    /// >>> lifted = np.zeros((1, len(mesh.vertices), 3))
    /// >>> lifted[0, :, 2] = 0.02 * mesh.vertices[:, 0] ** 2
    /// >>> model.nearest(lifted).shape
    /// (1, 4)
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        displacements: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let model = self.reduced_model("nearest")?;
        let axes = [Axis::Any("f"), Axis::Is(model.mesh().vertices().len()), Axis::Is(3)];
        let displacements = arrays::array::<f64>(displacements, "displacements", &axes)?;
        let (numbers, frames) = (displacements.slice(), displacements.len(0));
        let found = run(py, || model.nearest(numbers))?;
        arrays::owned(py, found, &[frames, model.displacement_count()])
    }

    /// Sample points for force fields, at a cost independent of the mesh: about `count` parts of the body,
    /// at most one a cluster.
    ///
    /// Parameters
    /// ----------
    /// count : int
    ///     Number of samples.
    ///
    /// Returns
    /// -------
    /// ForceSamples
    ///     The samples.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a count below 1.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> body = jounce.Body(points, triangles, np.ones((8, 1)), resolution=8, modes=4, clusters=20)
    /// >>> samples = body.model.force_samples(10)
    /// >>> len(samples.points), round(float(samples.masses.sum()))
    /// (10, 4000)
    fn force_samples(slf: &Bound<'_, Self>, count: i64) -> PyResult<ForceSamples> {
        let recipe = Recipe::new(slf.as_any(), "force_samples", (count,), None)?;
        let (model, count) = (slf.get(), arrays::count(count, "count")?);
        let inner = run(slf.py(), || model.inner.force_samples(count))?;
        Ok(ForceSamples { inner: inner.into(), model: slf.clone().unbind(), recipe })
    }

    /// The basis of a reduced model; None for other models.
    #[getter]
    pub fn basis(&self) -> Option<Basis> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        Some(Basis(Arc::new(model.basis().clone())))
    }

    /// The cubature of a reduced model; None for other models, and without a cubature.
    #[getter]
    pub fn cubature(&self) -> Option<Cubature> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        model.cubature().cloned().map(Cubature)
    }

    /// The limit samples of a reduced model; None for other models, and without limits.
    #[getter]
    pub fn limit_samples(&self) -> Option<LimitSamples> {
        let model::Model::Reduced(model) = &self.inner else { return None };
        model.limit_samples().cloned().map(LimitSamples)
    }
}
