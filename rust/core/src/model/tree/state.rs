//! The state of a tree between two steps.

use super::kinematics::Frame;
use super::station::ROOT;
use crate::inputs::settings::HISTORY;
use crate::math::rows::Rows;
use crate::potentials::contact::{ContactState, Placement};

/// Rows of a root's place: the columns of its rotation, and its centre.
pub(super) const PLACE: usize = 4;

/// The complete state before a step of a tree; restoring it replays the same bits.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeState {
    pub(crate) started: bool,
    /// Seconds between the stored substeps, 0 before the first.
    pub(crate) spacing: f64,
    /// The last two target places of the root, older first.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// The last substeps, older first: the root's place, then the coordinates without the root's rows.
    pub(crate) history: [Vec<[f64; 3]>; HISTORY],
    pub(crate) contact: ContactState,
}

impl TreeState {
    /// A state at rest, with the root's rows among the coordinates, and colliders at their initial places.
    pub(super) fn new(root: &Frame, rows: usize, colliders: usize) -> Self {
        let mut all = vec![[0.0; 3]; PLACE + rows - ROOT];
        all[..PLACE].copy_from_slice(&rows_of(root));
        let mut contact = ContactState::new(colliders);
        contact.start(&Placement::made(colliders));
        Self {
            contact,
            started: false,
            spacing: 0.0,
            frames: std::array::from_fn(|_| all[..PLACE].to_vec()),
            history: std::array::from_fn(|_| all.clone()),
        }
    }

    /// The coordinates after the last substep; the root's rows have no meaning.
    pub(super) fn last(&self) -> &Rows {
        coordinates(&self.history[HISTORY - 1])
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.frames.iter().chain(&self.history)
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        (self.started, self.spacing) = (other.started, other.spacing);
        let own = self.frames.iter_mut().chain(&mut self.history);
        own.zip(other.rows()).for_each(|(to, from)| to.copy_from_slice(from));
        self.contact.copy_from(&other.contact);
    }

    /// Sets the history to rest at a place.
    pub(super) fn begin(&mut self, place: &Rows) {
        self.frames.iter_mut().chain(&mut self.history).for_each(|rows| rows[..PLACE].copy_from_slice(place));
    }
}

/// Coordinates in stored rows, preceded by as many rows as the root has.
pub(super) fn coordinates(rows: &Rows) -> &Rows {
    &rows[PLACE - ROOT..]
}

pub(super) fn rows_of(frame: &Frame) -> [[f64; 3]; PLACE] {
    let column = |c: usize| frame.rotation.column(c).into_owned().into();
    [column(0), column(1), column(2), frame.centre.into()]
}

/// Frame of interpolated rows; the matrix is made a rotation.
pub(super) fn frame_of(rows: &Rows) -> Frame {
    let place = Placement::of(&std::array::from_fn(|row| rows[row]), &[0.0; 3]);
    Frame { rotation: *place.rotation(), centre: *place.translation() }
}
