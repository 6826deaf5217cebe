//! Fast complementary dynamics: flesh in skinning eigenmodes, with one rotation a cluster `[FastCD]`.
//!
//! The displacement is `u = B z`, `B` carrying one affine transform a mode. All data of mesh size is
//! reduced once (`reduce`). A step (`step`) descends on its energy (`objective`) in a diagonal metric; an
//! evaluation takes the rotations of the clusters (`local`).

pub(crate) mod body;
pub(crate) mod clusters;
mod contact;
pub(crate) mod cubature;
mod damping;
pub(crate) mod data;
pub(crate) mod diagonal;
pub(crate) mod drag;
pub(crate) mod energy;
pub(crate) mod limit;
pub(crate) mod limit_places;
pub(crate) mod local;
pub(crate) mod metric;
pub(crate) mod objective;
pub(crate) mod offsets;
pub(crate) mod opening;
pub(crate) mod reduce;
pub(crate) mod rig_pose;
pub(crate) mod samples;
pub(crate) mod spring;
pub(crate) mod step;
pub(crate) mod stepper;
pub(crate) mod stitches;
pub(crate) mod stretch;
pub(crate) mod stretch_bound;
pub(crate) mod stretch_places;
pub(crate) mod tangent;
pub(crate) mod truncate;

use std::sync::OnceLock;

use faer::Mat;

use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::points::Points;
use crate::kinematics::rig_rows::set_pose;
use crate::material::Material;
use crate::math::lanes::{Packed, PackedBoth, PackedSparse};
use crate::mesh::TetMesh;
use crate::rig::{Pose, Rig};
use crate::subspace::SkinningModes;
use crate::{Result, check};

pub use data::Extras;
pub(crate) use data::SkinningData;
use data::volumetric;
use limit_places::LimitPlaces;
pub use offsets::{OffsetReduction, OffsetSource};
pub use spring::PointSpring;
pub use stepper::SkinningStepper;
use stitches::PackedSprings;
use stretch_places::PackedPlaces;

/// Relative eigenvalue below which a mode counts as rigid.
const RIGID_MODE: f64 = 1e-7;

/// A body reduced to skinning eigenmodes and clusters; immutable.
///
/// Elastic energy: `sum over tets of V (mu |F - R S|^2 + lambda / 2 (tr(S R'F) - tr S^2)^2)`, as rigid as
/// possible without the second term, with R in clusters `[FastCD eq. 46-49, C.2]` or in the tets of a
/// [`Cubature`](crate::sampling::cubature::Cubature); S is the identity, or follows the pose
/// ([`SimulationParams::pose_rest`](crate::inputs::settings::SimulationParams::pose_rest)). The
/// quadratic part in z of the first term is exact with clusters; the second is that of the clusters'
/// mean F. Stitches add `sum_s k_s / 2 |x_a - x_b|^2` exactly ([`Stitches`](crate::operators::Stitches)),
/// wherever the rest shape lies.
pub struct SkinningModel {
    data: SkinningData,
    coordinates: Coordinates,
    /// `Phi`, with rows of Z as items.
    basis: PackedBoth,
    /// `Phi' B'MB`.
    reduce: Packed<1>,
    rig_mass: Packed<1>,
    rig_stiffness: Packed<1>,
    rig_spread: Packed<1>,
    /// [`ReducedStitches`]: `rig` and `spread`.
    stitches: Option<[Packed<1>; 2]>,
    springs: Option<PackedSprings>,
    cluster_basis: Packed<3>,
    cluster_rig: PackedSparse<3>,
    /// Cluster weights in the lanes of `cluster_basis`, 0 in padding lanes.
    lane_weights: Vec<f64>,
    /// Cluster volumes in the same lanes.
    lane_volumes: Vec<f64>,
    /// Diagonal of `Phi' G'vG Phi`, r, 1/s^2: upper bound of the volume resistance's share in the spectrum.
    volumetric: Vec<f64>,
    /// `true` if any cluster resists volume change.
    is_volumetric: bool,
    /// Places of the displacement limit; computed on first use.
    limit_places: OnceLock<LimitPlaces>,
    /// Places of the stretch limit.
    stretch_places: PackedPlaces,
}

impl SkinningModel {
    /// Reduces a body: `labels` (t) is the cluster of each tet, from 0; unused numbers are skipped.
    ///
    /// Without a rig the body is free: it starts in its rest shape and a step takes no pose.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Index`](crate::Error::Index) or
    /// [`Error::NotFinite`](crate::Error::NotFinite) if the parts do not fit the mesh;
    /// [`Error::Numerical`](crate::Error::Numerical) for modes without motion.
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        modes: &SkinningModes,
        labels: &[i32],
        rig: Option<&Rig>,
    ) -> Result<Self> {
        Self::with_extras(mesh, material, modes, labels, rig, &Extras::default())
    }

    /// As [`SkinningModel::new`], with optional inputs.
    ///
    /// # Errors
    /// As [`SkinningModel::new`]; [`Error::Shape`](crate::Error::Shape),
    /// [`Error::NotFinite`](crate::Error::NotFinite) or [`Error::Range`](crate::Error::Range) for the extras.
    pub fn with_extras(
        mesh: &TetMesh,
        material: &Material,
        modes: &SkinningModes,
        labels: &[i32],
        rig: Option<&Rig>,
        extras: &Extras<'_>,
    ) -> Result<Self> {
        Self::from_data(reduce::reduce(mesh, material, modes, labels, rig, extras)?)
    }

    /// Checks that the parts fit together, and packs them for the step.
    pub(crate) fn from_data(data: SkinningData) -> Result<Self> {
        data.check()?;
        let packed = |m: &Mat<f64>| Packed::of(m.as_ref());
        let (basis, rig) = (&data.cluster_basis, &data.cluster_rig);
        let cluster_basis =
            Packed::new(basis.nrows() / 3, basis.ncols(), |i, row, j| basis[(3 * i + row, j)]);
        let cluster_rig = PackedSparse::new(rig.nrows() / 3, rig.ncols(), |i, row, j| rig[(3 * i + row, j)]);
        let lanes = cluster_basis.blocks() * cluster_basis.lanes();
        let in_lanes = |v: &[f64]| (0..lanes).map(|i| v.get(i).copied().unwrap_or(0.0)).collect();
        Ok(Self {
            coordinates: Coordinates::of_mesh(&data.mesh),
            basis: PackedBoth::of(data.basis.as_ref()),
            reduce: packed(&data.reduction),
            rig_mass: packed(&data.rig_mass),
            rig_stiffness: packed(&data.rig_stiffness),
            rig_spread: packed(&data.rig_spread),
            stitches: data
                .stitches
                .as_ref()
                .map(|stitches| [packed(&stitches.rig), packed(&stitches.spread)]),
            springs: data.springs().map(PackedSprings::new),
            cluster_rig,
            lane_weights: in_lanes(&data.cluster_weights),
            lane_volumes: in_lanes(&data.cluster_volumes),
            volumetric: (0..data.spectrum.len()).map(|i| volumetric(&data, i)).collect(),
            is_volumetric: data.cluster_volumes.iter().any(|&v| v > 0.0),
            limit_places: OnceLock::new(),
            stretch_places: PackedPlaces::new(&data.stretch),
            cluster_basis,
            data,
        })
    }

    /// The contents of a model file.
    pub(crate) fn data(&self) -> &SkinningData {
        &self.data
    }

    /// The mesh.
    pub fn mesh(&self) -> &TetMesh {
        &self.data.mesh
    }

    /// Weights of the modes at the mesh vertices, n x m in C order.
    pub fn weights(&self) -> &[f64] {
        &self.data.weights
    }

    /// Eigenvalues of the modes, m, ascending, 1/s^2.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.data.eigenvalues
    }

    /// Number of modes m.
    pub fn mode_count(&self) -> usize {
        self.data.eigenvalues.len()
    }

    /// Number of bones b, 0 without a rig.
    pub fn bone_count(&self) -> usize {
        self.data.bones
    }

    /// Number of stitch groups with separate opening.
    pub fn stitch_group_count(&self) -> usize {
        let groups = self.data.springs().into_iter().flat_map(|springs| &springs.groups);
        groups.max().map_or(0, |&highest| highest as usize + 1)
    }

    /// Number of clusters with a tet, or of cubature tets.
    pub fn cluster_count(&self) -> usize {
        self.data.cluster_weights.len()
    }

    /// Number of clusters with known centres of mass.
    pub(crate) fn center_count(&self) -> usize {
        self.data.center_masses.len()
    }

    /// The cubature tets, c; empty with clusters' means.
    pub fn cubature_tets(&self) -> &[u32] {
        &self.data.cubature_tets
    }

    /// The tets with a stretch limit, w.
    pub fn stretch_tets(&self) -> &[u32] {
        &self.data.stretch.tets
    }

    /// Dimension r of the span of the modes, counting xyz as one: 4m minus linear dependencies.
    pub fn rank(&self) -> usize {
        self.data.spectrum.len()
    }

    /// Mass of the body, kg.
    pub fn mass(&self) -> f64 {
        self.data.mass
    }

    /// Diagonal of the body's bounding box, metres.
    pub(crate) fn diagonal(&self) -> f64 {
        2.0 * self.coordinates.size
    }

    /// Mass norm of a displacement of the whole body by one diagonal.
    pub(crate) fn unit(&self) -> f64 {
        self.mass().sqrt() * self.diagonal()
    }

    /// Frequency of the lowest deforming mode, `sqrt(lambda) / (2 pi)`, in Hz; 0 without one.
    pub fn frequency(&self) -> f64 {
        let eigenvalues = &self.data.eigenvalues;
        let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
        let lowest =
            eigenvalues.iter().copied().filter(|&l| l > RIGID_MODE * largest).fold(f64::INFINITY, f64::min);
        if lowest.is_finite() { lowest.sqrt() / std::f64::consts::TAU } else { 0.0 }
    }

    fn limit_places(&self) -> &LimitPlaces {
        self.limit_places.get_or_init(|| LimitPlaces::new(&self.data, &self.coordinates))
    }

    /// Converts a pose into 4 rows a handle, in the body's coordinates.
    fn set_pose(&self, pose: Option<&Pose>, rows: &mut [[f64; 3]]) -> Result<()> {
        set_pose(&self.coordinates, self.data.bones, pose, rows)
    }

    /// Converts a generalised force, m x 3 x 4, to the reduced coordinates, r rows.
    fn enter_force(&self, force: &[f64], rows: &mut [[f64; 3]], out: &mut [[f64; 3]]) -> Result<()> {
        check::shape("force", &[self.mode_count(), 3, 4], force.len())?;
        check::finite("force", force, 12)?;
        let modes = force.as_chunks::<4>().0.as_chunks::<3>().0;
        for (rows, force) in rows.as_chunks_mut::<4>().0.iter_mut().zip(modes) {
            *rows = self.coordinates.enter_force(force);
        }
        out.fill([0.0; 3]);
        self.basis.pull_back(rows, out);
        Ok(())
    }

    /// Response rows, r, of a generalised force along the first axis.
    fn row_of_force(&self, force: &[f64]) -> Result<Vec<f64>> {
        let mut rows = vec![[0.0; 3]; 4 * self.mode_count()];
        let mut reduced = vec![[0.0; 3]; self.rank()];
        self.enter_force(force, &mut rows, &mut reduced)?;
        Ok(reduced.iter().map(|row| row[0]).collect())
    }

    /// Z of reduced coordinates, m x 3 x 4 in C order.
    fn leave_coefficients(&self, reduced: &[[f64; 3]], rows: &mut [[f64; 3]], out: &mut [f64]) {
        self.basis.displace(reduced, rows);
        for (rows, out) in rows.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<12>().0) {
            out.copy_from_slice(self.coordinates.leave(rows).as_flattened());
        }
    }
}
