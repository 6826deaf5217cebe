//! Fibres that resist stretch along one direction, as muscles and tendons do.

use nalgebra::{Matrix3, SMatrix, Vector3};

use super::energy::{Energy, Hessian, Sealed};

/// Stretch below which a fibre has no direction, and pulls no way.
const LEAST: f64 = 1e-12;

/// Springs along a direction d at rest: `psi = k / 2 (|F d| - l)^2` `[QN sec. 4.4]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fibre {
    /// k, Pa.
    pub stiffness: f64,
    /// d, a unit vector.
    pub direction: [f64; 3],
    /// Stretch l without stress: 1, or less in a contracted muscle.
    pub relaxed: f64,
}

impl Fibre {
    /// F d as a length and a unit vector; none where it has no direction.
    fn stretched(&self, f: &Matrix3<f64>) -> (f64, Vector3<f64>) {
        let along = f * Vector3::from(self.direction);
        let stretch = along.norm();
        (stretch, if stretch > LEAST { along / stretch } else { Vector3::zeros() })
    }
}

impl Sealed for Fibre {}

impl Energy for Fibre {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        0.5 * self.stiffness * (self.stretched(f).0 - self.relaxed).powi(2)
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let (stretch, along) = self.stretched(f);
        self.stiffness * (stretch - self.relaxed) * along * Vector3::from(self.direction).transpose()
    }

    fn filtered_hessian(&self, f: &Matrix3<f64>, keep: impl Fn(f64) -> f64) -> Hessian {
        let (stretch, along) = self.stretched(f);
        let stretching = along * along.transpose();
        let turning = Matrix3::identity() - stretching;
        let slack = if stretch > LEAST { self.stiffness * (1.0 - self.relaxed / stretch) } else { 0.0 };
        let block = keep(self.stiffness) * stretching + keep(slack) * turning;
        let d = Vector3::from(self.direction);
        SMatrix::from_fn(|row, column| d[row / 3] * d[column / 3] * block[(row % 3, column % 3)])
    }
}
