//! Constant matrices of a substep, and the lowest frequency.

use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Col, Mat, Scale, Side};

use super::{ProjectiveModel, packed};
use crate::kinematics::handles::HandleCoordinates;
use crate::math::rows::Rows;
use crate::math::symmetric::{Spread, Symmetric};
use crate::{Error, Result};

/// Shift by a share of mass-scaled stiffness for the search of the lowest frequency, because a free body's
/// stiffness is singular.
const SHIFT: f64 = 1e-9;
/// Most iterations for the lowest frequency, and the relative change of its square at convergence.
const ITERATIONS: usize = 300;
const SETTLED: f64 = 1e-10;

/// Factors of inertia, tether, drag, proximity (in the metric alone) and stiffness: everything the matrices
/// depend on.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Factors {
    pub(super) inertia: f64,
    pub(super) hold: f64,
    pub(super) dragged: f64,
    pub(super) near: f64,
    pub(super) stiffness: f64,
}

/// Matrices for one setting.
pub(super) struct System {
    pub(super) factors: Factors,
    /// `(inertia + hold) M + stiffness D` plus the attachment, with D the part of the stiffness outside of
    /// the clusters.
    pub(super) quadratic: Symmetric,
    /// `((inertia + hold + near) M + dragged P + stiffness K)^-1` with the attachment, and P the mass of
    /// the drag parts.
    pub(super) inverse: Symmetric,
}

/// Scratch for products: rows, and sums still spread over lanes.
pub(super) struct Room {
    pub(super) rows: Vec<[f64; 3]>,
    pub(super) spread: Spread,
}

impl Room {
    /// Scratch for a number of coordinates.
    pub(super) fn new(rank: usize) -> Self {
        Self { rows: vec![[0.0; 3]; rank], spread: Spread::new(rank) }
    }
}

impl Factors {
    /// Factors of mass (with drag) and of stiffness in the metric: its identity for caches.
    pub(super) fn metric(&self) -> [f64; 2] {
        [self.inertia + self.hold + self.dragged + self.near, self.stiffness]
    }
}

impl System {
    pub(super) fn new(model: &ProjectiveModel, factors: Factors, parts: Option<&Mat<f64>>) -> Result<Self> {
        let Factors { inertia, hold, dragged, near, stiffness } = factors;
        let sum = |mass: f64, other: &Mat<f64>| {
            let mut sum = Scale(stiffness) * other;
            sum += Scale(mass) * &model.mass;
            model.attachment.iter().for_each(|attachment| sum += &attachment.hold);
            sum
        };
        let mut metric = sum(inertia + hold + near, &model.stiffness);
        if let Some(parts) = parts.filter(|_| dragged > 0.0) {
            metric += Scale(dragged) * parts;
        }
        let inverse = factored(&metric)?.inverse();
        Ok(Self {
            factors,
            quadratic: packed(&model.coordinates, &sum(inertia + hold, &model.unseen)),
            inverse: packed(&model.coordinates, &inverse),
        })
    }
}

impl System {
    /// Applies the metric's inverse to a gradient, in place.
    pub(super) fn solve(&self, rows: &mut Rows, room: &mut Room) {
        self.inverse.multiply(rows, &mut room.rows, &mut room.spread);
        rows.copy_from_slice(&room.rows);
    }
}

fn factored(matrix: &Mat<f64>) -> Result<Llt<f64>> {
    Llt::new(matrix.as_ref(), Side::Lower)
        .map_err(|error| Error::Numerical { what: "global step", why: format!("{error:?}") })
}

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
