//! Models of bodies, one folder each with its data and its step.

pub mod full_space;
pub mod projective;
pub mod reduced;
pub mod skinning_modes;
pub mod tree;

use std::sync::Arc;

use crate::inputs::force_samples::ForceSamples;
use crate::kinematics::projector::Projector;
use crate::mesh::{Embedding, TetMesh};
use crate::rig::Pose;
use crate::{Error, Result};
use full_space::FullSpaceModel;
use projective::ProjectiveModel;
use reduced::ReducedModel;
use skinning_modes::SkinningModel;

/// Hint for full-space models, which have no force samples.
const AT_VERTICES: &str = "only a model of skinning modes has them; reduce forces at points instead";

/// Precomputed data of a body for simulation by one of the methods: immutable and cheap to clone.
///
/// ```
/// use jounce::Progress;
/// use jounce::body::{Body, BodyParams};
/// use jounce::mesh::SurfaceMesh;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 10, modes: 4, cubature: 12, ..BodyParams::default() };
/// let model = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?.model;
/// assert_eq!((model.coefficient_shape(), model.bone_count()), (vec![4, 3, 4], 1));
/// # Ok::<(), jounce::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone)]
pub enum Model {
    /// Fast complementary dynamics on skinning eigenmodes.
    Skinning(Arc<SkinningModel>),
    /// Hyperelastic flesh in the full space: every vertex moves.
    FullSpace(Arc<FullSpaceModel>),
    /// Hyperelastic flesh in a reduced basis.
    Reduced(Arc<ReducedModel>),
    /// Tets or a surface moved by handles, as rigid as possible, loose or attached to a rig.
    Projective(Arc<ProjectiveModel>),
}

impl Model {
    /// Number of skinning modes m, 0 of other methods.
    pub fn mode_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.mode_count(),
            Self::FullSpace(_) | Self::Reduced(_) | Self::Projective(_) => 0,
        }
    }

    /// Number of muscles with separate contraction; 0 except for full-space flesh with fibres.
    pub fn muscle_count(&self) -> usize {
        match self {
            Self::FullSpace(model) => model.muscle_count(),
            Self::Skinning(_) | Self::Reduced(_) | Self::Projective(_) => 0,
        }
    }

    /// Number of stitch groups with separate opening; 0 without stitches.
    pub fn stitch_group_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.stitch_group_count(),
            Self::FullSpace(model) => model.stitch_group_count(),
            Self::Reduced(_) | Self::Projective(_) => 0,
        }
    }

    /// Shape of the coefficients: m x 3 x 4 for modes, n x 3 vertex displacements, r for a basis, or k x 3
    /// x 4 for handles.
    pub fn coefficient_shape(&self) -> Vec<usize> {
        match self {
            Self::Skinning(model) => vec![model.mode_count(), 3, 4],
            Self::FullSpace(model) => vec![model.mesh().vertices().len(), 3],
            Self::Reduced(model) => vec![model.displacement_count()],
            Self::Projective(model) => vec![model.handles().count(), 3, 4],
        }
    }

    /// Number of coefficients in words, as "4 modes".
    pub fn size(&self) -> String {
        match self {
            Self::Skinning(model) => format!("{} modes", model.mode_count()),
            Self::FullSpace(model) => format!("{} vertices", model.mesh().vertices().len()),
            Self::Reduced(model) => format!("{} displacements", model.displacement_count()),
            Self::Projective(model) => format!("{} handles", model.handles().count()),
        }
    }

    /// Number of bones b of a pose; 0 without a rig.
    pub fn bone_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.bone_count(),
            Self::FullSpace(model) => model.bone_count(),
            Self::Reduced(model) => model.bone_count(),
            Self::Projective(model) => model.bone_count(),
        }
    }

    /// Number of clusters with a shared rotation, or of force elements; 0 in the full space.
    pub fn cluster_count(&self) -> usize {
        match self {
            Self::Skinning(model) => model.cluster_count(),
            Self::FullSpace(_) => 0,
            Self::Reduced(model) => model.sample_count(),
            Self::Projective(model) => model.cluster_count(),
        }
    }

    /// Frequency of the lowest deforming mode, in Hz: `sqrt(lambda) / (2 pi)`.
    pub fn frequency(&self) -> f64 {
        match self {
            Self::Skinning(model) => model.frequency(),
            Self::FullSpace(model) => model.frequency(),
            Self::Reduced(model) => model.frequency(),
            Self::Projective(model) => model.frequency(),
        }
    }

    /// The simulated mesh; `None` for a surface without volume.
    pub fn mesh(&self) -> Option<&TetMesh> {
        match self {
            Self::Skinning(model) => Some(model.mesh()),
            Self::FullSpace(model) => Some(model.mesh()),
            Self::Reduced(model) => Some(model.mesh()),
            Self::Projective(model) => model.mesh(),
        }
    }

    /// Rest positions of the simulated vertices, n, metres.
    pub fn vertices(&self) -> &[[f64; 3]] {
        match self {
            Self::Skinning(model) => model.mesh().vertices(),
            Self::FullSpace(model) => model.mesh().vertices(),
            Self::Reduced(model) => model.mesh().vertices(),
            Self::Projective(model) => model.vertices(),
        }
    }

    /// Sample points for force fields, for about `count` parts; see [`SkinningModel::force_samples`].
    ///
    /// # Errors
    /// [`Error::Range`] for a count of 0, [`Error::Unsupported`] for other methods.
    pub fn force_samples(&self, count: usize) -> Result<ForceSamples> {
        self.skinning("force samples", AT_VERTICES)?.force_samples(count)
    }

    /// Sample positions in a pose, k, metres; see [`SkinningModel::posed_samples`].
    ///
    /// # Errors
    /// As [`SkinningModel::posed_samples`].
    pub fn posed_samples(&self, samples: &ForceSamples, pose: Option<&Pose>) -> Result<Vec<[f64; 3]>> {
        self.skinning("force samples", AT_VERTICES)?.posed_samples(samples, pose)
    }

    /// The generalised force, m x 3 x 4, of forces on samples, k x 3 in newtons.
    ///
    /// # Errors
    /// As [`SkinningModel::reduce_sample_forces`].
    pub fn reduce_sample_forces(&self, samples: &ForceSamples, forces: &[f64]) -> Result<Vec<f64>> {
        self.skinning("force samples", AT_VERTICES)?.reduce_sample_forces(samples, forces)
    }

    /// The model of skinning modes, or an error for other methods.
    pub(crate) fn skinning(&self, what: &'static str, why: &'static str) -> Result<&SkinningModel> {
        match self {
            Self::Skinning(model) => Ok(model),
            Self::FullSpace(_) | Self::Reduced(_) | Self::Projective(_) => {
                Err(Error::Unsupported { what, why })
            }
        }
    }

    /// `true` for a loose body, without pins, constraint or rig.
    pub(crate) fn is_loose(&self) -> bool {
        match self {
            Self::FullSpace(model) => model.is_loose(),
            Self::Projective(model) => model.bone_count() == 0,
            Self::Skinning(_) | Self::Reduced(_) => false,
        }
    }

    /// `true` for a body that can be inflated.
    pub(crate) fn has_volume(&self) -> bool {
        match self {
            Self::FullSpace(model) => model.is_loose(),
            Self::Projective(model) => model.is_solid(),
            Self::Skinning(_) | Self::Reduced(_) => false,
        }
    }

    /// The model of handles; `None` for other methods.
    pub(crate) fn projective(&self) -> Option<&Arc<ProjectiveModel>> {
        match self {
            Self::Projective(model) => Some(model),
            _ => None,
        }
    }

    /// Projector from coefficients to displacements of the tet vertices, or of the points of an embedding.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Index`] for an embedding in another mesh.
    pub fn projector(&self, embedding: Option<&Embedding>) -> Result<Projector> {
        let model = match self {
            Self::Skinning(model) => model,
            Self::FullSpace(model) => return Projector::of_vertices(model.mesh(), embedding),
            Self::Reduced(model) => {
                return Projector::of_basis(model.basis().columns.as_ref(), model.mesh(), embedding);
            }
            Self::Projective(model) => return model.projector(embedding),
        };
        let (mesh, modes) = (model.mesh(), model.mode_count());
        match embedding {
            None => Projector::new(mesh.vertices(), model.weights(), modes),
            Some(embedding) => {
                let weights = embedding.interpolate(mesh, model.weights(), modes)?;
                Projector::new(embedding.points(), &weights, modes)
            }
        }
    }
}
