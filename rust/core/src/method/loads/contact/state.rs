//! What of contact goes on from step to step.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Where a point sticks to a collider, in the collider's own space, or to another body, at rest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub(crate) point: u32,
    /// A body's number in a common step is counted on from the colliders.
    pub(crate) collider: u32,
    pub(crate) place: [f64; 3],
}

/// Where colliders have been, as rows of placements, and what sticks to them; no rows without colliders.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContactState {
    /// At the last two frames, older first.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// At the end of the last substep.
    pub(crate) last: Vec<[f64; 3]>,
    /// In the order of points, then colliders.
    pub(crate) anchors: Vec<Anchor>,
}

impl ContactState {
    pub(crate) fn new(rows: usize) -> Self {
        let rows = vec![[0.0; 3]; rows];
        Self { frames: [rows.clone(), rows.clone()], last: rows, anchors: Vec::new() }
    }

    /// Copies, and allocates only where there is less room than ever before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.frames.iter_mut().zip(&other.frames).for_each(|(to, from)| to.clone_from(from));
        self.last.clone_from(&other.last);
        self.anchors.clone_from(&other.anchors);
    }

    /// Stands at rest where rows say, and nothing sticks.
    pub(crate) fn start(&mut self, rows: &[[f64; 3]]) {
        let own = self.frames.iter_mut().chain([&mut self.last]);
        own.for_each(|own| own.copy_from_slice(rows));
        self.anchors.clear();
    }

    /// Errors unless `self` has the sizes of `like`, points and colliders that there are, and finite numbers.
    /// What else a body is stepped with a state does not know: with `others` it may stick to any.
    pub(crate) fn check(&self, like: &Self, points: usize, others: bool) -> Result<()> {
        let sizes = |state: &Self| [&state.frames[0], &state.frames[1], &state.last].map(Vec::len);
        if sizes(self) != sizes(like) {
            let colliders = |state: &Self| format!("{} colliders", state.last.len() / super::placement::ROWS);
            let (expected, got) = (colliders(like), colliders(self));
            return Err(Error::Shape { what: "state", expected, got });
        }
        let numbers = self.frames.iter().chain([&self.last]).flatten();
        let numbers = numbers.chain(self.anchors.iter().map(|anchor| &anchor.place)).flatten();
        if let Some((element, &value)) = numbers.enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NotFinite { what: "state", element, value });
        }
        let colliders = if others { usize::MAX } else { self.last.len() / super::placement::ROWS };
        for (element, anchor) in self.anchors.iter().enumerate() {
            for (index, count) in [(anchor.point, points), (anchor.collider, colliders)] {
                if index as usize >= count {
                    return Err(Error::Index { what: "state", element, index: index.into(), count });
                }
            }
        }
        Ok(())
    }
}
