//! Right-hand sides of modal derivatives: the second-order elastic forces of pairs of modes.

use faer::Mat;
use pulp::{Arch, Simd, WithSimd};

use super::flesh::{Flesh, LinearModes, tets_each};
use super::near_rest::NearRest;
use crate::math::lanes::{Buffer, lane_counts};
use crate::operators::Strains;
use crate::parallel::*;
use crate::{Progress, Result};

impl Flesh {
    /// `-(H : psi_j) psi_i` at the free coordinates, one column per pair i <= j.
    pub(super) fn bending_loads(
        &self,
        modes: &LinearModes,
        pairs: &[[usize; 2]],
        progress: &Progress,
    ) -> Result<Mat<f64>> {
        let bending = Bending::new(self, modes);
        let mut firsts: Vec<usize> = pairs.iter().map(|[i, _]| *i).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let loads = |&i: &usize| progress.proceed().map(|()| bending.loads(i, self));
        let loads = firsts.par_iter().map(loads).collect::<Result<Vec<Mat<f64>>>>()?;
        let of = |pair: &[usize; 2]| (firsts.partition_point(|i| *i < pair[0]), pair[1]);
        let places: Vec<(usize, usize)> = pairs.iter().map(of).collect();
        let rows = self.swings.free.rows().len();
        let load = |row: usize, pair: usize| -loads[places[pair].0][(row, places[pair].1)];
        Ok(Mat::from_fn(rows, pairs.len(), load))
    }
}

/// Gradients of all modes in each tet, or in each cell of flesh.
struct Bending {
    elements: Vec<Element>,
    /// Gradients of the modes: elements x 9 x modes, padded to whole registers.
    gradients: Buffer<f64>,
    modes: usize,
}

/// A tet or cell: corners with the gradients of their shape functions, and the law.
struct Element {
    corners: Vec<(u32, [f64; 3])>,
    law: NearRest,
}

impl Bending {
    fn new(flesh: &Flesh, modes: &LinearModes) -> Self {
        let (mesh, count) = (&flesh.mesh, modes.eigenvalues.len());
        let (strains, each) = (Strains::new(mesh), tets_each(mesh));
        let element = |first: usize| {
            let mut law = NearRest::default();
            (first..first + each).for_each(|t| law.add(&NearRest::of(&flesh.energies[t], mesh.volumes()[t])));
            Element { corners: strains.of(first).collect(), law }
        };
        let elements: Vec<Element> =
            (0..mesh.tets().len()).into_par_iter().step_by(each).map(element).collect();
        let stride = count.next_multiple_of(lane_counts().0);
        let mut gradients = Buffer::zeros(9 * stride * elements.len());
        for (element, gradients) in elements.iter().zip(gradients.chunks_exact_mut(9 * stride)) {
            for (mode, shape) in modes.shapes.col_iter().enumerate() {
                for (vertex, gradient) in &element.corners {
                    for entry in 0..9 {
                        let moved = shape[3 * *vertex as usize + entry / 3];
                        gradients[entry * stride + mode] += moved * gradient[entry % 3];
                    }
                }
            }
        }
        Self { elements, gradients, modes: count }
    }

    /// `(H : psi_j) psi_i` at the free coordinates for one i, one column per j; columns below i stay zero.
    fn loads(&self, i: usize, flesh: &Flesh) -> Mat<f64> {
        let stride = self.modes.next_multiple_of(lane_counts().0);
        let mut sums = Buffer::zeros(3 * flesh.mesh.vertices().len() * stride);
        Arch::new().dispatch(Bend { bending: self, i, sums: &mut sums });
        let rows = flesh.swings.free.rows();
        Mat::from_fn(rows.len(), self.modes, |row, j| sums[rows[row] as usize * stride + j])
    }
}

/// Sums the element forces, coordinates x modes.
struct Bend<'a> {
    bending: &'a Bending,
    i: usize,
    sums: &'a mut [f64],
}

impl WithSimd for Bend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Bending { elements, gradients, modes } = self.bending;
        let registers = modes.div_ceil(S::F64_LANES);
        let stride = registers * S::F64_LANES;
        let (sums, _) = S::as_mut_simd_f64s(self.sums);
        let (lanes, _) = S::as_simd_f64s(gradients);
        for (number, Element { corners, law }) in elements.iter().enumerate() {
            let mut own = [0.0; 9];
            for (entry, own) in own.iter_mut().enumerate() {
                *own = gradients[(9 * number + entry) * stride + self.i];
            }
            for register in self.i / S::F64_LANES..registers {
                let mut others = [simd.splat_f64s(0.0); 9];
                for (entry, other) in others.iter_mut().enumerate() {
                    *other = lanes[(9 * number + entry) * registers + register];
                }
                let stress = law.bend(simd, &own, &others);
                for (vertex, gradient) in corners {
                    for c in 0..3 {
                        let sum = &mut sums[(3 * *vertex as usize + c) * registers + register];
                        for d in 0..3 {
                            *sum = simd.mul_add_e_f64s(stress[3 * c + d], simd.splat_f64s(gradient[d]), *sum);
                        }
                    }
                }
            }
        }
    }
}
