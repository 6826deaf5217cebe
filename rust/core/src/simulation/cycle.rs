//! A cycle of poses: passes through it, residuals along a motion, and the memory of previous passes.

use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::math::rows;
use crate::simulation::Simulation;
use crate::stepping::recurrence::Tangent;
use crate::stepping::state::State;
use crate::{Error, Progress, Result};

/// Relative length below which a difference of seams counts as linearly dependent.
const DEPENDENT: f64 = 1e-8;

pub(super) struct Cycle<'a> {
    pub(super) inputs: &'a [StepInput<'a>],
    pub(super) strengths: &'a [f64],
    pub(super) params: SimulationParams,
    /// Translation of the body in one cycle, metres.
    pub(super) advance: [f64; 3],
    /// `true` for each collider with the same translation, `false` for one that stays.
    pub(super) rides: Vec<bool>,
    pub(super) progress: &'a Progress,
}

impl Cycle<'_> {
    /// `true` if any input has drag.
    pub(super) fn drags(&self) -> bool {
        self.inputs.iter().any(|input| input.drag.is_some())
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
        let gone = self.each_frame(sim, |sim, input| {
            self.progress.report(done)?;
            let more = sim.step_along(input, rest.next().unwrap_or_default(), probe)?;
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

    /// Calls `step` with each input but the first, at its strength.
    fn each_frame(
        &self,
        sim: &mut Simulation,
        mut step: impl FnMut(&mut Simulation, &StepInput<'_>) -> Result<()>,
    ) -> Result<()> {
        for (frame, input) in self.inputs.iter().enumerate().skip(1) {
            if let Some(&strength) = self.strengths.get(frame) {
                sim.set_params(SimulationParams { strength, ..self.params })?;
            }
            step(sim, input)?;
        }
        Ok(())
    }

    /// The end state of a cycle, with its poses moved back to the start of the cycle; records the
    /// coordinates of all substeps.
    pub(super) fn pass(
        &self,
        sim: &mut Simulation,
        start: &State,
        places: &mut Vec<Vec<[f64; 3]>>,
    ) -> Result<State> {
        sim.restore_state(start)?;
        let mut frames = 0;
        self.each_frame(sim, |sim, input| {
            frames += 1;
            self.progress.report(frames as f32 / self.inputs.len() as f32)?;
            sim.step_traced(input, places, self.progress)
        })?;
        let mut end = sim.save_state();
        let back = self.advance.map(|x| -x);
        end.reduced.iter_mut().for_each(|rows| sim.stepper.method.shift(&back, rows));
        end.contact.carry_back(&self.advance, &self.rides);
        for rows in end.frames.iter_mut().chain(&mut end.path) {
            for row in rows.iter_mut().skip(3).step_by(4) {
                (0..3).for_each(|c| row[c] -= self.advance[c]);
            }
        }
        Ok(end)
    }

    /// Seams of position and of velocity a frame.
    pub(super) fn seam(&self, sim: &Simulation, start: &State, end: &State) -> (f64, f64) {
        let apart = |back: usize| {
            let mut rows = end.reduced[HISTORY - back].clone();
            rows::add(&mut rows, -1.0, &start.reduced[HISTORY - back]);
            rows
        };
        let (last, mut moved) = (apart(1), apart(1));
        rows::add(&mut moved, -1.0, &apart(2));
        let [position, velocity] =
            [&last, &moved].map(|rows| sim.stepper.method.mass_norm(rows) / sim.unit());
        (position, f64::from(self.params.substeps) * velocity)
    }
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
