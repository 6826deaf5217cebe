//! Parts of a body: stiffness by a frequency of their own, and strength.

use faer::Mat;
use nalgebra::Vector3;

use crate::material::{Field, Law, Material};
use crate::mesh::{TetMesh, bounds};
use crate::operators::Stitches;
use crate::parallel::*;
use crate::skeleton::{Anatomy, FoundPart, Part, SkeletonCore};
use crate::subspace::{LinearProblem, ModesProblem, Restraint, SkinningModes};
use crate::{Progress, Result};

/// Weight of a part from which on a vertex belongs to it, and moves when the part vibrates alone: a small
/// part between others is held by none of them.
const OWN: f64 = 0.4;
const MOVES: f64 = 0.15;
/// Percentile of the vertices' depths used as the depth of a part, as a share.
const DEEP: f64 = 0.7;
/// Least number of free vertices of a part.
const LEAST: usize = 4;
/// Share of the body's reference frequency below which a part hangs on nothing.
const LOOSE: f64 = 1e-3;
/// Least frequency of thick flesh, as a share of that of its lowest skinning mode. Slender flesh bends, and
/// swings more slowly; modes only shear it.
const THICK: f64 = 0.25;
/// Least correction of a part's stiffness in drafts.
const LOCKED: f64 = 1e-3;

/// The anatomy of a body, with the factor on the stiffness that gives each part its usual frequency.
pub(super) struct Parts {
    found: Vec<FoundPart>,
    share: Vec<f64>,
    /// Factor on the stiffness of each part.
    firmness: Vec<Firmness>,
    /// Corners of each tet.
    tets: Vec<[u32; 4]>,
}

/// Logarithms of factors on the stiffness of a part.
#[derive(Debug, Clone, Copy, Default)]
struct Firmness {
    /// Factor for the usual frequency of the part.
    own: f64,
    /// Further factor for its skinning modes, at most 0: of slender flesh they swing too fast.
    of_modes: f64,
}

impl Parts {
    /// Finds the lowest frequency of each part with all else held. pinned: vertices of the core, n.
    pub(super) fn new(mesh: &TetMesh, anatomy: Anatomy, pinned: &[bool]) -> Result<Self> {
        let Anatomy { is_regional, share, parts: mut found } = anatomy;
        found.retain(|found| free(found, pinned, OWN).iter().filter(|free| **free).count() >= LEAST);
        // Where no region is known, the rest is the body, whose frequency is set as a whole.
        let of = |found: &FoundPart| match found.part {
            Part::Rest if !is_regional => Ok(Firmness::default()),
            _ => firmness(mesh, found, pinned),
        };
        let firmness = found.par_iter().map(of).collect::<Result<_>>()?;
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
        let softness = |part| core.setting(part).softness.ln();
        let of_part = |(found, firmness): (&FoundPart, &Firmness)| firmness.own - softness(found.part);
        self.factors(self.found.iter().zip(&self.firmness).map(of_part).collect())
    }

    /// Further factor for the eigenproblem of skinning modes, likewise.
    pub(super) fn stiffness_of_modes(&self) -> Option<Vec<f64>> {
        self.factors(self.firmness.iter().map(|firmness| firmness.of_modes).collect())
    }

    /// Further factor for a model of skinning modes, likewise: in slender parts, the modes' share of the
    /// compliance under the part's weight. material: of the flesh.
    pub(super) fn stiffness_of_model(
        &self,
        (mesh, material): (&TetMesh, &Material),
        pinned: &[bool],
        modes: &SkinningModes,
        progress: &Progress,
    ) -> Result<Option<Vec<f64>>> {
        if self.firmness.iter().all(|firmness| firmness.of_modes == 0.0) {
            return Ok(None);
        }
        let restraint = Restraint { rig: None, leak: None, pinned: Some(pinned) };
        let problem = LinearProblem::new(mesh, material, &restraint, &Stitches::none(mesh), progress)?;
        let mass = problem.masses();
        let loads = Mat::from_fn(3 * mass.len(), 3 * self.found.len(), |row, load| {
            let weight = mass[row / 3] * self.found[load / 3].weights[row / 3];
            if row % 3 == load % 3 { weight } else { 0.0 }
        });
        let Some(shares) = problem.compliance_of(modes, loads.as_ref(), 3) else { return Ok(None) };
        let of_part = |(share, firmness): (&f64, &Firmness)| {
            if firmness.of_modes < 0.0 { share.clamp(LOCKED, 1.0).ln() } else { 0.0 }
        };
        Ok(self.factors(shares.iter().zip(&self.firmness).map(of_part).collect()))
    }

    /// Factor of each tet from the logarithm of each part's; `None` if all are 0.
    fn factors(&self, logarithms: Vec<f64>) -> Option<Vec<f64>> {
        if logarithms.iter().all(|&logarithm| logarithm == 0.0) {
            return None;
        }
        let of_tet = |tet: &[u32; 4]| {
            let (mut sum, mut whole) = (0.0, 0.0);
            for (logarithm, found) in logarithms.iter().zip(&self.found) {
                let weight: f64 = tet.iter().map(|&vertex| found.weights[vertex as usize]).sum();
                (sum, whole) = (sum + weight * logarithm, whole + weight);
            }
            if whole > 0.0 { (sum / whole).exp() } else { 1.0 }
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

/// `true` for vertices of flesh with more than some weight of a part, n.
fn free(found: &FoundPart, pinned: &[bool], least: f64) -> Vec<bool> {
    found.weights.iter().zip(pinned).map(|(&weight, &pinned)| weight > least && !pinned).collect()
}

/// Factors on a uniform stiffness with which a part has its usual frequency: as far from the body's reference
/// frequency as the part's from the belly's. None for a part that hangs on nothing.
fn firmness(mesh: &TetMesh, found: &FoundPart, pinned: &[bool]) -> Result<Firmness> {
    let moving = free(found, pinned, MOVES);
    let (own, vertices) = mesh.around(|vertex| moving[vertex as usize])?;
    let held: Vec<bool> = vertices.iter().map(|&vertex| !moving[vertex as usize]).collect();
    let (lowest, of_modes) = frequencies(&own, &held)?;
    // Frequency of a pressure wave across a cube of the body's volume.
    let reference = mesh.volumes().iter().sum::<f64>().cbrt().recip();
    if lowest < LOOSE * reference {
        return Ok(Firmness::default());
    }
    let frequency = found.part.frequency_at(depth(mesh, &free(found, pinned, OWN), pinned));
    let wanted = reference * frequency / Part::Belly.frequency();
    let slender = 2.0 * (lowest / (THICK * of_modes)).ln();
    Ok(Firmness { own: 2.0 * (wanted / lowest).ln(), of_modes: slender.min(0.0) })
}

/// Lowest frequency of a mesh with a uniform stiffness, and that of its lowest skinning mode.
fn frequencies(mesh: &TetMesh, held: &[bool]) -> Result<(f64, f64)> {
    let unit = Field::Uniform(1.0);
    let material = Material::new(Law::Arap, unit.clone(), Field::Uniform(0.0), unit)?;
    let restraint = Restraint { rig: None, leak: None, pinned: Some(held) };
    let (stitches, progress) = (Stitches::none(mesh), Progress::default());
    let problem = LinearProblem::new(mesh, &material, &restraint, &stitches, &progress)?;
    let lowest = problem.lowest(1, &progress)?.frequencies()[0];
    let problem = ModesProblem::new(mesh, &material, &restraint, &stitches, &progress)?;
    // The Hessian of weights adds up all three coordinates.
    let of_modes = (problem.lowest(1, &progress)?.eigenvalues[0] / 3.0).max(0.0).sqrt();
    Ok((lowest, of_modes / std::f64::consts::TAU))
}

/// Distance from bone below which all but the deepest of some flesh is, as a share of the body's longest
/// side.
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
