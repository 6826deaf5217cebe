//! `Cubature`: sample tets for elastic forces.

use jounce::model::reduced::Shot;
use jounce::{Progress, sampling};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::errors::run;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::model::Model;
use crate::recipe::made_by;
use crate::rig::Rig;
use crate::subspace::SkinningModes;

/// Sample tets for the elastic forces of a body, and the weight of each.
///
/// `Cubature.train` and `Cubature.of_shot` are the usual sources; the constructor restores stored tets,
/// (c,) integers, and weights, (c,) float64.
///
/// Parameters
/// ----------
/// tets : (c,) array of integers
///     Sample tets.
/// weights : (c,) array
///     Weight of each.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape; the model checks the fit to its mesh.
///
/// Examples
/// --------
/// >>> jounce.Cubature([0, 3], [0.5, 1.5]).weights.tolist()
/// [0.5, 1.5]
#[pyclass(frozen, module = "jounce", name = "Cubature")]
pub struct Cubature(pub sampling::Cubature);

#[pymethods]
impl Cubature {
    #[new]
    #[pyo3(text_signature = "(tets, weights)")]
    fn new(tets: &Bound<'_, PyAny>, weights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let rows = arrays::indices::<1>(tets, "tets", &[Axis::Any("c")], u32::MAX as usize)?;
        let tets = rows.into_iter().flatten().collect::<Vec<u32>>();
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Is(tets.len())])?;
        let cubature = sampling::Cubature { tets, weights: weights.slice().to_vec() };
        Ok(Self(cubature))
    }

    /// Trains a cubature by non-negative least squares on random states of the modes and the rig.
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh
    ///     The mesh.
    /// material : Material
    ///     The material.
    /// modes : SkinningModes
    ///     The modes.
    /// count : int, default 100
    ///     Largest number of tets.
    /// rig : Rig, optional
    ///     Rig of the body; None for a body without bones.
    /// seed : int, default 0
    ///     Seed of the training states; the same seed gives the same tets.
    ///
    /// Returns
    /// -------
    /// Cubature
    ///     Sample tets and their weights.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a count of 0 and for arguments of another mesh.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4)
    /// >>> cubature = jounce.Cubature.train(mesh, jounce.Material(), modes, count=10)
    /// >>> 0 < len(cubature.tets) <= 10
    /// True
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
        let train = || sampling::Cubature::train(&mesh.0, &material.0, &modes.0, rig, drawn, &progress);
        run(py, train).map(Self)
    }

    /// Trains a cubature of a reduced model by non-negative least squares on the states of a shot.
    ///
    /// Parameters
    /// ----------
    /// model : Model
    ///     A reduced model without a cubature.
    /// coefficients : (f, r) array
    ///     Coefficients in each frame, from `Model.nearest`.
    /// poses : (f, b, 3, 4) array, optional
    ///     Pose in each frame; None without a rig.
    /// count : int, default 100
    ///     Largest number of tets.
    /// seed : int, default 0
    ///     Seed of extra states between those of the shot; the same seed gives the same tets.
    ///
    /// Returns
    /// -------
    /// Cubature
    ///     Sample tets and their weights.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a count of 0, for arguments of another model and for a shot without forces.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> model = jounce.Model.reduced(mesh, jounce.Material(), modes.bent_basis(4))
    /// >>> shot = np.linspace(-0.2, 0.2, 6)[:, None] * np.ones(4)
    /// >>> cubature = jounce.Cubature.of_shot(model, shot, count=12)
    /// >>> len(cubature.tets) <= 12
    /// True
    #[staticmethod]
    #[pyo3(signature = (model, coefficients, poses=None, count=100, seed=0))]
    fn of_shot(
        py: Python<'_>,
        model: &Model,
        coefficients: &Bound<'_, PyAny>,
        poses: Option<&Bound<'_, PyAny>>,
        count: i64,
        seed: i64,
    ) -> PyResult<Self> {
        let drawn = (arrays::count(count, "count")?, arrays::count(seed, "seed")?);
        let model = model.reduced_model("cubature")?.clone();
        let axes = [Axis::Any("f"), Axis::Is(model.displacement_count())];
        let coefficients = arrays::array::<f64>(coefficients, "coefficients", &axes)?;
        let poses = shot_poses(poses, coefficients.len(0), model.bone_count())?;
        let coefficients = coefficients.slice().to_vec();
        let train = move |progress: &Progress| {
            let shot = Shot { poses: arrays::transforms(&poses), coefficients: &coefficients };
            model.train(&shot, drawn, progress)
        };
        made(py, train).map(|cubature| Self((*cubature).clone()))
    }

    /// Indices of the tets, (c,) int32.
    #[getter]
    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(&self.0.tets), &[self.0.tets.len()])
    }

    /// Weight of each tet's elastic energy, (c,) float64, above 0.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.weights.clone(), &[self.0.weights.len()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "", (self.tets(py)?, self.weights(py)?), None)
    }

    fn __repr__(&self) -> String {
        format!("Cubature({} tets)", self.0.tets.len())
    }
}

/// Poses of the frames of a shot, flat; empty without bones.
pub fn shot_poses(poses: Option<&Bound<'_, PyAny>>, frames: usize, bones: usize) -> PyResult<Vec<f64>> {
    let axes = [Axis::Is(frames), Axis::Is(bones), Axis::Is(3), Axis::Is(4)];
    let poses = poses.map(|poses| arrays::array::<f64>(poses, "poses", &axes)).transpose()?;
    Ok(poses.map(|poses| poses.slice().to_vec()).unwrap_or_default())
}
