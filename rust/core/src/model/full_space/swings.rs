//! Local frequencies of a held body in the full space.

use nalgebra::Matrix3;

use super::FullSpaceModel;
use crate::material::Energy;
use crate::math::rows::{Rows, add, dot};
use crate::math::{SparseCholesky, VertexScratch};
use crate::operators::BlockMatrix;
use crate::potentials::elastic::fibres::{Fibres, relaxed};
use crate::potentials::swings::{FIELDS, Fields, Swings};
use crate::{Progress, Result};

/// Error of a field in the energy norm, as a share of the field.
const TOLERANCE: f64 = 1e-3;
/// Largest number of iterations of conjugate gradients.
const MAX_ITERATIONS: usize = 300;

impl FullSpaceModel {
    /// Local frequencies of the moving rows, for a factor 1 on the elastic energy; of loose parts that of the
    /// metric.
    pub(super) fn find_swings(&self, factor: &SparseCholesky, progress: &Progress) -> Result<Swings> {
        let mut system = System {
            hessian: self.hessian_at_rest(),
            factor,
            model: self,
            scratch: VertexScratch::default(),
        };
        let mut fields = Fields::new(self.free);
        for axis in 0..3 {
            progress.report(0.8 + 0.05 * axis as f32)?;
            let mut u = vec![[0.0; 3]; self.free];
            u.iter_mut().for_each(|row| row[axis] = 1.0);
            let mut start = vec![[0.0; 3]; self.free];
            for number in 0..FIELDS {
                let next = system.answer(&u, start);
                fields.add(number, &next);
                start = system.grown(&u, &next);
                u = next;
            }
        }
        let mut frequencies = fields.frequencies(self.shift);
        let loose = frequencies.iter_mut().zip(&self.loose).filter(|(_, loose)| **loose);
        loose.for_each(|(omega, _)| *omega = std::f64::consts::TAU * self.frequency);
        Ok(Swings::new(frequencies, |row| self.mass[row]))
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
            matrix.add_quadratic(quadratic, 1.0);
        }
        matrix
    }
}

/// `K + shift M`, and the factor of the metric with the same shift as its preconditioner, whose directions
/// keep to the constraint.
struct System<'a> {
    hessian: BlockMatrix,
    factor: &'a SparseCholesky,
    model: &'a FullSpaceModel,
    scratch: VertexScratch,
}

impl System<'_> {
    /// Admissible solution x of `(K + shift M) x = M u` by conjugate gradients.
    fn answer(&mut self, u: &Rows, start: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let load = weighed(&self.model.mass, 1.0, u);
        let mut x = start;
        let mut image = vec![[0.0; 3]; x.len()];
        self.multiply(&x, &mut image);
        let mut residual = load.clone();
        add(&mut residual, -1.0, &image);
        let mut direction = self.precondition(&residual);
        let mut left = dot(&residual, &direction);
        for _ in 0..MAX_ITERATIONS {
            if left <= TOLERANCE * TOLERANCE * dot(&load, &x) {
                break;
            }
            self.multiply(&direction, &mut image);
            let step = left / dot(&direction, &image);
            add(&mut x, step, &direction);
            add(&mut residual, -step, &image);
            let next = self.precondition(&residual);
            let before = std::mem::replace(&mut left, dot(&residual, &next));
            for (direction, next) in direction.iter_mut().zip(&next) {
                (0..3).for_each(|c| direction[c] = next[c] + left / before * direction[c]);
            }
        }
        x
    }

    /// The start of the next solution: x as much longer as it is than u in the mean.
    fn grown(&self, u: &Rows, x: &Rows) -> Vec<[f64; 3]> {
        let heavy = weighed(&self.model.mass, 1.0, x);
        let growth = dot(x, &heavy) / dot(u, &heavy);
        x.iter().map(|row| row.map(|x| growth * x)).collect()
    }

    fn multiply(&self, x: &Rows, out: &mut Rows) {
        self.hessian.multiply(x, out);
        add(out, 1.0, &weighed(&self.model.mass, self.model.shift, x));
    }

    fn precondition(&mut self, residual: &Rows) -> Vec<[f64; 3]> {
        let mut rows = residual.to_vec();
        self.factor.solve_vertices(&mut self.scratch, &mut rows);
        rows
    }
}

/// `factor M x`.
fn weighed(mass: &[f64], factor: f64, x: &Rows) -> Vec<[f64; 3]> {
    x.iter().zip(mass).map(|(row, mass)| row.map(|x| factor * mass * x)).collect()
}
