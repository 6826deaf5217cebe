//! The complete pipeline from a rigged surface to a model, in one call.

mod build;
mod carrier;
mod core;
mod editing;
mod learning;
mod parts;
pub mod standard;

use std::sync::{Arc, OnceLock};

use carrier::Carrier;
use editing::Base;
pub use editing::PointStitches;
pub use learning::Lesson;
use parts::Parts;

use crate::material::{Fibres, Field, Law, Material};
use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::model::Model;
use crate::model::full_space::{FullSpaceExtras, FullSpaceModel};
use crate::model::skinning_modes::offsets::{OffsetExtension, OffsetReduction, OffsetSource};
use crate::rig::{Pose, Rig};
use crate::sampling::cubature::Cubature;
use crate::skeleton::{Bone, BoneRole, FoundPart, SkeletonCore};
use crate::subspace::{Restraint, SkinningModes};
use crate::{Progress, Result, check};

/// Bones that enter the constraint; the posed shape follows all bones.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CountingBones {
    /// All bones.
    #[default]
    All,
    /// Bones that [`Rig::small_bones`] does not call small, given the parent of each bone, b.
    Large(Vec<Option<u32>>),
    /// Explicit choice, b: a bone that names itself enters; the others are merged into the bone they name,
    /// as in [`Rig::merged`].
    Merged(Vec<u32>),
}

impl CountingBones {
    /// Target bone of each bone in the merge, b; a bone that enters the constraint names itself.
    fn merging(&self, rig: &Rig, mass: &[f64]) -> Result<Vec<u32>> {
        match self {
            Self::All => Ok((0..rig.bone_count() as u32).collect()),
            Self::Large(parents) => rig.small_bones(mass, parents),
            Self::Merged(into) => Ok(into.clone()),
        }
    }
}

/// A positive quantity, uniform or painted at the surface points, p.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Painted {
    /// The same value everywhere.
    Uniform(f64),
    /// One value per point, interpolated geometrically.
    Points(Vec<f64>),
}

/// Parameters of a body.
///
/// ```
/// use jounce::body::{BodyParams, Painted};
/// use jounce::material::Law;
///
/// let soft = BodyParams { law: Law::Corotated, poisson: 0.4, modes: 12, ..BodyParams::default() };
/// let painted = BodyParams { young: Painted::Points(vec![1e4; 8]), ..soft.clone() };
/// assert_eq!(painted.modes, 12);
/// assert_ne!(painted, soft);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BodyParams {
    /// Lattice cells along the longest side of the surface's bounding box.
    pub resolution: usize,
    /// `true` to count only the part of each cell inside the surface, as in
    /// [`solid_lattice`](crate::mesh::solid_lattice); otherwise cells that the surface touches count in
    /// full.
    pub solid: bool,
    /// Number of modes m.
    pub modes: usize,
    /// Locality of the modes: 0 for global modes; larger values confine modes to smaller parts of the body,
    /// as in [`localised_modes`](crate::subspace::localised_modes).
    pub locality: f64,
    /// `true` for modes that contain the motion which each bone's acceleration makes, as in
    /// [`ModesProblem::driven`](crate::subspace::ModesProblem::driven). Localised modes are not driven.
    pub driven: bool,
    /// Requested number of clusters.
    pub clusters: usize,
    /// Largest number of tets for the elastic forces, as in [`Cubature`]; 0 uses the means of the clusters,
    /// as the paper does.
    pub cubature: usize,
    /// Elastic law; preserves volume only for [`Law::Corotated`] with a Poisson ratio above 0.
    pub law: Law,
    /// Young's modulus, Pa.
    pub young: Painted,
    /// Poisson ratio.
    pub poisson: f64,
    /// Density, kg/m^3.
    pub density: f64,
    /// Share of the default leak to keep at each surface point, p, in [0, 1]; `None` keeps all of it.
    pub leak: Option<Vec<f64>>,
    /// Factor on the rig's acceleration at each surface point, p, >= 0; `None` is 1 everywhere.
    pub strength: Option<Vec<f64>>,
    /// Pinned surface points, p, which stay at their rigged positions; `None` for none.
    pub pinned: Option<Vec<bool>>,
    /// Skeleton core: the parts that follow the bones because they are no flesh; `None` for none. With a
    /// core the modes are complementary to the rig only in components without core vertices, and `leak`
    /// scales `strength`.
    pub core: Option<SkeletonCore>,
    /// Bones to which the modes are complementary.
    pub bones: CountingBones,
    /// Further shapes to which the modes are complementary, p x 3 each: displacements of the surface at
    /// rest, metres.
    pub shapes: Vec<Vec<f64>>,
    /// Springs between points of the surface.
    pub stitches: PointStitches,
    /// `true` to keep the factor, so that stitches and stiffness can be changed at little cost.
    pub editable: bool,
    /// Seed for the clusters' random start and for the training states of a cubature.
    pub seed: u64,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            resolution: 32,
            solid: true,
            modes: standard::MODES,
            locality: 0.0,
            driven: false,
            clusters: standard::CUBATURE,
            cubature: standard::CUBATURE,
            law: Law::Arap,
            young: Painted::Uniform(standard::YOUNG),
            poisson: 0.0,
            density: standard::DENSITY,
            leak: None,
            strength: None,
            pinned: None,
            core: None,
            bones: CountingBones::All,
            shapes: Vec::new(),
            stitches: PointStitches::default(),
            editable: false,
            seed: 0,
        }
    }
}

impl BodyParams {
    /// Parameters of a rigged character: those of *Add Jounce* in Blender.
    ///
    /// bones: of the rig, in the order of its weights. rigid: hard points of the surface, p, from
    /// [`hard_points`](crate::skeleton::hard_points); `None` for none.
    ///
    /// # Errors
    /// As [`lattice`](crate::mesh::lattice).
    pub fn of_character(surface: &SurfaceMesh, bones: Vec<Bone>, rigid: Option<Vec<bool>>) -> Result<Self> {
        let resolution = standard::resolution(surface, standard::TETS, &Progress::default())?;
        let parents = bones.iter().map(|bone| bone.parent).collect();
        let core = SkeletonCore {
            bones,
            amount: standard::CORE,
            rigid,
            resolution: Some(resolution),
            anatomy: true,
            ..SkeletonCore::default()
        };
        let bones = CountingBones::Large(parents);
        Ok(Self { resolution, driven: true, core: Some(core), bones, ..Self::default() })
    }
}

/// A rigged surface prepared for simulation.
///
/// ```
/// use jounce::Progress;
/// use jounce::body::{Body, BodyParams};
/// use jounce::mesh::SurfaceMesh;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 10, modes: 4, cubature: 12, ..BodyParams::default() };
/// let body = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?;
/// assert_eq!(body.model.mode_count(), 4);
/// assert_eq!(body.posed(&[[[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]])?.len(), 8);
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct Body {
    /// Tet mesh that is simulated.
    pub mesh: Arc<TetMesh>,
    /// Embedding of the surface's points in the mesh.
    pub embedding: Arc<Embedding>,
    /// Weights of the surface, transferred to the tet vertices.
    pub rig: Arc<Rig>,
    /// Leak at the tet vertices, n, in [0, 1].
    pub leak: Vec<f64>,
    /// Vertices at which the modes vanish, n: pins and the core.
    pub pinned: Vec<bool>,
    /// Role of each bone's flesh, b, none of them automatic; empty without a core.
    pub roles: Vec<BoneRole>,
    /// Parts and their frequencies; `None` without an anatomy.
    parts: Option<Arc<Parts>>,
    /// Target bone of each bone in the constraint's merge, b; a bone that enters the constraint names
    /// itself.
    pub merged: Vec<u32>,
    /// Material, with stiffness per tet if it is painted.
    pub material: Arc<Material>,
    /// Material of the modes: softer in slender parts, as these bend.
    of_modes: Arc<Material>,
    /// Material of the modes' model: softer in slender parts, as the flesh gives way.
    drafted: Arc<Material>,
    /// Rig-complementary skinning modes.
    pub modes: Arc<SkinningModes>,
    /// Cluster label of each tet, t.
    pub labels: Vec<i32>,
    /// Cubature of the elastic forces; `None` if they are means over the clusters.
    pub cubature: Option<Cubature>,
    /// The model, ready to simulate.
    pub model: Model,
    /// Largest bound of the relative errors of the eigenvalues after [`Body::new_like`], as in
    /// [`ModesUpdate::residuals`](crate::subspace::ModesUpdate::residuals); 0 as built.
    pub residual: f64,
    /// Estimated error of the modes at each vertex of the mesh, n, as in
    /// [`ModesUpdate::apart`](crate::subspace::ModesUpdate); `None` as built.
    pub apart: Option<Arc<Vec<f64>>>,
    /// Bones and shapes that enter the constraint.
    counting: Arc<Rig>,
    /// Rig to which the modes are complementary; `None` if the core holds every component.
    tie: Option<Arc<Rig>>,
    /// Base for bodies with other stitches or stiffness; only of an editable body.
    base: Option<Arc<Base>>,
    /// Parameters of the body.
    params: Arc<BodyParams>,
    surface: SurfaceMesh,
    /// Weights at the points of the surface.
    surface_rig: Rig,
    /// Strength at the tet vertices, n.
    strength: Option<Vec<f64>>,
    /// Reduction of the rig's offsets, computed on first use.
    offsets: OnceLock<OffsetReduction>,
    vertex_offsets: OnceLock<OffsetExtension>,
}

impl Body {
    /// Builds a body: lattice, weights and maps on it, modes, clusters, model.
    ///
    /// Weights, p x b in C order with rows of sum one, are taken from the closest surface point at each
    /// boundary vertex of the lattice, and extended harmonically inside. Maps are transferred in the same
    /// way: the leak of a tet vertex is [`momentum_leak`](crate::operators::momentum_leak) times the value
    /// of `params.leak` there; painted stiffness is transferred as its logarithm and averaged over each
    /// tet's corners; strength is transferred as it is. The pinned tet vertices are those with a
    /// transferred share above a half, and the corners of every tet that holds a pinned point. With a core
    /// the share of the leak that is kept multiplies the strength.
    ///
    /// # Errors
    /// Any error of a stage; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn new(
        surface: &SurfaceMesh,
        weights: &[f64],
        bone_count: usize,
        params: &BodyParams,
        progress: &Progress,
    ) -> Result<Self> {
        Self::new_like(None, surface, weights, bone_count, params, progress)
    }

    /// Reduces the offsets of a rig from linear skinning at the surface points, p x 3 in world space and
    /// metres, for [`StepInput::offsets`](crate::inputs::settings::StepInput::offsets).
    ///
    /// The first call prepares the reduction; a body with a linear rig pays nothing.
    ///
    /// # Errors
    /// As [`OffsetReduction::reduce`]; [`Error::Numerical`](crate::Error::Numerical).
    pub fn reduce_offsets(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        self.offset_reduction()?.reduce(offsets)
    }

    /// Transfers the offsets of a rig from linear skinning at the surface points, p x 3 in world space and
    /// metres, to the tet vertices, n x 3, for
    /// [`StepInput::offsets`](crate::inputs::settings::StepInput::offsets) in the full space.
    ///
    /// The first call prepares the transfer.
    ///
    /// # Errors
    /// As [`OffsetReduction::reduce`]; [`Error::Numerical`](crate::Error::Numerical).
    pub fn vertex_offsets(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        if let Some(ready) = self.vertex_offsets.get() {
            return ready.extend(offsets);
        }
        let made = OffsetExtension::new(&self.mesh, &self.rig, &self.surface, &self.surface_rig)?;
        self.vertex_offsets.get_or_init(|| made).extend(offsets)
    }

    /// Transfers one value per surface point, p, to the tet vertices, n, like a map: from the closest point
    /// of the surface on the boundary, harmonically inside.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite) for values that
    /// are not one number per point.
    pub fn spread(&self, values: &[f64]) -> Result<Vec<f64>> {
        check::length("values", self.embedding.points().len(), values.len())?;
        check::finite("values", values, 1)?;
        Carrier::new(&self.surface, &self.mesh).carry(values, 1)
    }

    /// The same body in the full space: its mesh, rig, limits, strength and stitches, with its own or
    /// another material, with or without fibres.
    ///
    /// # Errors
    /// As [`FullSpaceModel::with_extras`].
    pub fn full_space(
        &self,
        material: Option<&Material>,
        fibres: Option<&Fibres>,
        progress: &Progress,
    ) -> Result<Model> {
        let material = material.unwrap_or(&self.material);
        let stitches = self.params.stitches.hang(&self.mesh, &self.embedding)?;
        let extras = FullSpaceExtras {
            rig: Some(&self.rig),
            strength: self.strength.as_deref(),
            stitches: Some(&stitches),
            fibres,
        };
        let restraint = Restraint {
            rig: self.tie.as_deref(),
            leak: Some(&self.leak),
            pinned: self.pinned.contains(&true).then_some(&self.pinned),
        };
        FullSpaceModel::of(&self.mesh, material, &restraint, &extras, progress)
            .map(|model| Model::FullSpace(Arc::new(model)))
    }

    /// The surface from which the body was built.
    pub fn surface(&self) -> &SurfaceMesh {
        &self.surface
    }

    /// The parameters with which the body was built.
    pub fn params(&self) -> &BodyParams {
        &self.params
    }

    /// Points of the surface in a pose by linear blending, p, metres.
    ///
    /// # Errors
    /// As [`Rig::posed`].
    pub fn posed(&self, pose: &Pose) -> Result<Vec<[f64; 3]>> {
        self.surface_rig.posed(self.surface.points(), pose)
    }

    /// Parts found by the anatomy of the core, with their weights at the tet vertices; empty without one.
    pub fn parts(&self) -> &[FoundPart] {
        self.parts.as_ref().map_or(&[], |parts| parts.found())
    }

    /// Share of bone at the tet vertices, n; empty without an anatomy.
    pub fn core_share(&self) -> &[f64] {
        self.parts.as_ref().map_or(&[], |parts| parts.share())
    }

    fn offset_reduction(&self) -> Result<&OffsetReduction> {
        if let Some(ready) = self.offsets.get() {
            return Ok(ready);
        }
        let why = "a full-space model takes the offsets of its vertices, (n, 3)";
        let model = self.model.skinning("offsets", why)?;
        let source = OffsetSource {
            material: &self.drafted,
            modes: &self.modes,
            labels: &self.labels,
            rig: &self.rig,
            strength: self.strength.as_deref(),
            surface: &self.surface,
            surface_rig: &self.surface_rig,
        };
        let made = OffsetReduction::new(model, &source)?;
        Ok(self.offsets.get_or_init(|| made))
    }
}

/// The counting rig, with shapes of the surface transferred to the tet vertices in the same way as offsets.
fn with_shapes(
    counting: Rig,
    shapes: &[Vec<f64>],
    mesh: &TetMesh,
    rig: &Rig,
    surface: &SurfaceMesh,
    surface_rig: &Rig,
) -> Result<Rig> {
    if shapes.is_empty() {
        return Ok(counting);
    }
    let carried = OffsetExtension::new(mesh, rig, surface, surface_rig)?;
    let add = |counting: Rig, shape: &Vec<f64>| counting.with_shapes(&carried.extend(shape)?);
    shapes.iter().try_fold(counting, add)
}

/// Rejects maps of another surface and invalid stiffness before the first computation.
fn check_maps(point_count: usize, bone_count: usize, params: &BodyParams) -> Result<()> {
    let young = match &params.young {
        Painted::Uniform(young) => Field::Uniform(*young),
        Painted::Points(young) => {
            check::length("young", point_count, young.len())?;
            Field::PerTet(young.clone())
        }
    };
    let (poisson, density) = (Field::Uniform(params.poisson), Field::Uniform(params.density));
    Material::new(params.law, young, poisson, density)?;
    check_map("leak", point_count, params.leak.as_deref(), [0.0, 1.0], "values in [0, 1]")?;
    check_map("strength", point_count, params.strength.as_deref(), [0.0, f64::MAX], "numbers >= 0")?;
    if let Some(pinned) = &params.pinned {
        check::length("pinned", point_count, pinned.len())?;
    }
    if let Some(core) = &params.core {
        core.check(bone_count, point_count)?;
    }
    params.shapes.iter().try_for_each(|shape| check_shape(point_count, shape))
}

fn check_shape(point_count: usize, shape: &[f64]) -> Result<()> {
    let what = "shapes";
    check::shape(what, &[point_count, 3], shape.len())?;
    check::finite(what, shape, 3)
}

fn check_map(
    what: &'static str,
    point_count: usize,
    map: Option<&[f64]>,
    [low, high]: [f64; 2],
    expected: &'static str,
) -> Result<()> {
    let Some(map) = map else { return Ok(()) };
    check::length(what, point_count, map.len())?;
    check::finite(what, map, 1)?;
    check::all(what, expected, map, |number| (low..=high).contains(&number))
}
