//! `SkinningModes`, `skinning_modes` and `cluster_tets`.

use std::sync::Arc;

use jounce::{Progress, operators, subspace};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis, copied, optional};
use crate::errors::refused;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::recipe::{Recipe, made_by};
use crate::rig::Rig;
use crate::stitches::Stitches;

/// Skinning weights, the basis of the secondary motion: `u_i = sum_k weights_ik Z_k [X_i; 1]`, Z_k 3x4.
///
/// Parameters
/// ----------
/// weights : (n, m) array
///     Weights of each vertex. Given directly, they may be neither orthonormal nor independent.
/// eigenvalues : (m,) array
///     Eigenvalue of each mode, 1/s^2, ascending unless localised.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape and for values that are not finite.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> modes = jounce.SkinningModes(np.ones((len(mesh.vertices), 1)), [0.0])
/// >>> modes.weights.shape == (len(mesh.vertices), 1)
/// True
#[pyclass(frozen, module = "jounce", name = "SkinningModes")]
pub struct SkinningModes(pub Arc<subspace::SkinningModes>);

#[pymethods]
impl SkinningModes {
    #[new]
    #[pyo3(text_signature = "(weights, eigenvalues)")]
    fn new(weights: &Bound<'_, PyAny>, eigenvalues: &Bound<'_, PyAny>) -> PyResult<Self> {
        let weights = arrays::array::<f64>(weights, "weights", &[Axis::Any("n"), Axis::Any("m")])?;
        let m = weights.len(1);
        let eigenvalues = arrays::array::<f64>(eigenvalues, "eigenvalues", &[Axis::Is(m)])?.slice().to_vec();
        subspace::SkinningModes::from_rows(weights.slice(), eigenvalues)
            .map(|modes| Self(Arc::new(modes)))
            .map_err(refused)
    }

    /// The weights, (n, m) float64; from `skinning_modes` orthonormal in the mass, 1/sqrt(kg).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (n, m) = (self.0.weights.nrows(), self.0.weights.ncols());
        arrays::owned(py, self.0.rows(), &[n, m])
    }

    /// Eigenvalues, (m,) float64, 1/s^2, ascending unless localised; a mode's frequency is
    /// `sqrt(eigenvalue) / (2 pi)` Hz.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.0.eigenvalues.clone(), &[self.0.eigenvalues.len()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "", (self.weights(py)?, self.eigenvalues(py)?), None)
    }

    fn __repr__(&self) -> String {
        format!("SkinningModes({} vertices, {} modes)", self.0.weights.nrows(), self.0.weights.ncols())
    }
}

/// The smoothest weights complementary to the rig: smallest `H w = lambda M w` with `A' w = 0`.
///
/// H is the weight-space Hessian, the Laplacian with conductivity 4 mu + lambda [FastCD eq. 18]; A the
/// complementarity constraint `B' D M J = 0` [FastCD eq. 21] with D = 1 - leak.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     The material.
/// count : int, default 16
///     Number of modes m.
/// rig : Rig, optional
///     Rig that the modes complement; None leaves them unconstrained.
/// leak : (n,) array, optional
///     Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
/// pinned : (n,) array of bool, optional
///     Vertices with zero weights.
/// stitches : Stitches, optional
///     Springs whose stiffness is added to H.
///
/// Returns
/// -------
/// SkinningModes
///     The modes, with all copies of a repeated eigenvalue.
///
/// Raises
/// ------
/// ValueError
///     For a count above the free dimension of mesh and rig, and for arguments of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
/// >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4, rig)
/// >>> modes.weights.shape == (len(mesh.vertices), 4)
/// True
/// >>> bool((np.diff(modes.eigenvalues) >= 0).all())
/// True
#[pyfunction]
#[pyo3(signature = (mesh, material, count=16, rig=None, leak=None, pinned=None, stitches=None))]
pub fn skinning_modes(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    count: i64,
    rig: Option<&Rig>,
    leak: Option<&Bound<'_, PyAny>>,
    pinned: Option<&Bound<'_, PyAny>>,
    stitches: Option<&Stitches>,
) -> PyResult<SkinningModes> {
    let count = arrays::count(count, "count")?;
    let restraint = Restraint::new(mesh.0.vertices().len(), rig, leak, pinned)?;
    let (mesh, material) = (mesh.0.clone(), material.0.clone());
    let stitches = stitches.map(|stitches| stitches.0.clone());
    let find = move |progress: &Progress| match stitches {
        Some(stitches) => {
            subspace::ModesProblem::new(&mesh, &material, &restraint.borrowed(), &stitches, progress)?
                .lowest(count, progress)
        }
        None => subspace::restrained_modes(&mesh, &material, count, &restraint.borrowed(), progress),
    };
    made(py, find).map(SkinningModes)
}

/// Modes that contain the motion which each bone's acceleration makes, also of small soft parts.
///
/// A third of them are those of `skinning_modes`; the others hold the answers of the flesh to the loads
/// `M w_b` of the bones, next that whose answer has the most energy outside of the modes so far. They
/// are mass-orthonormal and diagonal in H, and `eigenvalues` those of H in their span, ascending.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     The material.
/// bones : Rig
///     Rig whose bones accelerate.
/// count : int, default 16
///     Number of modes.
/// rig : Rig, optional
///     Rig that the modes complement; None leaves them unconstrained.
/// leak : (n,) array, optional
///     Share of the momentum that reaches the flesh of each vertex, in [0, 1]; None is
///     `momentum_leak(mesh)`.
/// pinned : (n,) array of bool, optional
///     Vertices that follow the rig exactly.
/// stitches : Stitches, optional
///     Springs between points of the mesh; None is none.
///
/// Returns
/// -------
/// SkinningModes
///     The modes.
///
/// Raises
/// ------
/// ValueError
///     As `skinning_modes`, and for bones of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
/// >>> jounce.driven_modes(mesh, jounce.Material(), rig, 4, rig).weights.shape[1]
/// 4
#[pyfunction]
#[pyo3(signature = (mesh, material, bones, count=16, rig=None, leak=None, pinned=None, stitches=None))]
pub fn driven_modes(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    bones: &Rig,
    count: i64,
    rig: Option<&Rig>,
    leak: Option<&Bound<'_, PyAny>>,
    pinned: Option<&Bound<'_, PyAny>>,
    stitches: Option<&Stitches>,
) -> PyResult<SkinningModes> {
    let count = arrays::count(count, "count")?;
    let restraint = Restraint::new(mesh.0.vertices().len(), rig, leak, pinned)?;
    let (mesh, material, bones) = (mesh.0.clone(), material.0.clone(), bones.0.clone());
    let stitches =
        stitches.map_or_else(|| Arc::new(operators::Stitches::none(&mesh)), |given| given.0.clone());
    let find = move |progress: &Progress| {
        subspace::ModesProblem::new(&mesh, &material, &restraint.borrowed(), &stitches, progress)?
            .driven(count, &bones, progress)
    };
    made(py, find).map(SkinningModes)
}

/// Localised modes and their quality; made by `localised_modes`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> found = jounce.localised_modes(mesh, jounce.Material(), 3, locality=5.0)
/// >>> found.supports.shape, 0 <= found.span <= 1
/// ((3,), True)
#[pyclass(frozen, module = "jounce", name = "LocalisedModes")]
pub struct LocalisedModes {
    found: Arc<subspace::LocalisedModes>,
    modes: SkinningModes,
    recipe: Recipe,
}

#[pymethods]
impl LocalisedModes {
    /// The modes in order of definition, with energies in place of eigenvalues.
    #[getter]
    fn modes(&self) -> SkinningModes {
        SkinningModes(self.modes.0.clone())
    }

    /// Share of the mass with more than a hundredth of the largest value, for each mode, (m,) float64.
    #[getter]
    fn supports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.found.supports.clone(), &[self.found.supports.len()])
    }

    /// Share of the span of as many global modes, in [0, 1].
    #[getter]
    fn span(&self) -> f64 {
        self.found.span
    }

    /// Optimality residual of the least exact mode, relative to its size.
    #[getter]
    fn residual(&self) -> f64 {
        self.found.residual
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __repr__(&self) -> String {
        let supports = &self.found.supports;
        let mean = supports.iter().sum::<f64>() / supports.len() as f64;
        format!("LocalisedModes({} modes, mean support {mean:.3})", supports.len())
    }
}

/// Modes confined to parts of the body: `skinning_modes` with an L1 term, one mode after the other.
///
/// Mode j minimises `w' H w / 2 + mu sum_i m_i |w_i|` with `w' M w = 1`, complementary to the rig and
/// orthogonal to the previous modes [FastCD sec. 9.5].
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     The material.
/// count : int, default 16
///     Number of modes.
/// locality : float, default 10.0
///     Dimensionless locality, above 0: a mode covers about the share `1 / locality` of the body, less
///     in thin limbs.
/// rig : Rig, optional
///     Rig that the modes complement; None leaves them unconstrained.
/// leak : (n,) array, optional
///     Share of the momentum that reaches the flesh of each vertex, in [0, 1]; None is
///     `momentum_leak(mesh)`.
/// pinned : (n,) array of bool, optional
///     Vertices that follow the rig exactly.
///
/// Returns
/// -------
/// LocalisedModes
///     The modes and their quality.
///
/// Raises
/// ------
/// ValueError
///     For a locality that is not positive, and as `skinning_modes`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> found = jounce.localised_modes(mesh, jounce.Material(), 3, locality=5.0)
/// >>> found.modes.weights.shape[1]
/// 3
#[pyfunction]
#[pyo3(signature = (mesh, material, count=16, locality=10.0, rig=None, leak=None, pinned=None))]
pub fn localised_modes(
    py: Python<'_>,
    mesh: &Bound<'_, TetMesh>,
    material: &Bound<'_, Material>,
    count: i64,
    locality: f64,
    rig: Option<&Bound<'_, Rig>>,
    leak: Option<&Bound<'_, PyAny>>,
    pinned: Option<&Bound<'_, PyAny>>,
) -> PyResult<LocalisedModes> {
    let settings = PyDict::new(py);
    settings.set_item("rig", rig)?;
    settings.set_item("leak", leak.map(copied).transpose()?)?;
    settings.set_item("pinned", pinned.map(copied).transpose()?)?;
    let parts = (mesh, material, count, locality);
    let recipe = Recipe::new(&py.import("jounce")?.getattr("localised_modes")?, "", parts, Some(settings))?;
    let count = arrays::count(count, "count")?;
    let (mesh, material) = (mesh.get().0.clone(), material.get().0.clone());
    let restraint = Restraint::new(mesh.vertices().len(), rig.map(Bound::get), leak, pinned)?;
    let found = made(py, move |progress| {
        subspace::localised_modes(&mesh, &material, count, locality, &restraint.borrowed(), progress)
    })?;
    let modes = SkinningModes(Arc::new(found.modes.clone()));
    Ok(LocalisedModes { found, modes, recipe })
}

/// Checked constraints of a modal analysis.
pub struct Restraint {
    rig: Option<Arc<jounce::rig::Rig>>,
    leak: Option<Vec<f64>>,
    pinned: Option<Vec<bool>>,
}

impl Restraint {
    /// Constraints on n vertices.
    pub fn new(
        n: usize,
        rig: Option<&Rig>,
        leak: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let n = [Axis::Is(n)];
        let pinned = pinned.map(|pinned| arrays::array::<bool>(pinned, "pinned", &n)).transpose()?;
        Ok(Self {
            rig: rig.map(|rig| rig.0.clone()),
            leak: optional(leak, "leak", &n)?.map(|leak| leak.slice().to_vec()),
            pinned: pinned.map(|pinned| pinned.slice().to_vec()),
        })
    }

    pub fn borrowed(&self) -> subspace::Restraint<'_> {
        subspace::Restraint {
            rig: self.rig.as_deref(),
            leak: self.leak.as_deref(),
            pinned: self.pinned.as_deref(),
        }
    }
}

/// Connected clusters of tets with similar motion in the modes.
///
/// Volume-weighted k-means on `mean over the corners of weights_k / eigenvalue_k^2` [FastCD eq. 27],
/// split into connected parts.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// modes : SkinningModes
///     Modes in which the tets of a cluster move alike.
/// count : int, default 100
///     Largest number of clusters, unless the mesh has more separate parts.
/// seed : int, default 0
///     Seed of the k-means start.
///
/// Returns
/// -------
/// (t,) array of integers
///     Label of each tet, from 0; the same seed gives the same labels.
///
/// Raises
/// ------
/// ValueError
///     For a count of 0 and for modes of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> modes = jounce.skinning_modes(mesh, jounce.Material(), 4)
/// >>> labels = jounce.cluster_tets(mesh, modes, count=10)
/// >>> labels.shape == (len(mesh.tets),), int(labels.max()) < 10
/// (True, True)
#[pyfunction]
#[pyo3(signature = (mesh, modes, count=100, seed=0))]
pub fn cluster_tets<'py>(
    py: Python<'py>,
    mesh: &TetMesh,
    modes: &SkinningModes,
    count: i64,
    seed: i64,
) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
    let (count, seed) = (arrays::count(count, "count")?, arrays::count(seed, "seed")?);
    let (mesh, modes) = (mesh.0.clone(), modes.0.clone());
    let labels = made(py, move |progress| subspace::cluster_tets(&mesh, &modes, count, seed, progress))?;
    arrays::owned(py, labels.to_vec(), &[labels.len()])
}
