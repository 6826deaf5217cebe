//! Local frequencies of a held body in the full space.

use nalgebra::Matrix3;

use super::FullSpaceModel;
use super::LocalDamping;
use crate::kinematics::complement::Complement;
use crate::material::Energy;
use crate::math::rows::{Rows, dot};
use crate::math::{SparseCholesky, VertexScratch, conjugate_gradients};
use crate::operators::BlockMatrix;
use crate::potentials::elastic::fibres::{Fibres, relaxed};
use crate::potentials::quadratic::{Quadratic, combine_wide};
use crate::potentials::swings::{CANCELLED, Fields, Swing, damping_matrix};
use crate::{Progress, Result};

/// Residual of a field in the norm of the inverse metric, as a share of the load, as firm parts move little;
/// and the largest number of iterations.
const ACCURACY: (f64, usize) = (1e-5, 300);
/// Share of the shift that makes the metric of a body on a constraint definite: its slow modes stay slow.
const DEFINITE: f64 = 1e-4;

impl FullSpaceModel {
    /// Damping of a held body by local frequencies, of loose parts by that of the metric.
    pub(super) fn find_local_damping(&self, progress: &Progress) -> Result<Option<LocalDamping>> {
        if !self.is_held() {
            return Ok(None);
        }
        let swings = self.find_swings(progress)?;
        let resistances = |tet: usize| [self.data.laws[tet].slope(), self.data.laws[tet].bending()];
        let (matrix, mean) = damping_matrix(self.mesh(), resistances, &self.data.mass, &swings)?;
        let moving = self.data.moving.rows().iter().map(|&vertex| self.rows[vertex as usize]);
        let matrix = Quadratic::new(&self.data.moving.square(&matrix), &moving.collect::<Vec<_>>());
        Ok(Some(LocalDamping { matrix, mean }))
    }

    /// Local frequencies of all vertices; zero at pinned ones.
    fn find_swings(&self, progress: &Progress) -> Result<Vec<Swing>> {
        let factor = self.metric(None, [DEFINITE * self.shift, 1.0])?;
        let hessian = self.hessian_at_rest();
        let mut system = System {
            hessian,
            factor,
            complement: self.complement.as_ref(),
            scratch: VertexScratch::default(),
        };
        let mut fields = Fields::new(self.free);
        for axis in 0..3 {
            progress.report(0.8 + 0.05 * axis as f32)?;
            let mut unit = vec![[0.0; 3]; self.free];
            // Loose parts would only fall.
            unit.iter_mut()
                .zip(&self.loose)
                .for_each(|(row, &loose)| row[axis] = if loose { 0.0 } else { 1.0 });
            let load = self.weigh(&unit);
            let mut felt = load.clone();
            purify(self.complement.as_ref(), &mut felt);
            if dot(&felt, &felt) <= CANCELLED * CANCELLED * dot(&load, &load) {
                continue;
            }
            let sag = system.answer(felt);
            let answer = system.answer(self.weigh(&sag));
            let pulled = system.answer(self.pull(&answer));
            fields.add([&sag, &answer, &pulled]);
        }
        let mut swings = vec![Swing::NONE; self.vertices.len()];
        for (&vertex, swing) in self.vertices.iter().zip(fields.swings(self.frequency)) {
            swings[vertex as usize] = swing;
        }
        Ok(swings)
    }

    /// M u.
    fn weigh(&self, u: &Rows) -> Vec<[f64; 3]> {
        u.iter().zip(&self.mass).map(|(u, mass)| u.map(|u| mass * u)).collect()
    }

    /// L u.
    fn pull(&self, u: &Rows) -> Vec<[f64; 3]> {
        let (mut wide, mut force) = (vec![[0.0; 4]; u.len()], vec![[0.0; 3]; u.len()]);
        combine_wide(&mut wide, u, 0.0, u);
        self.laplacian.evaluate(&wide, 1.0, &mut force);
        force
    }

    /// Second derivative of the elastic energy of the moving rows at rest.
    fn hessian_at_rest(&self) -> BlockMatrix {
        let positive = |value: f64| value.max(0.0);
        let slots =
            || self.elements.chunks().iter().flat_map(|chunk| chunk.slots().map(move |slot| (chunk, slot)));
        let corners: Vec<Vec<u32>> = slots().map(|(chunk, slot)| chunk.element(slot).0).collect();
        let mut matrix = BlockMatrix::new(self.free, corners.iter().map(Vec::as_slice));
        for (chunk, slot) in slots() {
            let (corners, gradients) = chunk.element(slot);
            let law = &self.energies[chunk.elements[slot] as usize];
            let hessian = chunk.volumes[slot] * law.filtered_hessian(&Matrix3::identity(), positive);
            matrix.add_element(&corners, &gradients, &hessian);
        }
        if let Some(fibres) = &self.fibres {
            let rest: Vec<[f64; 3]> = (0..self.vertices.len()).map(|row| self.rest(row)).collect();
            let settings = (&relaxed(&0.0.into()), 1.0, self.free);
            Fibres::new(fibres.clone()).add_hessian(&rest, settings, positive, &mut matrix);
        }
        for quadratic in [&self.twisting, &self.stitches].into_iter().flatten() {
            quadratic.add_hessian(1.0, &mut matrix);
        }
        matrix
    }
}

/// K, and the factor of the metric as its preconditioner, whose directions keep to the constraint.
struct System<'a> {
    hessian: BlockMatrix,
    factor: SparseCholesky,
    complement: Option<&'a Complement>,
    scratch: VertexScratch,
}

impl System<'_> {
    /// Admissible solution x of `K x = f`.
    fn answer(&mut self, mut f: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let Self { hessian, factor, complement, scratch } = self;
        let rows = |flat: &[f64]| flat.as_chunks::<3>().0.to_vec();
        purify(*complement, &mut f);
        let multiply = |direction: &[f64], image: &mut [f64]| {
            let image = image.as_chunks_mut::<3>().0;
            hessian.multiply(direction.as_chunks::<3>().0, image);
            purify(*complement, image);
        };
        let precondition = |residual: &[f64]| {
            let mut rows = rows(residual);
            factor.solve_vertices(scratch, &mut rows);
            rows.into_flattened()
        };
        // A field that ends before its tolerance is as good as conjugate gradients make it.
        let (x, _) = conjugate_gradients(f.into_flattened(), multiply, precondition, ACCURACY);
        rows(&x)
    }
}

fn purify(complement: Option<&Complement>, rows: &mut Rows) {
    if let Some(complement) = complement {
        complement.purify(rows);
    }
}
