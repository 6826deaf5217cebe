//! Cubature of elastic forces: a few weighted tets represent all.
//!
//! A cluster's mean gradient is uniform in the cluster, which makes clusters resist bending; a tet has no
//! such resistance. Tets and weights are fitted by non-negative least squares on synthetic states
//! (`states`): the response to the inertia of the flesh, and random motion along soft directions, small to
//! large, on a randomly posed rig (`joints`).

pub(super) mod elements;
pub(crate) mod joints;
pub(crate) mod states;

use faer::{Mat, MatRef, Side};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::body::Body;
use crate::material::Material;
use crate::math::dense::diagonal::DEPENDENT;
use crate::math::dense::product;
use crate::math::random::sample;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::sampling::cubature::{Cubature, fit, seen_and_more};
use crate::subspace::SkinningModes;
use crate::{Error, Progress, Result, check};
use elements::Elements;

/// Candidate tets for each requested one; and the smallest number of candidates.
const CANDIDATES: (usize, usize) = (8, 1500);
/// Factor on `r / c` for the kept share of a body's stiffness outside of the samples, with c tets and r
/// coordinates.
///
/// All of this stiffness would resist rotation, as clusters do. Without any of it, motion invisible to the
/// tets would have no resistance. Compared with the full space at as many tets as coordinates, 0.15 to 0.3
/// give about the right size of motion, and nearly equal errors (`cargo x full-space`).
const UNSEEN: f64 = 0.2;

impl Cubature {
    /// Trains at most `count` tets to represent the elastic forces of a body in the span of its modes.
    ///
    /// Minimises `sum over states z and directions d of (d . (sum_s c_s f_s(z) - sum_t f_t(z)))^2` over
    /// nonnegative c, with the total elastic force `f_t = 2 mu V G_t'(R S - F)`, zero in the posed rest
    /// shape, plus the pressure of volume-preserving laws. Directions are weighted by the compliance along
    /// them. If no more than `count` tets move, all of them are taken. One tet represents a whole cell. The
    /// same seed gives the same tets. c is [`Cubature::weights`].
    ///
    /// # Errors
    /// [`Error::Range`] for a count of 0; those of the parts; [`Error::Cancelled`].
    pub fn train(
        mesh: &TetMesh,
        material: &Material,
        modes: &SkinningModes,
        rig: Option<&Rig>,
        (count, seed): (usize, u64),
        progress: &Progress,
    ) -> Result<Self> {
        check::range("cubature", "at least one tet", 0.0, count != 0)?;
        material.check_reducible()?;
        let body = Body::checked(mesh, material, modes, rig, None)?;
        let elements = Elements::new(mesh, material);
        let moving = elements.moving(&body);
        if !moving.is_empty() && moving.len() * elements.tets_each() <= count {
            return Ok(elements.all_tets(&moving));
        }
        progress.report(0.0)?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let wanted = CANDIDATES.1.max(CANDIDATES.0 * count);
        let drawn = sample(moving.len(), wanted, &mut random);
        let candidates: Vec<usize> = drawn.into_iter().map(|place| moving[place]).collect();
        let training = states::Training::new(&body, &elements, &candidates, basis(&body, material)?)?;
        let found = fit(&training.works_of_states(&mut random, progress)?, count);
        if found.is_empty() {
            return Err(Error::Numerical { what: "cubature", why: "the modes deform nothing".into() });
        }
        progress.report(1.0)?;
        Ok(Self {
            tets: found.iter().map(|&(place, _)| elements.tet(candidates[place])).collect(),
            weights: found
                .iter()
                .map(|&(place, x)| x * elements.tets_like_first(candidates[place]))
                .collect(),
        })
    }
}

/// Phi, 4m x r, orthonormal in the mass and orthogonal in the stiffness, and `Phi'L` with `L L'` the mass,
/// r x 4m, with orthonormal rows.
fn basis(body: &Body<'_>, material: &Material) -> Result<(Mat<f64>, Mat<f64>)> {
    let (mass, stiffness) = body.mass_and_stiffness();
    let basis = body.diagonalise(material, &mass, &stiffness)?.0;
    // Linear dependencies, absent in the basis, would make the factorisation fail.
    let kept = |i: usize| if mass[(i, i)] > 0.0 { (1.0 + DEPENDENT) * mass[(i, i)] } else { 1.0 };
    let positive =
        Mat::from_fn(mass.nrows(), mass.ncols(), |i, j| if i == j { kept(i) } else { mass[(i, j)] });
    let failed = |error| Error::Numerical { what: "cubature", why: format!("{error:?}") };
    let factor = positive.llt(Side::Lower).map_err(failed)?;
    let whitening = product(basis.transpose(), factor.L());
    Ok((basis, whitening))
}

/// Elastic quadratic form of a body with sampled forces, r x r, from the exact form `diag(spectrum)`, its
/// part outside of all gradients, `twists`, and the sampled part: `gradients` (3c x r) and their weights.
///
/// With `Q = sum_s c_s w_s G_s'G_s` and twists T this is `T + Q + a (diag(spectrum) - T - Q)+`, the
/// positive part taken relative to the spectrum, `a <= 1`. The reduced energy is then the energy of the
/// sampled tets plus a non-negative quadratic form: the posed rest shape is its minimum for any weights.
/// Directions fully visible to the samples have the samples' stiffness, and bending is as soft as in the
/// tets; invisible directions keep the share `a` of the exact stiffness.
pub(super) fn quadratic(
    spectrum: &[f64],
    twists: Option<MatRef<'_, f64>>,
    gradients: MatRef<'_, f64>,
    weights: &[f64],
) -> Result<Mat<f64>> {
    let rank = spectrum.len();
    let share = (UNSEEN * rank as f64 / weights.len() as f64).min(1.0);
    let stiff = Mat::from_fn(gradients.nrows(), rank, |i, j| weights[i / 3].sqrt() * gradients[(i, j)]);
    seen_and_more(spectrum, twists, stiff.as_ref(), |seen| seen + share * (1.0 - seen).max(0.0))
}
