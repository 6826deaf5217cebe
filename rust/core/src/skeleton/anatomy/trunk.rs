//! Trunk: hard rib cage, loins and pelvis, soft belly, chest and buttocks.

use super::axes::{Axes, Places, quantile};
use super::flesh::Flesh;
use super::paint::{Paint, blend, step};
use crate::skeleton::part::Part;

/// Shares of bone.
const LOINS: f64 = 0.92;
const BELLY: f64 = 0.22;
const PELVIS: f64 = 0.85;
const BUTTOCKS: f64 = 0.3;
const CHEST: f64 = 0.62;
/// Least share at the lower end of the belly, which hangs on the pelvis.
const LOW_BELLY: f64 = 0.42;
/// Lower edge of the rib cage along the trunk, and its rise from the middle to the front, of an upright body
/// and of another, whose ribs end at the elbows below and near the loins above.
const RIBS: [f64; 2] = [0.45, 0.12];
const LOW_RIBS: [f64; 2] = [0.5, 0.22];
/// Range along the trunk of the fold below the breasts, where the ribs reach the skin: a belly that swings
/// takes no breast along.
const FOLD: [f64; 2] = [0.58, 0.7];
/// Places from back to front between which the belly begins, of an upright body and of another.
const FRONT: [f64; 2] = [-0.6, -0.1];
const BELOW: [f64; 2] = [-0.3, 0.1];
/// Lengths of the thighs, in lengths of the trunk, of a body with a high seat and of another, and the rise.
const SHORT: [f64; 2] = [0.5, 0.7];
const RAISED: f64 = 0.1;
/// Depths of the waist, as shares of the body's length, of a lean and of a fat body, and its range along the
/// trunk.
const FAT: [f64; 2] = [0.22, 0.30];
const WAIST: [f64; 2] = [0.15, 0.45];
/// Share of the chest's softness on a lean body: breasts cannot be told from shirts by shape.
const LEAN_CHEST: f64 = 0.35;

/// Paints the trunk below all else. weight: of the trunk, n.
pub(super) fn paint(
    paint: &mut Paint,
    (flesh, axes): (&Flesh<'_>, &Axes),
    places: &Places,
    weight: &[f64],
    has_arms: bool,
) {
    let [edge, rise] = if axes.upright { RIBS } else { LOW_RIBS };
    let fat = if axes.upright { fatness(flesh, places, weight) } else { 0.0 };
    for (vertex, &own) in weight.iter().enumerate() {
        let place = [places.along[vertex], places.front[vertex], places.side[vertex]];
        let [along, front, _] = place;
        let edge = edge + rise * front;
        let ribs = step(along, edge - 0.05, edge + 0.05);
        let mut share = blend(loins(place, axes.upright), 1.0, ribs);
        share += (1.0 - step(along, -0.25, -0.08)) * (PELVIS - share).max(0.0);
        if axes.upright && has_arms {
            share = blend(share, blend(1.0, CHEST, LEAN_CHEST.max(fat)), own * bust(place));
            paint.give(Part::Chest, vertex, own * ribs);
        }
        paint.lay(vertex, 1.0, share);
        let low = if axes.upright { FRONT } else { BELOW };
        let belly = (1.0 - ribs) * step(front, low[0], low[1]) * step(along, -0.05, 0.12);
        paint.give(Part::Belly, vertex, own * belly);
    }
}

/// Paints the buttocks of an upright body. seat: weight of trunk and thighs together, n.
pub(super) fn buttocks(paint: &mut Paint, (axes, places): (&Axes, &Places), seat: &[f64]) {
    let short = 1.0 - step(axes.thigh / axes.length, SHORT[0], SHORT[1]);
    let [low, high] = [[-0.38, -0.2], [0.1, 0.3]].map(|range| range.map(|at| at + RAISED * short));
    for (vertex, &own) in seat.iter().enumerate() {
        let along = places.along[vertex];
        let behind = step(places.behind[vertex], 0.15, 0.5) * step(places.side[vertex], 0.05, 0.2);
        let weight = own * behind * step(along, low[0], low[1]) * (1.0 - step(along, high[0], high[1]));
        paint.lay(vertex, weight, BUTTOCKS);
        paint.take(Part::Buttocks, vertex, weight);
    }
}

/// Share of bone between legs and ribs.
fn loins([along, front, side]: [f64; 3], upright: bool) -> f64 {
    let mut share = blend(LOINS, BELLY, step(front, -0.55, -0.05));
    share += (1.0 - step(along, 0.0, 0.2)) * (LOW_BELLY - share).max(0.0);
    if upright {
        // The wings of the hip bones.
        share += step(side, 0.45, 0.75) * (1.0 - step(along, 0.1, 0.3)) * (PELVIS - share).max(0.0);
    }
    let behind = (1.0 - step(along, 0.06, 0.18)) * (1.0 - step(front, -0.1, 0.4));
    blend(share, PELVIS, behind)
}

/// Weight of the breasts.
fn bust([along, front, side]: [f64; 3]) -> f64 {
    let high = step(along, FOLD[0], FOLD[1]) * (1.0 - step(along, 0.86, 0.98));
    step(front, 0.15, 0.5) * high * step(side, 0.1, 0.3) * (1.0 - step(side, 0.85, 1.0))
}

/// From 0 for a lean body to 1 for a fat one, by the depth of the waist.
fn fatness(flesh: &Flesh<'_>, places: &Places, weight: &[f64]) -> f64 {
    let waist = |&vertex: &usize| {
        weight[vertex] > 0.6 && places.along[vertex] > WAIST[0] && places.along[vertex] < WAIST[1]
    };
    let depths = (0..weight.len()).filter(waist).map(|vertex| 2.0 * places.depth[vertex]).collect();
    quantile(depths, 0.5).map_or(0.0, |depth| step(depth / flesh.length, FAT[0], FAT[1]))
}
