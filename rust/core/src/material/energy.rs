//! Elastic energy densities of the deformation gradient, with their first and second derivatives.

use nalgebra::{Matrix3, SMatrix, SVector, SymmetricEigen, Vector3};

use crate::math::polar::rotations;

/// Below this sum, two singular values count as opposite: the closest rotation jumps there.
const JUMP: f64 = 1e-12;

mod sealed {
    pub trait Sealed {}
}

/// An elastic energy density psi(F), in J/m^3, of the deformation gradient F (3 x 3, no unit).
///
/// R is the rotation closest to F: `F = R S` with `det R = +1`, so that S has a negative eigenvalue where F
/// is inverted. Matrices are flattened column by column where a Hessian is concerned.
pub trait Energy: sealed::Sealed + Copy {
    /// `psi(F)`, Pa.
    fn density(&self, f: &Matrix3<f64>) -> f64;

    /// First Piola-Kirchhoff stress `P = d psi / d F`, 3 x 3, Pa.
    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64>;

    /// Hessian `d P / d F`, 9 x 9, Pa. It is indefinite under compression, and unbounded where R jumps
    /// (two singular values that sum to zero); there the unbounded part is left out.
    fn hessian(&self, f: &Matrix3<f64>) -> SMatrix<f64, 9, 9>;
}

/// As rigid as possible: `psi = mu |F - R|^2`.
#[derive(Debug, Clone, Copy)]
pub struct Arap {
    /// Second Lamé parameter, Pa.
    pub mu: f64,
}

/// Corotated linear elasticity: `psi = mu |F - R|^2 + lambda / 2 tr^2(R'F - I)` `[FastCD C.2]`.
#[derive(Debug, Clone, Copy)]
pub struct Corotated {
    /// Second Lamé parameter, Pa.
    pub mu: f64,
    /// First Lamé parameter, Pa; resists change of volume.
    pub lambda: f64,
}

impl sealed::Sealed for Arap {}
impl sealed::Sealed for Corotated {}

impl Energy for Arap {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        self.mu * (f - Polar::new(f).rotation).norm_squared()
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        2.0 * self.mu * (f - Polar::new(f).rotation)
    }

    fn hessian(&self, f: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
        2.0 * self.mu * (SMatrix::identity() - Polar::new(f).rotation_gradient())
    }
}

impl Energy for Corotated {
    fn density(&self, f: &Matrix3<f64>) -> f64 {
        let stretch = Polar::new(f).stretch();
        Arap { mu: self.mu }.density(f) + 0.5 * self.lambda * stretch * stretch
    }

    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let polar = Polar::new(f);
        Arap { mu: self.mu }.stress(f) + self.lambda * polar.stretch() * polar.rotation
    }

    fn hessian(&self, f: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
        let polar = Polar::new(f);
        let r = SVector::<f64, 9>::from_column_slice(polar.rotation.as_slice());
        let volumetric = r * r.transpose() + polar.stretch() * polar.rotation_gradient();
        Arap { mu: self.mu }.hessian(f) + self.lambda * volumetric
    }
}

/// The polar decomposition `F = R S` with the eigenvectors of its stretch: `S = Q diag(sigma) Q'`.
///
/// The eigenvalues of S are the signed singular values of F. A decomposition of `F'F` would lose half the
/// digits.
struct Polar {
    rotation: Matrix3<f64>,
    sigma: Vector3<f64>,
    axes: Matrix3<f64>,
}

impl Polar {
    fn new(f: &Matrix3<f64>) -> Self {
        let mut rotation = [[0.0; 9]];
        rotations(&[std::array::from_fn(|e| f[(e / 3, e % 3)])], &mut rotation);
        let rotation = Matrix3::from_row_slice(&rotation[0]);
        let stretch = rotation.transpose() * f;
        let eigen = SymmetricEigen::new(0.5 * (stretch + stretch.transpose()));
        Self { rotation, sigma: eigen.eigenvalues, axes: eigen.eigenvectors }
    }

    /// `tr(R'F - I)`: the first-order relative change of volume.
    fn stretch(&self) -> f64 {
        self.sigma.sum() - 3.0
    }

    /// `dR / dF = sum over pairs i < j of 2 / (sigma_i + sigma_j) t t'`, with t the unit twist in that plane.
    fn rotation_gradient(&self) -> SMatrix<f64, 9, 9> {
        let mut gradient = SMatrix::zeros();
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let sum = self.sigma[i] + self.sigma[j];
            if sum.abs() > JUMP {
                let mut skew = Matrix3::zeros();
                (skew[(i, j)], skew[(j, i)]) =
                    (-std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2);
                let twist = self.rotation * self.axes * skew * self.axes.transpose();
                let twist = SVector::<f64, 9>::from_column_slice(twist.as_slice());
                gradient += 2.0 / sum * twist * twist.transpose();
            }
        }
        gradient
    }
}
