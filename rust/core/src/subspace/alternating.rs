//! Alternating minimisation for localised modes (ADMM with momentum).

use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{ColRef, Mat, MatMut, MatRef, Par, Side};

use crate::math::dense::{add_product, inner};
use crate::math::{Scratch, SparseCholesky};
use crate::parallel::*;
use crate::{Error, Progress, Result};

/// ADMM iterations between two updates of the directions. More iterations solve more exactly for directions
/// that change anyway; fewer mean more updates, each of which costs a solve of its own.
const ALTERNATIONS: usize = 3;
/// Maximum number of updates of the directions.
const UPDATES: usize = 300;
/// Residual at which a mode has converged.
const TOLERANCE: f64 = 1e-3;
/// Largest residual of a converged mode with hardly any change of energy: such modes keep drifting through
/// flesh of nearly uniform stiffness.
const CREEPING: f64 = 1e-2;
/// Largest relative energy change per update for a mode to count as drifting.
const FLAT: f64 = 3e-4;
/// Largest relative change of the total energy between two reviews at which the iteration stops, once all
/// modes are below [`CREEPING`].
const FLAT_REVIEW: f64 = 1e-3;
/// Number of updates between two reviews, which make converged modes move again because the modes before
/// them may have changed.
const REVIEW: usize = 8;
/// Upper bound of the momentum, the extrapolated share of a direction's last change.
const MOMENTUM: f64 = 0.8;
/// Over-relaxation factor of ADMM, between 1 and 2.
const RELAXATION: f64 = 1.6;
/// Rows per parallel task.
const CHUNK: usize = 4096;

/// Minimisation problem of the localised modes, and its splitting. Rows are in the factor's order.
pub(super) struct Problem<'a> {
    /// Factor of `H + penalty M`, bordered by A.
    pub factor: &'a SparseCholesky,
    /// Diagonal of M.
    pub mass: &'a [f64],
    /// Weight of the L1 norm.
    pub mu: f64,
    /// ADMM penalty, 1/s^2.
    pub penalty: f64,
    /// Penalty in units of the expected eigenvalue.
    pub relative_penalty: f64,
}

/// ADMM iteration for all modes at once.
///
/// The constraints on norm and orthogonality are replaced by `c_k' M w_j = delta_kj`, `k <= j`, with the
/// previous iterate C of the modes, which makes the problem convex. The variable is split into w, which
/// satisfies the constraints, and a sparse copy of it. With P the inverse of `H + penalty M` on the
/// complementary space, `w = P M (penalty (sparse - dual) + C nu)`. Mode j is constrained only by the modes
/// up to j, so the multipliers of all modes come from the leading blocks of one small matrix, `C' M P M C`.
/// Converged modes are left out until the others have converged.
pub(super) struct Split<'a> {
    problem: &'a Problem<'a>,
    /// The modes after the fixed leading ones.
    modes: Vec<Mode>,
    /// C, n x m, M-orthonormal; then `M C` and `P M C`.
    directions: Mat<f64>,
    weighted: Mat<f64>,
    solved: Mat<f64>,
    /// Cholesky factor of `C' M P M C`.
    gram: Mat<f64>,
    /// Weights w of the moving modes, n per mode, one mode after the other.
    weights: Vec<f64>,
    scratch: Scratch,
}

impl<'a> Split<'a> {
    /// Starts from linearly independent columns, of which the first `kept` are M-orthonormal and stay
    /// fixed.
    ///
    /// # Errors
    /// [`Error::Numerical`] for linearly dependent columns.
    pub fn new(problem: &'a Problem<'a>, start: Mat<f64>, kept: usize) -> Result<Self> {
        let (n, m) = (start.nrows(), start.ncols());
        let weighted = weighted(start.as_ref(), problem.mass);
        let (mut solved, mut scratch) = (weighted.clone(), Scratch::default());
        problem.factor.solve_ordered(&mut scratch, |_| 1.0, solved.as_mut());
        let (weights, gram) = (vec![0.0; n * (m - kept)], Mat::zeros(m, m));
        let mut split =
            Self { problem, modes: Vec::new(), directions: start, weighted, solved, gram, weights, scratch };
        split.orthonormalise()?;
        split.modes =
            (kept..m).map(|column| Mode::new(column, split.directions.col_as_slice(column))).collect();
        Ok(split)
    }

    /// Iterates until all modes have converged or the updates are used up. Returns the modes and the
    /// residual.
    ///
    /// # Errors
    /// [`Error::Numerical`], [`Error::Cancelled`].
    pub fn run(mut self, progress: &Progress) -> Result<(Mat<f64>, f64)> {
        let mut reviewed = f64::INFINITY;
        for update in 1..=UPDATES {
            progress.report(0.5 + 0.5 * update as f32 / UPDATES as f32)?;
            for _ in 0..ALTERNATIONS {
                self.alternate();
            }
            let whole = self.modes.iter().all(|mode| mode.moves);
            self.turn()?;
            let rest = self.modes.iter().all(|mode| !mode.moves);
            if rest && whole {
                break;
            }
            if rest || update % REVIEW == 0 {
                let energy = self.modes.iter().map(|mode| mode.energy).sum::<f64>();
                if self.residual() <= CREEPING && (energy - reviewed).abs() <= FLAT_REVIEW * energy {
                    break;
                }
                reviewed = energy;
                self.modes.iter_mut().for_each(|mode| mode.moves = true);
            }
        }
        let residual = self.residual();
        for mode in &self.modes {
            self.directions.col_as_slice_mut(mode.column).copy_from_slice(&mode.weights);
        }
        // Two passes, against rounding.
        for _ in 0..2 {
            let weighted = weighted(self.directions.as_ref(), self.problem.mass);
            let lower = cholesky(inner(weighted.as_ref(), self.directions.as_ref()).as_ref())?;
            divide(&mut self.directions, &lower);
        }
        Ok((self.directions, residual))
    }

    fn residual(&self) -> f64 {
        self.modes.iter().fold(0.0, |residual, mode| mode.residual.max(residual))
    }

    /// One ADMM iteration of the moving modes.
    fn alternate(&mut self) {
        let problem = self.problem;
        let n = problem.mass.len();
        let mut moving: Vec<&mut Mode> = self.modes.iter_mut().filter(|mode| mode.moves).collect();
        let count = moving.len();
        let columns = self.weights.par_chunks_exact_mut(n);
        columns.zip(&moving).for_each(|(w, mode)| mode.load(problem, w));
        let mut weights = MatMut::from_column_major_slice_mut(&mut self.weights[..n * count], n, count);
        problem.factor.solve_ordered(&mut self.scratch, |_| 1.0, weights.rb_mut());
        let mut multipliers = inner(self.weighted.as_ref(), weights.rb());
        for (mode, mut column) in moving.iter_mut().zip(multipliers.as_mut().col_iter_mut()) {
            column.rb_mut().iter_mut().for_each(|x| *x = -*x);
            column[mode.column] += 1.0;
            column.rb_mut().subrows_mut(mode.column + 1, self.gram.nrows() - mode.column - 1).fill(0.0);
            let leading = self.gram.as_ref().submatrix(0, 0, mode.column + 1, mode.column + 1);
            let mut known = column.rb_mut().subrows_mut(0, mode.column + 1).as_mat_mut();
            solve_lower_triangular_in_place(leading, known.rb_mut(), Par::Seq);
            solve_upper_triangular_in_place(leading.transpose(), known, Par::Seq);
            mode.multiplier = column[mode.column];
        }
        add_product(weights, 1.0, self.solved.as_ref(), multipliers.as_ref());
        let columns = self.weights.par_chunks_exact(n);
        columns.zip(&mut moving).for_each(|(w, mode)| mode.shrink(problem, w));
    }

    /// Moves the directions of the moving modes to their weights, extrapolated by momentum.
    fn turn(&mut self) -> Result<()> {
        let problem = self.problem;
        let n = problem.mass.len();
        let mut moving: Vec<&mut Mode> = self.modes.iter_mut().filter(|mode| mode.moves).collect();
        let count = moving.len();
        let directions = self.directions.as_ref();
        self.weights.par_chunks_exact_mut(n).zip(&mut moving).for_each(|(w, mode)| {
            mode.extrapolate(problem, directions.col(mode.column), w);
        });
        for (w, mode) in self.weights.chunks_exact_mut(n).zip(&moving) {
            self.directions.col_as_slice_mut(mode.column).copy_from_slice(w);
            w.iter_mut().zip(problem.mass).for_each(|(w, m)| *w *= m);
            self.weighted.col_as_slice_mut(mode.column).copy_from_slice(w);
        }
        let responses = MatMut::from_column_major_slice_mut(&mut self.weights[..n * count], n, count);
        problem.factor.solve_ordered(&mut self.scratch, |_| 1.0, responses);
        for (w, mode) in self.weights.chunks_exact(n).zip(&moving) {
            self.solved.col_as_slice_mut(mode.column).copy_from_slice(w);
        }
        self.orthonormalise()
    }

    /// Makes each direction M-orthonormal to those before it, and transforms the derived columns in the
    /// same way.
    fn orthonormalise(&mut self) -> Result<()> {
        let lower = cholesky(inner(self.weighted.as_ref(), self.directions.as_ref()).as_ref())?;
        for columns in [&mut self.directions, &mut self.weighted, &mut self.solved] {
            divide(columns, &lower);
        }
        self.gram = cholesky(inner(self.weighted.as_ref(), self.solved.as_ref()).as_ref())?;
        Ok(())
    }
}

/// State of one mode in the iteration.
struct Mode {
    /// The mode's column in C.
    column: usize,
    moves: bool,
    sparse: Vec<f64>,
    /// Scaled dual variable.
    dual: Vec<f64>,
    /// Weights at the last update, and their change since the update before.
    weights: Vec<f64>,
    change: Vec<f64>,
    /// Number of consecutive updates in the same direction.
    straight: u32,
    /// Multiplier of the norm constraint.
    multiplier: f64,
    /// M-norms, at the last iteration, of the weights minus the sparse copy and of the copy's change.
    apart: f64,
    changed: f64,
    /// `w' H w` at the last iteration; then the same at the last update, scaled to unit norm.
    stored: f64,
    energy: f64,
    residual: f64,
}

impl Mode {
    fn new(column: usize, weights: &[f64]) -> Self {
        Self {
            column,
            moves: true,
            sparse: weights.to_vec(),
            dual: vec![0.0; weights.len()],
            weights: weights.to_vec(),
            change: vec![0.0; weights.len()],
            straight: 0,
            multiplier: 0.0,
            apart: 0.0,
            changed: 0.0,
            stored: 0.0,
            energy: f64::INFINITY,
            residual: 1.0,
        }
    }

    /// `penalty M (sparse - dual)`.
    fn load(&self, problem: &Problem<'_>, w: &mut [f64]) {
        for (((w, sparse), dual), mass) in w.iter_mut().zip(&self.sparse).zip(&self.dual).zip(problem.mass) {
            *w = problem.penalty * mass * (sparse - dual);
        }
    }

    /// Soft threshold: moves the sparse copy towards the weights; entries within the threshold become zero.
    fn shrink(&mut self, problem: &Problem<'_>, w: &[f64]) {
        let cut = problem.mu / problem.penalty;
        let (mut apart, mut changed, mut pull) = (0.0, 0.0, 0.0);
        let copies = self.sparse.iter_mut().zip(&mut self.dual);
        for (((sparse, dual), w), m) in copies.zip(w).zip(problem.mass) {
            pull += m * w * (*sparse - *dual - w);
            let moved = RELAXATION * w + (1.0 - RELAXATION) * *sparse + *dual;
            *dual = moved.clamp(-cut, cut);
            let next = moved - *dual;
            apart += m * (w - next).powi(2);
            changed += m * (next - *sparse).powi(2);
            *sparse = next;
        }
        (self.apart, self.changed) = (apart.sqrt(), changed.sqrt());
        // w' (H + penalty M) w = penalty w' M (sparse - dual) + multiplier.
        self.stored = self.multiplier + problem.penalty * pull;
    }

    /// Replaces the weights by the next direction. The mode stops moving once it has converged.
    fn extrapolate(&mut self, problem: &Problem<'_>, direction: ColRef<'_, f64>, w: &mut [f64]) {
        let (mut turned, mut along, mut size) = (0.0, 0.0, 0.0);
        let changes = self.weights.iter_mut().zip(&mut self.change);
        for (((w, (before, change)), c), m) in w.iter().zip(changes).zip(direction.iter()).zip(problem.mass) {
            let next = w - *before;
            turned += m * (w - c).powi(2);
            along += m * next * *change;
            size += m * w * w;
            (*before, *change) = (*w, next);
        }
        let energy = self.stored / size;
        let flat = (energy - self.energy).abs() <= FLAT * energy;
        self.energy = energy;
        self.residual = self.apart.max(problem.relative_penalty * self.changed).max(turned.sqrt());
        self.moves = self.residual > if flat { CREEPING } else { TOLERANCE };
        self.straight = if along > 0.0 { self.straight + 1 } else { 0 };
        let straight = f64::from(self.straight);
        let beyond = if self.moves { MOMENTUM.min(straight / (straight + 3.0)) } else { 0.0 };
        w.iter_mut().zip(&self.change).for_each(|(w, change)| *w += beyond * change);
    }
}

/// `M X`.
pub(super) fn weighted(x: MatRef<'_, f64>, mass: &[f64]) -> Mat<f64> {
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| mass[i] * x[(i, j)])
}

/// `X = X L'^-1`.
fn divide(columns: &mut Mat<f64>, lower: &Mat<f64>) {
    columns.as_mut().par_row_chunks_mut(CHUNK).for_each(|rows| {
        solve_lower_triangular_in_place(lower.as_ref(), rows.transpose_mut(), Par::Seq);
    });
}

fn cholesky(gram: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let failed = |_| Error::Numerical { what: "localised modes", why: "modes became dependent".into() };
    Ok(gram.llt(Side::Lower).map_err(failed)?.L().to_owned())
}
