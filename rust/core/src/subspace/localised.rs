//! Localised modes: each moves one part of the body alone.

use std::f64::consts::PI;

use faer::{ColRef, Mat, Scale};

use super::alternating::{Problem, Split, weighted};
use super::eigenpairs::energy;
use super::modes::{ModesProblem, Restraint, SkinningModes};
use crate::material::Material;
use crate::math::dense::{add_product, inner};
use crate::math::{SparseCholesky, add_diagonal, fix_bases};
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::{Progress, Result, check};

/// Share of the highest eigenvalue below which a mode stores no energy.
const ZERO: f64 = 1e-9;
/// Share of a mode's largest entry below which an entry is outside its support.
const SUPPORT: f64 = 1e-2;
/// The first positive root of `tan x = x`.
const ROOT: f64 = 4.493_409_457_909_064;
/// ADMM penalty relative to the expected eigenvalue.
const PENALTY: f64 = 4.0;

/// Localised modes and measures of their quality.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct LocalisedModes {
    /// The weights in order of their definition, with `w' H_w w` as `eigenvalues`.
    pub modes: SkinningModes,
    /// For each mode, the share of the mass with weights above a hundredth of the largest, m.
    pub supports: Vec<f64>,
    /// Share of as many global modes V in the span of the localised ones, `|W' M_w V|^2 / m`.
    pub span: f64,
    /// Largest optimality residual over the modes, relative to a mode's norm: the maximum of the split's
    /// primal residual, its dual residual in units of energy, and the mode's last change, each at
    /// convergence.
    pub residual: f64,
}

/// Complementary modes of small support: mode j minimises, among vectors orthogonal to the modes before it,
///
/// `w' H_w w / 2 + mu sum_i m_i |w_i|` subject to `w' M_w w = 1`, `A' w = 0`, `w_i = 0` at pinned vertices.
///
/// mu is chosen so that a mode in a corner of flesh, where modes tend to sit, covers the share
/// `1 / locality` of the body; in stiffer flesh a mode covers more, at the end of a thin limb less. Modes
/// without energy (one constant per component that nothing holds) are kept as they are and come first. The
/// problem is not convex: the result is a deterministic set of local minima, started at the vertices of
/// greatest compliance. Source: `[FastCD sec. 9.5]`, iterated convexification for compressed modes.
///
/// # Errors
/// [`Error::Range`](crate::Error::Range) unless the locality is positive, else as
/// [`restrained_modes`](super::restrained_modes). Modes end at a residual of 1e-3, or of 1e-2 if their energy
/// no longer changes. A larger residual after the last iteration is no error: the modes are complementary and
/// orthonormal all the same.
pub fn localised_modes(
    mesh: &TetMesh,
    material: &Material,
    count: usize,
    locality: f64,
    restraint: &Restraint<'_>,
    progress: &Progress,
) -> Result<LocalisedModes> {
    let problem = ModesProblem::new(mesh, material, restraint, &Stitches::none(mesh), progress)?;
    localise(&problem, mesh, material, count, locality, progress)
}

/// Localised modes of an assembled problem, with its stitches.
///
/// # Errors
/// As [`localised_modes`].
pub(crate) fn localise(
    problem: &ModesProblem,
    mesh: &TetMesh,
    material: &Material,
    count: usize,
    locality: f64,
    progress: &Progress,
) -> Result<LocalisedModes> {
    check::range("locality", "a positive number", locality, check::is_positive(locality))?;
    let mut global = problem.lowest(count, progress)?;
    let rows = problem.eigen.free.rows();
    global.weights = Mat::from_fn(rows.len(), count, |i, k| global.weights[(rows[i] as usize, k)]);
    let mut weights = global.weights.clone();
    let mut residual = 0.0;
    let still = global.eigenvalues.iter().filter(|&&v| v <= ZERO * global.eigenvalues[count - 1]).count();
    if still < count {
        let bump = Bump::new(mesh, material, locality);
        (weights, residual) = confine(problem, &global, still, &bump, progress)?;
    }
    fix_bases(weights.as_mut(), |_| false);
    Ok(finish(problem, &global, weights, residual))
}

/// Localised modes for a bump's mu, after the `kept` leading ones, and their residual.
fn confine(
    problem: &ModesProblem,
    global: &SkinningModes,
    kept: usize,
    bump: &Bump,
    progress: &Progress,
) -> Result<(Mat<f64>, f64)> {
    let penalty = PENALTY * bump.eigenvalue;
    let factor = factor(problem, penalty)?;
    let order: Vec<usize> = factor.order().iter().map(|&row| row as usize).collect();
    let mass: Vec<f64> = order.iter().map(|&row| problem.eigen.mass[row]).collect();
    let mut start = Mat::zeros(mass.len(), global.weights.ncols());
    for (place, vertex) in most_compliant(global, kept).into_iter().enumerate() {
        start[(vertex, kept + place)] = 1.0;
    }
    factor.solve_in_place(start.as_mut());
    start.as_mut().subcols_mut(0, kept).copy_from(global.weights.as_ref().subcols(0, kept));
    let start = Mat::from_fn(mass.len(), start.ncols(), |i, k| start[(order[i], k)]);
    let confined = Problem { factor: &factor, mass: &mass, mu: bump.mu, penalty, relative_penalty: PENALTY };
    let (ordered, residual) = Split::new(&confined, start, kept)?.run(progress)?;
    let mut weights = Mat::zeros(mass.len(), ordered.ncols());
    for (mut column, ordered) in weights.col_iter_mut().zip(ordered.col_iter()) {
        order.iter().zip(ordered.iter()).for_each(|(&row, w)| column[row] = *w);
    }
    Ok((weights, residual))
}

/// Factor of `H + penalty M`, bordered by the constraint.
fn factor(problem: &ModesProblem, penalty: f64) -> Result<SparseCholesky> {
    let matrix = add_diagonal(&problem.eigen.hessian, &problem.eigen.mass, penalty);
    match &problem.constraint {
        Some(constraint) => SparseCholesky::constrained(&matrix, constraint),
        None => SparseCholesky::new(&matrix),
    }
}

fn finish(
    problem: &ModesProblem,
    global: &SkinningModes,
    weights: Mat<f64>,
    residual: f64,
) -> LocalisedModes {
    let energies = energy(&problem.eigen.hessian, weights.as_ref());
    let total: f64 = problem.eigen.mass.iter().sum();
    let support = |column: ColRef<'_, f64>| {
        let least = SUPPORT * column.norm_max();
        let moved = column.iter().zip(&problem.eigen.mass).filter(|(w, _)| w.abs() > least);
        moved.map(|(_, m)| m).sum::<f64>() / total
    };
    let shared = inner(weighted(weights.as_ref(), &problem.eigen.mass).as_ref(), global.weights.as_ref());
    LocalisedModes {
        supports: weights.col_iter().map(support).collect(),
        span: shared.squared_norm_l2() / weights.ncols() as f64,
        residual,
        modes: SkinningModes {
            eigenvalues: (0..weights.ncols()).map(|k| energies[(k, k)]).collect(),
            weights: problem.eigen.free.spread(weights.as_ref()),
        },
    }
}

/// Analytic localised mode in a corner of flesh of the body's mean stiffness: one bump in an eighth of a
/// ball.
///
/// It solves `-D laplace w + mu = lambda w` with w and its slope 0 at the ball's surface of radius r:
/// `w = (mu / lambda) (1 - r sin(k x) / (x sin(k r)))`, `tan(k r) = k r`, `lambda = D k^2`. Its squared
/// norm is 5/2 `(mu / lambda)^2` times the mass of its support, which gives mu; its energy is 3/5 of
/// lambda.
struct Bump {
    /// lambda, 1/s^2.
    eigenvalue: f64,
    mu: f64,
}

impl Bump {
    /// The bump that covers the share `1 / locality` of the body.
    fn new(mesh: &TetMesh, material: &Material, locality: f64) -> Self {
        let mut sums = [0.0; 3];
        for (t, &volume) in mesh.volumes().iter().enumerate() {
            let conductivity = material.weight_conductivity(t);
            let terms = [volume, volume / conductivity, volume * material.density(t)];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        let [volume, compliance, mass] = sums;
        let radius = (6.0 / PI * volume / locality).cbrt();
        let eigenvalue = volume / compliance / (mass / volume) * (ROOT / radius).powi(2);
        Self { eigenvalue, mu: eigenvalue / (2.5 * mass / locality).sqrt() }
    }
}

/// The free vertices of greatest compliance `sum_k v_ik^2 / lambda_k`, one for each mode that is not kept;
/// the motion of each vertex chosen is projected out before the next choice.
fn most_compliant(global: &SkinningModes, kept: usize) -> Vec<usize> {
    let count = global.weights.ncols() - kept;
    let mut motions = global.weights.subcols(kept, count).to_owned();
    for (mut column, value) in motions.as_mut().col_iter_mut().zip(&global.eigenvalues[kept..]) {
        column *= Scale(1.0 / value.sqrt());
    }
    let next = |_| {
        let sizes = motions.row_iter().map(|row| row.squared_norm_l2());
        let (best, size) =
            sizes.enumerate().fold((0, 0.0), |best, (i, size)| if size > best.1 { (i, size) } else { best });
        let direction = motions.row(best).transpose().to_owned() * Scale(1.0 / size.sqrt());
        let along = &motions * direction.as_mat();
        add_product(motions.as_mut(), -1.0, along.as_ref(), direction.as_mat().transpose());
        best
    };
    (0..count).map(next).collect()
}
