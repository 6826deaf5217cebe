//! Weighted k-means: a careful start on a sample, then a few passes over everything.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::math::random::{sample, uniform};
use crate::{Progress, Result};

/// Points a cluster that the start looks at: enough to place the centres, few enough to be fast.
const SAMPLE: usize = 200;
/// Passes over the sample and over all points; each stops early when no label changes.
const PASSES: (usize, usize) = (40, 4);
/// By how much a centre must be nearer, in squares of the size of what is clustered: less is rounding of a tie.
const TIE: f64 = 1e-9;
/// Points a task works on.
const CHUNK: usize = 2048;
/// Centres that are compared at once.
const LANES: usize = 16;

/// The label of the nearest of at most `count` centres for each row of `points`, rows weighted by `weights`.
pub(super) fn cluster(
    points: &Mat<f64>,
    weights: &[f64],
    count: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sample = sample(points.nrows(), SAMPLE * count, &mut random);
    let sampled = Mat::from_fn(sample.len(), points.ncols(), |i, j| points[(sample[i], j)]);
    let sampled_weights: Vec<f64> = sample.iter().map(|&i| weights[i]).collect();
    let start = spread_out(&sampled, &sampled_weights, count, &mut random);
    let (centres, labels) = lloyd(&sampled, &sampled_weights, start, PASSES.0, progress)?;
    if sample.len() == points.nrows() {
        return Ok(labels);
    }
    Ok(lloyd(points, weights, centres, PASSES.1, progress)?.1)
}

/// k-means++: each next centre is drawn with a probability proportional to weight times squared distance to the
/// nearest centre so far.
fn spread_out(points: &Mat<f64>, weights: &[f64], count: usize, random: &mut ChaCha8Rng) -> Mat<f64> {
    let mut chosen = vec![draw(weights, random)];
    let mut distance = vec![f64::INFINITY; points.nrows()];
    while chosen.len() < count {
        let centre = chosen[chosen.len() - 1];
        let mut squared = vec![0.0; points.nrows()];
        for column in points.col_iter() {
            let at_centre = column[centre];
            squared.iter_mut().zip(column.iter()).for_each(|(s, x)| *s += (x - at_centre).powi(2));
        }
        distance.iter_mut().zip(&squared).for_each(|(d, s)| *d = d.min(*s));
        let chances: Vec<f64> = distance.iter().zip(weights).map(|(d, w)| d * w).collect();
        if chances.iter().all(|&c| c == 0.0) {
            break;
        }
        chosen.push(draw(&chances, random));
    }
    Mat::from_fn(chosen.len(), points.ncols(), |i, j| points[(chosen[i], j)])
}

fn draw(chances: &[f64], random: &mut ChaCha8Rng) -> usize {
    let mut left = uniform(random) * chances.iter().sum::<f64>();
    let found = chances.iter().position(|&chance| {
        left -= chance;
        left < 0.0
    });
    found.unwrap_or_else(|| chances.iter().rposition(|&c| c > 0.0).unwrap_or(0))
}

fn lloyd(
    points: &Mat<f64>,
    weights: &[f64],
    mut centres: Mat<f64>,
    passes: usize,
    progress: &Progress,
) -> Result<(Mat<f64>, Vec<u32>)> {
    let mut labels = nearest(points, &centres);
    for pass in 0..passes {
        progress.report(0.8 * pass as f32 / passes as f32)?;
        centres = means(points, weights, &labels, centres);
        let next = nearest(points, &centres);
        if next == labels {
            break;
        }
        labels = next;
    }
    Ok((centres, labels))
}

/// Index of the nearest centre of each point, the lowest among equals, of points within about one of the origin.
fn nearest(points: &Mat<f64>, centres: &Mat<f64>) -> Vec<u32> {
    let half_squares: Vec<f64> = centres.row_iter().map(|c| 0.5 * c.squared_norm_l2()).collect();
    let chunks: Vec<Vec<u32>> = points
        .par_row_chunks(CHUNK)
        .map(|chunk: MatRef<'_, f64>| {
            let mut products = Mat::zeros(centres.nrows(), chunk.nrows());
            matmul(&mut products, Accum::Replace, centres, chunk.transpose(), 1.0, Par::Seq);
            (0..chunk.nrows()).map(|point| first_least(products.col_as_slice(point), &half_squares)).collect()
        })
        .collect();
    chunks.concat()
}

/// Index of the first centre that is as near as the nearest, from products with a point and halves of squares.
fn first_least(products: &[f64], half_squares: &[f64]) -> u32 {
    let ((whole, rest), (halves, rest_of_halves)) =
        (products.as_chunks::<LANES>(), half_squares.as_chunks::<LANES>());
    let mut least = [f64::INFINITY; LANES];
    for (products, halves) in whole.iter().zip(halves) {
        for ((least, product), half) in least.iter_mut().zip(products).zip(halves) {
            *least = if half - product < *least { half - product } else { *least };
        }
    }
    let others = rest.iter().zip(rest_of_halves).map(|(product, half)| half - product);
    let least = others.chain(least).fold(f64::INFINITY, f64::min);
    let tied = |(product, half): (&f64, &f64)| half - product <= least + TIE;
    products.iter().zip(half_squares).position(tied).unwrap_or(0) as u32
}

/// Weighted mean of each label's points; the old centre where a label has none.
fn means(points: &Mat<f64>, weights: &[f64], labels: &[u32], old: Mat<f64>) -> Mat<f64> {
    let (count, dimensions) = (old.nrows(), old.ncols());
    let mut total = vec![0.0; count];
    labels.iter().zip(weights).for_each(|(&label, weight)| total[label as usize] += weight);
    let columns: Vec<Vec<f64>> = (0..dimensions)
        .into_par_iter()
        .map(|j| {
            let mut sum = vec![0.0; count];
            for ((&label, weight), x) in labels.iter().zip(weights).zip(points.col(j).iter()) {
                sum[label as usize] += weight * x;
            }
            sum
        })
        .collect();
    Mat::from_fn(
        count,
        dimensions,
        |i, j| if total[i] > 0.0 { columns[j][i] / total[i] } else { old[(i, j)] },
    )
}
