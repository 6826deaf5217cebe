//! Which part of a body each bone is, by chain and shape, with names as a hint.

use super::hints::{Hint, hint};
use super::tree::Tree;
use super::{Bone, BoneRole};

/// Limbs reach at least this far, as a share of the body's length.
const LIMB: f64 = 0.1;
/// What is left of a limb below its hand or foot, as a share of its length: an outstretched hand has a third.
const END: f64 = 0.36;
/// How far limbs may differ in length and in volume and still be a pair.
const ALIKE: [f64; 2] = [0.15, 0.35];
/// What is left of a neck and head below the neck, as a share of their length.
const HEAD: f64 = 0.85;
/// A chain whose end has less than this share of its largest radius and of its volume tapers, as a tail does.
const TAPER: [f64; 2] = [0.4, 0.2];
/// How much less a chain that tapers, and how much more one with a name, is likely to be the head.
const LIKELY: [f64; 2] = [0.2, 4.0];
/// What moves more than this share of the body is no hand, foot or head.
const WHOLE: f64 = 0.75;

/// The role of each bone, b, none of them automatic. radii: of the flesh, b, metres. length: of the body, metres.
pub(super) fn roles(bones: &[Bone], tree: &Tree, radii: &[f64], length: f64) -> Vec<BoneRole> {
    let parts = Parts { tree, radii, length, hints: bones.iter().map(|bone| hint(&bone.name)).collect() };
    let rigid = parts.rigid();
    let role = |(bone, rigid): (&Bone, bool)| match bone.role {
        BoneRole::Automatic if rigid => BoneRole::Rigid,
        BoneRole::Automatic => BoneRole::Flesh,
        chosen => chosen,
    };
    bones.iter().zip(rigid).map(role).collect()
}

struct Parts<'a> {
    tree: &'a Tree,
    radii: &'a [f64],
    length: f64,
    hints: Vec<Option<Hint>>,
}

impl Parts<'_> {
    /// Which bones are hands, feet, heads or below them, b.
    fn rigid(&self) -> Vec<bool> {
        let limbs = self.limbs();
        let mut rigid = vec![false; self.hints.len()];
        for &limb in &limbs {
            for bone in self.tree.with_below(limb) {
                rigid[bone] |= bone != limb && self.tree.reach[bone] <= END * self.tree.reach[limb];
            }
        }
        self.head(&limbs).into_iter().for_each(|bone| rigid[bone] = true);
        let named = |&bone: &usize| self.hints[bone] == Some(Hint::Hard) && self.tree.below[bone] < WHOLE;
        for bone in (0..rigid.len()).filter(named) {
            self.tree.with_below(bone).into_iter().for_each(|bone| rigid[bone] = true);
        }
        for bone in (0..rigid.len()).filter(|&bone| self.hints[bone] == Some(Hint::Soft)) {
            self.tree.with_below(bone).into_iter().for_each(|bone| rigid[bone] = false);
        }
        rigid
    }

    /// The topmost bones of limbs: long chains of which there are two alike, and that no two such chains hang on.
    fn limbs(&self) -> Vec<usize> {
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
        limbs.iter().filter(topmost).copied().collect()
    }

    /// Long chains of like length and volume, none of them below the other.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let tree = self.tree;
        let long = |&bone: &usize| {
            tree.parent[bone].is_some()
                && tree.reach[bone] > LIMB * self.length
                && self.hints[bone] != Some(Hint::Soft)
        };
        let alike = |a: f64, b: f64, tolerance: f64| (a - b).abs() < tolerance * a.max(b);
        let long: Vec<usize> = (0..self.hints.len()).filter(long).collect();
        let mut pairs = Vec::new();
        for (number, &a) in long.iter().enumerate() {
            let fits = |&b: &usize| {
                alike(tree.reach[a], tree.reach[b], ALIKE[0])
                    && alike(tree.below[a], tree.below[b], ALIKE[1])
                    && !tree.leads_to(a, b)
                    && !tree.leads_to(b, a)
            };
            pairs.extend(long[number + 1..].iter().copied().filter(fits).map(|b| [a, b]));
        }
        pairs
    }

    /// The bones of the head, without the neck: the most bulky chain of the trunk that no limb hangs on.
    fn head(&self, limbs: &[usize]) -> Vec<usize> {
        let tree = self.tree;
        let bears = |bone: usize| limbs.iter().any(|&limb| tree.leads_to(bone, limb));
        let in_limb = |bone: usize| limbs.iter().any(|&limb| tree.leads_to(limb, bone));
        let ends = |&bone: &usize| !bears(bone) && !in_limb(bone) && tree.parent[bone].is_some_and(bears);
        let soft = |bone: usize| self.hints[bone] == Some(Hint::Soft);
        let chains =
            (0..self.hints.len()).filter(ends).filter(|&bone| !soft(bone) && tree.below[bone] < WHOLE);
        let likelier = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        let Some((first, _)) = chains.map(|bone| (bone, self.bulk(bone))).reduce(likelier) else {
            return Vec::new();
        };
        let below = tree.with_below(first);
        if below.iter().any(|&bone| self.hints[bone] == Some(Hint::Hard)) {
            // Its name says where the head begins.
            return Vec::new();
        }
        let short = |&bone: &usize| {
            below.len() == 1
                || bone != first
                    && (tree.children[bone].is_empty() || tree.reach[bone] <= HEAD * tree.reach[first])
        };
        below.iter().copied().filter(short).collect()
    }

    /// How likely the chain from a bone is the head.
    fn bulk(&self, first: usize) -> f64 {
        let tree = self.tree;
        let heaviest = |&bone: &usize| {
            let likelier =
                |best: usize, next: usize| if tree.below[next] > tree.below[best] { next } else { best };
            tree.children[bone].iter().copied().reduce(likelier)
        };
        let chain: Vec<usize> = std::iter::successors(Some(first), heaviest).collect();
        let radius = chain.iter().map(|&bone| self.radii[bone]).fold(0.0, f64::max);
        let bulk = tree.below[first] * radius;
        let last = chain[chain.len() - 1];
        let named = tree.with_below(first).iter().any(|&bone| self.hints[bone] == Some(Hint::Hard));
        let tapers = chain.len() > 1
            && self.radii[last] < TAPER[0] * radius
            && tree.below[last] < TAPER[1] * tree.below[first];
        match (named, tapers) {
            (true, _) => LIKELY[1] * bulk,
            (false, true) => LIKELY[0] * bulk,
            _ => bulk,
        }
    }
}
