//! Hyperelastic flesh in a reduced basis of displacements `[MOR]`: `x = rig + U q`.
//!
//! `ReducedModel` holds all constant data, made by `reduce`. A step (`step`) minimises the incremental
//! energy of the full space in these coordinates (`objective`). Elastic forces are evaluated at sample
//! elements (`samples`), trained on a shot (`training`).

mod contact;
pub(crate) mod cubic;
mod damping;
pub(crate) mod drag;
pub(crate) mod elastic;
pub(crate) mod limit_energy;
pub(crate) mod limit_training;
pub(crate) mod limits;
pub(crate) mod newton;
pub(crate) mod objective;
pub(crate) mod parts;
pub(crate) mod reduce;
pub(crate) mod step;
mod swings;
pub(crate) mod training;

use std::sync::Arc;

use crate::potentials::elastic::samples::Samples;
use cubic::CubicForces;
use damping::Damping;
use faer::Mat;
use limits::Limits;
pub use limits::{Bounds, LimitSamples};
use parts::{Parts, Places};
pub use training::Shot;

use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::rig_rows::{RigRows, check_strength};
use crate::material::{Law, PrincipalStretch};
use crate::math::columns::Columns;
use crate::math::dense::{dot, inner, product};
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::rig::Rig;
use crate::sampling::cubature::Cubature;
use crate::subspace::Basis;
use crate::{Error, Result, check};

/// A body in a reduced basis: all constant data of a step.
///
/// Internal coordinates y diagonalise mass and the metric's Laplacian, `q = Phi y`, to keep products small.
/// The basis may be neither orthonormal nor independent.
///
/// ```
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::model::reduced::{ReducedExtras, ReducedModel};
/// use jounce::operators::Stitches;
/// use jounce::subspace::{LinearProblem, Restraint};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
/// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
/// let held: Vec<bool> = mesh.vertices().iter().map(|vertex| vertex[0] < 0.1).collect();
/// let restraint = Restraint { pinned: Some(&held), ..Restraint::default() };
/// let none = Stitches::none(&mesh);
/// let modes = LinearProblem::new(&mesh, &rubber, &restraint, &none, &progress)?.lowest(4, &progress)?;
/// let extras = ReducedExtras::default();
/// let model = ReducedModel::new(&mesh, &rubber, &modes.basis(), &extras, &progress)?;
/// assert_eq!(model.displacement_count(), 4);
/// // No samples: elastic forces of every cell.
/// assert!(model.cubature().is_none());
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct ReducedModel {
    pub(crate) data: Arc<ReducedData>,
    samples: Samples,
    /// Polynomial forces of all elements; `None` with samples.
    cubic: Option<Arc<CubicForces>>,
    /// The cubature; `None` for all tets.
    cubature: Option<Cubature>,
    /// Limits; `None` for a body without limits.
    limits: Option<Arc<Limits>>,
    /// Kept share of the metric's stiffness outside of the samples, k x k.
    unseen: Columns,
}

/// Data independent of the force samples; k coordinates, h handles.
pub(crate) struct ReducedData {
    pub(crate) mesh: TetMesh,
    /// U, 3n x r.
    pub(crate) basis: Basis,
    /// Phi, r x k.
    pub(crate) turn: Mat<f64>,
    /// `Phi'U'MU`, k x r: from basis coefficients to coordinates.
    pub(crate) reduction: Mat<f64>,
    /// Vertex masses, n, kg.
    pub(crate) mass: Vec<f64>,
    /// Eigenvalues of the Laplacian, k, 1/s^2, ascending.
    spectrum: Vec<f64>,
    /// Cell energy outside of the mean gradients.
    twisting: Option<Quadratic>,
    stitches: Option<Quadratic>,
    /// `B'M diag(beta) J`: a column of 12 numbers a handle for each coordinate.
    rig_mass: Columns,
    /// `B'M` of a unit field along each axis, 3 x k.
    uniform: [Vec<f64>; 3],
    /// `B_a'M B_b` of displacement components a and b, k x k, at 3 a + b.
    across: Vec<Mat<f64>>,
    places: Places,
    parts: Parts,
    /// Rows of J at all vertices.
    rig: RigRows,
    /// The laws of the elements.
    energies: Vec<PrincipalStretch>,
    /// Largest ratio of the metric's stiffness to that of shear, against the one without volume stiffness.
    yielding: f64,
    coordinates: Coordinates,
    bones: usize,
    pub(crate) frequency: f64,
    damping: Damping,
    total_mass: f64,
    /// Share of each tet in its element, t.
    tet_shares: Vec<f64>,
}

/// A quadratic energy of positions, the same along each axis: blocks of the coordinates, k x k, of
/// coordinates and rig, as `rig_mass`, and of the rig alone, 4h x 4h.
struct Quadratic {
    own: Columns,
    rig: Columns,
    alone: Mat<f64>,
}

/// Optional inputs of a reduced body; none by default.
#[derive(Clone, Copy, Default)]
pub struct ReducedExtras<'a> {
    /// Rig of the body; without a rig the body stays at its rest place.
    pub rig: Option<&'a Rig>,
    /// Factor on the rig's acceleration at each vertex, n, >= 0; `None` is one everywhere.
    pub strength: Option<&'a [f64]>,
    /// Sample tets for elastic forces; `None` for all.
    pub cubature: Option<&'a Cubature>,
    /// Forces as cubic polynomials of the coefficients, exact for all tets. Requires St. Venant-Kirchhoff
    /// flesh without its barrier, no rig, and at most 80 displacements.
    pub cubic: bool,
    /// Springs between points of the body, without gap.
    pub stitches: Option<&'a Stitches>,
    /// Reference frequency of limits, and of the damping ratio of a free body, Hz, such as that of the full
    /// space; `None` for the lowest of the basis.
    pub frequency: Option<f64>,
}

impl ReducedModel {
    /// The simulated mesh.
    pub fn mesh(&self) -> &TetMesh {
        &self.data.mesh
    }

    /// Number of displacements r of the basis.
    pub fn displacement_count(&self) -> usize {
        self.data.basis.count()
    }

    /// Number of elements with evaluated forces.
    pub fn sample_count(&self) -> usize {
        self.samples.count()
    }

    /// Number of bones b of a pose, 0 without a rig.
    pub fn bone_count(&self) -> usize {
        self.data.bones
    }

    /// Reference frequency of limits, and of the damping ratio of a free body, Hz.
    pub fn frequency(&self) -> f64 {
        self.data.frequency
    }

    /// Least-squares coefficients, f x r, of given displacements, f x n x 3, in the mass norm.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for the displacements.
    pub fn nearest(&self, displacements: &[f64]) -> Result<Vec<f64>> {
        let (what, data) = ("displacements", &self.data);
        let size = 3 * data.mass.len();
        if displacements.is_empty() || !displacements.len().is_multiple_of(size) {
            let expected = format!("(f, {}, 3)", data.mass.len());
            return Err(Error::Shape { what, expected, got: format!("{} numbers", displacements.len()) });
        }
        check::finite(what, displacements, size)?;
        let frames = displacements.len() / size;
        let forces = Mat::from_fn(size, frames, |i, f| data.mass[i / 3] * displacements[f * size + i]);
        let works = inner(data.basis.columns.as_ref(), forces.as_ref());
        let y = product(data.turn.transpose(), works.as_ref());
        let found = product(data.turn.as_ref(), y.as_ref());
        Ok((0..frames).flat_map(|f| found.col_as_slice(f).iter().copied()).collect())
    }

    /// B = U Phi, 3n x k: displacement fields of the internal coordinates.
    pub(super) fn fields(&self) -> Mat<f64> {
        product(self.data.basis.columns.as_ref(), self.data.turn.as_ref())
    }

    /// Eigenvalues of the metric's Laplacian in internal coordinates, k, 1/s^2.
    pub(super) fn spectrum(&self) -> &[f64] {
        &self.data.spectrum
    }

    /// Vertex masses, n, kg.
    pub(super) fn masses(&self) -> &[f64] {
        &self.data.mass
    }

    /// `sum of V k`, J: magnitude of the terms of a law that cancel near rest, which bounds the rounding
    /// error.
    pub(super) fn rounding(&self) -> f64 {
        (0..self.samples.count()).map(|sample| self.samples.weight(sample)).sum()
    }

    /// The displacement basis.
    pub fn basis(&self) -> &Basis {
        &self.data.basis
    }

    /// The cubature; `None` for all tets.
    pub fn cubature(&self) -> Option<&Cubature> {
        self.cubature.as_ref()
    }
}

impl ReducedExtras<'_> {
    /// Checks the conditions of polynomial forces.
    fn check_cubic(&self, law: Law, displacements: usize) -> Result<()> {
        let why = if law != Law::StVenantKirchhoff {
            "only the law \"stvk\" has forces that are cubic polynomials"
        } else if self.rig.is_some() {
            "a rig changes the polynomials from pose to pose; reduce the body without one"
        } else if self.cubature.is_some() {
            "polynomials know all tets; leave the cubature out"
        } else if displacements > cubic::MOST {
            "they take more memory than 80 displacements are worth; take fewer, or a cubature"
        } else {
            return Ok(());
        };
        Err(Error::Unsupported { what: "cubic", why })
    }

    /// Checks the extras against a mesh with n vertices.
    fn check(&self, n: usize) -> Result<()> {
        if let Some(stitches) = self.stitches {
            stitches.check_vertices(n)?;
            stitches.check_shut()?;
        }
        self.rig.map_or(Ok(()), |rig| check::length("rig", n, rig.vertex_count()))?;
        if let Some(frequency) = self.frequency.filter(|hertz| !(hertz.is_finite() && *hertz > 0.0)) {
            return Err(Error::Range { what: "frequency", expected: "a positive number", got: frequency });
        }
        check_strength(n, self.strength)
    }
}

impl ReducedData {
    /// The existing quadratic energies.
    fn quadratics(&self) -> impl Iterator<Item = &Quadratic> {
        [&self.twisting, &self.stitches].into_iter().flatten()
    }

    /// Number of coordinates k.
    pub(crate) fn rank(&self) -> usize {
        self.spectrum.len()
    }

    /// Rows of a pose: four a handle.
    fn handle_rows(&self) -> usize {
        4 * self.bones.max(1)
    }

    /// Checks for one finite number a displacement of the basis.
    pub(crate) fn check_coefficients(&self, what: &'static str, numbers: &[f64]) -> Result<()> {
        let count = self.basis.count();
        check::length(what, count, numbers.len())?;
        check::finite(what, numbers, 1)
    }

    /// Phi' of a generalised force on the coefficients.
    pub(crate) fn enter_force(&self, force: &[f64], out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = dot(self.turn.col_as_slice(k), force);
        }
    }

    /// Phi y.
    pub(crate) fn leave(&self, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (k, y) in y.iter().enumerate() {
            out.iter_mut().zip(self.turn.col_as_slice(k)).for_each(|(out, phi)| *out += phi * y);
        }
    }

    /// Internal coordinates of coefficients.
    pub(crate) fn enter(&self, coefficients: &[f64]) -> Vec<f64> {
        let term = |k: usize| (0..coefficients.len()).map(|j| self.reduction[(k, j)] * coefficients[j]).sum();
        (0..self.rank()).map(term).collect()
    }

    /// Force on the coefficients with the same work as a force on the coordinates.
    pub(crate) fn leave_force(&self, force: &[f64]) -> Vec<f64> {
        (0..self.basis.count()).map(|j| dot(self.reduction.col_as_slice(j), force)).collect()
    }
}
