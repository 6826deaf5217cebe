//! Elements whose deformation gradients follow from a few coordinates, a SIMD lane each.

use faer::Mat;
use nalgebra::{Matrix3, Vector3};
use pulp::{Arch, Simd, WithSimd};

use crate::material::lanes::{self, Evaluate, LaneLaw, PARAMETERS};
use crate::material::{Energy, PrincipalStretch};
use crate::math::columns::Columns;
use crate::math::lanes::{Buffer, lane_counts};
use crate::math::polar::dot3;
use crate::math::rows::Rows;
use crate::method::quasi_newton::{Element, RestStretch, STRETCHES, rest_stretch_in_lanes};

/// What the rig does to an element: handles, and what their four rows add to its gradient.
pub(super) type RigTerms = Vec<(u32, [[f64; 3]; 4])>;

/// Elements with the volumes they stand for; `F = F_rig + sum_k y_k G b_k` of basis fields b.
#[derive(Clone)]
pub(super) struct Samples {
    /// The law with a scale of 1.
    law: PrincipalStretch,
    count: usize,
    /// `G B`: blocks x 9 x lanes rows, a column each coordinate.
    gradients: Columns,
    /// Of each element.
    rig: Vec<RigTerms>,
    /// Blocks x parameters x lanes.
    parameters: Buffer<f64>,
    /// Blocks x lanes; 0 in lanes that only fill up.
    volumes: Buffer<f64>,
    /// The law of each.
    laws: Vec<PrincipalStretch>,
}

/// What evaluating takes, and what a pose makes of the elements. Gradients are blocks x 9 x lanes.
pub(super) struct SampleScratch {
    /// `F_rig`.
    rig: Buffer<f64>,
    /// `S_a^-1`.
    back: Buffer<f64>,
    /// With the rest shape's own volume, blocks x lanes.
    volumes: Buffer<f64>,
    /// `G B y`.
    change: Buffer<f64>,
    /// Forces on the gradients.
    pub(super) stress: Buffer<f64>,
    /// Rows of a pose without its mean translation.
    pose: Vec<[f64; 3]>,
}

/// Row, column and place in a register of an entry of an element's gradient.
pub(super) fn place(sample: usize, entry: usize) -> usize {
    let (lanes, _) = lane_counts();
    (sample / lanes * 9 + entry) * lanes + sample % lanes
}

impl Samples {
    /// Of elements of one law, each for itself, with `gradient(element, entry, coordinate)` of `count` fields, entries row-major.
    pub(super) fn new(
        elements: &[Element],
        rig: Vec<RigTerms>,
        count: usize,
        gradient: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let (lanes, _) = lane_counts();
        let (last, blocks) = (elements.len() - 1, elements.len().div_ceil(lanes));
        let slot = |row: usize| row / (9 * lanes) * lanes + row % lanes;
        let gradients = Columns::new(9 * lanes * blocks, count, |row, column| {
            gradient(slot(row).min(last), row / lanes % 9, column)
        });
        let mut parameters = Buffer::zeros(blocks * PARAMETERS * lanes);
        for (row, number) in parameters.iter_mut().enumerate() {
            let slot = row / (PARAMETERS * lanes) * lanes + row % lanes;
            *number = elements[slot.min(last)].energy.in_lanes().1[row / lanes % PARAMETERS];
        }
        let mut volumes = Buffer::zeros(blocks * lanes);
        volumes.iter_mut().zip(elements).for_each(|(volume, element)| *volume = element.volume);
        Self {
            law: elements[0].energy.scaled_to_one(),
            count: elements.len(),
            gradients,
            rig,
            parameters,
            volumes,
            laws: elements.iter().map(|element| element.energy.clone()).collect(),
        }
    }

    /// Some of them, standing for other volumes.
    pub(super) fn select(&self, chosen: &[(usize, f64)]) -> Self {
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

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Number of coordinates.
    pub(super) fn rank(&self) -> usize {
        self.gradients.count()
    }

    /// The volume that one stands for, m^3.
    pub(super) fn volume(&self, sample: usize) -> f64 {
        self.volumes[sample]
    }

    /// What all weigh in the metric, J.
    pub(super) fn weight(&self, sample: usize) -> f64 {
        self.volumes[sample] * self.laws[sample].slope()
    }

    /// What coordinates do to the gradient of one against its rest shape, 9 x k, columns after columns, and the Hessian of
    /// its energy there, with the magnitudes of its eigenvalues.
    pub(super) fn stiffness(&self, scratch: &SampleScratch, sample: usize) -> (Mat<f64>, Mat<f64>) {
        let entry = |numbers: &[f64], e: usize| numbers[place(sample, e)];
        let rest = Matrix3::from_fn(|i, j| entry(&scratch.back, 3 * i + j));
        let f = Matrix3::from_fn(|i, j| entry(&scratch.rig, 3 * i + j) + entry(&scratch.change, 3 * i + j));
        let gradients = Mat::from_fn(9, self.rank(), |row, k| {
            let (i, j) = (row % 3, row / 3);
            (0..3).map(|m| self.gradient(sample, 3 * i + m, k) * rest[(m, j)]).sum()
        });
        let hessian = self.laws[sample].filtered_hessian(&(f * rest), f64::abs);
        let volume = scratch.volumes[sample];
        (gradients, Mat::from_fn(9, 9, |i, j| volume * hessian[(i, j)]))
    }

    /// An entry of what a coordinate adds to the gradient of one.
    pub(super) fn gradient(&self, sample: usize, entry: usize, coordinate: usize) -> f64 {
        self.gradients.at(place(sample, entry), coordinate)
    }

    pub(super) fn scratch(&self) -> SampleScratch {
        let numbers = || Buffer::zeros(9 * self.volumes.len());
        SampleScratch {
            rig: numbers(),
            back: numbers(),
            volumes: self.volumes.clone(),
            change: numbers(),
            stress: numbers(),
            pose: Vec::new(),
        }
    }

    /// Has the elements where a pose puts them (4 rows a handle), their rest shapes following by a share.
    pub(super) fn enter_pose(&self, scratch: &mut SampleScratch, pose: &Rows, share: f64) {
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
        Arch::new().dispatch(Follow { samples: self, scratch, share });
    }

    /// Where a pose (4 rows a handle) has the gradient of an element.
    pub(super) fn rig_gradient(&self, sample: usize, pose: &Rows) -> Matrix3<f64> {
        let mut f = Matrix3::zeros();
        for (handle, terms) in &self.rig[sample] {
            for (row, term) in pose[4 * *handle as usize..][..4].iter().zip(terms) {
                f += Vector3::from(*row) * Vector3::from(*term).transpose();
            }
        }
        f
    }

    /// Elastic energy, J, of coordinates; its gradient is written.
    pub(super) fn evaluate(&self, scratch: &mut SampleScratch, y: &[f64], gradient: &mut [f64]) -> f64 {
        self.gradients.combine(y, &mut scratch.change);
        let energy = Arch::new().dispatch(Sum { samples: self, scratch });
        self.gradients.project(&scratch.stress, gradient);
        energy
    }
}

struct Follow<'a> {
    samples: &'a Samples,
    scratch: &'a mut SampleScratch,
    share: f64,
}

impl WithSimd for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let SampleScratch { rig, back, volumes, .. } = self.scratch;
        let (known, _) = S::as_simd_f64s(&self.samples.volumes);
        let (rig, _) = S::as_simd_f64s(rig);
        let (back, _) = S::as_mut_simd_f64s(back);
        let (volumes, _) = S::as_mut_simd_f64s(volumes);
        let mut f = [simd.splat_f64s(0.0); 9];
        for block in 0..volumes.len() {
            f.copy_from_slice(&rig[9 * block..][..9]);
            let RestStretch { inverse, growth, .. } = rest_stretch_in_lanes(simd, f, self.share, STRETCHES);
            back[9 * block..][..9].copy_from_slice(&inverse);
            volumes[block] = simd.mul_f64s(known[block], growth);
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
        match samples.law.in_lanes().0 {
            LaneLaw::Corotated => sum(simd, lanes::Corotated, samples, scratch),
            LaneLaw::StVenantKirchhoff => sum(simd, lanes::StVenantKirchhoff, samples, scratch),
            LaneLaw::NeoHookean => sum(simd, lanes::NeoHookean, samples, scratch),
            LaneLaw::MooneyRivlin => sum(simd, lanes::MooneyRivlin, samples, scratch),
            LaneLaw::Polynomial => sum(simd, lanes::Polynomial, samples, scratch),
            LaneLaw::Spline => sum(simd, lanes::Spline(&samples.law), samples, scratch),
        }
    }
}

// Below there are plain loops only, as in the elements of the full space.

#[inline(always)]
fn sum<S: Simd, L: Evaluate>(simd: S, law: L, samples: &Samples, scratch: &mut SampleScratch) -> f64 {
    let SampleScratch { rig, back, volumes, change, stress, .. } = scratch;
    let (parameters, _) = S::as_simd_f64s(&samples.parameters);
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

/// `A S` with a symmetric S, row-major.
#[inline(always)]
fn times<S: Simd>(simd: S, a: &[S::f64s; 9], s: &[S::f64s; 9]) -> [S::f64s; 9] {
    let mut product = *a;
    for e in 0..9 {
        let (i, j) = (3 * (e / 3), 3 * (e % 3));
        product[e] = dot3(simd, [a[i], a[i + 1], a[i + 2]], [s[j], s[j + 1], s[j + 2]]);
    }
    product
}
