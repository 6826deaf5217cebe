//! Inertial target of a substep, and start of its descent.

use super::step::FullSpaceMethod;
use crate::inputs::settings::{HISTORY, SimulationParams};
use crate::kinematics::carrying::carry;
use crate::kinematics::history::go_on;
use crate::math::rows::Rows;
use crate::solve::FAR;
use crate::stepping::method::RigState;
use crate::stepping::state::State;

impl FullSpaceMethod {
    /// Sets the target of held flesh that feels a share of the rig's acceleration: by the other share its
    /// motion is relative to the turning rig. Limp flesh on a turning rig would otherwise swing ever farther,
    /// since the tension that holds it comes from the rig's acceleration.
    fn carry(&mut self, state: &State, pose: &Rows, params: &SimulationParams) {
        let Self { model, carried, .. } = self;
        let share = |row: usize| 1.0 - params.strength * model.strength[row];
        if !model.is_held() || (0..model.free).all(|row| share(row) <= 0.0) {
            return;
        }
        let recall = params.integrator.recall();
        for (number, carried) in carried.iter_mut().enumerate() {
            carried.clone_from(&state.reduced[number]);
            if recall[HISTORY - 1 - number] == [0.0; 2] {
                continue;
            }
            carry(&model.posing, [&state.path[number], pose], share, carried);
        }
        self.terms.inertia.fly(carried, params.integrator);
    }

    /// Sets the target from inertia, gravity and damping, and the start of the descent.
    pub(super) fn predict(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) {
        self.terms.inertia.fly(&state.reduced, params.integrator);
        self.u.copy_from_slice(&self.terms.inertia.target);
        self.carry(state, rig.pose, params);
        let (inertia, posing) = (params.integrator.acceleration(), &self.model.posing);
        let ([felt, _], [of_pose, of_offsets]) = (&mut self.felt, rig.felt);
        posing.apply(of_pose, &[0.0; 3], felt);
        let offsets = felt.as_flattened_mut().iter_mut().zip(of_offsets.as_flattened());
        offsets.for_each(|(felt, offset)| *felt += offset);
        let target = &mut self.terms.inertia.target;
        let mut squares = 0.0;
        for (row, target) in target.iter_mut().enumerate() {
            let strength = self.model.strength[row];
            for c in 0..3 {
                let push = (h * h * params.gravity[c] - strength * felt[row][c]) / inertia[0];
                squares += self.model.mass[row] * push * push;
                target[c] += push;
            }
        }
        // Held flesh that moved in the last two substeps goes on. The last displacement is admissible; the
        // rig's inertia alone is not. If forces would move the flesh far, or if contacts are at rest, the
        // last displacement is also the nearer start.
        let touches = !state.contact.anchors.is_empty();
        let moves = state.reduced[1..].windows(2).all(|pair| pair[0] != pair[1]);
        let is_free = self.model.data.constraint.is_none();
        if !touches && self.model.is_held() && moves {
            go_on(&state.reduced, &mut self.u);
        } else if !touches && is_free && squares.sqrt() < FAR * self.model.unit() {
            self.u.copy_from_slice(target);
        }
    }
}
