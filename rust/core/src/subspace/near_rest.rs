//! How laws bend away from Hooke's near rest.

use nalgebra::{Matrix3, Vector3};

use crate::material::{Energy, PrincipalStretch};

/// Strain of the steps by which stress is differentiated.
const STEP: f64 = 3e-3;

/// An isotropic law near rest, in the strain `e = sqrt(F'F) - I`, J:
/// `W = l/2 tr^2 e + m tr e^2 + c_0 tr^3 e + c_1 tr e tr e^2 + c_2 tr e^3`, with the volume in it.
#[derive(Default)]
pub(super) struct NearRest {
    lambda: f64,
    mu: f64,
    cubic: [f64; 3],
}

impl NearRest {
    pub(super) fn of(law: &PrincipalStretch, volume: f64) -> Self {
        let (lambda, mu) = law.lame();
        let quadratic = |strain: [f64; 3]| {
            let stress =
                |h: f64| law.stress(&Matrix3::from_diagonal(&(h * Vector3::from(strain)).add_scalar(1.0)));
            let difference = |h: f64| (stress(h) + stress(-h)) / (2.0 * h * h);
            volume * (4.0 * difference(STEP) - difference(2.0 * STEP)) / 3.0
        };
        let (along, across) = (quadratic([1.0, 0.0, 0.0]), quadratic([1.0, -1.0, 0.0]));
        let second = across[(2, 2)] / 2.0;
        let first = (along[(1, 1)] - second) / 3.0;
        let cubic = [first, second, (along[(0, 0)] - 3.0 * (first + second)) / 3.0];
        Self { lambda: volume * lambda, mu: volume * mu, cubic }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.lambda += other.lambda;
        self.mu += other.mu;
        (0..3).for_each(|i| self.cubic[i] += other.cubic[i]);
    }

    /// `D^2 P(I) [A, B]`: `e = sym A + (A'A - sym^2 A) / 2` up to third order.
    pub(super) fn bend(&self, a: &Matrix3<f64>, b: &Matrix3<f64>) -> Matrix3<f64> {
        let [e, d] = [a, b].map(|x| 0.5 * (x + x.transpose()));
        let (product, squares) = (e * d, a.transpose() * b);
        let (strains, turns) = (product + product.transpose(), squares + squares.transpose());
        let [of_e, of_d, of_both] = [e.trace(), d.trace(), product.trace()];
        let [first, second, third] = self.cubic;
        let pressure =
            self.lambda * (squares.trace() - of_both) + 6.0 * first * of_e * of_d + 2.0 * second * of_both;
        self.mu * (turns + 2.0 * (a * d + b * e)) - 3.0 * (self.mu - third) * strains
            + self.lambda * (of_e * (b - d) + of_d * (a - e))
            + 2.0 * second * (of_e * d + of_d * e)
            + pressure * Matrix3::identity()
    }
}
