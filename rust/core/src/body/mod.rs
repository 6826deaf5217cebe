//! The whole way from a rigged surface to a model, in one call.

mod build;
mod carrier;
mod core;
mod editing;
mod learning;

use std::sync::{Arc, OnceLock};

use carrier::Carrier;
use editing::Base;
pub use editing::PointStitches;
pub use learning::Lesson;

use crate::material::{Fibres, Field, Law, Material};
use crate::mesh::{Embedding, SurfaceMesh, TetMesh};
use crate::method::Model;
use crate::method::quasi_newton::{FullSpaceExtras, FullSpaceModel};
use crate::method::skinning_modes::{Cubature, OffsetExtension, OffsetReduction, OffsetSource};
use crate::rig::Rig;
use crate::skeleton::{BoneRole, SkeletonCore};
use crate::subspace::{Restraint, SkinningModes};
use crate::{Error, Progress, Result};

/// Which bones the constraint counts; the posed shape follows all of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CountingBones {
    /// All of them.
    #[default]
    All,
    /// Those that [`Rig::small_bones`] does not call small, given the bone above each bone, b.
    Large(Vec<Option<u32>>),
    /// Those that name themselves; the others are merged into the bone they name, b, as [`Rig::merged`] does.
    Merged(Vec<u32>),
}

impl CountingBones {
    /// The bone that each bone is merged into, b, itself where it counts.
    fn merging(&self, rig: &Rig, mass: &[f64]) -> Result<Vec<u32>> {
        match self {
            Self::All => Ok((0..rig.bone_count() as u32).collect()),
            Self::Large(parents) => rig.small_bones(mass, parents),
            Self::Merged(into) => Ok(into.clone()),
        }
    }
}

/// A positive quantity, one for the whole body or one at each surface point, p.
#[derive(Debug, Clone, PartialEq)]
pub enum Painted {
    /// The same everywhere.
    Uniform(f64),
    /// One at each point; between them it changes by factors, not by sums.
    Points(Vec<f64>),
}

/// What to make of a rigged surface.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyParams {
    /// Lattice cells along the longest side of the surface's bounding box.
    pub resolution: usize,
    /// Whether only what is inside of the surface counts, as in
    /// [`solid_lattice`](crate::mesh::solid_lattice); otherwise cells that the surface touches count in full.
    pub solid: bool,
    /// Number of modes m.
    pub modes: usize,
    /// 0 for global modes; above, how strongly modes are pulled to parts of the body of their own, as in
    /// [`localised_modes`](crate::subspace::localised_modes).
    pub locality: f64,
    /// Number of clusters asked for.
    pub clusters: usize,
    /// Most tets at which elastic forces are found, as [`Cubature`] has them; 0 takes the means of the clusters, as
    /// the paper does.
    pub cubature: usize,
    /// Elastic law; preserves volume only if it is [`Law::Corotated`] with a Poisson ratio above 0.
    pub law: Law,
    /// Young's modulus, Pa.
    pub young: Painted,
    /// Poisson ratio.
    pub poisson: f64,
    /// Density, kg/m^3.
    pub density: f64,
    /// Share of the default leak that is kept at each surface point, p, in [0, 1]; `None` keeps all of it.
    pub leak: Option<Vec<f64>>,
    /// How much of the rig's acceleration is felt at each surface point, p, >= 0; `None` is 1 everywhere.
    pub strength: Option<Vec<f64>>,
    /// The surface points, p, that stay where the rig puts them; `None` for none.
    pub pinned: Option<Vec<bool>>,
    /// What follows the bones because it is no flesh; `None` for nothing. With it the modes are complementary to the rig
    /// only in parts of the body without any core, and `leak` scales `strength`.
    pub core: Option<SkeletonCore>,
    /// The bones that the modes are complementary to.
    pub bones: CountingBones,
    /// Shapes that the modes are complementary to as well, p x 3 each: displacements of the surface at rest, metres.
    pub shapes: Vec<Vec<f64>>,
    /// Springs between points of the surface.
    pub stitches: PointStitches,
    /// Whether the factor is kept, so that stitches and stiffness can be changed at little cost.
    pub editable: bool,
    /// Of the random start of the clusters, and of the states that a cubature is found on.
    pub seed: u64,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            resolution: 32,
            solid: true,
            modes: 16,
            locality: 0.0,
            clusters: 100,
            cubature: 0,
            law: Law::Arap,
            young: Painted::Uniform(1e4),
            poisson: 0.0,
            density: 1000.0,
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

/// A rigged surface with everything that its simulation needs.
pub struct Body {
    /// What is simulated.
    pub mesh: Arc<TetMesh>,
    /// How the surface's points hang in it.
    pub embedding: Arc<Embedding>,
    /// The weights of the surface, carried to the tet vertices.
    pub rig: Arc<Rig>,
    /// Leak at the tet vertices, n, in [0, 1].
    pub leak: Vec<f64>,
    /// Where the modes vanish, n: what is pinned, and the core.
    pub pinned: Vec<bool>,
    /// What the flesh of each bone does, b, none of them automatic; empty without a core.
    pub roles: Vec<BoneRole>,
    /// The bone that each bone is merged into in the constraint, b, itself where it counts.
    pub merged: Vec<u32>,
    /// Young's modulus and the other parameters, of each tet where they are painted.
    pub material: Arc<Material>,
    /// Rig-complementary skinning modes.
    pub modes: Arc<SkinningModes>,
    /// Cluster of each tet, t.
    pub labels: Vec<i32>,
    /// The tets at which elastic forces are found; `None` where they are the means of the clusters.
    pub cubature: Option<Cubature>,
    /// The model, ready to simulate.
    pub model: Model,
    /// The largest bound of the relative error of an eigenvalue, after [`Body::new_like`]; 0 as built. As
    /// [`ModesUpdate::residuals`](crate::subspace::ModesUpdate) has it.
    pub residual: f64,
    /// How far the modes may be off at each vertex of the mesh, n, as [`ModesUpdate::apart`](crate::subspace::ModesUpdate)
    /// has it; `None` as built.
    pub apart: Option<Arc<Vec<f64>>>,
    /// The bones and shapes that count.
    counting: Arc<Rig>,
    /// What the modes are complementary to; `None` where the core holds all.
    tie: Option<Arc<Rig>>,
    /// What bodies with other stitches or another stiffness are made from; only of an editable one.
    base: Option<Arc<Base>>,
    /// What it was made by.
    params: Arc<BodyParams>,
    surface: SurfaceMesh,
    /// The weights at the points of the surface.
    surface_rig: Rig,
    /// The map of strength at the tet vertices, n.
    strength: Option<Vec<f64>>,
    /// Made when first needed.
    offsets: OnceLock<OffsetReduction>,
    vertex_offsets: OnceLock<OffsetExtension>,
}

impl Body {
    /// Goes the whole way: lattice, weights and maps on it, modes, clusters, model.
    ///
    /// Weights, p x b in C order with rows that sum to one, are taken at the point of the surface closest to each
    /// lattice vertex on the boundary, and spread inside harmonically. So are the maps: the leak of a tet vertex is
    /// [`momentum_leak`](crate::operators::momentum_leak) times what `params.leak` says there; painted stiffness is
    /// carried as its logarithm and averaged over each tet's corners; strength as it is; pinned are the tet vertices whose surroundings
    /// are pinned by more than a half, and the corners of every tet that holds a pinned point. Beside a core the share of
    /// the leak that is kept multiplies the strength.
    ///
    /// # Errors
    /// Whatever a stage refuses; [`Error::Cancelled`].
    pub fn new(
        surface: &SurfaceMesh,
        weights: &[f64],
        bone_count: usize,
        params: &BodyParams,
        progress: &Progress,
    ) -> Result<Self> {
        Self::new_like(None, surface, weights, bone_count, params, progress)
    }

    /// Reduces what a rig adds to linear skinning at the points of the surface, p x 3 in world space and metres, to
    /// what [`Drive::offsets`](crate::method::Drive::offsets) takes.
    ///
    /// The first call prepares the reduction; a body whose rig is linear pays nothing.
    ///
    /// # Errors
    /// As [`OffsetReduction::reduce`]; [`Error::Numerical`].
    pub fn reduce_offsets(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        self.offset_reduction()?.reduce(offsets)
    }

    /// Carries what a rig adds to linear skinning at the points of the surface, p x 3 in world space and metres, to the tet
    /// vertices, n x 3: what [`Drive::offsets`](crate::method::Drive::offsets) takes in the full space.
    ///
    /// The first call prepares the carrying.
    ///
    /// # Errors
    /// As [`OffsetReduction::reduce`]; [`Error::Numerical`].
    pub fn vertex_offsets(&self, offsets: &[f64]) -> Result<Vec<f64>> {
        if let Some(ready) = self.vertex_offsets.get() {
            return ready.extend(offsets);
        }
        let made = OffsetExtension::new(&self.mesh, &self.rig, &self.surface, &self.surface_rig)?;
        self.vertex_offsets.get_or_init(|| made).extend(offsets)
    }

    /// Carries a value at each point of the surface, p, to the tet vertices, n, as maps are: the boundary takes those of the
    /// closest place of the surface, and inside they spread harmonically.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for values that are not one number a point.
    pub fn spread(&self, values: &[f64]) -> Result<Vec<f64>> {
        check_length("values", self.embedding.points().len(), values.len())?;
        if let Some((element, &value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NotFinite { what: "values", element, value });
        }
        Carrier::new(&self.surface, &self.mesh).carry(values, 1)
    }

    /// The same body in the full space: its mesh, rig, bounds, strength and stitches, of its own or another material, with
    /// fibres or without.
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

    fn offset_reduction(&self) -> Result<&OffsetReduction> {
        if let Some(ready) = self.offsets.get() {
            return Ok(ready);
        }
        let why = "a full-space model takes the offsets of its vertices, (n, 3)";
        let model = self.model.skinning("offsets", why)?;
        let source = OffsetSource {
            material: &self.material,
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

/// The rig that counts, with shapes of the surface carried to the tet vertices as offsets are.
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

/// Refuses maps of another surface and stiffness that is none, before anything is computed.
fn check_maps(point_count: usize, bone_count: usize, params: &BodyParams) -> Result<()> {
    let young = match &params.young {
        Painted::Uniform(young) => Field::Uniform(*young),
        Painted::Points(young) => {
            check_length("young", point_count, young.len())?;
            Field::PerTet(young.clone())
        }
    };
    let (poisson, density) = (Field::Uniform(params.poisson), Field::Uniform(params.density));
    Material::new(params.law, young, poisson, density)?;
    check_map("leak", point_count, params.leak.as_deref(), [0.0, 1.0], "values in [0, 1]")?;
    check_map("strength", point_count, params.strength.as_deref(), [0.0, f64::MAX], "numbers >= 0")?;
    if let Some(pinned) = &params.pinned {
        check_length("pinned", point_count, pinned.len())?;
    }
    if let Some(core) = &params.core {
        core.check(bone_count, point_count)?;
    }
    params.shapes.iter().try_for_each(|shape| check_shape(point_count, shape))
}

fn check_shape(point_count: usize, shape: &[f64]) -> Result<()> {
    let what = "shapes";
    if shape.len() != 3 * point_count {
        let (expected, got) = (format!("({point_count}, 3)"), format!("{} numbers", shape.len()));
        return Err(Error::Shape { what, expected, got });
    }
    match shape.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(Error::NotFinite { what, element: at / 3, value: shape[at] }),
        None => Ok(()),
    }
}

fn check_length(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Shape { what, expected: format!("({expected},)"), got: format!("({got},)") })
}

fn check_map(
    what: &'static str,
    point_count: usize,
    map: Option<&[f64]>,
    [low, high]: [f64; 2],
    expected: &'static str,
) -> Result<()> {
    let Some(map) = map else { return Ok(()) };
    check_length(what, point_count, map.len())?;
    if let Some(element) = map.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { what, element, value: map[element] });
    }
    match map.iter().find(|v| !(low..=high).contains(*v)) {
        Some(&got) => Err(Error::Range { what, expected, got }),
        None => Ok(()),
    }
}
