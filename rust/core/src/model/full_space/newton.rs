//! Projected Newton's method on the same energy: the reference, and the fallback after a stall.

use nalgebra::Matrix3;

use super::objective::Incremental;
use crate::Result;
use crate::kinematics::complement::Complement;
use crate::material::Energy;
use crate::math::SparseCholesky;
use crate::math::rows::Rows;
use crate::operators::{BlockMatrix, block_solve};
use crate::potentials::contact::Inverse;
use crate::potentials::inertia::Inertia;
use crate::solve::{Lbfgs, Objective, Value};

/// The incremental energy in the metric of its own Hessian, with modified eigenvalues of each element.
pub(super) struct Newton<'a, 'b> {
    pub(super) energy: &'a mut Incremental<'b>,
    /// Map of an element's eigenvalues.
    keep: fn(f64) -> f64,
    matrix: BlockMatrix,
    factor: Option<SparseCholesky>,
}

impl<'a, 'b> Newton<'a, 'b> {
    pub(super) fn new(energy: &'a mut Incremental<'b>, keep: fn(f64) -> f64) -> Self {
        let model = energy.model;
        let mut corners: Vec<Vec<u32>> = Vec::new();
        for chunk in energy.elements.chunks() {
            corners.extend((0..chunk.elements.len()).map(|slot| chunk.element(slot).0));
        }
        let matrix = BlockMatrix::new(model.free, corners.iter().map(Vec::as_slice));
        Self { energy, keep, matrix, factor: None }
    }

    /// Assembles the Hessian at u, the positions of the last evaluation.
    fn assemble(&mut self, u: &Rows) {
        let (model, terms) = (self.energy.model, self.energy.terms);
        self.matrix.clear();
        let Inertia { factor, held, viscous, .. } = terms.inertia;
        for (row, mass) in model.mass.iter().enumerate() {
            self.matrix.add(row, row, &((factor + held) * mass * Matrix3::identity()));
            self.matrix.add(row, row, &terms.medium.hessian(row, &u[row]));
            if let Some(limit) = &terms.limit {
                self.matrix.add(row, row, &limit.hessian(*mass, &u[row]));
            }
        }
        let limits = self.energy.stretch.iter().flat_map(|limits| limits.now.chunks());
        for chunk in self.energy.elements.chunks().iter().chain(limits) {
            for slot in chunk.slots() {
                let (corners, gradients) = chunk.element(slot);
                let f = chunk.gradient(slot, self.energy.positions);
                let hessian = if chunk.is_limit() {
                    chunk.stretch_limit(slot).filtered_hessian(&f, self.keep)
                } else {
                    model.energies[chunk.elements[slot] as usize].filtered_hessian(&f, self.keep)
                };
                let hessian = terms.stiffness * chunk.volumes[slot] * hessian;
                self.matrix.add_element(&corners, &gradients, &hessian);
            }
        }
        if let Some(fibres) = &self.energy.fibres {
            let settings = (&terms.relaxed, terms.stiffness, model.free);
            fibres.add_hessian(self.energy.positions, settings, self.keep, &mut self.matrix);
        }
        let quadratics = [
            (model.twisting.as_ref(), terms.stiffness),
            (self.energy.stitches(), terms.stiffness),
            (Some(self.energy.viscosity()), viscous),
        ];
        for (quadratic, factor) in quadratics.into_iter().filter(|(_, factor)| *factor > 0.0) {
            if let Some(quadratic) = quadratic {
                quadratic.add_hessian(factor, &mut self.matrix);
            }
        }
    }
}

impl Objective for Newton<'_, '_> {
    fn evaluate(&mut self, u: &Rows, gradient: &mut Rows) -> Value {
        self.energy.evaluate(u, gradient)
    }

    fn accept(&mut self) {
        self.energy.accept();
    }

    fn visit(&mut self, u: &Rows, iteration: u32) -> Result<bool> {
        let changed = self.energy.visit(u, iteration)?;
        let mut gradient = vec![[0.0; 3]; u.len()];
        self.energy.evaluate(u, &mut gradient);
        self.assemble(u);
        let constraint = self.energy.model.complement.as_ref().map(Complement::columns);
        self.factor = Some(self.matrix.factor(constraint)?);
        Ok(changed)
    }

    fn solve(&mut self, rows: &mut Rows) {
        match &self.factor {
            Some(factor) => block_solve(factor, rows),
            None => self.energy.solve(rows),
        }
    }

    fn correct(&mut self, u: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        let Incremental { contact, terms, factor, firmer, scratch, .. } = &mut *self.energy;
        if let (Some(contact), Some(hessian)) = (contact, &self.factor) {
            // The factor is new in each iteration.
            memory.change_metric();
            let metric = firmer.as_ref().unwrap_or(factor);
            let mut even = |rows: &mut Rows| metric.solve_vertices(scratch, rows);
            let mut solve = |rows: &mut Rows| block_solve(hessian, rows);
            let inverse = Inverse::coupled(&mut solve, &mut even);
            contact.correct(&terms.rig, u, memory, direction, value, inverse);
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.energy.further_slope(direction)
    }

    fn left(&mut self, slope: f64) -> Option<f64> {
        self.energy.left(slope)
    }

    fn length(&self, step: &Rows) -> f64 {
        self.energy.length(step)
    }
}
