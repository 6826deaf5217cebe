//! The bones of a rig as one tree, with the volume moved by each.

use nalgebra::Vector3;

use super::bone::Bone;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::{Error, Result};

type Point = Vector3<f64>;

/// Distance, as a share of the body's length, below which heads coincide.
const APART: f64 = 1e-3;
/// Largest share of the body's volume moved by a root that is a control for others.
const CONTROL: f64 = 1e-3;
/// Smallest share of common flesh to attach a root to a bone of another tree.
const SHARED: f64 = 1e-3;

/// Tree of bones, b.
pub(super) struct Tree {
    pub(super) heads: Vec<Point>,
    pub(super) parent: Vec<Option<usize>>,
    pub(super) children: Vec<Vec<usize>>,
    /// Share of the body's volume moved by a bone and its descendants.
    pub(super) below: Vec<f64>,
    /// Longest path down from its head, metres.
    pub(super) reach: Vec<f64>,
    /// Centre of its flesh.
    centres: Vec<Point>,
    /// Distance below which heads coincide, metres.
    apart: f64,
}

impl Tree {
    /// Tree with the given parents. Every root except the largest is attached to the bone with most common
    /// flesh, such as feet that an exporter detached from their legs. Single bones below a root without flesh
    /// are roots: feet for inverse kinematics.
    pub(super) fn new(
        bones: &[Bone],
        mesh: &TetMesh,
        rig: &Rig,
        volume: &[f64],
        length: f64,
    ) -> Result<Self> {
        let whole: f64 = volume.iter().sum();
        let moved =
            |j: usize| rig.bone(j).iter().map(|&(v, weight)| weight * volume[v as usize]).sum::<f64>();
        let own: Vec<f64> = (0..bones.len()).map(|j| moved(j) / whole).collect();
        let mut parent: Vec<Option<usize>> =
            bones.iter().map(|bone| bone.parent.map(|j| j as usize)).collect();
        check_ends(&parent)?;
        release(&mut parent, &own);
        hang_roots(&mut parent, rig, volume, &own);
        let mut children = vec![Vec::new(); bones.len()];
        for (bone, above) in parent.iter().enumerate() {
            if let Some(above) = *above {
                children[above].push(bone);
            }
        }
        let heads: Vec<Point> = bones.iter().map(|bone| Point::from(bone.head)).collect();
        let centre = |j: usize| {
            let (mut sum, mut weights) = (Point::zeros(), 0.0);
            for &(vertex, weight) in rig.bone(j) {
                let weight = weight * volume[vertex as usize];
                sum += Point::from(mesh.vertices()[vertex as usize]) * weight;
                weights += weight;
            }
            if weights > 0.0 { sum / weights } else { heads[j] }
        };
        let centres: Vec<Point> = (0..bones.len()).map(centre).collect();
        let (below, reach) = (own, vec![0.0; bones.len()]);
        let mut tree = Self { heads, parent, children, below, reach, centres, apart: APART * length };
        tree.add_up();
        Ok(tree)
    }

    /// Accumulates volume shares and paths, from the leaves up.
    fn add_up(&mut self) {
        for bone in self.downwards().into_iter().rev() {
            let below = self.children[bone].iter().map(|&child| self.below[child]).sum::<f64>();
            self.below[bone] += below;
            let head = self.heads[bone];
            let way = |&child: &usize| (self.heads[child] - head).norm() + self.reach[child];
            let down = self.children[bone].iter().map(way).fold(0.0, f64::max);
            let end = self.ends(bone, |_| true)[0];
            self.reach[bone] = if down > 0.0 { down } else { (end - head).norm() };
        }
    }

    /// End points of a bone: heads of the counted children, or the reflection of its head at the centre of
    /// its flesh.
    fn ends(&self, bone: usize, counts: impl Fn(usize) -> bool) -> Vec<Point> {
        let head = self.heads[bone];
        let leads = |&&child: &&usize| {
            counts(child) && self.below[child] > 0.0 && (self.heads[child] - head).norm() > self.apart
        };
        let ends: Vec<Point> = self.children[bone].iter().filter(leads).map(|&c| self.heads[c]).collect();
        if ends.is_empty() { vec![2.0 * self.centres[bone] - head] } else { ends }
    }

    /// All bones, parents before children.
    fn downwards(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.parent.len()).filter(|&bone| self.parent[bone].is_none()).collect();
        let mut next = 0;
        while next < order.len() {
            order.extend_from_slice(&self.children[order[next]]);
            next += 1;
        }
        order
    }

    /// A bone and all its descendants.
    pub(super) fn with_below(&self, bone: usize) -> Vec<usize> {
        let mut found = vec![bone];
        let mut next = 0;
        while next < found.len() {
            found.extend_from_slice(&self.children[found[next]]);
            next += 1;
        }
        found
    }

    /// Share of the body's volume moved by a bone alone.
    pub(super) fn own(&self, bone: usize) -> f64 {
        self.below[bone] - self.children[bone].iter().map(|&child| self.below[child]).sum::<f64>()
    }

    /// Centre of the flesh of a bone.
    pub(super) fn centre(&self, bone: usize) -> Point {
        self.centres[bone]
    }

    /// End of a bone without children.
    pub(super) fn tip(&self, bone: usize) -> Point {
        self.ends(bone, |_| true)[0]
    }

    /// Number of links between two bones; of bones of different trees, the most there could be.
    pub(super) fn links(&self, a: usize, b: usize) -> usize {
        let up = |bone: usize| std::iter::successors(Some(bone), |&bone| self.parent[bone]);
        let shared = up(a).enumerate().find(|&(_, above)| self.leads_to(above, b));
        shared.map_or(self.parent.len(), |(links, above)| links + up(b).take_while(|&x| x != above).count())
    }

    /// A bone and its descendants, if in a single chain.
    pub(super) fn chain(&self, bone: usize) -> Option<Vec<usize>> {
        let chain = self.with_below(bone);
        chain.iter().all(|&link| self.children[link].len() < 2).then_some(chain)
    }

    /// `true` if a bone equals another or is an ancestor.
    pub(super) fn leads_to(&self, bone: usize, other: usize) -> bool {
        std::iter::successors(Some(other), |&bone| self.parent[bone]).any(|above| above == bone)
    }

    /// Segments from the head of a bone to its end points, by the counted children.
    pub(super) fn segments(&self, bone: usize, counts: impl Fn(usize) -> bool) -> Vec<[Point; 2]> {
        self.ends(bone, counts).iter().map(|&end| [self.heads[bone], end]).collect()
    }

    /// A segment of a bone, translated to have its middle at the centre of the flesh.
    pub(super) fn moved_into_flesh(&self, bone: usize, [start, end]: [Point; 2]) -> [Point; 2] {
        let way = self.centres[bone] - (start + end) / 2.0;
        [start + way, end + way]
    }
}

fn check_ends(parent: &[Option<usize>]) -> Result<()> {
    for bone in 0..parent.len() {
        let links = std::iter::successors(Some(bone), |&bone| parent[bone]).take(parent.len() + 1).count();
        if links > parent.len() {
            let (what, expected) = ("core parents", "chains of bones that end");
            return Err(Error::Range { what, expected, got: bone as f64 });
        }
    }
    Ok(())
}

fn root_of(parent: &[Option<usize>], bone: usize) -> usize {
    std::iter::successors(Some(bone), |&bone| parent[bone]).last().unwrap_or(bone)
}

/// Makes roots of the single bones below roots without flesh.
fn release(parent: &mut [Option<usize>], own: &[f64]) {
    let is_control = |bone: usize| parent[bone].is_none() && own[bone] < CONTROL;
    let is_single = |bone: usize| own[bone] > 0.0 && !parent.contains(&Some(bone));
    let released: Vec<usize> =
        (0..own.len()).filter(|&bone| is_single(bone) && parent[bone].is_some_and(is_control)).collect();
    released.into_iter().for_each(|bone| parent[bone] = None);
}

fn hang_roots(parent: &mut [Option<usize>], rig: &Rig, volume: &[f64], own: &[f64]) {
    let mut of_tree = vec![0.0; own.len()];
    (0..own.len()).for_each(|bone| of_tree[root_of(parent, bone)] += own[bone]);
    let mut roots: Vec<usize> = (0..own.len()).filter(|&bone| parent[bone].is_none()).collect();
    roots.sort_by(|&a, &b| of_tree[a].total_cmp(&of_tree[b]).then(b.cmp(&a)));
    roots.pop();
    let mut weight_of = vec![0.0; rig.vertex_count()];
    for root in roots {
        weight_of.fill(0.0);
        rig.bone(root).iter().for_each(|&(v, weight)| weight_of[v as usize] = weight * volume[v as usize]);
        let shared =
            |bone: usize| rig.bone(bone).iter().map(|&(v, w)| w * weight_of[v as usize]).sum::<f64>();
        let least = SHARED * shared(root);
        let others = (0..own.len()).filter(|&bone| root_of(parent, bone) != root);
        let best = others
            .map(|bone| (bone, shared(bone)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        if let Some((bone, _)) = best.filter(|&(_, shared)| shared > least) {
            parent[root] = Some(bone);
        }
    }
}
