//! `LinearModes` and `linear_modes`: the small swings of a body, and how they bend.

use std::sync::Arc;

use jounce::Progress;
use jounce::subspace;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays;
use crate::basis::Basis;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::subspace::Restraint;

/// Small swings of a body; made by `linear_modes`.
#[pyclass(frozen, module = "jounce", name = "LinearModes")]
pub struct LinearModes(Arc<(subspace::LinearProblem, subspace::LinearModes)>);

impl LinearModes {
    fn modes(&self) -> &subspace::LinearModes {
        &self.0.1
    }
}

#[pymethods]
impl LinearModes {
    /// The displacements Psi, (k, n, 3) float64, with `Psi'M Psi = I`, 1/sqrt(kg).
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let basis = self.modes().basis();
        arrays::owned(py, basis.shapes(), &[basis.count(), basis.columns.nrows() / 3, 3])
    }

    /// `lambda = omega^2`, (k,) float64, 1/s^2, ascending; about zero for what moves without deforming.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.modes().eigenvalues.clone(), &[self.modes().eigenvalues.len()])
    }

    /// `sqrt(lambda) / 2 pi`, (k,) float64, Hz.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        arrays::owned(py, self.modes().frequencies(), &[self.modes().eigenvalues.len()])
    }

    /// The modes as a Basis, for `Model.reduced`.
    #[getter]
    fn basis(&self) -> Basis {
        Basis(Arc::new(self.modes().basis()))
    }

    /// How the body bends beyond its modes: `K Phi^ij = -(H : psi_j) psi_i` [MOR eq. 13-16].
    ///
    /// `u = sum_i p_i psi_i + 1/2 sum_ij p_i p_j Phi^ij` is what it does under the force `M Psi Lambda p`, up to third order.
    /// Returns (k (k + 1) / 2, n, 3) float64, 1/(m kg), one for each i <= j: (0, 0), (0, 1) and so on. Raises ValueError where more
    /// motions than these modes do not deform the body.
    fn derivatives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let body = self.0.clone();
        let derivatives = made(py, move |_: &Progress| body.0.derivatives(&body.1))?;
        let numbers: Vec<f64> =
            (0..derivatives.ncols()).flat_map(|j| derivatives.col_as_slice(j).iter().copied()).collect();
        arrays::owned(py, numbers, &[derivatives.ncols(), derivatives.nrows() / 3, 3])
    }

    /// The count displacements that say most of what a body does slowly, large bends included [MOR eq. 17, 18].
    ///
    /// Mass-PCA of modes and derivatives, the slower the heavier: `p l_1 / l_j psi_j` and `p^2 / 2 l_1^2 / (l_i l_j) Phi^ij`, p such
    /// that the slowest mode that deforms moves by a quarter of the mesh's diagonal. Returns Basis. Raises ValueError as
    /// `derivatives`, and where no mode deforms the body.
    #[pyo3(signature = (count))]
    fn bent_basis(&self, py: Python<'_>, count: i64) -> PyResult<Basis> {
        let count = arrays::count(count, "count")?;
        let body = self.0.clone();
        let find = move |progress: &Progress| body.0.bent_basis(&body.1, count, progress);
        made(py, find).map(Basis)
    }

    fn __repr__(&self) -> String {
        let (rows, k) = self.modes().shapes.shape();
        format!("LinearModes({} vertices, {k} modes)", rows / 3)
    }
}

/// The lowest modes of small swings, `K psi = lambda M psi`, K the Hessian of the elastic energy at rest [MOR eq. 1].
///
/// count: k. rig: None leaves them unconstrained; with one they are complementary to it, `B'(1 - leak) M psi = 0`. leak: (n,)
/// float64 in [0, 1]; None is `momentum_leak(mesh)`. pinned: (n,) bool, where they are exactly 0. Where nothing holds the body its rigid
/// motions come first, with eigenvalues of about zero. Returns LinearModes. Raises ValueError for more modes than the body has,
/// and for arguments of another mesh.
#[pyfunction]
#[pyo3(signature = (mesh, material, count=20, rig=None, leak=None, pinned=None))]
pub fn linear_modes(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    count: i64,
    rig: Option<&Rig>,
    leak: Option<&Bound<'_, PyAny>>,
    pinned: Option<&Bound<'_, PyAny>>,
) -> PyResult<LinearModes> {
    let count = arrays::count(count, "count")?;
    let restraint = Restraint::new(mesh, rig, leak, pinned)?;
    let (mesh, material) = (mesh.0.clone(), material.0.clone());
    let find = move |progress: &Progress| {
        let problem = subspace::LinearProblem::new(&mesh, &material, &restraint.borrowed(), progress)?;
        let modes = problem.lowest(count, progress)?;
        Ok((problem, modes))
    };
    made(py, find).map(LinearModes)
}
