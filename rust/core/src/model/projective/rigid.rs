//! Damping without effect on the rigid motion of loose parts, which conserves momentum and angular
//! momentum.

use nalgebra::{Matrix3, Vector3};

use super::ProjectiveModel;
use crate::math::rows::Rows;
use crate::math::symmetric::Spread;

/// Scratch for positions, velocities and their momenta.
pub(super) struct RigidParts {
    places: Vec<[f64; 3]>,
    motion: Vec<[f64; 3]>,
    image: Vec<[f64; 3]>,
    /// Second moments of a part: positions with positions, and positions with velocities.
    moments: Vec<[Matrix3<f64>; 2]>,
    /// `true` for each loose part.
    loose: Vec<bool>,
}

impl RigidParts {
    pub(super) fn new(model: &ProjectiveModel) -> Self {
        let zeros = || vec![[0.0; 3]; model.rank()];
        let count = model.coordinates.parts.len();
        let moments = vec![[Matrix3::zeros(); 2]; count];
        let loose = (0..count).map(|part| !model.hangs(part)).collect();
        Self { places: zeros(), motion: zeros(), image: zeros(), moments, loose }
    }

    /// Deforming part of a velocity at given coordinates: without the rigid motion for a loose part,
    /// unchanged for an attached part.
    ///
    /// The rigid motion of a part is the one with its momentum and angular momentum.
    pub(super) fn deforming(
        &mut self,
        model: &ProjectiveModel,
        y: &Rows,
        velocity: impl Fn(usize) -> [f64; 3],
        spread: &mut Spread,
    ) -> &Rows {
        let parts = &model.coordinates.parts;
        self.places.copy_from_slice(y);
        for (number, part) in parts.iter().enumerate() {
            (0..3).for_each(|axis| self.places[4 * number + axis][axis] += part.size);
        }
        self.motion.iter_mut().enumerate().for_each(|(k, motion)| *motion = velocity(k));
        self.moments.fill([Matrix3::zeros(); 2]);
        center(model, &self.loose, [&mut self.motion, &mut self.image], spread);
        center(model, &self.loose, [&mut self.places, &mut self.image], spread);
        // The momenta of the positions become those of centred positions.
        for (k, &part) in model.coordinates.parts_of_columns.iter().enumerate() {
            let weighted = Vector3::from(self.image[k]);
            let [of_places, of_motion] = &mut self.moments[part as usize];
            *of_places += weighted * Vector3::from(self.places[k]).transpose();
            *of_motion += weighted * Vector3::from(self.motion[k]).transpose();
        }
        let of_parts = model.coordinates.parts_of_columns.iter().enumerate();
        for (k, &part) in of_parts.filter(|(_, part)| self.loose[**part as usize]) {
            let spin = spin(&self.moments[part as usize]);
            let turning = spin.cross(&Vector3::from(self.places[k]));
            (0..3).for_each(|c| self.motion[k][c] -= turning[c]);
        }
        &self.motion
    }
}

/// Subtracts the mass-weighted mean from the rows of each loose part; `image` becomes M times the result.
fn center(model: &ProjectiveModel, loose: &[bool], [rows, image]: [&mut Rows; 2], spread: &mut Spread) {
    model.packed_mass.multiply(rows, image, spread);
    for (number, part) in model.coordinates.parts.iter().enumerate().filter(|(number, _)| loose[*number]) {
        let at = 4 * number + 3;
        (0..3).for_each(|c| rows[at][c] -= image[at][c] / part.mass);
    }
    model.packed_mass.multiply(rows, image, spread);
}

/// Spin for the angular momentum `sum of m x cross v`, from the sums of `m x x'` and `m x v'`.
fn spin([places, motion]: &[Matrix3<f64>; 2]) -> Vector3<f64> {
    let momentum = Vector3::new(
        motion[(1, 2)] - motion[(2, 1)],
        motion[(2, 0)] - motion[(0, 2)],
        motion[(0, 1)] - motion[(1, 0)],
    );
    let inertia = Matrix3::identity() * places.trace() - places;
    inertia.try_inverse().map_or(Vector3::zeros(), |inverse| inverse * momentum)
}
