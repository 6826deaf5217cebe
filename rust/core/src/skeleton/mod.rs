//! The skeleton core: which part of a body follows its bones, and which is flesh.

mod appendages;
mod bulges;
mod hints;
mod loose;
mod parts;
mod specks;
mod thickness;
mod tree;

use nalgebra::Vector3;

use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::operators::{squared_length, vertex_volumes};
use crate::rig::Rig;
use crate::{Error, Result};

use thickness::Thickness;
use tree::Tree;

/// Of the way from a bone to the surface, the share that follows the bone, at an amount of 1.
const SHARE: f64 = 0.8;
/// Parts with a smaller radius follow their bones at an amount of 1, as a share of the body's length.
const THIN: f64 = 0.07;
/// A bone with a smaller weight at a vertex is none of those that it hangs on.
const HANGS: f64 = 0.15;

/// The two ends of a piece of a bone.
type Segment = [Vector3<f64>; 2];

/// What the flesh of a bone does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoneRole {
    /// One of the others, by what part of the body the bone is.
    #[default]
    Automatic,
    /// Thick flesh around the bone moves, thin flesh follows it.
    Flesh,
    /// All of it follows the bone.
    Rigid,
    /// None of it follows the bone for being close to it or thin.
    Free,
}

/// A bone at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Bone {
    /// Where it begins, world space, metres. Where it ends is told by its children or its flesh.
    pub head: [f64; 3],
    /// The bone above it.
    pub parent: Option<u32>,
    /// Its name, a hint at the part of the body that it is; may be empty.
    pub name: String,
    /// What its flesh does.
    pub role: BoneRole,
    /// Whether nothing moves it but what it hangs on.
    pub still: bool,
}

/// Asks for a core.
#[derive(Debug, Clone, PartialEq)]
pub struct SkeletonCore {
    /// One a bone of the rig, b.
    pub bones: Vec<Bone>,
    /// How much follows the bones beside rigid parts: from 0, nothing, to 1, all but the thickest flesh.
    pub amount: f64,
    /// The surface points, p, that are hard; `None` for none.
    pub rigid: Option<Vec<bool>>,
    /// Cells along the longest side of the lattice in which thin parts and roles are found, so that they are the same in
    /// lattices of all resolutions; `None` for that of the body.
    pub resolution: Option<usize>,
}

/// What is part of the core.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Core {
    /// Tet vertices, n.
    pub(crate) vertices: Vec<bool>,
    /// Hard points of the surface, p.
    pub(crate) points: Vec<bool>,
    /// The role of each bone, b, none of them automatic.
    pub(crate) roles: Vec<BoneRole>,
}

/// Whether the name of a bone says that its flesh follows it, as that of hands, feet and heads does.
pub fn is_hard_name(name: &str) -> bool {
    hints::hint(name).is_some_and(hints::Hint::is_hard)
}

impl SkeletonCore {
    /// Refuses what does not fit a rig of some bones and a surface of some points.
    pub(crate) fn check(&self, bone_count: usize, point_count: usize) -> Result<()> {
        if self.bones.len() != bone_count {
            let (expected, got) = (format!("({bone_count},)"), format!("({},)", self.bones.len()));
            return Err(Error::Shape { what: "core bones", expected, got });
        }
        if let Some(rigid) = self.rigid.as_ref().filter(|rigid| rigid.len() != point_count) {
            let (expected, got) = (format!("({point_count},)"), format!("({},)", rigid.len()));
            return Err(Error::Shape { what: "core rigid", expected, got });
        }
        if !(0.0..=1.0).contains(&self.amount) {
            return Err(Error::Range {
                what: "core amount",
                expected: "a number in [0, 1]",
                got: self.amount,
            });
        }
        for (element, bone) in self.bones.iter().enumerate() {
            if let Some(&value) = bone.head.iter().find(|x| !x.is_finite()) {
                return Err(Error::NotFinite { what: "core heads", element, value });
            }
            if let Some(index) = bone.parent.filter(|&parent| parent as usize >= bone_count) {
                let (what, index) = ("core parents", index.into());
                return Err(Error::Index { what, element, index, count: bone_count });
            }
        }
        Ok(())
    }

    /// The core of a body: vertices that hang on rigid bones by more than a half, and of the others those that are close
    /// to their bones or in thin parts, unless they hang on free bones by more than a half.
    ///
    /// Close is `near < h / 2 + 0.8 amount (near + depth)`, with the distances to the nearest of the bones that weigh
    /// more than 0.15 there and to the skin, what of the surface has the outside on one side, and the edge h of a cell,
    /// as a vertex stands for half of the cells around it; thin is where the largest ball inside the body that comes as
    /// near as `max(0.4 min(0.07 l, r), 0.87 h)` to the vertex, or to one inside beside it, has a radius below
    /// `amount min(0.07 l, r)`, l the length of a straight bar with the body's largest second moment, r the radius of
    /// the largest ball of all. Bones that run outside of their flesh are moved into it. Bones that are free by choice, and those
    /// whose names say that they lead a bulge on flesh, as of breasts, count as the bone above them. Thin pieces of the trunk further
    /// from their bones than three of their radii, their median radius above half of the limit and their volume below eight
    /// balls of it, are not held: bulges.
    /// With a [`SkeletonCore::resolution`] thin is what is so in the lattice of that resolution, `reference`, h0 the edge of its
    /// cells: a vertex that lies there among thin ones by a share above `1 - h / (2 h0)`, half of its cell included, or by any share
    /// and is thin in its own lattice.
    /// Flesh in pieces of less than one percent of the body's volume is held as well, unless free bones, or those with the role of
    /// flesh, hold it by more than a half. Loose parts that one bone holds whole are hard. Appendages that are still while other bones move are free: chains
    /// of two bones and more with a name of one, and such as are slender where no limb is, behind the trunk or on the head.
    ///
    /// # Errors
    /// [`Error::Range`] if parents go round in circles.
    pub(crate) fn find(
        &self,
        (mesh, rig): (&TetMesh, &Rig),
        (surface, surface_rig): (&SurfaceMesh, &Rig),
        reference: Option<(&TetMesh, &Rig)>,
    ) -> Result<Core> {
        let (known, known_rig) = reference.unwrap_or((mesh, rig));
        let volume = vertex_volumes(known);
        let length = squared_length(known, &volume).sqrt();
        let tree = Tree::new(&self.bones, known, known_rig, &volume, length)?;
        let thickness = Thickness::new(known, surface, THIN * length)?;
        let parts::Found { roles, close_to, in_trunk } =
            parts::find(&self.bones, &tree, &thickness.of_bones(known_rig), length);
        let segments = segments(known, known_rig, (&tree, &close_to), &thickness);
        let near_in = |mesh: &TetMesh, rig: &Rig| distances(mesh, rig, |bone| &segments[close_to[bone]]);
        let near = near_in(mesh, rig);
        let share = |role: BoneRole| share_of(rig, |bone| roles[bone] == role);
        let (rigid, free) = (share(BoneRole::Rigid), share(BoneRole::Free));
        let thickest = thickness.radius.iter().copied().fold(0.0, f64::max);
        let (close, limit) = (SHARE * self.amount, self.amount * thickest.min(THIN * length));
        let mut thin = thickness.below(limit);
        let (trunk, bones) = (share_of(known_rig, |bone| in_trunk[bone]), near_in(known, known_rig));
        let on_trunk = |vertex: usize| (trunk[vertex] > 0.5).then_some(bones[vertex]);
        bulges::set_free(known, (on_trunk, &thickness.radius, &volume), limit, &mut thin);
        let (cell, depth, thin) = match reference {
            None => (thickness.cell, thickness.depth, thin),
            Some(_) => {
                let own = Thickness::new(mesh, surface, THIN * length)?;
                let thin =
                    carried(&thin, known, &own.below(limit), mesh, 1.0 - own.cell / (2.0 * thickness.cell))?;
                (own.cell, own.depth, thin)
            }
        };
        // A vertex stands for its half of the cells around it: coarse lattices have none that is closer.
        let half = if self.amount > 0.0 { 0.5 * cell } else { 0.0 };
        let in_core = |v: usize| {
            let reach = half + close * (near[v] + depth[v]);
            rigid[v] > 0.5 || (free[v] <= 0.5 && (near[v] < reach || thin[v]))
        };
        let mut points = loose::held_whole(surface, surface_rig, length);
        for (point, rigid) in points.iter_mut().zip(self.rigid.iter().flatten()) {
            *point |= rigid;
        }
        let mut vertices: Vec<bool> = (0..near.len()).map(in_core).collect();
        if self.amount > 0.0 {
            let asked = share_of(rig, |bone| self.bones[bone].role == BoneRole::Flesh);
            specks::hold(mesh, |v| free[v] > 0.5 || asked[v] > 0.5, &mut vertices);
        }
        Ok(Core { vertices, points, roles })
    }
}

/// The weight, n, that some of the bones have together.
fn share_of(rig: &Rig, counts: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut share = vec![0.0; rig.vertex_count()];
    for bone in (0..rig.bone_count()).filter(|&bone| counts(bone)) {
        rig.bone(bone).iter().for_each(|&(vertex, weight)| share[vertex as usize] += weight);
    }
    share
}

/// Which vertices of another mesh lie among thin ones by a share above a limit, or by any and are thin there themselves.
fn carried(thin: &[bool], from: &TetMesh, own: &[bool], to: &TetMesh, limit: f64) -> Result<Vec<bool>> {
    let shares: Vec<f64> = thin.iter().map(|&thin| f64::from(u8::from(thin))).collect();
    let shares = Embedding::new(from, to.vertices().to_vec())?.interpolate(from, &shares, 1)?;
    let is_thin = |(&share, &own): (&f64, &bool)| share > if own { 0.0 } else { limit.max(0.0) };
    Ok(shares.iter().zip(own).map(is_thin).collect())
}

/// Where each bone runs, b, moved into its flesh as well where it lies outside.
fn segments(
    mesh: &TetMesh,
    rig: &Rig,
    (tree, close_to): (&Tree, &[usize]),
    thickness: &Thickness,
) -> Vec<Vec<Segment>> {
    let of_bone = |bone: usize| {
        let mut segments = tree.segments(bone, |child| close_to[child] == child);
        let own = rig.bone(bone);
        let most = own.iter().fold(0.0, |most: f64, entry| most.max(entry.1));
        let flesh = own.iter().filter(|(_, weight)| *weight > 0.5 * most);
        let gap = flesh.clone().map(|&(v, _)| to_nearest(&segments, mesh, v)).fold(f64::INFINITY, f64::min);
        let radius = flesh.map(|&(v, _)| thickness.radius[v as usize]).fold(0.0, f64::max);
        if gap > thickness.cell.max(0.5 * radius) {
            let moved: Vec<Segment> =
                segments.iter().map(|&segment| tree.moved_into_flesh(bone, segment)).collect();
            segments.extend(moved);
        }
        segments
    };
    (0..rig.bone_count()).map(of_bone).collect()
}

/// The distance, n, from each vertex to the nearest of the bones that it hangs on.
fn distances<'a>(mesh: &TetMesh, rig: &Rig, segments: impl Fn(usize) -> &'a [Segment]) -> Vec<f64> {
    let mut near = vec![f64::INFINITY; mesh.vertices().len()];
    for bone in 0..rig.bone_count() {
        let segments = segments(bone);
        for &(vertex, _) in rig.bone(bone).iter().filter(|(_, weight)| *weight > HANGS) {
            let near = &mut near[vertex as usize];
            *near = near.min(to_nearest(segments, mesh, vertex));
        }
    }
    near
}

fn to_nearest(segments: &[Segment], mesh: &TetMesh, vertex: u32) -> f64 {
    let place = Vector3::from(mesh.vertices()[vertex as usize]);
    segments.iter().map(|segment| to_segment(place, segment)).fold(f64::INFINITY, f64::min)
}

fn to_segment(point: Vector3<f64>, [start, end]: &Segment) -> f64 {
    let along = end - start;
    let squared = along.norm_squared();
    let at = if squared > 0.0 { ((point - start).dot(&along) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (point - start - along * at).norm()
}
