//! Newton's method on a whole cycle.
//!
//! Flesh near its displacement limit is stiff, flesh near rest is soft. Repetition of the cycle then need
//! not converge: it may alternate between two motions. The periodic motion exists nevertheless. The unknown
//! is the motion over the whole cycle, and the equations of all substeps are solved together, with the
//! first substep following the last. An approximate motion stays near the solution, while an error of the
//! start state alone could grow.
//!
//! A Newton step solves `H_s d_s - sum over k of C_k d_(s-k) = -g_s` for all substeps s, with the gradients
//! g and Hessians H of their incremental energies. C_k is constant and diagonal except for drag. Given the
//! end of the cycle, one sweep gives all other substeps; least squares of [`Memory`] find the end that
//! reproduces itself.

use faer::linalg::solvers::Solve;
use faer::{ColRef, Mat};

use super::cycle::{Cycle, Memory};
use crate::Result;
use crate::inputs::settings::HISTORY;
use crate::simulation::Simulation;
use crate::stepping::recurrence::{Recurrence, Tangent};
use crate::stepping::state::State;

/// Most Newton steps.
const STEPS: usize = 40;
/// Most halvings of one.
const HALVINGS: usize = 6;
/// Share of the predicted decrease required to accept a step.
const SUFFICIENT: f64 = 0.1;
/// Most sweeps, and the relative change at convergence.
const SWEEPS: usize = 80;
const SWEPT: f64 = 1e-7;
/// Largest memory for the Hessians of a cycle and of its drag, bytes.
const ROOM: usize = 1 << 29;

type Places = Vec<Vec<[f64; 3]>>;

/// Moves the motion of a cycle to the periodic motion, until the residual of its equations is below
/// `tolerance`, as a share of the diagonal. Returns `false` without convergence, and for a cycle too short
/// or too large.
pub(super) fn close(
    cycle: &Cycle<'_>,
    sim: &mut Simulation,
    start: &State,
    places: &mut Places,
    tolerance: f64,
) -> Result<bool> {
    let size = 3 * start.reduced[0].len();
    let matrices = if cycle.drags() { 2 } else { 1 };
    if places.len() < HISTORY || places.len() * matrices * size * size * size_of::<f64>() > ROOM {
        return Ok(false);
    }
    let Some(recurrence) = sim.recurrence() else { return Ok(false) };
    for step in 0..STEPS {
        let done = step as f32 / STEPS as f32;
        let Some(tangents) = cycle.along(sim, start, places, true, done)? else { return Ok(false) };
        let error = error(sim, &recurrence, &tangents);
        if error <= tolerance {
            return Ok(true);
        }
        let step = newton(&recurrence, &tangents, || cycle.progress.report(done))?;
        if step.iter().flatten().any(|x| !x.is_finite()) {
            return Ok(false);
        }
        let better = |sim: &mut Simulation, trial: &Places, share: f64| -> Result<bool> {
            let there = cycle.along(sim, start, trial, false, done)?;
            Ok(there.is_some_and(|there| {
                self::error(sim, &recurrence, &there) <= (1.0 - SUFFICIENT * share) * error
            }))
        };
        let Some(next) = shorten(sim, places, &step, better)? else { return Ok(false) };
        *places = next;
    }
    Ok(false)
}

/// The motion after a step, shortened until `better` accepts.
fn shorten(
    sim: &mut Simulation,
    places: &Places,
    step: &[Vec<f64>],
    better: impl Fn(&mut Simulation, &Places, f64) -> Result<bool>,
) -> Result<Option<Places>> {
    let mut share = 1.0;
    for _ in 0..=HALVINGS {
        let trial = moved(places, step, share);
        if better(sim, &trial, share)? {
            return Ok(Some(trial));
        }
        share *= 0.5;
    }
    Ok(None)
}

/// Root of the sum of the squared residuals of all substeps, as a share of the diagonal.
fn error(sim: &Simulation, recurrence: &Recurrence, tangents: &[Tangent]) -> f64 {
    let missed = |tangent: &Tangent| -> f64 {
        let rows = tangent.gradient.chunks_exact(3).zip(&recurrence.diagonal);
        rows.map(|(row, diagonal)| row.iter().map(|g| (g / diagonal).powi(2)).sum::<f64>()).sum()
    };
    tangents.iter().map(missed).sum::<f64>().sqrt() / sim.unit()
}

/// The Newton step of all substeps, each 3r.
fn newton(
    recurrence: &Recurrence,
    tangents: &[Tangent],
    report: impl Fn() -> Result<()>,
) -> Result<Vec<Vec<f64>>> {
    let size = tangents[0].gradient.len();
    let mut end = vec![0.0; HISTORY * size];
    let mut memory = Memory::default();
    let mut step = Vec::new();
    for _ in 0..SWEEPS {
        report()?;
        step = sweep(recurrence, tangents, &end);
        let came = step[step.len() - HISTORY..].concat();
        let norm2 = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let apart: Vec<f64> = came.iter().zip(&end).map(|(a, b)| a - b).collect();
        if norm2(&apart) <= SWEPT * SWEPT * norm2(&came) {
            break;
        }
        end = memory.next(end, came);
    }
    Ok(step)
}

/// Changes of all substeps, given those of the last substeps before the cycle, older first.
fn sweep(recurrence: &Recurrence, tangents: &[Tangent], before: &[f64]) -> Vec<Vec<f64>> {
    let size = tangents[0].gradient.len();
    let mut all: Vec<Vec<f64>> = before.chunks_exact(size).map(<[f64]>::to_vec).collect();
    for tangent in tangents {
        let pull = |i: usize, _: usize| {
            let kept =
                recurrence.recall.iter().zip(all.iter().rev()).map(|(recall, ago)| recall[i / 3] * ago[i]);
            kept.sum::<f64>() - tangent.gradient[i]
        };
        let mut change = Mat::from_fn(size, 1, pull);
        if let Some(drag) = &tangent.drag {
            for (factor, ago) in recurrence.dragged.iter().zip(all.iter().rev()) {
                change += faer::Scale(*factor) * (drag * ColRef::from_slice(ago)).as_mat();
            }
        }
        if let Some(hessian) = &tangent.hessian {
            hessian.solve_in_place(&mut change);
        }
        all.push(change.col_as_slice(0).to_vec());
    }
    all.split_off(HISTORY)
}

fn moved(places: &Places, step: &[Vec<f64>], share: f64) -> Places {
    let mut moved = places.clone();
    for (place, step) in moved.iter_mut().zip(step) {
        place.as_flattened_mut().iter_mut().zip(step).for_each(|(x, d)| *x += share * d);
    }
    moved
}
