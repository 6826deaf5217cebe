//! Reduced elastic energy and its gradient.

use super::SkinningModel;
use super::local::LocalScratch;
use super::rig_pose::RigPose;
use crate::math::lanes::multiply_add;
use crate::rig::Pose;
use crate::{Result, check};

impl SkinningModel {
    /// Elastic energy of the body, in J, and its gradient by the coefficients.
    ///
    /// `coefficients` Z and the gradient are m x 3 x 4 in C order; `pose_rest` in [0, 1] as in the
    /// settings. Gradients along ineffective coefficients are zero. For tests and tools only.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::NotFinite`](crate::Error::NotFinite) or
    /// [`Error::Range`](crate::Error::Range) for the arguments.
    pub fn elastic_energy(
        &self,
        coefficients: &[f64],
        pose: Option<&Pose>,
        pose_rest: f64,
    ) -> Result<(f64, Vec<f64>)> {
        check::shape("coefficients", &[self.mode_count(), 3, 4], coefficients.len())?;
        check::range("pose_rest", "a number in [0, 1]", pose_rest, (0.0..=1.0).contains(&pose_rest))?;
        let mut handles = vec![[0.0; 3]; 4 * self.bone_count().max(1)];
        self.set_pose(pose, &mut handles)?;
        let rows: Vec<[f64; 3]> = coefficients
            .as_chunks::<4>()
            .0
            .as_chunks::<3>()
            .0
            .iter()
            .flat_map(|z| self.coordinates.enter(z))
            .collect();
        let mut reduced = vec![[0.0; 3]; self.rank()];
        multiply_add(&self.reduce, &rows, &mut reduced);

        let mut scratch = LocalScratch::new(self);
        let mut rig = RigPose::new(self);
        rig.set(self, &handles, &[], pose_rest);
        scratch.posed.set_pose(&self.cluster_rig, &rig.handles, &[], pose_rest);
        let mut force = vec![[0.0; 3]; self.rank()];
        let misfit = scratch.solve(self, &reduced, pose_rest, &mut force);
        let energy = rig.elastic_energy(self, &reduced, &force, misfit, pose_rest);

        let gradient = (0..self.rank()).map(|i| {
            std::array::from_fn(|c| self.data.spectrum[i] * reduced[i][c] + rig.cross[i][c] - force[i][c])
        });
        Ok((energy, self.pull_back(&gradient.collect::<Vec<[f64; 3]>>())))
    }

    /// Gradient by Z, m x 3 x 4, of a function of Y with gradient `reduced`: `dY = Phi' B'MB dZ`.
    pub(super) fn pull_back(&self, reduced: &[[f64; 3]]) -> Vec<f64> {
        let row = |column: usize| {
            let column = self.data.reduction.col_as_slice(column);
            std::array::from_fn(|c| column.iter().zip(reduced).map(|(a, y)| a * y[c]).sum())
        };
        let mode = |k: usize| self.coordinates.leave_force(&std::array::from_fn(|d| row(4 * k + d)));
        (0..self.mode_count()).flat_map(|k| mode(k).into_iter().flatten()).collect()
    }
}
