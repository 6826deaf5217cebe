//! Projection from the transforms of handles to displacements of points, in one pass over memory.

use pulp::{Arch, Simd, WithSimd};

use super::project::Project;
use crate::kinematics::coordinates::Coordinates;
use crate::math::lanes::Buffer;
use crate::mesh::Embedding;
use crate::parallel::*;
use crate::subspace::Handles;

/// Points a task works on; bodies with fewer than two tasks stay on the caller's thread.
const TASK: usize = 16 * 1024;
/// Padded length of a transform, whose last four numbers are zero: a whole number of SIMD registers.
const TRANSFORM: usize = 16;

/// Displacements `u_i = sum_j w_ij Z_j [X_i - c_j; 1]` at fixed points, each with few handles.
///
/// Displacements are computed in f32, about the body's centre and relative to the motion of the first
/// handle. Forces are summed in f64.
pub(crate) struct HandleProjector {
    coordinates: Coordinates,
    centers: Vec<[f64; 3]>,
    points: Vec<[f64; 3]>,
    starts: Vec<usize>,
    /// Handle indices; below 2^16, since matrices have entries for every pair of handles.
    handles: Vec<u16>,
    weights: Vec<f64>,
    /// Points relative to the centre, and weights, in the precision of displacements.
    places: Vec<[f32; 3]>,
    shares: Vec<f32>,
}

impl HandleProjector {
    /// Projector to the vertices, or to the points of an embedding in tets of these vertices.
    pub(crate) fn new(
        handles_of: &Handles,
        vertices: &[[f64; 3]],
        embedding: Option<(&Embedding, &[[u32; 4]])>,
    ) -> Self {
        let points = embedding.map_or(vertices, |(embedding, _)| embedding.points()).to_vec();
        let (mut starts, mut handles, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut row = Vec::new();
        for point in 0..points.len() {
            match embedding {
                None => row.extend_from_slice(handles_of.of_vertex(point)),
                Some((embedding, tets)) => {
                    let corners = tets[embedding.tets()[point] as usize];
                    for (vertex, share) in corners.iter().zip(embedding.barycentric()[point]) {
                        let of = handles_of.of_vertex(*vertex as usize);
                        row.extend(of.iter().map(|&(handle, weight)| (handle, share * weight)));
                    }
                    row.sort_by_key(|&(handle, _)| handle);
                }
            }
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                handles.push(same[0].0 as u16);
                weights.push(same.iter().map(|(_, weight)| weight).sum());
            }
            row.clear();
            starts.push(handles.len());
        }
        let coordinates = Coordinates::of(&points);
        let place = |point: &[f64; 3]| {
            let [x, y, z, _] = coordinates.homogeneous(point);
            [x, y, z].map(|x| x as f32)
        };
        let (places, shares) =
            (points.iter().map(place).collect(), weights.iter().map(|&weight| weight as f32).collect());
        let centers = handles_of.centers().to_vec();
        Self { coordinates, centers, points, starts, handles, weights, places, shares }
    }

    /// The handles of a point with their weights.
    fn of_point(&self, point: usize) -> impl Iterator<Item = (usize, f64)> {
        let own = self.starts[point]..self.starts[point + 1];
        self.handles[own.clone()].iter().map(|&handle| handle as usize).zip(self.weights[own].iter().copied())
    }

    /// Motion of the centre by the first handle, and the transforms of all handles relative to it,
    /// column-major.
    fn transforms(&self, coefficients: &[f64]) -> ([f32; 3], Buffer<f32>) {
        let mut transforms = Buffer::zeros(TRANSFORM * self.centers.len());
        let mut base = None;
        let given = coefficients.as_chunks::<4>().0.as_chunks::<3>().0;
        for ((z, center), out) in given.iter().zip(&self.centers).zip(transforms.chunks_exact_mut(TRANSFORM))
        {
            let shift = |[x, y, z, shift]: &[f64; 4]| shift - x * center[0] - y * center[1] - z * center[2];
            let about_origin = z.each_ref().map(|row| [row[0], row[1], row[2], shift(row)]);
            let mut columns = self.coordinates.enter(&about_origin);
            let base = *base.get_or_insert(columns[3]);
            (0..3).for_each(|c| columns[3][c] -= base[c]);
            out.iter_mut().zip(columns.as_flattened()).for_each(|(out, &x)| *out = x as f32);
        }
        (base.unwrap_or_default().map(|x| x as f32), transforms)
    }
}

impl Project for HandleProjector {
    fn coefficient_count(&self) -> usize {
        12 * self.centers.len()
    }

    fn shape(&self) -> String {
        format!("({}, 3, 4)", self.centers.len())
    }

    fn point_count(&self) -> usize {
        self.points.len()
    }

    fn displacement(&self, coefficients: &[f64], out: &mut [f32]) {
        let (base, transforms) = self.transforms(coefficients);
        let project = |(task, out): (usize, &mut [f32])| {
            Arch::new().dispatch(Projection {
                projector: self,
                base,
                transforms: &transforms,
                first: task * TASK,
                out,
            });
        };
        if self.points.len() < 2 * TASK {
            project((0, out));
        } else {
            out.par_chunks_mut(3 * TASK).enumerate().for_each(project);
        }
    }

    /// `sum over i of w_ij f_i [X_i - c_j; 1]'`.
    fn reduce_forces(&self, forces: &[f64]) -> Vec<f64> {
        let mut sums = vec![[[0.0; 4]; 3]; self.centers.len()];
        for (point, (force, place)) in forces.as_chunks::<3>().0.iter().zip(&self.points).enumerate() {
            for (handle, weight) in self.of_point(point) {
                let center = &self.centers[handle];
                for (row, force) in sums[handle].iter_mut().zip(force) {
                    (0..3).for_each(|d| row[d] += weight * force * (place[d] - center[d]));
                    row[3] += weight * force;
                }
            }
        }
        sums.as_flattened().as_flattened().to_vec()
    }
}

/// Displacements of a range of points.
struct Projection<'a> {
    projector: &'a HandleProjector,
    base: [f32; 3],
    transforms: &'a [f32],
    first: usize,
    out: &'a mut [f32],
}

impl WithSimd for Projection<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let HandleProjector { starts, handles, places, shares, .. } = self.projector;
        let (transforms, _) = S::as_simd_f32s(self.transforms);
        let registers = TRANSFORM / S::F32_LANES;
        let points = starts[self.first..].windows(2).zip(&places[self.first..]);
        for (out, (ends, place)) in self.out.as_chunks_mut::<3>().0.iter_mut().zip(points) {
            let own = ends[0]..ends[1];
            // The blended transform: column d, component c at 3 d + c.
            let mut sum = [simd.splat_f32s(0.0); TRANSFORM];
            for (&handle, &share) in handles[own.clone()].iter().zip(&shares[own]) {
                let share = simd.splat_f32s(share);
                let transform = &transforms[registers * handle as usize..][..registers];
                for (sum, &part) in sum.iter_mut().zip(transform) {
                    *sum = simd.mul_add_e_f32s(share, part, *sum);
                }
            }
            let sum = pulp::bytemuck::cast_slice::<S::f32s, f32>(&sum[..registers]);
            for c in 0..3 {
                let turned = sum[c] * place[0] + sum[3 + c] * place[1] + sum[6 + c] * place[2];
                out[c] = self.base[c] + (turned + sum[9 + c]);
            }
        }
    }
}
