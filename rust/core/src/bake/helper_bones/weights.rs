//! Weights of each point, with all bones fixed.

use super::skin::{Motion, Skin, squared};
use crate::parallel::*;

/// Number of nearest helper bones that a point may adopt in a pass.
const NEAREST: usize = 4;
/// Maximum number of descent steps per point.
const STEPS: usize = 100;
/// Relative gain below which the best exchange between two bones ends the descent.
const TOLERANCE: f64 = 1e-9;
/// Smallest weight that is kept.
const LEAST: f64 = 1e-4;

/// Gives each point the best-fitting weights, at most `influences` of them; `rig` is p x b.
pub(super) fn improve(motion: &Motion, rig: &[f64], influences: usize, skin: &mut Skin) {
    let found: Vec<Vec<(u32, f64)>> =
        (0..motion.points.len()).into_par_iter().map(|i| best(motion, rig, influences, skin, i)).collect();
    skin.weights = found;
}

/// Best weights of one point; the present weights if no others are better.
fn best(motion: &Motion, rig: &[f64], influences: usize, skin: &Skin, point: usize) -> Vec<(u32, f64)> {
    let bones = candidates(motion, rig, skin, point);
    let current = &skin.weights[point];
    let mut weights: Vec<f64> = bones
        .iter()
        .map(|bone| current.iter().find(|entry| entry.0 == *bone).map_or(0.0, |entry| entry.1))
        .collect();
    let products = products(motion, skin, &bones, point);
    let before = energy(&products, &weights);
    descend(&products, &mut weights, |_| true);
    let kept = largest(&weights, influences);
    weights.iter_mut().enumerate().for_each(|(k, w)| *w = if kept.contains(&k) { *w } else { 0.0 });
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    descend(&products, &mut weights, |k| kept.contains(&k));
    if energy(&products, &weights) > before {
        return current.clone();
    }
    bones.into_iter().zip(weights).filter(|&(_, weight)| weight > 0.0).collect()
}

/// Candidate bones of a point: its present ones, those of the artist's skinning, and the nearest helper
/// bones.
fn candidates(motion: &Motion, rig: &[f64], skin: &Skin, point: usize) -> Vec<u32> {
    let row = &rig[point * motion.bone_count..][..motion.bone_count];
    let mut bones: Vec<u32> = skin.weights[point].iter().map(|entry| entry.0).collect();
    bones.extend((0..motion.bone_count as u32).filter(|&bone| row[bone as usize] > LEAST));
    let mut near: Vec<(f64, u32)> = (skin.centres.iter().zip(motion.bone_count as u32..))
        .map(|(centre, bone)| (squared(&std::array::from_fn(|c| centre[c] - motion.points[point][c])), bone))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    bones.extend(near.iter().take(NEAREST).map(|entry| entry.1));
    bones.sort_unstable();
    bones.dedup();
    bones
}

/// `sum over frames of a_k . a_l`, with a_k the vector between the point under bone k alone and its target.
///
/// As weights sum to one, the point's squared distance is `w' G w`, free of cancellation.
fn products(motion: &Motion, skin: &Skin, bones: &[u32], point: usize) -> Vec<Vec<f64>> {
    let mut products = vec![vec![0.0; bones.len()]; bones.len()];
    let mut gaps = vec![[0.0; 3]; bones.len()];
    for frame in 0..motion.frame_count {
        let target = motion.frame(frame)[point];
        for (gap, &bone) in gaps.iter_mut().zip(bones) {
            let moved = skin.moved(motion, frame, bone, &motion.points[point]);
            *gap = std::array::from_fn(|c| moved[c] - f64::from(target[c]));
        }
        for k in 0..bones.len() {
            for l in 0..=k {
                products[k][l] += (0..3).map(|c| gaps[k][c] * gaps[l][c]).sum::<f64>();
            }
        }
    }
    (0..bones.len()).for_each(|k| (0..k).for_each(|l| products[l][k] = products[k][l]));
    products
}

fn energy(products: &[Vec<f64>], weights: &[f64]) -> f64 {
    let rows = products.iter().map(|row| row.iter().zip(weights).map(|(g, w)| g * w).sum::<f64>());
    rows.zip(weights).map(|(row, w)| row * w).sum()
}

/// Minimises `w' G w` over positive weights with a fixed sum, by exact exchanges between the two bones with
/// the largest gain, among the `allowed` bones.
fn descend(products: &[Vec<f64>], weights: &mut [f64], allowed: impl Fn(usize) -> bool) {
    let open: Vec<usize> = (0..weights.len()).filter(|&k| allowed(k)).collect();
    let scale = open.iter().map(|&k| products[k][k]).fold(0.0, f64::max);
    for _ in 0..STEPS {
        let slope = |k: usize| products[k].iter().zip(&*weights).map(|(g, w)| g * w).sum::<f64>();
        let slopes: Vec<(usize, f64)> = open.iter().map(|&k| (k, slope(k))).collect();
        let by_slope = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let gains = slopes.iter().min_by(by_slope);
        let loses = slopes.iter().filter(|entry| weights[entry.0] > 0.0).max_by(by_slope);
        let (Some(&(to, low)), Some(&(from, high))) = (gains, loses) else { return };
        let curvature = products[to][to] + products[from][from] - 2.0 * products[to][from];
        if high - low <= TOLERANCE * scale || curvature <= 0.0 {
            return;
        }
        let step = ((high - low) / curvature).min(weights[from]);
        weights[to] += step;
        weights[from] -= step;
    }
}

/// Indices of the weights to keep: the largest ones that are not negligible.
fn largest(weights: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order.truncate(most);
    let least = LEAST.min(weights[order[0]]);
    order.retain(|&k| weights[k] >= least);
    order
}
