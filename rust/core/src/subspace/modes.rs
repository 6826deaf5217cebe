//! Skinning eigenmodes, complementary to a rig.

use std::sync::Arc;

use faer::Mat;

use super::eigenpairs::{Eigenproblem, check_count};
use crate::material::Material;
use crate::math::{Selection, Sparse, SparseCholesky, add_diagonal};
use crate::mesh::TetMesh;
use crate::operators::{Stitches, constraint, lumped_mass, momentum_leak, weight_space_hessian};
use crate::parallel::on_pool;
use crate::rig::Rig;
use crate::{Error, Progress, Result, check};

/// Shift that makes the Hessian definite, relative to the lowest eigenvalue of a cube of the same volume.
pub(super) const SHIFT: f64 = 1e-2;

/// Number of diagonal blocks, one per coordinate, that the weight-space Hessian sums.
pub(super) const WEIGHT_SPACE: f64 = 3.0;

/// Skinning weights of the secondary motion, one scalar field per mode.
///
/// ```
/// use jounce::Progress;
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::subspace::{Restraint, restrained_modes};
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 1.0, 1.0])?, 4, &progress)?;
/// let [young, poisson, density] = [1e5, 0.0, 1000.0].map(Field::Uniform);
/// let material = Material::new(Law::Arap, young, poisson, density)?;
/// let modes = restrained_modes(&mesh, &material, 3, &Restraint::default(), &progress)?;
/// assert_eq!(modes.rows().len(), 3 * mesh.vertices().len());
/// assert!(modes.eigenvalues.is_sorted());
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SkinningModes {
    /// W, n x m, with `W' M_w W = I`, in kg^(-1/2).
    pub weights: Mat<f64>,
    /// Eigenvalues, ascending, m, in 1/s^2.
    pub eigenvalues: Vec<f64>,
}

impl SkinningModes {
    /// Takes external weights, n x m in C order, with one eigenvalue per mode.
    ///
    /// They need not be orthonormal, complementary to a rig or even linearly independent.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Shape`] unless there are n rows of m, [`Error::NotFinite`].
    pub fn from_rows(weights: &[f64], eigenvalues: Vec<f64>) -> Result<Self> {
        let m = eigenvalues.len();
        if m == 0 || weights.is_empty() {
            return Err(Error::Empty { what: "weights" });
        }
        if !weights.len().is_multiple_of(m) {
            let (expected, got) = (format!("(n, {m})"), format!("{} numbers", weights.len()));
            return Err(Error::Shape { what: "weights", expected, got });
        }
        for (what, values) in [("weights", weights), ("eigenvalues", &eigenvalues)] {
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                let element = if what == "weights" { at / m } else { at };
                return Err(Error::NotFinite { what, element, value: values[at] });
            }
        }
        Ok(Self { weights: Mat::from_fn(weights.len() / m, m, |i, k| weights[i * m + k]), eigenvalues })
    }

    /// The lowest `count` modes: the result of computing only so many.
    ///
    /// # Errors
    /// [`Error::Range`] unless there are that many.
    pub fn truncated(&self, count: usize) -> Result<Self> {
        check_truncation(count, self.eigenvalues.len())?;
        Ok(Self {
            weights: self.weights.subcols(0, count).to_owned(),
            eigenvalues: self.eigenvalues[..count].to_vec(),
        })
    }

    /// Weights, n x m in C order.
    pub fn rows(&self) -> Vec<f64> {
        let (n, m) = (self.weights.nrows(), self.weights.ncols());
        (0..n).flat_map(|i| (0..m).map(move |k| self.weights[(i, k)])).collect()
    }
}

/// Constraints on modes. The default has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Restraint<'a> {
    /// Rig to which the modes are complementary.
    pub rig: Option<&'a Rig>,
    /// Leak of momentum, n numbers in [0, 1]; `None` means [`momentum_leak`]. Without a rig it has no effect.
    pub leak: Option<&'a [f64]>,
    /// Pinned vertices, n, at which the modes vanish; `None` for no pins.
    pub pinned: Option<&'a [bool]>,
}

/// The lowest modes of `H_w w = lambda M_w w` subject to `A' w = 0`, without pins.
///
/// # Errors
/// As [`restrained_modes`].
pub fn skinning_modes(
    mesh: &TetMesh,
    material: &Material,
    count: usize,
    rig: Option<&Rig>,
    leak: Option<&[f64]>,
    progress: &Progress,
) -> Result<SkinningModes> {
    restrained_modes(mesh, material, count, &Restraint { rig, leak, pinned: None }, progress)
}

/// The lowest modes of `H_w w = lambda M_w w` subject to `A' w = 0`, and `w_i = 0` at pinned vertices.
///
/// `H_w` is [`weight_space_hessian`] with conductivity `4 mu + lambda`, `M_w` the lumped mass, A the
/// columns of [`constraint`]. Without a rig there is no constraint and the first mode is constant, with
/// eigenvalue 0 (one such mode for each component of the mesh without pins). Every repetition of an
/// eigenvalue is found.
///
/// Signs and bases are canonical: the first of a mode's largest entries is positive, and within a repeated
/// eigenvalue the basis is chosen so that only the first mode is non-zero at the vertex of the largest
/// joint weight, and so on. Modes are thus the same on every processor, up to rounding, for any count. Rows
/// and columns of pinned vertices are removed from the problem, so that their weights are exactly 0 and the
/// others are complementary to the rig by themselves. Source: `[FastCD eq. 18, 21, 22]`.
///
/// # Errors
/// [`Error::TooManyModes`], [`Error::Shape`] and the like for inputs that do not fit the mesh,
/// [`Error::Numerical`], [`Error::Cancelled`].
pub fn restrained_modes(
    mesh: &TetMesh,
    material: &Material,
    count: usize,
    restraint: &Restraint<'_>,
    progress: &Progress,
) -> Result<SkinningModes> {
    ModesProblem::new(mesh, material, restraint, &Stitches::none(mesh), progress)?.lowest(count, progress)
}

/// The factored eigenproblem of skinning modes, for a first computation and for updates after small
/// changes.
///
/// The factor takes most of the memory ([`ModesProblem::bytes`]); a simulation does not need it.
pub struct ModesProblem {
    /// Eigenproblem of `H_w`, with the stitches, and `M_w`.
    pub(super) eigen: Eigenproblem,
    /// `4 mu + lambda` of each tet.
    pub(super) conductivity: Vec<f64>,
    /// The stitches in the Hessian.
    pub(super) stitches: Stitches,
    /// A at the free vertices.
    pub(super) constraint: Option<Sparse>,
}

impl ModesProblem {
    /// Assembles and factors `H_w + 3 sum_s k_s a_s a_s'` with its constraint, as in [`restrained_modes`].
    ///
    /// `H_w` is the sum of a Hessian's three diagonal blocks, and a spring's blocks are `k a a'` each.
    /// `[FastCD eq. 18]`, `[IDSR eq. 4]`
    ///
    /// # Errors
    /// [`Error::Shape`] and the like for inputs that do not fit the mesh, [`Error::Numerical`],
    /// [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        restraint: &Restraint<'_>,
        stitches: &Stitches,
        progress: &Progress,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        stitches.check_vertices(mesh.vertices().len())?;
        let free = restraint.free_vertices(mesh.vertices().len())?;
        let mass = lumped_mass(mesh, material);
        let conductivity = conductivity(mesh, material);
        let (hessian, constraint) = crate::parallel::join(
            || stitched(weight_space_hessian(mesh, &conductivity)?, stitches),
            || restraint.columns(mesh, &mass, &free, constraint),
        );
        let (hessian, constraint) = (hessian?, constraint?);
        let hessian = if free.is_whole() { hessian } else { free.square(&hessian) };
        let constraints = constraint.as_ref().map_or(0, |constraint| constraint.ncols());
        check_count(1, hessian.ncols().saturating_sub(constraints))?;
        progress.report(0.1)?;
        let shift = shift(mesh, &mass, &conductivity);
        let mass = free.values(&mass);
        let shifted = add_diagonal(&hessian, &mass, shift);
        let factor = on_pool(|| match &constraint {
            Some(constraint) => SparseCholesky::constrained(&shifted, constraint),
            None => SparseCholesky::new(&shifted),
        })?;
        progress.report(0.5)?;
        let factor = Arc::new(factor);
        let eigen = Eigenproblem { free, hessian, mass, constraints, shift, factor, openings: None };
        Ok(Self { eigen, conductivity, stitches: stitches.clone(), constraint })
    }

    /// The `count` lowest modes.
    ///
    /// # Errors
    /// [`Error::TooManyModes`], [`Error::Range`] for none, [`Error::Numerical`], [`Error::Cancelled`].
    pub fn lowest(&self, count: usize, progress: &Progress) -> Result<SkinningModes> {
        let (eigenvalues, weights) = self.eigen.lowest(count, progress)?;
        Ok(SkinningModes { weights, eigenvalues })
    }

    /// Largest possible number of modes for this mesh and constraint.
    pub fn mode_limit(&self) -> usize {
        self.eigen.limit()
    }

    /// Memory of the factor, bytes.
    pub fn bytes(&self) -> usize {
        self.eigen.factor.bytes()
    }
}

/// `4 mu + lambda` of each tet.
pub(super) fn conductivity(mesh: &TetMesh, material: &Material) -> Vec<f64> {
    (0..mesh.tets().len()).map(|t| material.weight_conductivity(t)).collect()
}

/// `H + 3 sum_s k_s a_s a_s'`.
pub(super) fn stitched(hessian: Sparse, stitches: &Stitches) -> Result<Sparse> {
    if stitches.is_empty() {
        return Ok(hessian);
    }
    let springs = stitches.laplacian(WEIGHT_SPACE);
    let failed = |why| Error::Numerical { what: "stitched Hessian", why: format!("{why:?}") };
    faer::sparse::ops::add(hessian.as_ref(), springs.as_ref()).map_err(failed)
}

/// Checks with [`Error::Range`] that `count` is between 1 and `modes`.
pub(crate) fn check_truncation(count: usize, modes: usize) -> Result<()> {
    if (1..=modes).contains(&count) {
        return Ok(());
    }
    Err(Error::Range {
        what: "count",
        expected: "at least one mode and no more than there are",
        got: count as f64,
    })
}

impl Restraint<'_> {
    /// Columns of a constraint at the free vertices; `None` without a rig.
    pub(crate) fn columns(
        &self,
        mesh: &TetMesh,
        mass: &[f64],
        free: &Selection,
        constraint: impl Fn(&TetMesh, &[f64], &Rig, &[f64]) -> Result<Sparse>,
    ) -> Result<Option<Sparse>> {
        let Some(rig) = self.rig else { return Ok(None) };
        let computed;
        let leak = match self.leak {
            Some(leak) => leak,
            None => {
                computed = momentum_leak(mesh)?;
                &computed
            }
        };
        // The constraint is built on the free vertices alone, so that its columns are independent there.
        let rig = rig.restricted(|vertex| free.contains(vertex as usize));
        let columns = constraint(mesh, mass, &rig, leak)?;
        Ok(Some(if free.is_whole() { columns } else { free.rows_of(&columns) }))
    }

    /// The free (not pinned) vertices of n.
    pub(crate) fn free_vertices(&self, n: usize) -> Result<Selection> {
        self.pinned.map_or(Ok(()), |pinned| check::length("pinned", n, pinned.len()))?;
        Ok(Selection::new(n, |vertex| self.pinned.is_none_or(|pinned| !pinned[vertex])))
    }
}

/// A hundredth of the lowest eigenvalue of a cube of the same volume; soft regions dominate the estimate.
pub(crate) fn shift(mesh: &TetMesh, mass: &[f64], conductivity: &[f64]) -> f64 {
    let volume: f64 = mesh.volumes().iter().sum();
    let compliance: f64 = mesh.volumes().iter().zip(conductivity).map(|(v, c)| v / c).sum();
    let wave_number = std::f64::consts::PI / volume.cbrt();
    SHIFT * wave_number.powi(2) * (volume / compliance) / (mass.iter().sum::<f64>() / volume)
}
