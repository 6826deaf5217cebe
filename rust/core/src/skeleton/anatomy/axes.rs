//! Axes of a body: along the trunk from the legs to the arms, across it, and to its front or belly.

use nalgebra::Vector3;

use super::plan::{Limb, Plan};
use crate::mesh::TetMesh;
use crate::skeleton::tree::Tree;

/// Least cosine between legs and trunk of an upright body.
const UPRIGHT: f64 = 0.75;
/// Smallest offset of toes or knees, as a share of a leg, that tells front from back.
const TELLING: f64 = 0.01;
/// Slices of the trunk, and their range along it.
const SLICES: usize = 17;
const RANGE: [f64; 2] = [-0.4, 1.3];
/// Least vertices of a slice.
const FILLED: usize = 7;
/// Percentiles of a slice's vertices at the ends of its depth, as shares.
const DEPTH: [f64; 2] = [0.03, 0.97];
/// Share of the trunk's vertices within its width.
const WIDTH: f64 = 0.95;
/// Largest place from back to front.
const MOST: f64 = 1.3;

/// Axes of a body.
pub(super) struct Axes {
    pub(super) origin: Vector3<f64>,
    pub(super) along: Vector3<f64>,
    pub(super) across: Vector3<f64>,
    pub(super) front: Vector3<f64>,
    /// Distance from the legs to the arms, metres.
    pub(super) length: f64,
    /// Length of the thighs, metres.
    pub(super) thigh: f64,
    /// `true` if the trunk stands upon the legs.
    pub(super) upright: bool,
}

/// Places in the trunk, n each.
pub(super) struct Places {
    /// From 0 at the legs to 1 at the arms.
    pub(super) along: Vec<f64>,
    /// From -1 at the back to 1 at the front, of the slice of the trunk.
    pub(super) front: Vec<f64>,
    /// Distance from the middle plane, 1 at the sides of the trunk.
    pub(super) side: Vec<f64>,
    /// Distance behind the line between legs and arms, 1 at the back of the trunk.
    pub(super) behind: Vec<f64>,
    /// Half depth of the trunk's slice, metres.
    pub(super) depth: Vec<f64>,
    /// Half depth of the trunk at the legs, metres.
    pub(super) hips: f64,
}

impl Axes {
    /// Axes from the limbs; `None` if they give none.
    pub(super) fn new(plan: &Plan, tree: &Tree) -> Option<Self> {
        let middle = |[a, b]: &[Limb; 2]| (a.joints[0] + b.joints[0]) / 2.0;
        let legs = &plan.legs[0];
        let across = across(plan)?;
        let origin = middle(legs);
        let head = plan.head;
        let up_to = match &plan.arms {
            Some(arms) => middle(arms),
            None => (tree.heads[head] + tree.heads[tree.parent[head].unwrap_or(head)]) / 2.0,
        };
        let flat = |way: Vector3<f64>| way - across * way.dot(&across);
        let way = flat(up_to - origin);
        let length = way.norm();
        let along = way.try_normalize(1e-9 * (up_to - origin).norm().max(f64::MIN_POSITIVE))?;
        let leg = legs.iter().map(|leg| leg.joints[2] - leg.joints[0]).sum::<Vector3<f64>>();
        let thigh = legs.iter().map(|leg| (leg.joints[1] - leg.joints[0]).norm()).sum::<f64>() / 2.0;
        let leg = flat(leg).try_normalize(0.0)?;
        let upright = leg.dot(&along).abs() > UPRIGHT;
        let front = across.cross(&along);
        let mut axes = Self { origin, along, across, front, length, thigh, upright };
        let ahead = if upright { axes.ahead(legs, tree) } else { leg.dot(&axes.front) };
        if ahead < 0.0 {
            axes.front = -axes.front;
        }
        Some(axes)
    }

    /// Offset of toes, else of knees, to the front.
    fn ahead(&self, legs: &[Limb; 2], tree: &Tree) -> f64 {
        let offset = |leg: &Limb| {
            let [hip, knee, ankle] = leg.joints;
            let size = (ankle - hip).norm().max(f64::MIN_POSITIVE);
            let foot: f64 = leg.end.iter().map(|&bone| tree.own(bone)).sum();
            let centre = leg.end.iter().map(|&bone| tree.centre(bone) * tree.own(bone)).sum::<Vector3<f64>>();
            let toes = if foot > 0.0 { (centre / foot - ankle).dot(&self.front) / size } else { 0.0 };
            let knees = (knee - (hip + ankle) / 2.0).dot(&self.front) / size;
            [toes, knees]
        };
        let [left, right] = [offset(&legs[0]), offset(&legs[1])];
        let [toes, knees] = [left[0] + right[0], left[1] + right[1]];
        if toes.abs() > TELLING { toes } else { knees }
    }

    /// Place of a point along the trunk, and across it in lengths of the trunk.
    pub(super) fn place(&self, point: Vector3<f64>) -> [f64; 2] {
        let from = point - self.origin;
        [from.dot(&self.along) / self.length, from.dot(&self.across) / self.length]
    }

    /// Places of the vertices of a mesh. trunk: weight of the trunk, n.
    pub(super) fn places(&self, mesh: &TetMesh, trunk: &[f64]) -> Places {
        let from = |vertex: &[f64; 3]| Vector3::from(*vertex) - self.origin;
        let of = |axis: Vector3<f64>| mesh.vertices().iter().map(move |vertex| from(vertex).dot(&axis));
        let along: Vec<f64> = of(self.along).map(|x| x / self.length).collect();
        let ahead: Vec<f64> = of(self.front).collect();
        let across: Vec<f64> = of(self.across).map(f64::abs).collect();
        let inside: Vec<usize> = (0..along.len()).filter(|&vertex| trunk[vertex] > 0.5).collect();
        let share = |values: &[f64], share: f64| {
            quantile(inside.iter().map(|&vertex| values[vertex].abs()).collect(), share)
                .unwrap_or(self.length)
        };
        let (width, thickness) = (share(&across, WIDTH), share(&ahead, 0.9));
        let slices = slices(&along, &ahead, &inside);
        let bounds: Vec<[f64; 2]> = along.iter().map(|&at| bounds_at(&slices, at, thickness)).collect();
        let hips = bounds_at(&slices, 0.0, thickness);
        let front = ahead.iter().zip(&bounds).map(|(&x, [low, high])| {
            let half = (0.5 * (high - low)).max(1e-9 * self.length);
            ((x - 0.5 * (low + high)) / half).clamp(-MOST, MOST)
        });
        Places {
            front: front.collect(),
            side: across.iter().map(|x| x / width.max(f64::MIN_POSITIVE)).collect(),
            behind: ahead.iter().map(|x| -x / thickness.max(f64::MIN_POSITIVE)).collect(),
            hips: 0.5 * (hips[1] - hips[0]),
            depth: bounds.iter().map(|[low, high]| 0.5 * (high - low)).collect(),
            along,
        }
    }
}

/// Mean direction from right to left limbs.
fn across(plan: &Plan) -> Option<Vector3<f64>> {
    let way = |[a, b]: &[Limb; 2]| a.joints[0] - b.joints[0];
    let ways: Vec<Vector3<f64>> = plan.legs.iter().chain(&plan.arms).map(way).collect();
    let first = *ways.first()?;
    let sum = ways.iter().map(|way| if way.dot(&first) < 0.0 { -way } else { *way }).sum::<Vector3<f64>>();
    sum.try_normalize(f64::MIN_POSITIVE)
}

/// Place along the trunk of each filled slice, with its lowest and highest place to the front.
fn slices(along: &[f64], ahead: &[f64], inside: &[usize]) -> Vec<(f64, [f64; 2])> {
    let thick = (RANGE[1] - RANGE[0]) / SLICES as f64;
    let mut filled = vec![Vec::new(); SLICES];
    for &vertex in inside {
        let slice = ((along[vertex] - RANGE[0]) / thick).floor();
        if (0.0..SLICES as f64).contains(&slice) {
            filled[slice as usize].push(ahead[vertex]);
        }
    }
    let bounds = |(slice, values): (usize, Vec<f64>)| {
        let middle = RANGE[0] + (slice as f64 + 0.5) * thick;
        let [low, high] = DEPTH.map(|share| quantile(values.clone(), share));
        (values.len() >= FILLED).then_some((middle, [low?, high?]))
    };
    filled.into_iter().enumerate().filter_map(bounds).collect()
}

/// Bounds interpolated between slices.
fn bounds_at(slices: &[(f64, [f64; 2])], at: f64, thickness: f64) -> [f64; 2] {
    let Some(after) = slices.iter().position(|slice| slice.0 > at) else {
        return slices.last().map_or([-thickness, thickness], |slice| slice.1);
    };
    if after == 0 {
        return slices[0].1;
    }
    let [(a, low), (b, high)] = [slices[after - 1], slices[after]];
    let share = (at - a) / (b - a);
    std::array::from_fn(|end| low[end] + share * (high[end] - low[end]))
}

/// Percentile of some values, interpolated between the two nearest.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = share * (values.len().checked_sub(1)?) as f64;
    let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
    Some(low + place.fract() * (high - low))
}
