//! Division of a body into trunk and tail.

use super::axes::Axes;
use super::plan::Plan;
use crate::skeleton::bone::BoneRole;
use crate::skeleton::part::Part;
use crate::skeleton::parts::Found;
use crate::skeleton::tree::Tree;

/// Least volume of a bone of the rump, relative to the tail below it.
const RUMP: f64 = 2.0;
/// Largest volume of a tail of a single bone without a telling name, relative to the body.
const SINGLE: f64 = 0.04;
/// Place along the trunk behind which a chain is a tail, and its largest distance from the middle plane, as a
/// share of the trunk's length.
const BEHIND: f64 = -0.08;
const MIDDLE: f64 = 0.15;
/// Place along the trunk of a body that is not upright in front of which the neck begins.
const BREAST: f64 = 1.2;

impl Plan {
    /// Divides what is no limb, neck or head into trunk and tail.
    pub(super) fn divide(&mut self, tree: &Tree, found: &Found, axes: &Axes) {
        if !axes.upright {
            self.neck.retain(|&bone| axes.place(tree.centre(bone))[0] > BREAST);
        }
        let limbs: Vec<usize> = self.limbs().map(|limb| limb.top).collect();
        let beside = |bone: usize| {
            limbs.iter().chain([&self.head]).any(|&first| tree.leads_to(first, bone))
                || self.neck.contains(&bone)
        };
        let bears = |bone: usize| limbs.iter().any(|&limb| tree.leads_to(bone, limb));
        // A bone with more flesh than the whole chain below it moves the rump.
        let is_rump = |bone: usize| {
            let below = tree.below[bone] - tree.own(bone);
            below > 0.0 && tree.own(bone) > RUMP * below
        };
        let is_behind = |bone: usize| {
            let [along, across] = axes.place(tree.centre(bone));
            tree.own(bone) == 0.0 || (along < BEHIND && across.abs() < MIDDLE)
        };
        let is_tail = |bone: usize| match found.soft[bone] {
            Some(part) => part == Part::Tail && !is_rump(bone),
            None => {
                let chain = tree.with_below(bone);
                let is_slim = chain.len() > 1 || tree.own(bone) < SINGLE;
                !axes.upright && !bears(bone) && !is_rump(bone) && is_slim && chain.into_iter().all(is_behind)
            }
        };
        // A thick tail that tapers has bones as large below its first one.
        let is_tail = |bone: usize| {
            let above = std::iter::successors(Some(bone), |&bone| tree.parent[bone]);
            let soft = above.take_while(|&above| found.soft[above] == Some(Part::Tail));
            is_tail(bone) || (found.soft[bone] == Some(Part::Tail) && soft.into_iter().any(is_tail))
        };
        for bone in (0..tree.parent.len()).filter(|&bone| !beside(bone)) {
            if is_tail(bone) {
                self.tail.push(bone);
            } else if found.soft[bone].is_none_or(|part| part == Part::Tail)
                && found.roles[bone] != BoneRole::Rigid
            {
                self.trunk.push(bone);
            }
        }
    }
}
