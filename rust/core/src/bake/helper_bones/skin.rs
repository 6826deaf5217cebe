//! Target motion and its skinning.

use crate::rig::Pose;

/// A 3x4 transform.
pub(super) type Transform = [[f64; 4]; 3];

/// Target motion: rest points, their positions in each frame, and the motion of the given bones.
pub(super) struct Motion<'a> {
    pub(super) points: &'a [[f64; 3]],
    /// Target positions, f x p.
    pub(super) frames: &'a [[f32; 3]],
    /// Transforms of the given bones, f x b.
    pub(super) given: &'a Pose,
    pub(super) frame_count: usize,
    pub(super) bone_count: usize,
}

/// Current skinning: bones and weights of each point, and the helper bones' motion.
pub(super) struct Skin {
    pub(super) weights: Vec<Vec<(u32, f64)>>,
    /// Transforms of the helper bones, f x B.
    pub(super) helpers: Vec<Transform>,
    /// Centre of each helper bone's region in the rest shape.
    pub(super) centres: Vec<[f64; 3]>,
}

impl Motion<'_> {
    /// Target positions in a frame.
    pub(super) fn frame(&self, frame: usize) -> &[[f32; 3]] {
        &self.frames[frame * self.points.len()..][..self.points.len()]
    }
}

impl Skin {
    pub(super) fn helper_count(&self) -> usize {
        self.centres.len()
    }

    /// Position of a rest point under bone k, given or helper, in a frame.
    pub(super) fn moved(&self, motion: &Motion, frame: usize, bone: u32, point: &[f64; 3]) -> [f64; 3] {
        let bone = bone as usize;
        let transform = match bone.checked_sub(motion.bone_count) {
            None => &motion.given[frame * motion.bone_count + bone],
            Some(helper) => &self.helpers[frame * self.helper_count() + helper],
        };
        apply(transform, point)
    }

    /// Vector between the skinned point and its target.
    pub(super) fn gap(&self, motion: &Motion, frame: usize, point: usize) -> [f64; 3] {
        let target = motion.frame(frame)[point];
        let mut gap = target.map(|x| -f64::from(x));
        for &(bone, weight) in &self.weights[point] {
            let moved = self.moved(motion, frame, bone, &motion.points[point]);
            (0..3).for_each(|c| gap[c] += weight * moved[c]);
        }
        gap
    }
}

pub(super) fn apply(transform: &Transform, point: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let row = &transform[i];
        row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3]
    })
}

pub(super) fn squared(vector: &[f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum()
}

/// Number of helper bones, and settings of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelperSettings {
    /// Helper bones B.
    pub count: usize,
    /// Largest number of non-zero weights per point, given bones included.
    pub influences: usize,
    /// Number of passes over weights and bones.
    pub passes: usize,
}
