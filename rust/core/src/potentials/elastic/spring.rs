//! A spring between two vertices of a body of handles.

use faer::Mat;
use nalgebra::Vector3;

use crate::math::rows::Rows;

/// The energy `k / 2 (|d| - l)^2` of the way `d = D + sum_k s_k y_k` between two vertices, D at rest.
///
/// The projection is the way of length l along d, along D if the vertices meet.
pub(crate) struct Spring {
    /// The way at rest D, metres.
    pub(crate) rest: Vector3<f64>,
    /// The few nonzero s.
    pub(crate) row: Vec<(u32, f64)>,
    /// Length l without force, metres.
    pub(crate) length: f64,
    /// Stiffness k, N/m.
    pub(crate) stiffness: f64,
}

impl Spring {
    /// Energy; adds `factor` times the gradient.
    pub(super) fn evaluate(&self, y: &Rows, factor: f64, gradient: &mut Rows) -> f64 {
        let moved = |&(row, share): &(u32, f64)| share * Vector3::from(y[row as usize]);
        let apart = self.rest + self.row.iter().map(moved).sum::<Vector3<f64>>();
        let along = apart.try_normalize(0.0).or_else(|| self.rest.try_normalize(0.0));
        let stretch = apart.norm() - self.length;
        let pull = factor * self.stiffness * stretch * along.unwrap_or_else(Vector3::x);
        for &(row, share) in &self.row {
            (0..3).for_each(|c| gradient[row as usize][c] += share * pull[c]);
        }
        0.5 * self.stiffness * stretch * stretch
    }

    /// Adds the second derivative along each axis with a fixed projection, `k s s'`.
    pub(crate) fn add_stiffness(&self, matrix: &mut Mat<f64>) {
        for &(i, a) in &self.row {
            self.row.iter().for_each(|&(j, b)| matrix[(i as usize, j as usize)] += self.stiffness * a * b);
        }
    }

    /// Magnitude of the terms that cancel in the energy, J.
    pub(super) fn scale(&self) -> f64 {
        self.stiffness * (self.length.powi(2) + self.rest.norm_squared())
    }
}
