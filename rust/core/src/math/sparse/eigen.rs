//! The lowest eigenpairs of a large sparse problem, with all copies of repeated eigenvalues.

use faer::{Mat, MatMut};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::math::dense::block_orthogonal::{Columns, take_out};
use crate::math::dense::{add_product, copy, dot, inner, product, symmetric_eigen};
use crate::parallel::on_pool;
use crate::{Error, Result};

/// Block size: up to this many copies of an eigenvalue are always found.
const BLOCK: usize = 8;
/// Accepted residual of an eigenpair, relative to its eigenvalue of the inverse.
const TOLERANCE: f64 = 1e-8;
/// Relative difference below which two eigenvalues of the inverse count as copies.
pub(crate) const COPY: f64 = 1e-6;
/// Accepted residual of the first unwanted value, to tell it from a copy of the last wanted one.
const BEYOND: f64 = 1e-4;
/// Norm of a new direction that counts as rounding error, relative to the operator's output.
const NEGLIGIBLE: f64 = 1e-14;
/// Independent share of a column required by the fast orthonormalisation, accurate to a millionth.
const DEPENDENT: f64 = 1e-5;
/// Independent share required by the same method to be accurate without a second pass.
const WELL_CONDITIONED: f64 = 3e-3;
/// Accepted loss of orthogonality: far less than the residual.
const LOSS: f64 = 1e-11;
/// Loss of orthogonality that a single correction makes negligible.
const CORRECTABLE: f64 = 1e-6;
/// Largest reduction of the residuals by a block, in powers of ten.
const FASTEST: f64 = 2.0;
/// Largest number of basis columns, unless more are wanted; limits memory and the time for
/// orthogonalisation.
const CAPACITY: usize = 32 * BLOCK;
/// Largest number of blocks; convergence takes about ten.
const MAX_BLOCKS: usize = 400;
/// Seed of the start vectors, without influence on the eigenpairs.
const SEED: u64 = 0x6a6f_756e_6365;

/// Eigenvectors of the `count` largest eigenvalues of a symmetric positive semi-definite operator, and of
/// all copies of the last one: orthonormal up to the tolerance, n x count or more.
///
/// `apply` replaces the columns x of an n x k matrix by `Op x`. Block Lanczos with full reorthogonalisation
/// and thick restarts. A start block of b vectors finds at most b copies of an eigenvalue. If b values
/// agree, the block is widened by new random vectors and iterated as long again, to find all copies.
///
/// # Errors
/// [`Error::Numerical`] without convergence; errors of `report` (called with the completed fraction).
pub(crate) fn largest_eigenvectors(
    size: usize,
    count: usize,
    mut apply: impl FnMut(MatMut<'_, f64>) + Send,
    report: impl Fn(f32) -> Result<()>,
) -> Result<Mat<f64>> {
    let mut krylov = on_pool(|| Krylov::new(size, count));
    let mut width = BLOCK;
    let (mut widened, mut settled) = (0, 0);
    for step in 0..MAX_BLOCKS {
        report((step as f32 / 12.0).min(0.95))?;
        on_pool(|| krylov.extend(&mut apply));
        let (exhausted, full) = (krylov.pending() == 0, krylov.basis.count() > krylov.capacity);
        if step < settled && !exhausted && !full {
            continue;
        }
        let ritz = krylov.ritz()?;
        let count = ritz.with_copies(count);
        let missing = ritz.missing_decades(count);
        if exhausted || step >= settled && missing == 0.0 {
            if krylov.done == size || (!exhausted && ritz.copies(count) < width) {
                return Ok(on_pool(|| krylov.eigenvectors(&ritz, count)));
            }
            krylov.append_random_block();
            width += BLOCK;
            (settled, widened) = (2 * step + 1 - widened, step);
            continue;
        }
        settled = settled.max(step + ((missing / FASTEST).ceil() as usize).max(1));
        if full {
            krylov.restart(&ritz, count);
        }
    }
    Err(Error::Numerical { what: "eigensolver", why: format!("no convergence in {MAX_BLOCKS} blocks") })
}

/// Orthonormal basis V, projected operator `T = V' Op V`, and next orthonormal block Q:
/// `Op V_last = V T_last + Q R`.
struct Krylov {
    /// V and Q.
    basis: Columns,
    /// Number of columns of V.
    done: usize,
    /// First column of V with entries in `V' Op Q`; Op maps the earlier columns into V.
    coupled: usize,
    /// `true` if the last block had lost orthogonality to V.
    lost: bool,
    projected: Mat<f64>,
    /// R.
    coupling: Mat<f64>,
    /// Scratch for images of blocks.
    image: Mat<f64>,
    capacity: usize,
    scale: f64,
    random: ChaCha8Rng,
}

/// Eigenpairs of T, eigenvalues descending, and the part of each vector's image outside of V, in terms of
/// Q.
struct Ritz {
    values: Vec<f64>,
    vectors: Mat<f64>,
    outside: Mat<f64>,
}

impl Ritz {
    /// Remaining reduction of the residuals of the first `count` and the next, in powers of ten.
    fn missing_decades(&self, count: usize) -> f64 {
        if self.values.len() < count {
            return f64::from(f64::DIGITS);
        }
        let residual = |i: usize| self.outside.col(i).norm_l2();
        let excess = |i: usize| {
            let tolerance = if i < count { TOLERANCE } else { BEYOND };
            (residual(i) / (tolerance * self.values[i].abs()).max(f64::MIN_POSITIVE)).log10()
        };
        (0..self.values.len().min(count + 1)).map(excess).fold(0.0, f64::max)
    }

    /// Number of eigenpairs with all copies of the last of the first `count`.
    fn with_copies(&self, count: usize) -> usize {
        let copies = self.values.windows(2).skip(count.saturating_sub(1));
        count + copies.take_while(|pair| is_copy(pair[0], pair[1])).count()
    }

    /// Size of the largest group of equal values among the first `count`.
    fn copies(&self, count: usize) -> usize {
        let values = &self.values[..count.min(self.values.len())];
        values.chunk_by(|&a, &b| is_copy(a, b)).map(<[f64]>::len).max().unwrap_or(0)
    }
}

fn is_copy(a: f64, b: f64) -> bool {
    (a - b).abs() <= COPY * a.abs()
}

impl Krylov {
    fn new(size: usize, count: usize) -> Self {
        let capacity = CAPACITY.max(3 * count + 4 * BLOCK);
        let mut krylov = Self {
            basis: Columns::with_capacity(size, capacity + 3 * BLOCK),
            done: 0,
            coupled: 0,
            lost: false,
            projected: Mat::zeros(0, 0),
            coupling: Mat::zeros(0, 0),
            image: Mat::zeros(size, BLOCK),
            capacity,
            scale: 0.0,
            random: ChaCha8Rng::seed_from_u64(SEED),
        };
        krylov.append_random_block();
        krylov
    }

    /// Number of columns of Q.
    fn pending(&self) -> usize {
        self.basis.count() - self.done
    }

    /// Widens Q by random vectors.
    fn append_random_block(&mut self) {
        let draw = |random: &mut ChaCha8Rng| random.next_u32() as f64 / u32::MAX as f64 - 0.5;
        let mut block = Mat::from_fn(self.basis.rows(), BLOCK, |_, _| draw(&mut self.random));
        for negligible in [0.0, 0.1, 0.1] {
            let along = inner(self.basis.all(), block.as_ref());
            add_product(block.as_mut(), -1.0, self.basis.all(), along.as_ref());
            block = orthonormal_columns(block, negligible).0;
        }
        self.basis.append(block.as_ref());
    }

    /// Adds Q to the basis and computes the next block.
    fn extend(&mut self, apply: &mut impl FnMut(MatMut<'_, f64>)) {
        let (old, width) = (self.done, self.basis.count());
        let mut image = std::mem::replace(&mut self.image, Mat::zeros(0, 0));
        image.resize_with(self.basis.rows(), width - old, |_, _| 0.0);
        copy(image.as_mut(), self.basis.all().subcols(old, width - old));
        apply(image.as_mut());
        let mut along = Mat::zeros(width, image.ncols());
        self.coupling = self.append_rest(&mut image, &mut along);
        (self.image, self.done, self.coupled) = (image, width, old);
        self.grow_projected(old, &along);
    }

    /// Appends an orthonormal basis Q of the part of `image` outside of V; returns R. `along` becomes
    /// `V' image`.
    ///
    /// The coupled columns of V are removed first. The remaining component along V is amplified rounding
    /// error, and is removed if too large.
    fn append_rest(&mut self, image: &mut Mat<f64>, along: &mut Mat<f64>) -> Mat<f64> {
        let basis = self.basis.all();
        let near = basis.subcols(self.coupled, basis.ncols() - self.coupled);
        let known = inner(near, image.as_ref());
        along.subrows_mut(self.coupled, known.nrows()).copy_from(&known);
        let (missed, mut gram) = take_out(image.as_mut(), basis, known.as_ref());
        let norms =
            known.col_iter().zip(0..).map(|(known, k)| (known.squared_norm_l2() + gram[(k, k)]).sqrt());
        self.scale = norms.fold(self.scale, f64::max);
        if let Some((mut upper, mut inverse)) = factor_gram(&gram, NEGLIGIBLE * self.scale, WELL_CONDITIONED)
        {
            let loss = (&missed * &inverse).norm_max();
            // The error would grow from block to block, therefore the next block is corrected as well.
            let lost = std::mem::replace(&mut self.lost, loss > LOSS);
            if lost || self.lost {
                add_product(image.as_mut(), -1.0, basis, missed.as_ref());
                *along += &missed;
                gram -= missed.transpose() * &missed;
            }
            if (lost || self.lost)
                && let Some(factors) = factor_gram(&gram, NEGLIGIBLE * self.scale, WELL_CONDITIONED)
            {
                (upper, inverse) = factors;
            }
            if loss < CORRECTABLE {
                self.basis.append_product(image.as_ref(), inverse.as_ref());
                return upper;
            }
        } else {
            add_product(image.as_mut(), -1.0, basis, missed.as_ref());
            *along += &missed;
        }
        let (mut next, first) = orthonormal_columns(image.clone(), NEGLIGIBLE * self.scale);
        let missed = inner(basis, next.as_ref());
        add_product(next.as_mut(), -1.0, basis, missed.as_ref());
        *along += &missed * &first;
        let (next, second) = orthonormal_columns(next, 0.1);
        self.basis.append(next.as_ref());
        second * first
    }

    fn grow_projected(&mut self, old: usize, along: &Mat<f64>) {
        self.projected = Mat::from_fn(self.done, self.done, |i, j| match (i < old, j < old) {
            (true, true) => self.projected[(i, j)],
            (true, false) => along[(i, j - old)],
            (false, true) => along[(j, i - old)],
            (false, false) => 0.5 * (along[(i, j - old)] + along[(j, i - old)]),
        });
    }

    fn ritz(&self) -> Result<Ritz> {
        let (mut values, vectors) = symmetric_eigen(self.projected.as_ref())?;
        values.reverse();
        let vectors = vectors.as_ref().reverse_cols().to_owned();
        let last = self.coupling.ncols();
        let outside = &self.coupling * vectors.as_ref().subrows(self.done - last, last);
        Ok(Ritz { values, vectors, outside })
    }

    /// Thick restart: keeps the best vectors, enough to preserve most of the convergence.
    fn restart(&mut self, ritz: &Ritz, count: usize) {
        let keep = (count + 2 * BLOCK).min(self.done);
        let (v, q) = self.basis.all().split_at_col(self.done);
        let (kept, next) = (product(v, ritz.vectors.as_ref().subcols(0, keep)), q.to_owned());
        self.basis.clear();
        self.basis.append(kept.as_ref());
        self.basis.append(next.as_ref());
        (self.done, self.coupled) = (keep, 0);
        self.projected = Mat::from_fn(keep, keep, |i, j| if i == j { ritz.values[i] } else { 0.0 });
    }

    /// The first eigenvectors, after one more application of Op, available for free from
    /// `Op V = V T + Q R`.
    fn eigenvectors(&self, ritz: &Ritz, count: usize) -> Mat<f64> {
        let coefficients =
            Mat::from_fn(self.basis.count(), count, |row, k| match row.checked_sub(self.done) {
                None => ritz.vectors[(row, k)],
                Some(outside) => ritz.outside[(outside, k)] / ritz.values[k],
            });
        product(self.basis.all(), coefficients.as_ref())
    }
}

/// `block = Q R` with orthonormal columns Q; columns that shrink to `negligible` are dropped from Q.
fn orthonormal_columns(block: Mat<f64>, negligible: f64) -> (Mat<f64>, Mat<f64>) {
    let gram = inner(block.as_ref(), block.as_ref());
    match factor_gram(&gram, negligible, DEPENDENT) {
        Some((upper, inverse)) => (product(block.as_ref(), inverse.as_ref()), upper),
        None => gram_schmidt(block, negligible),
    }
}

/// R and its inverse from the Gram matrix `R' R` of a block: `block R^-1` has orthonormal columns. `None`
/// if a column is `negligible`, or independent of the previous ones only by the share `dependent` of its
/// length.
fn factor_gram(gram: &Mat<f64>, negligible: f64, dependent: f64) -> Option<(Mat<f64>, Mat<f64>)> {
    let lower = gram.llt(faer::Side::Lower).ok()?.L().to_owned();
    let pivots = || (0..gram.ncols()).map(|k| (lower[(k, k)], gram[(k, k)].sqrt()));
    if pivots().any(|(pivot, length)| pivot.is_nan() || pivot <= negligible || pivot <= dependent * length) {
        return None;
    }
    let upper = lower.transpose().to_owned();
    let mut inverse = Mat::identity(upper.nrows(), upper.ncols());
    upper.as_ref().solve_upper_triangular_in_place(&mut inverse);
    Some((upper, inverse))
}

/// Two passes of Gram-Schmidt within a block.
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
