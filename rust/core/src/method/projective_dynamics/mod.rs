//! Loose bodies moved by affine handles, by hyper-reduced projective dynamics `[HRPD]`: `x = X + U z`.
//!
//! What does not change is made once (`ProjectiveModel`, in `coordinates` and `clusters`); a step (`substep`) minimises the
//! incremental energy (`objective`) by projecting the deformation gradients of clusters on rotations, then solving with a
//! constant matrix (`system`). What damping leaves alone is in `rigid`, what touches colliders in `skin`.

mod clusters;
mod coordinates;
mod objective;
mod placing;
mod projector;
mod rigid;
mod skin;
mod substep;
mod system;

use clusters::Clusters;
use coordinates::HandleCoordinates;
use faer::Mat;
pub use placing::Start;
pub(super) use projector::HandleProjector;
pub(crate) use substep::ProjectiveSubstep;
use system::lowest_frequency;

use crate::material::{Law, Material};
use crate::math::Sparse;
use crate::math::lanes::Packed;
use crate::mesh::TetMesh;
use crate::operators::{lumped_mass, stiffness};
use crate::subspace::{Handles, tets_of_labels};
use crate::{Error, Progress, Result};

/// A loose body that no rig moves, its vertices moved by handles: all that a step needs and does not change.
///
/// The energy is that of `[FastCD]`: as rigid as possible, `sum_t mu_t V_t |F_t - R_c(t)|^2`, with one rotation for all tets
/// of a cluster.
pub struct ProjectiveModel {
    mesh: TetMesh,
    handles: Handles,
    coordinates: HandleCoordinates,
    clusters: Clusters,
    /// `U'MU`, r x r, kg.
    mass: Mat<f64>,
    packed_mass: Packed<1>,
    /// `U'KU` along one axis, r x r, N/m.
    stiffness: Mat<f64>,
    /// What of it the clusters' mean gradients do not see.
    unseen: Mat<f64>,
    packed_unseen: Packed<1>,
    frequency: f64,
    total_mass: f64,
}

impl ProjectiveModel {
    /// Prepares a body that handles move, with a rotation for each of the clusters that tets are labelled with.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a law other than as rigid as possible; [`Error::Shape`] or [`Error::Index`] for handles,
    /// material and labels of another mesh, [`Error::Numerical`]; [`Error::Cancelled`].
    pub fn new(
        mesh: &TetMesh,
        material: &Material,
        handles: &Handles,
        labels: &[i32],
        progress: &Progress,
    ) -> Result<Self> {
        if material.law() != Law::Arap {
            let why =
                "projective dynamics projects on rotations, which is as rigid as possible alone; take arap";
            return Err(Error::Unsupported { what: "law", why });
        }
        material.check_tet_count(mesh.tets().len())?;
        handles.check_vertex_count(mesh.vertices().len())?;
        let tets = tets_of_labels(mesh, labels)?;
        progress.report(0.0)?;
        let vertex_mass = lumped_mass(mesh, material);
        let gram = handles.gram(mesh, &diagonal(&vertex_mass)?);
        progress.report(0.2)?;
        let coordinates = HandleCoordinates::new(mesh, &vertex_mass, handles, &gram);
        progress.report(0.4)?;
        let mass = coordinates.reduce(&gram);
        let stiffness = coordinates.stiffness(&handles.gram(mesh, &stiffness(mesh, material)?));
        progress.report(0.7)?;
        let clusters = Clusters::new(mesh, material, handles, &coordinates, &tets);
        let unseen = clusters.unseen(&stiffness, coordinates.affine_count());
        let frequency = lowest_frequency(&coordinates, &mass, &stiffness)?;
        progress.report(1.0)?;
        Ok(Self {
            packed_mass: packed(&mass),
            packed_unseen: packed(&unseen),
            mesh: mesh.clone(),
            handles: handles.clone(),
            coordinates,
            clusters,
            mass,
            stiffness,
            unseen,
            frequency,
            total_mass: vertex_mass.iter().sum(),
        })
    }

    /// The mesh that is simulated.
    pub fn mesh(&self) -> &TetMesh {
        &self.mesh
    }

    /// The handles that move it.
    pub fn handles(&self) -> &Handles {
        &self.handles
    }

    /// Number of clusters that share a rotation.
    pub fn cluster_count(&self) -> usize {
        self.clusters.count()
    }

    /// Frequency of the lowest mode that deforms, Hz, at which the damping ratio is meant.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// Number of coordinates r along each axis.
    fn rank(&self) -> usize {
        self.coordinates.count()
    }

    /// Displacement of the whole body by its diagonal, in the norm of its mass.
    fn unit(&self) -> f64 {
        self.total_mass.sqrt() * self.mesh.diagonal()
    }
}

impl HandleCoordinates {
    /// The stiffness of coordinates; a translation has none, exactly.
    fn stiffness(&self, gram: &Mat<f64>) -> Mat<f64> {
        let stiffness = self.reduce(gram);
        let still = |i: usize| i < self.affine_count() && i % 4 == 3;
        Mat::from_fn(self.count(), self.count(), |i, j| {
            if still(i) || still(j) { 0.0 } else { 0.5 * (stiffness[(i, j)] + stiffness[(j, i)]) }
        })
    }
}

/// A matrix as it is multiplied by.
fn packed(matrix: &Mat<f64>) -> Packed<1> {
    Packed::new(matrix.nrows(), matrix.ncols(), |row, _, column| matrix[(row, column)])
}

fn diagonal(values: &[f64]) -> Result<Sparse> {
    let entries: Vec<_> =
        (0..).zip(values).map(|(i, &value)| faer::sparse::Triplet::new(i, i, value)).collect();
    Sparse::try_new_from_triplets(values.len(), values.len(), &entries)
        .map_err(|error| Error::Numerical { what: "mass", why: format!("{error:?}") })
}
