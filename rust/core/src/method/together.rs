//! Several bodies stepped at once, each as it would be alone.

use rayon::prelude::*;

use crate::method::{Drive, Simulation, StepReport};
use crate::{Error, Progress, Result};

/// One body's part in a common step.
pub struct Turn<'a> {
    /// The body.
    pub simulation: &'a mut Simulation,
    /// What drives its step, as in [`Simulation::step_with`].
    pub drive: Drive<'a>,
}

/// Steps several bodies, in parallel; a report each, in order.
///
/// Bodies do not feel each other: each has the same bits as alone, for any number of threads.
///
/// # Errors
/// As [`Simulation::step_with`], the first in order; then no body has moved.
pub fn step_together(turns: &mut [Turn<'_>]) -> Result<Vec<StepReport>> {
    let step = |turn: &mut Turn<'_>| turn.simulation.step_with(&turn.drive, &Progress::default());
    let outcomes: Vec<Result<StepReport>> = turns.par_iter_mut().with_max_len(1).map(step).collect();
    let refused: Option<Error> = outcomes.iter().find_map(|outcome| outcome.clone().err());
    let Some(error) = refused else { return outcomes.into_iter().collect() };
    for (turn, outcome) in turns.iter_mut().zip(&outcomes) {
        if outcome.is_ok() {
            turn.simulation.undo();
        }
    }
    Err(error)
}
