//! Projected Newton's method on the same energy: the reference, and what goes on where quasi-Newton steps
//! stall.

use nalgebra::Matrix3;

use super::complement::Complement;
use super::objective::Incremental;
use super::rest_shape::deformation;
use crate::Result;
use crate::material::{Energy, Hessian};
use crate::math::SparseCholesky;
use crate::math::rows::Rows;
use crate::solve::{BlockMatrix, Objective, Value, block_solve};

/// The incremental energy in the metric of its own Hessian, each element's eigenvalues made positive.
pub(super) struct Newton<'a, 'b> {
    pub(super) energy: &'a mut Incremental<'b>,
    /// What becomes of an eigenvalue of an element.
    keep: fn(f64) -> f64,
    matrix: BlockMatrix,
    factor: Option<SparseCholesky>,
}

impl<'a, 'b> Newton<'a, 'b> {
    pub(super) fn new(energy: &'a mut Incremental<'b>, keep: fn(f64) -> f64) -> Self {
        let model = energy.model;
        let mut corners: Vec<Vec<u32>> = Vec::new();
        for chunk in energy.elements.chunks_mut() {
            corners.extend((0..chunk.elements.len()).map(|slot| chunk.element(slot).0));
        }
        let matrix = BlockMatrix::new(model.free, corners.iter().map(Vec::as_slice));
        Self { energy, keep, matrix, factor: None }
    }

    /// The Hessian at the positions of the last evaluation.
    fn assemble(&mut self) {
        let (model, terms) = (self.energy.model, self.energy.terms);
        self.matrix.clear();
        let [inertia, _] = terms.metric();
        for (row, mass) in model.mass.iter().enumerate() {
            self.matrix.add(row, row, &(inertia * mass * Matrix3::identity()));
        }
        for chunk in self.energy.elements.chunks_mut() {
            for slot in 0..chunk.elements.len() {
                let (corners, gradients) = chunk.element(slot);
                let f = deformation(self.energy.positions, &corners, &gradients);
                let law = &model.energies[chunk.elements[slot] as usize];
                let hessian = terms.stiffness * chunk.volumes[slot] * law.filtered_hessian(&f, self.keep);
                for (&row, a) in corners.iter().zip(&gradients) {
                    for (&column, b) in corners.iter().zip(&gradients) {
                        if (row as usize) < model.free && (column as usize) < model.free {
                            self.matrix.add(row as usize, column as usize, &contract(&hessian, a, b));
                        }
                    }
                }
            }
        }
        let quadratics = [
            (model.twisting.as_ref(), terms.stiffness),
            (model.stitches.as_ref(), terms.stiffness),
            (Some(&model.viscosity), terms.drag[1]),
        ];
        for (quadratic, factor) in quadratics.into_iter().filter(|(_, factor)| *factor > 0.0) {
            let Some(quadratic) = quadratic else { continue };
            for row in 0..model.free {
                for &(column, value) in quadratic.row(row) {
                    if (column as usize) < model.free {
                        let block = factor * value * Matrix3::identity();
                        self.matrix.add(row, column as usize, &block);
                    }
                }
            }
        }
    }
}

impl Objective for Newton<'_, '_> {
    fn evaluate(&mut self, u: &Rows, gradient: &mut Rows) -> Value {
        self.energy.evaluate(u, gradient)
    }

    fn visit(&mut self, u: &Rows) -> Result<()> {
        let mut gradient = vec![[0.0; 3]; u.len()];
        self.energy.elastic(u, &mut gradient);
        self.assemble();
        let constraint = self.energy.model.complement.as_ref().map(Complement::columns);
        self.factor = Some(self.matrix.factor(constraint)?);
        Ok(())
    }

    fn solve(&mut self, rows: &mut Rows) {
        match &self.factor {
            Some(factor) => block_solve(factor, rows),
            None => self.energy.solve(rows),
        }
    }

    fn length(&self, step: &Rows) -> f64 {
        self.energy.length(step)
    }
}

/// `sum_kl H_(ik)(jl) a_k b_l`, with matrices flattened column by column.
fn contract(hessian: &Hessian, a: &[f64; 3], b: &[f64; 3]) -> Matrix3<f64> {
    let mut block = Matrix3::zeros();
    for k in 0..3 {
        for l in 0..3 {
            block += a[k] * b[l] * hessian.fixed_view::<3, 3>(3 * k, 3 * l);
        }
    }
    block
}
