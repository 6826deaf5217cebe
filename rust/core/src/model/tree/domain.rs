//! One domain: a reduced body with all inertia terms of its motion in a moving frame.

use std::sync::Arc;

use faer::{Mat, MatRef};
use nalgebra::{DMatrix, Matrix3, Matrix6, SymmetricEigen, Vector3};

use crate::math::columns::Columns;
use crate::math::dense::diagonal::FREE;
use crate::math::dense::{inner, product};
use crate::mesh::bounds;
use crate::model::reduced::ReducedModel;
use crate::subspace::{BoundedDeformationTree, LinearModes};
use crate::{Error, Result, check};

/// Number of shape functions of the undeformed body: 1 and X.
pub(super) const RIGID: usize = 4;
/// Largest share of a rigid motion within the span of the displacements.
const MOST_RIGID: f64 = 1.0 - 1e-6;

/// A reduced body for use in domain trees, possibly several times.
///
/// With s = 4 + 3k functions `Phi = (1, X, B_1, ..., B_k)` of its vertices, X from the centre of mass,
/// every motion in a frame is `x = Q Phi` with `Q = (c, R, R y_1, ..., R y_k)`, 3 x s. Inertia depends only
/// on the Gram matrix of Phi.
pub struct Domain {
    masses: Vec<f64>,
    /// The centre of mass.
    pub(super) centre: Vector3<f64>,
    /// Phi, n x s, vertex by vertex, with `B'MB = I`.
    values: Vec<f64>,
    /// `sum m Phi Phi'`, s x s.
    pub(super) gram: Columns,
    /// Eigenvalues of the metric, k, 1/s^2.
    pub(super) spectrum: Vec<f64>,
    /// Elastic model; `None` for `1/2 y' Lambda y`.
    pub(super) flesh: Option<Arc<ReducedModel>>,
    /// Vertices with zero displacement in every coordinate.
    held: Vec<u32>,
    /// Bounding spheres of the contact vertices, relative to the centre of mass.
    pub(super) spheres: BoundedDeformationTree,
    /// Diagonal of the body at rest, m.
    pub(super) diagonal: f64,
}

/// A body at rest: vertices, m, masses, kg, and contact vertices.
type Rest<'a> = (&'a [[f64; 3]], &'a [f64], &'a [u32]);

impl Domain {
    /// A body or a surface in its deforming linear modes, with energy `1/2 z' Lambda z`. points: n, m;
    /// masses: n, kg; boundary: the contact vertices.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another mesh, [`Error::Index`] for an unknown boundary vertex,
    /// [`Error::Unsupported`] without a deforming mode, and for modes that contain rigid motion.
    pub fn of_modes(
        points: &[[f64; 3]],
        masses: &[f64],
        boundary: &[u32],
        modes: &LinearModes,
    ) -> Result<Self> {
        let (rows, n) = (modes.shapes.nrows(), points.len());
        if rows != 3 * n || masses.len() != n {
            let (expected, got) = (format!("(k, {n}, 3)"), format!("(k, {}, 3)", rows / 3));
            return Err(Error::Shape { what: "modes", expected, got });
        }
        check::indices("boundary", boundary, 1, n)?;
        let largest = modes.eigenvalues.iter().copied().fold(0.0, f64::max);
        let deforms = |&k: &usize| modes.eigenvalues[k] > FREE * largest;
        let kept: Vec<usize> = (0..modes.eigenvalues.len()).filter(deforms).collect();
        let fields = Mat::from_fn(rows, kept.len(), |row, k| modes.shapes[(row, kept[k])]);
        let spectrum = kept.iter().map(|&k| modes.eigenvalues[k]).collect();
        Self::new((points, masses, boundary), (fields, spectrum), None)
    }

    /// Hyperelastic flesh in a reduced basis, with its force elements.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for flesh on a rig, and for a basis that contains rigid motion.
    pub fn of_flesh(model: &Arc<ReducedModel>) -> Result<Self> {
        if model.bone_count() > 0 {
            let why = "a domain hangs on its parent and has no bones; reduce the body without a rig";
            return Err(Error::Unsupported { what: "rig", why });
        }
        let basis = (model.fields(), model.spectrum().to_vec());
        let mesh = model.mesh();
        Self::new((mesh.vertices(), model.masses(), &mesh.boundary_vertices()), basis, Some(model.clone()))
    }

    fn new(
        (points, masses, boundary): Rest<'_>,
        (fields, spectrum): (Mat<f64>, Vec<f64>),
        flesh: Option<Arc<ReducedModel>>,
    ) -> Result<Self> {
        if spectrum.is_empty() {
            let why = "none of them deforms the body; take more, or pin a part of it";
            return Err(Error::Unsupported { what: "modes", why });
        }
        let total: f64 = masses.iter().sum();
        let moment = |(x, m): (&[f64; 3], &f64)| *m * Vector3::from(*x);
        let centre = points.iter().zip(masses).map(moment).sum::<Vector3<f64>>() / total;
        let functions = functions(points, &centre, &fields);
        let from_centre = points.iter().map(|&x| (Vector3::from(x) - centre).into());
        let from_centre: Vec<[f64; 3]> = from_centre.collect();
        let (low, high) = bounds(points);
        let weighted = Mat::from_fn(points.len(), functions.ncols(), |v, f| masses[v] * functions[(v, f)]);
        let gram = inner(functions.as_ref(), weighted.as_ref());
        let still = |v: &u32| (RIGID..functions.ncols()).all(|f| functions[(*v as usize, f)] == 0.0);
        let row = |v: usize| functions.row(v).iter().copied();
        let made = Self {
            masses: masses.to_vec(),
            centre,
            gram: Columns::new(gram.nrows(), gram.ncols(), |i, j| 0.5 * (gram[(i, j)] + gram[(j, i)])),
            spectrum,
            flesh,
            held: (0..points.len() as u32).filter(still).collect(),
            spheres: BoundedDeformationTree::new(&from_centre, fields.as_ref(), boundary),
            diagonal: (Vector3::from(high) - Vector3::from(low)).norm(),
            values: (0..points.len()).flat_map(row).collect(),
        };
        if made.rigid_share() > MOST_RIGID {
            let why =
                "together they move the body as a whole, which is what its frame does; hold it somewhere";
            return Err(Error::Unsupported { what: "basis", why });
        }
        Ok(made)
    }

    /// Number of vertices n.
    pub fn vertex_count(&self) -> usize {
        self.masses.len()
    }

    /// Number of coordinates k.
    pub fn rank(&self) -> usize {
        self.spectrum.len()
    }

    /// Vertices with zero displacement in every coordinate: the attached part.
    pub fn held(&self) -> &[u32] {
        &self.held
    }

    pub(super) fn total_mass(&self) -> f64 {
        self.gram.at(0, 0)
    }

    /// Number of functions s.
    pub(super) fn functions(&self) -> usize {
        RIGID + 3 * self.rank()
    }

    pub(super) fn mass(&self, vertex: usize) -> f64 {
        self.masses[vertex]
    }

    /// Phi at a vertex, s.
    fn row(&self, vertex: usize) -> &[f64] {
        let s = self.functions();
        &self.values[vertex * s..][..s]
    }

    /// Phi at a vertex.
    pub(super) fn function(&self, vertex: usize, function: usize) -> f64 {
        self.row(vertex)[function]
    }

    /// A vertex at rest, from the centre of mass.
    pub(super) fn rest(&self, vertex: usize) -> Vector3<f64> {
        let row = self.row(vertex);
        Vector3::new(row[1], row[2], row[3])
    }

    /// `B y` at a vertex.
    pub(super) fn shift(&self, vertex: usize, y: &[f64]) -> Vector3<f64> {
        let own = self.row(vertex)[RIGID..].as_chunks::<3>().0.iter().zip(y);
        own.fold(Vector3::zeros(), |sum, (b, y)| sum + *y * Vector3::from(*b))
    }

    /// Adds a force at a vertex to the forces on Q.
    pub(super) fn push(&self, vertex: usize, force: &Vector3<f64>, push: &mut [f64]) {
        let row = self.row(vertex);
        for (push, force) in push.chunks_exact_mut(row.len()).zip(force.iter()) {
            push.iter_mut().zip(row).for_each(|(push, function)| *push += force * function);
        }
    }

    /// Vertex positions `Q Phi`, n x 3.
    pub(super) fn places(&self, q: &[f64]) -> Vec<f64> {
        let s = self.functions();
        let turned = Mat::from_fn(s, 3, |f, c| q[c * s + f]);
        let functions = MatRef::from_row_major_slice(&self.values, self.vertex_count(), s);
        let places = product(functions, turned.as_ref());
        (0..3 * places.nrows()).map(|i| places[(i / 3, i % 3)]).collect()
    }

    /// Largest share of a rigid motion's inertia within the span of the displacements; 1 if they contain
    /// one.
    fn rigid_share(&self) -> f64 {
        let k = self.rank();
        let gram = |a: usize, b: usize| self.gram.at(a, b);
        let second = Matrix3::from_fn(|i, j| gram(1 + i, 1 + j));
        let mut inertia = Matrix6::from_diagonal_element(self.total_mass());
        inertia.fixed_view_mut::<3, 3>(3, 3).copy_from(&(second.trace() * Matrix3::identity() - second));
        let shared = DMatrix::from_fn(6, k, |row, k| {
            let at = RIGID + 3 * k;
            match row {
                0..3 => gram(0, at + row),
                _ => {
                    let (i, j) = ((row + 1) % 3, (row + 2) % 3);
                    gram(1 + i, at + j) - gram(1 + j, at + i)
                }
            }
        });
        let Some(factor) = inertia.cholesky() else { return 1.0 };
        let Some(shares) = factor.l().solve_lower_triangular(&shared) else { return 1.0 };
        SymmetricEigen::new(&shares * shares.transpose()).eigenvalues.max()
    }
}

/// Phi, n x s.
fn functions(points: &[[f64; 3]], centre: &Vector3<f64>, fields: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(points.len(), RIGID + 3 * fields.ncols(), |v, f| match f {
        0 => 1.0,
        1..RIGID => points[v][f - 1] - centre[f - 1],
        _ => fields[(3 * v + (f - RIGID) % 3, (f - RIGID) / 3)],
    })
}
