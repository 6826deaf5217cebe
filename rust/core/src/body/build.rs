//! Building a body, reusing parts of another body of the same surface.

use std::sync::{Arc, OnceLock};

use super::carrier::{Carrier, enclosing};
use super::core::{self, Pinned, Reference};
use super::editing::Base;
use super::parts::Parts;
use super::{Body, BodyParams, Painted, check_maps, with_shapes};
use crate::material::{Field, Material};
use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::model::Model;
use crate::model::skinning_modes::{Extras, SkinningModel};
use crate::operators::{Stitches, lumped_mass};
use crate::rig::Rig;
use crate::sampling::cubature::Cubature;
use crate::skeleton::BoneRole;
use crate::subspace::{ModesProblem, Restraint, SkinningModes, cluster_tets, localise};
use crate::{Progress, Result};

/// Largest residual at which updated modes are accepted.
const GOOD_ENOUGH: f64 = 1e-2;

/// Lattice, embedding and rig weights: the parts that no map changes.
struct Ground {
    mesh: Arc<TetMesh>,
    embedding: Arc<Embedding>,
    rig: Arc<Rig>,
}

/// Constraints on the modes.
struct Bounds {
    merged: Vec<u32>,
    counting: Arc<Rig>,
    tie: Option<Arc<Rig>>,
    leak: Vec<f64>,
    pinned: Vec<bool>,
    roles: Vec<BoneRole>,
    parts: Option<Arc<Parts>>,
}

impl Bounds {
    fn restraint(&self) -> Restraint<'_> {
        Restraint { rig: self.tie.as_deref(), leak: Some(&self.leak), pinned: Some(&self.pinned) }
    }

    /// `true` if these are the constraints of a body on the same lattice.
    fn are_of(&self, body: &Body) -> bool {
        let as_tied = match (&self.tie, &body.tie) {
            (Some(tie), Some(other)) => Arc::ptr_eq(tie, other) && self.leak == body.leak,
            (None, None) => true,
            _ => false,
        };
        as_tied && self.pinned == body.pinned
    }
}

/// Modes, and the factor and residuals from which others can be computed.
struct Found {
    modes: Arc<SkinningModes>,
    residual: f64,
    apart: Option<Arc<Vec<f64>>>,
    base: Option<Arc<Base>>,
    /// `true` if the previous body's clusters remain valid.
    keeps_clusters: bool,
}

impl Body {
    /// As [`Body::new`], but reuses every part of `like`, a body of the same surface and weights, that the
    /// parameters leave unchanged.
    ///
    /// The lattice depends on the resolution and on `solid` alone; strength affects the model alone; leak,
    /// pins and bones affect the modes, the clusters and the model. If only stiffness or stitches differ
    /// and both bodies are `editable`, modes are updated from the previous ones
    /// ([`ModesProblem::update_stiffness`](crate::subspace::ModesProblem::update_stiffness)), and clusters
    /// and cubature tets stay, unless the [`Body::residual`] would exceed one percent. A `like` of another
    /// surface or other weights has no effect.
    ///
    /// # Errors
    /// As [`Body::new`].
    pub fn new_like(
        like: Option<&Self>,
        surface: &SurfaceMesh,
        weights: &[f64],
        bone_count: usize,
        params: &BodyParams,
        progress: &Progress,
    ) -> Result<Self> {
        let surface_rig = Rig::new(surface.points().len(), bone_count, weights)?;
        check_maps(surface.points().len(), bone_count, params)?;
        let like = like.filter(|like| {
            (like.params.resolution, like.params.solid) == (params.resolution, params.solid)
                && like.surface == *surface
                && like.surface_rig == surface_rig
        });
        let ground = ground(like, surface, weights, bone_count, params, progress)?;
        let (mesh, rig) = (ground.mesh.as_ref(), ground.rig.as_ref());
        let carrier = Carrier::new(surface, mesh);
        progress.enter("leak", 0.3, 0.35)?;
        let held = held(like, &ground, (surface, &surface_rig, weights), params, &carrier, progress)?;
        let material = material(like, params, &carrier, held.anatomy.as_deref())?;
        let of_modes = of_modes(like, &material, held.anatomy.as_ref())?;
        let bounds = bounds(like, &ground, &material, (surface, &surface_rig), params, &carrier, held)?;
        progress.enter("modes", 0.35, 0.8)?;
        let stitches = params.stitches.hang(mesh, &ground.embedding)?;
        let sewn = params.stitches.in_modes(&stitches)?;
        let found = found(like, (mesh, rig), &of_modes, &bounds, &sewn, params, progress)?;
        progress.enter("modes", 0.8, 0.85)?;
        let drafted = drafted(like, mesh, (&material, &of_modes), &bounds, &found.modes, progress)?;
        let alike = like.filter(|like| found.keeps_clusters && like.params.seed == params.seed);
        let (labels, cubature) = sampled(alike, (mesh, &drafted), &found.modes, rig, params, progress)?;
        progress.enter("model", 0.95, 1.0)?;
        let strength = core::strength(like, params, &carrier, bounds.parts.as_ref())?;
        let extras =
            Extras { strength: strength.as_deref(), stitches: Some(&stitches), cubature: cubature.as_ref() };
        let model = SkinningModel::with_extras(mesh, &drafted, &found.modes, &labels, Some(rig), &extras)?;
        progress.report(1.0)?;
        Ok(Self {
            params: Arc::new(params.clone()),
            leak: bounds.leak,
            pinned: bounds.pinned,
            roles: bounds.roles,
            parts: bounds.parts,
            tie: bounds.tie,
            merged: bounds.merged,
            counting: bounds.counting,
            material,
            of_modes,
            drafted,
            modes: found.modes,
            residual: found.residual,
            apart: found.apart,
            base: found.base,
            labels,
            cubature,
            model: Model::Skinning(Arc::new(model)),
            surface: surface.clone(),
            surface_rig,
            strength,
            offsets: OnceLock::new(),
            vertex_offsets: OnceLock::new(),
            mesh: ground.mesh,
            embedding: ground.embedding,
            rig: ground.rig,
        })
    }
}

/// Clusters and cubature, reused from another body or newly computed.
fn sampled(
    alike: Option<&Body>,
    (mesh, material): (&TetMesh, &Arc<Material>),
    modes: &SkinningModes,
    rig: &Rig,
    params: &BodyParams,
    progress: &Progress,
) -> Result<(Vec<i32>, Option<Cubature>)> {
    progress.enter("clusters", 0.85, 0.9)?;
    let labels = match alike.filter(|like| like.params.clusters == params.clusters) {
        Some(like) => like.labels.clone(),
        None => cluster_tets(mesh, modes, params.clusters, params.seed, progress)?,
    };
    let train = |count| {
        progress.enter("forces", 0.9, 0.95)?;
        Cubature::train(mesh, material, modes, Some(rig), (count, params.seed), progress)
    };
    let cubature = match alike.filter(|like| like.params.cubature == params.cubature) {
        Some(like) => like.cubature.clone(),
        None => (params.cubature > 0).then(|| train(params.cubature)).transpose()?,
    };
    Ok((labels, cubature))
}

fn ground(
    like: Option<&Body>,
    surface: &SurfaceMesh,
    weights: &[f64],
    bone_count: usize,
    params: &BodyParams,
    progress: &Progress,
) -> Result<Ground> {
    if let Some(like) = like {
        let (mesh, embedding, rig) = (like.mesh.clone(), like.embedding.clone(), like.rig.clone());
        return Ok(Ground { mesh, embedding, rig });
    }
    progress.enter("lattice", 0.0, 0.15)?;
    let mesh = enclosing(params.solid)(surface, params.resolution, progress)?;
    progress.enter("embedding", 0.15, 0.2)?;
    let embedding = Embedding::new(&mesh, surface.points().to_vec())?;
    progress.enter("weights", 0.2, 0.3)?;
    let rig = Carrier::new(surface, &mesh).rig(weights, bone_count)?;
    Ok(Ground { mesh: Arc::new(mesh), embedding: Arc::new(embedding), rig: Arc::new(rig) })
}

/// Material, softer or firmer in the parts of a body with anatomy.
fn material(
    like: Option<&Body>,
    params: &BodyParams,
    carrier: &Carrier<'_>,
    parts: Option<&Parts>,
) -> Result<Arc<Material>> {
    let stiffness = |params: &BodyParams| (params.law, params.young.clone(), params.poisson, params.density);
    let factors = |params: &BodyParams, parts: Option<&Parts>| {
        parts.zip(params.core.as_ref()).and_then(|(parts, core)| parts.stiffness(core))
    };
    let factor = factors(params, parts);
    let is_same = |like: &&Body| {
        stiffness(&like.params) == stiffness(params) && factors(&like.params, like.parts.as_deref()) == factor
    };
    if let Some(like) = like.filter(is_same) {
        return Ok(like.material.clone());
    }
    let young = match &params.young {
        Painted::Uniform(young) => Field::Uniform(*young),
        Painted::Points(young) => Field::PerTet(carrier.tet_values(young)?),
    };
    let young = match factor {
        None => young,
        Some(factor) => {
            Field::PerTet(factor.iter().enumerate().map(|(tet, factor)| young.at(tet) * factor).collect())
        }
    };
    let (poisson, density) = (Field::Uniform(params.poisson), Field::Uniform(params.density));
    Ok(Arc::new(Material::new(params.law, young, poisson, density)?))
}

/// Material of the modes: softer in slender parts, as these bend.
fn of_modes(
    like: Option<&Body>,
    material: &Arc<Material>,
    parts: Option<&Arc<Parts>>,
) -> Result<Arc<Material>> {
    let same_parts = |like: &&Body| match (&like.parts, parts) {
        (Some(old), Some(new)) => Arc::ptr_eq(old, new),
        (old, new) => old.is_none() && new.is_none(),
    };
    let same_material = |like: &&Body| Arc::ptr_eq(&like.material, material);
    if let Some(like) = like.filter(same_parts).filter(same_material) {
        return Ok(like.of_modes.clone());
    }
    stiffened(material, parts.and_then(|parts| parts.stiffness_of_modes()))
}

/// Material of the modes' model: softer in slender parts, as the flesh gives way.
fn drafted(
    like: Option<&Body>,
    mesh: &TetMesh,
    (material, of_modes): (&Arc<Material>, &Arc<Material>),
    bounds: &Bounds,
    modes: &Arc<SkinningModes>,
    progress: &Progress,
) -> Result<Arc<Material>> {
    let is_same = |like: &&Body| {
        Arc::ptr_eq(&like.of_modes, of_modes)
            && Arc::ptr_eq(&like.material, material)
            && Arc::ptr_eq(&like.modes, modes)
    };
    if let Some(like) = like.filter(is_same) {
        return Ok(like.drafted.clone());
    }
    match &bounds.parts {
        None => Ok(material.clone()),
        Some(parts) => {
            stiffened(material, parts.stiffness_of_model((mesh, material), &bounds.pinned, modes, progress)?)
        }
    }
}

/// A material with factors on the stiffness of each tet, t; the same one without.
fn stiffened(material: &Arc<Material>, factors: Option<Vec<f64>>) -> Result<Arc<Material>> {
    match factors {
        None => Ok(material.clone()),
        Some(factors) => Ok(Arc::new(material.stiffened(&factors)?)),
    }
}

/// Vertices held by pins and core, with what was found of roles and parts.
fn held(
    like: Option<&Body>,
    ground: &Ground,
    (surface, surface_rig, weights): (&SurfaceMesh, &Rig, &[f64]),
    params: &BodyParams,
    carrier: &Carrier<'_>,
    progress: &Progress,
) -> Result<Pinned> {
    let (mesh, rig) = (ground.mesh.as_ref(), ground.rig.as_ref());
    if let Some(like) = like.filter(|like| core::holds_as(&like.params, params)) {
        let (vertices, roles, anatomy) = (like.pinned.clone(), like.roles.clone(), like.parts.clone());
        return Ok(Pinned { vertices, roles, anatomy });
    }
    let reference = Reference::of(params, surface, (weights, rig.bone_count()), progress)?;
    let hung = (carrier, ground.embedding.as_ref());
    core::pinned(params, (mesh, rig), (surface, surface_rig), hung, reference.as_ref())
}

fn bounds(
    like: Option<&Body>,
    ground: &Ground,
    material: &Material,
    (surface, surface_rig): (&SurfaceMesh, &Rig),
    params: &BodyParams,
    carrier: &Carrier<'_>,
    held: Pinned,
) -> Result<Bounds> {
    let (mesh, rig) = (ground.mesh.as_ref(), ground.rig.as_ref());
    let same_bones = |like: &&Body| {
        let (old, new) = (&like.params, params);
        old.bones == new.bones && old.shapes == new.shapes && old.density == new.density
    };
    let (merged, counting) = match like.filter(same_bones) {
        Some(like) => (like.merged.clone(), like.counting.clone()),
        None => {
            let merged = params.bones.merging(rig, &lumped_mass(mesh, material))?;
            let counting = rig.merged(&merged)?;
            let counting = with_shapes(counting, &params.shapes, mesh, rig, surface, surface_rig)?;
            (merged, Arc::new(counting))
        }
    };
    let leak = match like.filter(|like| like.params.leak == params.leak) {
        Some(like) => like.leak.clone(),
        None => carrier.leak(params.leak.as_deref())?,
    };
    let same_pins = |like: &&Body| core::holds_as(&like.params, params);
    let tie = match like.filter(same_pins).filter(|like| Arc::ptr_eq(&counting, &like.counting)) {
        Some(like) => like.tie.clone(),
        None => core::tie(params, mesh, &held.vertices, &counting),
    };
    let Pinned { vertices: pinned, roles, anatomy: parts } = held;
    Ok(Bounds { merged, counting, tie, leak, pinned, roles, parts })
}

fn found(
    like: Option<&Body>,
    (mesh, rig): (&TetMesh, &Rig),
    material: &Arc<Material>,
    bounds: &Bounds,
    stitches: &Stitches,
    params: &BodyParams,
    progress: &Progress,
) -> Result<Found> {
    if let Some(like) = like.filter(|like| bounds.are_of(like))
        && let Some((modes, residual, apart)) = followed(like, material, stitches, params)?
    {
        let base = like.base.clone().filter(|_| params.editable);
        return Ok(Found { modes, residual, apart, base, keeps_clusters: true });
    }
    let (found, base) = modes((mesh, rig), material, &bounds.restraint(), stitches, params, progress)?;
    Ok(Found { modes: Arc::new(found), residual: 0.0, apart: None, base, keeps_clusters: false })
}

/// Modes, the largest bound of their eigenvalues' errors, and their estimated error per vertex.
type Followed = (Arc<SkinningModes>, f64, Option<Arc<Vec<f64>>>);

/// Modes updated from a body under the same constraints, with their residuals; `None` if they have to be
/// computed anew.
fn followed(
    like: &Body,
    material: &Arc<Material>,
    stitches: &Stitches,
    params: &BodyParams,
) -> Result<Option<Followed>> {
    let old = &like.params;
    let basis = |params: &BodyParams| (params.modes, params.locality, params.driven, params.density);
    if basis(old) != basis(params) {
        return Ok(None);
    }
    // Localised modes have no factor to keep.
    let keeps_factor = !params.editable || like.base.is_some() || params.locality != 0.0;
    if Arc::ptr_eq(material, &like.of_modes) && old.stitches == params.stitches && keeps_factor {
        return Ok(Some((like.modes.clone(), like.residual, like.apart.clone())));
    }
    // A body that is not editable is the same however it was reached.
    let Some(base) = like.base.as_ref().filter(|_| params.editable) else { return Ok(None) };
    let bones = params.driven.then_some(like.rig.as_ref());
    let update = base.update((&like.mesh, material), stitches, like.modes.eigenvalues.len(), bones)?;
    let worst = update.worst();
    Ok((worst <= GOOD_ENOUGH).then(|| (Arc::new(update.modes), worst, Some(Arc::new(update.apart)))))
}

/// Modes of a body, and the base from which later updates start.
fn modes(
    (mesh, rig): (&TetMesh, &Rig),
    material: &Material,
    restraint: &Restraint<'_>,
    stitches: &Stitches,
    params: &BodyParams,
    progress: &Progress,
) -> Result<(SkinningModes, Option<Arc<Base>>)> {
    let problem = ModesProblem::new(mesh, material, restraint, stitches, progress)?;
    // With a core, the amount of remaining flesh is not known in advance.
    let count = if params.core.is_some() { params.modes.min(problem.mode_limit()) } else { params.modes };
    let bones = params.driven.then_some(rig);
    if params.locality != 0.0 {
        let found = localise(&problem, mesh, material, count, params.locality, progress)?;
        return Ok((found.modes, None));
    }
    if params.editable {
        let base = Base::new(problem, material, count, progress)?;
        return Ok((base.modes(count, bones)?, Some(Arc::new(base))));
    }
    let found = match bones {
        Some(bones) => problem.driven(count, bones, progress),
        None => problem.lowest(count, progress),
    };
    Ok((found?, None))
}
