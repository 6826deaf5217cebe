//! `Domain` and `DomainTree`: reduced bodies attached to each other in a tree.

use std::sync::{Arc, Mutex, MutexGuard};

use jounce::inputs::SimulationParams;
use jounce::material::Field;
use jounce::model::tree::{self, Member, TreeInput, Wind};
use jounce::{Error, Progress, model};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Axis, copied, optional};
use crate::contact::Collider;
use crate::errors::{locked, refused, run, run_long};
use crate::job::made;
use crate::linear::LinearModes;
use crate::model::Model;
use crate::recipe::{Recipe, made_by};
use crate::settings::{Change, by_name};
use crate::state::State;
use crate::step_report::StepReport;

/// A reduced body for use in domain trees. Share one Domain among leaves of one shape.
///
/// Parameters
/// ----------
/// body : LinearModes or Model
///     Modes of tets or of a surface without volume, with energy `1/2 z' Lambda z` over the deforming
///     modes; or a Model of `Model.reduced` without a rig, which bends far by itself and keeps its
///     tets. The pinned part is attached to the parent domain.
///
/// Raises
/// ------
/// ValueError
///     For other models, for a model with a rig, and for a basis that contains rigid motion.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
/// >>> jounce.Domain(modes).coordinate_count
/// 4
#[pyclass(frozen, module = "jounce", name = "Domain")]
pub struct Domain {
    inner: Arc<tree::Domain>,
    /// Modes or model of the domain.
    body: Py<PyAny>,
}

/// Settings of a tree.
const SETTINGS: [&str; 8] =
    ["dt", "substeps", "integrator", "max_iterations", "tolerance", "damping", "gravity", "stiffness"];

fn change(given: Option<&Bound<'_, PyDict>>) -> PyResult<Change> {
    Change::among(given, |name| SETTINGS.contains(&name))
}

/// Source of a domain.
#[derive(FromPyObject)]
enum Kind<'py> {
    Modes(Bound<'py, LinearModes>),
    Flesh(Bound<'py, Model>),
}

#[pymethods]
impl Domain {
    #[new]
    fn new(py: Python<'_>, body: Kind<'_>) -> PyResult<Self> {
        let (inner, body) = match body {
            Kind::Modes(modes) => {
                let make = modes.get().domain();
                (made(py, move |_: &Progress| make())?, modes.into_any())
            }
            Kind::Flesh(model) => {
                let why = "only linear modes and models of Model.reduced are in displacements of their own";
                let model::Model::Reduced(flesh) = model.get().inner.clone() else {
                    return Err(refused(Error::Unsupported { what: "body", why }));
                };
                (made(py, move |_: &Progress| tree::Domain::of_flesh(&flesh))?, model.into_any())
            }
        };
        Ok(Self { inner, body: body.unbind() })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        made_by::<Self>(py, "", (&self.body,), None)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_memo))]
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Number of coordinates k.
    #[getter]
    fn coordinate_count(&self) -> usize {
        self.inner.rank()
    }

    /// Vertices with zero displacement in every coordinate, (h,) int32: the attached part.
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i32>>> {
        arrays::owned(py, arrays::signed(self.inner.held()), &[self.inner.held().len()])
    }

    fn __repr__(&self) -> String {
        format!("Domain({} vertices, {} coordinates)", self.inner.vertex_count(), self.inner.rank())
    }
}

/// A tree of attached domains, each a reduced body in a local frame [MOR sec. 4].
///
/// A vertex is at `c + R (X + B y)`. The frame (R, c) of a domain follows its interface, a set of
/// vertices of the parent: c is their mean, R the rotation of `A = sum m x X' = R S`. Small bends
/// therefore add up along the tree. Each step minimises `1/(2 h^2) |x - y|^2_M + stiffness * E - f.x`
/// over the coordinates of all domains, with the full coupling between the frames and the coordinates
/// of parents and children. The cost is linear in the number of domains.
///
/// Parameters
/// ----------
/// domains : sequence of Domain
///     The d domains; one may appear several times.
/// parents : (d,) array of integers
///     Parent of each domain, before its children; -1 for the first, the root.
/// interfaces : sequence of arrays of integers
///     For each domain, vertices of the parent near the domain's pinned part, three or more and not
///     collinear; empty for the root.
/// placements : (d, 3, 4) array, optional
///     Rotation and translation of each from its modelled place to its rest place; None for the
///     identity.
/// free : bool, default False
///     True for a root that is not attached.
/// colliders : sequence of Collider, optional
///     Obstacles, with backward Euler. Contact points are the boundary vertices, or all vertices of a
///     surface; domains do not collide with each other. Domains far from all colliders cost little, for
///     any mesh.
/// settings : TreeSettings
///     Keyword arguments, by the names of `TreeSettings`.
///
/// Raises
/// ------
/// ValueError
///     For a list of parents that is no tree, for an interface that does not fit, and for settings
///     out of range.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> held = mesh.vertices[:, 0] < 0.1
/// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
/// >>> root = np.flatnonzero(held)
/// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
/// >>> report = tree.step()
/// >>> tree.positions(0).shape == mesh.vertices.shape
/// True
#[pyclass(frozen, module = "jounce", name = "DomainTree")]
pub struct DomainTree {
    inner: Mutex<tree::DomainTree>,
    /// The call that made it, without settings.
    recipe: Recipe,
}

#[pymethods]
impl DomainTree {
    #[new]
    #[pyo3(signature = (domains, parents, interfaces, placements=None, *, free=false, colliders=None,
                        **settings))]
    fn new(
        py: Python<'_>,
        domains: Vec<Bound<'_, Domain>>,
        parents: &Bound<'_, PyAny>,
        interfaces: Vec<Bound<'_, PyAny>>,
        placements: Option<&Bound<'_, PyAny>>,
        free: bool,
        colliders: Option<Vec<Bound<'_, Collider>>>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let params = change(settings)?.applied(&SimulationParams::default());
        let members = members(&domains, parents, &interfaces, placements)?;
        let interface =
            |member: &Member| arrays::owned(py, arrays::signed(&member.interface), &[member.interface.len()]);
        let kept = members.iter().map(interface).collect::<PyResult<Vec<_>>>()?;
        let parts = (&domains, copied(parents)?, kept, placements.map(copied).transpose()?);
        let more = PyDict::new(py);
        more.set_item("free", free)?;
        more.set_item("colliders", &colliders)?;
        let recipe = Recipe::new(py.get_type::<Self>().as_any(), "", parts, Some(more))?;
        let colliders = colliders.unwrap_or_default();
        let colliders: Vec<_> = colliders.iter().map(|collider| collider.get().inner.clone()).collect();
        let tree = run(py, || match colliders.as_slice() {
            [] => tree::DomainTree::new(&members, free, params),
            some => tree::DomainTree::among(&members, free, params, some),
        });
        Ok(Self { inner: Mutex::new(tree?), recipe })
    }

    /// One step of dt.
    ///
    /// Parameters
    /// ----------
    /// root : (3, 4) array, optional
    ///     Rotation and translation of the root, and with it of the whole tree, from the rest place;
    ///     None keeps the last one. The first root transform sets the start, at rest.
    /// wind : (d, 3) array, optional
    ///     Velocity of the medium at each domain, or three numbers for all, m/s; None is no medium.
    /// drag : float or array, optional
    ///     Relaxation rate towards the wind, 1/s, one number or (d,) float64; None is 1: `-drag m (v -
    ///     wind)` acts on every vertex.
    /// colliders : (c, 3, 4) array, optional
    ///     Rotation and translation of each from its initial place; None keeps the last ones.
    ///
    /// Returns
    /// -------
    /// StepReport
    ///     Iterations, residual, energy and convergence.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a wrong shape, for values that are not finite, and for the root of a free tree; the
    ///     state is then unchanged.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
    /// >>> report = tree.step(wind=(0.0, 5.0, 0.0), drag=2.0)
    /// >>> drift = (tree.positions(0) - mesh.vertices)[:, 1]
    /// >>> bool(np.abs(drift[held]).max() < 1e-9), bool(drift.max() > 0.01)
    /// (True, True)
    #[pyo3(signature = (root=None, wind=None, drag=None, colliders=None))]
    fn step(
        &self,
        py: Python<'_>,
        root: Option<&Bound<'_, PyAny>>,
        wind: Option<&Bound<'_, PyAny>>,
        drag: Option<&Bound<'_, PyAny>>,
        colliders: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<StepReport> {
        let root = optional(root, "root", &[Axis::Is(3), Axis::Is(4)])?;
        let tree = &mut *self.lock()?;
        let count = tree.domain_count();
        let wind = wind.map(|wind| velocities(wind, count)).transpose()?;
        let rates = drag.map_or(Ok(vec![1.0; count]), |drag| rates(drag, count))?;
        let wind = wind.as_ref().map(|velocity| Wind { velocity, rate: &rates });
        let root = root.as_ref().map(|root| &arrays::transforms(root.slice())[0]);
        let axes = [Axis::Is(tree.collider_count()), Axis::Is(3), Axis::Is(4)];
        let colliders = optional(colliders, "colliders", &axes)?;
        let colliders = colliders.as_ref().map(|colliders| arrays::transforms(colliders.slice()));
        let input = TreeInput { root, wind: wind.as_ref(), colliders };
        run_long(py, |progress| tree.step(&input, progress)).map(StepReport::from)
    }

    /// Cut or teleport: at rest at a place of the root, with the deformation kept. A free root stays.
    ///
    /// Parameters
    /// ----------
    /// root : (3, 4) array, optional
    ///     Place of the root, as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As in `step`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> root = np.flatnonzero(held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
    /// >>> report = tree.step(np.eye(3, 4))
    /// >>> bent, far = tree.positions(0), np.eye(3, 4)
    /// >>> far[:, 3] = [40.0, 0.0, 0.0]
    /// >>> tree.cut(far)
    /// >>> bool(np.allclose(tree.positions(0), bent + [40.0, 0.0, 0.0]))
    /// True
    #[pyo3(signature = (root=None))]
    fn cut(&self, root: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let root = optional(root, "root", &[Axis::Is(3), Axis::Is(4)])?;
        let root = root.as_ref().map(|root| &arrays::transforms(root.slice())[0]);
        self.lock()?.cut(&TreeInput { root, ..TreeInput::default() }).map_err(refused)
    }

    /// Starts in steady motion, right after a start at rest: the root gets the velocity towards its next
    /// place, and the first step has no jolt. No effect before the first step.
    ///
    /// Parameters
    /// ----------
    /// root : (3, 4) array, optional
    ///     Next place of the root, as in `step`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As in `step`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
    /// >>> tree.coast(np.eye(3, 4))
    /// >>> report = tree.step(np.eye(3, 4))
    #[pyo3(signature = (root=None))]
    fn coast(&self, root: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let root = optional(root, "root", &[Axis::Is(3), Axis::Is(4)])?;
        let root = root.as_ref().map(|root| &arrays::transforms(root.slice())[0]);
        self.lock()?.coast(&TreeInput { root, ..TreeInput::default() }).map_err(refused)
    }

    /// Changes settings from the next step on; None leaves a setting unchanged.
    ///
    /// Parameters
    /// ----------
    /// settings : TreeSettings
    ///     Keyword arguments, by the names of `TreeSettings`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For invalid settings; all then keep their values.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
    /// >>> tree.vary(gravity=(0.0, 0.0, -9.81), damping=0.1)
    /// >>> report = tree.step()
    /// >>> bool((tree.positions(0) - mesh.vertices)[:, 2].min() < -0.01)
    /// True
    #[pyo3(signature = (**settings))]
    fn vary(&self, settings: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let (change, mut tree) = (change(settings)?, self.lock()?);
        let changed = change.applied(tree.params());
        tree.set_params(changed).map_err(refused)
    }

    /// Number of coordinates of all domains.
    #[getter]
    fn coordinate_count(&self) -> PyResult<usize> {
        Ok(self.lock()?.coordinate_count())
    }

    /// Transform from the modelled place of each body to its current frame, (d, 3, 4) float64: the rigid
    /// part of the motion.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let frames = self.lock()?.frames();
        arrays::owned(py, frames.as_flattened().as_flattened().to_vec(), &[frames.len(), 3, 4])
    }

    /// Coordinates of a domain, (k,) float64, m kg^(1/2): the amplitudes of the deforming LinearModes, or
    /// the coefficients of the reduced model.
    ///
    /// Parameters
    /// ----------
    /// domain : int
    ///     Number of the domain.
    ///
    /// Returns
    /// -------
    /// (r,) array
    ///     Coordinates of the domain.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 5, pinned=held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [np.flatnonzero(held)])
    /// >>> tree.coordinates(0).shape
    /// (5,)
    fn coordinates<'py>(&self, py: Python<'py>, domain: i64) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let domain = arrays::count(domain, "domain")?;
        let found = self.lock()?.coordinates(domain).map_err(refused)?.to_vec();
        let count = found.len();
        arrays::owned(py, found, &[count])
    }

    /// Vertex positions of a domain, (n, 3) float64, metres.
    ///
    /// Parameters
    /// ----------
    /// domain : int
    ///     Number of the domain.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Positions of the domain's vertices, metres.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held, tip = mesh.vertices[:, 0] < 0.1, mesh.vertices[:, 0] > 3.9
    /// >>> domain = jounce.Domain(jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held))
    /// >>> places = np.tile(np.eye(3, 4), (2, 1, 1))
    /// >>> places[1, 0, 3] = 4.0
    /// >>> interfaces = [np.flatnonzero(held), np.flatnonzero(tip)]
    /// >>> chain = jounce.DomainTree([domain, domain], [-1, 0], interfaces, places)
    /// >>> bool(np.allclose(chain.positions(1), mesh.vertices + [4.0, 0.0, 0.0]))
    /// True
    fn positions<'py>(&self, py: Python<'py>, domain: i64) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (tree, domain) = (self.lock()?, arrays::count(domain, "domain")?);
        let found = tree.positions(domain).map_err(refused)?;
        let count = found.len() / 3;
        arrays::owned(py, found, &[count, 3])
    }

    /// The complete state from which a step starts.
    ///
    /// Returns
    /// -------
    /// State
    ///     The state.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> root = np.flatnonzero(held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
    /// >>> report = tree.step()
    /// >>> state, ends = tree.save_state(), []
    /// >>> for take in range(2):
    /// ...     tree.restore_state(state)
    /// ...     report = tree.step()
    /// ...     ends.append(tree.coordinates(0))
    /// >>> np.array_equal(ends[0], ends[1])
    /// True
    fn save_state(&self) -> PyResult<State> {
        Ok(State(self.lock()?.save_state()))
    }

    /// Restores a saved state.
    ///
    /// Parameters
    /// ----------
    /// state : State
    ///     A state of the same model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a state of another tree.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> root = np.flatnonzero(held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
    /// >>> report = tree.step()
    /// >>> state, bent = tree.save_state(), tree.positions(0)
    /// >>> tree.reset()
    /// >>> tree.restore_state(state)
    /// >>> np.array_equal(tree.positions(0), bent)
    /// True
    fn restore_state(&self, state: &State) -> PyResult<()> {
        self.lock()?.restore_state(&state.0).map_err(refused)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let settings = by_name(py, self.lock()?.params())?;
        for name in settings.keys() {
            if !SETTINGS.contains(&name.extract::<&str>()?) {
                settings.del_item(name)?;
            }
        }
        let made = self.recipe.with(py, &settings)?.reduced(py)?;
        (made.get_item(0)?, made.get_item(1)?, self.save_state()?).into_pyobject(py)
    }

    fn __setstate__(&self, state: &State) -> PyResult<()> {
        self.restore_state(state)
    }

    /// Resets the tree to rest at its initial place.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> held = mesh.vertices[:, 0] < 0.1
    /// >>> modes = jounce.linear_modes(mesh, jounce.Material(), 4, pinned=held)
    /// >>> root = np.flatnonzero(held)
    /// >>> tree = jounce.DomainTree([jounce.Domain(modes)], [-1], [root], gravity=(0, 0, -9.81))
    /// >>> report = tree.step()
    /// >>> tree.reset()
    /// >>> bool(np.allclose(tree.positions(0), mesh.vertices))
    /// True
    fn reset(&self) -> PyResult<()> {
        self.lock()?.reset();
        Ok(())
    }

    fn __repr__(&self) -> PyResult<String> {
        let tree = self.lock()?;
        Ok(format!("DomainTree({} domains, {} coordinates)", tree.domain_count(), tree.coordinate_count()))
    }
}

impl DomainTree {
    fn lock(&self) -> PyResult<MutexGuard<'_, tree::DomainTree>> {
        locked(
            &self.inner,
            "tree: another thread is using it; wait for that, or give each thread a tree of its own",
        )
    }
}

/// The domains with their places in the tree.
fn members(
    domains: &[Bound<'_, Domain>],
    parents: &Bound<'_, PyAny>,
    interfaces: &[Bound<'_, PyAny>],
    placements: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Member>> {
    const STILL: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let count = domains.len();
    let parents = arrays::integers(parents, "parents", &[Axis::Is(count)])?;
    if interfaces.len() != count {
        let text = format!("interfaces: expected one for each of {count} domains, got {}", interfaces.len());
        return Err(PyValueError::new_err(text));
    }
    let placements = optional(placements, "placements", &[Axis::Is(count), Axis::Is(3), Axis::Is(4)])?;
    let places = placements.as_ref().map(|placements| arrays::transforms(placements.slice()));
    let member = |number: usize| {
        let parent = match parents[number] {
            -1 => None,
            parent => Some(arrays::count::<usize>(parent, "parents")?),
        };
        let interface = arrays::integers(&interfaces[number], "interfaces", &[Axis::Any("v")])?;
        let vertex = |&vertex: &i64| arrays::count::<u32>(vertex, "interfaces");
        Ok(Member {
            domain: domains[number].get().inner.clone(),
            place: places.map_or(STILL, |places| places[number]),
            parent,
            interface: interface.iter().map(vertex).collect::<PyResult<_>>()?,
        })
    };
    (0..count).map(member).collect()
}

/// Medium velocity per domain: (d, 3) float64, or three numbers for all.
fn velocities(wind: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<[f64; 3]>> {
    if let Ok(velocity) = wind.extract::<[f64; 3]>() {
        return Ok(vec![velocity; count]);
    }
    let wind = arrays::array::<f64>(wind, "wind", &[Axis::Is(count), Axis::Is(3)])?;
    Ok(wind.slice().as_chunks::<3>().0.to_vec())
}

/// One number per domain: (d,) float64, or one for all.
fn rates(drag: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f64>> {
    Ok(match arrays::field(drag, "drag", &[Axis::Is(count)])? {
        Field::Uniform(rate) => vec![rate; count],
        Field::PerTet(rates) => rates,
    })
}
