//! Sample tets with weights.

use faer::{Mat, MatRef};

use crate::math::dense::diagonal::FREE;
use crate::math::dense::{product, symmetric_eigen};
use crate::math::nonnegative_least_squares;
use crate::mesh::TetMesh;
use crate::{Error, Result, check};

/// Sample tets for the forces of a body, and the weight of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cubature {
    /// Indices of tets, c.
    pub tets: Vec<u32>,
    /// Weights of the tets' elastic energies, c, above 0.
    pub weights: Vec<f64>,
}

impl Cubature {
    /// Checks that every tet exists and every weight is positive.
    pub(crate) fn check(&self, mesh: &TetMesh) -> Result<()> {
        let (what, count) = ("cubature", mesh.tets().len());
        if self.tets.is_empty() {
            return Err(Error::Empty { what });
        }
        if self.tets.len() != self.weights.len() {
            let (expected, got) = (format!("{} weights", self.tets.len()), format!("{}", self.weights.len()));
            return Err(Error::Shape { what, expected, got });
        }
        check::indices(what, &self.tets, 1, count)?;
        check_weights(what, &self.weights)
    }
}

/// Works of the items' forces along the test directions of a state, directions x items, and of the whole
/// force.
pub(crate) type Works = (Mat<f64>, Vec<f64>);

/// At most `count` items that stand for all in the works of some states, fitted by non-negative least
/// squares: the place of each among the items, and its weight.
pub(crate) fn fit(states: &[Works], count: usize) -> Vec<(usize, f64)> {
    let Some((first, _)) = states.first() else { return Vec::new() };
    let directions = first.nrows();
    let columns = Mat::from_fn(directions * states.len(), first.ncols(), |i, item| {
        states[i / directions].0[(i % directions, item)]
    });
    let target: Vec<f64> = states.iter().flat_map(|(_, target)| target.iter().copied()).collect();
    nonnegative_least_squares(columns.as_ref(), &target, count)
}

/// Checks that all weights are positive.
pub(crate) fn check_weights(what: &'static str, weights: &[f64]) -> Result<()> {
    check::each(what, "numbers above 0", weights, |weight| weight > 0.0)
}

/// The quadratic form `T + G'G`, r x r, of twists and gradients, with `kept` applied to its eigenvalues
/// relative to `diag(spectrum)`.
pub(crate) fn seen_and_more(
    spectrum: &[f64],
    twists: Option<MatRef<'_, f64>>,
    gradients: MatRef<'_, f64>,
    kept: impl Fn(f64) -> f64,
) -> Result<Mat<f64>> {
    let rank = spectrum.len();
    let largest = spectrum.iter().copied().fold(0.0, f64::max);
    let root = |i: usize| if spectrum[i] > FREE * largest { spectrum[i].sqrt() } else { 0.0 };
    let scaled =
        Mat::from_fn(
            gradients.nrows(),
            rank,
            |i, j| {
                if root(j) > 0.0 { gradients[(i, j)] / root(j) } else { 0.0 }
            },
        );
    let mut held = product(scaled.transpose(), scaled.as_ref());
    if let Some(twists) = twists {
        let relative = |i: usize, j: usize| {
            if root(i) * root(j) > 0.0 { twists[(i, j)] / (root(i) * root(j)) } else { 0.0 }
        };
        held += Mat::from_fn(rank, rank, relative);
    }
    let (seen, directions) = symmetric_eigen(held.as_ref())?;
    let left = Mat::from_fn(rank, rank, |i, k| root(i) * directions[(i, k)] * kept(seen[k]));
    let right = Mat::from_fn(rank, rank, |k, j| root(j) * directions[(j, k)]);
    Ok(product(left.as_ref(), right.as_ref()))
}
