//! The state of a body between two steps.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::inputs::settings::HISTORY;
use crate::potentials::contact::ContactState;
use crate::solve::CurvaturePairs;
use crate::{Error, Result};

/// The complete state before a step; restoring it replays the same bits.
///
/// ```
/// use jounce::body::{Body, BodyParams};
/// use jounce::inputs::SimulationParams;
/// use jounce::mesh::SurfaceMesh;
/// use jounce::simulation::Simulation;
/// use jounce::Progress;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 8, modes: 4, cubature: 12, ..BodyParams::default() };
/// let model = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?.model;
/// let mut simulation = Simulation::new(model, SimulationParams::default())?;
/// let at = |z| [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]]];
/// simulation.reset(Some(&at(0.0)))?;
/// let state = simulation.save_state();
/// let first = simulation.step(Some(&at(0.1)))?;
/// simulation.restore_state(&state)?;
/// assert_eq!(simulation.step(Some(&at(0.1)))?, first, "the same step to the last bit");
/// assert_eq!(state.time(), 0.0);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct State {
    /// `true` after the first pose.
    pub(crate) started: bool,
    /// Seconds since the last start at rest.
    pub(crate) time: f64,
    /// Seconds between the stored substeps, 0 while all of them are the same.
    pub(crate) spacing: f64,
    /// The last two target poses, older first, in the body's coordinates, 4 rows a handle.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// The poses of the last substeps, older first.
    pub(crate) path: [Vec<[f64; 3]>; HISTORY],
    /// The reduced coordinates after the last substeps, older first.
    pub(crate) reduced: [Vec<[f64; 3]>; HISTORY],
    /// The last two target offsets without the bones' share, older first; no rows before the first offsets.
    pub(crate) offset_frames: [Vec<[f64; 3]>; 2],
    /// The offsets of the last substeps without the bones' share, older first.
    pub(crate) offset_path: [Vec<[f64; 3]>; HISTORY],
    /// L-BFGS curvature pairs carried over to the next substep.
    pub(crate) learnt: CurvaturePairs,
    /// State of contact with colliders.
    pub(crate) contact: ContactState,
}

impl State {
    pub(crate) fn new(handle_rows: usize, reduced_rows: usize, collider_rows: usize) -> Self {
        let (pose, reduced) = (vec![[0.0; 3]; handle_rows], vec![[0.0; 3]; reduced_rows]);
        Self {
            started: false,
            time: 0.0,
            spacing: 0.0,
            frames: std::array::from_fn(|_| pose.clone()),
            path: std::array::from_fn(|_| pose.clone()),
            reduced: std::array::from_fn(|_| reduced.clone()),
            offset_frames: Default::default(),
            offset_path: Default::default(),
            learnt: CurvaturePairs::default(),
            contact: ContactState::new(collider_rows),
        }
    }

    /// Seconds since the last start at rest.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Allocates offsets, with zero history.
    pub(crate) fn hold_offsets(&mut self, rows: usize) {
        self.offset_frames.iter_mut().chain(&mut self.offset_path).for_each(|own| own.resize(rows, [0.0; 3]));
    }

    /// `true` after the first offsets.
    pub(crate) fn holds_offsets(&self) -> bool {
        !self.offset_path[0].is_empty()
    }

    fn motion(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.frames.iter().chain(&self.path).chain(&self.reduced)
    }

    fn rows(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.motion().chain(&self.offset_frames).chain(&self.offset_path)
    }

    /// Copies without allocation unless the other state is larger than any before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        (self.started, self.time, self.spacing) = (other.started, other.time, other.spacing);
        self.learnt.copy_from(&other.learnt);
        self.contact.copy_from(&other.contact);
        let offsets = self.offset_frames.iter_mut().chain(&mut self.offset_path);
        let own = self.frames.iter_mut().chain(&mut self.path).chain(&mut self.reduced).chain(offsets);
        own.zip(other.rows()).for_each(|(to, from)| {
            to.clear();
            to.extend_from_slice(from);
        });
    }

    /// Resamples the history to substeps of `spacing` seconds: keeps the velocity, forgets older
    /// accelerations.
    pub(crate) fn respace(&mut self, spacing: f64) {
        let ratio = spacing / self.spacing;
        if self.spacing > 0.0 && spacing != self.spacing {
            respace(&mut self.path, ratio);
            respace(&mut self.reduced, ratio);
            respace(&mut self.offset_path, ratio);
        }
        self.spacing = spacing;
    }

    /// Sets the history of a steady motion: the rig and the colliders reached the last pose within
    /// `seconds` from the mirror image of `next`.
    pub(crate) fn coast(&mut self, [next, next_offsets, next_colliders]: [&[[f64; 3]]; 3], seconds: f64) {
        let [before, last] = &mut self.contact.frames;
        reflect(before, last, next_colliders);
        for (frames, path, next) in [
            (&mut self.frames, &mut self.path, next),
            (&mut self.offset_frames, &mut self.offset_path, next_offsets),
        ] {
            let [before, last] = frames;
            reflect(before, last, next);
            path[HISTORY - 2].copy_from_slice(before);
            respace(path, 1.0);
        }
        self.spacing = seconds;
    }

    /// Checks `self` for the sizes of `like`, for `offset_rows` if there are offsets, and for finite
    /// numbers.
    pub(crate) fn check(&self, like: &Self, offset_rows: usize) -> Result<()> {
        let not_finite = |element, value| Err(Error::NotFinite { what: "state", element, value });
        let held = if self.holds_offsets() { offset_rows } else { 0 };
        let sizes = like.motion().map(Vec::len).chain([held; 2 + HISTORY]);
        let learnt = self.learnt.pairs.as_flattened();
        let sizes = sizes.chain(learnt.iter().map(|_| like.reduced[0].len()));
        for (own, size) in self.rows().chain(learnt).zip(sizes) {
            if own.len() != size {
                return Err(Error::Shape {
                    what: "state",
                    expected: format!("{size} rows, as this model has"),
                    got: format!("{} rows", own.len()),
                });
            }
            if let Some(element) = own.as_flattened().iter().position(|x| !x.is_finite()) {
                return not_finite(element, own.as_flattened()[element]);
            }
        }
        match [self.time, self.spacing].into_iter().find(|seconds| !seconds.is_finite()) {
            Some(seconds) => not_finite(0, seconds),
            None => Ok(()),
        }
    }
}

/// `before = 2 last - next`.
fn reflect(before: &mut [[f64; 3]], last: &[[f64; 3]], next: &[[f64; 3]]) {
    for row in 0..last.len() {
        (0..3).for_each(|c| before[row][c] = 2.0 * last[row][c] - next[row][c]);
    }
}

/// Replaces all but the last entry by a straight line through the last two.
fn respace(history: &mut [Vec<[f64; 3]>; HISTORY], ratio: f64) {
    let (older, last) = history.split_at_mut(HISTORY - 1);
    for row in 0..last[0].len() {
        for c in 0..3 {
            let (now, before) = (last[0][row][c], older[HISTORY - 2][row][c]);
            for (back, rows) in older.iter_mut().rev().enumerate() {
                rows[row][c] = now - (back + 1) as f64 * ratio * (now - before);
            }
        }
    }
}
