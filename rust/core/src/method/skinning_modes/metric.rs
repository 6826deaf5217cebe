//! The quadratic form by which a step turns a force into a change: a diagonal, what couples coordinates
//! beside it, and a few directions that are stiff besides.

use faer::MatMut;

use crate::math::DenseCholesky;
use crate::math::rows::{Rows, add, dot};

/// Most stiff directions.
pub(super) const MOST_STIFF: usize = 48;

/// `diag(d) + A + sum of c u u'`, positive definite, with an A that mostly is nothing and stiff directions u,
/// which are few.
pub(super) struct Metric {
    /// d, r; infinite in directions that do not move.
    pub(super) diagonal: Vec<f64>,
    /// The factor, where there has been an A.
    factor: Option<DenseCholesky>,
    coupled: bool,
    stiff: StiffDirections,
}

impl Metric {
    pub(super) fn new(rank: usize) -> Self {
        Self { diagonal: vec![1.0; rank], factor: None, coupled: false, stiff: StiffDirections::default() }
    }

    /// There is no A.
    pub(super) fn uncouple(&mut self) {
        self.coupled = false;
    }

    /// Adds the A whose lower half `add` adds to a matrix; allocates the first time.
    pub(super) fn couple(&mut self, add: impl FnOnce(MatMut<'_, f64>)) {
        let rank = self.diagonal.len();
        let factor = self.factor.get_or_insert_with(|| DenseCholesky::zeros(rank));
        factor.matrix.fill(0.0);
        self.diagonal.iter().enumerate().for_each(|(i, &d)| factor.matrix[(i, i)] = d);
        add(factor.matrix.as_mut());
        self.coupled = factor.factor();
        if !self.coupled {
            // Numbers that have overflowed have no factor: the step is then refused for what comes of this.
            self.diagonal.fill(f64::NAN);
        }
    }

    /// There are no stiff directions, and none are known.
    pub(super) fn relax(&mut self) {
        self.stiff.count = 0;
    }

    /// No known direction is stiff until it is named again.
    pub(super) fn slacken(&mut self) {
        self.stiff.compliances.fill(f64::INFINITY);
    }

    /// Gives the direction of a name the stiffness c. `write` writes u, r rows, where the name is not known
    /// yet; those that are more than [`MOST_STIFF`] are left out. Allocates the first time.
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

    /// Is ready to solve with what has been named.
    pub(super) fn prepare(&mut self) {
        self.stiff.factorise();
    }

    /// Whether no direction is below a share of the stiffest, where there is an A.
    pub(super) fn is_definite(&self, share: f64) -> bool {
        let Some(factor) = self.factor.as_ref().filter(|_| self.coupled) else { return true };
        let pivots = (0..self.diagonal.len()).map(|i| factor.matrix[(i, i)]);
        let (least, most) = pivots
            .filter(|pivot| *pivot < f64::INFINITY)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), p| (least.min(p), most.max(p)));
        least * least > share * most * most
    }

    /// Solves for the change of a force, r rows, in its place.
    pub(super) fn solve(&self, rows: &mut [[f64; 3]]) {
        let shares = self.stiff.shares(rows);
        self.solve_coupled(rows);
        self.stiff.take(&shares, rows);
    }

    /// Without stiff directions.
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

/// Directions u of stiffness c beside a form B, by Woodbury's formula:
/// `(B + U C U')^-1 = B^-1 - W (C^-1 + U' W)^-1 W'`, `W = B^-1 U`.
#[derive(Default)]
struct StiffDirections {
    count: usize,
    names: Vec<usize>,
    /// Diagonal of `C^-1`; infinite for what is not stiff.
    compliances: Vec<f64>,
    /// W, r rows a direction.
    images: Vec<[f64; 3]>,
    /// u of the last one.
    direction: Vec<[f64; 3]>,
    /// Lower halves of `U' W` and of the Cholesky factor of `C^-1 + U' W`.
    product: Vec<[f64; MOST_STIFF]>,
    factor: Vec<[f64; MOST_STIFF]>,
}

impl StiffDirections {
    /// Adds a direction; gives its place, if there is one.
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

    /// Finds the factor; what is not stiff has zeros below an infinite pivot.
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

    /// Takes W times the shares from a change.
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

    /// `diag(d) x` with stiff directions besides.
    fn image(metric: &Metric, stiff: &[(usize, f64)], x: &Rows) -> Vec<[f64; 3]> {
        let mut image: Vec<_> = x.iter().zip(&metric.diagonal).map(|(x, d)| x.map(|x| d * x)).collect();
        for &(name, c) in stiff {
            add(&mut image, c * dot(&direction(name), x), &direction(name));
        }
        image
    }

    /// Directions that come, change and go: each time a force is what the solution's image is.
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

    /// A direction that repeats another one, and more of them than there is room for.
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
