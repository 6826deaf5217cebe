//! Linear modes, the small vibrations of a body, and modal derivatives, its second-order deflections
//! `[MOR sec. 3.1, 3.4]`.

use std::sync::Arc;

use faer::{ColRef, Mat, MatRef};
use nalgebra::Vector3;

use super::cut_mesh::Cut;
use super::edits::Edits;
use super::flesh::{Flesh, LinearModes, pairs};
use super::modes::Restraint;
use super::principal::{Basis, leading_pca};
use super::update::Seam;
use super::warping::{Warping, WarpingMethod};
use crate::material::Material;
use crate::mesh::TetMesh;
use crate::operators::{Stitches, displacement_constraint, lumped_mass};
use crate::parallel::on_pool;
use crate::{Error, Progress, Result};

/// Amplitude of the slowest deforming mode for which a basis is built, as a share of the body's diagonal.
const AMPLITUDE: f64 = 0.25;
/// Number of a stitched body's modes with derivatives of their own, beside those taken over.
const OWN: usize = 5;
/// Share of the unstitched body's derivatives that is taken over.
const TAKEN: f64 = 0.4;

impl LinearModes {
    /// Frequencies `sqrt(lambda) / 2 pi`, k, Hz.
    pub fn frequencies(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|value| value.max(0.0).sqrt() / std::f64::consts::TAU).collect()
    }

    /// The modes as a displacement basis.
    pub fn basis(&self) -> Basis {
        Basis { columns: self.shapes.clone(), singular_values: Vec::new() }
    }
}

/// The factored eigenproblem of small vibrations, `K psi = lambda M psi`, with K the Hessian of the elastic
/// energy at rest.
///
/// Problems made by [`stitched`](Self::stitched), [`stiffened`](Self::stiffened) and [`cut`](Self::cut)
/// share the original's factor.
///
/// ```
/// use jounce::material::{Field, Law, Material};
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::operators::Stitches;
/// use jounce::subspace::{LinearProblem, Restraint};
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let [young, poisson, density] = [1e5, 0.3, 1000.0].map(Field::Uniform);
/// let rubber = Material::new(Law::NeoHookean, young, poisson, density)?;
/// let (free, none) = (Restraint::default(), Stitches::none(&mesh));
/// let modes = LinearProblem::new(&mesh, &rubber, &free, &none, &progress)?.lowest(8, &progress)?;
/// // Six rigid motions, then the first bending of the bar.
/// let frequencies = modes.frequencies();
/// assert!(frequencies[5] < 1e-3 * frequencies[6]);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Clone)]
pub struct LinearProblem {
    pub(super) flesh: Arc<Flesh>,
    /// Changes since the factorisation.
    pub(super) edits: Option<Edits>,
    /// Difference between the body and its factor, if this is one of stitches alone.
    pub(super) seam: Option<Seam>,
}

impl LinearProblem {
    /// Assembles and factors the problem without the coordinates of pinned vertices, bordered by the
    /// complementarity to a rig `B'(1 - leak) M psi = 0` if there is one. Stitches add `sum_s k_s a_s a_s'`
    /// for each coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] and the like for inputs that do not fit the mesh, [`Error::Range`] if all vertices
    /// are pinned, [`Error::Numerical`], [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        restraint: &Restraint<'_>,
        stitches: &Stitches,
        progress: &Progress,
    ) -> Result<Self> {
        material.check_tet_count(mesh.tets().len())?;
        let n = mesh.vertices().len();
        stitches.check_vertices(n)?;
        let vertices = restraint.free_vertices(n)?;
        if vertices.rows().is_empty() {
            return Err(Error::Range { what: "pinned", expected: "a vertex that moves", got: n as f64 });
        }
        let lumped = lumped_mass(mesh, material);
        let constraint = restraint.columns(mesh, &lumped, &vertices, displacement_constraint)?;
        progress.report(0.1)?;
        let (body, held) = ((mesh.clone(), material.clone()), (&vertices, constraint));
        let flesh = Flesh::new(body, held, stitches.clone(), None, progress)?;
        Ok(Self { flesh: Arc::new(flesh), edits: None, seam: None })
    }

    /// Mesh of the vibrating body.
    pub fn mesh(&self) -> &TetMesh {
        self.cut_so_far().map_or(&self.flesh.mesh, |cut| &cut.mesh)
    }

    /// Cut of the mesh since the factorisation.
    fn cut_so_far(&self) -> Option<&Cut> {
        self.edits.as_ref().and_then(|edits| edits.edit.cut.as_deref())
    }

    /// Lumped masses of the vertices, n, kg.
    pub fn masses(&self) -> Vec<f64> {
        lumped_mass(self.mesh(), &self.flesh.material)
    }

    /// Memory of the factor, bytes.
    pub fn bytes(&self) -> usize {
        self.flesh.swings.factor.bytes()
    }

    /// Warping that turns modal amplitudes into large bends and twists; pinned vertices stay.
    ///
    /// # Errors
    /// As [`Warping::new`].
    pub fn warping(&self, modes: &LinearModes, method: WarpingMethod) -> Result<Warping> {
        let mesh = self.mesh();
        let free = self.flesh.vertices(self.cut_so_far());
        let pinned: Vec<bool> = (0..mesh.vertices().len()).map(|vertex| !free.contains(vertex)).collect();
        Warping::new(mesh, modes.shapes.as_ref(), &pinned, method)
    }

    /// The `count` lowest modes of the body as factored; rigid motions come first where nothing holds it.
    ///
    /// Signs and the bases of repeated eigenvalues follow [`restrained_modes`](super::restrained_modes).
    ///
    /// # Errors
    /// [`Error::TooManyModes`], [`Error::Range`] for none, [`Error::Numerical`], [`Error::Cancelled`].
    pub fn lowest(&self, count: usize, progress: &Progress) -> Result<LinearModes> {
        self.flesh.swings.lowest_swings(count, progress)
    }

    /// Modal derivatives: `K Phi^ij = -(H : psi_j) psi_i` with H the second derivative of the elastic
    /// forces at rest, so that `p -> Psi p + 1/2 sum_ij p_i p_j Phi^ij` is the response to the force
    /// `M Psi Lambda p` up to third order. Shape 3n x k (k + 1) / 2, one column per pair i <= j: (0, 0),
    /// (0, 1) and so on, m/kg. `[MOR eq. 13-16]`
    ///
    /// The body's inertia balances forces that would move it as a whole. A body that was
    /// stiffened or cut is factored anew for the first of its derivatives.
    ///
    /// # Errors
    /// [`Error::Shape`] for modes of another mesh; [`Error::Numerical`] if there are more rigid motions
    /// than among the given modes; [`Error::Cancelled`].
    pub fn derivatives(&self, modes: &LinearModes, progress: &Progress) -> Result<Mat<f64>> {
        self.check_modes(modes)?;
        let flesh = self.factored(progress)?;
        let loads = flesh.bending_loads(modes, &pairs(modes.eigenvalues.len()), progress)?;
        let solved = on_pool(|| match &self.seam {
            None => flesh.static_response(modes, loads, progress),
            Some(seam) => seam.static_response(flesh, loads, progress),
        })?;
        Ok(flesh.swings.free.spread(solved.as_ref()))
    }

    /// The `count` displacements that best span the body's slow motion, large bends included: mass-PCA of
    /// modes and derivatives, weighted towards low frequencies by `p l_1 / l_j psi_j` and
    /// `p^2 / 2 l_1^2 / (l_i l_j) Phi^ij`, where p moves the slowest deforming mode by a quarter of the
    /// diagonal. `[MOR eq. 17, 18]`
    ///
    /// # Errors
    /// As [`derivatives`](Self::derivatives) and [`mass_pca`](super::mass_pca); [`Error::Unsupported`] if
    /// no mode deforms the body.
    pub fn bent_basis(&self, modes: &LinearModes, count: usize, progress: &Progress) -> Result<Basis> {
        self.check_modes(modes)?;
        let mut shapes = Weighted::new(self, modes)?;
        let derivatives = self.derivatives(modes, progress)?;
        shapes.add_derivatives(derivatives.as_ref(), &pairs(modes.eigenvalues.len()), &modes.eigenvalues);
        leading_pca(self.mesh(), &self.flesh.material, &shapes.columns, count, progress)
    }

    /// As [`bent_basis`](Self::bent_basis), of a stitched body: with derivatives of its first five
    /// deforming modes and, taken over without a solve, two fifths of the unstitched body's derivatives,
    /// those with the smallest `l_i l_j`. `[IDSR sec. 4.2.1, 4.2.2]`
    ///
    /// # Errors
    /// As [`bent_basis`](Self::bent_basis) and [`carried_derivatives`](Self::carried_derivatives).
    pub fn carried_basis(
        &self,
        modes: &LinearModes,
        derivatives: MatRef<'_, f64>,
        count: usize,
        progress: &Progress,
    ) -> Result<Basis> {
        self.check_modes(modes)?;
        let mut shapes = Weighted::new(self, modes)?;
        let seam = self.seam()?;
        let own = OWN.min(modes.eigenvalues.len() - shapes.first);
        let few = LinearModes {
            shapes: modes.shapes.subcols(shapes.first, own).to_owned(),
            eigenvalues: modes.eigenvalues[shapes.first..][..own].to_vec(),
        };
        let values = &seam.modes.eigenvalues;
        let all = pairs(values.len());
        seam.check_derivatives(derivatives)?;
        let swings = &self.flesh.swings;
        let mut taken: Vec<usize> = (0..all.len())
            .filter(|&pair| all[pair].iter().all(|&mode| swings.deforms(values[mode])))
            .collect();
        let product = |pair: usize| values[all[pair][0]] * values[all[pair][1]];
        taken.sort_by(|&a, &b| product(a).total_cmp(&product(b)));
        taken.truncate((TAKEN * taken.len() as f64) as usize);
        let old = Mat::from_fn(derivatives.nrows(), taken.len(), |i, j| derivatives[(i, taken[j])]);
        let taken: Vec<[usize; 2]> = taken.into_iter().map(|pair| all[pair]).collect();
        // New and old derivatives in one call, because both need the response to the stitches.
        let own = pairs(own);
        let joined = on_pool(|| {
            let fresh = self.flesh.bending_loads(&few, &own, progress)?;
            let known = [
                self.flesh.static_response(&seam.modes, fresh.clone(), progress)?,
                self.flesh.swings.free.rows_of_dense(old.as_ref()),
            ];
            let loads = || Ok(beside(&[fresh, self.flesh.bending_loads(&seam.modes, &taken, progress)?]));
            seam.join(&self.flesh, beside(&known), loads, progress)
        })?;
        let (fresh, carried) = joined.as_ref().split_at_col(own.len());
        let spread = |joined| self.flesh.swings.free.spread(joined);
        shapes.add_derivatives(spread(fresh).as_ref(), &own, &few.eigenvalues);
        shapes.add_derivatives(spread(carried).as_ref(), &taken, values);
        leading_pca(self.mesh(), &self.flesh.material, &shapes.columns, count, progress)
    }

    /// Derivatives of the body as factored, updated to the current stitches without a solve per column:
    /// `(K + A k A')^-1` of their right-hand sides. `[IDSR eq. 13]`
    ///
    /// `Phi - Y f + R y` with `Y = K^-1 A`, R the rigid motions of components that the stitches hold, and
    /// stitch forces f such that `(k^-1 + A'Y) f - A'R y = A'Phi` and `R'A f = R'b`, where b is the
    /// right-hand side.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a body that was not stitched, and if removed stitches set a component
    /// free; [`Error::Shape`] for derivatives of modes other than the ones it was stitched from;
    /// [`Error::Numerical`]; [`Error::Cancelled`].
    pub fn carried_derivatives(&self, derivatives: MatRef<'_, f64>, progress: &Progress) -> Result<Mat<f64>> {
        let (seam, flesh) = (self.seam()?, &self.flesh);
        seam.check_derivatives(derivatives)?;
        let old = flesh.swings.free.rows_of_dense(derivatives);
        let all = pairs(seam.modes.eigenvalues.len());
        let loads = || flesh.bending_loads(&seam.modes, &all, progress);
        let joined = on_pool(|| seam.join(flesh, old, loads, progress))?;
        Ok(flesh.swings.free.spread(joined.as_ref()))
    }

    fn seam(&self) -> Result<&Seam> {
        let why = if self.edits.is_some() {
            "a cut or another stiffness changes their right-hand sides; leave out those from before"
        } else {
            "the body was not stitched after it was factored; its own derivatives are what it has"
        };
        self.seam.as_ref().ok_or(Error::Unsupported { what: "derivatives", why })
    }

    /// Checks with [`Error::Shape`] that the modes belong to this mesh.
    pub(super) fn check_modes(&self, modes: &LinearModes) -> Result<()> {
        let (rows, shape) = (3 * self.mesh().vertices().len(), modes.shapes.shape());
        if shape == (rows, modes.eigenvalues.len()) {
            return Ok(());
        }
        let expected = format!("({rows}, {})", modes.eigenvalues.len());
        Err(Error::Shape { what: "modes", expected, got: format!("({}, {})", shape.0, shape.1) })
    }
}

/// Columns of modes and derivatives, weighted towards low frequencies.
struct Weighted {
    /// Index of the first deforming mode.
    first: usize,
    /// Amplitude of that mode.
    amplitude: f64,
    slowest: f64,
    /// Eigenvalue up to which a mode counts as rigid.
    rigid: f64,
    columns: Vec<f64>,
}

impl Weighted {
    /// Starts with the modes.
    fn new(problem: &LinearProblem, modes: &LinearModes) -> Result<Self> {
        let k = modes.eigenvalues.len();
        let swings = &problem.flesh.swings;
        let Some(first) = (0..k).find(|&mode| swings.deforms(modes.eigenvalues[mode])) else {
            let why = "none of them deforms the body; take more, or pin a part of it";
            return Err(Error::Unsupported { what: "modes", why });
        };
        let amplitude = AMPLITUDE * problem.mesh().diagonal() / longest(modes.shapes.col_as_slice(first));
        let slowest = modes.eigenvalues[first];
        let mut made = Self { first, amplitude, slowest, rigid: swings.rigid(), columns: Vec::new() };
        for mode in first..k {
            made.add(made.share(modes.eigenvalues[mode]), modes.shapes.col(mode));
        }
        Ok(made)
    }

    fn add_derivatives(&mut self, derivatives: MatRef<'_, f64>, pairs: &[[usize; 2]], values: &[f64]) {
        for (column, [i, j]) in derivatives.col_iter().zip(pairs) {
            let weight = 0.5 * self.share(values[*i]) * self.share(values[*j]);
            if weight > 0.0 {
                self.add(weight, column);
            }
        }
    }

    fn add(&mut self, weight: f64, column: ColRef<'_, f64>) {
        self.columns.extend(column.iter().map(|x| weight * x));
    }

    fn share(&self, value: f64) -> f64 {
        if value > self.rigid { self.amplitude * self.slowest / value } else { 0.0 }
    }
}

/// Columns of two matrices side by side.
fn beside(matrices: &[Mat<f64>; 2]) -> Mat<f64> {
    let [left, right] = matrices;
    let first = left.ncols();
    Mat::from_fn(left.nrows(), first + right.ncols(), |i, j| {
        if j < first { left[(i, j)] } else { right[(i, j - first)] }
    })
}

fn longest(shape: &[f64]) -> f64 {
    shape.as_chunks::<3>().0.iter().map(|u| Vector3::from(*u).norm()).fold(0.0, f64::max)
}
