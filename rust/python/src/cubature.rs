//! `Cubature`: tets at which elastic forces are found.

use jounce::Progress;
use jounce::method::skinning_modes;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays;
use crate::errors::run;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::subspace::SkinningModes;

/// Tets at which the elastic forces of a body are found, and how many such tets each stands for; made by
/// `Cubature.train`.
#[pyclass(frozen, module = "jounce", name = "Cubature")]
pub struct Cubature(pub skinning_modes::Cubature);

#[pymethods]
impl Cubature {
    /// Finds tets whose forces, weighted, are those of all, by non-negative least squares on states that are drawn
    /// from the modes and the rig.
    ///
    /// count: most tets. rig: None for a body that no bone moves. seed: of the states; the same seed gives the
    /// same tets. Raises ValueError for a count of 0 and for arguments that belong to another mesh.
    #[staticmethod]
    #[pyo3(signature = (mesh, material, modes, count=100, rig=None, seed=0))]
    fn train(
        py: Python<'_>,
        mesh: &TetMesh,
        material: &Material,
        modes: &SkinningModes,
        count: i64,
        rig: Option<&Rig>,
        seed: i64,
    ) -> PyResult<Self> {
        let drawn = (arrays::count(count, "count")?, arrays::count(seed, "seed")?);
        let (rig, progress) = (rig.map(|rig| rig.0.as_ref()), Progress::default());
        let train = || skinning_modes::Cubature::train(&mesh.0, &material.0, &modes.0, rig, drawn, &progress);
        run(py, train).map(Self)
    }

    /// Indices of the tets, (c,) int32.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(&self.0.tets), &[self.0.tets.len()])
    }

    /// Factors on what each tet adds to the elastic energy, (c,) float64, above 0.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.weights.clone(), &[self.0.weights.len()])
    }

    fn __repr__(&self) -> String {
        format!("Cubature({} tets)", self.0.tets.len())
    }
}
