//! Elastic energy densities of the deformation gradient, with their first and second derivatives.

use nalgebra::{Matrix3, SMatrix};

mod sealed {
    pub trait Sealed {}
}

pub(super) use sealed::Sealed;

/// A 9 x 9 matrix acting on 3 x 3 matrices flattened column by column.
pub type Hessian = SMatrix<f64, 9, 9>;

/// An elastic energy density psi(F), in J/m^3, of the deformation gradient F (3 x 3, no unit).
pub trait Energy: Sealed {
    /// `psi(F)`, Pa.
    fn density(&self, f: &Matrix3<f64>) -> f64;

    /// First Piola-Kirchhoff stress `P = d psi / d F`, 3 x 3, Pa.
    fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64>;

    /// `d P / d F` with `keep` applied to its eigenvalues, Pa. At a jump of the stress an eigenvalue is
    /// unbounded; this part is left out.
    fn filtered_hessian(&self, f: &Matrix3<f64>, keep: impl Fn(f64) -> f64) -> Hessian;

    /// Hessian `d P / d F`, Pa; may be indefinite, for example under compression.
    fn hessian(&self, f: &Matrix3<f64>) -> Hessian {
        self.filtered_hessian(f, |value| value)
    }

    /// The positive semidefinite matrix closest to the Hessian, Pa.
    fn definite_hessian(&self, f: &Matrix3<f64>) -> Hessian {
        self.filtered_hessian(f, |value| value.max(0.0))
    }
}
