//! Parts on soft bones: tails, ears, hair, skirts; firm at their base and free from there on.

use super::flesh::Flesh;
use super::paint::{Paint, step};
use crate::skeleton::part::Part;
use crate::skeleton::tree::Tree;

/// Start and end of the transition to free flesh along a tail, and along any other chain.
const TAIL: [f64; 2] = [0.05, 0.6];
const OTHER: [f64; 2] = [0.05, 0.3];
/// Share of bone at the base.
const BASE: f64 = 0.97;

/// Paints chains of bones. part: of each bone, b.
pub(super) fn paint(paint: &mut Paint, flesh: &Flesh<'_>, tree: &Tree, part: impl Fn(usize) -> Option<Part>) {
    let count = tree.parent.len();
    let first = |&bone: &usize| {
        part(bone).is_some() && tree.parent[bone].is_none_or(|above| part(above) != part(bone))
    };
    for root in (0..count).filter(first) {
        let Some(kind) = part(root) else { continue };
        let chain: Vec<usize> =
            tree.with_below(root).into_iter().filter(|&bone| part(bone) == Some(kind)).collect();
        let free = match kind {
            Part::Tail => TAIL,
            Part::Ears | Part::Fins | Part::Hair => OTHER,
            // A bone in a breast or a belly moves all of it.
            _ => [-1.0, 0.0],
        };
        let weight = flesh.share(&chain);
        let length = tree.reach[root].max(f64::MIN_POSITIVE);
        let at = places(flesh, tree, (root, &chain), length);
        for (vertex, &weight) in weight.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let soft = step(at[vertex], free[0], free[1]);
            paint.lay(vertex, weight, BASE * (1.0 - soft));
            paint.give(kind, vertex, weight * step(at[vertex], free[0], free[1].min(OTHER[1])));
        }
    }
}

/// Furthest place along a chain at each vertex, n, as a share of its length.
fn places(flesh: &Flesh<'_>, tree: &Tree, (root, chain): (usize, &[usize]), length: f64) -> Vec<f64> {
    let mut at = vec![0.0; flesh.mesh.vertices().len()];
    let mut start = vec![0.0; tree.parent.len()];
    for &bone in chain {
        if bone != root
            && let Some(above) = tree.parent[bone]
        {
            start[bone] = start[above] + (tree.heads[bone] - tree.heads[above]).norm();
        }
        let head = tree.heads[bone];
        let segments = tree.segments(bone, |_| true);
        for &(vertex, weight) in flesh.rig.bone(bone) {
            let vertex = vertex as usize;
            let along = segments.iter().map(|&[a, b]| {
                let way = b - a;
                let share =
                    (flesh.place(vertex) - head).dot(&way) / way.norm_squared().max(f64::MIN_POSITIVE);
                share.clamp(0.0, 1.0) * way.norm()
            });
            let place = (start[bone] + along.fold(0.0, f64::max)) / length;
            if weight > HANGS {
                at[vertex] = f64::max(at[vertex], place);
            }
        }
    }
    at
}

/// Smallest weight with which a vertex hangs on a bone.
const HANGS: f64 = 0.3;
