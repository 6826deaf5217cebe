//! Weighted k-means: a k-means++ start on a sample, then a few Lloyd iterations over all points.
//!
//! Points and centres are columns of matrices. The triangle inequality on the distances between centres
//! excludes most comparisons.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::math::random::{sample, uniform};
use crate::parallel::*;
use crate::{Progress, Result};

/// Sample points per cluster for the start: enough to place the centres, few enough to be fast.
const SAMPLE: usize = 200;
/// Lloyd iterations on the sample and on all points; each loop stops early once no label changes.
const PASSES: (usize, usize) = (40, 4);
/// Difference in squared distance within which two centres tie, in squared units of the data's extent:
/// smaller differences are rounding.
const TIE: f64 = 1e-9;
/// Number of points whose sampling weights share a partial sum.
const BLOCK: usize = 256;
/// Number of centres compared at once.
const LANES: usize = 8;

/// Label of the nearest of at most `count` centres for each row of `points`, with the rows weighted by
/// `weights`.
pub(super) fn cluster(
    points: &Mat<f64>,
    weights: &[f64],
    count: usize,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sample = sample(points.nrows(), SAMPLE * count, &mut random);
    let sampled = Mat::from_fn(points.ncols(), sample.len(), |d, i| points[(sample[i], d)]);
    let sampled_weights: Vec<f64> = sample.iter().map(|&i| weights[i]).collect();
    let (start, labels) = spread_out(&sampled, &sampled_weights, count, &mut random);
    let (centres, labels) = lloyd(&sampled, &sampled_weights, (start, &labels), PASSES.0, progress)?;
    if sample.len() == points.nrows() {
        return Ok(labels);
    }
    // A point outside the sample probably lies near the last sample point before it.
    let before = |point| sample.partition_point(|&i| i <= point).saturating_sub(1);
    let likely: Vec<u32> = (0..points.nrows()).map(|point| labels[before(point)]).collect();
    let points = points.transpose().to_owned();
    Ok(lloyd(&points, weights, (centres, &likely), PASSES.1, progress)?.1)
}

/// k-means++ initialisation: each next centre is drawn with a probability proportional to weight times
/// squared distance to the nearest centre so far. Each point gets the label of its nearest centre.
fn spread_out(
    points: &Mat<f64>,
    weights: &[f64],
    count: usize,
    random: &mut ChaCha8Rng,
) -> (Mat<f64>, Vec<u32>) {
    let mut chances = weights.to_vec();
    let mut sums: Vec<f64> = chances.chunks(BLOCK).map(|block| block.iter().sum()).collect();
    let (mut distances, mut labels) = (vec![f64::INFINITY; weights.len()], vec![0; weights.len()]);
    let mut chosen: Vec<&[f64]> = Vec::with_capacity(count);
    while chosen.len() < count && (chosen.is_empty() || sums.iter().any(|&sum| sum > 0.0)) {
        let centre = points.col_as_slice(draw(&chances, &sums, random));
        // A point closer to its own centre than half the distance between that centre and the new one keeps
        // its label.
        let half_way: Vec<f64> = chosen.iter().map(|other| 0.25 * squared(other, centre)).collect();
        for (block, sum) in sums.iter_mut().enumerate() {
            let (first, last) = (block * BLOCK, weights.len().min((block + 1) * BLOCK));
            let mut nearer = false;
            for point in first..last {
                if half_way.get(labels[point] as usize).is_some_and(|half_way| distances[point] <= *half_way)
                {
                    continue;
                }
                let square = squared(points.col_as_slice(point), centre);
                if square < distances[point] {
                    (distances[point], labels[point]) = (square, chosen.len() as u32);
                    chances[point] = square * weights[point];
                    nearer = true;
                }
            }
            if nearer {
                *sum = chances[first..last].iter().sum();
            }
        }
        chosen.push(centre);
    }
    (Mat::from_fn(points.nrows(), chosen.len(), |d, label| chosen[label][d]), labels)
}

/// Draws an index with these probabilities; `sums` holds their block sums.
fn draw(chances: &[f64], sums: &[f64], random: &mut ChaCha8Rng) -> usize {
    let mut left = uniform(random) * sums.iter().sum::<f64>();
    let first = BLOCK * pass(sums, &mut left);
    first + pass(&chances[first..chances.len().min(first + BLOCK)], &mut left)
}

/// Subtracts leading shares from `left` while they fit. Returns the index of the next share, or of the last
/// nonzero share.
fn pass(shares: &[f64], left: &mut f64) -> usize {
    let ends = |share: &f64| {
        let ends = *left < *share;
        *left -= if ends { 0.0 } else { *share };
        ends
    };
    let found = shares.iter().position(ends);
    found.unwrap_or_else(|| shares.iter().rposition(|&share| share > 0.0).unwrap_or(0))
}

/// Centres and labels after some Lloyd iterations from initial centres and probable labels.
fn lloyd(
    points: &Mat<f64>,
    weights: &[f64],
    (mut centres, likely): (Mat<f64>, &[u32]),
    passes: usize,
    progress: &Progress,
) -> Result<(Mat<f64>, Vec<u32>)> {
    let mut labels = nearest(points, &centres, likely);
    for pass in 0..passes {
        progress.report(0.8 * pass as f32 / passes as f32)?;
        centres = means(points, weights, &labels, centres);
        let next = nearest(points, &centres, &labels);
        if next == labels {
            break;
        }
        labels = next;
    }
    Ok((centres, labels))
}

/// Index of the nearest centre of each point, the lowest among equals. The search starts at the probable
/// centres. Points must lie within a distance of about one of the origin.
fn nearest(points: &Mat<f64>, centres: &Mat<f64>, likely: &[u32]) -> Vec<u32> {
    let mut members = vec![Vec::new(); centres.ncols()];
    likely.iter().enumerate().for_each(|(point, &label)| members[label as usize].push(point));
    let found: Vec<Vec<u32>> = members
        .par_iter()
        .enumerate()
        .map_init(Around::default, |around, (center, members)| {
            around.enter(centres, center, members.iter().map(|&point| points.col_as_slice(point)));
            members.iter().map(|&point| around.nearest(points.col_as_slice(point))).collect()
        })
        .collect();
    let mut labels = vec![0; likely.len()];
    for (members, found) in members.iter().zip(&found) {
        members.iter().zip(found).for_each(|(&point, &label)| labels[point] = label);
    }
    labels
}

/// The centres near one centre, nearest first, as far as any member of its cluster may have to search.
#[derive(Default)]
struct Around {
    /// Distance from the centre, and label, of each nearby centre.
    centres: Vec<(f64, u32)>,
    /// Coordinates of the nearby centres in groups of [`LANES`], coordinate by coordinate.
    places: Vec<[f64; LANES]>,
    halves: Vec<[f64; LANES]>,
}

impl Around {
    fn enter<'a>(&mut self, centres: &Mat<f64>, center: usize, members: impl Iterator<Item = &'a [f64]>) {
        let place = centres.col_as_slice(center);
        let furthest = reach(members.map(|point| squared(point, place)).fold(0.0, f64::max));
        let apart = |(label, other): (u32, &[f64])| (squared(other, place).sqrt(), label);
        let others = (0..centres.ncols()).map(|label| (label as u32, centres.col_as_slice(label)));
        self.centres.clear();
        self.centres.extend(others.map(apart).filter(|(apart, _)| *apart <= furthest));
        self.centres.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.places.clear();
        for some in self.centres.chunks(LANES) {
            let coordinate = |d: usize, lane: usize| {
                some.get(lane).map_or(f64::INFINITY, |&(_, label)| centres[(d, label as usize)])
            };
            let coordinates = |d| std::array::from_fn(|lane| coordinate(d, lane));
            self.places.extend((0..place.len()).map(coordinates));
        }
    }

    /// Lowest label among the centres that tie for nearest.
    fn nearest(&mut self, point: &[f64]) -> u32 {
        self.halves.clear();
        let mut least = f64::INFINITY;
        let mut within = self.centres.len();
        for (number, places) in self.places.chunks_exact(point.len()).enumerate() {
            if number * LANES >= within {
                break;
            }
            let mut halves = [0.0; LANES];
            for (x, places) in point.iter().zip(places) {
                (0..LANES).for_each(|lane| halves[lane] += 0.5 * (x - places[lane]).powi(2));
            }
            if number == 0 {
                let reach = reach(2.0 * halves[0]);
                within = self.centres.partition_point(|(apart, _)| *apart <= reach);
            }
            least = halves.iter().copied().fold(least, f64::min);
            self.halves.push(halves);
        }
        let halves = self.halves.as_flattened().iter().zip(&self.centres);
        let tied = halves.filter(|(half, _)| **half <= least + TIE);
        tied.map(|(_, (_, label))| *label).min().unwrap_or(0)
    }
}

/// Largest distance between a centre and another one that can be at least as near to a point, given the
/// point's squared distance from the centre.
fn reach(square: f64) -> f64 {
    square.sqrt() + (square + 2.0 * TIE).sqrt()
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Weighted mean of each label's points; the old centre for a label without points.
fn means(points: &Mat<f64>, weights: &[f64], labels: &[u32], old: Mat<f64>) -> Mat<f64> {
    let mut total = vec![0.0; old.ncols()];
    let mut sums: Mat<f64> = Mat::zeros(old.nrows(), old.ncols());
    for (point, (&label, weight)) in labels.iter().zip(weights).enumerate() {
        total[label as usize] += weight;
        let (sums, point) = (sums.col_as_slice_mut(label as usize), points.col_as_slice(point));
        sums.iter_mut().zip(point).for_each(|(sum, x)| *sum += weight * x);
    }
    let mean = |d, label| if total[label] > 0.0 { sums[(d, label)] / total[label] } else { old[(d, label)] };
    Mat::from_fn(old.nrows(), old.ncols(), mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses random points and centres, with copies of some centres.
    #[test]
    fn the_nearest_around_likely_centres_are_the_nearest_of_all() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for (dimensions, count) in [(1, 3), (2, 20), (3, 100), (7, 40)] {
            let mut draw = |columns: usize| Mat::from_fn(dimensions, columns, |_, _| uniform(&mut random));
            let (points, mut centres) = (draw(500), draw(count));
            let first = centres.col(0).to_owned();
            centres.col_mut(count - 1).copy_from(&first);
            let all = |point: &[f64]| {
                let halves = centres.col_iter().map(|c| {
                    let c: Vec<f64> = c.iter().copied().collect();
                    0.5 * squared(&c, point)
                });
                let halves: Vec<f64> = halves.collect();
                let least = halves.iter().copied().fold(f64::INFINITY, f64::min);
                halves.iter().position(|half| *half <= least + TIE).unwrap() as u32
            };
            let expected: Vec<u32> = (0..500).map(|point| all(points.col_as_slice(point))).collect();
            let by_chance: Vec<u32> = (0..500).map(|point| (point * 31 % count) as u32).collect();
            assert_eq!(nearest(&points, &centres, &by_chance), expected);
            assert_eq!(nearest(&points, &centres, &expected), expected);
        }
    }

    #[test]
    fn a_start_knows_the_nearest_of_its_centres() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let points = Mat::from_fn(3, 1000, |_, _| uniform(&mut random));
        let weights: Vec<f64> = (0..1000).map(|_| uniform(&mut random)).collect();
        let (centres, labels) = spread_out(&points, &weights, 50, &mut random);
        assert_eq!(centres.ncols(), 50);
        for (point, &label) in labels.iter().enumerate() {
            let square = |centre: usize| squared(centres.col_as_slice(centre), points.col_as_slice(point));
            assert!((0..50).all(|other| square(label as usize) <= square(other)));
        }
    }
}
