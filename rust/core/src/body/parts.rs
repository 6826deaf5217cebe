//! Parts of a body: stiffness by a frequency of their own, and strength.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::material::{Field, Law, Material};
use crate::mesh::{TetMesh, bounds};
use crate::operators::Stitches;
use crate::skeleton::{Anatomy, FoundPart, Part, SkeletonCore};
use crate::subspace::{LinearProblem, Restraint};
use crate::{Progress, Result};

/// Weight of a part from which on a vertex moves when the part vibrates alone.
const OWN: f64 = 0.4;
/// Share of a part's vertices that its depth is taken from.
const DEEP: f64 = 0.95;
/// Least number of free vertices of a part with a frequency.
const LEAST: usize = 4;
/// Share of the body's reference frequency below which a part hangs on nothing.
const LOOSE: f64 = 0.02;

/// The anatomy of a body, with the factor on the stiffness that gives each part its usual frequency.
pub(super) struct Parts {
    found: Vec<FoundPart>,
    share: Vec<f64>,
    /// Logarithm of the factor, of each part; `None` for parts without a frequency.
    firmness: Vec<Option<f64>>,
    /// Corners of each tet.
    tets: Vec<[u32; 4]>,
}

impl Parts {
    /// Finds the lowest frequency of each part with all else held. pinned: vertices of the core, n.
    pub(super) fn new(mesh: &TetMesh, anatomy: Anatomy, pinned: &[bool]) -> Result<Self> {
        let found = anatomy.parts;
        // Without any other part, the rest is the body, whose frequency is set as a whole.
        let firmness = if found.iter().all(|found| found.part == Part::Rest) {
            vec![Some(0.0); found.len()]
        } else {
            found.par_iter().map(|found| firmness(mesh, found, pinned)).collect::<Result<_>>()?
        };
        let share = anatomy.share.unwrap_or_default();
        Ok(Self { found, share, firmness, tets: mesh.tets().to_vec() })
    }

    pub(super) fn found(&self) -> &[FoundPart] {
        &self.found
    }

    pub(super) fn share(&self) -> &[f64] {
        &self.share
    }

    /// Factor on Young's modulus of each tet, t; `None` if all are 1.
    pub(super) fn stiffness(&self, core: &SkeletonCore) -> Option<Vec<f64>> {
        let known = self.found.iter().zip(&self.firmness).filter_map(|(found, firmness)| {
            firmness.map(|firmness| (found, firmness - core.setting(found.part).softness.ln()))
        });
        let known: Vec<(&FoundPart, f64)> = known.collect();
        if known.iter().all(|(_, firmness)| *firmness == 0.0) {
            return None;
        }
        let usual = known.iter().map(|(_, firmness)| firmness).sum::<f64>() / known.len() as f64;
        let of_tet = |tet: &[u32; 4]| {
            let (mut sum, mut whole) = (0.0, 0.0);
            for (found, firmness) in &known {
                let weight: f64 = tet.iter().map(|&vertex| found.weights[vertex as usize]).sum();
                (sum, whole) = (sum + weight * firmness, whole + weight);
            }
            if whole > 0.0 { (sum / whole).exp() } else { usual.exp() }
        };
        Some(self.tets.iter().map(of_tet).collect())
    }

    /// Share of the rig's acceleration felt at each vertex, n; `None` if all feel it in full.
    pub(super) fn amounts(&self, core: &SkeletonCore) -> Option<Vec<f64>> {
        let amounts: Vec<f64> = self.found.iter().map(|found| core.setting(found.part).amount).collect();
        if amounts.iter().all(|&amount| amount == 1.0) {
            return None;
        }
        let count = self.found.first().map_or(0, |found| found.weights.len());
        let at = |vertex: usize| {
            let changes =
                self.found.iter().zip(&amounts).map(|(f, amount)| f.weights[vertex] * (amount - 1.0));
            (1.0 + changes.sum::<f64>()).max(0.0)
        };
        Some((0..count).map(at).collect())
    }
}

/// Logarithm of the factor on a uniform stiffness with which a part has its usual frequency: as far from the
/// body's reference frequency as the part's from the belly's. `None` for a part that hardly moves.
fn firmness(mesh: &TetMesh, found: &FoundPart, pinned: &[bool]) -> Result<Option<f64>> {
    let is_free = |(&weight, &pinned): (&f64, &bool)| weight > OWN && !pinned;
    let free: Vec<bool> = found.weights.iter().zip(pinned).map(is_free).collect();
    if free.iter().filter(|free| **free).count() < LEAST {
        return Ok(None);
    }
    let held: Vec<bool> = free.iter().map(|free| !free).collect();
    let unit = Field::Uniform(1.0);
    let material = Material::new(Law::Arap, unit.clone(), Field::Uniform(0.0), unit)?;
    let restraint = Restraint { rig: None, leak: None, pinned: Some(&held) };
    let (stitches, progress) = (Stitches::none(mesh), Progress::default());
    let problem = LinearProblem::new(mesh, &material, &restraint, &stitches, &progress)?;
    let lowest = problem.lowest(1, &progress)?.frequencies()[0];
    // Frequency of a pressure wave across a cube of the body's volume.
    let reference = mesh.volumes().iter().sum::<f64>().cbrt().recip();
    if lowest < LOOSE * reference {
        return Ok(None);
    }
    let frequency = found.part.frequency_at(depth(mesh, &free, pinned));
    let wanted = reference * frequency / Part::Belly.frequency();
    Ok(Some(2.0 * (wanted / lowest).ln()))
}

/// Distance from bone below which all but the deepest of some flesh is, as a share of the body's longest side.
fn depth(mesh: &TetMesh, free: &[bool], pinned: &[bool]) -> f64 {
    let places = |chosen: &[bool]| -> Vec<Vector3<f64>> {
        let chosen = mesh.vertices().iter().zip(chosen).filter(|(_, chosen)| **chosen);
        chosen.map(|(&place, _)| Vector3::from(place)).collect()
    };
    let bone = places(pinned);
    let nearest = |place: &Vector3<f64>| {
        bone.iter().map(|other| (other - place).norm_squared()).fold(f64::INFINITY, f64::min).sqrt()
    };
    let mut depths: Vec<f64> = places(free).iter().map(nearest).collect();
    depths.sort_by(f64::total_cmp);
    let (low, high) = bounds(mesh.vertices());
    let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
    depths[(DEEP * (depths.len() - 1) as f64) as usize] / longest
}
