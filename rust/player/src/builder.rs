//! Bodies from rigged characters, with the settings that *Add Jounce* of the Blender extension chooses.

use std::sync::Arc;

use jounce::body::{Body, BodyParams, standard};
use jounce::mesh::SurfaceMesh;
use jounce::rig::Rig;
use jounce::skeleton::{Bone, hard_points};
use jounce::{Error, Progress, Result, file};

/// A rigged character in its bind pose, in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Character {
    /// Vertices of all its meshes.
    pub points: Vec<[f64; 3]>,
    /// Triangles of all its meshes.
    pub triangles: Vec<[u32; 3]>,
    /// Weights of the bones at the vertices, p x b in C order; rows of sum 1.
    pub weights: Vec<f64>,
    /// Bones of the character.
    pub bones: Vec<Bone>,
    /// `true` for vertices of hard materials, p; empty for none.
    pub hinted: Vec<bool>,
}

/// A body that a player can load.
pub struct Built {
    /// Bytes of the model file.
    pub model: Vec<u8>,
    /// Factor on stiffness for [`standard::FREQUENCY`]: [`Setting::Stiffness`](crate::Setting::Stiffness).
    pub stiffness: f64,
    /// Number of tets.
    pub tets: usize,
}

impl Character {
    /// Builds the body. `progress` has the fraction that is done.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a character without flesh, and any error of [`Body::new`].
    pub fn build(&self, progress: &Arc<Progress>) -> Result<Built> {
        let surface = SurfaceMesh::new(self.points.clone(), self.triangles.clone())?;
        let hard = self.hard(&surface)?;
        let params = BodyParams::of_character(&surface, self.bones.clone(), Some(hard))?;
        let body = Body::new(&surface, &self.weights, self.bones.len(), &params, progress)?;
        Ok(Built {
            model: file::encode(&body.model)?,
            stiffness: standard::stiffness(&body.mesh, standard::FREQUENCY),
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
