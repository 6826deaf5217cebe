//! Elements with deformation gradients linear in reduced coordinates, one a SIMD lane.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use nalgebra::{Matrix3, Vector3};
use pulp::{Arch, Simd, WithSimd};

use crate::material::lanes::{self, Evaluate, LaneLaw, PARAMETERS};
use crate::material::stretch_limit::LaneLimit;
use crate::material::{Energy, PrincipalStretch, StretchLimit};
use crate::math::columns::Columns;
use crate::math::lanes::{Buffer, lane_counts};
use crate::math::polar::dot3;
use crate::math::rows::Rows;
use crate::potentials::elastic::elements::{Element, ElementLaw};
use crate::potentials::elastic::rest_shape::{RestStretch, STRETCHES, rest_stretch_in_lanes};

/// Linear map from the rig to an element's gradient: handles, and a vector for each of their four rows.
pub(crate) type RigTerms = Vec<(u32, [[f64; 3]; 4])>;

/// Map of the eigenvalues of second derivatives.
pub(crate) type Keep = fn(f64) -> f64;

/// Elements whose second derivatives are multiplied at once.
const AT_ONCE: usize = 32;

/// Sample elements with weighted volumes; `F = F_rig + sum_k y_k G b_k` of basis fields b.
#[derive(Clone)]
pub(crate) struct Samples {
    /// The law with a scale of 1.
    law: ElementLaw,
    count: usize,
    /// `G B`: blocks x 9 x lanes rows, one column a coordinate.
    gradients: Columns,
    /// Rig terms of each element.
    rig: Vec<RigTerms>,
    /// Law parameters, blocks x parameters x lanes.
    parameters: Buffer<f64>,
    /// Volumes, blocks x lanes; 0 in padding lanes.
    volumes: Buffer<f64>,
    /// Law of each element.
    laws: Vec<ElementLaw>,
}

/// Pose-dependent data of the elements, and scratch of an evaluation. Gradients are blocks x 9 x lanes.
pub(crate) struct SampleScratch {
    /// `F_rig`, with the surplus of the rest shape.
    rig: Buffer<f64>,
    /// `S_a^-1`.
    back: Buffer<f64>,
    /// Volumes including the rest shape's growth, blocks x lanes.
    volumes: Buffer<f64>,
    /// Law parameters, blocks x parameters x lanes; those of limits depend on the pose.
    parameters: Buffer<f64>,
    /// `G B y`.
    pub(crate) change: Buffer<f64>,
    /// Forces on the deformation gradients.
    pub(crate) stress: Buffer<f64>,
    /// Rows of a pose without its mean translation.
    pose: Vec<[f64; 3]>,
}

/// Index of an entry of an element's gradient in blocks of registers.
pub(crate) fn place(sample: usize, entry: usize) -> usize {
    let (lanes, _) = lane_counts();
    (sample / lanes * 9 + entry) * lanes + sample % lanes
}

impl Samples {
    /// Samples of elements of one law, with weight 1 and `gradient(element, entry, coordinate)` of `count`
    /// fields, entries row-major.
    pub(crate) fn new(
        elements: &[Element],
        law: impl Fn(&PrincipalStretch) -> ElementLaw,
        rig: Vec<RigTerms>,
        count: usize,
        gradient: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let (lanes, _) = lane_counts();
        let laws: Vec<ElementLaw> = elements.iter().map(|element| law(&element.energy)).collect();
        let (last, blocks) = (elements.len() - 1, elements.len().div_ceil(lanes));
        let slot = |row: usize| row / (9 * lanes) * lanes + row % lanes;
        let gradients = Columns::new(9 * lanes * blocks, count, |row, column| {
            gradient(slot(row).min(last), row / lanes % 9, column)
        });
        let mut parameters = Buffer::zeros(blocks * PARAMETERS * lanes);
        for (row, number) in parameters.iter_mut().enumerate() {
            let slot = row / (PARAMETERS * lanes) * lanes + row % lanes;
            *number = laws[slot.min(last)].parameters()[row / lanes % PARAMETERS];
        }
        let mut volumes = Buffer::zeros(blocks * lanes);
        volumes.iter_mut().zip(elements).for_each(|(volume, element)| *volume = element.volume);
        Self {
            law: laws[0].scaled_to_one(),
            count: elements.len(),
            gradients,
            rig,
            parameters,
            volumes,
            laws,
        }
    }

    /// A subset of the samples with other volumes.
    pub(crate) fn select(&self, chosen: &[(usize, f64)]) -> Self {
        let (lanes, _) = lane_counts();
        let blocks = chosen.len().div_ceil(lanes);
        let of = |row: usize, each: usize| {
            chosen[(row / (each * lanes) * lanes + row % lanes).min(chosen.len() - 1)].0
        };
        let gradients = Columns::new(9 * lanes * blocks, self.gradients.count(), |row, column| {
            self.gradients.at(place(of(row, 9), row / lanes % 9), column)
        });
        let mut parameters = Buffer::zeros(blocks * PARAMETERS * lanes);
        for (row, number) in parameters.iter_mut().enumerate() {
            let (from, parameter) = (of(row, PARAMETERS), row / lanes % PARAMETERS);
            *number = self.parameters[(from / lanes * PARAMETERS + parameter) * lanes + from % lanes];
        }
        let mut volumes = Buffer::zeros(blocks * lanes);
        volumes.iter_mut().zip(chosen).for_each(|(volume, (_, own))| *volume = *own);
        Self {
            law: self.law.clone(),
            count: chosen.len(),
            gradients,
            rig: chosen.iter().map(|&(from, _)| self.rig[from].clone()).collect(),
            parameters,
            volumes,
            laws: chosen.iter().map(|&(from, _)| self.laws[from].clone()).collect(),
        }
    }

    /// Number of samples.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Number of coordinates.
    pub(crate) fn rank(&self) -> usize {
        self.gradients.count()
    }

    /// Weighted volume of a sample, m^3.
    pub(crate) fn volume(&self, sample: usize) -> f64 {
        self.volumes[sample]
    }

    /// Weight of a sample in the metric, J.
    pub(crate) fn weight(&self, sample: usize) -> f64 {
        let slope = match &self.laws[sample] {
            ElementLaw::Elastic(law) => law.slope(),
            ElementLaw::Limit(stiffness) => *stiffness,
        };
        self.volumes[sample] * slope
    }

    /// Writes the derivative of a sample's gradient relative to its rest shape, k x 9, entries column by
    /// column, and its product with the Hessian of the sample's energy, with `keep` applied to the
    /// eigenvalues.
    fn write_stiffness(
        &self,
        scratch: &SampleScratch,
        sample: usize,
        keep: Keep,
        [mut gradients, mut forces]: [MatMut<'_, f64>; 2],
    ) {
        let entry = |numbers: &[f64], e: usize| numbers[place(sample, e)];
        let rest = Matrix3::from_fn(|i, j| entry(&scratch.back, 3 * i + j));
        let f = Matrix3::from_fn(|i, j| entry(&scratch.rig, 3 * i + j) + entry(&scratch.change, 3 * i + j));
        for k in 0..self.rank() {
            let moved = Matrix3::from_fn(|i, j| self.gradient(sample, 3 * i + j, k)) * rest;
            (0..9).for_each(|e| gradients[(k, e)] = moved[(e % 3, e / 3)]);
        }
        let hessian = match &self.laws[sample] {
            ElementLaw::Elastic(law) => law.filtered_hessian(&(f * rest), keep),
            ElementLaw::Limit(_) => scratch.stretch_limit(sample).filtered_hessian(&(f * rest), keep),
        };
        let (volume, hessian) =
            (scratch.volumes[sample], MatRef::from_column_major_slice(hessian.as_slice(), 9, 9));
        matmul(forces.as_mut(), Accum::Replace, gradients.as_ref(), hessian, volume, Par::Seq);
    }

    /// Adds a multiple of the second derivatives of some samples, k x k, with `keep` applied to the
    /// eigenvalues of each.
    pub(crate) fn add_hessian(
        &self,
        scratch: &SampleScratch,
        (factor, keep): (f64, Keep),
        has: impl Fn(usize) -> bool,
        sum: &mut Mat<f64>,
    ) {
        let chosen: Vec<usize> = (0..self.count).filter(|&sample| has(sample)).collect();
        let zeros = || Mat::<f64>::zeros(self.rank(), 9 * AT_ONCE.min(chosen.len()));
        let (mut gradients, mut forces) = (zeros(), zeros());
        for samples in chosen.chunks(AT_ONCE) {
            for (place, &sample) in samples.iter().enumerate() {
                let own = [&mut gradients, &mut forces].map(|all| all.as_mut().subcols_mut(9 * place, 9));
                self.write_stiffness(scratch, sample, keep, own);
            }
            let [gradients, forces] = [&gradients, &forces].map(|all| all.subcols(0, 9 * samples.len()));
            matmul(sum.as_mut(), Accum::Add, gradients, forces.transpose(), factor, Par::Seq);
        }
    }

    /// Derivative of an entry of a sample's gradient by a coordinate.
    pub(crate) fn gradient(&self, sample: usize, entry: usize, coordinate: usize) -> f64 {
        self.gradients.at(place(sample, entry), coordinate)
    }

    pub(crate) fn scratch(&self) -> SampleScratch {
        let numbers = || Buffer::zeros(9 * self.volumes.len());
        SampleScratch {
            rig: numbers(),
            back: numbers(),
            volumes: self.volumes.clone(),
            parameters: self.parameters.clone(),
            change: numbers(),
            stress: numbers(),
            pose: Vec::new(),
        }
    }

    /// Sets a pose (4 rows a handle) with rest shapes that follow by a share, and the limit of limit
    /// elements.
    pub(crate) fn set_pose(&self, scratch: &mut SampleScratch, pose: &Rows, (share, limit): (f64, f64)) {
        let handles = (pose.len() / 4) as f64;
        let mean: [f64; 3] =
            std::array::from_fn(|c| pose.iter().skip(3).step_by(4).map(|row| row[c]).sum::<f64>() / handles);
        scratch.pose.clear();
        scratch.pose.extend_from_slice(pose);
        scratch.pose.iter_mut().skip(3).step_by(4).for_each(|row| (0..3).for_each(|c| row[c] -= mean[c]));
        let (lanes, _) = lane_counts();
        for slot in 0..self.volumes.len() {
            let f = self.rig_gradient(slot.min(self.count - 1), &scratch.pose);
            let block = &mut scratch.rig[slot / lanes * 9 * lanes..];
            (0..9).for_each(|e| block[e * lanes + slot % lanes] = f[(e / 3, e % 3)]);
        }
        Arch::new().dispatch(Follow { samples: self, scratch, share, limit });
    }

    /// Deformation gradient of an element under a pose (4 rows a handle).
    pub(crate) fn rig_gradient(&self, sample: usize, pose: &Rows) -> Matrix3<f64> {
        let mut f = Matrix3::zeros();
        for (handle, terms) in &self.rig[sample] {
            for (row, term) in pose[4 * *handle as usize..][..4].iter().zip(terms) {
                f += Vector3::from(*row) * Vector3::from(*term).transpose();
            }
        }
        f
    }

    /// Elastic energy at given coordinates, J; writes the gradient.
    pub(crate) fn evaluate(&self, scratch: &mut SampleScratch, y: &[f64], gradient: &mut [f64]) -> f64 {
        self.gradients.combine(y, &mut scratch.change);
        let energy = self.strained(scratch);
        self.gradients.project(&scratch.stress, gradient);
        energy
    }

    /// Elastic energy for gradient changes already in the scratch; writes the forces on the gradients.
    pub(crate) fn strained(&self, scratch: &mut SampleScratch) -> f64 {
        Arch::new().dispatch(Sum { samples: self, scratch })
    }
}

impl SampleScratch {
    /// Limit of an element in the current pose.
    fn stretch_limit(&self, sample: usize) -> StretchLimit {
        let (lanes, _) = lane_counts();
        let of = |parameter: usize| {
            self.parameters[(sample / lanes * PARAMETERS + parameter) * lanes + sample % lanes]
        };
        StretchLimit { stiffness: of(0), limit: of(1) }
    }

    /// `true` if an element was under stress at the last evaluation.
    pub(crate) fn is_stressed(&self, sample: usize) -> bool {
        (0..9).any(|entry| self.stress[place(sample, entry)] != 0.0)
    }
}

struct Follow<'a> {
    samples: &'a Samples,
    scratch: &'a mut SampleScratch,
    share: f64,
    limit: f64,
}

impl WithSimd for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SampleScratch { rig, back, volumes, parameters, .. } = self.scratch;
        let is_limit = matches!(self.samples.law, ElementLaw::Limit(_));
        let limit = simd.splat_f64s(self.limit);
        let (parameters, _) = S::as_mut_simd_f64s(parameters);
        let (known, _) = S::as_simd_f64s(&self.samples.volumes);
        let (rig, _) = S::as_mut_simd_f64s(rig);
        let (back, _) = S::as_mut_simd_f64s(back);
        let (volumes, _) = S::as_mut_simd_f64s(volumes);
        let mut f = [simd.splat_f64s(0.0); 9];
        for block in 0..volumes.len() {
            f.copy_from_slice(&rig[9 * block..][..9]);
            let RestStretch { inverse, growth, surplus, longest, .. } =
                rest_stretch_in_lanes(simd, f, self.share, STRETCHES);
            back[9 * block..][..9].copy_from_slice(&inverse);
            volumes[block] = simd.mul_f64s(known[block], growth);
            if is_limit {
                parameters[PARAMETERS * block + 1] = simd.div_f64s(limit, longest);
            }
            for e in 0..9 {
                rig[9 * block + e] = simd.add_f64s(f[e], surplus[e]);
            }
        }
    }
}

struct Sum<'a> {
    samples: &'a Samples,
    scratch: &'a mut SampleScratch,
}

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (samples, scratch) = (self.samples, self.scratch);
        let law = match &samples.law {
            ElementLaw::Limit(_) => return sum(simd, LaneLimit, scratch),
            ElementLaw::Elastic(law) => law,
        };
        match law.in_lanes().0 {
            LaneLaw::Corotated => sum(simd, lanes::Corotated, scratch),
            LaneLaw::StVenantKirchhoff => sum(simd, lanes::StVenantKirchhoff, scratch),
            LaneLaw::NeoHookean => sum(simd, lanes::NeoHookean, scratch),
            LaneLaw::MooneyRivlin => sum(simd, lanes::MooneyRivlin, scratch),
            LaneLaw::Polynomial => sum(simd, lanes::Polynomial, scratch),
            LaneLaw::Spline => sum(simd, lanes::Spline(law), scratch),
        }
    }
}

// Plain loops only from here on, as in the elements of the full space.

#[inline(always)]
fn sum<S: Simd, L: Evaluate>(simd: S, law: L, scratch: &mut SampleScratch) -> f64 {
    let SampleScratch { rig, back, volumes, parameters, change, stress, .. } = scratch;
    let (parameters, _) = S::as_simd_f64s(parameters);
    let (rig, _) = S::as_simd_f64s(rig);
    let (back, _) = S::as_simd_f64s(back);
    let (volumes, _) = S::as_simd_f64s(volumes);
    let (change, _) = S::as_simd_f64s(change);
    let (stress, _) = S::as_mut_simd_f64s(stress);
    let zero = simd.splat_f64s(0.0);
    let mut energy = zero;
    for block in 0..volumes.len() {
        let (first, own) = (9 * block, &parameters[PARAMETERS * block..][..PARAMETERS]);
        let (mut s, mut f) = ([zero; 9], [zero; 9]);
        s.copy_from_slice(&back[first..][..9]);
        for e in 0..9 {
            f[e] = simd.add_f64s(rig[first + e], change[first + e]);
        }
        let strained = times(simd, &f, &s);
        let mut force = [zero; 9];
        let density = law.evaluate(simd, &strained, &[own[0], own[1], own[2]], &mut force);
        energy = simd.mul_add_e_f64s(volumes[block], density, energy);
        let force = times(simd, &force, &s);
        for e in 0..9 {
            stress[first + e] = simd.mul_f64s(volumes[block], force[e]);
        }
    }
    simd.reduce_sum_f64s(energy)
}

/// `A S` for a symmetric S, row-major.
#[inline(always)]
fn times<S: Simd>(simd: S, a: &[S::f64s; 9], s: &[S::f64s; 9]) -> [S::f64s; 9] {
    let mut product = *a;
    for e in 0..9 {
        let (i, j) = (3 * (e / 3), 3 * (e % 3));
        product[e] = dot3(simd, [a[i], a[i + 1], a[i + 2]], [s[j], s[j + 1], s[j + 2]]);
    }
    product
}
