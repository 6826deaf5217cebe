//! The whole way from a rigged surface to a model, in one call.

use std::sync::Arc;

use crate::material::{Field, Law, Material};
use crate::mesh::{ClosestPoint, Embedding, SurfaceMesh, TetMesh, closest_points, lattice};
use crate::method::{Model, skinning_modes::SkinningModel};
use crate::operators::{momentum_leak, spread_to_interior};
use crate::rig::Rig;
use crate::subspace::{SkinningModes, cluster_tets, skinning_modes};
use crate::{Error, Progress, Result};

/// What to make of a rigged surface.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyParams {
    /// Lattice cells along the longest side of the surface's bounding box.
    pub resolution: usize,
    /// Number of modes m.
    pub modes: usize,
    /// Number of clusters asked for.
    pub clusters: usize,
    /// Young's modulus, Pa.
    pub young: f64,
    /// Poisson ratio.
    pub poisson: f64,
    /// Density, kg/m^3.
    pub density: f64,
    /// Share of the default leak that is kept at each surface point, p, in [0, 1]; `None` keeps all of it.
    pub leak: Option<Vec<f64>>,
    /// Of the random start of the clusters.
    pub seed: u64,
}

impl Default for BodyParams {
    fn default() -> Self {
        Self {
            resolution: 32,
            modes: 16,
            clusters: 100,
            young: 1e4,
            poisson: 0.0,
            density: 1000.0,
            leak: None,
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
    /// Rig-complementary skinning modes.
    pub modes: Arc<SkinningModes>,
    /// Cluster of each tet, t.
    pub labels: Vec<i32>,
    /// The model, ready to simulate.
    pub model: Model,
}

impl Body {
    /// Goes the whole way: lattice, weights and leak on it, modes, clusters, model.
    ///
    /// Weights, p x b in C order with rows that sum to one, are taken at the point of the surface closest to each
    /// lattice vertex on the boundary, and spread inside harmonically. The leak of a tet vertex is
    /// [`momentum_leak`] times what `params.leak` says there, carried in the same way.
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
        let points = surface.points();
        Rig::new(points.len(), bone_count, weights)?;
        check_leak(points.len(), params.leak.as_deref())?;
        let field = Field::Uniform;
        let material =
            Material::new(Law::Arap, field(params.young), field(params.poisson), field(params.density))?;

        progress.enter("lattice", 0.0, 0.15)?;
        let mesh = lattice(surface, params.resolution, progress)?;
        progress.enter("embedding", 0.15, 0.2)?;
        let embedding = Embedding::new(&mesh, points.to_vec())?;
        progress.enter("weights", 0.2, 0.3)?;
        let carrier = Carrier::new(surface, &mesh)?;
        let rig = carrier.rig(weights, bone_count)?;
        progress.enter("leak", 0.3, 0.35)?;
        let leak = carrier.leak(params.leak.as_deref())?;
        progress.enter("modes", 0.35, 0.85)?;
        let modes = skinning_modes(&mesh, &material, params.modes, Some(&rig), Some(&leak), progress)?;
        progress.enter("clusters", 0.85, 0.95)?;
        let labels = cluster_tets(&mesh, &modes, params.clusters, params.seed, progress)?;
        progress.enter("model", 0.95, 1.0)?;
        let model = SkinningModel::new(&mesh, &material, &modes, &labels, Some(&rig))?;
        progress.report(1.0)?;
        Ok(Self {
            mesh: Arc::new(mesh),
            embedding: Arc::new(embedding),
            rig: Arc::new(rig),
            leak,
            modes: Arc::new(modes),
            labels,
            model: Model::Skinning(Arc::new(model)),
        })
    }
}

/// Carries values from the points of a surface to all vertices of a tet mesh around it.
struct Carrier<'a> {
    surface: &'a SurfaceMesh,
    mesh: &'a TetMesh,
    boundary: Vec<u32>,
    closest: Vec<ClosestPoint>,
}

impl<'a> Carrier<'a> {
    fn new(surface: &'a SurfaceMesh, mesh: &'a TetMesh) -> Result<Self> {
        let boundary = mesh.boundary_vertices();
        let queries: Vec<_> = boundary.iter().map(|&v| mesh.vertices()[v as usize]).collect();
        let closest = closest_points(surface, &queries)?;
        Ok(Self { surface, mesh, boundary, closest })
    }

    /// Values p x k to values n x k: of the closest point on the boundary, harmonic inside.
    fn carry(&self, values: &[f64], k: usize) -> Result<Vec<f64>> {
        let mut known = vec![0.0; self.boundary.len() * k];
        for (row, closest) in known.chunks_exact_mut(k).zip(&self.closest) {
            let corners = self.surface.triangles()[closest.triangle as usize];
            for (point, share) in corners.into_iter().zip(closest.barycentric) {
                let at = point as usize * k;
                row.iter_mut().zip(&values[at..at + k]).for_each(|(sum, value)| *sum += share * value);
            }
        }
        spread_to_interior(self.mesh, &self.boundary, &known, k)
    }

    /// The harmonic extension keeps a sum of one only up to rounding, and [`Rig::new`] normalises that away.
    fn rig(&self, weights: &[f64], bone_count: usize) -> Result<Rig> {
        Rig::new(self.mesh.vertices().len(), bone_count, &self.carry(weights, bone_count)?)
    }

    fn leak(&self, kept: Option<&[f64]>) -> Result<Vec<f64>> {
        let leak = momentum_leak(self.mesh)?;
        let Some(kept) = kept else { return Ok(leak) };
        let kept = self.carry(kept, 1)?;
        // Rounding must not push a product out of [0, 1].
        Ok(leak.iter().zip(kept).map(|(leak, kept)| leak * kept.clamp(0.0, 1.0)).collect())
    }
}

fn check_leak(point_count: usize, leak: Option<&[f64]>) -> Result<()> {
    let Some(leak) = leak else { return Ok(()) };
    if leak.len() != point_count {
        return Err(Error::Shape {
            what: "leak",
            expected: format!("({point_count},)"),
            got: format!("({},)", leak.len()),
        });
    }
    if let Some(element) = leak.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { what: "leak", element, value: leak[element] });
    }
    match leak.iter().find(|v| !(0.0..=1.0).contains(*v)) {
        Some(&got) => Err(Error::Range { what: "leak", expected: "values in [0, 1]", got }),
        None => Ok(()),
    }
}
