//! Drag at the vertices of a full-space body.

use super::step::FullSpaceSubstep;
use crate::Result;
use crate::inputs::drag::Drag;
use crate::inputs::settings::SimulationParams;
use crate::math::rows::add;
use crate::potentials::drag::{check_at_vertices, in_metric};
use crate::stepping::history::velocity;
use crate::stepping::state::State;
use crate::stepping::substep::RigPlace;

impl FullSpaceSubstep {
    /// Stores the vertex drag of the next step.
    pub(super) fn enter_drag(&mut self, drag: Option<&Drag>) -> Result<()> {
        let (model, medium) = (&self.model, &mut self.terms.medium);
        medium.enter(std::iter::empty());
        let Some(drag) = drag else { return Ok(()) };
        check_at_vertices(drag, model.vertices.len())?;
        let moving = model.vertices[..model.free].iter().map(|&vertex| vertex as usize);
        medium.enter(moving.map(|v| ([drag.linear()[v], drag.quadratic()[v]], drag.velocity()[v])));
        Ok(())
    }

    /// Sets the known part of the vertex velocities for drag before a substep.
    pub(super) fn meet_medium(
        &mut self,
        state: &State,
        rig: RigPlace<'_>,
        params: &SimulationParams,
        h: f64,
    ) {
        self.terms.dragged = 0.0;
        if !self.terms.medium.acts() {
            return;
        }
        let factors = params.integrator.velocity();
        let posing = &self.model.posing;
        velocity(&state.path, rig.pose, factors, &mut self.acceleration);
        let [moved, of_offsets] = &mut self.felt;
        posing.apply(&self.acceleration, &[0.0; 3], moved);
        velocity(&state.offset_path, rig.offset, factors, of_offsets);
        add(&mut moved[..of_offsets.len()], 1.0, of_offsets);
        let [.., older, last] = &state.reduced;
        for (moved, (older, last)) in moved.iter_mut().zip(older.iter().zip(last)) {
            (0..3).for_each(|c| moved[c] += factors[1] * (last[c] - older[c]) - factors[0] * last[c]);
        }
        self.terms.medium.prepare(&moved[..self.model.free], factors[0], h);
        self.terms.dragged = in_metric(self.terms.medium.steepness(), self.terms.inertia);
    }
}
