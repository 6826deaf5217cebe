//! Modes that each move one part of the body alone.

use std::f64::consts::PI;

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::ReborrowMut;
use faer::{ColRef, Mat, MatMut, MatRef, Par, Scale, Side};
use rayon::prelude::*;

use super::modes::{ModesProblem, Restraint, SkinningModes, energy, fix_signs};
use crate::material::Material;
use crate::math::dense::{add_product, inner};
use crate::math::{SparseCholesky, add_diagonal};
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::{Error, Progress, Result};

/// Eigenvalues below this share of the highest store no energy.
const ZERO: f64 = 1e-9;
/// Entries below this share of a mode's largest are not of its support.
const SUPPORT: f64 = 1e-2;
/// Alternations between two updates of the directions. More would solve more exactly for directions that change
/// anyway; with fewer there are more updates, and each costs a solve of its own.
const ALTERNATIONS: usize = 3;
/// Most updates of the directions, and the residual that ends them.
const UPDATES: usize = 300;
const TOLERANCE: f64 = 1e-3;
/// How far the directions go on beyond an update, as a share of their last change: they creep.
const MOMENTUM: f64 = 0.5;
/// How far an alternation goes beyond the weights it found; between 1 and 2.
const RELAXATION: f64 = 1.6;
/// The first positive root of `tan x = x`.
const ROOT: f64 = 4.493_409_457_909_064;
/// The penalty on the split, relative to the eigenvalue that is expected.
const PENALTY: f64 = 4.0;

/// Modes that each move one part of the body, and how good they are.
#[derive(Debug, Clone)]
pub struct LocalisedModes {
    /// The weights in the order in which they are defined, with `w' H_w w` as `eigenvalues`.
    pub modes: SkinningModes,
    /// For each mode the share of the mass where it is above a hundredth of its largest value, m.
    pub supports: Vec<f64>,
    /// Share of as many global modes V that they span, `|W' M_w V|^2 / m`.
    pub span: f64,
    /// How far any mode is from optimal, relative to its norm: the largest of the split, of its last change
    /// in units of energy, and of the last change of the mode.
    pub residual: f64,
}

/// Complementary modes of small support: mode j minimises, among what is orthogonal to those before it,
///
/// `w' H_w w / 2 + mu sum_i m_i |w_i|` subject to `w' M_w w = 1`, `A' w = 0`, `w_i = 0` where pinned.
///
/// mu is what makes a mode in a corner of flesh, where modes sit, cover the share `1 / locality` of the body;
/// in stiffer flesh a mode covers more, at the end of a thin limb less. What stores no energy (one constant a
/// part that nothing holds) is kept as it is and comes first. The problem is not convex: the modes are local
/// minima, started where the global modes give way most, and the same every time.
/// Source: `[FastCD sec. 9.5]`, iterated convexification for compressed modes.
///
/// # Errors
/// [`Error::Range`] unless the locality is positive, else as [`restrained_modes`](super::restrained_modes).
/// Modes that the iterations did not bring to a residual of 1e-3 are no error: they are complementary and
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

/// The localised modes of a problem that is assembled, with its stitches.
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
    if !(locality > 0.0 && locality.is_finite()) {
        return Err(Error::Range { what: "locality", expected: "a positive number", got: locality });
    }
    let mut global = problem.lowest(count, progress)?;
    let rows = problem.free.rows();
    global.weights = Mat::from_fn(rows.len(), count, |i, k| global.weights[(rows[i] as usize, k)]);
    let mut weights = global.weights.clone();
    let mut residual = 0.0;
    let still = global.eigenvalues.iter().filter(|&&v| v <= ZERO * global.eigenvalues[count - 1]).count();
    if still < count {
        let bump = Bump::new(mesh, material, locality);
        let penalty = PENALTY * bump.eigenvalue;
        let factor = factor(problem, penalty)?;
        let mut split = Split::new(&problem.mass, &factor, penalty, &global, still);
        residual = split.run(bump.mu, progress)?;
        weights = split.directions;
    }
    fix_signs(weights.as_mut());
    Ok(finish(problem, &global, weights, residual))
}

/// Of `H + penalty M`, bordered by the constraint.
fn factor(problem: &ModesProblem, penalty: f64) -> Result<SparseCholesky> {
    let matrix = add_diagonal(&problem.hessian, &problem.mass, penalty);
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
    let energies = energy(&problem.hessian, weights.as_ref());
    let total: f64 = problem.mass.iter().sum();
    let support = |column: ColRef<'_, f64>| {
        let least = SUPPORT * column.norm_max();
        let moved = column.iter().zip(&problem.mass).filter(|(w, _)| w.abs() > least);
        moved.map(|(_, m)| m).sum::<f64>() / total
    };
    let shared = inner(weighted(weights.as_ref(), &problem.mass).as_ref(), global.weights.as_ref());
    LocalisedModes {
        supports: weights.col_iter().map(support).collect(),
        span: shared.squared_norm_l2() / weights.ncols() as f64,
        residual,
        modes: SkinningModes {
            eigenvalues: (0..weights.ncols()).map(|k| energies[(k, k)]).collect(),
            weights: problem.free.spread(weights.as_ref()),
        },
    }
}

/// The localised mode of a corner of flesh of the body's mean stiffness: one bump in an eighth of a ball.
///
/// It solves `-D laplace w + mu = lambda w` with w and its slope 0 at the ball's surface of radius r,
/// `w = (mu / lambda) (1 - r sin(k x) / (x sin(k r)))`, `tan(k r) = k r`, `lambda = D k^2`. Its squared norm
/// is 5/2 `(mu / lambda)^2` times the mass that moves, which gives mu; its energy is 3/5 of lambda.
struct Bump {
    /// lambda, 1/s^2.
    eigenvalue: f64,
    mu: f64,
}

impl Bump {
    /// With the share `1 / locality` of the body.
    fn new(mesh: &TetMesh, material: &Material, locality: f64) -> Self {
        let mut sums = [0.0; 3];
        for (t, &volume) in mesh.volumes().iter().enumerate() {
            let conductivity = 4.0 * material.mu(t) + material.lambda(t);
            let terms = [volume, volume / conductivity, volume * material.density(t)];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
        let [volume, compliance, mass] = sums;
        let radius = (6.0 / PI * volume / locality).cbrt();
        let eigenvalue = volume / compliance / (mass / volume) * (ROOT / radius).powi(2);
        Self { eigenvalue, mu: eigenvalue / (2.5 * mass / locality).sqrt() }
    }
}

/// Alternating directions for all modes at once.
///
/// The norm and the orthogonality are replaced by `c_k' M w_j = delta_kj`, `k <= j`, with the last modes c,
/// which makes a convex problem. It is split in w, which meets the constraints, and a sparse copy of it; with
/// P the inverse of `H + penalty M` on what is complementary, `w = P M (penalty (sparse - dual) + C nu)`.
/// Mode j sees only those before it, so the multipliers of all come from the leading parts of one small
/// matrix, `C' M P M C`.
struct Split<'a> {
    mass: &'a [f64],
    /// Of `H + penalty M`, bordered by A.
    factor: &'a SparseCholesky,
    penalty: f64,
    /// The first modes are kept.
    kept: usize,
    /// C, n x m, M-orthonormal.
    directions: Mat<f64>,
    /// The others' sparse copies and scaled duals.
    sparse: Mat<f64>,
    dual: Mat<f64>,
}

/// What the directions give before the alternations.
struct Responses {
    /// `M C`.
    weighted: Mat<f64>,
    /// `P M C`.
    solved: Mat<f64>,
    /// The Cholesky factor of their product.
    gram: Mat<f64>,
}

impl<'a> Split<'a> {
    fn new(
        mass: &'a [f64],
        factor: &'a SparseCholesky,
        penalty: f64,
        global: &SkinningModes,
        kept: usize,
    ) -> Self {
        let (n, m) = (mass.len(), global.weights.ncols());
        let mut directions = Mat::zeros(n, m);
        for (place, vertex) in most_compliant(global, kept).into_iter().enumerate() {
            directions[(vertex, kept + place)] = 1.0;
        }
        factor.solve_in_place(directions.as_mut());
        directions.as_mut().subcols_mut(0, kept).copy_from(global.weights.as_ref().subcols(0, kept));
        orthonormalise(directions.as_mut(), mass, kept);
        let sparse = directions.as_ref().subcols(kept, m - kept).to_owned();
        Self { mass, factor, penalty, kept, directions, dual: Mat::zeros(n, m - kept), sparse }
    }

    /// Iterates until the modes are optimal or the updates are used up; returns the residual.
    fn run(&mut self, mu: f64, progress: &Progress) -> Result<f64> {
        let cut = mu / self.penalty;
        let mut before = self.directions.clone();
        let mut residual = 1.0_f64;
        for update in 0..UPDATES {
            progress.report(0.5 + 0.5 * update as f32 / UPDATES as f32)?;
            let responses = self.respond()?;
            let (mut weights, mut split) = self.alternate(cut, &responses);
            for _ in 1..ALTERNATIONS {
                (weights, split) = self.alternate(cut, &responses);
            }
            let used = self.directions.clone();
            self.directions.as_mut().subcols_mut(self.kept, weights.ncols()).copy_from(&weights);
            orthonormalise(self.directions.as_mut(), self.mass, self.kept);
            residual = (&self.directions - used).col_iter().fold(split, |r, c| r.max(norm(c, self.mass)));
            if residual <= TOLERANCE {
                break;
            }
            self.go_on_from(&mut before);
        }
        Ok(residual)
    }

    /// Extrapolates the directions from those that the update before found, and keeps those of this one there.
    fn go_on_from(&mut self, before: &mut Mat<f64>) {
        let now = self.directions.clone();
        self.directions += (&now - &*before) * Scale(MOMENTUM);
        orthonormalise(self.directions.as_mut(), self.mass, self.kept);
        *before = now;
    }

    fn respond(&self) -> Result<Responses> {
        let weighted = weighted(self.directions.as_ref(), self.mass);
        let mut solved = weighted.clone();
        self.factor.solve_in_place(solved.as_mut());
        let gram = inner(weighted.as_ref(), solved.as_ref());
        let failed = |error| Error::Numerical { what: "localised modes", why: format!("{error:?}") };
        let gram = gram.llt(Side::Lower).map_err(failed)?.L().to_owned();
        Ok(Responses { weighted, solved, gram })
    }

    /// One alternation; returns w and the largest of its distance to the copy and of the copy's change.
    fn alternate(&mut self, cut: f64, responses: &Responses) -> (Mat<f64>, f64) {
        let mut weights = weighted((&self.sparse - &self.dual).as_ref(), self.mass) * Scale(self.penalty);
        self.factor.solve_in_place(weights.as_mut());
        let mut multipliers = inner(responses.weighted.as_ref(), weights.as_ref());
        for (j, mut column) in multipliers.as_mut().col_iter_mut().enumerate() {
            let last = self.kept + j;
            column.rb_mut().iter_mut().for_each(|x| *x = -*x);
            column[last] += 1.0;
            column.rb_mut().subrows_mut(last + 1, responses.gram.nrows() - last - 1).fill(0.0);
            let leading = responses.gram.as_ref().submatrix(0, 0, last + 1, last + 1);
            let mut known = column.subrows_mut(0, last + 1).as_mat_mut();
            solve_lower_triangular_in_place(leading, known.rb_mut(), Par::Seq);
            solve_upper_triangular_in_place(leading.transpose(), known, Par::Seq);
        }
        add_product(weights.as_mut(), 1.0, responses.solved.as_ref(), multipliers.as_ref());
        let residual = self.shrink(weights.as_ref(), cut);
        (weights, residual)
    }

    /// Pulls the copies towards the weights and cuts them; all entries within the cut become zero.
    fn shrink(&mut self, weights: MatRef<'_, f64>, cut: f64) -> f64 {
        let mass = self.mass;
        let columns = self.sparse.as_mut().par_col_iter_mut().zip(self.dual.as_mut().par_col_iter_mut());
        let residuals: Vec<f64> = columns
            .zip(weights.par_col_iter())
            .map(|((sparse, dual), weights)| {
                let (mut apart, mut changed) = (0.0, 0.0);
                for (((sparse, dual), w), m) in
                    sparse.iter_mut().zip(dual.iter_mut()).zip(weights.iter()).zip(mass)
                {
                    let moved = RELAXATION * w + (1.0 - RELAXATION) * *sparse + *dual;
                    *dual = moved.clamp(-cut, cut);
                    let next = moved - *dual;
                    apart += m * (w - next).powi(2);
                    changed += m * (next - *sparse).powi(2);
                    *sparse = next;
                }
                f64::max(apart.sqrt(), PENALTY * changed.sqrt())
            })
            .collect();
        residuals.into_iter().fold(0.0, f64::max)
    }
}

/// The free vertices that give way most to a force, `sum_k v_ik^2 / lambda_k`, one for each mode that is not
/// kept; each time the motion that those before it make is taken out.
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

fn weighted(x: MatRef<'_, f64>, mass: &[f64]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| mass[i] * x[(i, j)])
}

fn norm(x: ColRef<'_, f64>, mass: &[f64]) -> f64 {
    x.iter().zip(mass).map(|(x, m)| m * x * x).sum::<f64>().sqrt()
}

/// Makes columns orthonormal in the mass, each to those before it (twice, against rounding); the first are
/// already.
fn orthonormalise(mut x: MatMut<'_, f64>, mass: &[f64], first: usize) {
    for j in first..x.ncols() {
        let (before, rest) = x.rb_mut().split_at_col_mut(j);
        let mut column = rest.subcols_mut(0, 1);
        for _ in 0..2 {
            let along = inner(before.as_ref(), weighted(column.as_ref(), mass).as_ref());
            add_product(column.rb_mut(), -1.0, before.as_ref(), along.as_ref());
        }
        let size = norm(column.as_ref().col(0), mass);
        column.col_mut(0).iter_mut().for_each(|x| *x /= size);
    }
}
