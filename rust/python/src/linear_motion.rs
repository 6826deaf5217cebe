//! Motion and sound of `LinearModes`.

use std::sync::Arc;

use jounce::modal::{self, ModalForces, RayleighDamping, SoundParams};
use jounce::subspace::WarpingMethod;
use jounce::{Error, Progress, subspace};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{self, Axis};
use crate::blows::{numbers, strikes};
use crate::errors::refused;
use crate::job::made;
use crate::linear::{LinearModes, Swinging};

#[pymethods]
impl LinearModes {
    /// Displacement of the modes at large amplitudes, with bends and twists that do not grow.
    ///
    /// Forces are not considered: the result is no equilibrium.
    ///
    /// Parameters
    /// ----------
    /// amplitudes : (k,) array
    ///     Amplitudes z of the modes, m kg^(1/2).
    /// method : {'rotation_strain', 'modal'}, default 'rotation_strain'
    ///     "rotation_strain" is the displacement whose gradients are closest to `exp(w) (I + e)`,
    ///     weighted by volumes, with the strain e and the infinitesimal rotation w of `Psi z` in each
    ///     tet [MOR eq. 19-25]; the centre of a free component follows `Psi z`. "modal" rotates each
    ///     vertex independently, `(I + W (1 - cos t) / t^2 + W^2 (t - sin t) / t^3) Psi z` with W the
    ///     cross product with `rotations` at z, of length t [ModalWarping]: much faster and exact for
    ///     rotation about a point, but large bends change lengths.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Displacements, metres, `Psi z` for small z. Pinned vertices stay. The first call of a method
    ///     prepares it for all later ones.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For amplitudes of other modes, and for any method but "modal" on a surface without volume.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> amplitudes = np.array([400.0, 0.0, 0.0, 0.0, 0.0])
    /// >>> modes.warped(amplitudes).shape == mesh.vertices.shape
    /// True
    #[pyo3(signature = (amplitudes, method="rotation_strain"))]
    fn warped<'py>(
        &self,
        py: Python<'py>,
        amplitudes: &Bound<'py, PyAny>,
        method: &str,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let method = warping_named(method)?;
        let count = Axis::Is(self.modes().eigenvalues.len());
        let amplitudes = arrays::array::<f64>(amplitudes, "amplitudes", &[count])?.slice().to_vec();
        let warping = self.warping(py, method)?;
        let moved = made(py, move |_: &Progress| warping.displacement(&amplitudes))?;
        let vertices = moved.len() / 3;
        arrays::owned(py, moved.to_vec(), &[vertices, 3])
    }

    /// Amplitudes of the modes at each frame under forces, starting at rest, (f, k) float64, m kg^(1/2)
    /// [MOR eq. 2, 3].
    ///
    /// `z_i'' + (alpha + beta l_i) z_i' + l_i z_i = psi_i' f`, integrated exactly for forces that are
    /// linear between frames.
    ///
    /// Parameters
    /// ----------
    /// forces : (f, k) array
    ///     Force on each mode in each frame, `psi_i' f`.
    /// damping : two pairs of floats
    ///     Frequency in Hz and damping ratio there, twice, which determine alpha and beta.
    /// fps : float, default 24.0
    ///     Frames per second.
    ///
    /// Returns
    /// -------
    /// (f, k) array
    ///     Amplitudes in each frame.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For inputs that do not fit the modes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> forces = np.zeros((24, 5))
    /// >>> forces[0] = 1.0
    /// >>> modes.swing(forces, damping=((1.0, 0.05), (10.0, 0.05))).shape
    /// (24, 5)
    #[pyo3(signature = (forces, damping, fps=24.0))]
    fn swing<'py>(
        &self,
        py: Python<'py>,
        forces: &Bound<'py, PyAny>,
        damping: ((f64, f64), (f64, f64)),
        fps: f64,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let count = self.modes().eigenvalues.len();
        let forces = arrays::array::<f64>(forces, "forces", &[Axis::Any("f"), Axis::Is(count)])?;
        let forces = ModalForces { rows: forces.slice(), fps };
        let amplitudes = modal::swing(self.modes(), forces, &damping_of(damping)?).map_err(refused)?;
        let frames = amplitudes.len() / count;
        arrays::owned(py, amplitudes, &[frames, count])
    }

    /// Volume acceleration of each mode, which measures the air it moves: `omega^2 |integral of psi over
    /// the outward normals|`, (k,) float64.
    ///
    /// About zero for modes that bend without changing the volume.
    #[getter]
    fn radiation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let weights =
            self.found.0.body("radiation").and_then(|body| modal::radiation(body.mesh(), self.modes()));
        let weights = weights.map_err(refused)?;
        let count = weights.len();
        arrays::owned(py, weights, &[count])
    }

    /// Sound of the body, `s = sum_i w_i z_i` over its modes from 20 Hz to 20 kHz, starting at rest [MOR
    /// eq. 2-4].
    ///
    /// `z_i'' + (alpha + beta l_i) z_i' + l_i z_i = psi_i' f`, integrated exactly.
    ///
    /// Parameters
    /// ----------
    /// duration : float
    ///     Length of the sound, seconds.
    /// times : (s,) array, optional
    ///     Time of each blow, seconds; it acts at the nearest sample.
    /// vertices : (s,) array of integers, optional
    ///     Vertex of each blow.
    /// impulses : (s, 3) array, optional
    ///     Impulse of each blow, N s.
    /// forces : (f, k) array, optional
    ///     Force on each mode in each frame, `psi_i' f`, linear between frames and zero after the last.
    /// fps : float, default 24.0
    ///     Frames per second of the forces.
    /// damping : two pairs of floats, default ((100.0, 0.002), (5000.0, 0.005))
    ///     Frequency in Hz and damping ratio there, twice.
    /// rate : float, default 48000.0
    ///     Samples per second.
    /// weights : (k,) array, optional
    ///     Loudness w of each mode; None is 1, `radiation` another choice.
    ///
    /// Returns
    /// -------
    /// (duration * rate,) array
    ///     Float32 samples, linear in the forces and blows.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no mode is audible, and for inputs that do not fit the modes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((0.3, 0.03, 0.01))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=30)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(young=2e11, density=7800.0), 12)
    /// >>> blow = {"times": [0.0], "vertices": [0], "impulses": [[0.0, 0.0, 0.05]]}
    /// >>> modes.sound(0.1, **blow).shape
    /// (4800,)
    #[pyo3(signature = (duration, times=None, vertices=None, impulses=None, *, forces=None, fps=24.0,
                        damping=((100.0, 0.002), (5000.0, 0.005)), rate=48000.0, weights=None),
           text_signature = "($self, duration, times=None, vertices=None, impulses=None, *, forces=None, \
                             fps=24.0, damping=((100.0, 0.002), (5000.0, 0.005)), rate=48000.0, \
                             weights=None)")]
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
        let damping = damping_of(damping)?;
        let body = self.found.clone();
        let samples = made(py, move |_: &Progress| {
            let params = SoundParams { rate, damping, weights: weights.as_deref() };
            let forces = forces.as_deref().map(|rows| ModalForces { rows, fps });
            modal::sound(&body.1, &strikes, forces, &params, duration)
        })?;
        arrays::owned(py, samples.to_vec(), &[samples.len()])
    }
}

impl LinearModes {
    /// Warping of the modes, built on first use.
    fn warping(&self, py: Python<'_>, method: WarpingMethod) -> PyResult<Arc<subspace::Warping>> {
        let place = &self.warpings[method as usize];
        if let Some(warping) = place.get() {
            return Ok(warping.clone());
        }
        let body = self.found.clone();
        let warping = made(py, move |_: &Progress| body.0.warping(&body.1, method))?;
        Ok(place.get_or_init(|| warping).clone())
    }
}

impl Swinging {
    fn warping(
        &self,
        modes: &subspace::LinearModes,
        method: WarpingMethod,
    ) -> jounce::Result<subspace::Warping> {
        match (self, method) {
            (Self::Body(body), _) => body.warping(modes, method),
            (Self::Surface(surface), WarpingMethod::Modal) => surface.warping(modes),
            (Self::Surface(_), _) => {
                let why = "a surface without volume is warped by \"modal\"";
                Err(Error::Unsupported { what: "method", why })
            }
        }
    }
}

/// The warping method of a name.
fn warping_named(name: &str) -> PyResult<WarpingMethod> {
    match name {
        "rotation_strain" => Ok(WarpingMethod::RotationStrain),
        "modal" => Ok(WarpingMethod::Modal),
        other => {
            let text = format!("method: expected \"rotation_strain\" or \"modal\", got {other:?}");
            Err(PyValueError::new_err(text))
        }
    }
}

/// Damping of two pairs of a frequency and a ratio.
fn damping_of(pairs: ((f64, f64), (f64, f64))) -> PyResult<RayleighDamping> {
    RayleighDamping::of_ratios(<[_; 2]>::from(pairs).map(Into::into)).map_err(refused)
}
