//! Input of a step of a tree.

use crate::inputs::settings::StepInput;
use crate::{Error, Result, check};

/// Input of a step of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeInput<'a> {
    /// Transform of the root, and with it of the whole tree, from its rest place; `None` keeps the last
    /// one. The first transform sets the start, at rest. Substeps interpolate on the parabola through the
    /// last three.
    pub root: Option<&'a [[f64; 4]; 3]>,
    /// A moving medium; `None` for none.
    pub wind: Option<&'a Wind<'a>>,
    /// Placements of colliders at the end of the step: rotation and translation of each from its initial
    /// place. `None` keeps the last ones; substeps interpolate as for the root.
    pub colliders: Option<&'a [[[f64; 4]; 3]]>,
}

/// A moving medium at each domain: the force `-rate m (v - velocity)` on every vertex.
#[derive(Debug, Clone, Copy)]
pub struct Wind<'a> {
    /// Velocity of the medium, d, m/s.
    pub velocity: &'a [[f64; 3]],
    /// Relaxation rate of each domain towards the medium, d, 1/s.
    pub rate: &'a [f64],
}

impl<'a> TreeInput<'a> {
    /// The same as input of any method, without wind.
    pub(super) fn rig(&self) -> StepInput<'a> {
        let pose = self.root.map(std::slice::from_ref);
        StepInput { pose, colliders: self.colliders, ..StepInput::default() }
    }
}

impl Wind<'_> {
    /// Checks the numbers for some domains.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        let lengths = [("wind", self.velocity.len()), ("drag", self.rate.len())];
        if let Some((what, got)) = lengths.into_iter().find(|(_, length)| *length != count) {
            let (expected, got) = (format!("{count} domains"), format!("{got}"));
            return Err(Error::Shape { what, expected, got });
        }
        check::finite("wind", self.velocity.as_flattened(), 3)?;
        check::all("drag", "rates >= 0 in 1/s", self.rate, |rate| rate.is_finite() && rate >= 0.0)
    }
}
