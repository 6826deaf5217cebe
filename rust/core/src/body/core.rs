//! Effect of a body's skeleton core on its modes and on their excitation.

use std::sync::Arc;

use super::carrier::{Carrier, enclosing};
use super::parts::Parts;
use super::{Body, BodyParams};
use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::operators::out_of_reach;
use crate::rig::Rig;
use crate::skeleton::{Anatomy, BoneRole, SkeletonCore};
use crate::{Error, Progress, Result};

/// The pinned vertices, and the role of each bone and the anatomy found for the core.
pub(super) struct Pinned {
    pub(super) vertices: Vec<bool>,
    pub(super) roles: Vec<BoneRole>,
    pub(super) anatomy: Option<Arc<Parts>>,
}

/// `true` if two bodies of the same surface have the same pinned vertices, roles and anatomy.
pub(super) fn holds_as(old: &BodyParams, new: &BodyParams) -> bool {
    let same_core = match (&old.core, &new.core) {
        (Some(old), Some(new)) => old.holds_as(new),
        (old, new) => old.is_none() && new.is_none(),
    };
    old.pinned == new.pinned && same_core
}

/// The lattice for thin parts and roles, if not the body's own, with its rig weights.
pub(super) struct Reference {
    mesh: TetMesh,
    rig: Rig,
}

impl Reference {
    /// Builds the reference lattice, `None` if not needed.
    pub(super) fn of(
        params: &BodyParams,
        surface: &SurfaceMesh,
        (weights, bone_count): (&[f64], usize),
        progress: &Progress,
    ) -> Result<Option<Self>> {
        let asked = params.core.as_ref().and_then(|core| core.resolution);
        let Some(resolution) = asked.filter(|&resolution| resolution != params.resolution) else {
            return Ok(None);
        };
        let mesh = enclosing(params.solid)(surface, resolution, progress)?;
        let rig = Carrier::new(surface, &mesh).rig(weights, bone_count)?;
        Ok(Some(Self { mesh, rig }))
    }
}

/// Painted pins and the vertices of the core; hard points are pinned like painted ones.
pub(super) fn pinned(
    params: &BodyParams,
    (mesh, rig): (&TetMesh, &Rig),
    (surface, surface_rig): (&SurfaceMesh, &Rig),
    (carrier, embedding): (&Carrier<'_>, &Embedding),
    reference: Option<&Reference>,
) -> Result<Pinned> {
    let painted = |points: Option<&[bool]>| match points {
        Some(points) => carrier.pinned(points, embedding),
        None => Ok(vec![false; mesh.vertices().len()]),
    };
    let Some(core) = &params.core else {
        return Ok(Pinned { vertices: painted(params.pinned.as_deref())?, roles: Vec::new(), anatomy: None });
    };
    let known = reference.map(|known| (&known.mesh, &known.rig));
    let hold = |core: &SkeletonCore| -> Result<Pinned> {
        let mut found = core.find((mesh, rig), (surface, surface_rig), known)?;
        found.harden(surface_rig, mesh, embedding);
        let mut points = found.points;
        points.iter_mut().zip(params.pinned.iter().flatten()).for_each(|(point, pinned)| *point |= pinned);
        let hard = points.contains(&true).then_some(points.as_slice());
        let vertices: Vec<bool> = painted(hard)?.iter().zip(&found.vertices).map(|(a, b)| a | b).collect();
        let parts = found.anatomy.map(|anatomy| Parts::new(mesh, anatomy, &vertices)).transpose()?;
        Ok(Pinned { vertices, roles: found.roles, anatomy: parts.map(Arc::new) })
    };
    let is_all = |held: &Pinned| held.vertices.iter().all(|&pinned| pinned);
    let held = hold(core)?;
    if !is_all(&held) {
        return Ok(held);
    }
    // A body of plates, such as a robot, has its flesh between them, wherever that is.
    let plain = hold(&SkeletonCore { anatomy: false, ..core.clone() })?;
    if is_all(&plain) || core.amount >= 1.0 {
        let expected = "one that leaves flesh to move; lower it, or give thick parts the role of flesh";
        return Err(Error::Range { what: "core amount", expected, got: core.amount });
    }
    let anatomy = Some(Arc::new(Parts::new(mesh, Anatomy::plain(&plain.vertices), &plain.vertices)?));
    Ok(Pinned { anatomy, ..plain })
}

/// The rig to which the modes are complementary: without a core the counting rig; with a core its
/// restriction to parts of the mesh without a pinned vertex.
pub(super) fn tie(
    params: &BodyParams,
    mesh: &TetMesh,
    pinned: &[bool],
    counting: &Arc<Rig>,
) -> Option<Arc<Rig>> {
    if params.core.is_none() {
        return Some(counting.clone());
    }
    let loose = out_of_reach(mesh, pinned);
    loose.contains(&true).then(|| Arc::new(counting.restricted(|vertex| loose[vertex as usize])))
}

/// Strength at the tet vertices; with a core it is multiplied by the painted share of the leak and by the
/// amounts of the parts.
pub(super) fn strength(
    like: Option<&Body>,
    params: &BodyParams,
    carrier: &Carrier<'_>,
    parts: Option<&Arc<Parts>>,
) -> Result<Option<Vec<f64>>> {
    let told = |params: &BodyParams, parts: Option<&Arc<Parts>>| {
        let leak = params.core.as_ref().and(params.leak.as_ref());
        let amounts = parts.zip(params.core.as_ref()).and_then(|(parts, core)| parts.amounts(core));
        (params.strength.clone(), leak.cloned(), amounts)
    };
    let now = told(params, parts);
    if let Some(like) = like.filter(|like| told(&like.params, like.parts.as_ref()) == now) {
        return Ok(like.strength.clone());
    }
    let product = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
    let (strength, leak, amounts) = now;
    let painted = match (strength, leak) {
        (None, None) => None,
        (Some(map), None) | (None, Some(map)) => Some(carrier.strength(&map)?),
        (Some(strength), Some(leak)) => Some(carrier.strength(&product(&strength, &leak))?),
    };
    Ok(match (painted, amounts) {
        (Some(painted), Some(amounts)) => Some(product(&painted, &amounts)),
        (painted, amounts) => painted.or(amounts),
    })
}
