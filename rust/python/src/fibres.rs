//! `Fibres`: contractile fibres of full-space flesh.

use std::sync::Arc;

use jounce::{file, material};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::{self, Axis};
use crate::errors::{refused, run};
use crate::recipe::made_by;

/// Fibres of full-space flesh, as in muscles and tendons: `psi = stiffness / 2 (|F d| - l)^2` in each
/// tet [QN 4.4].
///
/// The stress-free stretch l is 1 minus the `contraction` of a Simulation. A single free tet with a law
/// of `mu |F - R|^2` reaches a stretch of `(2 mu + stiffness l) / (2 mu + stiffness)` along d.
///
/// Parameters
/// ----------
/// stiffness : float or array
///     Stiffness along the fibres, Pa, one number or (t,) float64; 0 for tets without fibres.
/// direction : (t, 3) array
///     Direction d at rest, of any length; nonzero wherever the stiffness is.
///
/// Raises
/// ------
/// ValueError
///     For a stiffness below 0 and for a direction of zero length.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> biceps = jounce.Fibres(5e4, np.tile([1.0, 0.0, 0.0], (len(mesh.tets), 1)))
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held, fibres=biceps)
/// >>> simulation = jounce.Simulation(model, contraction=0.2)
/// >>> simulation.reset()
/// >>> report = simulation.settle()
/// >>> bool(simulation.displacement()[:, 0].min() < -0.05)
/// True
#[pyclass(frozen, module = "jounce", name = "Fibres")]
pub struct Fibres(pub Arc<material::Fibres>);

#[pymethods]
impl Fibres {
    #[new]
    fn new(stiffness: &Bound<'_, PyAny>, direction: &Bound<'_, PyAny>) -> PyResult<Self> {
        let stiffness = arrays::field(stiffness, "stiffness", &[Axis::Any("t")])?;
        let direction = arrays::array::<f64>(direction, "direction", &[Axis::Any("t"), Axis::Is(3)])?;
        let made = material::Fibres::new(stiffness, direction.slice().as_chunks::<3>().0);
        made.map(|fibres| Self(Arc::new(fibres))).map_err(refused)
    }

    /// Joined fibres of several muscles, at most 32, each with its own `contraction` in the given order.
    /// Muscles may share tets.
    ///
    /// Parameters
    /// ----------
    /// muscles : sequence of Fibres
    ///     Fibres of each muscle in the same mesh.
    ///
    /// Returns
    /// -------
    /// Fibres
    ///     The fibres of all muscles.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an empty list, for too many muscles and for different numbers of tets.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> along = np.tile([1.0, 0.0, 0.0], (len(mesh.tets), 1))
    /// >>> left = mesh.vertices[mesh.tets].mean(axis=1)[:, 1] < 0.5
    /// >>> muscles = [jounce.Fibres(5e4 * side, along) for side in (left, ~left)]
    /// >>> both = jounce.Fibres.joined(muscles)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> model = jounce.Model.full_space(mesh, jounce.Material(), pinned=held, fibres=both)
    /// >>> simulation = jounce.Simulation(model, contraction=[0.2, 0.0])
    #[staticmethod]
    fn joined(muscles: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let joined = material::Fibres::joined(muscles.iter().map(|muscle| &*muscle.get().0));
        joined.map(|fibres| Self(Arc::new(fibres))).map_err(refused)
    }

    #[staticmethod]
    fn _decoded(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        run(py, || file::decode_fibres(data)).map(|made| Self(Arc::new(made)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "_decoded", (PyBytes::new(py, &file::encode_fibres(&self.0)),), None)
    }

    fn __repr__(&self) -> String {
        let count = self.0.muscle_count();
        format!("Fibres({count} muscle{})", if count == 1 { "" } else { "s" })
    }
}
