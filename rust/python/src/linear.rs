//! `LinearModes`: small vibrations of a body, modal derivatives, warping, motion and sound.

use std::sync::{Arc, OnceLock};

use jounce::material::Field;
use jounce::model::tree::Domain;
use jounce::{Error, Progress, subspace};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis};
use crate::basis::Basis;
use crate::errors::refused;
use crate::job::made;
use crate::mesh::TetMesh;
use crate::recipe::Recipe;
use crate::stitches::Stitches;

/// Linear modes of a body, or of a surface without volume: its small vibrations. Made by
/// `linear_modes`.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
/// >>> modes.shapes.shape == (5, len(mesh.vertices), 3)
/// True
/// >>> bool((np.diff(modes.frequencies) >= 0).all())
/// True
#[pyclass(frozen, module = "jounce", name = "LinearModes")]
pub struct LinearModes {
    pub found: Arc<Found>,
    /// Derivatives, one column after the other, if a job computed them.
    derivatives: Option<Arc<Vec<f64>>>,
    /// Residuals of modes after an edit, and whether it took another factor.
    edited: Option<(Vec<f64>, bool)>,
    /// Warpings by method, built on first use.
    pub warpings: [OnceLock<Arc<subspace::Warping>>; 2],
    recipe: Recipe,
}

/// The vibrating object and its modes.
pub type Found = (Swinging, subspace::LinearModes);

/// The vibrating object.
pub enum Swinging {
    Body(subspace::LinearProblem),
    Surface(Box<subspace::SheetProblem>),
}

impl Swinging {
    /// The body's problem, or an error for a surface.
    pub fn body(&self, what: &'static str) -> jounce::Result<&subspace::LinearProblem> {
        let why = "a surface without volume has none; only modes of tets do";
        let none = Error::Unsupported { what, why };
        if let Self::Body(body) = self { Ok(body) } else { Err(none) }
    }
}

impl LinearModes {
    pub fn new(found: Arc<Found>, recipe: Recipe) -> Self {
        Self { found, derivatives: None, edited: None, warpings: Default::default(), recipe }
    }

    /// The same modes with their derivatives.
    pub fn knowing(self, derivatives: Option<Arc<Vec<f64>>>) -> Self {
        Self { derivatives, ..self }
    }

    /// The body as a domain of trees, built on demand.
    pub fn domain(&self) -> impl FnOnce() -> jounce::Result<Domain> + Send + 'static {
        let found = self.found.clone();
        move || match &found.0 {
            Swinging::Body(body) => {
                let (mesh, masses) = (body.mesh(), body.masses());
                Domain::of_modes(mesh.vertices(), &masses, &mesh.boundary_vertices(), &found.1)
            }
            Swinging::Surface(surface) => {
                let points = surface.surface().points();
                let all: Vec<u32> = (0..points.len() as u32).collect();
                Domain::of_modes(points, surface.masses(), &all, &found.1)
            }
        }
    }

    pub fn modes(&self) -> &subspace::LinearModes {
        &self.found.1
    }

    /// Modes of an edited body.
    fn edited(
        py: Python<'_>,
        find: impl FnOnce(&Progress) -> jounce::Result<subspace::EditedModes> + Send + 'static,
        recipe: Recipe,
    ) -> PyResult<Self> {
        let found = made(py, move |progress: &Progress| {
            let made = find(progress)?;
            let edited = (made.residuals, made.refactored);
            Ok((Arc::new((Swinging::Body(made.problem), made.modes)), edited))
        })?;
        Ok(Self { edited: Some(found.1.clone()), ..Self::new(found.0.clone(), recipe) })
    }
}

#[pymethods]
impl LinearModes {
    /// Displacements Psi, (k, n, 3) float64, with `Psi'M Psi = I`, 1/sqrt(kg).
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let shapes = &self.modes().shapes;
        fields(py, (0..shapes.ncols()).map(|k| shapes.col_as_slice(k)))
    }

    /// `lambda = omega^2`, (k,) float64, 1/s^2, ascending; about zero for rigid motions.
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

    /// Modal derivatives, the second-order deflections of the body: `K Phi^ij = -(H : psi_j) psi_i` [MOR
    /// eq. 13-16].
    ///
    /// `u = sum_i p_i psi_i + 1/2 sum_ij p_i p_j Phi^ij` is its response to the force `M Psi Lambda p`, up
    /// to third order.
    ///
    /// Returns
    /// -------
    /// (k (k + 1) / 2, n, 3) array
    ///     Derivatives, 1/(m kg), one per pair i <= j: (0, 0), (0, 1) and so on.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the body has more rigid motions than there are among these modes.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 2, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> tip = mesh.vertices[:, 0] > 3.9
    /// >>> straight, curved = modes.shapes[0, tip].mean(axis=0), modes.derivatives()[0, tip].mean(axis=0)
    /// >>> bool(abs(straight[0]) < 1e-9), bool(curved[0] < -1e-4)
    /// (True, True)
    fn derivatives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (found, rows) = (self.found.clone(), self.modes().shapes.nrows());
        let known = self
            .derivatives
            .clone()
            .map_or_else(|| made(py, move |progress| derivatives(&found, progress)), Ok)?;
        fields(py, known.chunks_exact(rows))
    }

    /// Derivatives of the unstitched body updated to the current stitches, without a solve for each [IDSR
    /// eq. 13].
    ///
    /// The right-hand sides stay, and `(K + A k A')^-1` of these is `Phi - Y f + R y` with `Y = K^-1 A`,
    /// the rigid motions R of components held by the stitches, and the forces f of the stitches.
    ///
    /// Parameters
    /// ----------
    /// derivatives : (k (k + 1) / 2, n, 3) array
    ///     Derivatives by `derivatives` of the modes on which `stitched` was called.
    ///
    /// Returns
    /// -------
    /// (k (k + 1) / 2, n, 3) array
    ///     Derivatives of the stitched body.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a body that was not stitched, for derivatives of other modes, and if removed stitches
    ///     set a component free.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> tip = np.flatnonzero(mesh.vertices[:, 0] > 3.9)
    /// >>> stitches = jounce.Stitches(mesh, [[tip[0], tip[-1]]], stiffness=1e4)
    /// >>> sewn = modes.stitched(stitches, 3)
    /// >>> carried = sewn.carried_derivatives(modes.derivatives())
    /// >>> len(carried)
    /// 15
    fn carried_derivatives<'py>(
        &self,
        py: Python<'py>,
        derivatives: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (body, given) = (self.found.clone(), derivatives_of(derivatives)?);
        let carried = made(py, move |progress| {
            body.0.body("carried_derivatives")?.carried_derivatives(given.columns.as_ref(), progress)
        })?;
        fields(py, (0..carried.ncols()).map(|pair| carried.col_as_slice(pair)))
    }

    /// The count displacements that best span the slow motion of the body, large bends included [MOR eq.
    /// 17, 18].
    ///
    /// Mass-PCA of modes and derivatives, weighted towards low frequencies: `p l_1 / l_j psi_j` and `p^2 /
    /// 2 l_1^2 / (l_i l_j) Phi^ij`, where p moves the slowest deforming mode by a quarter of the mesh's
    /// diagonal.
    ///
    /// Parameters
    /// ----------
    /// count : int
    ///     Number of fields.
    /// carried : (k (k + 1) / 2, n, 3) array, optional
    ///     Derivatives of the unstitched body. Two fifths of them, those of the slowest pairs, are taken
    ///     over by `carried_derivatives`, and only the first five modes get new ones [IDSR sec. 4.2].
    ///
    /// Returns
    /// -------
    /// Basis
    ///     The basis.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `derivatives` and `carried_derivatives`, and if no mode deforms the body.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> firm, sags = jounce.Material(young=1e6), []
    /// >>> modes = jounce.linear_modes(mesh, firm, 5, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> for basis in (modes.basis, modes.bent_basis(8)):
    /// ...     model = jounce.Model.reduced(mesh, firm, basis)
    /// ...     simulation = jounce.Simulation(model, gravity=(0.0, 0.0, -9.81))
    /// ...     report = simulation.settle()
    /// ...     sags.append(-simulation.displacement()[:, 2].min())
    /// >>> bool(sags[0] < 1.0), bool(sags[1] > 2.0)
    /// (True, True)
    #[pyo3(signature = (count, carried=None))]
    fn bent_basis(&self, py: Python<'_>, count: i64, carried: Option<&Bound<'_, PyAny>>) -> PyResult<Basis> {
        let count = arrays::count(count, "count")?;
        let (body, carried) = (self.found.clone(), carried.map(derivatives_of).transpose()?);
        let find = move |progress: &Progress| {
            let (problem, modes) = (body.0.body("bent_basis")?, &body.1);
            match &carried {
                None => problem.bent_basis(modes, count, progress),
                Some(carried) => problem.carried_basis(modes, carried.columns.as_ref(), count, progress),
            }
        };
        made(py, find).map(Basis)
    }

    /// The count lowest modes of the body with these stitches in place of its own, without another
    /// factorisation [IDSR sec. 4.1].
    ///
    /// Rayleigh-Ritz on the stitched Hessian in the span of these modes and of static corrections `K^-1 A
    /// F`, widened while error bounds are above half a percent of an eigenvalue. Stitches raise some modes
    /// above others, so there should be more modes than count; they must include the rigid motions of free
    /// components. Modes that are stitched already start again from the unstitched ones, so that errors do
    /// not accumulate and the order of edits does not matter.
    ///
    /// Parameters
    /// ----------
    /// stitches : Stitches
    ///     Stitches of this mesh; their gaps have no effect on small vibrations.
    /// count : int
    ///     Number of modes.
    ///
    /// Returns
    /// -------
    /// LinearModes
    ///     The modes of the stitched body.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For stitches of another mesh, for more modes than there are, and for a surface without
    ///     volume.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> soft, held = jounce.Material(), mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, soft, 12, pinned=held)
    /// >>> stitches = jounce.Stitches(mesh, [[0, len(mesh.vertices) - 1]], stiffness=1e4)
    /// >>> sewn = modes.stitched(stitches, 4)
    /// >>> anew = jounce.linear_modes(mesh, soft, 4, pinned=held, stitches=stitches)
    /// >>> bool(np.allclose(sewn.frequencies, anew.frequencies, rtol=0.005))
    /// True
    fn stitched(slf: &Bound<'_, Self>, stitches: &Bound<'_, Stitches>, count: i64) -> PyResult<Self> {
        let recipe = Recipe::new(slf.as_any(), "stitched", (stitches, count), None)?;
        let (py, count) = (slf.py(), arrays::count(count, "count")?);
        let (body, stitches) = (slf.get().found.clone(), stitches.get().0.clone());
        let find = move |_: &Progress| body.0.body("stitched")?.stitched(&body.1, &stitches, count);
        Self::edited(py, find, recipe)
    }

    /// The count lowest modes of the body with the stiffness of its tets multiplied by a factor [IDSR sec.
    /// 5.1].
    ///
    /// Factors replace earlier ones and refer to the material of the body as built; stitches stay, and
    /// `stitched` keeps factors. If a part that nothing connects to others changes as a whole, its shapes
    /// stay, and its frequencies change by the root of the factor. In other cases the search uses the factor
    /// of the matrix from before; where this would take too long, the matrix is factored anew, and
    /// `refactored` is True.
    ///
    /// Parameters
    /// ----------
    /// factor : float or (t,) array
    ///     Factor on Young's modulus, one number or one for each tet; 1 restores the modes as built.
    /// count : int
    ///     Number of modes; there should be a few more modes than this.
    ///
    /// Returns
    /// -------
    /// LinearModes
    ///     The modes of the body with this stiffness.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a factor that is not positive or of another mesh, for more modes than there are, and for a
    ///     surface without volume.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 12, pinned=held)
    /// >>> outer = mesh.vertices[mesh.tets].mean(axis=1)[:, 0] > 2.0
    /// >>> softer = modes.stiffened(np.where(outer, 0.1, 1.0), 6)
    /// >>> bool((softer.frequencies < modes.frequencies[:6]).all())
    /// True
    /// >>> bool(np.allclose(modes.stiffened(4.0, 6).frequencies, 2.0 * modes.frequencies[:6]))
    /// True
    fn stiffened(slf: &Bound<'_, Self>, factor: &Bound<'_, PyAny>, count: i64) -> PyResult<Self> {
        let (py, body) = (slf.py(), slf.get().found.clone());
        let tets = body.0.body("stiffened").map_err(refused)?.mesh().tets().len();
        let (factors, kept) = match arrays::field(factor, "factor", &[Axis::Is(tets)])? {
            Field::Uniform(factor) => (vec![factor; tets], factor.into_pyobject(py)?.into_any().unbind()),
            Field::PerTet(factors) => (factors, arrays::copied(factor)?),
        };
        let recipe = Recipe::new(slf.as_any(), "stiffened", (kept, count), None)?;
        let count = arrays::count(count, "count")?;
        let find = move |progress: &Progress| {
            body.0.body("stiffened")?.stiffened(&body.1, &factors, count, progress)
        };
        Self::edited(py, find, recipe)
    }

    /// The count lowest modes of the body with a cut mesh: cutting as the inverse of stitching [IDSR].
    ///
    /// The vertices that `TetMesh.cut` doubles become a border of the factored matrix, where stitches have
    /// one with the compliance of their springs. A cut through many vertices takes another factor, and
    /// `refactored` is True. It replaces an earlier cut, and the uncut mesh restores the modes as built.
    /// Stitches that were added since go, so sew the vertices of the cut mesh by `stitched`; factors stay.
    ///
    /// Parameters
    /// ----------
    /// mesh : TetMesh
    ///     Mesh made by `TetMesh.cut` from that of the body as built.
    /// count : int
    ///     Number of modes; there should be a few more modes than this.
    ///
    /// Returns
    /// -------
    /// LinearModes
    ///     The modes of the cut body.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a mesh that is no cut of the body's, for more modes than there are, for modes that
    ///     complement a rig, and for a surface without volume.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 20, pinned=mesh.vertices[:, 0] < 0.1)
    /// >>> x, _, z = mesh.vertices[mesh.tets].mean(axis=1).T
    /// >>> opened = modes.cut(mesh.cut(np.where(z > 0.5, 0, np.where(x < 2.0, -1, 1))), 6)
    /// >>> bool(opened.frequencies[0] < modes.frequencies[0])
    /// True
    fn cut(slf: &Bound<'_, Self>, mesh: &Bound<'_, TetMesh>, count: i64) -> PyResult<Self> {
        let recipe = Recipe::new(slf.as_any(), "cut", (mesh, count), None)?;
        let (py, count) = (slf.py(), arrays::count(count, "count")?);
        let (body, mesh) = (slf.get().found.clone(), mesh.get().0.clone());
        let find = move |progress: &Progress| body.0.body("cut")?.cut(&body.1, &mesh, count, progress);
        Self::edited(py, find, recipe)
    }

    /// These modes, and up to six residual attachment modes for each interface: the part of the static
    /// responses to a force and to a torque there that the modes miss [MacNeal].
    ///
    /// A few modes describe vibration, but not how a body yields to another one attached to it, such as a
    /// Domain: that takes `K^-1` of six loads, spread over the interface by mass, minus the part in the
    /// modes. Each interface adds its own shapes, so this is for heavy attachments.
    ///
    /// Parameters
    /// ----------
    /// interfaces : sequence of arrays of integers
    ///     Vertices of each interface.
    ///
    /// Returns
    /// -------
    /// LinearModes
    ///     The modes with the new ones last, whose eigenvalues are no natural frequencies of the body.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For interfaces that do not fit, for a body that was stitched after it was factored, and for
    ///     a surface without volume.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> tip = np.flatnonzero(mesh.vertices[:, 0] > 3.9)
    /// >>> len(modes.attached([tip]).shapes)
    /// 11
    fn attached(slf: &Bound<'_, Self>, interfaces: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let vertices = |interface: &Bound<'_, PyAny>| -> PyResult<Vec<u32>> {
            let found = arrays::integers(interface, "interfaces", &[Axis::Any("v")])?;
            found.into_iter().map(|vertex| arrays::count(vertex, "interfaces")).collect()
        };
        let interfaces = interfaces.iter().map(vertices).collect::<PyResult<Vec<_>>>()?;
        let recipe = Recipe::new(slf.as_any(), "attached", (interfaces.clone(),), None)?;
        let (py, body) = (slf.py(), slf.get().found.clone());
        let found = made(py, move |progress| {
            let problem = body.0.body("attached")?;
            let modes = problem.attached(&body.1, &interfaces, progress)?;
            Ok(Arc::new((Swinging::Body(problem.clone()), modes)))
        })?;
        Ok(Self::new((*found).clone(), recipe))
    }

    /// Bounds of the relative error of each eigenvalue, (k,) float64, for modes found by `stitched`,
    /// `stiffened` or `cut`; None for others. They hold if no mode is missing, and increase towards the
    /// highest of the modes that the edit started from: more such modes give tighter bounds.
    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let owned =
            |(residuals, _): &(Vec<f64>, bool)| arrays::owned(py, residuals.clone(), &[residuals.len()]);
        self.edited.as_ref().map(owned).transpose()
    }

    /// True if an edit took another factorisation, because an update would have taken longer.
    #[getter]
    fn refactored(&self) -> bool {
        self.edited.as_ref().is_some_and(|(_, refactored)| *refactored)
    }

    /// Infinitesimal rotations of the displacements at the vertices, `w = 1/2 curl psi`, (k, n, 3)
    /// float64, rad/(m sqrt(kg)).
    ///
    /// Each is a mean over the tets at a vertex, weighted by volume, or over the triangles, weighted by
    /// area. Modal warping rotates vertices by them.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let body = self.found.clone();
        let rotations = made(py, move |_: &Progress| {
            let shapes = body.1.shapes.as_ref();
            Ok(match &body.0 {
                Swinging::Body(body) => subspace::vertex_rotations(body.mesh(), shapes),
                Swinging::Surface(sheet) => subspace::surface_rotations(sheet.surface(), shapes),
            })
        })?;
        fields(py, (0..rotations.ncols()).map(|k| rotations.col_as_slice(k)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.recipe.reduced(py)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let (rows, k) = self.modes().shapes.shape();
        format!("LinearModes({} vertices, {k} modes)", rows / 3)
    }
}

/// Columns of 3n numbers as an array (k, n, 3).
fn fields<'a, 'py>(
    py: Python<'py>,
    columns: impl ExactSizeIterator<Item = &'a [f64]>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let count = columns.len();
    let numbers: Vec<f64> = columns.flatten().copied().collect();
    let vertices = numbers.len() / (3 * count.max(1));
    arrays::owned(py, numbers, &[count, vertices, 3])
}

/// Derivatives of modes, one column after the other.
pub fn derivatives((body, modes): &Found, progress: &Progress) -> jounce::Result<Vec<f64>> {
    let found = body.body("derivatives")?.derivatives(modes, progress)?;
    Ok((0..found.ncols()).flat_map(|pair| found.col_as_slice(pair)).copied().collect())
}

/// Derivatives from an array (k, n, 3).
fn derivatives_of(given: &Bound<'_, PyAny>) -> PyResult<subspace::Basis> {
    let array = arrays::array::<f64>(given, "derivatives", &[Axis::Any("k"), Axis::Any("n"), Axis::Is(3)])?;
    subspace::Basis::from_shapes(array.slice(), array.len(0)).map_err(refused)
}
