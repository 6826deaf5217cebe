//! Limbs: a soft layer in the middle of thighs and upper arms and on the calves, bone elsewhere.

use nalgebra::Vector3;

use super::axes::{Axes, quantile};
use super::flesh::Flesh;
use super::paint::{Paint, blend, step};
use super::plan::Limb;
use crate::skeleton::part::Part;

/// Shares of bone: near joints, in the middle of thigh and upper arm, and of those of a body that is not
/// upright; on the calf, along the shin, and in the
/// forearm.
const JOINT: f64 = 1.0;
const THIGH: f64 = 0.3;
const ARM: f64 = 0.35;
const HAUNCH: f64 = 0.4;
const CALF: f64 = 0.45;
const SHIN: f64 = 0.97;
const FOREARM: f64 = 0.9;
/// Share of a piece's vertices within its radius.
const RADIUS: f64 = 0.9;

/// Kinds of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Leg,
    Arm,
    /// Front leg of a body that is not upright.
    Foreleg,
}

/// Paints one limb. upper: weight of its upper piece, n.
pub(super) fn paint(
    paint: &mut Paint,
    (flesh, axes): (&Flesh<'_>, &Axes),
    (limb, kind): (&Limb, Kind),
    upper: &[f64],
) {
    let [hip, knee, ankle] = limb.joints;
    let (part, middle) = match kind {
        Kind::Leg if axes.upright => (Part::Thighs, THIGH),
        Kind::Leg => (Part::Thighs, HAUNCH),
        Kind::Foreleg => (Part::Arms, HAUNCH),
        Kind::Arm => (Part::Arms, ARM),
    };
    let end = if axes.upright { [0.8, 0.98] } else { [0.5, 0.85] };
    let start = if kind == Kind::Leg { [0.0, 0.12] } else { [0.02, 0.2] };
    for (vertex, &weight) in upper.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let at = along(flesh.place(vertex), [hip, knee]);
        let soft = step(at, start[0], start[1]) * (1.0 - step(at, end[0], end[1]));
        paint.lay(vertex, weight, blend(JOINT, middle, soft));
        paint.give(part, vertex, weight * soft);
    }
    let lower = flesh.share(&limb.lower);
    let radius = flesh.radius_of(&lower, RADIUS);
    for (vertex, &weight) in lower.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let place = flesh.place(vertex);
        let at = along(place, [knee, ankle]);
        match kind {
            Kind::Leg if axes.upright => {
                let behind = -(place - knee - (ankle - knee) * at).dot(&axes.front) / radius;
                let soft = step(behind, -0.3, 0.3) * step(at, 0.02, 0.15) * (1.0 - step(at, 0.5, 0.75));
                paint.lay(vertex, weight, blend(SHIN, CALF, soft));
                paint.give(Part::Calves, vertex, weight * soft);
            }
            Kind::Arm => paint.lay(vertex, weight, FOREARM),
            _ => paint.lay(vertex, weight, 1.0),
        }
    }
    for (vertex, &weight) in flesh.share(&limb.end).iter().enumerate() {
        paint.lay(vertex, weight, 1.0);
    }
}

/// Place of a point along a piece of a limb, from 0 to 1.
pub(super) fn along(place: Vector3<f64>, [start, end]: [Vector3<f64>; 2]) -> f64 {
    let way = end - start;
    let squared = way.norm_squared();
    if squared > 0.0 { ((place - start).dot(&way) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

impl Flesh<'_> {
    /// Radius within which a share of a piece's vertices is, at least a cell.
    fn radius_of(&self, weight: &[f64], share: f64) -> f64 {
        let own = weight.iter().zip(self.radius).filter(|(weight, _)| **weight > 0.5);
        let found = quantile(own.map(|(_, &radius)| radius).collect(), share).unwrap_or(0.0);
        found.max(self.cell).max(f64::MIN_POSITIVE)
    }
}
