//! Plan of a body: which bones are legs, arms, trunk, neck, head and tail.

use nalgebra::Vector3;

use crate::skeleton::bone::BoneRole;
use crate::skeleton::parts::Found;
use crate::skeleton::tree::Tree;

/// Longest first bone of a limb that is a collar bone or a shoulder blade, as a share of the rest of the
/// limb, and its largest volume relative to it.
const GIRDLE: [f64; 2] = [0.28, 1.5];
/// Smallest share of a limb's length at a knee or elbow.
const KNEE: f64 = 0.3;
/// Smallest share at a knee or elbow where the limb turns back on itself, and the largest cosine there.
const TURNS: [f64; 2] = [0.2, 0.3];
/// Least volume share of a bone that leads a limb on.
const LEADS: f64 = 1e-3;
/// Largest volume of a bone of the neck above a single pair of limbs, relative to the largest of its chain.
const SLIM: f64 = 0.5;

/// One limb: an upper and a lower piece, and a hand or foot.
#[derive(Debug, Clone)]
pub(super) struct Limb {
    /// First bone with flesh of the limb, below collar bone or shoulder blade.
    pub(super) top: usize,
    pub(super) upper: Vec<usize>,
    pub(super) lower: Vec<usize>,
    pub(super) end: Vec<usize>,
    /// Hip, knee and ankle, or shoulder, elbow and wrist.
    pub(super) joints: [Vector3<f64>; 3],
}

/// Bones of a body by their place in it.
pub(super) struct Plan {
    pub(super) legs: Vec<[Limb; 2]>,
    pub(super) arms: Option<[Limb; 2]>,
    pub(super) head: usize,
    pub(super) neck: Vec<usize>,
    pub(super) trunk: Vec<usize>,
    pub(super) tail: Vec<usize>,
}

impl Plan {
    /// Limbs and head; `None` for bodies without legs or head. Trunk and tail follow in [`Plan::divide`].
    pub(super) fn new(tree: &Tree, found: &Found) -> Option<Self> {
        let head = found.head?;
        let links = |bone: usize| tree.links(bone, head);
        let mut pairs = found.pairs.clone();
        let near = |&[a, b]: &[usize; 2]| {
            let base = tree.parent[a].unwrap_or(a);
            (links(base), ((tree.heads[a] + tree.heads[b]) / 2.0 - tree.heads[head]).norm())
        };
        pairs.sort_by(|a, b| {
            let (a, b) = (near(a), near(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let limbs = |pair: &[usize; 2]| pair.map(|bone| Limb::new(tree, found, bone));
        let arms = (pairs.len() > 1).then(|| limbs(&pairs.remove(0)));
        let legs: Vec<[Limb; 2]> = pairs.iter().rev().map(limbs).collect();
        let bears = |bone: usize| found.pairs.as_flattened().iter().any(|&limb| tree.leads_to(bone, limb));
        let above = std::iter::successors(tree.parent[head], |&bone| tree.parent[bone]);
        let chain: Vec<usize> = above.take_while(|&bone| !bears(bone)).collect();
        // Above a single pair of limbs, the trunk is a part of this chain.
        let bulk = chain.iter().map(|&bone| tree.own(bone)).fold(0.0, f64::max);
        let is_neck = |&bone: &usize| arms.is_some() || tree.own(bone) < SLIM * bulk;
        let neck = chain.into_iter().take_while(is_neck).collect();
        (!legs.is_empty()).then_some(Self { legs, arms, head, neck, trunk: Vec::new(), tail: Vec::new() })
    }

    /// All limbs.
    pub(super) fn limbs(&self) -> impl Iterator<Item = &Limb> {
        self.legs.iter().chain(&self.arms).flatten()
    }
}

impl Limb {
    fn new(tree: &Tree, found: &Found, first: usize) -> Self {
        let top = below_girdle(tree, first);
        let main = main_chain(tree, top);
        let is_end = |bone: usize| found.roles[bone] == BoneRole::Rigid && bone != top;
        let whole = tree.reach[top];
        let way = |bone: usize| whole - tree.reach[bone];
        let last = main.iter().copied().find(|&bone| is_end(bone));
        let ankle = last.map_or_else(|| tree.tip(main[main.len() - 1]), |bone| tree.heads[bone]);
        let length = last.map_or(whole, way);
        let turns = |[above, bone, next]: [usize; 3]| {
            let [to, on] = [tree.heads[bone] - tree.heads[above], tree.heads[next] - tree.heads[bone]];
            way(bone) >= TURNS[0] * length && to.dot(&on) < TURNS[1] * to.norm() * on.norm()
        };
        let is_knee = |at: usize| {
            let turns = main.get(at + 1).is_some_and(|&next| turns([main[at - 1], main[at], next]));
            !is_end(main[at]) && (turns || way(main[at]) >= KNEE * length)
        };
        let knee_bone = (1..main.len()).find(|&at| is_knee(at)).map(|at| main[at]);
        let knee = knee_bone.map_or(0.5 * (tree.heads[top] + ankle), |bone| tree.heads[bone]);
        let (mut upper, mut lower, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for bone in tree.with_below(top) {
            let piece = match found.soft[bone] {
                _ if is_end(bone) => &mut end,
                Some(_) => continue,
                None if knee_bone.is_some_and(|knee| tree.leads_to(knee, bone)) => &mut lower,
                None => &mut upper,
            };
            piece.push(bone);
        }
        Self { top, upper, lower, end, joints: [tree.heads[top], knee, ankle] }
    }
}

/// The bone below a collar bone or a shoulder blade, or the limb's first bone if it is none.
fn below_girdle(tree: &Tree, first: usize) -> usize {
    match heaviest(tree, first) {
        Some(next)
            if (tree.heads[next] - tree.heads[first]).norm() < GIRDLE[0] * tree.reach[next]
                && tree.own(first) < GIRDLE[1] * tree.below[next] =>
        {
            next
        }
        _ => first,
    }
}

fn heaviest(tree: &Tree, bone: usize) -> Option<usize> {
    let leads = tree.children[bone].iter().copied().filter(|&child| tree.below[child] > LEADS);
    leads.reduce(|best, next| if tree.reach[next] > tree.reach[best] { next } else { best })
}

/// Bones from the top of a limb to its end.
fn main_chain(tree: &Tree, top: usize) -> Vec<usize> {
    let next = |&bone: &usize| {
        let children = tree.children[bone].iter().copied();
        children.reduce(|best, next| if tree.reach[next] > tree.reach[best] { next } else { best })
    };
    std::iter::successors(Some(top), next).collect()
}
