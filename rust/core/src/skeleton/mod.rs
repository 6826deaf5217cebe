//! Skeleton core: division of a body into a part that follows its bones, and flesh.

mod anatomy;
mod appendages;
mod bone;
mod bulges;
mod hints;
mod loose;
mod part;
mod parts;
mod pieces;
mod specks;
mod thickness;
mod tree;

use nalgebra::Vector3;

use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::operators::{squared_length, vertex_volumes};
use crate::rig::Rig;
use crate::{Error, Result, check};

pub(crate) use anatomy::Anatomy;
use anatomy::flesh::Flesh;
use bone::share_of;
pub use bone::{Bone, BoneRole};
pub use hints::is_hard_material;
pub use loose::hard_points;
pub use part::{FoundPart, Part, PartSetting};
use thickness::Thickness;
use tree::Tree;

/// Share of the distance from a bone to the surface that follows the bone, at an amount of 1.
const SHARE: f64 = 0.8;
/// Radius of a part, as a share of the body's length, below which it follows its bones at an amount of 1.
const THIN: f64 = 0.07;
/// Largest share of the rig's acceleration that a part may feel.
const MOST: f64 = 3.0;
/// Least radius of a bone in cells: in a slim limb no vertex may be near enough to it otherwise, and the limb
/// would bend like a hose.
const MARROW: f64 = 0.875;
/// Smallest weight of a bone at a vertex for the bone to count there.
const HANGS: f64 = 0.15;

/// The two ends of a piece of a bone.
type Segment = [Vector3<f64>; 2];

/// Settings of a skeleton core.
///
/// ```
/// use jounce::skeleton::SkeletonCore;
///
/// let core = SkeletonCore { amount: 0.5, anatomy: true, ..SkeletonCore::default() };
/// assert!(core.bones.is_empty() && core.parts.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkeletonCore {
    /// One bone for each bone of the rig, b.
    pub bones: Vec<Bone>,
    /// Share of the flesh beside rigid parts that follows the bones: from 0, none, to 1, all but the
    /// thickest flesh.
    pub amount: f64,
    /// Hard surface points, p; `None` for none.
    pub rigid: Option<Vec<bool>>,
    /// Cells along the longest side of the lattice for the search of thin parts and roles, for equal
    /// results at all body resolutions; `None` is the body's own.
    pub resolution: Option<usize>,
    /// `true` for a share of bone that differs by region and direction, as in a living body. The amount then
    /// scales the shares: a half leaves them as they are, 0 is no core and 1 is all.
    pub anatomy: bool,
    /// Settings of parts; those left out have the usual one. They change no vertex of the core.
    pub parts: Vec<PartSetting>,
}

/// The core found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Core {
    /// `true` for tet vertices of the core, n.
    pub(crate) vertices: Vec<bool>,
    /// `true` for hard points of the surface, p.
    pub(crate) points: Vec<bool>,
    /// Role of each bone, b, never automatic.
    pub(crate) roles: Vec<BoneRole>,
    /// Anatomy at the tet vertices, if asked for.
    pub(crate) anatomy: Option<Anatomy>,
}

impl Core {
    /// Makes the surface of hands, feet and heads hard, but for what sticks out of them: the cells around a
    /// wrist reach into soft flesh. rig, places: of the points of the surface.
    pub(crate) fn harden(&mut self, rig: &Rig, mesh: &TetMesh, places: &Embedding) {
        let Some(anatomy) = &self.anatomy else { return };
        let rigid = share_of(rig, |bone| self.roles[bone] == BoneRole::Rigid);
        for (point, (rigid, &tet)) in self.points.iter_mut().zip(rigid.iter().zip(places.tets())) {
            let corners = mesh.tets()[tet as usize];
            *point |= *rigid > 0.5 && !corners.iter().any(|&corner| anatomy.sticks_out(corner as usize));
        }
    }
}

/// `true` if a bone name marks flesh that follows the bone, as for hands, feet and heads.
pub fn is_hard_name(name: &str) -> bool {
    hints::hint(name).is_some_and(hints::Hint::is_hard)
}

impl SkeletonCore {
    /// Checks the core against a rig of given bones and a surface of given points.
    pub(crate) fn check(&self, bone_count: usize, point_count: usize) -> Result<()> {
        check::length("core bones", bone_count, self.bones.len())?;
        self.rigid.as_ref().map_or(Ok(()), |rigid| check::length("core rigid", point_count, rigid.len()))?;
        check::range("core amount", "a number in [0, 1]", self.amount, (0.0..=1.0).contains(&self.amount))?;
        self.check_parts()?;
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

    fn check_parts(&self) -> Result<()> {
        for &PartSetting { softness, amount, .. } in &self.parts {
            check::range("core softness", "a number > 0", softness, check::is_positive(softness))?;
            if !(0.0..=MOST).contains(&amount) {
                let (what, expected) = ("core part amount", "a number in [0, 3]");
                return Err(Error::Range { what, expected, got: amount });
            }
        }
        Ok(())
    }

    /// Setting of a part: the last one given, or the usual one.
    pub(crate) fn setting(&self, part: Part) -> PartSetting {
        let given = self.parts.iter().rfind(|setting| setting.part == part);
        given.copied().unwrap_or(PartSetting { part, softness: 1.0, amount: 1.0 })
    }

    /// `true` if another core holds the same vertices, whatever the settings of parts.
    pub(crate) fn holds_as(&self, other: &Self) -> bool {
        let bare = |core: &Self| Self { parts: Vec::new(), ..core.clone() };
        bare(self) == bare(other)
    }

    /// Core of a body. It contains vertices with more than half of their weight on rigid bones, and others
    /// that are close to their bones or in thin parts, unless more than half of the weight is on free
    /// bones.
    ///
    /// Close means `near < h / 2 + 0.8 amount (near + depth)`. `near` is the distance to the nearest of the
    /// bones with a weight above 0.15 there, `depth` the distance to the skin, the part of the surface with
    /// the outside on one side. h is the edge of a cell, because a vertex represents half of the cells
    /// around it. Thin means that the largest ball inside of the body within
    /// `max(0.4 min(0.07 l, r), 0.87 h)` of the vertex, or of an inner neighbour, has a radius below
    /// `amount min(0.07 l, r)`; l is the length of a straight bar with the body's largest second moment, r
    /// the radius of the largest ball of all. Bones outside of their flesh are moved into it. Bones that
    /// are free by choice, and bones named after bulges on flesh, such as breasts, count as their parents.
    ///
    /// Bulges are not part of the core: thin pieces of the trunk farther from their bones than three of
    /// their radii, with a median radius above half of the limit and a volume below eight balls of it. With
    /// a [`SkeletonCore::resolution`], thin refers to the lattice of this resolution, `reference`, with
    /// cells of edge h0. A vertex is thin if its thin share there, half of its cell included, exceeds
    /// `1 - h / (2 h0)`, or if the share is above 0 and the vertex is thin in its own lattice. Pieces of
    /// flesh of less than one percent of the body's volume join the core, unless more than half of their
    /// weight is on free bones or bones with the role of flesh. Pieces of the surface that follow their
    /// bones as a whole are hard, see [`hard_points`]. Appendages that are still while other bones move are
    /// free: chains of two or more bones with a telling name, and slender chains away from limbs, behind the
    /// trunk or on the head.
    ///
    /// With an anatomy a body with legs and a head is bone where `near < share (near + depth)` or the share
    /// exceeds 0.97, with the [`Anatomy`]'s share at the vertex scaled by the amount; pieces that stick out
    /// as ears and tails do are no specks.
    ///
    /// # Errors
    /// [`Error::Range`] for a cycle of parents.
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
        let found = parts::find(&self.bones, &tree, &thickness.of_bones(known_rig), (length, self.anatomy));
        let segments = segments(known, known_rig, (&tree, &found.close_to), &thickness);
        let near_in =
            |mesh: &TetMesh, rig: &Rig| distances(mesh, rig, |bone| &segments[found.close_to[bone]]);
        let own = reference.map(|_| Thickness::new(mesh, surface, THIN * length)).transpose()?;
        let (near, depth) = (near_in(mesh, rig), &own.as_ref().unwrap_or(&thickness).depth);
        let flesh = Flesh {
            mesh: known,
            rig: known_rig,
            volume: &volume,
            radius: &thickness.radius,
            reached: &thickness.reached,
            cell: thickness.cell,
            length,
        };
        let anatomy = self.anatomy.then(|| Anatomy::of(&flesh, &tree, &found, &self.asked()));
        let mut anatomy = match (anatomy, &own) {
            (Some(anatomy), Some(_)) => Some(anatomy.carried(known, mesh)?),
            (anatomy, _) => anatomy,
        };
        let share = |role: BoneRole| share_of(rig, |bone| found.roles[bone] == role);
        let (rigid, free) = (share(BoneRole::Rigid), share(BoneRole::Free));
        let marrow = MARROW * own.as_ref().unwrap_or(&thickness).cell;
        let by_region =
            anatomy.as_ref().and_then(|anatomy| anatomy.bone((&near, depth), &rigid, (self.amount, marrow)));
        let mut vertices = match by_region {
            Some(bone) => bone,
            None => {
                let (bones, trunk) = (near_in(known, known_rig), share_of(known_rig, |b| found.in_trunk[b]));
                let on_trunk = |vertex: usize| (trunk[vertex] > 0.5).then_some(bones[vertex]);
                let bone = self.close_or_thin(&flesh, (&thickness, own.as_ref()), on_trunk, (mesh, &near))?;
                let is_held = |(v, &bone): (usize, &bool)| rigid[v] > 0.5 || (free[v] <= 0.5 && bone);
                bone.iter().enumerate().map(is_held).collect()
            }
        };
        if self.amount > 0.0 {
            let asked = share_of(rig, |bone| self.bones[bone].role == BoneRole::Flesh);
            let sticks_out = |v: usize| anatomy.as_ref().is_some_and(|anatomy| anatomy.sticks_out(v));
            let wanted = |v: usize| free[v] > 0.5 || asked[v] > 0.5 || sticks_out(v);
            specks::hold(mesh, wanted, &mut vertices);
        }
        if let Some(anatomy) = anatomy.as_mut().filter(|anatomy| !anatomy.is_regional) {
            anatomy.share = vertices.iter().map(|&held| f64::from(u8::from(held))).collect();
        }
        let points = self.hard_points(surface, surface_rig);
        Ok(Core { vertices, points, roles: found.roles, anatomy })
    }

    /// Hard points of the surface, p: chosen ones, and pieces that follow their bones.
    fn hard_points(&self, surface: &SurfaceMesh, rig: &Rig) -> Vec<bool> {
        let mut points = hard_points(surface, rig, 1, None);
        for (point, rigid) in points.iter_mut().zip(self.rigid.iter().flatten()) {
            *point |= rigid;
        }
        points
    }

    /// Role that was chosen for each bone, b.
    fn asked(&self) -> Vec<BoneRole> {
        self.bones.iter().map(|bone| bone.role).collect()
    }

    /// `true` for vertices of a mesh that are close to their bones or thin, n. on_trunk: distance to the
    /// bones on the trunk of the flesh. own: thickness of the mesh, if it is another one than the flesh's.
    fn close_or_thin(
        &self,
        flesh: &Flesh<'_>,
        (thickness, own): (&Thickness, Option<&Thickness>),
        on_trunk: impl Fn(usize) -> Option<f64>,
        (mesh, near): (&TetMesh, &[f64]),
    ) -> Result<Vec<bool>> {
        let thickest = thickness.radius.iter().copied().fold(0.0, f64::max);
        let (close, limit) = (SHARE * self.amount, self.amount * thickest.min(THIN * flesh.length));
        let mut thin = thickness.below(limit);
        bulges::set_free(flesh.mesh, (on_trunk, &thickness.radius, flesh.volume), limit, &mut thin);
        let (cell, depth, thin) = match own {
            None => (thickness.cell, &thickness.depth, thin),
            Some(own) => {
                let least = 1.0 - own.cell / (2.0 * thickness.cell);
                (own.cell, &own.depth, carried(&thin, flesh.mesh, &own.below(limit), mesh, least)?)
            }
        };
        // A vertex represents its half of the cells around it; coarse lattices have no closer one.
        let half = if self.amount > 0.0 { 0.5 * cell } else { 0.0 };
        let is_close = |v: usize| near[v] < half + close * (near[v] + depth[v]);
        Ok((0..near.len()).map(|v| is_close(v) || thin[v]).collect())
    }
}

/// `true` for vertices of another mesh with a thin share above a limit, or with any share if they are thin
/// there themselves.
fn carried(thin: &[bool], from: &TetMesh, own: &[bool], to: &TetMesh, limit: f64) -> Result<Vec<bool>> {
    let shares: Vec<f64> = thin.iter().map(|&thin| f64::from(u8::from(thin))).collect();
    let shares = Embedding::new(from, to.vertices().to_vec())?.interpolate(from, &shares, 1)?;
    let is_thin = |(&share, &own): (&f64, &bool)| share > if own { 0.0 } else { limit.max(0.0) };
    Ok(shares.iter().zip(own).map(is_thin).collect())
}

/// Segments of each bone, b, moved into the flesh if outside.
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

/// Distance of each vertex, n, to the nearest of its bones.
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
