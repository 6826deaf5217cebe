//! Compact form of the L-BFGS inverse: the constant metric's inverse plus a low-rank term
//! `[ByrdNocedalSchnabel]`.

use faer::Mat;

use super::lbfgs::Lbfgs;
use crate::math::rows::{Rows, dot};

/// `H = H_0 + V M V'`: columns of V are the steps s, older first, then `H_0 y` of the changes y of the
/// gradient.
///
/// With `R_ij = s_i.y_j` for i <= j and its diagonal D, M is
/// `[R^-T (D + Y'H_0 Y) R^-1, -R^-T; -R^-1, 0]`.
pub(crate) struct Compact<'a> {
    pub(crate) columns: Vec<&'a Rows>,
    pub(crate) matrix: Mat<f64>,
}

impl Lbfgs {
    /// The compact form, with `solve` applying `H_0` in place; images of the pairs are cached.
    pub(crate) fn compact(&mut self, mut solve: impl FnMut(&mut Rows)) -> Compact<'_> {
        for pair in self.known_mut().iter_mut().filter(|pair| pair.image.is_empty()) {
            pair.image.clone_from(&pair.change);
            solve(&mut pair.image);
        }
        let pairs = self.known();
        let count = pairs.len();
        let inverse = inverse_upper(count, |i, j| dot(&pairs[i].step, &pairs[j].change));
        let middle = Mat::from_fn(count, count, |i, j| {
            let own = if i == j { pairs[i].curvature } else { 0.0 };
            let (low, high) = (i.min(j), i.max(j));
            own + dot(&pairs[low].change, &pairs[high].image)
        });
        let corner = inverse.transpose() * middle * &inverse;
        let matrix = Mat::from_fn(2 * count, 2 * count, |i, j| match (i < count, j < count) {
            (true, true) => corner[(i.max(j), i.min(j))],
            (true, false) => -inverse[(j - count, i)],
            (false, true) => -inverse[(i - count, j)],
            (false, false) => 0.0,
        });
        let steps = pairs.iter().map(|pair| pair.step.as_slice());
        Compact { columns: steps.chain(pairs.iter().map(|pair| pair.image.as_slice())).collect(), matrix }
    }
}

/// Inverse of an upper triangular matrix, also upper triangular.
fn inverse_upper(count: usize, entry: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    let upper = Mat::from_fn(count, count, |i, j| if i <= j { entry(i, j) } else { 0.0 });
    let mut inverse = Mat::zeros(count, count);
    for j in 0..count {
        inverse[(j, j)] = 1.0 / upper[(j, j)];
        for i in (0..j).rev() {
            let sum: f64 = (i + 1..=j).map(|k| upper[(i, k)] * inverse[(k, j)]).sum();
            inverse[(i, j)] = -sum / upper[(i, i)];
        }
    }
    inverse
}
