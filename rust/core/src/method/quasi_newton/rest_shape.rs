//! Rest shapes that follow the rig: `psi(F S_a^-1) det S_a` with the stretch `S_a` of the pose.

use nalgebra::{Matrix3, Vector3};

use super::elements::Elements;
use crate::math::SignedSvd;
use crate::math::lanes::lane_counts;
use crate::math::rows::Rows;

/// Stretches of a rest shape: where a rig candy-wraps, its shape has no volume, and none can be had back.
const STRETCHES: (f64, f64) = (0.3, 3.0);

impl Elements {
    /// Takes the rest shapes a share of the way from those of `rest` to those in which the rig has the
    /// elements.
    ///
    /// `F S_a^-1 = sum_i x_i (S_a^-1 g_i)'`: the gradients and volumes of elements are all that changes.
    pub(super) fn follow(&mut self, rest: &mut Self, rig: &Rows, share: f64) {
        let (lanes, _) = lane_counts();
        for (chunk, rest) in self.chunks_mut().iter_mut().zip(rest.chunks_mut()) {
            for slot in 0..chunk.elements.len() {
                let (corners, gradients) = rest.element(slot);
                let (inverse, volume) = stretch(&deformation(rig, &corners, &gradients), share);
                let (block, lane) = (slot / lanes, slot % lanes);
                for (i, gradient) in gradients[1..].iter().enumerate() {
                    let turned = inverse * Vector3::from(*gradient);
                    for c in 0..3 {
                        let entry = 3 * (block * (gradients.len() - 1) + i) + c;
                        chunk.gradients[entry * lanes + lane] = turned[c];
                    }
                }
                chunk.volumes[slot] = rest.volumes[slot] * volume;
            }
        }
    }
}

/// `F = sum_i x_i g_i'`.
pub(super) fn deformation(x: &Rows, corners: &[u32], gradients: &[[f64; 3]]) -> Matrix3<f64> {
    let term = |(&row, gradient): (&u32, &[f64; 3])| {
        (Vector3::from(x[row as usize]) - Vector3::from(x[corners[0] as usize]))
            * Vector3::from(*gradient).transpose()
    };
    corners.iter().zip(gradients).map(term).sum()
}

/// The inverse of `S_a` and its determinant.
fn stretch(f: &Matrix3<f64>, share: f64) -> (Matrix3<f64>, f64) {
    let SignedSvd { sigma, v, .. } = SignedSvd::new(f);
    let blended = sigma.map(|s| 1.0 + share * (s.clamp(STRETCHES.0, STRETCHES.1) - 1.0));
    (v * Matrix3::from_diagonal(&blended.map(|s| 1.0 / s)) * v.transpose(), blended.product())
}
