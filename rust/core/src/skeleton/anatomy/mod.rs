//! Anatomy of a body: the share of bone at each place, and the parts that an animator names.

mod axes;
mod chains;
mod divide;
pub(super) mod flesh;
mod haunches;
mod limbs;
mod paint;
mod plan;
mod protrusions;
mod trunk;

use std::collections::BTreeMap;

use super::bone::{BoneRole, share_of};
use super::part::{FoundPart, Part};
use super::parts::Found;
use super::tree::Tree;
use crate::Result;
use crate::mesh::{Embedding, TetMesh};

use axes::Axes;
use flesh::Flesh;
use limbs::Kind;
use paint::{Paint, blend, step};
use plan::{Limb, Plan};

/// Shares of bone in the neck of an upright body, and of another.
const NECK: [f64; 2] = [0.85, 0.95];
/// Radii, as shares of the body's length, from which on flesh is all bone and none for being thin.
const THIN: [f64; 2] = [0.02, 0.028];
/// Share of bone in the trunk of a fish or a snake.
const FISH: f64 = 0.6;
/// Share of bone from which on a place is bone.
const BONE: f64 = 0.97;
/// Share of bone from which on the bone itself is bone, however slim the body; below it a part of it is.
const FIRM: f64 = 0.3;
/// Smallest share of bone of hands, feet and heads left out of smoothing.
const WHOLE: f64 = 0.985;
/// Weight of known parts below which flesh belongs to the rest.
const CLAIMED: f64 = 0.15;
/// Smallest weight of a protruding vertex in protruding parts.
const OUT: f64 = 0.3;
/// Place along the trunk above which arms without bones begin.
const SHOULDERS: f64 = 0.3;
/// Share of bone of flesh that the artist asks for.
const ASKED: f64 = 0.4;
/// Share of an amount of 0.5, at which the shares are the rules' own.
const USUAL: f64 = 0.5;

/// Share of bone at each vertex, n, and the parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anatomy {
    /// `false` for a body without legs and head, fins or tail, whose core does not follow the shares.
    pub(crate) is_regional: bool,
    pub(crate) share: Vec<f64>,
    pub(crate) parts: Vec<FoundPart>,
}

impl Anatomy {
    /// Finds the anatomy of a body. asked: role that the artist chose for each bone, b.
    pub(super) fn of(flesh: &Flesh<'_>, tree: &Tree, found: &Found, asked: &[BoneRole]) -> Self {
        let mut paint = Paint::new(flesh.volume.len());
        let is_leg = |&limb: &usize| tree.with_below(limb).len() > 1 || !protrusions::is_fin(flesh, limb);
        let has_legs = found.pairs.iter().flatten().any(is_leg);
        let plan = Plan::new(tree, found)
            .filter(|_| has_legs)
            .and_then(|plan| Some((Axes::new(&plan, tree)?, plan)));
        let is_regional = match plan {
            Some((axes, mut plan)) => {
                plan.divide(tree, found, &axes);
                body(&mut paint, (flesh, &axes), tree, found, &plan);
                true
            }
            None => {
                chains::paint(&mut paint, flesh, tree, |bone| found.soft[bone]);
                fish(&mut paint, flesh, found)
            }
        };
        choices(&mut paint, flesh, asked);
        let rigid = share_of(flesh.rig, |bone| found.roles[bone] == BoneRole::Rigid);
        let appendage: Vec<f64> = (0..rigid.len()).map(|vertex| paint.appendage(vertex)).collect();
        let whole: Vec<bool> = (0..rigid.len())
            .map(|vertex| paint.share[vertex] > WHOLE && rigid[vertex] > 0.5 && appendage[vertex] < 0.05)
            .collect();
        paint.smooth(flesh.mesh, |vertex| whole[vertex]);
        Self { is_regional, share: paint.share, parts: with_rest(paint.parts, flesh.volume.len()) }
    }

    /// Anatomy of a body with some bone and no known region.
    pub(crate) fn plain(bone: &[bool]) -> Self {
        let share = bone.iter().map(|&bone| f64::from(u8::from(bone))).collect();
        Self { is_regional: false, share, parts: with_rest(BTreeMap::new(), bone.len()) }
    }

    /// The same anatomy at the vertices of another mesh of the body.
    pub(super) fn carried(&self, from: &TetMesh, to: &TetMesh) -> Result<Self> {
        let embedding = Embedding::new(from, to.vertices().to_vec())?;
        let carry = |values: &[f64]| -> Result<Vec<f64>> {
            let carried = embedding.interpolate(from, values, 1)?;
            Ok(carried.into_iter().map(|value| value.clamp(0.0, 1.0)).collect())
        };
        let part = |found: &FoundPart| Ok(FoundPart { part: found.part, weights: carry(&found.weights)? });
        Ok(Self {
            is_regional: self.is_regional,
            share: carry(&self.share)?,
            parts: self.parts.iter().map(part).collect::<Result<_>>()?,
        })
    }

    /// `true` for vertices of bone, n. near, depth: distances to bone and skin, n. rigid: weight of hands,
    /// feet and head, n, which are bone at any amount. amount: from 0, none, over a half, the usual one, to
    /// 1, all. marrow: least radius of a bone, metres. `None` if the core does not follow the shares.
    pub(super) fn bone(
        &self,
        (near, depth): (&[f64], &[f64]),
        rigid: &[f64],
        (amount, marrow): (f64, f64),
    ) -> Option<Vec<bool>> {
        let of = |share: f64| {
            if amount <= USUAL { share * amount / USUAL } else { blend(share, 1.0, amount / USUAL - 1.0) }
        };
        let is_bone = |vertex: usize, share: f64| {
            let near = if near[vertex].is_finite() { near[vertex] } else { depth[vertex] };
            let sticks_out = self.sticks_out(vertex);
            let marrow = if sticks_out { 0.0 } else { marrow * (share / FIRM).min(1.0) };
            (rigid[vertex] > 0.5 && !sticks_out)
                || share > BONE
                || near < (share * (near + depth[vertex])).max(marrow)
        };
        let bone = self.share.iter().enumerate().map(|(vertex, &share)| is_bone(vertex, of(share)));
        self.is_regional.then(|| bone.collect())
    }

    /// `true` at ears, tail and the like.
    pub(super) fn sticks_out(&self, vertex: usize) -> bool {
        let out = self.parts.iter().filter(|found| found.part.is_appendage());
        out.map(|found| found.weights[vertex]).sum::<f64>() > OUT
    }
}

/// Paints trunk, limbs, neck, head and all appendages.
fn body(paint: &mut Paint, (flesh, axes): (&Flesh<'_>, &Axes), tree: &Tree, found: &Found, plan: &Plan) {
    let mut trunk = flesh.share(&plan.trunk);
    let front = if axes.upright { Kind::Arm } else { Kind::Foreleg };
    let legs = plan.legs.iter().flatten().map(|leg| (leg, Kind::Leg));
    let limbs: Vec<(&Limb, Kind)> = legs.chain(plan.arms.iter().flatten().map(|arm| (arm, front))).collect();
    let mut uppers: Vec<Vec<f64>> = limbs.iter().map(|(limb, _)| flesh.share(&limb.upper)).collect();
    for (upper, (limb, _)) in uppers.iter_mut().zip(&limbs).filter(|(_, (_, kind))| *kind != Kind::Foreleg) {
        let bulk = haunches::in_bulk(flesh, limb, upper, &flesh.share(&limb.lower));
        for (vertex, bulk) in bulk.into_iter().enumerate() {
            (upper[vertex], trunk[vertex]) = (upper[vertex] - bulk, trunk[vertex] + bulk);
        }
    }
    let places = axes.places(flesh.mesh, &trunk);
    trunk::paint(paint, (flesh, axes), &places, &trunk, plan.arms.is_some());
    for (&limb, upper) in limbs.iter().zip(&uppers) {
        limbs::paint(paint, (flesh, axes), limb, upper);
    }
    let mut seat = trunk.clone();
    for (upper, _) in uppers.iter().zip(&limbs).filter(|(_, (_, kind))| *kind == Kind::Leg) {
        seat.iter_mut().zip(upper).for_each(|(seat, upper)| *seat = (*seat + upper).min(1.0));
    }
    if axes.upright {
        trunk::buttocks(paint, (axes, &places), &seat);
    }
    let shoulders =
        trunk.iter().zip(&places.along).map(|(&own, &along)| if along > SHOULDERS { own } else { 0.0 });
    protrusions::arms(paint, flesh, axes, &shoulders.collect::<Vec<_>>());
    haunches::paint(paint, (flesh, axes), &places, plan, &seat);
    let neck = flesh.share(&plan.neck);
    for (vertex, &weight) in neck.iter().enumerate() {
        paint.lay(vertex, weight, if axes.upright { NECK[0] } else { NECK[1] });
        paint.give(Part::Neck, vertex, weight);
    }
    let soft = |bone: usize| match found.soft[bone] {
        _ if plan.tail.contains(&bone) => Some(Part::Tail),
        part => part.filter(|&part| part != Part::Tail),
    };
    for (vertex, &weight) in
        share_of(flesh.rig, |bone| found.roles[bone] == BoneRole::Rigid).iter().enumerate()
    {
        paint.lay(vertex, weight, 1.0);
    }
    chains::paint(paint, flesh, tree, soft);
    let head = tree.with_below(plan.head);
    let skull: Vec<usize> = head.into_iter().filter(|&bone| soft(bone).is_none()).collect();
    protrusions::ears(paint, flesh, axes, &flesh.share(&skull));
    if plan.tail.is_empty() {
        let is_hind = |vertex: usize| {
            let behind = if axes.upright { places.front[vertex] < -0.2 } else { places.along[vertex] < 0.0 };
            behind && places.along[vertex] < 0.3
        };
        let hind: Vec<f64> =
            seat.iter().enumerate().map(|(v, &weight)| if is_hind(v) { weight } else { 0.0 }).collect();
        protrusions::tail(paint, flesh, axes, &hind);
    }
    thin(paint, flesh);
}

/// Paints fins, and a firm trunk beside fins and tail, as of a fish or a snake; `false` for a body without
/// both. What follows the head is no fin, but a jaw or a tongue.
fn fish(paint: &mut Paint, flesh: &Flesh<'_>, found: &Found) -> bool {
    let soft = share_of(flesh.rig, |bone| found.roles[bone] != BoneRole::Rigid);
    protrusions::fins(paint, flesh, &soft);
    if ![Part::Fins, Part::Tail].iter().any(|part| paint.parts.contains_key(part)) {
        return false;
    }
    for vertex in 0..flesh.volume.len() {
        paint.lay(vertex, (1.0 - paint.appendage(vertex)).clamp(0.0, 1.0), FISH);
    }
    thin(paint, flesh);
    true
}

/// Makes thin flesh bone, but for what sticks out of the body.
fn thin(paint: &mut Paint, flesh: &Flesh<'_>) {
    for vertex in 0..flesh.radius.len() {
        let firm = 1.0 - step(flesh.radius[vertex] / flesh.length, THIN[0], THIN[1]);
        let weight = firm * (1.0 - paint.appendage(vertex)).clamp(0.0, 1.0);
        paint.lay(vertex, weight, 1.0);
    }
}

/// Paints roles that the artist chose.
fn choices(paint: &mut Paint, flesh: &Flesh<'_>, asked: &[BoneRole]) {
    for (role, share) in [(BoneRole::Flesh, ASKED), (BoneRole::Rigid, 1.0), (BoneRole::Free, 0.0)] {
        for (vertex, &weight) in share_of(flesh.rig, |bone| asked[bone] == role).iter().enumerate() {
            paint.lay(vertex, weight, share);
        }
    }
}

/// Parts with weights of sum 1 at each vertex; what none claims is the rest.
fn with_rest(painted: BTreeMap<Part, Vec<f64>>, count: usize) -> Vec<FoundPart> {
    let sum = |vertex: usize| painted.values().map(|weights| weights[vertex]).sum::<f64>();
    let sums: Vec<f64> = (0..count).map(sum).collect();
    let rest: Vec<f64> = sums.iter().map(|sum| (CLAIMED - sum).max(0.0)).collect();
    let whole: Vec<f64> = sums.iter().zip(&rest).map(|(sum, rest)| sum + rest).collect();
    let share = |(part, weights): (Part, Vec<f64>)| {
        let weights = weights.iter().zip(&whole).map(|(weight, whole)| weight / whole).collect();
        FoundPart { part, weights }
    };
    painted.into_iter().chain([(Part::Rest, rest)]).map(share).collect()
}
