//! Error bounds of updated vectors.

use crate::math::COPY;

/// Error bound of a vector in an updated set.
///
/// With `e^2 = r' K^-1 r / (lambda + shift)` of its residual r, and the gap
/// `g = 1 - (lambda + shift) / (lambda_w + shift)` to the last and highest vector, the relative error of the
/// eigenvalue with the shift is at most
/// ```text
/// 2 e^2 / (g + sqrt(g^2 + 4 e^2))
/// ```
/// unless a vector below the highest one is missing from the set. In the metric K, the operator `K^-1 M` has
/// the value `1 / (lambda + shift)` for the vector, e times that as coupling to the complement of the space,
/// and at most `1 / (lambda_w + shift)` on the complement. The larger eigenvalue of this matrix of two rows
/// gives the bound: `e^2 / g` far from the highest vector, e at it. Source: the bound of Kato and Temple.
pub(super) struct Quality {
    /// The eigenvalue with the shift.
    value: f64,
    /// `e^2`.
    square: f64,
    /// Bound of the missing multiple of `K^-1 r`, to first order.
    pub growth: f64,
    /// Ratio of the eigenvalue with the shift to the eigenvalue; 1 if the vector does not deform the body.
    share: f64,
}

impl Quality {
    /// Bounds of vectors with the energies `r' K^-1 r`; `deforms` is `true` for eigenvalues of vectors that
    /// deform the body.
    pub fn of(energies: &[f64], eigenvalues: &[f64], shift: f64, deforms: impl Fn(f64) -> bool) -> Vec<Self> {
        let highest = eigenvalues.last().map_or(0.0, |value| value + shift);
        let of = |(energy, &value): (&f64, &f64)| {
            let (square, gap) = (energy.max(0.0) / (value + shift), 1.0 - (value + shift) / highest);
            let growth = 2.0 / (gap + (gap * gap + 4.0 * square).sqrt()).max(f64::EPSILON);
            let share = if deforms(value) { (value + shift) / value } else { 1.0 };
            Self { value: value + shift, square, growth, share }
        };
        energies.iter().zip(eigenvalues).map(of).collect()
    }

    /// Estimate of the share of a vector k that belongs to a higher one j, `e_k e_j / (g_k d)` with the
    /// relative gap d between both; 0 for copies, whose basis is fixed.
    ///
    /// Both are orthogonal in mass and stiffness, and mix through what the space lacks of each.
    fn mixture(&self, higher: &Self) -> f64 {
        let gap = 1.0 - self.value / higher.value;
        if gap <= COPY { 0.0 } else { (self.square * higher.square).sqrt() * self.growth / gap }
    }

    /// `e^2`.
    pub fn left(&self) -> f64 {
        self.square
    }

    /// Bound of the relative error of the eigenvalue.
    pub fn error(&self) -> f64 {
        self.square * self.growth * self.share
    }
}

/// [`Quality::error`] of each of the first `count` vectors, and for all the largest [`Quality::mixture`] with
/// one on the other side of the cut.
pub(super) fn bounds(qualities: &[Quality], count: usize) -> (Vec<f64>, Vec<f64>) {
    let (kept, beyond) = qualities.split_at(count);
    let of_kept = kept.iter().map(|k| largest(beyond.iter().map(|j| k.mixture(j))));
    let of_beyond = beyond.iter().map(|j| largest(kept.iter().map(|k| k.mixture(j))));
    (kept.iter().map(Quality::error).collect(), of_kept.chain(of_beyond).collect())
}

fn largest(shares: impl Iterator<Item = f64>) -> f64 {
    shares.fold(0.0, f64::max)
}
