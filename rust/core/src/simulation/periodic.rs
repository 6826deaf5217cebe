//! Periodic motion: the state from which a cycle of poses returns to itself.
//!
//! A cycle maps its start state to its end state, nearly linearly, and damping makes the map a contraction.
//! Anderson acceleration finds the fixed point: the next start is the combination of previous starts with
//! the smallest combined seam.

use super::cycle::{Cycle, Memory};
use super::{Simulation, newton_on_cycle};
use crate::inputs::settings::{HISTORY, StepInput};
use crate::stepping::state::State;
use crate::{Error, Progress, Result, check};

/// Largest distance of a part of the body between the first and the last pose, as a share of the body's
/// diagonal.
const CYCLIC: f64 = 1e-3;
/// First pass followed by an attempt with Newton's method.
const NEWTON: u32 = 3;
/// Accuracy of the Newton solution, as a share of the tolerance.
const ACCURATE: f64 = 0.01;
/// Share of the progress bar for the simulation of a pass; the rest is for Newton's method.
const PASS: f32 = 0.2;

/// Closing error of a cycle.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CycleReport {
    /// Number of simulated passes through the cycle.
    pub passes: u32,
    /// Position difference between end and start: root mean square over the mass, as a share of the
    /// diagonal.
    pub position: f64,
    /// Velocity difference between end and start, in the same measure a frame.
    pub velocity: f64,
}

impl CycleReport {
    /// The larger of both.
    pub fn seam(&self) -> f64 {
        self.position.max(self.velocity)
    }
}

impl Simulation {
    /// Starts the first of `inputs` in the periodic state: stepping through the others returns to the same
    /// position and velocity.
    ///
    /// The last pose must equal the first up to a common translation, which allows a walk to advance; the
    /// same holds for forces and offsets. `strengths` has one number for each input, or is empty to keep
    /// the setting. The cycle is simulated until its seam is below `tolerance`, at most `max_passes` times;
    /// the report gives the seam of the resulting motion. `progress` is reported every frame.
    ///
    /// # Errors
    /// [`Error::Range`] for fewer than two inputs, no passes, and poses that are not cyclic, with the gap
    /// as a share of the diagonal; [`Error::Shape`] for the strengths; [`Error::Unsupported`] with
    /// colliders; [`Error::Cancelled`]; as [`Simulation::step_with`]. The state is then unchanged.
    pub fn settle_cycle(
        &mut self,
        inputs: &[StepInput<'_>],
        strengths: &[f64],
        max_passes: u32,
        tolerance: f64,
        progress: &Progress,
    ) -> Result<CycleReport> {
        check(inputs, strengths, max_passes)?;
        if self.collider_count() > 0 {
            let why = "a motion that touches something is not found as a loop; settle and step instead";
            return Err(Error::Unsupported { what: "settle_cycle", why });
        }
        let (before, params) = (self.save_state(), *self.params());
        let found = advance(self, &inputs[0], &inputs[inputs.len() - 1]).and_then(|advance| {
            let cycle = Cycle { inputs, strengths, params, advance, progress };
            settle(&cycle, self, max_passes, tolerance)
        });
        self.set_params(params)?;
        match found {
            Ok((state, report)) => {
                self.restore_state(&state)?;
                Ok(report)
            }
            Err(error) => {
                self.restore_state(&before)?;
                Err(error)
            }
        }
    }
}

fn check(inputs: &[StepInput<'_>], strengths: &[f64], max_passes: u32) -> Result<()> {
    if inputs.len() < 2 {
        let got = inputs.len() as f64;
        return Err(Error::Range { what: "poses", expected: "at least two, the last like the first", got });
    }
    check::range("max_passes", "at least one pass", 0.0, max_passes != 0)?;
    if strengths.is_empty() || strengths.len() == inputs.len() {
        return Ok(());
    }
    let (expected, got) = (format!("({},)", inputs.len()), format!("({},)", strengths.len()));
    Err(Error::Shape { what: "strengths", expected, got })
}

/// The state at the start of the best pass, and its report.
fn settle(
    cycle: &Cycle<'_>,
    sim: &mut Simulation,
    max_passes: u32,
    tolerance: f64,
) -> Result<(State, CycleReport)> {
    sim.reset_with(&cycle.inputs[0])?;
    let mut start = sim.save_state();
    let mut best: Option<(State, CycleReport)> = None;
    let mut memory = Memory::default();
    for passes in 1..=max_passes {
        let share = |part: f32| (passes as f32 - 1.0 + part) / max_passes as f32;
        cycle.progress.enter("closing the cycle", share(0.0), share(PASS))?;
        let mut places = Vec::new();
        let end = cycle.pass(sim, &start, &mut places)?;
        let (position, velocity) = cycle.seam(sim.unit(), &start, &end);
        let report = CycleReport { passes, position, velocity };
        if best.as_ref().is_none_or(|(_, best)| report.seam() < best.seam()) {
            best = Some((start.clone(), report));
        }
        if report.seam() <= tolerance || passes == max_passes {
            break;
        }
        // The first pass starts from a static pose: its map differs from the maps of the others.
        cycle.progress.enter("closing the cycle", share(PASS), share(1.0))?;
        let mut next = if passes == 1 { flat(&end) } else { memory.next(flat(&start), flat(&end)) };
        if passes >= NEWTON && newton_on_cycle::close(cycle, sim, &end, &mut places, ACCURATE * tolerance)? {
            next = places[places.len() - HISTORY..].concat().into_flattened();
        }
        start = end;
        start.reduced.iter_mut().zip(next.chunks_exact(next.len() / HISTORY)).for_each(|(rows, next)| {
            rows.as_flattened_mut().copy_from_slice(next);
        });
    }
    cycle.progress.enter("closing the cycle", 1.0, 1.0)?;
    best.ok_or(Error::Range { what: "max_passes", expected: "at least one pass", got: 0.0 })
}

/// The common translation from the first to the last pose. Leaves the simulation in the last pose.
fn advance(sim: &mut Simulation, first: &StepInput<'_>, last: &StepInput<'_>) -> Result<[f64; 3]> {
    let mut held = |input| sim.reset_with(input).map(|()| sim.save_state());
    let (start, end) = (held(first)?, held(last)?);
    let (advance, gap) = sim.carried(&start, &end)?;
    if gap <= CYCLIC {
        return Ok(advance);
    }
    Err(Error::Range { what: "poses", expected: "a last pose like the first", got: gap })
}

fn flat(state: &State) -> Vec<f64> {
    state.reduced.iter().flat_map(|rows| rows.as_flattened()).copied().collect()
}
