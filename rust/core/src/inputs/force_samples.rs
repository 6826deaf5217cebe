//! Sample points of a body for force fields.

use faer::Mat;

use crate::math::lanes::{Packed, PackedBoth};
use crate::{Error, Result, check};

/// Centres of mass of k parts of a body, with their positions and the forces on them.
///
/// A part is a cluster, or several neighbours. Its centre of mass is exact for any pose and coefficients. A
/// force on a part is distributed over its mass: a uniform field acts exactly as gravity does, others as if
/// constant in each part. No data is of mesh size.
pub struct ForceSamples {
    /// Centres at rest, k, metres.
    pub(crate) points: Vec<[f64; 3]>,
    /// Masses, k, kg.
    pub(crate) masses: Vec<f64>,
    /// `B Phi` at the centres, k x r.
    pub(crate) rows: Mat<f64>,
    /// The same, packed.
    pub(crate) basis: PackedBoth,
    /// J at the centres, k x 4h.
    pub(crate) rig: Packed<1>,
    /// Shares of clusters' centres, k x c.
    pub(crate) clusters: Packed<1>,
    /// `B' f` on the rows of Z, 4m x k.
    pub(crate) gather: Packed<1>,
}

impl ForceSamples {
    /// Centres of mass at rest, k, metres.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Masses of the parts, k, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    pub(crate) fn check(&self, forces: &[f64]) -> Result<()> {
        let k = self.points.len();
        check::shape("forces", &[k, 3], forces.len())?;
        check::finite("forces", forces, 3)
    }
}

/// Error for samples of another model, and for drag at them.
pub(crate) fn foreign_samples() -> Error {
    Error::Shape {
        what: "samples",
        expected: "samples of this model".into(),
        got: "samples of another".into(),
    }
}
