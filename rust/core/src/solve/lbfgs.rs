//! L-BFGS curvature from the last few steps, on top of a constant metric `[QN alg. 2]`.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::math::rows::{Rows, add, combine, dot};

/// Smallest cosine between the step and the gradient change of an accepted pair, since Armijo's rule alone
/// does not keep it positive.
const ACUTE: f64 = 1e-10;

/// Stored curvature pairs, steps and gradient changes, older first, and the key of their metric.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct CurvaturePairs {
    pub(crate) metric: [f64; 2],
    pub(crate) pairs: Vec<[Vec<[f64; 3]>; 2]>,
}

impl CurvaturePairs {
    /// Copies without allocation unless the other is larger than any before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.metric = other.metric;
        self.pairs.resize_with(other.pairs.len(), Default::default);
        let rows = self.pairs.as_flattened_mut().iter_mut();
        rows.zip(other.pairs.as_flattened()).for_each(|(to, from)| to.clone_from(from));
    }
}

/// Curvature pair: a step and its change of the gradient.
pub(super) struct Pair {
    pub(super) step: Vec<[f64; 3]>,
    pub(super) change: Vec<[f64; 3]>,
    /// Product of step and change.
    pub(super) curvature: f64,
    /// Image of the change under the metric's inverse; empty until requested.
    pub(super) image: Vec<[f64; 3]>,
}

/// Ring of curvature pairs, older first; the last `known` are valid.
pub(crate) struct Lbfgs {
    pairs: Vec<Pair>,
    known: usize,
    rows: usize,
    /// Key of the metric.
    metric: [f64; 2],
    shares: Vec<f64>,
}

impl Lbfgs {
    /// Room for `most` pairs of some rows.
    pub(crate) fn new(rows: usize, most: usize) -> Self {
        let (pairs, shares) = (Vec::new(), Vec::new());
        let mut memory = Self { pairs, known: 0, rows, metric: [0.0; 2], shares };
        memory.make_room(most);
        memory
    }

    /// Changes the room to `most` pairs, and keeps the newest.
    pub(crate) fn make_room(&mut self, most: usize) {
        let zeros = || vec![[0.0; 3]; self.rows];
        let pair = |_| Pair { step: zeros(), change: zeros(), curvature: 0.0, image: Vec::new() };
        let surplus = self.pairs.len().saturating_sub(most);
        let missing = most.saturating_sub(self.pairs.len());
        self.pairs.splice(..surplus, (0..missing).map(pair));
        self.known = self.known.min(most);
        self.shares.resize(most, 0.0);
    }

    /// `true` if there is no valid pair.
    pub(crate) fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// The valid pairs, older first.
    pub(super) fn known(&self) -> &[Pair] {
        &self.pairs[self.pairs.len() - self.known..]
    }

    pub(super) fn known_mut(&mut self) -> &mut [Pair] {
        let first = self.pairs.len() - self.known;
        &mut self.pairs[first..]
    }

    /// Discards all pairs, which belong to another energy.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
    }

    /// Keeps the pairs, which belong to the energy, and discards their images in the old metric.
    pub(crate) fn change_metric(&mut self) {
        self.pairs.iter_mut().for_each(|pair| pair.image.clear());
    }

    /// Discards all pairs of another metric.
    pub(crate) fn enter(&mut self, metric: [f64; 2]) {
        if self.metric != metric {
            self.clear();
            self.metric = metric;
        }
    }

    /// Writes the valid pairs.
    pub(crate) fn save(&self, learnt: &mut CurvaturePairs) {
        learnt.metric = self.metric;
        learnt.pairs.resize_with(self.known, Default::default);
        for ([step, change], pair) in learnt.pairs.iter_mut().zip(self.known()) {
            step.clone_from(&pair.step);
            change.clone_from(&pair.change);
        }
    }

    /// Loads pairs, with more room if there are more than before.
    pub(crate) fn load(&mut self, learnt: &CurvaturePairs) {
        self.make_room(self.pairs.len().max(learnt.pairs.len()));
        self.metric = learnt.metric;
        self.known = learnt.pairs.len();
        for (pair, [step, change]) in self.known_mut().iter_mut().zip(&learnt.pairs) {
            pair.step.copy_from_slice(step);
            pair.change.copy_from_slice(change);
            pair.curvature = dot(step, change);
            pair.image.clear();
        }
    }

    /// Two-loop recursion: `direction = -B gradient`, with `solve` applying `A_0^-1` in place.
    pub(crate) fn aim(&mut self, gradient: &Rows, direction: &mut Rows, solve: impl FnOnce(&mut Rows)) {
        let pairs = &self.pairs[self.pairs.len() - self.known..];
        direction.copy_from_slice(gradient);
        for (pair, share) in pairs.iter().zip(&mut self.shares).rev() {
            *share = dot(&pair.step, direction) / pair.curvature;
            add(direction, -*share, &pair.change);
        }
        solve(direction);
        direction.as_flattened_mut().iter_mut().for_each(|x| *x = -*x);
        for (pair, share) in pairs.iter().zip(&self.shares) {
            let correction = dot(&pair.change, direction) / pair.curvature;
            add(direction, -share - correction, &pair.step);
        }
    }

    /// Adds a pair from two points and their gradients, unless its curvature is too small.
    pub(crate) fn update(&mut self, [from, to]: [&Rows; 2], [before, after]: [&Rows; 2]) {
        let Some(oldest) = self.pairs.first_mut() else { return };
        combine(&mut oldest.step, to, -1.0, from);
        combine(&mut oldest.change, after, -1.0, before);
        oldest.curvature = dot(&oldest.step, &oldest.change);
        oldest.image.clear();
        let lengths = dot(&oldest.step, &oldest.step).sqrt() * dot(&oldest.change, &oldest.change).sqrt();
        if oldest.curvature > ACUTE * lengths {
            self.pairs.rotate_left(1);
            self.known = (self.known + 1).min(self.pairs.len());
        } else {
            // The oldest pair has been overwritten.
            self.known = self.known.min(self.pairs.len() - 1);
        }
    }
}
