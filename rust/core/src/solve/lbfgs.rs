//! Curvature learnt from the last few steps, on top of a constant metric `[QN alg. 2]`.

use serde::{Deserialize, Serialize};

use crate::math::rows::{Rows, add, combine, dot};

/// Least cosine between a step and the change of the gradient at which they are learnt from: Armijo's rule
/// alone does not keep it positive.
const ACUTE: f64 = 1e-10;

/// Pairs of a step and how it changed the gradient, older first, and what says in which metric they were learnt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learnt {
    pub(crate) metric: [f64; 2],
    pub(crate) pairs: Vec<[Vec<[f64; 3]>; 2]>,
}

impl Learnt {
    /// Copies, and allocates only where there is less room than ever before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.metric = other.metric;
        self.pairs.resize_with(other.pairs.len(), Default::default);
        let rows = self.pairs.as_flattened_mut().iter_mut();
        rows.zip(other.pairs.as_flattened()).for_each(|(to, from)| to.clone_from(from));
    }
}

/// A step taken, and how it changed the gradient.
pub(super) struct Pair {
    pub(super) step: Vec<[f64; 3]>,
    pub(super) change: Vec<[f64; 3]>,
    /// Their product.
    pub(super) curvature: f64,
    /// What the metric's inverse makes of the change; no rows where nobody has asked.
    pub(super) image: Vec<[f64; 3]>,
}

/// The last few pairs; older first, of which the last `known` count.
pub(crate) struct Lbfgs {
    pairs: Vec<Pair>,
    known: usize,
    /// What says of which metric.
    metric: [f64; 2],
    shares: Vec<f64>,
}

impl Lbfgs {
    /// Memory for `most` pairs of some rows.
    pub(crate) fn new(rows: usize, most: usize) -> Self {
        let zeros = || vec![[0.0; 3]; rows];
        let pair = |_| Pair { step: zeros(), change: zeros(), curvature: 0.0, image: Vec::new() };
        Self { pairs: (0..most).map(pair).collect(), known: 0, metric: [0.0; 2], shares: vec![0.0; most] }
    }

    /// Whether it has learnt anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// The pairs that count, older first.
    pub(super) fn known(&self) -> &[Pair] {
        &self.pairs[self.pairs.len() - self.known..]
    }

    pub(super) fn known_mut(&mut self) -> &mut [Pair] {
        let first = self.pairs.len() - self.known;
        &mut self.pairs[first..]
    }

    /// Forgets all, as what is learnt belongs to another energy.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
    }

    /// Keeps what is learnt, which is of the energy, for another metric in which directions are found.
    pub(crate) fn change_metric(&mut self) {
        self.pairs.iter_mut().for_each(|pair| pair.image.clear());
    }

    /// Forgets all unless it was learnt in this metric.
    pub(crate) fn enter(&mut self, metric: [f64; 2]) {
        if self.metric != metric {
            self.clear();
            self.metric = metric;
        }
    }

    /// Writes what is known.
    pub(crate) fn save(&self, learnt: &mut Learnt) {
        learnt.metric = self.metric;
        learnt.pairs.resize_with(self.known, Default::default);
        for ([step, change], pair) in learnt.pairs.iter_mut().zip(self.known()) {
            step.clone_from(&pair.step);
            change.clone_from(&pair.change);
        }
    }

    /// Knows what was written, as far as there is room.
    pub(crate) fn load(&mut self, learnt: &Learnt) {
        self.metric = learnt.metric;
        self.known = learnt.pairs.len().min(self.pairs.len());
        for (pair, [step, change]) in self.known_mut().iter_mut().zip(&learnt.pairs) {
            pair.step.copy_from_slice(step);
            pair.change.copy_from_slice(change);
            pair.curvature = dot(step, change);
            pair.image.clear();
        }
    }

    /// `direction = -B gradient` by the two loops, with `solve` replacing rows by `A_0^-1` of them.
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

    /// Remembers a step between two gradients, unless the energy hardly curves up along it.
    pub(crate) fn learn(&mut self, [from, to]: [&Rows; 2], [before, after]: [&Rows; 2]) {
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
            // The oldest has been written over.
            self.known = self.known.min(self.pairs.len() - 1);
        }
    }
}
