//! Periodic motion: the state from which a cycle of poses returns to itself.
//!
//! A cycle maps its start state to its end state, nearly linearly, and damping makes the map a contraction.
//! Anderson acceleration finds the fixed point: the next start is the combination of previous starts with
//! the smallest combined seam.

use crate::inputs::settings::HISTORY;
use crate::inputs::settings::{Drive, SimulationParams};
use crate::simulation::Simulation;
use crate::simulation::orbit;
use crate::stepping::recurrence::Tangent;
use crate::stepping::state::State;
use crate::{Error, Progress, Result};

/// Largest distance of a part of the body between the first and the last pose, as a share of the body's
/// diagonal.
const CYCLIC: f64 = 1e-3;
/// Relative length below which a difference of seams counts as linearly dependent.
const DEPENDENT: f64 = 1e-8;

/// First pass followed by an attempt with Newton's method.
const NEWTON: u32 = 3;
/// Accuracy of the Newton solution, as a share of the tolerance.
const ACCURATE: f64 = 0.01;
/// Share of the progress bar for the simulation of a pass; the rest is for Newton's method.
const PASS: f32 = 0.2;

/// Closing error of a cycle.
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
    /// Starts the first of `drives` in the periodic state: stepping through the others returns to the same
    /// position and velocity.
    ///
    /// The last pose must equal the first up to a common translation, which allows a walk to advance; the
    /// same holds for forces and offsets. `strengths` has one number for each drive, or is empty to keep
    /// the setting. The cycle is simulated until its seam is below `tolerance`, at most `max_passes` times;
    /// the report gives the seam of the resulting motion. `progress` is reported every frame.
    ///
    /// # Errors
    /// [`Error::Range`] for fewer than two drives, no passes, and poses that are not cyclic, with the gap
    /// as a share of the diagonal; [`Error::Shape`] for the strengths; [`Error::Unsupported`] with
    /// colliders; [`Error::Cancelled`]; as [`Simulation::step_with`]. The state is then unchanged.
    pub fn settle_cycle(
        &mut self,
        drives: &[Drive<'_>],
        strengths: &[f64],
        max_passes: u32,
        tolerance: f64,
        progress: &Progress,
    ) -> Result<CycleReport> {
        check(drives, strengths, max_passes)?;
        if self.collider_count() > 0 {
            let why = "a motion that touches something is not found as a loop; settle and step instead";
            return Err(Error::Unsupported { what: "settle_cycle", why });
        }
        let (before, params) = (self.save_state(), *self.params());
        let found = advance(self, &drives[0], &drives[drives.len() - 1]).and_then(|advance| {
            let cycle = Cycle { drives, strengths, params, advance, progress };
            cycle.settle(self, max_passes, tolerance)
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

fn check(drives: &[Drive<'_>], strengths: &[f64], max_passes: u32) -> Result<()> {
    if drives.len() < 2 {
        let got = drives.len() as f64;
        return Err(Error::Range { what: "poses", expected: "at least two, the last like the first", got });
    }
    if max_passes == 0 {
        return Err(Error::Range { what: "max_passes", expected: "at least one pass", got: 0.0 });
    }
    if strengths.is_empty() || strengths.len() == drives.len() {
        return Ok(());
    }
    let (expected, got) = (format!("({},)", drives.len()), format!("({},)", strengths.len()));
    Err(Error::Shape { what: "strengths", expected, got })
}

pub(super) struct Cycle<'a> {
    drives: &'a [Drive<'a>],
    strengths: &'a [f64],
    params: SimulationParams,
    /// Translation of the body in one cycle, metres.
    advance: [f64; 3],
    pub(super) progress: &'a Progress,
}

impl Cycle<'_> {
    /// The state at the start of the best pass, and its report.
    fn settle(&self, sim: &mut Simulation, max_passes: u32, tolerance: f64) -> Result<(State, CycleReport)> {
        sim.reset_with(&self.drives[0])?;
        let mut start = sim.save_state();
        let mut best: Option<(State, CycleReport)> = None;
        let mut memory = Memory::default();
        for passes in 1..=max_passes {
            let share = |part: f32| (passes as f32 - 1.0 + part) / max_passes as f32;
            self.progress.enter("closing the cycle", share(0.0), share(PASS))?;
            let mut places = Vec::new();
            let end = self.pass(sim, &start, &mut places)?;
            let (position, velocity) = self.seam(sim.unit(), &start, &end);
            let report = CycleReport { passes, position, velocity };
            if best.as_ref().is_none_or(|(_, best)| report.seam() < best.seam()) {
                best = Some((start.clone(), report));
            }
            if report.seam() <= tolerance || passes == max_passes {
                break;
            }
            // The first pass starts from a static pose: its map differs from the maps of the others.
            self.progress.enter("closing the cycle", share(PASS), share(1.0))?;
            let mut next = if passes == 1 { flat(&end) } else { memory.next(flat(&start), flat(&end)) };
            if passes >= NEWTON && orbit::close(self, sim, &end, &mut places, ACCURATE * tolerance)? {
                next = places[places.len() - HISTORY..].concat().into_flattened();
            }
            start = end;
            start.reduced.iter_mut().zip(next.chunks_exact(next.len() / HISTORY)).for_each(|(rows, next)| {
                rows.as_flattened_mut().copy_from_slice(next);
            });
        }
        self.progress.enter("closing the cycle", 1.0, 1.0)?;
        best.ok_or(Error::Range { what: "max_passes", expected: "at least one pass", got: 0.0 })
    }

    /// `true` if any drive has drag.
    pub(super) fn drags(&self) -> bool {
        self.drives.iter().any(|drive| drive.drag.is_some())
    }

    /// Residuals of the cycle's equations for a given motion, one state a substep, with derivatives if
    /// `probe`. `None` for a motion beyond a limit or with numerical overflow. The poses are those of
    /// `start`; `done` is the progress so far.
    pub(super) fn along(
        &self,
        sim: &mut Simulation,
        start: &State,
        places: &[Vec<[f64; 3]>],
        probe: bool,
        done: f32,
    ) -> Result<Option<Vec<Tangent>>> {
        let mut from = start.clone();
        from.reduced
            .iter_mut()
            .zip(&places[places.len() - HISTORY..])
            .for_each(|(to, place)| to.clone_from(place));
        sim.restore_state(&from)?;
        let mut tangents = Some(Vec::with_capacity(places.len()));
        let mut rest = places.chunks_exact(self.params.substeps as usize);
        let gone = self.each_frame(sim, |sim, drive| {
            self.progress.report(done)?;
            let more = sim.step_along(drive, rest.next().unwrap_or_default(), probe)?;
            tangents = tangents.take().zip(more).map(|(mut all, more)| {
                all.extend(more);
                all
            });
            Ok(())
        });
        match gone {
            Err(Error::Numerical { .. }) => Ok(None),
            gone => gone.map(|()| tangents),
        }
    }

    /// Calls `step` with each drive but the first, at its strength.
    fn each_frame(
        &self,
        sim: &mut Simulation,
        mut step: impl FnMut(&mut Simulation, &Drive<'_>) -> Result<()>,
    ) -> Result<()> {
        for (frame, drive) in self.drives.iter().enumerate().skip(1) {
            if let Some(&strength) = self.strengths.get(frame) {
                sim.set_params(SimulationParams { strength, ..self.params })?;
            }
            step(sim, drive)?;
        }
        Ok(())
    }

    /// The end state of a cycle, with its poses moved back to the start of the cycle; records the
    /// coordinates of all substeps.
    fn pass(&self, sim: &mut Simulation, start: &State, places: &mut Vec<Vec<[f64; 3]>>) -> Result<State> {
        sim.restore_state(start)?;
        let mut frames = 0;
        self.each_frame(sim, |sim, drive| {
            frames += 1;
            self.progress.report(frames as f32 / self.drives.len() as f32)?;
            sim.step_traced(drive, places, self.progress)
        })?;
        let mut end = sim.save_state();
        for rows in end.frames.iter_mut().chain(&mut end.path) {
            for row in rows.iter_mut().skip(3).step_by(4) {
                (0..3).for_each(|c| row[c] -= self.advance[c]);
            }
        }
        Ok(end)
    }

    /// Seams of position and of velocity a frame.
    fn seam(&self, unit: f64, start: &State, end: &State) -> (f64, f64) {
        let (mut position2, mut velocity2) = (0.0, 0.0);
        for row in 0..start.reduced[0].len() {
            for c in 0..3 {
                let apart =
                    |back: usize| end.reduced[HISTORY - back][row][c] - start.reduced[HISTORY - back][row][c];
                position2 += apart(1).powi(2);
                velocity2 += (apart(1) - apart(2)).powi(2);
            }
        }
        (position2.sqrt() / unit, f64::from(self.params.substeps) * velocity2.sqrt() / unit)
    }
}

/// The common translation from the first to the last pose. Leaves the simulation in the last pose.
fn advance(sim: &mut Simulation, first: &Drive<'_>, last: &Drive<'_>) -> Result<[f64; 3]> {
    let mut held = |drive| sim.reset_with(drive).map(|()| sim.save_state());
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

/// Seams and ends of previous passes.
#[derive(Default)]
pub(super) struct Memory {
    seams: Vec<Vec<f64>>,
    ends: Vec<Vec<f64>>,
}

impl Memory {
    /// The next start, from the least-squares combination of the seam differences.
    pub(super) fn next(&mut self, start: Vec<f64>, end: Vec<f64>) -> Vec<f64> {
        self.seams.push(difference(&end, &start));
        self.ends.push(end);
        let last = self.seams.len() - 1;
        let (mut left, mut next) = (self.seams[last].clone(), self.ends[last].clone());
        let mut used: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for k in (0..last).rev() {
            let mut seam = difference(&self.seams[k + 1], &self.seams[k]);
            let mut end = difference(&self.ends[k + 1], &self.ends[k]);
            let length = dot(&seam, &seam).sqrt();
            for (other, other_end) in &used {
                let along = dot(other, &seam);
                add(&mut seam, -along, other);
                add(&mut end, -along, other_end);
            }
            let norm = dot(&seam, &seam).sqrt();
            if norm <= DEPENDENT * length {
                continue;
            }
            [&mut seam, &mut end].into_iter().for_each(|v| v.iter_mut().for_each(|x| *x /= norm));
            let along = dot(&seam, &left);
            add(&mut left, -along, &seam);
            add(&mut next, -along, &end);
            used.push((seam, end));
        }
        next
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(out: &mut [f64], factor: f64, x: &[f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}
