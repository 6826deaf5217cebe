//! Places of the displacement limit: few, but no vertex moves far without one of them.

use faer::Mat;

use super::data::SkinningData;
use crate::kinematics::coordinates::Coordinates;
use crate::math::dense::dot;
use crate::math::lanes::PackedBoth;
use crate::parallel::*;
use crate::sampling::covering::{covering, norm2};

/// Largest number of places, for each reduced coordinate.
const MOST: usize = 8;

/// Places of the displacement limit: few, but no vertex moves far without one of them.
pub(super) struct LimitPlaces {
    /// `B Phi` at the places, k x r.
    pub(super) basis: PackedBoth,
    /// Largest row norm of `basis`: no place moves by more than this times `|Y|`.
    pub(super) reach: f64,
    /// Effective masses mu of the places, k, kg, `1 / |b_s|^2`.
    pub(super) masses: Vec<f64>,
}

impl LimitPlaces {
    pub(super) fn new(data: &SkinningData, coordinates: &Coordinates) -> Self {
        let rank = data.spectrum.len();
        let outside = data.mesh.boundary_vertices();
        let rows: Vec<Vec<f64>> = outside.par_iter().map(|&i| row(data, coordinates, i as usize)).collect();
        let places = covering(&rows, 1, MOST * rank);
        let basis = Mat::from_fn(places.len(), rank, |s, j| rows[places[s]][j]);
        Self {
            basis: PackedBoth::of(basis.as_ref()),
            reach: places.iter().map(|&s| norm2(&rows[s])).fold(0.0, f64::max).sqrt(),
            masses: places.iter().map(|&s| 1.0 / norm2(&rows[s])).collect(),
        }
    }
}

/// A row of `B Phi`.
pub(super) fn row(data: &SkinningData, coordinates: &Coordinates, vertex: usize) -> Vec<f64> {
    let modes = data.eigenvalues.len();
    let point = coordinates.homogeneous(&data.mesh.vertices()[vertex]);
    let weights = &data.weights[vertex * modes..][..modes];
    let entries: Vec<f64> = weights.iter().flat_map(|w| point.map(|x| w * x)).collect();
    (0..data.spectrum.len()).map(|j| dot(data.basis.col_as_slice(j), &entries)).collect()
}
