//! Rules of quasi-Newton descent `[QN alg. 1, 2]`.

use crate::math::rows::{self, Rows};

/// Rules of a descent: what a step and a curvature pair must be like.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Armijo constant: accepted share of the decrease predicted by the slope.
    pub(crate) sufficient: f64,
    /// Most trials along one direction.
    pub(crate) trials: u32,
    /// Relative size of energy differences that count as rounding; the slope then decides.
    pub(crate) rounding: f64,
    /// Next share after one on a slope whose energy rose.
    pub(crate) shortened: fn(share: f64, slope: f64, rise: f64) -> f64,
    /// Smallest cosine between the step and the gradient change of an accepted pair, since Armijo's rule
    /// alone does not keep it positive.
    pub(crate) acute: f64,
    /// `true` if a pair that is not accepted discards all others.
    pub(crate) forgets: bool,
    /// Inner product of rows; the order of its sum decides the last bits.
    pub(crate) dot: fn(&Rows, &Rows) -> f64,
}

impl Default for Rules {
    /// Rules for many vertices.
    fn default() -> Self {
        Self {
            sufficient: 0.3,
            trials: 40,
            rounding: 1e-14,
            shortened,
            acute: 1e-10,
            forgets: false,
            dot: rows::dot,
        }
    }
}

/// Smallest and largest shortening factor of a trial.
const SHORTEN: (f64, f64) = (0.1, 0.5);

/// The minimum of the interpolating parabola, within a range of shares.
fn shortened(share: f64, slope: f64, rise: f64) -> f64 {
    let least = -0.5 * slope * share * share / (rise - slope * share);
    share * if least.is_finite() { (least / share).clamp(SHORTEN.0, SHORTEN.1) } else { SHORTEN.0 }
}
