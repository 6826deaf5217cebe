//! Periodic motion: the state from which a cycle of poses returns to itself.
//!
//! A cycle maps its start state to its end state, nearly linearly, and damping makes the map a contraction.
//! Anderson acceleration finds the fixed point: the next start is the combination of previous starts with
//! the smallest combined seam. Contacts that begin or end break the map's smoothness, and handles may swing
//! far: among colliders and with handles, a pass with a larger seam than the one before it starts the
//! acceleration anew.

use nalgebra::Vector3;

use super::cycle::{Cycle, Memory};
use super::{Simulation, newton_on_cycle};
use crate::inputs::settings::{HISTORY, StepInput};
use crate::math::rows::Rows;
use crate::potentials::contact::{Collider, Placement};
use crate::stepping::state::State;
use crate::{Error, Progress, Result, check};

/// Largest distance of a part of the body, or of a collider, between the first and the last pose, as a share
/// of the body's diagonal.
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
    /// same holds for forces and offsets. Each collider must end where it began, or with that translation; a
    /// plane may stay if the translation is along it. `strengths` has one number for each input, or is empty
    /// to keep the setting. The cycle is simulated until its seam is below `tolerance`, at most `max_passes`
    /// times; the report gives the seam of the resulting motion. `progress` is reported every frame.
    ///
    /// # Errors
    /// [`Error::Range`] for fewer than two inputs, no passes, and poses or colliders that are not cyclic,
    /// with the gap as a share of the diagonal; [`Error::Shape`] for the strengths; [`Error::Cancelled`]; as
    /// [`Simulation::step_with`]. The state is then unchanged.
    pub fn settle_cycle(
        &mut self,
        inputs: &[StepInput<'_>],
        strengths: &[f64],
        max_passes: u32,
        tolerance: f64,
        progress: &Progress,
    ) -> Result<CycleReport> {
        check(inputs, strengths, max_passes)?;
        let (before, params) = (self.save_state(), *self.params());
        let found = advance(self, &inputs[0], &inputs[inputs.len() - 1]).and_then(|(advance, rides)| {
            let cycle = Cycle { inputs, strengths, params, advance, rides, progress };
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
    let (mut memory, mut last, touches) = (Memory::default(), f64::INFINITY, sim.collider_count() > 0);
    let swings = sim.model().projective().is_some();
    for passes in 1..=max_passes {
        let share = |part: f32| (passes as f32 - 1.0 + part) / max_passes as f32;
        cycle.progress.enter("closing the cycle", share(0.0), share(PASS))?;
        let mut places = Vec::new();
        let end = cycle.pass(sim, &start, &mut places)?;
        let (position, velocity) = cycle.seam(sim, &start, &end);
        let report = CycleReport { passes, position, velocity };
        if best.as_ref().is_none_or(|(_, best)| report.seam() < best.seam()) {
            best = Some((start.clone(), report));
        }
        if report.seam() <= tolerance || passes == max_passes {
            break;
        }
        // The first pass starts from a static pose: its map differs from the maps of the others.
        cycle.progress.enter("closing the cycle", share(PASS), share(1.0))?;
        if (touches || swings) && report.seam() > last {
            memory = Memory::default();
        }
        last = report.seam();
        let mut next = if passes == 1 { flat(&end) } else { memory.next(flat(&start), flat(&end)) };
        if passes >= NEWTON
            && !touches
            && newton_on_cycle::close(cycle, sim, &end, &mut places, ACCURATE * tolerance)?
        {
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

/// The common translation from the first to the last pose, and `true` for each collider that makes it too.
/// Leaves the simulation in the last pose.
fn advance(
    sim: &mut Simulation,
    first: &StepInput<'_>,
    last: &StepInput<'_>,
) -> Result<([f64; 3], Vec<bool>)> {
    let mut held = |input| sim.reset_with(input).map(|()| sim.save_state());
    let (start, end) = (held(first)?, held(last)?);
    let (advance, gap) = sim.carried(&start, &end)?;
    if gap > CYCLIC {
        return Err(Error::Range { what: "poses", expected: "a last pose like the first", got: gap });
    }
    let colliders = sim.surroundings.as_ref().map_or(&[][..], |around| &around.colliders);
    let diagonal = sim.model().mesh().map_or(0.0, |mesh| mesh.diagonal());
    let rows = [&start, &end].map(|state| &state.contact.last[..]);
    Ok((advance, rides(colliders, rows, &advance.into(), diagonal)?))
}

/// `true` for each collider with a translation from the first to the last placement, `false` for one that
/// stays.
fn rides(
    colliders: &[Collider],
    [start, end]: [&Rows; 2],
    advance: &Vector3<f64>,
    diagonal: f64,
) -> Result<Vec<bool>> {
    let placements = start.as_chunks().0.iter().zip(end.as_chunks().0);
    let rides = |(collider, (start, end)): (&Collider, _)| {
        let [start, end] = [start, end].map(|rows| Placement::of(rows, &[0.0; 3]));
        let (moved, within) = (end.translation() - start.translation(), CYCLIC * diagonal);
        let turned = (end.rotation() - start.rotation()).amax();
        let (beside, stays) = ((moved - advance).norm(), moved.norm());
        if turned <= CYCLIC && beside <= within {
            return Ok(true);
        }
        if turned <= CYCLIC && stays <= within {
            let advance = start.unturned(advance);
            if collider.shape().is_same_after(&advance, within) {
                return Ok(false);
            }
        }
        let got = turned.max(beside / diagonal);
        let expected = "each at its first place at the end of the cycle, or moved along with the body";
        Err(Error::Range { what: "colliders", expected, got })
    };
    colliders.iter().zip(placements).map(rides).collect()
}

fn flat(state: &State) -> Vec<f64> {
    state.reduced.iter().flat_map(|rows| rows.as_flattened()).copied().collect()
}
