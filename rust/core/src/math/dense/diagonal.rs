//! Coordinates with diagonal mass and stiffness.

use faer::Mat;

use super::{product, symmetric_eigen};
use crate::{Error, Result};

/// Relative mass below which a direction counts as linearly dependent.
pub(crate) const DEPENDENT: f64 = 1e-12;
/// Share of the largest elastic eigenvalue below which a direction stores no energy and has no equilibrium.
pub(crate) const FREE: f64 = 1e-9;

/// Phi and the spectrum: `Phi' B'MB Phi = I`, `Phi' B'LB Phi = diag`, without linearly dependent directions.
pub(crate) fn diagonalise(mass: &Mat<f64>, stiffness: &Mat<f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    decoupled(&whitened(mass)?, stiffness)
}

/// Independent directions of mass one.
pub(crate) fn whitened(mass: &Mat<f64>) -> Result<Mat<f64>> {
    let size = mass.nrows();
    let scale: Vec<f64> =
        (0..size).map(|i| mass[(i, i)]).map(|m| if m > 0.0 { 1.0 / m.sqrt() } else { 0.0 }).collect();
    let scaled = Mat::from_fn(size, size, |i, j| scale[i] * mass[(i, j)] * scale[j]);
    let (masses, vectors) = symmetric_eigen(scaled.as_ref())?;
    let largest = masses.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> = (0..size).filter(|&i| masses[i] > DEPENDENT * largest).collect();
    if kept.is_empty() {
        return Err(Error::Numerical { what: "reduction", why: "the modes are zero everywhere".into() });
    }
    Ok(Mat::from_fn(size, kept.len(), |i, j| scale[i] * vectors[(i, kept[j])] / masses[kept[j]].sqrt()))
}

/// Directions of mass one with diagonal stiffness, and this diagonal.
pub(crate) fn decoupled(whitened: &Mat<f64>, stiffness: &Mat<f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    let stiffness = product(whitened.transpose(), product(stiffness.as_ref(), whitened.as_ref()).as_ref());
    turned(whitened, &stiffness)
}

/// The same for a stiffness of the directions, k x k.
pub(crate) fn turned(directions: &Mat<f64>, stiffness: &Mat<f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    let (spectrum, rotation) = symmetric_eigen(stiffness.as_ref())?;
    let spectrum = spectrum.into_iter().map(|l| l.max(0.0)).collect();
    Ok((product(directions.as_ref(), rotation.as_ref()), spectrum))
}
