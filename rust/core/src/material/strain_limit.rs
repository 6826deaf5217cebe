//! Interval of principal stretches, for projections on it.

use crate::{Result, check};

/// Interval that principal stretches are drawn back to, in addition to an elastic energy `w / 2 |F - R|^2`,
/// by
/// ```text
/// firmness w / 2 |F - p(F)|^2
/// ```
/// p(F) has the principal stretches of F, the nearest within the interval. What would be stretched beyond
/// the interval by e under a given force is so by `e / (1 + firmness)`. `[PD section 5.1]`
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrainLimit {
    /// Smallest stretch, in [0, 1].
    pub least: f64,
    /// Largest stretch, >= 1; may be infinite.
    pub most: f64,
    /// Stiffness relative to the elastic energy, > 0.
    pub firmness: f64,
}

impl StrainLimit {
    /// Checks the values, else [`crate::Error::Range`].
    pub(crate) fn check(&self) -> Result<()> {
        let Self { least, most, firmness } = *self;
        check::range("strain_limit", "a smallest stretch in [0, 1]", least, (0.0..=1.0).contains(&least))?;
        check::range("strain_limit", "a largest stretch >= 1", most, most >= 1.0)?;
        check::range("limit_firmness", "a positive number", firmness, check::is_positive(firmness))
    }

    /// Largest `|F - R|^2` with all stretches certainly inside.
    pub(crate) fn inside(&self) -> f64 {
        (1.0 - self.least).min(self.most - 1.0).powi(2)
    }
}
