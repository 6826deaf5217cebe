//! Discrete operators of a mesh as sparse matrices, and `ElasticEnergy`.

use jounce::operators;
use jounce::potentials;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{self, Axis, optional};
use crate::errors::{refused, run};
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::model::flat;
use crate::recipe::made_by;
use crate::rig::Rig;
use crate::sparse::SparseMatrix;

/// Mass lumped to the vertices: the diagonal of M for one coordinate.
///
/// Each tet gives a quarter of its mass to each corner; in partly filled `TetMesh.cells`, vertices near the
/// flesh get more.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     Material, whose density counts.
///
/// Returns
/// -------
/// (n,) array
///     Mass of each vertex, kg.
///
/// Raises
/// ------
/// ValueError
///     For a material of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> mass = jounce.operators.lumped_mass(mesh, jounce.Material(density=1000.0))
/// >>> round(float(mass.sum()))
/// 4000
#[pyfunction]
pub fn lumped_mass<'py>(
    py: Python<'py>,
    mesh: &TetMesh,
    material: &Material,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let mass = run(py, || {
        material.0.check_tet_count(mesh.0.tets().len())?;
        Ok(operators::lumped_mass(&mesh.0, &material.0))
    })?;
    let n = mass.len();
    arrays::owned(py, mass, &[n])
}

/// Gradient operator G of piecewise linear functions: rows 3t to 3t + 2 of `G f` are the gradient of f in
/// tet t.
///
/// For positions x, (n, 3), `(G @ x).reshape(-1, 3, 3)` has the transposed deformation gradient of each tet.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
///
/// Returns
/// -------
/// SparseMatrix
///     Gradient, 3t x n, 1/m.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> gradients = (jounce.operators.gradient(mesh).to_scipy() @ mesh.vertices).reshape(-1, 3, 3)
/// >>> bool(np.allclose(gradients, np.eye(3)))
/// True
#[pyfunction]
pub fn gradient(py: Python<'_>, mesh: &TetMesh) -> PyResult<SparseMatrix> {
    let matrix = run(py, || Ok(operators::gradient_map(&mesh.0)))?;
    SparseMatrix::transposed(py, &matrix)
}

/// Laplacian of piecewise linear functions, `L = sum_t c_t V_t g_t g_t'`: positive semidefinite, with rows
/// that sum to zero.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// conductivity : float or array, default 1.0
///     Conductivity c, >= 0, one number or (t,).
///
/// Returns
/// -------
/// SparseMatrix
///     Laplacian, n x n, in metres times the unit of c.
///
/// Raises
/// ------
/// ValueError
///     For a wrong shape and a conductivity that is negative or not finite.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> x = mesh.vertices[:, 0]
/// >>> round(float(x @ (jounce.operators.laplacian(mesh).to_scipy() @ x)), 3)
/// 4.0
#[pyfunction]
#[pyo3(signature = (mesh, conductivity=None), text_signature = "(mesh, conductivity=1.0)")]
pub fn laplacian(
    py: Python<'_>,
    mesh: &TetMesh,
    conductivity: Option<&Bound<'_, PyAny>>,
) -> PyResult<SparseMatrix> {
    let t = mesh.0.tets().len();
    let conductivity = conductivity.map_or(Ok(vec![1.0; t]), |given| {
        let field = arrays::field(given, "conductivity", &[Axis::Is(t)])?;
        Ok::<_, PyErr>((0..t).map(|tet| field.at(tet)).collect())
    })?;
    let matrix = run(py, || operators::laplacian(&mesh.0, &conductivity))?;
    SparseMatrix::transposed(py, &matrix)
}

/// Elastic stiffness at rest, for each coordinate c of the vertices: the energy `sum_c u_c' L u_c / 2`.
///
/// On tets `L = sum_t 2 mu_t V_t g_t g_t'`, the `laplacian` of `2 mu`: the constant metric of projective
/// dynamics and of [QN]. For motions without local rotation it is the whole energy of a material without
/// resistance to change of volume; rotations, which cost nothing in `ElasticEnergy`, are resisted. The
/// `TetMesh.cells` of a lattice also resist bending and twisting, by hourglass control [FlanaganBelytschko].
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     The material.
///
/// Returns
/// -------
/// SparseMatrix
///     Stiffness, n x n, N/m.
///
/// Raises
/// ------
/// ValueError
///     For a material of another mesh.
///
/// Examples
/// --------
/// A bar of 4 m that is stretched by a hundredth, with 2 mu = E = 100 kPa:
///
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> stiffness = jounce.operators.stiffness(mesh, jounce.Material(young=1e5)).to_scipy()
/// >>> stretch = 0.01 * mesh.vertices[:, 0]
/// >>> round(float(stretch @ (stiffness @ stretch) / 2), 3)
/// 20.0
#[pyfunction]
pub fn stiffness(py: Python<'_>, mesh: &TetMesh, material: &Material) -> PyResult<SparseMatrix> {
    let matrix = run(py, || {
        material.0.check_tet_count(mesh.0.tets().len())?;
        operators::stiffness(&mesh.0, &material.0)
    })?;
    SparseMatrix::transposed(py, &matrix)
}

/// Hessian H_w of the elastic energy in the space of skinning weights [FastCD eq. 18], whose generalised
/// eigenvectors `H_w w = lambda M w` are the skinning modes.
///
/// On tets it is the `laplacian` of `4 mu + lambda`; the `TetMesh.cells` of a lattice also resist bending.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     The material.
///
/// Returns
/// -------
/// SparseMatrix
///     Hessian, n x n, N/m.
///
/// Raises
/// ------
/// ValueError
///     For a material of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> jounce.operators.weight_hessian(mesh, jounce.Material()).shape == (len(mesh.vertices),) * 2
/// True
#[pyfunction]
pub fn weight_hessian(py: Python<'_>, mesh: &TetMesh, material: &Material) -> PyResult<SparseMatrix> {
    let matrix = run(py, || {
        let tets = mesh.0.tets().len();
        material.0.check_tet_count(tets)?;
        let conductivity: Vec<f64> = (0..tets).map(|tet| material.0.weight_conductivity(tet)).collect();
        operators::weight_space_hessian(&mesh.0, &conductivity)
    })?;
    SparseMatrix::transposed(py, &matrix)
}

/// Complementarity constraint of skinning modes: `C w = 0` exactly when the motion of the weights w is
/// complementary to the rig, `J' D M B(w) = 0` with D = 1 - leak [FastCD eq. 21].
///
/// Dependent rows among the products of each bone's weights with pairs of `{x, y, z, 1}` are left out.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     Material, whose density counts.
/// rig : Rig
///     The rig.
/// leak : (n,) array, optional
///     Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
///
/// Returns
/// -------
/// SparseMatrix
///     Constraint, c x n, at most ten rows a bone, each of length one.
///
/// Raises
/// ------
/// ValueError
///     For arguments of another mesh and a leak out of range.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
/// >>> jounce.operators.weight_constraint(mesh, jounce.Material(), rig).shape[0]
/// 10
#[pyfunction]
#[pyo3(signature = (mesh, material, rig, leak=None))]
pub fn weight_constraint(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    rig: &Rig,
    leak: Option<&Bound<'_, PyAny>>,
) -> PyResult<SparseMatrix> {
    constrained(py, mesh, material, rig, leak, operators::constraint)
}

/// Complementarity constraint of displacements: `C u = 0` for each coordinate exactly when u is
/// complementary to the rig, `J' M D u = 0` with D = 1 - leak [FastCD eq. 3].
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     Material, whose density counts.
/// rig : Rig
///     The rig.
/// leak : (n,) array, optional
///     Leak of each vertex, in [0, 1]; None is `momentum_leak(mesh)`.
///
/// Returns
/// -------
/// SparseMatrix
///     Constraint, c x n, at most four rows a bone, each of length one.
///
/// Raises
/// ------
/// ValueError
///     For arguments of another mesh and a leak out of range.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
/// >>> jounce.operators.displacement_constraint(mesh, jounce.Material(), rig).shape[0]
/// 4
#[pyfunction]
#[pyo3(signature = (mesh, material, rig, leak=None))]
pub fn displacement_constraint(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    rig: &Rig,
    leak: Option<&Bound<'_, PyAny>>,
) -> PyResult<SparseMatrix> {
    constrained(py, mesh, material, rig, leak, operators::displacement_constraint)
}

type Constraint =
    fn(&jounce::mesh::TetMesh, &[f64], &jounce::rig::Rig, &[f64]) -> jounce::Result<jounce::math::Sparse>;

fn constrained(
    py: Python<'_>,
    mesh: &TetMesh,
    material: &Material,
    rig: &Rig,
    leak: Option<&Bound<'_, PyAny>>,
    constraint: Constraint,
) -> PyResult<SparseMatrix> {
    let leak = optional(leak, "leak", &[Axis::Is(mesh.0.vertices().len())])?;
    let given = leak.as_ref().map(|leak| leak.slice());
    let matrix = run(py, || {
        material.0.check_tet_count(mesh.0.tets().len())?;
        let mass = operators::lumped_mass(&mesh.0, &material.0);
        match given {
            Some(leak) => constraint(&mesh.0, &mass, &rig.0, leak),
            None => constraint(&mesh.0, &mass, &rig.0, &operators::momentum_leak(&mesh.0)?),
        }
    })?;
    SparseMatrix::transposed(py, &matrix)
}

/// Jacobian J of linear blend skinning: `x = J p` has the posed vertices, coordinates of a vertex
/// adjacent, for a pose p, (b, 3, 4) in C order.
///
/// Parameters
/// ----------
/// points : (n, 3) array
///     Places at rest of the rig's vertices, metres.
/// rig : Rig
///     The rig.
///
/// Returns
/// -------
/// SparseMatrix
///     Jacobian, 3n x 12b.
///
/// Raises
/// ------
/// ValueError
///     For another number of points.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
/// >>> jacobian = jounce.operators.skinning_jacobian(mesh.vertices, rig).to_scipy()
/// >>> posed = (jacobian @ np.eye(3, 4).ravel()).reshape(-1, 3)
/// >>> bool(np.allclose(posed, mesh.vertices))
/// True
#[pyfunction]
pub fn skinning_jacobian(py: Python<'_>, points: &Bound<'_, PyAny>, rig: &Rig) -> PyResult<SparseMatrix> {
    let points = arrays::points(points, "points")?;
    let matrix = run(py, || operators::skinning_map(&points, &rig.0))?;
    SparseMatrix::transposed(py, &matrix)
}

/// Elastic energy of flesh of any law as a function of the vertex positions, with its derivatives.
///
/// The energy that `Model.full_space` minimises, without stitches, fibres, limits and rest shapes that
/// follow the rig: `E(x) = sum V psi(F(x))` over the tets, or over the `TetMesh.cells` of a lattice, which
/// also resist bending.
///
/// Parameters
/// ----------
/// mesh : TetMesh
///     The mesh.
/// material : Material
///     Material of any law.
///
/// Raises
/// ------
/// ValueError
///     For a material of another mesh.
///
/// Examples
/// --------
/// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
/// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
/// >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
/// >>> stretched = mesh.vertices * [1.1, 1.0, 1.0]
/// >>> energy.value(stretched) > 0.0, energy.gradient(stretched).shape == mesh.vertices.shape
/// (True, True)
/// >>> energy.hessian(stretched).shape == (mesh.vertices.size,) * 2
/// True
#[pyclass(frozen, module = "jounce.operators", name = "ElasticEnergy")]
pub struct ElasticEnergy {
    inner: potentials::ElasticEnergy,
    mesh: TetMesh,
    material: Material,
}

impl ElasticEnergy {
    /// Given positions, or those at rest.
    fn positions(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<[f64; 3]>> {
        given.map_or_else(|| Ok(self.inner.rest().to_vec()), |given| arrays::points(given, "positions"))
    }
}

#[pymethods]
impl ElasticEnergy {
    #[new]
    #[pyo3(text_signature = "(mesh, material)")]
    fn new(mesh: &TetMesh, material: &Material) -> PyResult<Self> {
        let inner = potentials::ElasticEnergy::new(&mesh.0, &material.0).map_err(refused)?;
        Ok(Self { inner, mesh: TetMesh(mesh.0.clone()), material: Material(material.0.clone()) })
    }

    /// Energy at given positions.
    ///
    /// Parameters
    /// ----------
    /// positions : (n, 3) array
    ///     Positions of the vertices, metres.
    ///
    /// Returns
    /// -------
    /// float
    ///     Energy, J.
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
    /// >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(young=1e5))
    /// >>> round(energy.value(mesh.vertices * [1.1, 1.0, 1.0])), round(1e5 / 2 * 0.1**2 * 4.0)
    /// (2000, 2000)
    /// >>> turn = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    /// >>> energy.value(mesh.vertices @ turn) < 1e-9
    /// True
    fn value(&self, py: Python<'_>, positions: &Bound<'_, PyAny>) -> PyResult<f64> {
        let x = arrays::points(positions, "positions")?;
        run(py, || self.inner.value(&x))
    }

    /// Gradient at given positions: minus the elastic forces on the vertices.
    ///
    /// Parameters
    /// ----------
    /// positions : (n, 3) array
    ///     Positions of the vertices, metres.
    ///
    /// Returns
    /// -------
    /// (n, 3) array
    ///     Gradient, N.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `value`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
    /// >>> x, step = mesh.vertices * [1.1, 1.0, 1.0], 1e-5 * np.sin(mesh.vertices)
    /// >>> difference = (energy.value(x + step) - energy.value(x - step)) / 2
    /// >>> bool(np.isclose(difference, (energy.gradient(x) * step).sum(), rtol=1e-6))
    /// True
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let x = arrays::points(positions, "positions")?;
        let gradient = run(py, || self.inner.gradient(&x))?;
        arrays::owned(py, flat(&gradient), &[gradient.len(), 3])
    }

    /// Hessian at given positions: the stiffness matrix there.
    ///
    /// Parameters
    /// ----------
    /// positions : (n, 3) array, optional
    ///     Positions of the vertices, metres; None is at rest.
    /// definite : bool, default False
    ///     True for the Hessian of each element replaced by the positive semidefinite matrix closest to it,
    ///     as Newton's method takes it.
    ///
    /// Returns
    /// -------
    /// SparseMatrix
    ///     Hessian, 3n x 3n, N/m; rows 3i to 3i + 2 belong to vertex i.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As `value`.
    ///
    /// Examples
    /// --------
    /// >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    /// >>> mesh = jounce.TetMesh.lattice(points, triangles, resolution=8)
    /// >>> energy = jounce.operators.ElasticEnergy(mesh, jounce.Material(law="neo_hookean", poisson=0.4))
    /// >>> x, step = mesh.vertices * [1.1, 1.0, 1.0], 1e-5 * np.sin(mesh.vertices)
    /// >>> difference = (energy.gradient(x + step) - energy.gradient(x - step)) / 2
    /// >>> bool(np.allclose(energy.hessian(x).to_scipy() @ step.ravel(), difference.ravel(), atol=1e-6))
    /// True
    #[pyo3(signature = (positions=None, *, definite=false))]
    fn hessian(
        &self,
        py: Python<'_>,
        positions: Option<&Bound<'_, PyAny>>,
        definite: bool,
    ) -> PyResult<SparseMatrix> {
        let x = self.positions(positions)?;
        let matrix = run(py, || self.inner.hessian(&x, definite))?;
        SparseMatrix::transposed(py, &matrix)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = (TetMesh(self.mesh.0.clone()), Material(self.material.0.clone()));
        made_by::<Self>(py, "", parts, None)
    }

    fn __repr__(&self) -> String {
        format!("ElasticEnergy({} vertices)", self.inner.rest().len())
    }
}
