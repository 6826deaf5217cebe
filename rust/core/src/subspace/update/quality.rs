//! Bounds of the errors of changed vectors.

/// Bound of the error of a vector among some.
///
/// With `e^2 = r' K^-1 r / (lambda + shift)` of its residual r, and the gap `g = 1 - (lambda + shift) / (lambda_w + shift)` to the
/// last and highest of the vectors, its eigenvalue with the shift is too high by a share of no more than
/// ```text
/// 2 e^2 / (g + sqrt(g^2 + 4 e^2))
/// ```
/// unless a vector below the highest is missing altogether. In the metric K the operator `K^-1 M` has `1 / (lambda + shift)` for the
/// vector, e times that between it and all that is outside of the space, and at most `1 / (lambda_w + shift)` out there; the
/// larger eigenvalue of two by two such numbers says what is added. Far from the highest it is `e^2 / g`, at it e. Source: the
/// bound of Kato and Temple.
pub(super) struct Quality {
    /// `e^2`.
    square: f64,
    /// Multiple of `K^-1 r` that the vector lacks at most, to first order.
    pub growth: f64,
    /// The eigenvalue with the shift, as a multiple of the eigenvalue; 1 where nothing deforms.
    share: f64,
}

impl Quality {
    /// Bounds of vectors with these energies `r' K^-1 r`; `deforms` is true for eigenvalues of vectors that deform the body.
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

    /// The relative error of the eigenvalue at most.
    pub fn error(&self) -> f64 {
        self.square * self.growth * self.share
    }
}
