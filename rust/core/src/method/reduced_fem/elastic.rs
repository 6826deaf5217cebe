//! The elastic energy in the coordinates of a basis.

use super::ReducedModel;
use super::limits::LimitScratch;
use super::samples::SampleScratch;
use crate::math::dense::dot;
use crate::math::rows::Rows;

/// What a pose makes of the energy, and memory to evaluate it.
pub(super) struct Elastic {
    pub(super) scratch: SampleScratch,
    pub(super) limits: LimitScratch,
    /// What the twists of the rig pull with, k; zero where rest shapes follow in full.
    pull: Vec<f64>,
    /// Share of the bind shape in the rest shape.
    bind: f64,
    product: Vec<f64>,
}

impl Elastic {
    pub(super) fn new(model: &ReducedModel) -> Self {
        let zeros = || vec![0.0; model.data.rank()];
        let (scratch, limits) = (model.samples.scratch(), LimitScratch::new(model));
        Self { scratch, limits, pull: zeros(), bind: 0.0, product: zeros() }
    }

    /// Takes a pose, 4 rows a handle, the share of it in the rest shape, and how far tets may stretch.
    pub(super) fn enter_pose(
        &mut self,
        model: &ReducedModel,
        pose: &Rows,
        (pose_rest, stretch): (f64, Option<f64>),
    ) {
        self.limits.enter_pose(model, pose, stretch);
        model.samples.enter_pose(&mut self.scratch, pose, (pose_rest, f64::INFINITY));
        self.bind = 1.0 - pose_rest;
        let Some(twisting) = model.data.twisting.as_ref().filter(|_| self.bind > 0.0) else {
            return self.pull.fill(0.0);
        };
        twisting.rig.project(pose.as_flattened(), &mut self.pull);
        self.pull.iter_mut().for_each(|pull| *pull *= self.bind);
    }

    /// The energy, J, less that of the rig alone, with what limits stretch; its gradient is written.
    pub(super) fn evaluate(&mut self, model: &ReducedModel, y: &[f64], gradient: &mut [f64]) -> f64 {
        let mut energy = model.samples.evaluate(&mut self.scratch, y, gradient);
        let twisting = model.data.twisting.as_ref().map(|twisting| &twisting.own);
        for quadratic in [Some(&model.unseen), twisting].into_iter().flatten() {
            quadratic.project(y, &mut self.product);
            energy += 0.5 * dot(y, &self.product);
            gradient.iter_mut().zip(&self.product).for_each(|(sum, part)| *sum += part);
        }
        gradient.iter_mut().zip(&self.pull).for_each(|(sum, part)| *sum += part);
        energy += self.limits.stretch(model, y, gradient);
        energy + dot(y, &self.pull)
    }

    /// The energy, J, that the twists of the rig alone have.
    pub(super) fn of_rig(&self, model: &ReducedModel, pose: &Rows) -> f64 {
        let Some(twisting) = model.data.twisting.as_ref().filter(|_| self.bind > 0.0) else { return 0.0 };
        let mut sum = 0.0;
        for (j, column) in twisting.alone.col_iter().enumerate() {
            for c in 0..3 {
                let image: f64 = column.iter().zip(pose).map(|(entry, row)| entry * row[c]).sum();
                sum += pose[j][c] * image;
            }
        }
        0.5 * self.bind * self.bind * sum
    }
}
