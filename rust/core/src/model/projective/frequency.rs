//! The lowest frequency of a body, and factors of its matrices.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Col, Mat, Side};

use crate::kinematics::handles::HandleCoordinates;
use crate::{Error, Result};

/// Shift by a share of mass-scaled stiffness for the search of the lowest frequency, because a free body's
/// stiffness is singular.
const SHIFT: f64 = 1e-9;
/// Most iterations for the lowest frequency, and the relative change of its square at convergence.
const ITERATIONS: usize = 300;
const SETTLED: f64 = 1e-10;

/// `sqrt(lambda) / (2 pi)` with the lowest lambda of `K y = lambda M y` other than translations, by inverse
/// iteration.
pub(super) fn lowest_frequency(
    coordinates: &HandleCoordinates,
    mass: &Mat<f64>,
    stiffness: &Mat<f64>,
) -> Result<f64> {
    let rank = coordinates.count();
    let trace = |matrix: &Mat<f64>| (0..rank).map(|i| matrix[(i, i)]).sum::<f64>();
    let shift = SHIFT * trace(stiffness) / trace(mass);
    let factor = factored(&Mat::from_fn(rank, rank, |i, j| stiffness[(i, j)] + shift * mass[(i, j)]))?;
    let mut y = Mat::from_fn(rank, 1, |i, _| 1.0 / (1.0 + i as f64));
    let (mut square, form) = (f64::INFINITY, |y: &Mat<f64>, matrix: &Mat<f64>| {
        let image: Col<f64> = matrix * y.col(0);
        (y.col(0).transpose() * &image, image)
    });
    for _ in 0..ITERATIONS {
        let (_, momentum) = form(&y, mass);
        for part in 0..coordinates.parts.len() {
            y[(4 * part + 3, 0)] -= momentum[4 * part + 3] / coordinates.parts[part].mass;
        }
        let (inertia, image) = form(&y, mass);
        let next = form(&y, stiffness).0 / inertia;
        let settled = (square - next).abs() <= SETTLED * next;
        square = next;
        if settled {
            break;
        }
        y = factor.solve(Mat::from_fn(rank, 1, |i, _| image[i] / inertia.sqrt()));
    }
    Ok(square.sqrt() / std::f64::consts::TAU)
}

pub(super) fn factored(matrix: &Mat<f64>) -> Result<Llt<f64>> {
    Llt::new(matrix.as_ref(), Side::Lower)
        .map_err(|error| Error::Numerical { what: "global step", why: format!("{error:?}") })
}
