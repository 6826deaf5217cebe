//! Classification of bones by chain and shape, with names as hints.

use nalgebra::Vector3;

use super::bone::{Bone, BoneRole};
use super::hints::{Hint, hint, is_bulge};
use super::part::Part;
use super::thickness::Radii;
use super::tree::Tree;

/// Smallest reach of a limb, as a share of the body's length.
const LIMB: f64 = 0.1;
/// Largest remaining reach from a hand or foot on, as a share of the limb's length: an outstretched hand
/// has a third.
const END: f64 = 0.36;
/// Largest relative differences in length and in volume within a pair of limbs.
const ALIKE: [f64; 2] = [0.15, 0.35];
/// Tolerances for pairs with a common mirror plane: smallest cosine between their directions, and largest
/// distance of their midpoints across the plane, as a share of the body's length.
const ACROSS: f64 = 0.95;
const ASIDE: f64 = 0.02;
/// Least number of bones of mirrored limbs.
const JOINTED: usize = 3;
/// Least volume share of a bone that a mirror plane is judged by.
const FLESH: f64 = 1e-3;
/// Least volume of a limb, relative to the largest: brows have less.
const SLIGHT: f64 = 0.01;
/// Number of jointed limbs of a body whose limbs all have joints: temples and jaws have none.
const LIMBS: usize = 4;
/// Largest remaining reach of a head bone, as a share of the length of neck and head.
const HEAD: f64 = 0.85;
/// Share of a chain's largest radius and of its volume at the end below which the chain tapers, as a tail
/// does.
const TAPER: [f64; 2] = [0.4, 0.2];
/// Likelihood factors for a head: of a chain that tapers or is behind the limbs, and of a chain with a
/// telling name.
const LIKELY: [f64; 2] = [0.2, 4.0];
/// Largest share of the body moved by a hand, foot or head.
const WHOLE: f64 = 0.75;

/// Classification of each bone, b.
pub(super) struct Found {
    /// Roles, never automatic.
    pub(super) roles: Vec<BoneRole>,
    /// Bone near which flesh counts as close.
    pub(super) close_to: Vec<usize>,
    /// `true` if this bone belongs to the trunk, which bears limbs.
    pub(super) in_trunk: Vec<bool>,
    /// First bones of the limbs, left and right.
    pub(super) pairs: Vec<[usize; 2]>,
    /// First bone of the head.
    pub(super) head: Option<usize>,
    /// Soft part that a bone belongs to, b.
    pub(super) soft: Vec<Option<Part>>,
}

/// Classifies bones. radii: of the flesh, b. length: of the body, metres. anatomy: `true` to choose the
/// mirror plane by all bones.
pub(super) fn find(bones: &[Bone], tree: &Tree, radii: &[Radii], (length, anatomy): (f64, bool)) -> Found {
    let hints = bones.iter().map(|bone| hint(&bone.name)).collect();
    let mut parts = Parts { tree, radii, length, hints, anatomy };
    parts.find_appendages();
    let rigid = parts.rigid();
    let swings = parts.swings(&bones.iter().map(|bone| bone.still).collect::<Vec<_>>());
    let role = |number: usize| match bones[number].role {
        BoneRole::Automatic if swings[number] => BoneRole::Free,
        BoneRole::Automatic if rigid[number] => BoneRole::Rigid,
        BoneRole::Automatic => BoneRole::Flesh,
        chosen => chosen,
    };
    let roles: Vec<BoneRole> = (0..bones.len()).map(role).collect();
    let is_soft = |&bone: &usize| match bones[bone].role {
        BoneRole::Automatic => {
            is_bulge(&bones[bone].name)
                && !tree.children[bone].iter().any(|&child| tree.below[child] > 0.0)
                && tree.parent[bone].is_some_and(|above| roles[above] == BoneRole::Flesh)
        }
        chosen => chosen == BoneRole::Free,
    };
    let firm = |bone: usize| {
        std::iter::successors(Some(bone), |&bone| tree.parent[bone]).find(|above| !is_soft(above))
    };
    let close_to: Vec<usize> = (0..bones.len()).map(|bone| firm(bone).unwrap_or(bone)).collect();
    let limbs = parts.limbs();
    let bears = |&bone: &usize| limbs.iter().any(|&limb| limb != bone && tree.leads_to(bone, limb));
    let head = parts.head_bone(&limbs, &roles);
    let names: Vec<&str> = bones.iter().map(|bone| bone.name.as_str()).collect();
    Found {
        in_trunk: close_to.iter().map(bears).collect(),
        pairs: parts.limb_pairs(&limbs),
        head,
        soft: parts.soft_parts(&names, &roles, head),
        roles,
        close_to,
    }
}

pub(super) struct Parts<'a> {
    pub(super) tree: &'a Tree,
    pub(super) radii: &'a [Radii],
    pub(super) length: f64,
    pub(super) hints: Vec<Option<Hint>>,
    /// `true` for a mirror plane with the most reflected bones, not the most pairs.
    pub(super) anatomy: bool,
}

impl Parts<'_> {
    /// `true` for hands, feet, heads and all bones below, b.
    fn rigid(&self) -> Vec<bool> {
        let limbs = self.limbs();
        let mut rigid = vec![false; self.hints.len()];
        for &limb in &limbs {
            for bone in self.tree.with_below(limb) {
                rigid[bone] |= bone != limb && self.tree.reach[bone] <= END * self.tree.reach[limb];
            }
        }
        self.head(&limbs).into_iter().for_each(|bone| rigid[bone] = true);
        let named = |&bone: &usize| self.is_hard(bone) && self.tree.below[bone] < WHOLE;
        for bone in (0..rigid.len()).filter(named) {
            self.tree.with_below(bone).into_iter().for_each(|bone| rigid[bone] = true);
        }
        for bone in (0..rigid.len()).filter(|&bone| self.hints[bone] == Some(Hint::Soft)) {
            self.tree.with_below(bone).into_iter().for_each(|bone| rigid[bone] = false);
        }
        rigid
    }

    /// `true` if the name of a bone marks rigid flesh.
    fn is_hard(&self, bone: usize) -> bool {
        self.hints[bone].is_some_and(Hint::is_hard)
    }

    /// Topmost bones of limbs: long chains in similar pairs, without such pairs below.
    pub(super) fn limbs(&self) -> Vec<usize> {
        let pairs = self.pairs();
        let mut bears_pair = vec![false; self.hints.len()];
        for &[a, b] in &pairs {
            let above = std::iter::successors(Some(a), |&bone| self.tree.parent[bone]);
            above.filter(|&bone| self.tree.leads_to(bone, b)).for_each(|bone| bears_pair[bone] = true);
        }
        let mut paired = vec![false; self.hints.len()];
        for pair in pairs.iter().filter(|pair| pair.iter().all(|&bone| !bears_pair[bone])) {
            pair.iter().for_each(|&bone| paired[bone] = true);
        }
        let limbs: Vec<usize> = (0..paired.len()).filter(|&bone| paired[bone]).collect();
        let topmost =
            |&&bone: &&usize| !limbs.iter().any(|&limb| limb != bone && self.tree.leads_to(limb, bone));
        let found = limbs.iter().filter(topmost).copied().collect();
        if self.anatomy { self.without_face(found) } else { found }
    }

    /// Limbs without the bones of a face.
    fn without_face(&self, limbs: Vec<usize>) -> Vec<usize> {
        let tree = self.tree;
        let largest = limbs.iter().map(|&limb| tree.below[limb]).fold(0.0, f64::max);
        let limbs: Vec<usize> =
            limbs.into_iter().filter(|&limb| tree.below[limb] > SLIGHT * largest).collect();
        let is_jointed = |&limb: &usize| tree.children[limb].iter().any(|&child| tree.below[child] > 0.0);
        let jointed: Vec<usize> = limbs.iter().copied().filter(is_jointed).collect();
        if jointed.len() < LIMBS { limbs } else { jointed }
    }

    /// Pairs of mirrored limbs, each limb once, the pairs of most similar length first.
    fn limb_pairs(&self, limbs: &[usize]) -> Vec<[usize; 2]> {
        let tree = self.tree;
        let mut pairs: Vec<[usize; 2]> = self.pairs();
        pairs.retain(|pair| pair.iter().all(|bone| limbs.contains(bone)));
        let apart = |&[a, b]: &[usize; 2]| (tree.reach[a] - tree.reach[b]).abs();
        pairs.sort_by(|a, b| apart(a).total_cmp(&apart(b)).then(a.cmp(b)));
        let mut found: Vec<[usize; 2]> = Vec::new();
        for pair in pairs {
            if !found.as_flattened().iter().any(|bone| pair.contains(bone)) {
                found.push(pair);
            }
        }
        found
    }

    /// First bone of the head: among bones with rigid flesh outside of limbs the one with the most flesh,
    /// bones with a matching name first.
    fn head_bone(&self, limbs: &[usize], roles: &[BoneRole]) -> Option<usize> {
        let in_limb = |bone: usize| limbs.iter().any(|&limb| self.tree.leads_to(limb, bone));
        let may_be = |&bone: &usize| roles[bone] == BoneRole::Rigid && !in_limb(bone);
        let rank = |bone: usize| (self.hints[bone] == Some(Hint::Head), self.tree.below[bone]);
        (0..roles.len()).filter(may_be).reduce(|best, next| if rank(next) > rank(best) { next } else { best })
    }

    /// Long chains of similar length and volume, or with mirrored bones, neither below the other, on the two
    /// sides of the body.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let tree = self.tree;
        let long = |&bone: &usize| {
            tree.parent[bone].is_some()
                && tree.reach[bone] > LIMB * self.length
                && self.hints[bone] != Some(Hint::Soft)
        };
        let long: Vec<usize> = (0..self.hints.len()).filter(long).collect();
        let mut pairs = Vec::new();
        for (number, &a) in long.iter().enumerate() {
            let is_pair = |&&b: &&usize| self.are_alike(a, b) || self.are_mirrored(a, b);
            pairs.extend(long[number + 1..].iter().filter(is_pair).map(|&b| [a, b]));
        }
        self.mirrored(pairs)
    }

    /// `true` if two bones lead chains of similar length and volume, neither below the other.
    pub(super) fn are_alike(&self, a: usize, b: usize) -> bool {
        let tree = self.tree;
        let alike = |a: f64, b: f64, tolerance: f64| (a - b).abs() < tolerance * a.max(b);
        alike(tree.reach[a], tree.reach[b], ALIKE[0])
            && alike(tree.below[a], tree.below[b], ALIKE[1])
            && !tree.leads_to(a, b)
            && !tree.leads_to(b, a)
    }

    /// `true` if two bones lead limbs that mirror each other bone by bone, whatever their hands hold, bones
    /// included.
    fn are_mirrored(&self, a: usize, b: usize) -> bool {
        let tree = self.tree;
        let mut limbs = [a, b].map(|bone| tree.with_below(bone));
        limbs.sort_by_key(Vec::len);
        let [fewer, others] = limbs;
        let Some(side) = (tree.heads[a] - tree.heads[b]).try_normalize(ASIDE * self.length) else {
            return false;
        };
        let middle = (tree.heads[a] + tree.heads[b]) / 2.0;
        let has_image = |&bone: &usize| {
            let head = tree.heads[bone] - 2.0 * (tree.heads[bone] - middle).dot(&side) * side;
            others.iter().any(|&other| (tree.heads[other] - head).norm() < ASIDE * self.length)
        };
        fewer.len() >= JOINTED && fewer.iter().all(has_image)
    }

    /// Pairs with the mirror plane of the majority; pairs of siblings define candidate planes.
    fn mirrored(&self, pairs: Vec<[usize; 2]>) -> Vec<[usize; 2]> {
        let tree = self.tree;
        let way = |&[a, b]: &[usize; 2]| {
            (tree.heads[a] - tree.heads[b]).try_normalize(0.0).unwrap_or(Vector3::zeros())
        };
        let middle = |&[a, b]: &[usize; 2]| (tree.heads[a] + tree.heads[b]) / 2.0;
        let are_siblings = |&&[a, b]: &&[usize; 2]| tree.parent[a] == tree.parent[b];
        let mirrors = |pair: &[usize; 2], other: &[usize; 2]| {
            let side = way(other);
            let aside = (middle(pair) - middle(other)).dot(&side).abs();
            way(pair).dot(&side).abs() > ACROSS && aside < ASIDE * self.length
        };
        let support = |pair: &[usize; 2]| {
            let same = pairs.iter().filter(|other| mirrors(other, pair)).count();
            let reflected = if self.anatomy { self.reflected(middle(pair), way(pair)) } else { 0 };
            (reflected, same, tree.below[pair[0]].min(tree.below[pair[1]]))
        };
        let known = pairs
            .iter()
            .filter(are_siblings)
            .map(|pair| (*pair, support(pair)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        match known {
            Some((model, _)) => pairs.into_iter().filter(|pair| mirrors(pair, &model)).collect(),
            None => pairs,
        }
    }

    /// Number of bones that a plane reflects to others or to themselves: legs alone mirror front and back.
    fn reflected(&self, place: Vector3<f64>, side: Vector3<f64>) -> usize {
        let tree = self.tree;
        let counts = |&bone: &usize| tree.below[bone] > FLESH;
        let is_reflected = |&bone: &usize| {
            let head = tree.heads[bone] - 2.0 * (tree.heads[bone] - place).dot(&side) * side;
            let is_there = |&other: &usize| (tree.heads[other] - head).norm() < 2.0 * ASIDE * self.length;
            (0..tree.heads.len()).filter(counts).any(|other| is_there(&other))
        };
        (0..tree.heads.len()).filter(counts).filter(is_reflected).count()
    }

    /// Bones of the head, without the neck; empty if a name tells its start.
    fn head(&self, limbs: &[usize]) -> Vec<usize> {
        let tree = self.tree;
        let Some(first) = self.head_among(&self.ends(limbs), limbs) else {
            return Vec::new();
        };
        let below = tree.with_below(first);
        let named: Vec<usize> = below.iter().copied().filter(|&bone| self.is_hard(bone)).collect();
        let is_told = named.iter().any(|&bone| bone == first || self.hints[bone] == Some(Hint::Head));
        if is_told || (!named.is_empty() && !self.anatomy) {
            return Vec::new();
        }
        // The skull is the lowest bone above all that is named after parts of the face.
        let bears_face =
            |&&bone: &&usize| named.iter().all(|&part| part != bone && tree.leads_to(bone, part));
        if let Some(&skull) = below.iter().rev().find(bears_face).filter(|_| !named.is_empty()) {
            return tree.with_below(skull);
        }
        let short = |&bone: &usize| {
            below.len() == 1
                || bone != first
                    && (tree.children[bone].is_empty() || tree.reach[bone] <= HEAD * tree.reach[first])
        };
        below.iter().copied().filter(short).collect()
    }

    /// First bones of the chains of the trunk without limbs.
    pub(super) fn ends(&self, limbs: &[usize]) -> Vec<usize> {
        let tree = self.tree;
        let bears = |bone: usize| limbs.iter().any(|&limb| tree.leads_to(bone, limb));
        let in_limb = |bone: usize| limbs.iter().any(|&limb| tree.leads_to(limb, bone));
        let ends = |&bone: &usize| !bears(bone) && !in_limb(bone) && tree.parent[bone].is_some_and(bears);
        let is_soft = |bone: usize| self.hints[bone] == Some(Hint::Soft);
        (0..self.hints.len())
            .filter(ends)
            .filter(|&bone| !is_soft(bone) && tree.below[bone] < WHOLE)
            .collect()
    }

    /// The end of the trunk that is head and neck: the most bulky one. An end with a bone named head comes
    /// first: the abdomen of a spider has more flesh than its head.
    pub(super) fn head_among(&self, ends: &[usize], limbs: &[usize]) -> Option<usize> {
        let tree = self.tree;
        // An end with another end beyond it on the trunk, beside limbs, is a tail or a belly.
        let bears = |bone: usize| limbs.iter().any(|&limb| tree.parent[limb] == Some(bone));
        let is_behind = |end: usize| {
            let beyond = |&other: &usize| {
                let places = tree.parent[end].zip(tree.parent[other]);
                places.is_some_and(|(at, on)| at != on && tree.leads_to(at, on) && bears(on))
            };
            ends.iter().any(beyond)
        };
        let likely = |end: usize| self.bulk(end) * if is_behind(end) { LIKELY[0] } else { 1.0 };
        let likelier = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        let is_named = |&&end: &&usize| {
            tree.with_below(end).into_iter().any(|bone| self.hints[bone] == Some(Hint::Head))
        };
        let named: Vec<usize> = ends.iter().filter(is_named).copied().collect();
        let among = if named.is_empty() { ends } else { &named };
        among.iter().map(|&end| (end, likely(end))).reduce(likelier).map(|(end, _)| end)
    }

    /// Likelihood of the chain from a bone to be the head.
    fn bulk(&self, first: usize) -> f64 {
        let tree = self.tree;
        let heaviest = |&bone: &usize| {
            let likelier =
                |best: usize, next: usize| if tree.below[next] > tree.below[best] { next } else { best };
            tree.children[bone].iter().copied().reduce(likelier)
        };
        let chain: Vec<usize> = std::iter::successors(Some(first), heaviest).collect();
        let radius = chain.iter().map(|&bone| self.radii[bone].largest).fold(0.0, f64::max);
        let bulk = tree.below[first] * radius;
        let last = chain[chain.len() - 1];
        let named = tree.with_below(first).iter().any(|&bone| self.is_hard(bone));
        let tapers = chain.len() > 1
            && self.radii[last].largest < TAPER[0] * radius
            && tree.below[last] < TAPER[1] * tree.below[first];
        match (named, tapers) {
            (true, _) => LIKELY[1] * bulk,
            (false, true) => LIKELY[0] * bulk,
            _ => bulk,
        }
    }
}
