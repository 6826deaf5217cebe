//! The lowest eigenpairs of a large sparse problem, every copy of repeated ones included.

use faer::{Mat, MatMut};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::dense::{add_product, dot, inner, product, symmetric_eigen};
use crate::{Error, Result};

/// Vectors that are iterated together: copies of an eigenvalue up to this number cannot be missed.
const BLOCK: usize = 8;
/// Residual of an accepted eigenpair, relative to its eigenvalue of the inverse.
const TOLERANCE: f64 = 1e-8;
/// Two eigenvalues of the inverse count as copies if they differ by less than this, relatively.
const COPY: f64 = 1e-6;
/// Norm below which a new direction is rounding error, relative to what the operator made.
const NEGLIGIBLE: f64 = 1e-14;
/// Share of a column that the others must leave of it, for the fast way of making them orthonormal.
const DEPENDENT: f64 = 1e-5;
/// Columns of the basis at most, unless more are wanted: memory, and time to keep them orthogonal.
const CAPACITY: usize = 32 * BLOCK;
/// Blocks after which the method gives up; converging takes ten.
const MAX_BLOCKS: usize = 400;
/// Seed of the start vectors: any gives the same eigenpairs.
const SEED: u64 = 0x6a6f_756e_6365;

/// The largest eigenvalues of a symmetric operator on R^n, and vectors.
pub(crate) struct Eigenpairs {
    /// Descending.
    pub values: Vec<f64>,
    /// Orthonormal columns, n x count.
    pub vectors: Mat<f64>,
}

/// The `count` largest eigenvalues of a symmetric positive semi-definite operator, with their eigenvectors.
///
/// `apply` replaces the columns x of an n x k matrix by `Op x`. Block Lanczos with full reorthogonalisation and
/// thick restarts. A start block of b vectors finds at most b copies of an eigenvalue; when as many as b agree,
/// the block is widened by fresh random vectors, which are iterated as long as the others were, so that none is missed.
///
/// # Errors
/// [`Error::Numerical`] if it does not converge; whatever `report` (the fraction done) returns.
pub(crate) fn largest_eigenpairs(
    size: usize,
    count: usize,
    apply: impl Fn(MatMut<'_, f64>),
    report: impl Fn(f32) -> Result<()>,
) -> Result<Eigenpairs> {
    let mut krylov = Krylov::new(size, count);
    let mut width = BLOCK;
    let mut widened = 0;
    let mut settled = 0;
    let mut block = krylov.random_block(BLOCK);
    for step in 0..MAX_BLOCKS {
        report((step as f32 / 12.0).min(0.95))?;
        let mut image = block.clone();
        apply(image.as_mut());
        let (next, coupling) = krylov.extend(block, image);
        let ritz = krylov.ritz(&coupling)?;
        block = next;
        let exhausted = block.ncols() == 0;
        if exhausted || step >= settled && ritz.converged(count) {
            if krylov.width() == size || (!exhausted && ritz.copies(count) < width) {
                return Ok(krylov.eigenpairs(&ritz, count));
            }
            let fresh = krylov.random_block_beside(&block);
            append(&mut block, &fresh);
            width += BLOCK;
            (settled, widened) = (2 * step + 1 - widened, step);
        } else if krylov.width() + block.ncols() > krylov.capacity {
            krylov.restart(&ritz, count);
        }
    }
    Err(Error::Numerical { what: "eigensolver", why: format!("no convergence in {MAX_BLOCKS} blocks") })
}

/// An orthonormal basis V and the operator in it, `T = V' Op V`.
struct Krylov {
    basis: Mat<f64>,
    projected: Mat<f64>,
    capacity: usize,
    scale: f64,
    random: ChaCha8Rng,
}

/// Eigenpairs of T, eigenvalues descending, and the norm of what each one's vector leaves outside the basis.
struct Ritz {
    values: Vec<f64>,
    vectors: Mat<f64>,
    residuals: Vec<f64>,
}

impl Ritz {
    fn converged(&self, count: usize) -> bool {
        self.values.len() >= count
            && (0..count).all(|i| self.residuals[i] <= TOLERANCE * self.values[i].abs())
    }

    /// Size of the largest group of equal values among the first `count`.
    fn copies(&self, count: usize) -> usize {
        let values = &self.values[..count.min(self.values.len())];
        let close = |a: f64, b: f64| (a - b).abs() <= COPY * a.abs();
        values.chunk_by(|&a, &b| close(a, b)).map(<[f64]>::len).max().unwrap_or(0)
    }
}

impl Krylov {
    fn new(size: usize, count: usize) -> Self {
        let capacity = CAPACITY.max(3 * count + 4 * BLOCK);
        let mut basis = Mat::with_capacity(size, capacity + 2 * BLOCK);
        basis.resize_with(size, 0, |_, _| 0.0);
        Self {
            basis,
            projected: Mat::zeros(0, 0),
            capacity,
            scale: 0.0,
            random: ChaCha8Rng::seed_from_u64(SEED),
        }
    }

    fn width(&self) -> usize {
        self.basis.ncols()
    }

    fn random_block(&mut self, columns: usize) -> Mat<f64> {
        let draw = |random: &mut ChaCha8Rng| random.next_u32() as f64 / u32::MAX as f64 - 0.5;
        let block = Mat::from_fn(self.basis.nrows(), columns, |_, _| draw(&mut self.random));
        self.orthonormalise(block, 0.0).0
    }

    /// Random vectors orthonormal to the basis and to a block beside it.
    fn random_block_beside(&mut self, beside: &Mat<f64>) -> Mat<f64> {
        let mut block = self.random_block(BLOCK);
        for _ in 0..2 {
            let along = inner(beside.as_ref(), block.as_ref());
            add_product(block.as_mut(), -1.0, beside.as_ref(), along.as_ref());
            block = self.orthonormalise(block, 0.1).0;
        }
        block
    }

    /// Adds an orthonormal block and its image under the operator; returns the next block Q and R of
    /// `Op block = V T + Q R`.
    fn extend(&mut self, block: Mat<f64>, mut image: Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        let old = self.width();
        append(&mut self.basis, &block);
        self.scale = image.col_iter().map(|c| c.norm_l2()).fold(self.scale, f64::max);
        let mut along = inner(self.basis.as_ref(), image.as_ref());
        add_product(image.as_mut(), -1.0, self.basis.as_ref(), along.as_ref());
        let (mut next, first) = orthonormal_columns(image, NEGLIGIBLE * self.scale);
        let missed = inner(self.basis.as_ref(), next.as_ref());
        add_product(next.as_mut(), -1.0, self.basis.as_ref(), missed.as_ref());
        along += &missed * &first;
        let (next, second) = orthonormal_columns(next, 0.1);
        self.grow_projected(old, &along);
        (next, second * first)
    }

    fn grow_projected(&mut self, old: usize, along: &Mat<f64>) {
        let width = self.width();
        self.projected = Mat::from_fn(width, width, |i, j| match (i < old, j < old) {
            (true, true) => self.projected[(i, j)],
            (true, false) => along[(i, j - old)],
            (false, true) => along[(j, i - old)],
            (false, false) => 0.5 * (along[(i, j - old)] + along[(j, i - old)]),
        });
    }

    /// Removes the basis from a block and makes it orthonormal, dropping columns that shrink below `negligible`.
    fn orthonormalise(&self, mut block: Mat<f64>, negligible: f64) -> (Mat<f64>, Mat<f64>) {
        let along = inner(self.basis.as_ref(), block.as_ref());
        add_product(block.as_mut(), -1.0, self.basis.as_ref(), along.as_ref());
        orthonormal_columns(block, negligible)
    }

    fn ritz(&self, coupling: &Mat<f64>) -> Result<Ritz> {
        let (mut values, vectors) = symmetric_eigen(self.projected.as_ref())?;
        values.reverse();
        let vectors = vectors.as_ref().reverse_cols().to_owned();
        let last = vectors.as_ref().subrows(self.width() - coupling.ncols(), coupling.ncols());
        let outside = coupling * last;
        let residuals = outside.col_iter().map(|c| c.norm_l2()).collect();
        Ok(Ritz { values, vectors, residuals })
    }

    /// Keeps the best vectors only, enough of them that little of the convergence is lost.
    fn restart(&mut self, ritz: &Ritz, count: usize) {
        let keep = (count + 2 * BLOCK).min(self.width());
        let kept = product(self.basis.as_ref(), ritz.vectors.as_ref().subcols(0, keep));
        self.basis.truncate(kept.nrows(), 0);
        append(&mut self.basis, &kept);
        self.projected = Mat::from_fn(keep, keep, |i, j| if i == j { ritz.values[i] } else { 0.0 });
    }

    fn eigenpairs(&self, ritz: &Ritz, count: usize) -> Eigenpairs {
        let vectors = product(self.basis.as_ref(), ritz.vectors.as_ref().subcols(0, count));
        Eigenpairs { values: ritz.values[..count].to_vec(), vectors }
    }
}

fn append(left: &mut Mat<f64>, right: &Mat<f64>) {
    let width = left.ncols();
    left.resize_with(right.nrows(), width + right.ncols(), |i, j| right[(i, j - width)]);
}

/// `block = Q R` with orthonormal columns Q; what shrinks to `negligible` is left out of Q.
fn orthonormal_columns(block: Mat<f64>, negligible: f64) -> (Mat<f64>, Mat<f64>) {
    match cholesky_qr(&block, negligible) {
        Some(factors) => factors,
        None => gram_schmidt(block, negligible),
    }
}

/// By the Cholesky factor of the Gram matrix; Q is orthonormal up to a millionth, unless the block is too close to
/// dependent for that.
fn cholesky_qr(block: &Mat<f64>, negligible: f64) -> Option<(Mat<f64>, Mat<f64>)> {
    let gram = inner(block.as_ref(), block.as_ref());
    let lower = gram.llt(faer::Side::Lower).ok()?.L().to_owned();
    let pivots = || (0..gram.ncols()).map(|k| (lower[(k, k)], gram[(k, k)].sqrt()));
    if pivots().any(|(pivot, length)| pivot.is_nan() || pivot <= negligible || pivot <= DEPENDENT * length) {
        return None;
    }
    let upper = lower.transpose().to_owned();
    let mut inverse = Mat::identity(upper.nrows(), upper.ncols());
    upper.as_ref().solve_upper_triangular_in_place(&mut inverse);
    Some((product(block.as_ref(), inverse.as_ref()), upper))
}

/// Gram-Schmidt within a block, twice.
fn gram_schmidt(mut block: Mat<f64>, negligible: f64) -> (Mat<f64>, Mat<f64>) {
    let mut rank = 0;
    let mut coefficients = Mat::zeros(block.ncols(), block.ncols());
    for j in 0..block.ncols() {
        for i in (0..rank).chain(0..rank) {
            let (kept, column) = two_columns(&mut block, i, j);
            let along = dot(kept, column);
            column.iter_mut().zip(kept.iter()).for_each(|(x, q)| *x -= along * q);
            coefficients[(i, j)] += along;
        }
        let column = block.col_as_slice_mut(j);
        let norm = dot(column, column).sqrt();
        if norm > negligible {
            coefficients[(rank, j)] = norm;
            column.iter_mut().for_each(|x| *x /= norm);
            if rank < j {
                let (target, column) = two_columns(&mut block, rank, j);
                target.copy_from_slice(column);
            }
            rank += 1;
        }
    }
    block.truncate(block.nrows(), rank);
    (block, coefficients.subrows(0, rank).to_owned())
}

/// Two different columns, `i < j`.
fn two_columns(block: &mut Mat<f64>, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
    let (left, right) = block.as_mut().split_at_col_mut(j);
    let slice = "columns of an owned matrix are contiguous";
    let left = left.subcols_mut(i, 1).col_mut(0).try_as_col_major_mut().expect(slice).as_slice_mut();
    let right = right.subcols_mut(0, 1).col_mut(0).try_as_col_major_mut().expect(slice).as_slice_mut();
    (left, right)
}
