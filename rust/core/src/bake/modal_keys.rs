//! Many frames of displacements as few shapes with animated values.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use crate::math::dense::symmetric_eigen;
use crate::{Error, Progress, Result};

/// Points a task works on.
const POINTS: usize = 1024;
/// Parts the points are split into; their sums are added in order, whatever the number of threads.
const PARTS: usize = 16;

/// Shapes and their values: the displacement at frame i is `sum over j of values_ij keys_j`.
#[derive(Debug, Clone, PartialEq)]
pub struct ModalKeys {
    /// The shapes, k x p x 3 in C order, metres.
    pub keys: Vec<f32>,
    /// Their values, f x k in C order; the largest magnitude of each key's values is 1, where it is +1.
    pub values: Vec<f32>,
    /// Number of keys k.
    pub count: usize,
    /// Largest distance of a point in a frame from where it should be, measured with the numbers above,
    /// metres.
    pub error: f64,
}

/// The fewest shapes from the singular value decomposition of all frames that stay within `tolerance`.
///
/// `frames` is f x p x 3 in C order, in metres; `tolerance` bounds the distance of every point in every
/// frame, in metres. The decomposition `A = V S U'` is that of the small `A A' = V S^2 V'`, so its cost grows
/// with f^2 p. If `max_keys` shapes do not reach the tolerance, they are returned with the error they leave.
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
    progress.report(0.0)?;
    let (_, vectors) = symmetric_eigen(source.gram().as_ref())?;
    progress.report(0.5)?;
    // Largest first; scaled to [-1, 1]; the largest positive.
    let most = max_keys.min(frame_count);
    let curves: Vec<Curve> =
        (0..most).map(|j| Curve::new(vectors.col_as_slice(frame_count - 1 - j))).collect();
    let blocks: Vec<Block> = (0..source.width.div_ceil(3 * POINTS))
        .into_par_iter()
        .map(|block| source.reduce(block, &curves))
        .collect();
    progress.report(1.0)?;

    let error = |keys: usize| blocks.iter().fold(0.0, |e: f64, block| e.max(block.errors[keys]));
    let count = (0..=most).find(|&keys| error(keys) <= tolerance).unwrap_or(most);
    let mut keys = Vec::with_capacity(count * source.width);
    for j in 0..count {
        blocks.iter().for_each(|block| keys.extend(&block.keys[j]));
    }
    let values =
        (0..frame_count).flat_map(|i| curves[..count].iter().map(move |curve| curve.values[i])).collect();
    Ok(ModalKeys { keys, values, count, error: error(count) })
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
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        return Err(Error::Range { what: "tolerance", expected: "a distance >= 0", got: tolerance });
    }
    match frames.iter().position(|x| !x.is_finite()) {
        Some(element) => Err(Error::NotFinite { what: "frames", element, value: frames[element].into() }),
        None => Ok(()),
    }
}

/// How strongly a key acts in each frame.
struct Curve {
    /// The singular vector over its largest entry.
    values: Vec<f32>,
    /// A key is `scale * sum over frames of values_i frame_i`.
    scale: f64,
}

impl Curve {
    fn new(vector: &[f64]) -> Self {
        let largest = vector.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
        let values: Vec<f32> = vector.iter().map(|v| (v / largest) as f32).collect();
        // Of the rounded values, so that keys undo their rounding.
        let norm2: f64 = values.iter().map(|&v| f64::from(v).powi(2)).sum();
        Self { values, scale: 1.0 / norm2 }
    }
}

struct Frames<'a> {
    numbers: &'a [f32],
    count: usize,
    /// Numbers a frame.
    width: usize,
}

/// The part of every key at some points, and the largest error there with 0, 1, 2... keys.
struct Block {
    keys: Vec<Vec<f32>>,
    errors: Vec<f64>,
}

impl Frames<'_> {
    fn frame(&self, frame: usize, range: &std::ops::Range<usize>) -> &[f32] {
        &self.numbers[frame * self.width..][range.clone()]
    }

    /// `A A'`.
    fn gram(&self) -> Mat<f64> {
        let size = self.width.div_ceil(PARTS);
        let parts: Vec<Mat<f64>> = (0..PARTS)
            .into_par_iter()
            .map(|part| {
                let end = ((part + 1) * size).min(self.width);
                let mut sum = Mat::zeros(self.count, self.count);
                for start in (part * size..end).step_by(POINTS) {
                    let range = start..(start + POINTS).min(end);
                    let block = Mat::from_fn(range.len(), self.count, |i, f| {
                        f64::from(self.numbers[f * self.width + range.start + i])
                    });
                    matmul(&mut sum, Accum::Add, block.transpose(), &block, 1.0, Par::Seq);
                }
                sum
            })
            .collect();
        parts.iter().fold(Mat::zeros(self.count, self.count), |sum, part| sum + part)
    }

    fn reduce(&self, block: usize, curves: &[Curve]) -> Block {
        let range = block * 3 * POINTS..((block + 1) * 3 * POINTS).min(self.width);
        let mut residual: Vec<Vec<f64>> =
            (0..self.count).map(|f| self.frame(f, &range).iter().map(|&x| x.into()).collect()).collect();
        let mut errors = vec![largest_distance(&residual)];
        let keys = curves
            .iter()
            .map(|curve| {
                let mut key = vec![0.0; range.len()];
                for (frame, &value) in residual.iter().zip(&curve.values) {
                    let factor = curve.scale * f64::from(value);
                    key.iter_mut().zip(frame).for_each(|(key, x)| *key += factor * x);
                }
                let key: Vec<f32> = key.into_iter().map(|x| x as f32).collect();
                for (frame, &value) in residual.iter_mut().zip(&curve.values) {
                    frame.iter_mut().zip(&key).for_each(|(x, &key)| *x -= f64::from(value) * f64::from(key));
                }
                errors.push(largest_distance(&residual));
                key
            })
            .collect();
        Block { keys, errors }
    }
}

fn largest_distance(frames: &[Vec<f64>]) -> f64 {
    let distance2 = |p: &[f64; 3]| p.iter().map(|x| x * x).sum::<f64>();
    frames.iter().flat_map(|frame| frame.as_chunks::<3>().0).map(distance2).fold(0.0, f64::max).sqrt()
}
