//! Start of a loose body at a place with a velocity.

use nalgebra::{Matrix3, Vector3};

use super::ProjectiveModel;
use crate::inputs::settings::HISTORY;
use crate::math::polar::rotations;
use crate::stepping::state::State;
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

impl ProjectiveModel {
    /// State of the inflated body at a start, with a substep of `h` seconds before it; `state` is a state
    /// at rest.
    pub(crate) fn placed(
        &self,
        start: &Start,
        (inflation, h): (f64, f64),
        mut state: State,
    ) -> Result<State> {
        let turn = start.turn()?;
        let shift = Vector3::from(start.place.map(|row| row[3]));
        let (velocity, spin) = (Vector3::from(start.velocity), Vector3::from(start.spin));
        for rows in &mut state.reduced {
            rows.fill([0.0; 3]);
        }
        for (number, part) in self.coordinates.parts.iter().enumerate() {
            let center = Vector3::from(part.center);
            let moved = (turn - Matrix3::identity()) * center + shift;
            for (row, rows) in state.reduced.iter_mut().enumerate() {
                let back = h * (HISTORY - 1 - row) as f64;
                for axis in 0..3 {
                    let arm = inflation * part.size * turn.column(axis);
                    let was = arm - back * spin.cross(&arm);
                    rows[4 * number + axis] = (was - part.size * Vector3::ith(axis, 1.0)).into();
                }
                rows[4 * number + 3] = (moved - back * velocity).into();
            }
        }
        state.spacing = h;
        Ok(state)
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
