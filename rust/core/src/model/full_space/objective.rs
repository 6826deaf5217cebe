//! Incremental energy of a step.

use std::f64::consts::TAU;

use super::FullSpaceModel;
use super::opening::Opened;
use super::stretch::{NEAR, StretchLimits};
use crate::Result;
use crate::inputs::shares::Shares;
use crate::kinematics::rigid::RigidMotions;
use crate::math::rows::{Rows, add, dot};
use crate::math::{SparseCholesky, VertexScratch};
use crate::parallel::join_if;
use crate::potentials::contact::{Contact, Inverse};
use crate::potentials::displacement_limit::Limit;
use crate::potentials::drag::PointDrag;
use crate::potentials::elastic::elements::Elements;
use crate::potentials::elastic::fibres::{Fibres, Relaxed, relaxed};
use crate::potentials::inertia::Inertia;
use crate::potentials::quadratic::{Quadratic, Wide, combine_wide};
use crate::solve::{Lbfgs, Objective, Value, share_of_tolerance};

/// Iterations between searches for tets near their stretch limit.
const WATCHED: u32 = 6;
/// Iterations between updates of the metric for active limits.
const REFRESHED: u32 = 2 * WATCHED;

/// Constant terms of a step's energy.
pub(super) struct Terms {
    /// Inertia and damping of the moving rows.
    pub(super) inertia: Inertia,
    /// The rig's shape, all rows.
    pub(super) rig: Vec<[f64; 3]>,
    /// Gap forces of stitches, all rows or empty, and their constant elastic energy.
    pub(super) gaps: Vec<[f64; 3]>,
    pub(super) gap_energy: f64,
    /// Factor on the elastic energy.
    pub(super) stiffness: f64,
    /// Share of the rig in the rest shape.
    pub(super) pose_rest: f64,
    /// Stress-free stretches of fibres.
    pub(super) relaxed: Relaxed,
    /// Displacement limit.
    pub(super) limit: Option<Limit>,
    /// Drag at the vertices.
    pub(super) medium: PointDrag,
}

impl Terms {
    pub(super) fn new(model: &FullSpaceModel) -> Self {
        let rows = model.vertices.len();
        Self {
            inertia: Inertia::new(model.free),
            rig: vec![[0.0; 3]; rows],
            gaps: vec![[0.0; 3]; if model.gaps.is_some() { rows } else { 0 }],
            gap_energy: 0.0,
            stiffness: 1.0,
            pose_rest: 0.0,
            relaxed: relaxed(&0.0.into()),
            limit: None,
            medium: PointDrag::new(model.mass.clone(), model.mesh().diagonal()),
        }
    }

    /// Sets the gap forces of stitches in a pose, with given shares of stiffness.
    pub(super) fn keep_gaps(&mut self, model: &FullSpaceModel, pose: &Rows, shares: &Shares) {
        if let Some(gaps) = &model.gaps {
            self.gap_energy = gaps.pull(pose, shares, &mut self.gaps);
        }
    }

    /// Factors of mass and Laplacian in the metric.
    pub(super) fn metric(&self) -> [f64; 2] {
        self.inertia.metric(self.stiffness)
    }
}

/// `inertia / 2 |u - target|_M^2 + stiffness E(rig + u) - force.u` with damping, and scratch.
pub(super) struct Incremental<'a> {
    pub(super) model: &'a FullSpaceModel,
    /// Replacement matrices for opened stitches.
    pub(super) opened: Option<&'a Opened>,
    pub(super) elements: &'a mut Elements,
    /// Elements in the bind shape, if the current ones differ.
    pub(super) rest: Option<&'a Elements>,
    pub(super) fibres: Option<&'a mut Fibres>,
    /// Stretch limit, if any.
    pub(super) stretch: Option<&'a mut StretchLimits>,
    pub(super) terms: &'a Terms,
    /// Force on the moving rows, N; empty for none.
    pub(super) force: &'a Rows,
    pub(super) factor: &'a SparseCholesky,
    /// Factor of the metric with active limits.
    pub(super) firmer: &'a mut Option<SparseCholesky>,
    pub(super) scratch: &'a mut VertexScratch,
    /// Positions of all rows.
    pub(super) positions: &'a mut Vec<[f64; 3]>,
    /// Scratch argument of quadratic energies, all rows.
    pub(super) wide: &'a mut Vec<Wide>,
    pub(super) contact: Option<&'a mut Contact>,
    /// Rigid motions of a free body, which damping leaves alone.
    pub(super) rigid: Option<&'a mut RigidMotions>,
    /// Largest distance to the minimum in this substep, by the metric.
    pub(super) farthest: f64,
    /// Elastic energy of the last evaluation, and of the point reached, without the scale of stiffness, J.
    pub(super) tried: f64,
    pub(super) reached: f64,
}

impl<'a> Incremental<'a> {
    /// Springs between vertices, on all rows.
    pub(super) fn stitches(&self) -> Option<&'a Quadratic> {
        self.opened.map_or(self.model.stitches.as_ref(), |opened| Some(&opened.stitches))
    }

    /// The Laplacian on the moving rows.
    pub(super) fn laplacian(&self) -> &'a Quadratic {
        self.opened.map_or(&self.model.laplacian, |opened| &opened.laplacian)
    }

    /// The matrix of damping on the moving rows.
    pub(super) fn viscosity(&self) -> &'a Quadratic {
        self.model.local_damping.as_ref().map_or_else(|| self.laplacian(), |local| &local.matrix)
    }

    fn place(&mut self, u: &Rows) {
        self.positions.copy_from_slice(&self.terms.rig);
        add(&mut self.positions[..self.model.free], 1.0, u);
    }

    /// Activates tets beyond a share of their stretch limit at u; `true` if there are new ones.
    pub(super) fn watch_stretch(&mut self, u: &Rows, share: f64) -> bool {
        if self.stretch.is_some() {
            self.place(u);
        }
        self.stretch.as_mut().is_some_and(|limits| limits.watch(self.positions, share))
    }
}

/// Terms of the energy, J, apart from those of elements.
struct Others {
    /// Elastic energy without the scale of stiffness.
    elastic: f64,
    /// Inertia, damping, drag and displacement limit.
    moving: f64,
    /// Work of the force.
    work: f64,
}

/// Terms of the energy that run through rows, evaluated beside the elements.
struct ByRows<'a> {
    model: &'a FullSpaceModel,
    terms: &'a Terms,
    /// Springs between vertices, on all rows, and the matrix of damping on the moving rows.
    stitches: Option<&'a Quadratic>,
    viscosity: &'a Quadratic,
    force: &'a Rows,
    positions: &'a Rows,
    wide: &'a mut [Wide],
    fibres: Option<&'a mut Fibres>,
    rigid: Option<&'a mut RigidMotions>,
}

impl ByRows<'_> {
    /// Terms at u; writes their gradient.
    fn evaluate(&mut self, u: &Rows, gradient: &mut Rows) -> Others {
        let terms = self.terms;
        gradient.fill([0.0; 3]);
        let elastic = self.elastic(gradient);
        let mut moving = self.move_on(u, gradient);
        if terms.inertia.viscous > 0.0 {
            moving += self.damp(u, gradient);
        }
        moving += terms.medium.evaluate_at(u, gradient);
        if let Some(limit) = &terms.limit {
            moving += limit.evaluate(&self.model.mass, u, gradient);
        }
        let mut work = 0.0;
        if !self.force.is_empty() {
            work = dot(self.force, u);
            add(gradient, -1.0, self.force);
        }
        Others { elastic, moving, work }
    }

    /// Fibres, bending of cells and stitches; adds the gradient.
    fn elastic(&mut self, gradient: &mut Rows) -> f64 {
        let (terms, positions) = (self.terms, self.positions);
        let mut energy = 0.0;
        if let Some(fibres) = &mut self.fibres {
            energy += fibres.evaluate(positions, &terms.relaxed, gradient);
        }
        if let Some(twisting) = &self.model.twisting {
            combine_wide(self.wide, positions, -terms.pose_rest, &terms.rig);
            energy += twisting.evaluate(self.wide, 1.0, gradient);
        }
        if let Some(stitches) = self.stitches {
            combine_wide(self.wide, positions, 0.0, positions);
            energy += stitches.evaluate(self.wide, 1.0, gradient);
        }
        if !terms.gaps.is_empty() {
            energy += terms.gap_energy - dot(&terms.gaps, positions);
            add(gradient, -1.0, &terms.gaps[..self.model.free]);
        }
        energy
    }

    /// Inertia; scales the gradient by the stiffness and adds its own.
    fn move_on(&self, u: &Rows, gradient: &mut Rows) -> f64 {
        let Inertia { target, factor, .. } = &self.terms.inertia;
        let mut kinetic = 0.0;
        for (row, gradient) in gradient.iter_mut().enumerate() {
            let mass = self.model.mass[row];
            for c in 0..3 {
                let apart = u[row][c] - target[row][c];
                let push = mass * factor * apart;
                kinetic += 0.5 * push * apart;
                gradient[c] = self.terms.stiffness * gradient[c] + push;
            }
        }
        kinetic
    }

    /// Damping, for a free body of its deforming motion; adds the gradient.
    fn damp(&mut self, u: &Rows, gradient: &mut Rows) -> f64 {
        let Inertia { damped, viscous: factor, .. } = &self.terms.inertia;
        combine_wide(self.wide, u, -1.0, damped);
        let (viscosity, moved) = (self.viscosity, &mut self.wide[..self.model.free]);
        let Some(rigid) = &mut self.rigid else { return viscosity.evaluate(moved, *factor, gradient) };
        rigid.resist(moved, gradient, |moved, force| viscosity.evaluate(moved, *factor, force))
    }
}

impl Objective for Incremental<'_> {
    fn evaluate(&mut self, u: &Rows, gradient: &mut Rows) -> Value {
        self.place(u);
        let (terms, stitches, viscosity) = (self.terms, self.stitches(), self.viscosity());
        let mut limits = self.stretch.as_deref_mut().map(|limits| &mut limits.now);
        let mut others = ByRows {
            model: self.model,
            terms,
            stitches,
            viscosity,
            force: self.force,
            positions: self.positions,
            wide: self.wide,
            fibres: self.fibres.as_deref_mut(),
            rigid: self.rigid.as_deref_mut(),
        };
        let (_, others) = join_if(
            self.elements.are_shared(limits.as_deref()),
            || self.elements.evaluate(limits.as_deref_mut(), self.positions),
            || others.evaluate(u, gradient),
        );
        let flesh = self.elements.add(terms.stiffness, gradient);
        let limited = limits.map_or(0.0, |limits| limits.add(terms.stiffness, gradient));
        self.tried = others.elastic + flesh + limited;
        let mut energy = terms.stiffness * self.tried + others.moving;
        // Near rest the terms of a law cancel; the rounding error is proportional to their magnitude.
        let mut size = energy + terms.stiffness * self.model.rounding + others.work.abs();
        energy -= others.work;
        if let Some(complement) = &self.model.complement {
            complement.purify(gradient);
        }
        if let Some(contact) = &mut self.contact {
            let touching = contact.evaluate(|points, point| points.at(point, self.positions));
            energy += touching;
            size += touching;
        }
        Value { energy, size }
    }

    fn accept(&mut self) {
        self.reached = self.tried;
    }

    /// Searches for tets near their stretch limit every few iterations, and half as often updates the
    /// metric for active limits.
    fn visit(&mut self, u: &Rows, iteration: u32) -> Result<bool> {
        if iteration % WATCHED != WATCHED - 1 {
            return Ok(false);
        }
        let found = self.watch_stretch(u, NEAR);
        // With contact, no update: all contact compliances would have to be recomputed.
        if let Some(limits) = self.stretch.as_mut().filter(|_| self.contact.is_none())
            && iteration % REFRESHED == REFRESHED - 1
        {
            let flesh = (&*self.elements, self.rest);
            *self.firmer = limits.metric(
                self.model,
                self.opened,
                (self.terms.stiffness, self.terms.metric()),
                flesh,
                self.positions,
            )?;
        }
        Ok(found)
    }

    fn correct(&mut self, u: &Rows, memory: &mut Lbfgs, direction: &mut Rows, value: &mut Value) {
        if let Some(contact) = &mut self.contact {
            let metric = self.firmer.as_ref().unwrap_or(self.factor);
            let mut solve = |rows: &mut Rows| metric.solve_vertices(self.scratch, rows);
            contact.correct(&self.terms.rig, u, memory, direction, value, Inverse::even(&mut solve));
        }
    }

    fn further_slope(&self, direction: &Rows) -> f64 {
        self.contact.as_ref().map_or(0.0, |contact| contact.slope(direction))
    }

    fn solve(&mut self, rows: &mut Rows) {
        self.firmer.as_ref().unwrap_or(self.factor).solve_vertices(self.scratch, rows);
    }

    /// With active limits in the metric, an excessive step length tends to stay excessive.
    fn longer(&self) -> f64 {
        if self.firmer.is_some() { 1.5 } else { 3.0 }
    }

    /// By the slope, which is twice the energy above the minimum in the metric, the shear that the metric
    /// overrates, and the smallest curvature.
    fn left(&mut self, slope: f64) -> Option<f64> {
        if slope.is_nan() || slope > 0.0 {
            return Some(f64::INFINITY);
        }
        let Inertia { factor, held, damping, .. } = &self.terms.inertia;
        let stiffness = self.terms.stiffness + damping[1];
        let curvature = factor + held + stiffness * (TAU * self.model.frequency).powi(2);
        let left = (-slope / curvature).sqrt() / self.model.unit();
        self.farthest = self.farthest.max(left);
        Some(self.model.yielding.sqrt() * left / share_of_tolerance(self.farthest))
    }

    fn length(&self, step: &Rows) -> f64 {
        self.model.mass_norm(step) / self.model.unit()
    }
}
