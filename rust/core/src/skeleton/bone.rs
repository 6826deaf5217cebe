//! Bones at rest, and their flesh.

use crate::rig::Rig;

/// Roles of the flesh of a bone.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoneRole {
    /// One of the others, chosen by the part of the body.
    #[default]
    Automatic,
    /// Thick flesh around the bone moves; thin flesh follows it.
    Flesh,
    /// All flesh follows the bone.
    Rigid,
    /// No flesh follows the bone for being close or thin.
    Free,
}

/// A bone at rest.
///
/// ```
/// use jounce::skeleton::{Bone, BoneRole};
///
/// let bone = |name: &str, z, parent| Bone {
///     head: [0.0, 0.0, z],
///     parent,
///     name: name.into(),
///     role: BoneRole::Automatic,
///     still: false,
/// };
/// let spine = [bone("hips", 1.0, None), bone("chest", 1.3, Some(0))];
/// assert_eq!(spine[1].parent, Some(0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bone {
    /// Head of the bone, world space, metres. Its tail follows from the children or the flesh.
    pub head: [f64; 3],
    /// Parent of the bone.
    pub parent: Option<u32>,
    /// Name of the bone, a hint at its part of the body; may be empty.
    pub name: String,
    /// Role of its flesh.
    pub role: BoneRole,
    /// `true` if a bone is moved only by its parents.
    pub still: bool,
}

/// Total weight of some bones, n.
pub(super) fn share_of(rig: &Rig, counts: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut share = vec![0.0; rig.vertex_count()];
    for bone in (0..rig.bone_count()).filter(|&bone| counts(bone)) {
        rig.bone(bone).iter().for_each(|&(vertex, weight)| share[vertex as usize] += weight);
    }
    share
}
