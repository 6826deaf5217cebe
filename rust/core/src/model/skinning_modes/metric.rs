//! Quadratic metric of a step: a diagonal and an optional coupling matrix.

use faer::MatMut;

use crate::math::DenseCholesky;

/// `diag(d) + A`, positive definite, with a mostly absent A.
pub(super) struct Metric {
    /// d, r; infinite for fixed coordinates.
    pub(super) diagonal: Vec<f64>,
    /// Factor of `diag(d) + A`, once there has been an A.
    factor: Option<DenseCholesky>,
    coupled: bool,
    /// Number of matrices so far.
    count: u64,
}

impl Metric {
    pub(super) fn new(rank: usize) -> Self {
        Self { diagonal: vec![1.0; rank], factor: None, coupled: false, count: 0 }
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
        self.count += 1;
        if !self.coupled {
            // Overflowed numbers have no factor: the NaN diagonal fails the step.
            self.diagonal.fill(f64::NAN);
        }
    }

    /// Number that tells A from those before; 0 without A.
    pub(super) fn revision(&self) -> u64 {
        if self.coupled { self.count } else { 0 }
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
        if let Some(factor) = self.factor.as_ref().filter(|_| self.coupled) {
            factor.solve(rows.as_flattened_mut(), 3);
            return;
        }
        for (row, d) in rows.iter_mut().zip(&self.diagonal) {
            row.iter_mut().for_each(|x| *x /= d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Metric;
    use crate::math::rows::dot;

    const RANK: usize = 5;

    /// With and without A, the image of the solution is the force.
    #[test]
    fn a_coupled_metric_is_solved_for() {
        let mut metric = Metric::new(RANK);
        metric.diagonal.copy_from_slice(&[1.0, 2.0, 0.5, 3.0, 1.5]);
        let row = |i: usize| std::array::from_fn(|c| ((3 * i + c) as f64).sin());
        let (force, u): ([[f64; 3]; RANK], [f64; RANK]) =
            (std::array::from_fn(row), std::array::from_fn(|i| (7.0 * i as f64).cos()));
        for stiff in [0.0, 10.0, 1e4, 0.0] {
            metric.uncouple();
            if stiff > 0.0 {
                metric.couple(|mut lower| {
                    (0..RANK).for_each(|j| (j..RANK).for_each(|i| lower[(i, j)] += stiff * u[i] * u[j]));
                });
            }
            let mut found = force;
            metric.solve(&mut found);
            let along: [f64; 3] = std::array::from_fn(|c| (0..RANK).map(|i| u[i] * found[i][c]).sum());
            let mut missed = force;
            for (i, row) in missed.iter_mut().enumerate() {
                (0..3).for_each(|c| row[c] -= metric.diagonal[i] * found[i][c] + stiff * u[i] * along[c]);
            }
            assert!(dot(&missed, &missed).sqrt() < 1e-14 * stiff.max(1.0), "{stiff}: {missed:?}");
        }
    }
}
