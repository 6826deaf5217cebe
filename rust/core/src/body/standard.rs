//! Values for the flesh of characters where nothing else is asked for.
//!
//! The one home of these defaults: [`BodyParams::default`](super::BodyParams::default) has them, and so do
//! `Body` of the Python module, characters of USD, the player, the page, and *Add Jounce* in Blender before
//! it fits the flesh to a shot.

use crate::inputs::SimulationParams;
use crate::mesh::{SurfaceMesh, TetMesh, lattice};
use crate::{Progress, Result};

/// Number of skinning modes of a draft, and of tets of its cubature.
///
/// Drafts are off the final motion by 48 percent, in the median of twenty characters. On firmer flesh they
/// were 28 percent off, without limits 20, with 16 modes 32, with 100 tets 31, and without a cubature 42.
pub const MODES: usize = 24;
/// As [`MODES`].
pub const CUBATURE: usize = 140;
/// Number of tets of a body: enough to separate fingers and ears from their neighbours, few enough for a
/// build in a second.
pub const TETS: usize = 12_000;
/// Amount of the skeleton core: it reaches four tenths of the way from the bones to the surface, and fills
/// parts thinner than a forearm.
pub const CORE: f64 = 0.5;
/// Young's modulus, Pa; the frequency sets a factor on it.
pub const YOUNG: f64 = 1e4;
/// Density, kg/m^3.
pub const DENSITY: f64 = 1000.0;
/// Frequency of flesh of the body's size, Hz.
pub const FREQUENCY: f64 = 5.0;
/// Damping ratio.
pub const DAMPING: f64 = 0.12;
/// Substeps a frame.
pub const SUBSTEPS: u32 = 4;
/// Share of the rig's acceleration felt as constant between two poses: a third less jitter than along the
/// path, in the median of seventeen characters.
pub const SMOOTHING: f64 = 1.0;
/// Largest displacement anywhere, as a share of the diagonal.
pub const LIMIT: f64 = 0.25;
/// Largest change of a length against the rig's own, as a share.
pub const STRETCH: f64 = 0.4;

/// Resolution for estimating the number of tets, and the power of the resolution with which it grows:
/// between those of surfaces and volumes, 2.5 to 2.8 on characters of all kinds.
const FIRST: usize = 24;
const GROWTH: f64 = 2.65;
/// Range of estimated resolutions.
const RANGE: (f64, f64) = (16.0, 64.0);

/// Cells along the longest side for about a given number of tets, between 16 and 64.
///
/// # Errors
/// As [`lattice`].
pub fn resolution(surface: &SurfaceMesh, tets: usize, progress: &Progress) -> Result<usize> {
    let first = lattice(surface, FIRST, progress)?.tets().len();
    let cells = FIRST as f64 * (tets as f64 / first as f64).powf(1.0 / GROWTH);
    Ok(cells.clamp(RANGE.0, RANGE.1).round_ties_even() as usize)
}

/// Settings of a motion. Its stiffness is that of the model: see [`stiffness`].
pub fn motion() -> SimulationParams {
    SimulationParams {
        substeps: SUBSTEPS,
        damping: DAMPING,
        smoothing: SMOOTHING,
        limit: Some(LIMIT),
        stretch: Some(STRETCH),
        ..SimulationParams::default()
    }
}

/// Frequency of a pressure wave across a cube of [`YOUNG`], [`DENSITY`] and a given volume, m^3, in Hz:
/// `sqrt(E / rho) / V^(1/3)`. Bones and pins do not change it; the lowest mode of a body on bones is near.
pub fn size_frequency(volume: f64) -> f64 {
    (YOUNG / DENSITY).sqrt() / volume.powf(1.0 / 3.0)
}

/// Factor on the stiffness of a body in a mesh for a frequency of its size, Hz.
pub fn stiffness(mesh: &TetMesh, frequency: f64) -> f64 {
    (frequency / size_frequency(mesh.volumes().iter().sum())).powi(2)
}
