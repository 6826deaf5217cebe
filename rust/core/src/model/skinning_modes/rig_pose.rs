//! The rig's contribution to a step at one pose.

use super::SkinningModel;
use crate::math::lanes::{Packed, multiply_add};

/// The rig's contribution at one pose.
pub(super) struct RigPose {
    /// The pose relative to the handles' mean translation, which has no elastic effect: 4h rows.
    pub(super) handles: Vec<[f64; 3]>,
    /// `(1 - pose_rest) Phi' B'LJ p` plus the stitches' contribution, r rows.
    pub(super) cross: Vec<[f64; 3]>,
    spread: Vec<[f64; 3]>,
}

impl RigPose {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let handles = vec![[0.0; 3]; model.cluster_rig.columns()];
        Self { spread: handles.clone(), handles, cross: vec![[0.0; 3]; model.rank()] }
    }

    /// Sets the pose, 4h rows, and the contribution of offsets to `Phi' B'LJ p`, r rows or none.
    ///
    /// The mean translation is subtracted, because `L J p` would lose precision far from the origin.
    pub(super) fn set(
        &mut self,
        model: &SkinningModel,
        pose: &[[f64; 3]],
        offsets: &[[f64; 3]],
        pose_rest: f64,
    ) {
        let count = (pose.len() / 4) as f64;
        let mean: [f64; 3] =
            std::array::from_fn(|c| pose.iter().skip(3).step_by(4).map(|row| row[c]).sum::<f64>() / count);
        self.handles.copy_from_slice(pose);
        for row in self.handles.iter_mut().skip(3).step_by(4) {
            (0..3).for_each(|c| row[c] -= mean[c]);
        }
        self.cross.fill([0.0; 3]);
        if pose_rest < 1.0 {
            multiply_add(&model.rig_stiffness, &self.handles, &mut self.cross);
            add(offsets, &mut self.cross);
            self.cross.as_flattened_mut().iter_mut().for_each(|x| *x *= 1.0 - pose_rest);
        }
        if let Some([pull, _]) = &model.stitches {
            multiply_add(pull, &self.handles, &mut self.cross);
        }
    }

    /// `Y'diag(spectrum)Y / 2 + Y.(cross - force) + misfit + (1 - pose_rest) p' spread p / 2`, and the
    /// rig's own share in the stitches, J.
    pub(super) fn elastic_energy(
        &mut self,
        model: &SkinningModel,
        reduced: &[[f64; 3]],
        force: &[[f64; 3]],
        misfit: f64,
        pose_rest: f64,
    ) -> f64 {
        let mut energy = misfit;
        for i in 0..reduced.len() {
            for c in 0..3 {
                let (y, stiff) = (reduced[i][c], model.data.spectrum[i]);
                energy += y * (0.5 * stiff * y + self.cross[i][c] - force[i][c]);
            }
        }
        if pose_rest < 1.0 {
            energy += (1.0 - pose_rest) * self.half_product(&model.rig_spread);
        }
        if let Some([_, spread]) = &model.stitches {
            energy += self.half_product(spread);
        }
        energy
    }

    /// `p' spread p / 2`.
    fn half_product(&mut self, spread: &Packed<1>) -> f64 {
        self.spread.fill([0.0; 3]);
        multiply_add(spread, &self.handles, &mut self.spread);
        let pairs = self.spread.as_flattened().iter().zip(self.handles.as_flattened());
        0.5 * pairs.map(|(a, b)| a * b).sum::<f64>()
    }
}

/// Adds rows to others; nothing for empty rows.
pub(super) fn add(rows: &[[f64; 3]], sum: &mut [[f64; 3]]) {
    sum.as_flattened_mut().iter_mut().zip(rows.as_flattened()).for_each(|(sum, x)| *sum += x);
}
