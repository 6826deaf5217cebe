//! Gap vectors of full-space stitches: constant forces within a substep, rotated by the rig alone.

use std::collections::BTreeMap;

use crate::inputs::shares::Shares;
use crate::kinematics::posing::Posing;
use crate::math::rows::Rows;
use crate::mesh::TetMesh;
use crate::operators::{Stitch, Stitches};

/// Stitches with a gap. Of `k / 2 |x_a - x_b - g d|^2`, the rest of the model contains
/// `k / 2 |x_a - x_b|^2`.
pub(crate) struct Gaps {
    gaps: Vec<Gap>,
}

struct Gap {
    group: usize,
    stiffness: f64,
    /// Linear map from a pose to `g d`: handles, and a weight for each of the first three of their rows.
    kept: Vec<(u32, [f64; 3])>,
    /// Rows of the body with their weights in `x_a - x_b`.
    ends: Vec<(u32, f64)>,
}

impl Gaps {
    /// Gaps of a body with vertex i at row `place[i]`; `None` if no stitch has a gap.
    pub(crate) fn new(mesh: &TetMesh, stitches: &Stitches, posing: &Posing, place: &[u32]) -> Option<Self> {
        let kept = stitches.stitches().iter().filter(|stitch| stitch.gap > 0.0);
        let gaps: Vec<Gap> = kept.map(|stitch| Gap::new(mesh, stitch, posing, place)).collect();
        (!gaps.is_empty()).then_some(Self { gaps })
    }

    /// Writes the gap forces in a pose, all rows; returns `k / 2 |g d|^2`, J.
    pub(crate) fn pull(&self, pose: &Rows, shares: &Shares, forces: &mut Rows) -> f64 {
        forces.fill([0.0; 3]);
        let mut energy = 0.0;
        for gap in &self.gaps {
            let stiffness = gap.stiffness * shares.each()[gap.group];
            let length = gap.length(pose);
            energy += 0.5 * stiffness * length.iter().map(|x| x * x).sum::<f64>();
            for &(row, share) in &gap.ends {
                (0..3).for_each(|c| forces[row as usize][c] += stiffness * share * length[c]);
            }
        }
        energy
    }
}

impl Gap {
    fn new(mesh: &TetMesh, stitch: &Stitch, posing: &Posing, place: &[u32]) -> Self {
        let mut apart = [0.0; 3];
        for (vertex, share) in stitch.entries() {
            let at = posing.coordinates.homogeneous(&mesh.vertices()[vertex]);
            (0..3).for_each(|d| apart[d] += share * at[d]);
        }
        let mut weights = BTreeMap::<u32, f64>::new();
        for (vertex, share) in stitch.ends.iter().flat_map(|end| end.entries()) {
            for (handle, weight) in posing.weights(place[vertex] as usize) {
                *weights.entry(handle).or_default() += 0.5 * stitch.gap * share * weight;
            }
        }
        Self {
            group: stitch.group.into(),
            stiffness: stitch.stiffness,
            kept: weights.into_iter().map(|(handle, weight)| (handle, apart.map(|x| weight * x))).collect(),
            ends: stitch.entries().map(|(vertex, share)| (place[vertex], share)).collect(),
        }
    }

    /// `g d` in a pose.
    fn length(&self, pose: &Rows) -> [f64; 3] {
        let mut length = [0.0; 3];
        for (handle, kept) in &self.kept {
            for (kept, row) in kept.iter().zip(&pose[4 * *handle as usize..]) {
                (0..3).for_each(|c| length[c] += kept * row[c]);
            }
        }
        length
    }
}
