//! Motion of the helper bones, with all weights fixed.

use super::skin::{HelperSettings, Motion, Skin, Transform, apply, squared};
use crate::math::polar::rotations;
use crate::parallel::*;

/// A point with its weight for one bone.
type Weighted = (u32, f64);

const REST: Transform = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// The given skinning, reduced to its largest weights, and helper bones for the largest remaining motion.
///
/// Each helper bone is placed where the remaining motion, times the squared distance to the previous bones,
/// is largest. It follows the points that are nearer to it than to any other bone.
pub(super) fn first(motion: &Motion, rig: &[f64], settings: HelperSettings) -> Skin {
    let weights = rig.chunks(motion.bone_count).map(|row| strongest(row, settings.influences)).collect();
    let helpers = vec![REST; motion.frame_count * settings.count];
    let mut skin = Skin { weights, helpers, centres: vec![[0.0; 3]; settings.count] };
    let left: Vec<f64> = (0..motion.points.len())
        .into_par_iter()
        .map(|i| (0..motion.frame_count).map(|f| squared(&skin.gap(motion, f, i))).sum())
        .collect();
    let mut nearest = vec![(f64::INFINITY, 0); motion.points.len()];
    for bone in 0..settings.count {
        let value = |i: usize| left[i] * nearest[i].0.min(f64::MAX);
        let seed = (0..left.len()).fold(0, |best, i| if value(i) > value(best) { i } else { best });
        skin.centres[bone] = motion.points[seed];
        for (near, point) in nearest.iter_mut().zip(motion.points) {
            let distance = squared(&std::array::from_fn(|c| point[c] - skin.centres[bone][c]));
            if distance < near.0 {
                *near = (distance, bone);
            }
        }
    }
    let mut parts: Vec<Vec<Weighted>> = vec![Vec::new(); settings.count];
    for (i, near) in nearest.iter().enumerate() {
        parts[near.1].push((i as u32, left[i].sqrt()));
    }
    let frames = skin.helpers.par_chunks_mut(settings.count).enumerate();
    frames.for_each(|(frame, helpers)| {
        for (helper, part) in helpers.iter_mut().zip(&parts) {
            let targets: Vec<[f64; 3]> = part
                .iter()
                .map(|&(i, v)| motion.frame(frame)[i as usize].map(|x| v * f64::from(x)))
                .collect();
            *helper = rigid(motion.points, part, &targets).unwrap_or(*helper);
        }
    });
    skin
}

/// The largest weights of a row, scaled to a sum of one.
fn strongest(row: &[f64], most: usize) -> Vec<Weighted> {
    let mut entries: Vec<Weighted> = (0..).zip(row.iter().copied()).filter(|entry| entry.1 > 0.0).collect();
    entries.sort_by(|a, b| b.1.total_cmp(&a.1));
    entries.truncate(most);
    let sum: f64 = entries.iter().map(|entry| entry.1).sum();
    entries.iter_mut().for_each(|entry| entry.1 /= sum);
    entries
}

/// Fits each helper bone to its points in every frame [SSDR sec. 5]; frames are independent.
pub(super) fn improve(motion: &Motion, skin: &mut Skin) {
    let count = skin.helper_count();
    let mut parts: Vec<Vec<Weighted>> = vec![Vec::new(); count];
    for (i, entries) in skin.weights.iter().enumerate() {
        for &(bone, weight) in entries {
            if let Some(helper) = (bone as usize).checked_sub(motion.bone_count) {
                parts[helper].push((i as u32, weight));
            }
        }
    }
    let moved: Vec<Vec<Transform>> = (0..motion.frame_count)
        .into_par_iter()
        .map(|frame| improve_frame(motion, skin, &parts, frame))
        .collect();
    skin.helpers = moved.concat();
    for (centre, part) in skin.centres.iter_mut().zip(&parts) {
        let sum: f64 = part.iter().map(|entry| entry.1).sum();
        if sum > 0.0 {
            let at =
                |c: usize| part.iter().map(|&(i, v)| v * motion.points[i as usize][c]).sum::<f64>() / sum;
            *centre = std::array::from_fn(at);
        }
    }
}

/// Transforms of the helper bones in one frame, fitted one after the other.
fn improve_frame(motion: &Motion, skin: &Skin, parts: &[Vec<Weighted>], frame: usize) -> Vec<Transform> {
    let mut gaps: Vec<[f64; 3]> = (0..motion.points.len()).map(|i| skin.gap(motion, frame, i)).collect();
    let mut helpers = skin.helpers[frame * parts.len()..][..parts.len()].to_vec();
    for (helper, part) in helpers.iter_mut().zip(parts) {
        let share = |transform: &Transform, &(i, v): &Weighted| {
            apply(transform, &motion.points[i as usize]).map(|x| v * x)
        };
        // Values of the bone's own share that would close the gap.
        let targets: Vec<[f64; 3]> = part
            .iter()
            .map(|entry| {
                let (own, gap) = (share(helper, entry), gaps[entry.0 as usize]);
                std::array::from_fn(|c| own[c] - gap[c])
            })
            .collect();
        let Some(better) = rigid(motion.points, part, &targets) else { continue };
        for entry in part {
            let (old, new) = (share(helper, entry), share(&better, entry));
            let gap = &mut gaps[entry.0 as usize];
            (0..3).for_each(|c| gap[c] += new[c] - old[c]);
        }
        *helper = better;
    }
    helpers
}

/// Rigid motion that minimises `sum_i |v_i (R X_i + t) - q_i|^2`; `None` if no weight is left.
///
/// With `p = sum v^2 X / sum v^2` and `q = sum v q / sum v^2`, R is the rotation of the polar decomposition
/// of `sum v (q_i - v_i q) (X_i - p)'`, and `t = q - R p`.
fn rigid(points: &[[f64; 3]], part: &[Weighted], targets: &[[f64; 3]]) -> Option<Transform> {
    let sum: f64 = part.iter().map(|entry| entry.1 * entry.1).sum();
    if sum <= f64::MIN_POSITIVE {
        return None;
    }
    let (mut from, mut to) = ([0.0; 3], [0.0; 3]);
    for (&(i, v), target) in part.iter().zip(targets) {
        (0..3).for_each(|c| from[c] += v * v * points[i as usize][c] / sum);
        (0..3).for_each(|c| to[c] += v * target[c] / sum);
    }
    let mut covariance = [0.0; 9];
    for (&(i, v), target) in part.iter().zip(targets) {
        for r in 0..3 {
            for c in 0..3 {
                covariance[3 * r + c] += v * (target[r] - v * to[r]) * (points[i as usize][c] - from[c]);
            }
        }
    }
    let mut turn = [[0.0; 9]];
    rotations(&[covariance], &mut turn);
    let row = |r: usize| [turn[0][3 * r], turn[0][3 * r + 1], turn[0][3 * r + 2]];
    Some(std::array::from_fn(|r| {
        let [x, y, z] = row(r);
        [x, y, z, to[r] - (x * from[0] + y * from[1] + z * from[2])]
    }))
}

/// Root mean square distance and largest distance over all points and frames.
pub(super) fn distances(motion: &Motion, skin: &Skin) -> (f64, f64) {
    let frames: Vec<(f64, f64)> = (0..motion.frame_count)
        .into_par_iter()
        .map(|frame| {
            (0..motion.points.len()).fold((0.0, 0.0_f64), |(sum, most), i| {
                let square = squared(&skin.gap(motion, frame, i));
                (sum + square, most.max(square))
            })
        })
        .collect();
    let (sum, most) = frames.iter().fold((0.0, 0.0_f64), |(s, m), frame| (s + frame.0, m.max(frame.1)));
    ((sum / (motion.points.len() * motion.frame_count) as f64).sqrt(), most.sqrt())
}
