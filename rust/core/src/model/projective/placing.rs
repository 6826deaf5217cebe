//! State of a loose body of handles at a start.

use nalgebra::{Matrix3, Vector3};

use super::ProjectiveModel;
use crate::Result;
use crate::inputs::settings::HISTORY;
use crate::inputs::start::Start;
use crate::stepping::state::State;

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
