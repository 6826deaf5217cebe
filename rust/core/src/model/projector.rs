//! Projection from coefficients to displacements of vertices, in one pass over memory.

use faer::MatRef;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::kinematics::basis_projector::DisplacementProjector;
use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::vertex_projector::VertexProjector;
use crate::math::lanes::{Buffer, lane_counts};
use crate::mesh::{Embedding, TetMesh};
use crate::model::projective::ProjectiveModel;
use crate::model::projective::projector::HandleProjector;
use crate::{Error, Result};

/// Points a task; smaller bodies stay on the caller's thread.
const TASK: usize = 16 * 1024;

/// Map from coefficients to displacements at fixed points: tet vertices or render vertices.
pub struct Projector(Kind);

enum Kind {
    Modes(ModeProjector),
    Vertices(VertexProjector),
    Displacements(DisplacementProjector),
    Handles(HandleProjector),
}

impl Projector {
    /// Projector of modes, from points (p x 3) and the mode weights at them (p x m, C order).
    ///
    /// # Errors
    /// [`Error::Shape`] if the lengths do not match.
    pub fn new(points: &[[f64; 3]], weights: &[f64], modes: usize) -> Result<Self> {
        Ok(Self(Kind::Modes(ModeProjector::new(points, weights, modes)?)))
    }

    /// Projector of the full space, whose coefficients are the vertex displacements.
    pub(crate) fn of_vertices(mesh: &TetMesh, embedding: Option<&Embedding>) -> Result<Self> {
        Ok(Self(Kind::Vertices(VertexProjector::new(mesh, embedding)?)))
    }

    /// Projector of a basis of vertex displacements, 3n x r.
    pub(crate) fn of_basis(
        basis: MatRef<'_, f64>,
        mesh: &TetMesh,
        embedding: Option<&Embedding>,
    ) -> Result<Self> {
        Ok(Self(Kind::Displacements(DisplacementProjector::new(basis, mesh, embedding)?)))
    }

    /// Projector of the handles of a projective body.
    pub(crate) fn of_handles(model: &ProjectiveModel, embedding: Option<&Embedding>) -> Result<Self> {
        Ok(Self(Kind::Handles(HandleProjector::new(model, embedding)?)))
    }

    /// Number of points p.
    pub fn point_count(&self) -> usize {
        match &self.0 {
            Kind::Modes(projector) => projector.points,
            Kind::Vertices(projector) => projector.point_count(),
            Kind::Displacements(projector) => projector.point_count(),
            Kind::Handles(projector) => projector.point_count(),
        }
    }

    /// Writes the displacements, p x 3 in metres, of coefficients in C order: m x 3 x 4 for modes, n x 3
    /// for vertices, r for a basis or k x 3 x 4 for handles.
    ///
    /// Large bodies are split between rayon's threads, with identical bits for any number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if either slice has the wrong length.
    pub fn displacement(&self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        if out.len() != 3 * self.point_count() {
            let (expected, got) = (format!("({}, 3)", self.point_count()), format!("{} numbers", out.len()));
            return Err(Error::Shape { what: "out", expected, got });
        }
        match &self.0 {
            Kind::Modes(projector) => projector.displacement(coefficients, out),
            Kind::Vertices(projector) => projector.displacement(coefficients, out),
            Kind::Displacements(projector) => projector.displacement(coefficients, out),
            Kind::Handles(projector) => projector.displacement(coefficients, out),
        }
    }

    /// The generalised force, of the shape of the coefficients, of forces at the points, p x 3 in newtons:
    /// the exact transpose of [`Projector::displacement`].
    ///
    /// Work on the coefficients equals work on the displacements. Summed in f64 and in the same order for
    /// any number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for the forces.
    pub fn reduce_forces(&self, forces: &[f64]) -> Result<Vec<f64>> {
        if forces.len() != 3 * self.point_count() {
            let expected = format!("({}, 3)", self.point_count());
            let got = format!("{} numbers", forces.len());
            return Err(Error::Shape { what: "forces", expected, got });
        }
        if let Some(at) = forces.iter().position(|f| !f.is_finite()) {
            return Err(Error::NotFinite { what: "forces", element: at / 3, value: forces[at] });
        }
        Ok(match &self.0 {
            Kind::Modes(projector) => projector.reduce_forces(forces),
            Kind::Vertices(projector) => projector.reduce_forces(forces),
            Kind::Displacements(projector) => projector.reduce_forces(forces),
            Kind::Handles(projector) => projector.reduce_forces(forces),
        })
    }
}

/// Displacements `u_i = sum over k of W_ik Z_k [X_i; 1]`.
///
/// Stores the points and one weight a mode and point as f32, in reading order. Displacements are rounded to
/// f32; sums run in f32 too, about the body's centre.
struct ModeProjector {
    coordinates: Coordinates,
    modes: usize,
    points: usize,
    lanes: usize,
    /// Blocks of `lanes` points: x, y, z, then the weights of each mode: blocks x (3 + m) x lanes.
    packed: Buffer<f32>,
}

impl ModeProjector {
    fn new(points: &[[f64; 3]], weights: &[f64], modes: usize) -> Result<Self> {
        if weights.len() != points.len() * modes {
            return Err(Error::Shape {
                what: "weights",
                expected: format!("({}, {modes})", points.len()),
                got: format!("{} numbers", weights.len()),
            });
        }
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

    fn displacement(&self, coefficients: &[f64], out: &mut [f32]) -> Result<()> {
        if coefficients.len() != 12 * self.modes {
            let expected = format!("({}, 3, 4)", self.modes);
            let got = format!("{} numbers", coefficients.len());
            return Err(Error::Shape { what: "coefficients", expected, got });
        }
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
        Ok(())
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
