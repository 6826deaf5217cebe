//! Start of a loose body at a place with a velocity.

use nalgebra::Matrix3;

use crate::math::polar::rotations;
use crate::{Error, Result};

/// Largest deviation of a placement's matrix from a rotation, in any entry.
const TURNED: f64 = 1e-6;

/// Initial place and velocity of a loose body.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Rotation and translation, metres, from the rest place; row-major.
    pub place: [[f64; 4]; 3],
    /// Velocity of the centre of mass of each part, m/s.
    pub velocity: [f64; 3],
    /// Spin of each part about its centre of mass, rad/s.
    pub spin: [f64; 3],
}

impl Default for Start {
    fn default() -> Self {
        let unit = |i: usize| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 });
        Self { place: std::array::from_fn(unit), velocity: [0.0; 3], spin: [0.0; 3] }
    }
}

impl Start {
    /// The rotation of the placement.
    pub(crate) fn turn(&self) -> Result<Matrix3<f64>> {
        let numbers = self.place.as_flattened().iter().chain(&self.velocity).chain(&self.spin);
        if let Some((element, &value)) = numbers.enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NotFinite { what: "start", element, value });
        }
        let given: [f64; 9] = std::array::from_fn(|e| self.place[e / 3][e % 3]);
        let mut nearest = [[0.0; 9]];
        rotations(&[given], &mut nearest);
        let missed = given.iter().zip(&nearest[0]).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        if missed > TURNED {
            return Err(Error::Range {
                what: "place",
                expected: "a rotation and a translation",
                got: missed,
            });
        }
        Ok(Matrix3::from_row_slice(&nearest[0]))
    }
}
