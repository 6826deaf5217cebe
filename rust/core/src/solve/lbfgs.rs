//! Curvature learnt from the last few steps, on top of a constant metric `[QN alg. 2]`.

use crate::math::rows::{Rows, add, combine, dot};

/// Least cosine between a step and the change of the gradient at which they are learnt from: Armijo's rule
/// alone does not keep it positive.
const ACUTE: f64 = 1e-10;

/// A step taken, and how it changed the gradient.
struct Pair {
    step: Vec<[f64; 3]>,
    change: Vec<[f64; 3]>,
    /// Their product.
    curvature: f64,
}

/// The last few pairs; older first, of which the last `known` count.
pub(crate) struct Lbfgs {
    pairs: Vec<Pair>,
    known: usize,
    shares: Vec<f64>,
}

impl Lbfgs {
    /// Memory for `most` pairs of some rows.
    pub(crate) fn new(rows: usize, most: usize) -> Self {
        let zeros = || vec![[0.0; 3]; rows];
        let pair = |_| Pair { step: zeros(), change: zeros(), curvature: 0.0 };
        Self { pairs: (0..most).map(pair).collect(), known: 0, shares: vec![0.0; most] }
    }

    /// Whether it has learnt anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// Forgets all, as what is learnt belongs to another energy.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
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
