//! Compliances from the points of contacts to all points.

use faer::Mat;
use nalgebra::{Matrix3, Vector3};

use super::{ContactPoints, Corners, Inverse, Mobility};
use crate::math::rows::Rows;

/// Smallest displacement of a point along its own contact force, as a share of the largest one of any point.
const LEVER: f64 = 0.3;

/// Compliances from known points to all points, in the metric alike in all directions, m/N. They depend on
/// nothing else.
pub(super) struct ComplianceColumns {
    /// Averaged over the axes; empty for an unknown point.
    mean: Vec<Vec<f64>>,
    /// All pairs of axes, of points whose rows couple directions.
    whole: Vec<Vec<Matrix3<f64>>>,
    spread: Vec<[f64; 3]>,
}

impl ComplianceColumns {
    pub(super) fn new(points: usize) -> Self {
        Self { mean: vec![Vec::new(); points], whole: vec![Vec::new(); points], spread: Vec::new() }
    }

    /// Forgets the compliances of another metric.
    pub(super) fn clear(&mut self) {
        self.mean.iter_mut().for_each(Vec::clear);
        self.whole.iter_mut().for_each(Vec::clear);
    }

    /// Keeps the first points.
    pub(super) fn truncate(&mut self, points: usize) {
        self.mean.truncate(points);
        self.whole.truncate(points);
    }

    /// Adds a point.
    pub(super) fn push(&mut self) {
        self.mean.push(Vec::new());
        self.whole.push(Vec::new());
    }

    /// Computes missing compliances of some points, three a solve.
    pub(super) fn know(
        &mut self,
        touched: &[usize],
        points: &ContactPoints,
        rows: usize,
        inverse: &mut Inverse<'_>,
    ) {
        let mut new = touched.to_vec();
        new.dedup();
        new.retain(|&point| self.mean[point].is_empty());
        if points.is_coupled() {
            return new.iter().for_each(|&point| self.add_whole(point, points, rows, inverse));
        }
        // Sums of rows have the same compliance along each axis, so that an axis stands for a point.
        for three in new.chunks(3) {
            let forces = three.iter().enumerate().map(|(c, &point)| (point, Vector3::ith(c, 1.0)));
            let moved = self.moved(forces, points, rows, inverse);
            for (c, &point) in three.iter().enumerate() {
                self.mean[point] = moved.iter().map(|moved| moved[c]).collect();
            }
        }
    }

    fn add_whole(&mut self, point: usize, points: &ContactPoints, rows: usize, inverse: &mut Inverse<'_>) {
        let along = [0, 1, 2]
            .map(|c| self.moved(std::iter::once((point, Vector3::ith(c, 1.0))), points, rows, inverse));
        let block = |i: usize| Matrix3::from_columns(&[along[0][i], along[1][i], along[2][i]]);
        self.whole[point] = (0..along[0].len()).map(block).collect();
        self.mean[point] = self.whole[point].iter().map(|block| block.trace() / 3.0).collect();
    }

    /// Displacements of all points under forces.
    fn moved(
        &mut self,
        forces: impl Iterator<Item = (usize, Vector3<f64>)>,
        points: &ContactPoints,
        rows: usize,
        inverse: &mut Inverse<'_>,
    ) -> Vec<Vector3<f64>> {
        self.spread.clear();
        self.spread.resize(rows, [0.0; 3]);
        forces.for_each(|(point, force)| points.spread(point, &force, &mut self.spread));
        inverse.solve_evenly(&mut self.spread);
        let spread: &Rows = &self.spread;
        let mut moved = points.all_at(spread);
        moved.extend((moved.len()..self.mean.len()).map(|spot| points.at(spot, spread)));
        moved
    }

    /// Adds up the compliances of an added point from those of its parts; parts that never move have none.
    pub(super) fn add_up(&mut self, point: usize, points: &ContactPoints) {
        let Some(parts) = points.parts(point).filter(|_| self.mean[point].is_empty()) else { return };
        let mut sum = vec![0.0; points.len()];
        for (part, share) in parts.iter().filter(|(_, share)| *share != 0.0) {
            sum.iter_mut().zip(&self.mean[*part as usize]).for_each(|(sum, x)| *sum += share * x);
        }
        let of_parts = |parts: &Corners| parts.iter().map(|&(part, share)| share * sum[part as usize]).sum();
        let added: Vec<f64> =
            (points.len()..self.mean.len()).filter_map(|q| points.parts(q).map(of_parts)).collect();
        sum.extend(added);
        self.mean[point] = sum;
    }

    /// Compliance of a known point under its own force, averaged over directions.
    pub(super) fn own(&self, point: usize) -> f64 {
        self.mean[point][point]
    }

    /// `true` if a force at a known point moves any point by at most its own motion divided by a share.
    pub(super) fn leads(&self, point: usize, share: f64) -> bool {
        let furthest = self.mean[point].iter().fold(0.0_f64, |most, moved| most.max(moved.abs()));
        self.own(point) >= share * furthest
    }

    /// `true` if a force along a normal moves its point about as far as any other. Few displacements may lack
    /// the dent at a point, and such a force would throw other flesh.
    pub(super) fn gives_way(&self, point: usize, normal: &Vector3<f64>) -> bool {
        let whole = &self.whole[point];
        let furthest = whole.iter().map(|block| (block * normal).norm_squared()).fold(0.0, f64::max).sqrt();
        whole.get(point).is_none_or(|own| normal.dot(&(own * normal)) >= LEVER * furthest)
    }

    /// Compliance between known points; the first `count` points are not added ones.
    pub(super) fn mobility(&self, touched: &[usize], count: usize) -> Mobility {
        let size = touched.len();
        // The columns of points know only the spots that were found before them.
        let pair = |i: usize, j: usize| {
            let (low, high) = (touched[i].min(touched[j]), touched[i].max(touched[j]));
            if high < count { (touched[i], touched[j]) } else { (low, high) }
        };
        if touched.iter().all(|&point| self.whole[point].is_empty()) {
            return Mobility::Even(Mat::from_fn(size, size, |i, j| {
                let (row, column) = pair(i, j);
                self.mean[column][row]
            }));
        }
        Mobility::Turning(Mat::from_fn(3 * size, 3 * size, |i, j| {
            let (row, column) = pair(i / 3, j / 3);
            let block = &self.whole[column][row];
            if row == touched[i / 3] { block[(i % 3, j % 3)] } else { block[(j % 3, i % 3)] }
        }))
    }
}
