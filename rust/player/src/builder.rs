//! Bodies from rigged characters, with the settings that *Add Jounce* of the Blender extension chooses.

use std::sync::Arc;

use jounce::body::{Body, BodyParams, Painted};
use jounce::mesh::{SurfaceMesh, lattice};
use jounce::rig::Rig;
use jounce::skeleton::{Bone, SkeletonCore, hard_points};
use jounce::{Error, Progress, Result, file};

/// Number of tets: enough to separate fingers and ears from their neighbours, few enough for a quick build.
pub const TETS: f64 = 12_000.0;
/// Resolution for estimating the number of tets, and the power with which it grows.
pub const FIRST_RESOLUTION: usize = 24;
/// The number of tets grows with this power of the resolution.
pub const GROWTH: f64 = 2.65;
/// Fewest and most cells along the longest side.
pub const RESOLUTIONS: [f64; 2] = [16.0, 64.0];
/// Share of the flesh that follows the bones.
pub const BONE_CORE: f64 = 0.5;
/// Number of modes.
pub const MODES: usize = 24;
/// Number of clusters.
pub const CLUSTERS: usize = 140;
/// Frequency of flesh of the body's size, Hz.
pub const FREQUENCY: f64 = 5.0;
/// Young's modulus, Pa.
const YOUNG: f64 = 1e4;
/// Density, kg/m^3.
const DENSITY: f64 = 1000.0;

/// A rigged character in its bind pose, in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Character {
    /// Vertices of all its meshes.
    pub points: Vec<[f64; 3]>,
    /// Triangles of all its meshes.
    pub triangles: Vec<[u32; 3]>,
    /// Weights of the bones at the vertices, p x b in C order; rows of sum 1.
    pub weights: Vec<f64>,
    /// Its bones.
    pub bones: Vec<Bone>,
    /// `true` for vertices of hard materials, p; empty for none.
    pub hinted: Vec<bool>,
}

/// A body that a player can load.
pub struct Built {
    /// Bytes of the model file.
    pub model: Vec<u8>,
    /// Factor on the stiffness for [`FREQUENCY`]: [`Setting::Stiffness`](crate::Setting::Stiffness).
    pub stiffness: f64,
    /// Number of tets.
    pub tets: usize,
}

/// Cells along the longest side for about [`TETS`] tets.
pub fn resolution(surface: &SurfaceMesh) -> Result<usize> {
    let first = lattice(surface, FIRST_RESOLUTION, &Progress::default())?;
    let cells = FIRST_RESOLUTION as f64 * (TETS / first.tets().len() as f64).powf(1.0 / GROWTH);
    Ok(cells.clamp(RESOLUTIONS[0], RESOLUTIONS[1]).round_ties_even() as usize)
}

impl Character {
    /// Builds the body. `progress` has the fraction that is done.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a character without flesh, and any error of [`Body::new`].
    pub fn build(&self, progress: &Arc<Progress>) -> Result<Built> {
        let surface = SurfaceMesh::new(self.points.clone(), self.triangles.clone())?;
        let hard = self.hard(&surface)?;
        let cells = resolution(&surface)?;
        let core = SkeletonCore {
            bones: self.bones.clone(),
            amount: BONE_CORE,
            rigid: Some(hard.clone()),
            resolution: Some(cells),
            anatomy: true,
            ..SkeletonCore::default()
        };
        let params = BodyParams {
            resolution: cells,
            modes: MODES,
            clusters: CLUSTERS,
            driven: true,
            young: Painted::Uniform(YOUNG),
            density: DENSITY,
            core: Some(core),
            ..BodyParams::default()
        };
        let body = Body::new(&surface, &self.weights, self.bones.len(), &params, progress)?;
        let volume: f64 = body.mesh.volumes().iter().sum();
        let built = (YOUNG / DENSITY).sqrt() / volume.cbrt();
        Ok(Built {
            model: file::encode(&body.model)?,
            stiffness: (FREQUENCY / built).powi(2),
            tets: body.mesh.tets().len(),
        })
    }

    /// Points of hard things.
    fn hard(&self, surface: &SurfaceMesh) -> Result<Vec<bool>> {
        let rig = Rig::new(self.points.len(), self.bones.len(), &self.weights)?;
        let hinted = (!self.hinted.is_empty()).then_some(&self.hinted[..]);
        let hard = hard_points(surface, &rig, self.bones.len(), hinted);
        if hard.iter().all(|&hard| hard) {
            let why = "it follows its bones as a whole, as a prop does; give it weights that blend";
            return Err(Error::Unsupported { what: "flesh", why });
        }
        Ok(hard)
    }
}
