//! Modes of a body with other stitches, from those it had before.

use faer::{Mat, MatRef};

use super::modes::{ModesProblem, SkinningModes, WEIGHT_SPACE, check_truncation, fix_signs, images};
use crate::math::Sparse;
use crate::math::dense::{add_product, inner, product, symmetric_eigen};
use crate::operators::Stitches;
use crate::{Error, Result};

/// Directions of which less than this share of the squared mass norm is independent are left out.
const DEPENDENT: f64 = 1e-10;

/// Residual at which modes are good enough.
const GOOD: f64 = 5e-3;
/// Times that the basis is widened by what the residuals ask for.
const MOST_ROUNDS: usize = 2;

/// Modes found by an update, and how good they are.
#[derive(Debug, Clone)]
pub struct ModesUpdate {
    /// The modes: orthonormal in the mass, and complementary to the rig as exactly as those before.
    pub modes: SkinningModes,
    /// `r' K^-1 r / (lambda + shift)` of each mode, with `r = H w - lambda M w` and K the factored problem, m:
    /// about the relative error of its eigenvalue.
    pub residuals: Vec<f64>,
}

impl ModesUpdate {
    /// The largest of the residuals.
    pub fn worst(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }
}

impl ModesProblem {
    /// The `count` lowest modes with these stitches in place of the problem's own, from `modes`, its lowest.
    ///
    /// Rayleigh-Ritz on the stitched Hessian in the span of the modes and of the static corrections `K^-1 a_s`,
    /// one for each stitch that is new, gone or of another stiffness; K is the problem's factor, so that
    /// corrections are complementary to the rig. Where residuals above half a percent are left, the span is
    /// widened by all `K^-1 r`, at most twice. As each update starts from the problem's own modes, errors do not
    /// add up over edits. Stitches lift some modes above others, so that `modes` should hold a few more than
    /// `count`. Source: `[IDSR sec. 4.1, 5.1]`, with K^-1 for their M^-1.
    ///
    /// # Errors
    /// [`Error::Shape`] for stitches or modes of another mesh, [`Error::Range`] unless there are `count` modes,
    /// [`Error::Numerical`].
    pub fn update(&self, modes: &SkinningModes, stitches: &Stitches, count: usize) -> Result<ModesUpdate> {
        check_truncation(count, modes.eigenvalues.len())?;
        let change = self.change(modes, stitches)?;
        let old = self.free.rows_of_dense(modes.weights.as_ref());
        if change.stiffness.is_empty() {
            let modes = modes.truncated(count)?;
            let (residuals, _) = self.residuals(&change, old.as_ref().subcols(0, count), &modes.eigenvalues);
            return Ok(ModesUpdate { modes, residuals });
        }
        let mut corrections = change.columns.to_dense();
        // What the modes hold already would drown the rest of it: K is nearly singular along rigid motion.
        let along = inner(old.as_ref(), corrections.as_ref());
        add_product(corrections.as_mut(), -1.0, self.heavy(old.as_ref()).as_ref(), along.as_ref());
        self.factor.solve_in_place(corrections.as_mut());
        let mut basis = self.extended(&old, corrections)?;
        let mut rounds = 0;
        loop {
            let stiffness = inner(basis.as_ref(), change.images(&self.hessian, basis.as_ref()).as_ref());
            let (mut eigenvalues, vectors) = symmetric_eigen(stiffness.as_ref())?;
            eigenvalues.truncate(count);
            let weights = product(basis.as_ref(), vectors.as_ref().subcols(0, count));
            let (residuals, corrections) = self.residuals(&change, weights.as_ref(), &eigenvalues);
            let update = ModesUpdate { modes: self.spread(weights.as_ref(), eigenvalues), residuals };
            if update.worst() <= GOOD || rounds == MOST_ROUNDS {
                return Ok(update);
            }
            basis = self.extended(&basis, corrections)?;
            rounds += 1;
        }
    }

    /// The update of the paper, to compare: it gives all that is outside of the modes no stiffness but the
    /// stitches', and misses eigenvalues by tens of percent where there are many.
    ///
    /// Eigenvectors of `M W Lambda W' M + A k A'` in the span of W and `M^-1 A`. Source: `[IDSR eq. 8-12]`.
    ///
    /// # Errors
    /// As [`ModesProblem::update`].
    pub fn low_rank_update(
        &self,
        modes: &SkinningModes,
        stitches: &Stitches,
        count: usize,
    ) -> Result<SkinningModes> {
        check_truncation(count, modes.eigenvalues.len())?;
        let change = self.change(modes, stitches)?;
        let old = self.free.rows_of_dense(modes.weights.as_ref());
        let basis = self.extended(&old, self.lightest(change.columns.to_dense())?)?;
        let mut stiffness = change.energy(basis.as_ref());
        modes.eigenvalues.iter().enumerate().for_each(|(k, value)| stiffness[(k, k)] += value);
        let (values, vectors) = symmetric_eigen(stiffness.as_ref())?;
        // Directions that got no stiffness are no modes, unless the body has such itself.
        let least = modes.eigenvalues[0] * 0.5;
        let first = values.iter().position(|&value| value >= least).unwrap_or(0).min(values.len() - count);
        let weights = product(basis.as_ref(), vectors.as_ref().subcols(first, count));
        Ok(self.spread(weights.as_ref(), values[first..first + count].to_vec()))
    }

    fn change(&self, modes: &SkinningModes, stitches: &Stitches) -> Result<Change> {
        let n = self.free.total();
        if modes.weights.nrows() != n || modes.weights.ncols() != modes.eigenvalues.len() {
            let got = format!("{} and {} eigenvalues", modes.weights.nrows(), modes.eigenvalues.len());
            return Err(Error::Shape { what: "modes", expected: format!("weights of {n} vertices"), got });
        }
        stitches.check_vertices(n)?;
        let change = self.stitches.change_to(stitches);
        let stiffness = change.stiffness().map(|k| WEIGHT_SPACE * k).collect();
        Ok(Change { columns: self.free.rows_of(&change.differences()), stiffness })
    }

    /// The modes and columns beside them, orthonormal in the mass; columns that depend on others are dropped.
    fn extended(&self, modes: &Mat<f64>, mut columns: Mat<f64>) -> Result<Mat<f64>> {
        let heavy = self.heavy(modes.as_ref());
        let remove = |columns: &mut Mat<f64>| {
            let along = inner(heavy.as_ref(), columns.as_ref());
            add_product(columns.as_mut(), -1.0, modes.as_ref(), along.as_ref());
        };
        for _ in 0..2 {
            remove(&mut columns);
            let gram = inner(columns.as_ref(), self.heavy(columns.as_ref()).as_ref());
            let scales: Vec<f64> = (0..gram.nrows()).map(|i| inverse_root(gram[(i, i)])).collect();
            let scaled =
                Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| scales[i] * gram[(i, j)] * scales[j]);
            let (values, vectors) = symmetric_eigen(scaled.as_ref())?;
            let largest = values.last().copied().unwrap_or(0.0);
            let kept: Vec<usize> = (0..values.len()).filter(|&i| values[i] > DEPENDENT * largest).collect();
            let combine = Mat::from_fn(gram.nrows(), kept.len(), |i, j| {
                scales[i] * vectors[(i, kept[j])] * inverse_root(values[kept[j]])
            });
            columns = product(columns.as_ref(), combine.as_ref());
        }
        let m = modes.ncols();
        Ok(Mat::from_fn(modes.nrows(), m + columns.ncols(), |i, j| {
            if j < m { modes[(i, j)] } else { columns[(i, j - m)] }
        }))
    }

    /// The measure of each mode's residual r, and the directions `K^-1 r` that would lessen it.
    fn residuals(
        &self,
        change: &Change,
        weights: MatRef<'_, f64>,
        eigenvalues: &[f64],
    ) -> (Vec<f64>, Mat<f64>) {
        let mut residuals = change.images(&self.hessian, weights);
        let heavy = self.heavy(weights);
        for (k, value) in eigenvalues.iter().enumerate() {
            let pairs = residuals.col_as_slice_mut(k).iter_mut().zip(heavy.col_as_slice(k));
            pairs.for_each(|(r, heavy)| *r -= value * heavy);
        }
        let mut solved = residuals.clone();
        self.factor.solve_in_place(solved.as_mut());
        let energy = |k: usize| {
            residuals.col_as_slice(k).iter().zip(solved.col_as_slice(k)).map(|(r, x)| r * x).sum::<f64>()
        };
        let measure = |(k, value): (usize, &f64)| energy(k).max(0.0) / (value + self.shift);
        (eigenvalues.iter().enumerate().map(measure).collect(), solved)
    }

    /// The lightest columns that do on displacements what the given ones do: `M^-1 (a - A y)` with `A'x = 0`.
    fn lightest(&self, mut columns: Mat<f64>) -> Result<Mat<f64>> {
        let lighten = |columns: &mut Mat<f64>| {
            for column in columns.as_mut().col_iter_mut() {
                column.iter_mut().zip(&self.mass).for_each(|(x, m)| *x /= m);
            }
        };
        lighten(&mut columns);
        let Some(constraint) = &self.constraint else { return Ok(columns) };
        let constraint = constraint.to_dense();
        let mut light = constraint.clone();
        lighten(&mut light);
        let (values, vectors) = symmetric_eigen(inner(constraint.as_ref(), light.as_ref()).as_ref())?;
        let broken = product(vectors.transpose(), inner(constraint.as_ref(), columns.as_ref()).as_ref());
        let solved = Mat::from_fn(broken.nrows(), broken.ncols(), |i, j| broken[(i, j)] / values[i]);
        let multipliers = product(vectors.as_ref(), solved.as_ref());
        add_product(columns.as_mut(), -1.0, light.as_ref(), multipliers.as_ref());
        Ok(columns)
    }

    /// `M x`.
    fn heavy(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), x.ncols(), |i, j| self.mass[i] * x[(i, j)])
    }

    fn spread(&self, weights: MatRef<'_, f64>, eigenvalues: Vec<f64>) -> SkinningModes {
        let mut weights = self.free.spread(weights);
        fix_signs(weights.as_mut());
        SkinningModes { weights, eigenvalues }
    }
}

/// What changes of the Hessian: `sum_s k_s a_s a_s'`.
struct Change {
    /// a, of the free vertices.
    columns: Sparse,
    /// k, negative for what is taken away.
    stiffness: Vec<f64>,
}

impl Change {
    /// `a_s' x`, s x k.
    fn stretches(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(self.stiffness.len(), x.ncols(), |s, k| {
            self.columns.row_idx_of_col(s).zip(self.columns.val_of_col(s)).map(|(i, a)| a * x[(i, k)]).sum()
        })
    }

    /// `x' (sum of k a a') x`.
    fn energy(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let stretches = self.stretches(x);
        let forces = self.forces(&stretches);
        product(stretches.transpose(), forces.as_ref())
    }

    fn forces(&self, stretches: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(stretches.nrows(), stretches.ncols(), |s, k| self.stiffness[s] * stretches[(s, k)])
    }

    /// `(H + sum of k a a') x`.
    fn images(&self, hessian: &Sparse, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut images = images(hessian, x);
        let forces = self.forces(&self.stretches(x));
        for k in 0..x.ncols() {
            for s in 0..self.stiffness.len() {
                let entries = self.columns.row_idx_of_col(s).zip(self.columns.val_of_col(s));
                entries.for_each(|(i, a)| images[(i, k)] += a * forces[(s, k)]);
            }
        }
        images
    }
}

fn inverse_root(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x.sqrt() } else { 0.0 }
}
