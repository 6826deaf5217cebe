//! A loose body put somewhere, with a velocity.

use nalgebra::{Matrix3, Vector3};

use super::ProjectiveModel;
use crate::math::polar::rotations;
use crate::method::State;
use crate::method::settings::HISTORY;
use crate::{Error, Result};

/// Largest entry of a placement but its shift, by which it may miss a rotation.
const TURNED: f64 = 1e-6;

/// Where a loose body starts, and how fast.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// A rotation and a translation, metres, from where it is at rest; row-major.
    pub place: [[f64; 4]; 3],
    /// Velocity of the centre of mass of each of its parts, m/s.
    pub velocity: [f64; 3],
    /// Spin of each part about it, rad/s.
    pub spin: [f64; 3],
}

impl Default for Start {
    fn default() -> Self {
        let unit = |i: usize| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 });
        Self { place: std::array::from_fn(unit), velocity: [0.0; 3], spin: [0.0; 3] }
    }
}

impl ProjectiveModel {
    /// The state of the body at a start, inflated, `h` seconds after the substep before it; `state` is one at rest.
    pub(in crate::method) fn placed(
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
    /// The rotation that the body is placed by.
    pub(in crate::method) fn turn(&self) -> Result<Matrix3<f64>> {
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
