//! Transfer of values from the points of a surface to the tet mesh around it.

use std::sync::OnceLock;

use crate::mesh::{BoundarySamples, Embedding, SurfaceMesh, TetMesh, lattice, solid_lattice};
use crate::operators::{momentum_leak, spread_to_interior};
use crate::rig::Rig;
use crate::{Progress, Result};

/// Transfers values from the points of a surface to all vertices of the surrounding tet mesh.
pub(super) struct Carrier<'a> {
    surface: &'a SurfaceMesh,
    mesh: &'a TetMesh,
    /// Boundary samples, computed on first use.
    samples: OnceLock<BoundarySamples>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(surface: &'a SurfaceMesh, mesh: &'a TetMesh) -> Self {
        Self { surface, mesh, samples: OnceLock::new() }
    }

    fn samples(&self) -> Result<&BoundarySamples> {
        if let Some(samples) = self.samples.get() {
            return Ok(samples);
        }
        let made = BoundarySamples::new(self.surface, self.mesh)?;
        Ok(self.samples.get_or_init(|| made))
    }

    /// Transfers values p x k to values n x k: from the closest point of the surface on the boundary,
    /// harmonically inside.
    pub(super) fn carry(&self, values: &[f64], k: usize) -> Result<Vec<f64>> {
        let samples = self.samples()?;
        spread_to_interior(self.mesh, samples.vertices(), &samples.sample(values, k), k)
    }

    /// Rig weights at the vertices. The harmonic extension preserves a sum of one only up to rounding,
    /// which [`Rig::new`] normalises away.
    pub(super) fn rig(&self, weights: &[f64], bone_count: usize) -> Result<Rig> {
        Rig::new(self.mesh.vertices().len(), bone_count, &self.carry(weights, bone_count)?)
    }

    /// Default leak times the painted share of it.
    pub(super) fn leak(&self, kept: Option<&[f64]>) -> Result<Vec<f64>> {
        let leak = momentum_leak(self.mesh)?;
        let Some(kept) = kept else { return Ok(leak) };
        let kept = self.carry(kept, 1)?;
        // Rounding must not push a product out of [0, 1].
        Ok(leak.iter().zip(kept).map(|(leak, kept)| leak * kept.clamp(0.0, 1.0)).collect())
    }

    /// Strength at the vertices, clamped because rounding must not make it negative.
    pub(super) fn strength(&self, strength: &[f64]) -> Result<Vec<f64>> {
        Ok(self.carry(strength, 1)?.iter().map(|strength| strength.max(0.0)).collect())
    }

    /// Transfers positive values p to values t, as products: their logarithms are transferred, then
    /// averaged over each tet's corners.
    pub(super) fn tet_values(&self, values: &[f64]) -> Result<Vec<f64>> {
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let carried = self.carry(&logarithms, 1)?;
        let mean = |tet: &[u32; 4]| (tet.iter().map(|&v| carried[v as usize]).sum::<f64>() / 4.0).exp();
        Ok(self.mesh.tets().iter().map(mean).collect())
    }

    /// The pinned tet vertices: vertices with a transferred share above a half, and the corners of every tet
    /// with a pinned point, to keep the point exactly at the rigged position.
    pub(super) fn pinned(&self, points: &[bool], embedding: &Embedding) -> Result<Vec<bool>> {
        let share: Vec<f64> = points.iter().map(|&pinned| f64::from(u8::from(pinned))).collect();
        let mut pinned: Vec<bool> = self.carry(&share, 1)?.iter().map(|&share| share > 0.5).collect();
        for (&tet, _) in embedding.tets().iter().zip(points).filter(|(_, pinned)| **pinned) {
            self.mesh.tets()[tet as usize].iter().for_each(|&vertex| pinned[vertex as usize] = true);
        }
        Ok(pinned)
    }
}

/// The function that encloses a surface in a lattice: of the inside alone, or of all cells that the surface
/// touches.
pub(super) fn enclosing(solid: bool) -> fn(&SurfaceMesh, usize, &Progress) -> Result<TetMesh> {
    if solid { solid_lattice } else { lattice }
}
