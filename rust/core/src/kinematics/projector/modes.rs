//! Projection from the transforms of modes to displacements of points, in one pass over memory.

use pulp::{Arch, Simd, WithSimd};

use super::project::Project;
use crate::kinematics::coordinates::Coordinates;
use crate::math::lanes::{Buffer, lane_counts};
use crate::parallel::*;
use crate::{Result, check};

/// Points a task; smaller bodies stay on the caller's thread.
const TASK: usize = 16 * 1024;

/// Displacements `u_i = sum over k of W_ik Z_k [X_i; 1]`.
///
/// Stores the points and one weight a mode and point as f32, in reading order. Displacements are rounded to
/// f32; sums run in f32 too, about the body's centre.
pub(super) struct ModeProjector {
    coordinates: Coordinates,
    modes: usize,
    points: usize,
    lanes: usize,
    /// Blocks of `lanes` points: x, y, z, then the weights of each mode: blocks x (3 + m) x lanes.
    packed: Buffer<f32>,
}

impl ModeProjector {
    pub(super) fn new(points: &[[f64; 3]], weights: &[f64], modes: usize) -> Result<Self> {
        check::shape("weights", &[points.len(), modes], weights.len())?;
        let coordinates = Coordinates::of(points);
        let (_, lanes) = lane_counts();
        let size = (3 + modes) * lanes;
        let mut packed = Buffer::zeros(points.len().div_ceil(lanes) * size);
        for (i, point) in points.iter().enumerate() {
            let block = &mut packed[i / lanes * size..][..size];
            let local = coordinates.homogeneous(point);
            let numbers = local[..3].iter().chain(&weights[i * modes..(i + 1) * modes]);
            numbers.enumerate().for_each(|(row, &x)| block[row * lanes + i % lanes] = x as f32);
        }
        Ok(Self { coordinates, modes, points: points.len(), lanes, packed })
    }

    /// Partial sums of `W_ik [X^_i; 1] f_i'` over the points of one task.
    fn partial_force(&self, forces: &[f64], packed: &[f32]) -> Vec<[[f64; 3]; 4]> {
        let mut sum = vec![[[0.0; 3]; 4]; self.modes];
        for (i, force) in forces.as_chunks::<3>().0.iter().enumerate() {
            let block = &packed[i / self.lanes * (3 + self.modes) * self.lanes..];
            let number = |row: usize| f64::from(block[row * self.lanes + i % self.lanes]);
            let point = [number(0), number(1), number(2), 1.0];
            for (k, sum) in sum.iter_mut().enumerate() {
                let weight = number(3 + k);
                for d in 0..4 {
                    (0..3).for_each(|c| sum[d][c] += weight * point[d] * force[c]);
                }
            }
        }
        sum
    }
}

impl Project for ModeProjector {
    fn coefficient_count(&self) -> usize {
        12 * self.modes
    }

    fn shape(&self) -> String {
        format!("({}, 3, 4)", self.modes)
    }

    fn point_count(&self) -> usize {
        self.points
    }

    fn displacement(&self, coefficients: &[f64], out: &mut [f32]) {
        let transforms = coefficients.as_chunks::<4>().0.as_chunks::<3>().0.iter();
        let transforms: Vec<[[f32; 3]; 4]> =
            transforms.map(|z| self.coordinates.enter(z).map(|row| row.map(|x| x as f32))).collect();
        let size = (3 + self.modes) * self.lanes;
        let project = |(out, packed): (&mut [f32], &[f32])| {
            Arch::new().dispatch(Projection { packed, transforms: &transforms, out });
        };
        if self.points < 2 * TASK {
            project((out, &self.packed));
        } else {
            let packed = self.packed.par_chunks(TASK / self.lanes * size);
            out.par_chunks_mut(3 * TASK).zip(packed).for_each(project);
        }
    }

    /// `sum over i of W_ik f_i [X_i; 1]'`.
    fn reduce_forces(&self, forces: &[f64]) -> Vec<f64> {
        let size = (3 + self.modes) * self.lanes;
        let packed = self.packed.par_chunks(TASK / self.lanes * size);
        let parts: Vec<_> = forces
            .par_chunks(3 * TASK)
            .zip(packed)
            .map(|(f, packed)| self.partial_force(f, packed))
            .collect();
        let mut sum = vec![[[0.0; 3]; 4]; self.modes];
        for part in &parts {
            let sum = sum.as_flattened_mut().as_flattened_mut();
            let part = part.as_flattened().as_flattened();
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        sum.iter().flat_map(|rows| self.coordinates.leave_force(rows).into_iter().flatten()).collect()
    }
}

struct Projection<'a> {
    packed: &'a [f32],
    transforms: &'a [[[f32; 3]; 4]],
    out: &'a mut [f32],
}

impl WithSimd for Projection<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (packed, _) = S::as_simd_f32s(self.packed);
        let blocks = packed.chunks_exact(3 + self.transforms.len());
        for (out, block) in self.out.chunks_mut(3 * S::F32_LANES).zip(blocks) {
            let (point, weights) = block.split_at(3);
            // The blended transform: column d, component c at 3 d + c.
            let mut sum = [simd.splat_f32s(0.0); 12];
            for (&weight, transform) in weights.iter().zip(self.transforms) {
                let transform = transform.as_flattened();
                for e in 0..12 {
                    sum[e] = simd.mul_add_e_f32s(weight, simd.splat_f32s(transform[e]), sum[e]);
                }
            }
            let mut moved = [simd.splat_f32s(0.0); 3];
            for c in 0..3 {
                let along_z = simd.mul_add_e_f32s(sum[6 + c], point[2], sum[9 + c]);
                let along_y = simd.mul_add_e_f32s(sum[3 + c], point[1], along_z);
                moved[c] = simd.mul_add_e_f32s(sum[c], point[0], along_y);
            }
            let moved = pulp::bytemuck::cast_slice::<S::f32s, f32>(&moved);
            for (lane, out) in out.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                *out = [moved[lane], moved[S::F32_LANES + lane], moved[2 * S::F32_LANES + lane]];
            }
        }
    }
}
