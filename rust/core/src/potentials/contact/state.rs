//! Contact state carried from step to step.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Anchor of a point: its sticking place and the side of its contact, in the collider's own space or in the
/// rest space of another body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Anchor {
    /// Point index; corners of the faces between the points follow after the points.
    pub(crate) point: u32,
    /// Collider index; bodies of a common step follow after the colliders.
    pub(crate) collider: u32,
    /// Relative to the point for a point on a face.
    pub(crate) place: [f64; 3],
    /// Outward normal of the contact in the same space.
    pub(crate) side: [f64; 3],
}

/// Past placements of colliders, as rows, and anchors; no rows without colliders.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct ContactState {
    /// Placements in the last two frames, older first.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// Placements at the end of the last substep.
    pub(crate) last: Vec<[f64; 3]>,
    /// Anchors in the order of points, then colliders.
    pub(crate) anchors: Vec<Anchor>,
}

impl ContactState {
    pub(crate) fn new(rows: usize) -> Self {
        let rows = vec![[0.0; 3]; rows];
        Self { frames: [rows.clone(), rows.clone()], last: rows, anchors: Vec::new() }
    }

    /// Copies without allocation unless the other state is larger than any before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.frames.iter_mut().zip(&other.frames).for_each(|(to, from)| to.clone_from(from));
        self.last.clone_from(&other.last);
        self.anchors.clone_from(&other.anchors);
    }

    /// Sets colliders at rest at given rows, without anchors.
    pub(crate) fn start(&mut self, rows: &[[f64; 3]]) {
        let own = self.frames.iter_mut().chain([&mut self.last]);
        own.for_each(|own| own.copy_from_slice(rows));
        self.anchors.clear();
    }

    /// Moves the colliders that ride with the body back by a translation, and forgets the anchors on others.
    pub(crate) fn carry_back(&mut self, advance: &[f64; 3], rides: &[bool]) {
        self.anchors.retain(|anchor| rides.get(anchor.collider as usize) == Some(&true));
        for rows in self.frames.iter_mut().chain([&mut self.last]) {
            let placements = rows.as_chunks_mut::<{ super::ROWS }>().0.iter_mut().zip(rides);
            for (placement, _) in placements.filter(|(_, rides)| **rides) {
                (0..3).for_each(|c| placement[3][c] -= advance[c]);
            }
        }
    }

    /// Checks `self` for the sizes of `like`, for known points and colliders, and for finite numbers. The
    /// state does not list the other bodies of a common step: with `others`, any body index is valid.
    pub(crate) fn check(&self, like: &Self, points: usize, others: bool) -> Result<()> {
        let sizes = |state: &Self| [&state.frames[0], &state.frames[1], &state.last].map(Vec::len);
        if sizes(self) != sizes(like) {
            let colliders = |state: &Self| format!("{} colliders", state.last.len() / super::placement::ROWS);
            let (expected, got) = (colliders(like), colliders(self));
            return Err(Error::Shape { what: "state", expected, got });
        }
        let numbers = self.frames.iter().chain([&self.last]).flatten();
        let numbers =
            numbers.chain(self.anchors.iter().flat_map(|anchor| [&anchor.place, &anchor.side])).flatten();
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
