//! Borders between trunk and limbs: limbs that hold the trunk's bulk, and haunches of folded legs.

use nalgebra::Vector3;

use super::axes::{Axes, Places, quantile};
use super::flesh::Flesh;
use super::limbs::along;
use super::paint::{Paint, step};
use super::plan::{Limb, Plan};
use crate::skeleton::part::Part;

/// Radii of the flesh, in radii of a limb, from which on flesh that a limb moves is the trunk's.
const BULK: [f64; 2] = [3.5, 4.5];
/// Largest cosine at the knee of a leg that is folded at rest.
const FOLDED: f64 = 0.7;
/// Radius of a haunch around thigh bone and hip, and the length of its line from the hip to the back, in half
/// depths of the trunk at the hips.
const ROUND: f64 = 0.7;
const BACK: f64 = 0.3;
/// Places beside the middle plane from which on flesh belongs to a haunch.
const BESIDE: [f64; 2] = [0.4, 0.7];

/// Share of each vertex, n, that a limb moves although it lies in the trunk's bulk, far thicker than the limb
/// itself. upper, lower: weights of its pieces, n.
pub(super) fn in_bulk(flesh: &Flesh<'_>, limb: &Limb, upper: &[f64], lower: &[f64]) -> Vec<f64> {
    let is_limb = |&vertex: &usize| {
        let at = || along(flesh.place(vertex), [limb.joints[0], limb.joints[1]]);
        lower[vertex] > 0.5 || (upper[vertex] > 0.5 && at() > 0.5)
    };
    let own = (0..upper.len()).filter(is_limb).map(|vertex| flesh.reached[vertex]).collect();
    let radius = quantile(own, 0.5).unwrap_or(0.0).max(0.5 * flesh.cell);
    let share = |(&weight, &reached): (&f64, &f64)| weight * step(reached / radius, BULK[0], BULK[1]);
    upper.iter().zip(flesh.reached).map(share).collect()
}

/// Gives the haunches to the thighs: thick flesh of trunk and thighs around hip and thigh bone, of legs that
/// are folded at rest or do not stand below an upright trunk. own: weight of trunk and thighs together, n.
pub(super) fn paint(
    paint: &mut Paint,
    (flesh, axes): (&Flesh<'_>, &Axes),
    places: &Places,
    plan: &Plan,
    own: &[f64],
) {
    let Some(legs) = plan.legs.first() else { return };
    if axes.upright && !legs.iter().all(is_folded) {
        return;
    }
    let flat = |way: Vector3<f64>| way - axes.across * way.dot(&axes.across);
    let lines = legs.each_ref().map(|leg| {
        let [hip, knee, _] = leg.joints.map(|joint| flat(joint - axes.origin));
        [knee, hip, hip - axes.front * (BACK * places.hips)]
    });
    let radius = (ROUND * places.hips).max(f64::MIN_POSITIVE);
    for (vertex, &own) in own.iter().enumerate().filter(|(_, own)| **own > 0.0) {
        let place = flat(flesh.place(vertex) - axes.origin);
        let far = |line: &[Vector3<f64>; 3]| to(place, [line[0], line[1]]).min(to(place, [line[1], line[2]]));
        let far = lines.iter().map(far).fold(f64::INFINITY, f64::min);
        let beside = step(places.side[vertex], BESIDE[0], BESIDE[1]);
        let weight = own * beside * (1.0 - step(far / radius, 0.85, 1.15));
        paint.take(Part::Thighs, vertex, weight);
    }
}

/// `true` for a leg with a sharply bent knee.
fn is_folded(leg: &Limb) -> bool {
    let [hip, knee, ankle] = leg.joints;
    let ways = [knee - hip, ankle - knee].map(|way| way.try_normalize(0.0).unwrap_or(Vector3::zeros()));
    ways[0].dot(&ways[1]) < FOLDED
}

/// Distance of a point to a segment.
fn to(place: Vector3<f64>, [start, end]: [Vector3<f64>; 2]) -> f64 {
    (place - start - (end - start) * along(place, [start, end])).norm()
}
