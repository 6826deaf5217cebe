//! Quadratic metric of a step: a diagonal, an optional coupling matrix, and a few stiff directions.

use faer::MatMut;

use crate::math::DenseCholesky;
use crate::math::rows::{Rows, add, dot};

/// Largest number of stiff directions.
pub(super) const MOST_STIFF: usize = 48;

/// `diag(d) + A + sum of c u u'`, positive definite, with a mostly absent A and few stiff directions u.
pub(super) struct Metric {
    /// d, r; infinite for fixed coordinates.
    pub(super) diagonal: Vec<f64>,
    /// Factor of `diag(d) + A`, once there has been an A.
    factor: Option<DenseCholesky>,
    coupled: bool,
    stiff: StiffDirections,
}

impl Metric {
    pub(super) fn new(rank: usize) -> Self {
        Self { diagonal: vec![1.0; rank], factor: None, coupled: false, stiff: StiffDirections::default() }
    }

    /// Removes A.
    pub(super) fn uncouple(&mut self) {
        self.coupled = false;
    }

    /// Sets A; `add` adds its lower half to a matrix. Allocates the first time.
    pub(super) fn couple(&mut self, add: impl FnOnce(MatMut<'_, f64>)) {
        let rank = self.diagonal.len();
        let factor = self.factor.get_or_insert_with(|| DenseCholesky::zeros(rank));
        factor.matrix.fill(0.0);
        self.diagonal.iter().enumerate().for_each(|(i, &d)| factor.matrix[(i, i)] = d);
        add(factor.matrix.as_mut());
        self.coupled = factor.factor();
        if !self.coupled {
            // Overflowed numbers have no factor: the NaN diagonal fails the step.
            self.diagonal.fill(f64::NAN);
        }
    }

    /// Forgets all stiff directions.
    pub(super) fn relax(&mut self) {
        self.stiff.count = 0;
    }

    /// Resets the stiffness of all known directions to zero.
    pub(super) fn slacken(&mut self) {
        self.stiff.compliances.fill(f64::INFINITY);
    }

    /// Sets the stiffness c of a named direction. For an unknown name, `write` writes u, r rows; directions
    /// beyond [`MOST_STIFF`] are ignored. Allocates the first time.
    pub(super) fn stiffen(&mut self, name: usize, c: f64, write: impl FnOnce(&mut Rows)) {
        let mut stiff = std::mem::take(&mut self.stiff);
        let known = stiff.names[..stiff.count].iter().position(|known| *known == name);
        let slot =
            known.or_else(|| stiff.add(name, self.diagonal.len(), write, |rows| self.solve_coupled(rows)));
        if let Some(slot) = slot {
            stiff.compliances[slot] = 1.0 / c;
        }
        self.stiff = stiff;
    }

    /// Factors the stiff directions, ready for a solve.
    pub(super) fn prepare(&mut self) {
        self.stiff.factorise();
    }

    /// `true` if the diagonal is all there is.
    pub(super) fn is_diagonal(&self) -> bool {
        !self.coupled && self.stiff.count == 0
    }

    /// `true` if no pivot is below a share of the largest; always `true` without A.
    pub(super) fn is_definite(&self, share: f64) -> bool {
        let Some(factor) = self.factor.as_ref().filter(|_| self.coupled) else { return true };
        let pivots = (0..self.diagonal.len()).map(|i| factor.matrix[(i, i)]);
        let (least, most) = pivots
            .filter(|pivot| *pivot < f64::INFINITY)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), p| (least.min(p), most.max(p)));
        least * least > share * most * most
    }

    /// Solves for the change under a force, r rows, in place.
    pub(super) fn solve(&self, rows: &mut [[f64; 3]]) {
        let shares = self.stiff.shares(rows);
        self.solve_coupled(rows);
        self.stiff.take(&shares, rows);
    }

    /// Solve without stiff directions.
    fn solve_coupled(&self, rows: &mut [[f64; 3]]) {
        if let Some(factor) = self.factor.as_ref().filter(|_| self.coupled) {
            factor.solve(rows.as_flattened_mut(), 3);
            return;
        }
        for (row, d) in rows.iter_mut().zip(&self.diagonal) {
            row.iter_mut().for_each(|x| *x /= d);
        }
    }
}

/// Directions u of stiffness c on top of a matrix B, by the Woodbury formula:
/// `(B + U C U')^-1 = B^-1 - W (C^-1 + U' W)^-1 W'`, `W = B^-1 U`.
#[derive(Default)]
struct StiffDirections {
    count: usize,
    names: Vec<usize>,
    /// Diagonal of `C^-1`; infinite for zero stiffness.
    compliances: Vec<f64>,
    /// W, r rows a direction.
    images: Vec<[f64; 3]>,
    /// u of the last direction.
    direction: Vec<[f64; 3]>,
    /// Lower halves of `U' W` and of the Cholesky factor of `C^-1 + U' W`.
    product: Vec<[f64; MOST_STIFF]>,
    factor: Vec<[f64; MOST_STIFF]>,
}

impl StiffDirections {
    /// Adds a direction; returns its slot, `None` if all are taken.
    fn add(
        &mut self,
        name: usize,
        rank: usize,
        write: impl FnOnce(&mut Rows),
        solve: impl FnOnce(&mut Rows),
    ) -> Option<usize> {
        let own = self.count;
        if own == MOST_STIFF {
            return None;
        }
        self.names.resize(MOST_STIFF, 0);
        self.compliances.resize(MOST_STIFF, f64::INFINITY);
        self.images.resize(MOST_STIFF * rank, [0.0; 3]);
        self.direction.resize(rank, [0.0; 3]);
        self.product.resize(MOST_STIFF, [0.0; MOST_STIFF]);
        self.factor.resize(MOST_STIFF, [0.0; MOST_STIFF]);
        write(&mut self.direction);
        let image = &mut self.images[own * rank..][..rank];
        image.copy_from_slice(&self.direction);
        solve(image);
        for (product, image) in self.product[own].iter_mut().zip(self.images.chunks_exact(rank)).take(own + 1)
        {
            *product = dot(&self.direction, image);
        }
        (self.names[own], self.count) = (name, own + 1);
        Some(own)
    }

    /// Cholesky factorisation; an infinite pivot, from zero stiffness, has zeros below it.
    fn factorise(&mut self) {
        for i in 0..self.count {
            let (done, rest) = self.factor.split_at_mut(i);
            let row = &mut rest[0];
            for j in 0..i {
                let known: f64 = (0..j).map(|k| row[k] * done[j][k]).sum();
                row[j] = (self.product[i][j] - known) / done[j][j];
            }
            let known: f64 = row[..i].iter().map(|x| x * x).sum();
            let pivot = self.product[i][i] + self.compliances[i] - known;
            row[i] = if pivot > 0.0 { pivot.sqrt() } else { f64::INFINITY };
        }
    }

    /// `(C^-1 + U' W)^-1 W'` of a force.
    fn shares(&self, force: &Rows) -> [f64; MOST_STIFF] {
        let mut shares = [0.0; MOST_STIFF];
        for (j, image) in self.images.chunks_exact(force.len()).take(self.count).enumerate() {
            let known: f64 = (0..j).map(|k| self.factor[j][k] * shares[k]).sum();
            shares[j] = (dot(image, force) - known) / self.factor[j][j];
        }
        for j in (0..self.count).rev() {
            let known: f64 = (j + 1..self.count).map(|k| self.factor[k][j] * shares[k]).sum();
            shares[j] = (shares[j] - known) / self.factor[j][j];
        }
        shares
    }

    /// Subtracts W times the shares from a change.
    fn take(&self, shares: &[f64; MOST_STIFF], change: &mut Rows) {
        for (image, share) in self.images.chunks_exact(change.len()).zip(shares).take(self.count) {
            add(change, -share, image);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Metric;
    use crate::math::rows::{Rows, add, dot};

    const RANK: usize = 5;

    fn direction(name: usize) -> [[f64; 3]; RANK] {
        std::array::from_fn(|i| std::array::from_fn(|c| ((7 * name + 3 * i + c) as f64).sin()))
    }

    /// `diag(d) x` plus the stiff directions.
    fn image(metric: &Metric, stiff: &[(usize, f64)], x: &Rows) -> Vec<[f64; 3]> {
        let mut image: Vec<_> = x.iter().zip(&metric.diagonal).map(|(x, d)| x.map(|x| d * x)).collect();
        for &(name, c) in stiff {
            add(&mut image, c * dot(&direction(name), x), &direction(name));
        }
        image
    }

    /// Directions appear, change and disappear: each time, the image of the solution is the force.
    #[test]
    fn stiff_directions_are_solved_for() {
        let mut metric = Metric::new(RANK);
        metric.diagonal.copy_from_slice(&[1.0, 2.0, 0.5, 3.0, 1.5]);
        let force = direction(9);
        let rounds: [&[(usize, f64)]; 4] =
            [&[(4, 10.0), (2, 1e4)], &[], &[(2, 3.0), (6, 1e6), (1, 0.1)], &[(1, 7.0)]];
        for stiff in rounds {
            metric.slacken();
            stiff
                .iter()
                .for_each(|&(name, c)| metric.stiffen(name, c, |u| u.copy_from_slice(&direction(name))));
            metric.prepare();
            let mut found = force;
            metric.solve(&mut found);
            let image = image(&metric, stiff, &found);
            let missed = image.as_flattened().iter().zip(force.as_flattened()).map(|(a, b)| (a - b).abs());
            let missed = missed.fold(0.0, f64::max);
            let stiffest = stiff.iter().fold(1.0, |most: f64, &(_, c)| most.max(c));
            assert!(missed < 1e-14 * stiffest, "{missed} of {stiff:?}");
        }
    }

    /// A repeated direction, and more directions than slots.
    #[test]
    fn many_directions_stay_solvable() {
        let mut metric = Metric::new(RANK);
        for name in 0..2 * super::MOST_STIFF {
            metric.stiffen(name, 1e12, |u| u.copy_from_slice(&direction(name % 7)));
        }
        metric.prepare();
        let mut found = direction(8);
        metric.solve(&mut found);
        assert!(dot(&found, &direction(8)) > 0.0);
    }
}
