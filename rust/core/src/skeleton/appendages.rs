//! Tails, ears and hair whose names do not tell: slender chains that stick out of the body where no limb does.

use super::hints::Hint;
use super::parts::Parts;

/// An appendage is at most this thick, as a share of what it hangs on.
const SLENDER: f64 = 0.6;
/// An appendage reaches at least this many of its radii.
const LONG: f64 = 3.0;
/// An ear has at most this share of the flesh of each limb, of which there are at least so many.
const EAR: f64 = 0.5;
const LIMBS: usize = 4;
/// A chain that is alone has at least so many bones.
const LINKS: usize = 3;
/// Chains of fewer bones swing by themselves no more than what they hang on.
const SWINGS: usize = 2;

impl Parts<'_> {
    /// Takes bones of appendages for soft.
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

    /// Which bones are of appendages that nothing moves but what they hang on, b; none where nothing moves at all.
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

    fn take_for_soft(&mut self, firsts: &[usize]) {
        for bone in firsts.iter().flat_map(|&first| self.tree.with_below(first)) {
            self.hints[bone] = Some(Hint::Soft);
        }
    }

    /// Ears that are as long as limbs: pairs with far less flesh than all limbs, on what may be a head.
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

    /// The first bones of ears and of hair on a bone of a head.
    fn on_head(&self, head: usize) -> Vec<usize> {
        let is_hair = |bone: usize| self.is_slender(bone, self.radii[head].largest, LINKS);
        let children = &self.tree.children[head];
        let is_found = |&bone: &usize| self.is_ear_of(bone, head) || is_hair(bone);
        let found: Vec<usize> = children.iter().copied().filter(is_found).collect();
        // Of strands that are alike some lie so close to the head that they look as thick.
        let is_like = |&bone: &usize| {
            self.tree.chain(bone).is_some_and(|chain| self.is_unnamed(&chain))
                && found.iter().any(|&other| other == bone || self.are_alike(bone, other))
        };
        children.iter().copied().filter(is_like).collect()
    }

    /// Whether a bone leads one of two ears of a head.
    fn is_ear_of(&self, bone: usize, head: usize) -> bool {
        let is_other = |&other: &usize| other != bone && self.are_alike(bone, other);
        self.tree.own(head) > self.tree.below[bone]
            && self.is_slender(bone, self.radii[head].largest, 1)
            && self.tree.children[head].iter().any(is_other)
    }

    /// Whether a bone leads a chain of some length that is slender beside what it hangs on, and has no names.
    fn is_slender(&self, first: usize, radius: f64, links: usize) -> bool {
        let Some(chain) = self.tree.chain(first) else { return false };
        let thickest = chain.iter().map(|&bone| self.radii[bone].median).fold(0.0, f64::max);
        chain.len() >= links
            && self.is_unnamed(&chain)
            && thickest < SLENDER * radius
            && self.tree.reach[first] > LONG * thickest
    }

    /// Whether the names of some bones hint at nothing.
    fn is_unnamed(&self, chain: &[usize]) -> bool {
        chain.iter().all(|&bone| self.hints[bone].is_none())
    }

    /// The radius of the trunk that limbs hang on.
    fn thickest(&self, limbs: &[usize]) -> f64 {
        let bears = |&bone: &usize| limbs.iter().any(|&limb| self.tree.parent[limb] == Some(bone));
        (0..self.hints.len()).filter(bears).map(|bone| self.radii[bone].largest).fold(0.0, f64::max)
    }
}
