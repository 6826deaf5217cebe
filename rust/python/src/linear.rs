//! `LinearModes` and `linear_modes`: the small swings of a body, how they bend, and how they sound.

use std::sync::{Arc, OnceLock};

use jounce::method::modal::{self, ModalForces, RayleighDamping, SoundParams, Strike};
use jounce::{Error, Progress, subspace};
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::arrays::{self, Axis, optional};
use crate::basis::Basis;
use crate::errors::refused;
use crate::job::made;
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::subspace::Restraint;

/// Small swings of a body; made by `linear_modes`.
#[pyclass(frozen, module = "jounce", name = "LinearModes")]
pub struct LinearModes(
    Arc<(subspace::LinearProblem, subspace::LinearModes)>,
    OnceLock<Arc<subspace::Warping>>,
);

impl LinearModes {
    fn modes(&self) -> &subspace::LinearModes {
        &self.0.1
    }

    /// What warps them, made when it is asked for.
    fn warping(&self, py: Python<'_>) -> PyResult<Arc<subspace::Warping>> {
        if let Some(warping) = self.1.get() {
            return Ok(warping.clone());
        }
        let body = self.0.clone();
        let warping = made(py, move |_: &Progress| body.0.warping(&body.1))?;
        Ok(self.1.get_or_init(|| warping).clone())
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

    /// The modes bent as far as amplitudes say, without growing: rotation-strain warping [MOR eq. 19-25].
    ///
    /// The displacement q whose gradients are nearest to `exp(w) (I + e)`, weighted by volumes, with the strain e and the infinitesimal
    /// rotation w of `Psi z` in each tet; for small z it is `Psi z`. amplitudes: z, (k,) float64, m kg^(1/2). Returns (n, 3)
    /// float64, metres. Pinned vertices stay; what is free has its centre where `Psi z` has it. The first call prepares what all
    /// share. Raises ValueError for amplitudes of other modes. It knows no forces: what it shows is no equilibrium.
    fn warped<'py>(
        &self,
        py: Python<'py>,
        amplitudes: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let count = Axis::Is(self.modes().eigenvalues.len());
        let amplitudes = arrays::array::<f64>(amplitudes, "amplitudes", &[count])?.slice().to_vec();
        let warping = self.warping(py)?;
        let moved = made(py, move |_: &Progress| warping.displacement(&amplitudes))?;
        let vertices = moved.len() / 3;
        arrays::owned(py, moved.to_vec(), &[vertices, 3])
    }

    /// How much of the air around it each mode moves, `omega^2 |integral of psi over the outward normals|`, (k,) float64.
    ///
    /// About zero for what bends without changing the volume.
    #[getter]
    fn radiation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let weights = modal::radiation(self.0.0.mesh(), self.modes()).map_err(refused)?;
        let count = weights.len();
        arrays::owned(py, weights, &[count])
    }

    /// How the body sounds, `s = sum_i w_i z_i` of its modes from 20 Hz to 20 kHz, from rest [MOR eq. 2-4].
    ///
    /// `z_i'' + (alpha + beta l_i) z_i' + l_i z_i = psi_i' f`, by steps that are exact. duration: seconds. Blows: times (s,) float64,
    /// seconds; vertices (s,) integers; impulses (s, 3) float64, N s. Each acts at the sample nearest to its time. forces: (f, k) float64,
    /// `psi_i' f` of each mode a frame, linear between frames and none after the last, fps frames a second. damping: two pairs of a frequency in Hz
    /// and the damping ratio there, which alpha and beta follow from. rate: samples a second. weights: w, (k,) float64; None is 1;
    /// `radiation` is another choice. Returns float32 samples, (duration * rate,), linear in what was struck. Raises ValueError where no mode is
    /// audible, and for what does not fit the modes.
    #[pyo3(signature = (duration, times=None, vertices=None, impulses=None, *, forces=None, fps=24.0,
                        damping=((100.0, 0.002), (5000.0, 0.005)), rate=48000.0, weights=None),
           text_signature = "($self, duration, times=None, vertices=None, impulses=None, *, forces=None, fps=24.0, \
                             damping=((100.0, 0.002), (5000.0, 0.005)), rate=48000.0, weights=None)")]
    fn sound<'py>(
        &self,
        py: Python<'py>,
        duration: f64,
        times: Option<&Bound<'py, PyAny>>,
        vertices: Option<&Bound<'py, PyAny>>,
        impulses: Option<&Bound<'py, PyAny>>,
        forces: Option<&Bound<'py, PyAny>>,
        fps: f64,
        damping: ((f64, f64), (f64, f64)),
        rate: f64,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let strikes = strikes(times, vertices, impulses)?;
        let count = Axis::Is(self.modes().eigenvalues.len());
        let forces = numbers(forces, "forces", &[Axis::Any("f"), count])?;
        let weights = numbers(weights, "weights", &[count])?;
        let damping = RayleighDamping::of_ratios(<[_; 2]>::from(damping).map(Into::into)).map_err(refused)?;
        let body = self.0.clone();
        let samples = made(py, move |_: &Progress| {
            let params = SoundParams { rate, damping, weights: weights.as_deref() };
            let forces = forces.as_deref().map(|rows| ModalForces { rows, fps });
            modal::sound(&body.1, &strikes, forces, &params, duration)
        })?;
        arrays::owned(py, samples.to_vec(), &[samples.len()])
    }

    fn __repr__(&self) -> String {
        let (rows, k) = self.modes().shapes.shape();
        format!("LinearModes({} vertices, {k} modes)", rows / 3)
    }
}

fn numbers(
    given: Option<&Bound<'_, PyAny>>,
    what: &'static str,
    axes: &[Axis],
) -> PyResult<Option<Vec<f64>>> {
    Ok(optional(given, what, axes)?.map(|array| array.slice().to_vec()))
}

/// Blows of times, vertices and impulses, of which there are as many each; none of all is none.
fn strikes(
    times: Option<&Bound<'_, PyAny>>,
    vertices: Option<&Bound<'_, PyAny>>,
    impulses: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Strike>> {
    let times = numbers(times, "times", &[Axis::Any("s")])?.unwrap_or_default();
    let count = Axis::Is(times.len());
    let places = match vertices {
        Some(vertices) => arrays::integers(vertices, "vertices", &[count])?,
        None => Vec::new(),
    };
    let impulses = numbers(impulses, "impulses", &[count, Axis::Is(3)])?.unwrap_or_default();
    for (what, given) in [("vertices", places.len()), ("impulses", impulses.len() / 3)] {
        if given != times.len() {
            let (expected, got) = (format!("({}, ..)", times.len()), "none".to_owned());
            return Err(refused(Error::Shape { what, expected, got }));
        }
    }
    let all = times.iter().zip(&places).zip(impulses.as_chunks::<3>().0).enumerate();
    let strike = |(element, ((&time, &index), &impulse)): (usize, ((&f64, &i64), &[f64; 3]))| {
        let vertex = u32::try_from(index).map_err(|_| {
            let count = u32::MAX as usize;
            refused(Error::Index { what: "vertices", element, index, count })
        })?;
        Ok(Strike { time, vertex, impulse })
    };
    all.map(strike).collect()
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
    made(py, find).map(|found| LinearModes(found, OnceLock::new()))
}
