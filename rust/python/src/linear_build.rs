//! `linear_modes` and `LinearModesJob`: small vibrations of a body or a surface.

use std::sync::Arc;

use jounce::{Error, Progress, operators, subspace};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, copied};
use crate::job::{Job, Making, made};
use crate::linear::{self, Found, LinearModes, Swinging};
use crate::material::Material;
use crate::mesh::{AnyMesh, Shape};
use crate::recipe::Recipe;
use crate::rig::Rig;
use crate::stitches::Stitches;
use crate::subspace::Restraint;

/// The lowest linear modes (small vibrations), `K psi = lambda M psi`, K the Hessian of the elastic
/// energy at rest [MOR eq. 1].
///
/// A surface without volume is a constant-strain membrane, and a plate whose curvature in each triangle
/// follows from the angles at its edges. The rigid motions of a free body come first, with eigenvalues
/// of about zero.
///
/// Parameters
/// ----------
/// mesh : TetMesh or SurfaceMesh
///     Body of tets, or a surface with a thickness.
/// material : Material
///     Its material; "arap" for a surface.
/// count : int, default 20
///     Number of modes k.
/// rig : Rig, optional
///     Rig that the modes complement, `B'(1 - leak) M psi = 0` (tets only); None leaves them
///     unconstrained.
/// leak : (n,) array, optional
///     Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
/// pinned : (n,) array of bool, optional
///     Vertices at which the modes are 0; one pinned line of a surface acts as a hinge, two as a clamp.
/// thickness : float, optional
///     Thickness of a surface, metres; None for tets.
/// bending : float, default 1.0
///     Factor on the bending stiffness of a surface.
/// stitches : Stitches, optional
///     Springs that add to K (tets only).
///
/// Returns
/// -------
/// LinearModes
///     The modes.
///
/// Raises
/// ------
/// ValueError
///     For more modes than the body has, and for arguments of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(young=1e6), 3, pinned=held)
/// >>> modes.frequencies.shape
/// (3,)
#[pyfunction]
#[pyo3(signature = (mesh, material, count=20, rig=None, leak=None, pinned=None, *, thickness=None,
                    bending=1.0, stitches=None))]
pub fn linear_modes(
    py: Python<'_>,
    mesh: AnyMesh<'_>,
    material: &Bound<'_, Material>,
    count: i64,
    rig: Option<&Bound<'_, Rig>>,
    leak: Option<&Bound<'_, PyAny>>,
    pinned: Option<&Bound<'_, PyAny>>,
    thickness: Option<f64>,
    bending: f64,
    stitches: Option<&Bound<'_, Stitches>>,
) -> PyResult<LinearModes> {
    let held = Held { rig, leak, pinned };
    let (recipe, find) = search(py, &mesh, material, count, held, (thickness, bending, stitches))?;
    made(py, find).map(|found| LinearModes::new(found, recipe))
}

/// Background job for `linear_modes`, with the same arguments; the thread never touches Python.
///
/// With `derivatives=True` the `derivatives` of the modes are computed too (tets only), and then return at
/// once. Stages: "modes" and "derivatives"; `result()` gives the LinearModes. Invalid arrays raise
/// at once; `result()` raises the errors of a stage.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> job = jounce.LinearModesJob(mesh, jounce.Material(), 3, pinned=held, derivatives=True)
/// >>> job.result().derivatives().shape == (6, len(mesh.vertices), 3)
/// True
#[pyclass(frozen, extends = Job, module = "jounce", name = "LinearModesJob")]
pub struct LinearModesJob(Making<(Arc<Found>, Derivatives)>, Recipe);

/// Derivatives of modes, one column after the other, if asked for.
type Derivatives = Option<Arc<Vec<f64>>>;

#[pymethods]
impl LinearModesJob {
    #[new]
    #[pyo3(signature = (mesh, material, count=20, rig=None, leak=None, pinned=None, *, thickness=None,
                        bending=1.0, stitches=None, derivatives=false))]
    fn new(
        py: Python<'_>,
        mesh: AnyMesh<'_>,
        material: &Bound<'_, Material>,
        count: i64,
        rig: Option<&Bound<'_, Rig>>,
        leak: Option<&Bound<'_, PyAny>>,
        pinned: Option<&Bound<'_, PyAny>>,
        thickness: Option<f64>,
        bending: f64,
        stitches: Option<&Bound<'_, Stitches>>,
        derivatives: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let held = Held { rig, leak, pinned };
        let (recipe, find) = search(py, &mesh, material, count, held, (thickness, bending, stitches))?;
        let share = if derivatives { 0.5 } else { 1.0 };
        let found = Making::start(move |progress| {
            progress.enter("modes", 0.0, share)?;
            let found = find(progress)?;
            if !derivatives {
                return Ok((found.into(), None));
            }
            progress.enter("derivatives", share, 1.0)?;
            let columns = linear::derivatives(&found, progress)?;
            Ok((found.into(), Some(columns.into())))
        })?;
        Ok(found.job().add_subclass(Self(found, recipe)))
    }

    /// Waits for the modes, or raises the error of the job.
    ///
    /// Returns
    /// -------
    /// LinearModes
    ///     The modes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> job = jounce.LinearModesJob(mesh, jounce.Material(), 8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 8)
    /// >>> np.array_equal(job.result().frequencies, modes.frequencies)
    /// True
    fn result(&self, py: Python<'_>) -> PyResult<LinearModes> {
        let (found, derivatives) = &*self.0.result(py)?;
        Ok(LinearModes::new(found.clone(), self.1.again(py)).knowing(derivatives.clone()))
    }
}

/// Arguments that hold vertices.
struct Held<'a, 'py> {
    rig: Option<&'a Bound<'py, Rig>>,
    leak: Option<&'a Bound<'py, PyAny>>,
    pinned: Option<&'a Bound<'py, PyAny>>,
}

/// The call as a recipe, and the search for its modes, free of Python.
fn search(
    py: Python<'_>,
    mesh: &AnyMesh<'_>,
    material: &Bound<'_, Material>,
    count: i64,
    Held { rig, leak, pinned }: Held<'_, '_>,
    (thickness, bending, stitches): (Option<f64>, f64, Option<&Bound<'_, Stitches>>),
) -> PyResult<(Recipe, impl FnOnce(&Progress) -> jounce::Result<Found> + Send + 'static)> {
    let [kept_leak, kept_pinned] = [leak, pinned].map(|array| array.map(copied).transpose());
    let parts = (mesh.any(), material, count, rig, kept_leak?, kept_pinned?);
    let settings = PyDict::new(py);
    settings.set_item("thickness", thickness)?;
    settings.set_item("bending", bending)?;
    settings.set_item("stitches", stitches)?;
    let recipe = Recipe::new(&py.import("jounce")?.getattr("linear_modes")?, "", parts, Some(settings))?;
    let (count, material) = (arrays::count(count, "count")?, material.get().0.clone());
    let restraint = Restraint::new(mesh.vertex_count(), rig.map(Bound::get), leak, pinned)?;
    let shape = mesh.shape(thickness)?;
    let stitches = stitches.map(|stitches| stitches.get().0.clone());
    let find = move |progress: &Progress| {
        let restraint = restraint.borrowed();
        match &shape {
            Shape::Tets(mesh) => {
                let none = operators::Stitches::none(mesh);
                let stitches = stitches.as_deref().unwrap_or(&none);
                let problem = subspace::LinearProblem::new(mesh, &material, &restraint, stitches, progress)?;
                let modes = problem.lowest(count, progress)?;
                Ok((Swinging::Body(problem), modes))
            }
            Shape::Surface(surface, thickness) => {
                if stitches.is_some() {
                    let why = "a surface without volume has none; leave them out";
                    return Err(Error::Unsupported { what: "stitches", why });
                }
                let fabric = (*thickness, bending);
                let problem = subspace::SheetProblem::new(surface, &material, fabric, &restraint, progress)?;
                let modes = problem.lowest(count, progress)?;
                Ok((Swinging::Surface(problem.into()), modes))
            }
        }
    };
    Ok((recipe, find))
}
