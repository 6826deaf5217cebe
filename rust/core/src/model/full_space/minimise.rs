//! Minimisation of the incremental energy of a step.

use super::newton::Newton;
use super::objective::Incremental;
use super::stretch::{FELT, NEAR};
use crate::Result;
use crate::inputs::settings::Minimiser;
use crate::math::rows::{Rows, combine};
use crate::potentials::quadratic::combine_wide;
use crate::solve::{Descent, FAR, Objective, Outcome, take_lowest};

/// Most iterations of Newton's method after a stall among contacts, each with compliances between all points.
const MOST_AMONG_CONTACTS: u32 = 10;

impl Incremental<'_> {
    /// Moves u to a minimum; repeats the descent if further tets reach their stretch limit.
    pub(super) fn minimise(
        &mut self,
        descent: &mut Descent,
        minimiser: Minimiser,
        u: &mut Rows,
        (max_iterations, tolerance): (u32, f64),
        on_iteration: &mut impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        loop {
            let before = outcome.iterations;
            let budget = (max_iterations - before, tolerance);
            let on_iteration = |iteration, energy| on_iteration(before + iteration, energy);
            outcome = outcome.then(self.descend(descent, minimiser, u, budget, on_iteration)?);
            if outcome.iterations >= max_iterations || !self.watch_stretch(u, FELT) {
                return Ok(outcome);
            }
        }
    }

    fn descend(
        &mut self,
        descent: &mut Descent,
        minimiser: Minimiser,
        u: &mut Rows,
        budget: (u32, f64),
        mut on_iteration: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        if minimiser == Minimiser::Newton {
            return descent.minimise(&mut Newton::new(self, |value| value.max(0.0)), u, budget, on_iteration);
        }
        let outcome = descent.minimise(self, u, budget, &mut on_iteration)?;
        if outcome.stalled {
            let left = budget.0 - outcome.iterations;
            let most = if self.contact.is_some() { left.min(MOST_AMONG_CONTACTS) } else { left };
            let budget = (outcome.iterations + most, budget.1);
            // Absolute eigenvalues are better than projected ones far from a minimum `[AbsoluteNewton]`.
            let newton = &mut Newton::new(self, f64::abs);
            return Ok(outcome.then(descent.rescue(newton, u, budget, &outcome, on_iteration)?));
        }
        Ok(outcome)
    }

    /// Projects u onto the constraint in the metric. Directions violate it by rounding errors, which
    /// velocities would otherwise amplify.
    pub(super) fn project(&mut self, u: &mut Rows) {
        if self.model.data.constraint.is_none() {
            return;
        }
        let [inertia, stiffness] = self.terms.metric();
        let laplacian = self.laplacian();
        combine_wide(self.wide, u, 0.0, u);
        let pulls = &mut self.positions[..self.model.free];
        for (row, mass) in self.model.mass.iter().enumerate() {
            pulls[row] = u[row].map(|u| inertia * mass * u);
        }
        laplacian.evaluate(&self.wide[..self.model.free], stiffness, pulls);
        self.factor.solve_vertices(self.scratch, pulls);
        u.copy_from_slice(pulls);
    }

    /// Replaces a distant start by the last displacement or by zero, whichever has the lowest energy.
    /// Otherwise forces or speed would carry the start beyond elastic resistance and, with early stops,
    /// ever further.
    pub(super) fn start(&mut self, last: &Rows, u: &mut Rows) {
        self.watch_stretch(u, NEAR);
        let mut gradient = vec![[0.0; 3]; u.len()];
        combine(&mut gradient, u, -1.0, last);
        if self.length(&gradient).max(self.length(last)) <= FAR {
            return;
        }
        let others = [last, &vec![[0.0; 3]; u.len()]];
        for other in others {
            self.watch_stretch(other, NEAR);
        }
        take_lowest(self, u, others, &mut gradient);
    }
}
