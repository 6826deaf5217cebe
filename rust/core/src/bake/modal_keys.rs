//! Modal keys: many frames of displacements as a few shapes with animated values.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, Mat, Par};

use crate::math::dense::symmetric_eigen;
use crate::parallel::*;
use crate::{Error, Progress, Result, check};

/// Largest number of points, and of multiplications, per task: the computation can be stopped between
/// tasks.
const POINTS: usize = 1024;
const WORK: usize = 1 << 28;
/// Number of parts of the points; partial sums are added in order, for any number of threads.
const PARTS: usize = 16;
/// Number of points with the largest distances, on which a number of keys is tried first.
const WITNESSES: usize = 256;
/// Share of the total motion that rounding may add to the eigenvalues.
const ROUNDING: f64 = 1e-10;

/// Shapes and their values: the displacement in frame i is `sum over j of values_ij keys_j`.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct ModalKeys {
    /// The shapes, k x p x 3 in C order, metres.
    pub keys: Vec<f32>,
    /// Values, f x k in C order; each key's largest magnitude is 1, with a positive sign.
    pub values: Vec<f32>,
    /// Number of keys k.
    pub count: usize,
    /// Largest distance of a point from its target over all frames, measured with the numbers above,
    /// metres.
    pub error: f64,
}

/// The fewest shapes from the singular value decomposition of all frames that stay within `tolerance`.
///
/// `frames` is f x p x 3 in C order, in metres; `tolerance` bounds the distance of every point in every
/// frame, in metres. The decomposition `A = V S U'` is computed from the small `A A' = V S^2 V'`, so the
/// cost grows with f^2 p. If `max_keys` shapes do not reach the tolerance, they are returned with their
/// error.
///
/// ```
/// use jounce::bake::modal_keys;
/// use jounce::Progress;
///
/// // One point that swings along x in three frames.
/// let frames = [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -1.0, 0.0, 0.0];
/// let keys = modal_keys(&frames, 3, 1e-3, 10, &Progress::default())?;
/// assert_eq!((keys.count, keys.values.len()), (1, 3));
/// assert!(keys.error <= 1e-3);
/// # Ok::<(), jounce::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if `frames` is no whole number of points in each frame, [`Error::NotFinite`] or
/// [`Error::Range`]; [`Error::Cancelled`].
pub fn modal_keys(
    frames: &[f32],
    frame_count: usize,
    tolerance: f64,
    max_keys: usize,
    progress: &Progress,
) -> Result<ModalKeys> {
    check(frames, frame_count, tolerance)?;
    let source = Frames { numbers: frames, count: frame_count, width: frames.len() / frame_count };
    progress.enter("comparing frames", 0.0, 0.4)?;
    let gram = source.gram(progress)?;
    progress.enter("principal shapes", 0.4, 0.5)?;
    let (squares, vectors) = symmetric_eigen(gram.as_ref())?;
    progress.enter("trying shapes", 0.5, 1.0)?;
    let most = max_keys.min(frame_count);
    // Largest first.
    let curves: Vec<Curve> =
        (0..most).map(|j| Curve::new(vectors.col_as_slice(frame_count - 1 - j))).collect();
    let least = least_count(&squares, (source.width / 3) as f64, tolerance).min(most);
    let (count, blocks) = source.fewest(&curves, least, tolerance, progress)?;
    progress.report(1.0)?;

    let keys = (0..count).flat_map(|j| blocks.iter().flat_map(move |block| block.keys.col_as_slice(j)));
    let values = (0..frame_count).flat_map(|i| curves[..count].iter().map(move |curve| curve.values[i]));
    Ok(ModalKeys { keys: keys.copied().collect(), values: values.collect(), count, error: largest(&blocks) })
}

/// Lower bound of the number of keys: the largest distance is at least the root mean square of all, which
/// is known.
fn least_count(squares: &[f64], points: f64, tolerance: f64) -> usize {
    let sum: f64 = squares.iter().sum();
    let allowed = squares.len() as f64 * points * tolerance * tolerance + ROUNDING * sum;
    let mut left = 0.0;
    let given_up = squares.iter().take_while(|&&square| {
        left += square.max(0.0);
        left <= allowed
    });
    squares.len() - given_up.count()
}

fn largest(blocks: &[Block]) -> f64 {
    blocks.iter().flat_map(|block| &block.distances).copied().fold(0.0, f64::max)
}

fn check(frames: &[f32], frame_count: usize, tolerance: f64) -> Result<()> {
    if frame_count == 0 || frames.is_empty() {
        return Err(Error::Empty { what: "frames" });
    }
    if !frames.len().is_multiple_of(3 * frame_count) {
        return Err(Error::Shape {
            what: "frames",
            expected: format!("({frame_count}, p, 3)"),
            got: format!("{} numbers", frames.len()),
        });
    }
    check::range("tolerance", "a distance >= 0", tolerance, tolerance >= 0.0 && tolerance.is_finite())?;
    check::finite("frames", frames, 1)
}

/// A key's values over the frames.
struct Curve {
    /// The singular vector divided by its largest entry, so that the largest magnitude is +1.
    values: Vec<f32>,
    /// A key is `scale * sum over frames of values_i frame_i`.
    scale: f64,
}

impl Curve {
    fn new(vector: &[f64]) -> Self {
        let largest = vector.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
        let values: Vec<f32> = vector.iter().map(|v| (v / largest) as f32).collect();
        // The norm of the rounded values, so that keys compensate for the rounding.
        let norm2: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
        Self { values, scale: 1.0 / norm2 }
    }

    /// Computes the part of a key in some numbers, one column per frame, and subtracts its contribution
    /// from them.
    fn take_out(&self, numbers: &mut Mat<f64>) {
        let mut key = vec![0.0; numbers.nrows()];
        for (f, &value) in self.values.iter().enumerate() {
            let factor = self.scale * f64::from(value);
            key.iter_mut().zip(numbers.col_as_slice(f)).for_each(|(key, x)| *key += factor * x);
        }
        for (f, &value) in self.values.iter().enumerate() {
            let left = numbers.col_as_slice_mut(f).iter_mut().zip(&key);
            left.for_each(|(x, &key)| *x -= f64::from(value) * f64::from(key as f32));
        }
    }
}

struct Frames<'a> {
    numbers: &'a [f32],
    count: usize,
    /// Numbers per frame.
    width: usize,
}

/// A block of points: their part of every key, one column per key, and each point's largest distance from
/// its target.
struct Block {
    keys: Mat<f32>,
    distances: Vec<f64>,
}

impl Frames<'_> {
    /// Numbers of all frames, one column per frame.
    fn columns(&self, range: &std::ops::Range<usize>) -> Mat<f64> {
        Mat::from_fn(range.len(), self.count, |i, f| {
            f64::from(self.numbers[f * self.width + range.start + i])
        })
    }

    /// The lower triangle of `A A'`.
    fn gram(&self, progress: &Progress) -> Result<Mat<f64>> {
        let (size, step) = (self.width.div_ceil(PARTS), at_once(self.count * self.count));
        let done = AtomicUsize::new(0);
        let parts: Result<Vec<Mat<f64>>> = (0..PARTS)
            .into_par_iter()
            .map(|part| {
                let end = ((part + 1) * size).min(self.width);
                let mut sum = Mat::zeros(self.count, self.count);
                for start in (part * size..end).step_by(step) {
                    progress.proceed()?;
                    let block = self.columns(&(start..(start + step).min(end)));
                    triangular_matmul(
                        &mut sum,
                        BlockStructure::TriangularLower,
                        Accum::Add,
                        block.transpose(),
                        BlockStructure::Rectangular,
                        &block,
                        BlockStructure::Rectangular,
                        1.0,
                        Par::Seq,
                    );
                }
                progress.report((1 + done.fetch_add(1, Ordering::Relaxed)) as f32 / PARTS as f32)?;
                Ok(sum)
            })
            .collect();
        Ok(parts?.iter().fold(Mat::zeros(self.count, self.count), |sum, part| sum + part))
    }

    /// The smallest number of keys, from `least` on, for which all points are within the tolerance; else
    /// all keys.
    ///
    /// A number of keys is tried on all points only if it suffices for the points that were worst before.
    fn fewest(
        &self,
        curves: &[Curve],
        least: usize,
        tolerance: f64,
        progress: &Progress,
    ) -> Result<(usize, Vec<Block>)> {
        let mut count = least;
        loop {
            let blocks = self.reduce(&curves[..count], progress)?;
            if count == curves.len() || largest(&blocks) <= tolerance {
                return Ok((count, blocks));
            }
            progress.report(count as f32 / curves.len() as f32)?;
            let worst = self.worst(&blocks);
            count = self.fewest_of(&worst, curves, count + 1, tolerance, progress)?;
        }
    }

    /// The smallest number of keys, from `least` on, for which the given points are within the tolerance;
    /// else all keys.
    fn fewest_of(
        &self,
        points: &[usize],
        curves: &[Curve],
        least: usize,
        tolerance: f64,
        progress: &Progress,
    ) -> Result<usize> {
        let place = |i: usize| 3 * points[i / 3] + i % 3;
        let number = |i: usize, f: usize| f64::from(self.numbers[f * self.width + place(i)]);
        let mut left = Mat::from_fn(3 * points.len(), self.count, number);
        let mut count = 0;
        while count < least
            || count < curves.len() && distances(&left).into_iter().fold(0.0, f64::max) > tolerance
        {
            progress.proceed()?;
            curves[count].take_out(&mut left);
            count += 1;
        }
        Ok(count)
    }

    /// The points with the largest distances from their targets.
    fn worst(&self, blocks: &[Block]) -> Vec<usize> {
        let all: Vec<f64> = blocks.iter().flat_map(|block| &block.distances).copied().collect();
        let mut points: Vec<usize> = (0..all.len()).collect();
        points.sort_by(|&a, &b| all[b].total_cmp(&all[a]));
        points.truncate(WITNESSES);
        points
    }

    /// Keys and distances of all points for the given curves.
    fn reduce(&self, curves: &[Curve], progress: &Progress) -> Result<Vec<Block>> {
        let values = Mat::from_fn(self.count, curves.len(), |f, j| f64::from(curves[j].values[f]));
        let scaled = Mat::from_fn(self.count, curves.len(), |f, j| curves[j].scale * values[(f, j)]);
        let step = 3 * at_once(6 * self.count * curves.len());
        let reduced = |start: usize| {
            progress.proceed()?;
            let mut left = self.columns(&(start..(start + step).min(self.width)));
            let mut keys = Mat::zeros(left.nrows(), curves.len());
            matmul(&mut keys, Accum::Replace, &left, &scaled, 1.0, Par::Seq);
            // The keys in the precision in which they are stored.
            let keys = Mat::from_fn(keys.nrows(), keys.ncols(), |i, j| keys[(i, j)] as f32);
            let kept = Mat::from_fn(keys.nrows(), keys.ncols(), |i, j| f64::from(keys[(i, j)]));
            matmul(&mut left, Accum::Add, &kept, values.transpose(), -1.0, Par::Seq);
            Ok(Block { keys, distances: distances(&left) })
        };
        (0..self.width).into_par_iter().step_by(step).map(reduced).collect()
    }
}

/// Number of points per task at this number of multiplications per point.
fn at_once(multiplications: usize) -> usize {
    (WORK / multiplications.max(1)).clamp(1, POINTS)
}

/// The largest distance of each point over all frames, from residual numbers with one column per frame.
fn distances(numbers: &Mat<f64>) -> Vec<f64> {
    let mut squares = vec![0.0; numbers.nrows() / 3];
    for f in 0..numbers.ncols() {
        for (most, p) in squares.iter_mut().zip(numbers.col_as_slice(f).as_chunks::<3>().0) {
            *most = p.iter().map(|x| x * x).sum::<f64>().max(*most);
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}
