//! Local step: rotations of the clusters and their forces, one cluster a SIMD lane.

use pulp::{Arch, Simd, WithSimd};

use super::SkinningModel;
use crate::math::lanes::{Buffer, Packed, PackedSparse, add_adjoint, columns_product, select_items};
use crate::math::polar::rotations_in_lanes;

/// Deformation gradients of the rig at a set of places, one place a SIMD lane.
pub(super) struct RigGradients {
    /// `F_rig` of each place: blocks x 9 x lanes.
    pub(super) rig: Buffer<f64>,
    /// Contribution of offsets to `F_rig`, blocks x 9 x lanes; unused without offsets.
    offsets: Buffer<f64>,
    /// The upper half of the rest stretch S of each place: blocks x 6 x lanes.
    pub(super) rest: Buffer<f64>,
}

impl RigGradients {
    /// Storage for the places of `gradients`.
    pub(super) fn new(gradients: &Packed<3>) -> Self {
        let lanes = gradients.blocks() * gradients.lanes();
        let [rig, offsets, rest] = [9, 9, 6].map(|numbers| Buffer::zeros(numbers * lanes));
        Self { rig, offsets, rest }
    }

    /// Sets `F_rig` of a pose by the gradients `G J`, with the contribution of offsets (three rows a place
    /// or none), and the rest stretch `S = (1 - pose_rest) I + pose_rest S_rig`, `F_rig = R_rig S_rig`.
    pub(super) fn set_pose(
        &mut self,
        gradients: &PackedSparse<3>,
        pose: &[[f64; 3]],
        offsets: &[[f64; 3]],
        pose_rest: f64,
    ) {
        spread(offsets, gradients.lanes(), &mut self.offsets);
        Arch::new().dispatch(RigStep {
            gradients,
            pose,
            offsets: if offsets.is_empty() { None } else { Some(&self.offsets) },
            pose_rest,
            rig: &mut self.rig,
            rest: &mut self.rest,
        });
    }

    /// Copies some places of another set, offsets included in `F_rig`.
    pub(super) fn select(&mut self, from: &Self, places: &[usize]) {
        select_items(&from.rig, 9, places, &mut self.rig);
        select_items(&from.rest, 6, places, &mut self.rest);
    }
}

/// Scratch of the local step, in lanes of clusters.
pub(super) struct LocalScratch {
    pub(super) posed: RigGradients,
    /// Derivatives of the energy by the gradients, negative: blocks x 9 x lanes.
    pulls: Buffer<f64>,
}

impl LocalScratch {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let basis = &model.cluster_basis;
        let pulls = Buffer::zeros(9 * basis.blocks() * basis.lanes());
        Self { posed: RigGradients::new(basis), pulls }
    }

    /// Computes the rotations at `reduced`, writes the force of the clusters, r x 3, and returns their
    /// misfit, J. With `e = tr(S R'F) - tr S^2`, the clusters' elastic energy is `misfit - Y . force`.
    ///
    /// Force: `G' (w (R S - pose_rest F_rig) - v e R S)`. Misfit: the sum of
    /// `w / 2 |F_rig - R S|^2 + v (e^2 / 2 - e tr(S R'(F - F_rig)))`.
    pub(super) fn solve(
        &mut self,
        model: &SkinningModel,
        reduced: &[[f64; 3]],
        pose_rest: f64,
        force: &mut [[f64; 3]],
    ) -> f64 {
        if model.is_volumetric {
            Arch::new().dispatch(self.step::<true>(model, reduced, pose_rest, force))
        } else {
            Arch::new().dispatch(self.step::<false>(model, reduced, pose_rest, force))
        }
    }

    fn step<'a, const VOLUMETRIC: bool>(
        &'a mut self,
        model: &'a SkinningModel,
        reduced: &'a [[f64; 3]],
        pose_rest: f64,
        force: &'a mut [[f64; 3]],
    ) -> LocalStep<'a, VOLUMETRIC> {
        LocalStep {
            gradients: &model.cluster_basis,
            weights: &model.lane_weights,
            volumes: &model.lane_volumes,
            rig: &self.posed.rig,
            rest: &self.posed.rest,
            pose_rest,
            reduced,
            pulls: &mut self.pulls,
            force,
        }
    }
}

/// Converts gradients, three rows `dx/dX_d` a cluster, to lanes: entry (i, d) of a cluster's F at
/// `3 i + d`.
fn spread(gradients: &[[f64; 3]], lanes: usize, out: &mut [f64]) {
    for (cluster, gradient) in gradients.as_chunks::<3>().0.iter().enumerate() {
        let block = &mut out[9 * lanes * (cluster / lanes)..];
        for (d, row) in gradient.iter().enumerate() {
            (0..3).for_each(|i| block[(3 * i + d) * lanes + cluster % lanes] = row[i]);
        }
    }
}

struct RigStep<'a> {
    gradients: &'a PackedSparse<3>,
    pose: &'a [[f64; 3]],
    offsets: Option<&'a [f64]>,
    pose_rest: f64,
    rig: &'a mut [f64],
    rest: &'a mut [f64],
}

impl WithSimd for RigStep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (rig, _) = S::as_mut_simd_f64s(self.rig);
        let (rest, _) = S::as_mut_simd_f64s(self.rest);
        let identity = simd.splat_f64s(1.0 - self.pose_rest);
        let half = simd.splat_f64s(0.5 * self.pose_rest);
        for (block, (gradients, columns)) in self.gradients.blocks().enumerate() {
            let pose = columns.iter().map(|&column| &self.pose[column as usize]);
            let mut f = columns_product::<S, 3, 9>(simd, gradients, pose);
            if let Some(offsets) = self.offsets {
                let (offsets, _) = S::as_simd_f64s(offsets);
                f.iter_mut().zip(&offsets[9 * block..]).for_each(|(f, &more)| *f = simd.add_f64s(*f, more));
            }
            rig[9 * block..9 * block + 9].copy_from_slice(&f);
            if self.pose_rest == 0.0 {
                continue;
            }
            let r = rotations_in_lanes(simd, f);
            for (slot, (i, j)) in UPPER.into_iter().enumerate() {
                let entry = |i: usize, j: usize| {
                    let last = simd.mul_f64s(r[6 + i], f[6 + j]);
                    simd.mul_add_e_f64s(r[i], f[j], simd.mul_add_e_f64s(r[3 + i], f[3 + j], last))
                };
                let s = simd.mul_f64s(half, simd.add_f64s(entry(i, j), entry(j, i)));
                rest[6 * block + slot] = if i == j { simd.add_f64s(identity, s) } else { s };
            }
        }
    }
}

/// Stored entries of a symmetric 3x3 matrix.
const UPPER: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// VOLUMETRIC: `true` if any cluster resists volume change.
struct LocalStep<'a, const VOLUMETRIC: bool> {
    gradients: &'a Packed<3>,
    weights: &'a [f64],
    volumes: &'a [f64],
    rig: &'a [f64],
    rest: &'a [f64],
    pose_rest: f64,
    reduced: &'a [[f64; 3]],
    pulls: &'a mut [f64],
    force: &'a mut [[f64; 3]],
}

impl<const VOLUMETRIC: bool> WithSimd for LocalStep<'_, VOLUMETRIC> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (rig, _) = S::as_simd_f64s(self.rig);
        let (rest, _) = S::as_simd_f64s(self.rest);
        let (weights, _) = S::as_simd_f64s(self.weights);
        let (volumes, _) = S::as_simd_f64s(self.volumes);
        let (pulls, _) = S::as_mut_simd_f64s(self.pulls);
        let zero = simd.splat_f64s(0.0);
        let pose_rest = simd.splat_f64s(self.pose_rest);
        let mut misfit = zero;
        for block in 0..self.gradients.blocks() {
            let f_rig: &[S::f64s; 9] = rig[9 * block..].first_chunk().expect("nine numbers a block");
            let mut f = columns_product::<S, 3, 9>(simd, self.gradients.block(block), self.reduced.iter());
            for e in 0..9 {
                f[e] = simd.add_f64s(f[e], f_rig[e]);
            }
            let target = if self.pose_rest == 0.0 {
                rotations_in_lanes(simd, f)
            } else {
                let s: &[S::f64s; 6] = rest[6 * block..].first_chunk().expect("six numbers a block");
                let r = rotations_in_lanes(simd, times_symmetric(simd, &f, s));
                times_symmetric(simd, &r, s)
            };
            let weight = weights[block];
            let mut pressure = zero;
            if VOLUMETRIC {
                let (growth, growth_of_u) = growth(simd, &target, &f, f_rig);
                pressure = simd.mul_f64s(volumes[block], growth);
                let twice = simd.sub_f64s(growth, simd.add_f64s(growth_of_u, growth_of_u));
                misfit = simd.mul_add_e_f64s(pressure, twice, misfit);
            }
            let mut difference2 = zero;
            for e in 0..9 {
                let difference = simd.sub_f64s(target[e], f_rig[e]);
                difference2 = simd.mul_add_e_f64s(difference, difference, difference2);
                let force = simd.negate_mul_add_e_f64s(pose_rest, f_rig[e], target[e]);
                let force = simd.mul_f64s(weight, force);
                pulls[9 * block + e] =
                    if VOLUMETRIC { simd.negate_mul_add_e_f64s(pressure, target[e], force) } else { force };
            }
            misfit = simd.mul_add_e_f64s(weight, difference2, misfit);
        }
        self.force.fill([0.0; 3]);
        add_adjoint::<S, 3, 9>(simd, self.gradients, pulls, self.force);
        0.5 * simd.reduce_sum_f64s(misfit)
    }
}

/// `tr(T'(F - T))` and `tr(T'(F - F_rig))` of a target `T = R S`.
#[inline(always)]
fn growth<S: Simd>(
    simd: S,
    target: &[S::f64s; 9],
    f: &[S::f64s; 9],
    f_rig: &[S::f64s; 9],
) -> (S::f64s, S::f64s) {
    let (mut growth, mut of_u) = (simd.splat_f64s(0.0), simd.splat_f64s(0.0));
    for e in 0..9 {
        growth = simd.mul_add_e_f64s(target[e], simd.sub_f64s(f[e], target[e]), growth);
        of_u = simd.mul_add_e_f64s(target[e], simd.sub_f64s(f[e], f_rig[e]), of_u);
    }
    (growth, of_u)
}

/// `A S` for a symmetric S.
#[inline(always)]
pub(super) fn times_symmetric<S: Simd>(simd: S, a: &[S::f64s; 9], s: &[S::f64s; 6]) -> [S::f64s; 9] {
    let [s00, s01, s02, s11, s12, s22] = *s;
    let columns = [[s00, s01, s02], [s01, s11, s12], [s02, s12, s22]];
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            let last = simd.mul_f64s(a[3 * i + 2], columns[j][2]);
            let sum = simd.mul_add_e_f64s(a[3 * i + 1], columns[j][1], last);
            out[3 * i + j] = simd.mul_add_e_f64s(a[3 * i], columns[j][0], sum);
        }
    }
    out
}
