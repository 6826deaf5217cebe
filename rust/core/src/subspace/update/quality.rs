//! Error bounds of updated vectors.

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
            Self { square, growth, share }
        };
        energies.iter().zip(eigenvalues).map(of).collect()
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
