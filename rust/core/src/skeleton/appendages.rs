//! Tails, ears and hair without telling names: slender chains that stick out of the body away from the
//! limbs.

use super::bone::BoneRole;
use super::hints::{Hint, part};
use super::part::Part;
use super::parts::Parts;

/// Largest thickness of an appendage, as a share of its base.
const SLENDER: f64 = 0.6;
/// Smallest length of an appendage, in radii.
const LONG: f64 = 3.0;
/// Largest flesh share of an ear relative to each limb, and smallest number of limbs.
const EAR: f64 = 0.5;
const LIMBS: usize = 4;
/// Smallest number of bones of a single chain.
const LINKS: usize = 3;
/// Smallest number of bones of a chain with swing of its own; shorter ones move with their base.
const SWINGS: usize = 2;

impl Parts<'_> {
    /// Marks bones of appendages as soft.
    pub(super) fn find_appendages(&mut self) {
        let ears = self.long_ears(&self.limbs());
        self.take_for_soft(&ears);
        let limbs = self.limbs();
        let (ends, mut found) = (self.ends(&limbs), Vec::new());
        let head = self.head_among(&ends, &limbs);
        let is_tail = |&end: &usize| Some(end) != head && self.is_slender(end, self.thickest(&limbs), LINKS);
        found.extend(ends.iter().copied().filter(is_tail));
        let in_limb = |bone: usize| limbs.iter().any(|&limb| self.tree.leads_to(limb, bone));
        let named = (0..self.hints.len()).filter(|&bone| self.hints[bone] == Some(Hint::Head));
        let below_head = head.into_iter().flat_map(|first| self.tree.with_below(first));
        for bone in named.chain(below_head).filter(|&bone| !in_limb(bone)) {
            found.extend(self.on_head(bone));
        }
        self.take_for_soft(&found);
    }

    /// `true` for each bone of an appendage without animation of its own, b; all `false` if no bone is
    /// animated.
    pub(super) fn swings(&self, still: &[bool]) -> Vec<bool> {
        let is_soft = |bone: usize| self.hints[bone] == Some(Hint::Soft);
        let mut swings = vec![false; still.len()];
        let first = |&bone: &usize| is_soft(bone) && !self.tree.parent[bone].is_some_and(is_soft);
        for chain in (0..still.len()).filter(first).map(|bone| self.tree.with_below(bone)) {
            if chain.len() >= SWINGS && chain.iter().all(|&bone| still[bone]) && !still.iter().all(|&s| s) {
                chain.into_iter().for_each(|bone| swings[bone] = true);
            }
        }
        swings
    }

    /// Soft part of each bone, b: by the names along the chain, otherwise by place.
    pub(super) fn soft_parts(
        &self,
        names: &[&str],
        roles: &[BoneRole],
        head: Option<usize>,
    ) -> Vec<Option<Part>> {
        let is_soft = |bone: usize| self.hints[bone] == Some(Hint::Soft) || roles[bone] == BoneRole::Free;
        let of_bone = |bone: usize| {
            let above = |&bone: &usize| self.tree.parent[bone].filter(|&above| is_soft(above));
            let chain: Vec<usize> = std::iter::successors(is_soft(bone).then_some(bone), above).collect();
            let first = *chain.last()?;
            Some(
                chain.iter().find_map(|&bone| part(names[bone])).unwrap_or_else(|| self.unnamed(first, head)),
            )
        };
        (0..names.len()).map(of_bone).collect()
    }

    /// Part of a soft chain without a name: of two on a head an ear, of more hair, elsewhere a tail.
    fn unnamed(&self, first: usize, head: Option<usize>) -> Part {
        let Some(base) = self.tree.parent[first] else { return Part::Hair };
        if !head.is_some_and(|head| self.tree.leads_to(head, base)) {
            return Part::Tail;
        }
        let is_alike = |&&other: &&usize| other != first && self.are_alike(first, other);
        let alike = self.tree.children[base].iter().filter(is_alike).count();
        if alike == 1 { Part::Ears } else { Part::Hair }
    }

    fn take_for_soft(&mut self, firsts: &[usize]) {
        for bone in firsts.iter().flat_map(|&first| self.tree.with_below(first)) {
            self.hints[bone] = Some(Hint::Soft);
        }
    }

    /// Ears as long as limbs: pairs with far less flesh than all limbs, on a possible head.
    fn long_ears(&self, limbs: &[usize]) -> Vec<usize> {
        let tree = self.tree;
        let is_ear = |&limb: &usize| {
            let is_other = |&other: &usize| tree.parent[other] != tree.parent[limb];
            let others: Vec<usize> = limbs.iter().copied().filter(is_other).collect();
            others.len() >= LIMBS
                && others.iter().all(|&other| tree.below[limb] < EAR * tree.below[other])
                && tree.parent[limb].is_some_and(|head| self.is_ear_of(limb, head))
        };
        limbs.iter().copied().filter(is_ear).collect()
    }

    /// First bones of ears and of hair on a bone of a head.
    fn on_head(&self, head: usize) -> Vec<usize> {
        let is_hair = |bone: usize| self.is_slender(bone, self.radii[head].largest, LINKS);
        let children = &self.tree.children[head];
        let is_found = |&bone: &usize| self.is_ear_of(bone, head) || is_hair(bone);
        let found: Vec<usize> = children.iter().copied().filter(is_found).collect();
        // Some of several similar strands lie close to the head and look as thick as the head.
        let is_like = |&bone: &usize| {
            self.tree.chain(bone).is_some_and(|chain| self.is_unnamed(&chain))
                && found.iter().any(|&other| other == bone || self.are_alike(bone, other))
        };
        children.iter().copied().filter(is_like).collect()
    }

    /// `true` if a bone leads one of two ears of a head.
    fn is_ear_of(&self, bone: usize, head: usize) -> bool {
        let is_other = |&other: &usize| other != bone && self.are_alike(bone, other);
        self.tree.own(head) > self.tree.below[bone]
            && self.is_slender(bone, self.radii[head].largest, 1)
            && self.tree.children[head].iter().any(is_other)
    }

    /// `true` if a bone leads an unnamed chain of sufficient length that is slender compared with its base.
    fn is_slender(&self, first: usize, radius: f64, links: usize) -> bool {
        let Some(chain) = self.tree.chain(first) else { return false };
        let thickest = chain.iter().map(|&bone| self.radii[bone].median).fold(0.0, f64::max);
        chain.len() >= links
            && self.is_unnamed(&chain)
            && thickest < SLENDER * radius
            && self.tree.reach[first] > LONG * thickest
    }

    /// `true` if the names of some bones give no hint.
    fn is_unnamed(&self, chain: &[usize]) -> bool {
        chain.iter().all(|&bone| self.hints[bone].is_none())
    }

    /// Radius of the trunk at the limbs.
    fn thickest(&self, limbs: &[usize]) -> f64 {
        let bears = |&bone: &usize| limbs.iter().any(|&limb| self.tree.parent[limb] == Some(bone));
        (0..self.hints.len()).filter(bears).map(|bone| self.radii[bone].largest).fold(0.0, f64::max)
    }
}
