//! One implicit step, solved by quasi-Newton descent.

use std::sync::Arc;

use nalgebra::Matrix3;

use super::SkinningModel;
use super::contact::Touching;
use super::drag::DragForce;
use super::limit::Limit;
use super::local::LocalScratch;
use super::metric::Metric;
use super::objective::{Incremental, PAIRS, length};
use super::opening::Opening;
use super::rig_pose::{RigPose, add};
use super::spring::PointSpring;
use super::stretch::{StretchLimit, TIMES};
use crate::inputs::force_samples::ForceSamples;
use crate::inputs::settings::{SimulationParams, StepInput};
use crate::kinematics::history::past_acceleration;
use crate::math::dense::diagonal::FREE;
use crate::math::lanes::multiply_add;
use crate::math::rows::{Rows, combine};
use crate::potentials::contact::{Anchor, Collider, ContactSkin};
use crate::potentials::swings::scale;
use crate::rig::Pose;
use crate::solve::{Descent, FAR, share_of_tolerance, take_lowest};
use crate::stepping::method::{Method, OnIteration, RigState};
use crate::stepping::recurrence::{Recurrence, Tangent};
use crate::stepping::state::State;
use crate::{Error, Result};

/// Mean share of rotations, free of energy, in a change of a deformation gradient: three of nine dimensions.
const ROTATES: f64 = 1.0 / 3.0;

/// Solver of a substep of a [`SkinningModel`], with its scratch.
pub(crate) struct SkinningMethod {
    pub(super) model: Arc<SkinningModel>,
    local: LocalScratch,
    rig: RigPose,
    /// Constant terms of the iterations of a substep, r rows.
    fixed: Vec<[f64; 3]>,
    /// External force on the reduced coordinates, r rows.
    external: Vec<[f64; 3]>,
    /// Diagonal of the quadratic part of the incremental energy, r.
    pub(super) diagonal: Vec<f64>,
    metric: Metric,
    descent: Descent,
    limit: Limit,
    pub(super) stretch: StretchLimit,
    pub(super) drag: DragForce,
    opening: Opening,
    /// `None` without colliders.
    touching: Option<Touching>,
    /// Largest eigenvalue of the coordinates that statics leave alone; `None` in motion.
    resting: Option<f64>,
    /// Smallest curvature of the quadratic part, 1/s^2, and the share of the tolerance for this motion.
    least: f64,
    exact: f64,
    /// `true` if `metric` is valid for this step, and if it has the stretch limit.
    is_measured: bool,
    is_stretched: bool,
    /// Force of the clusters at the last evaluation, and at the accepted point, r rows.
    tried: Vec<[f64; 3]>,
    force: Vec<[f64; 3]>,
    pub(super) reduced: Vec<[f64; 3]>,
    /// Scratch, r rows.
    scratch: Vec<[f64; 3]>,
    /// Misfit of the last local step, J.
    misfit: f64,
    rows: Vec<[f64; 3]>,
    coefficients: Vec<f64>,
}

impl SkinningMethod {
    pub(crate) fn new(model: Arc<SkinningModel>) -> Self {
        let (rank, modes) = (model.rank(), model.mode_count());
        Self {
            local: LocalScratch::new(&model),
            rig: RigPose::new(&model),
            fixed: vec![[0.0; 3]; rank],
            external: vec![[0.0; 3]; rank],
            diagonal: vec![0.0; rank],
            metric: Metric::new(rank),
            descent: Descent::new(rank, PAIRS),
            limit: Limit::new(),
            stretch: StretchLimit::new(),
            drag: DragForce::new(&model),
            opening: Opening::new(),
            touching: None,
            resting: None,
            least: 1.0,
            exact: 1.0,
            is_measured: false,
            is_stretched: false,
            tried: vec![[0.0; 3]; rank],
            force: vec![[0.0; 3]; rank],
            reduced: vec![[0.0; 3]; rank],
            scratch: vec![[0.0; 3]; rank],
            misfit: 0.0,
            rows: vec![[0.0; 3]; 4 * modes],
            coefficients: vec![0.0; 12 * modes],
            model,
        }
    }

    /// The solver with contact between colliders and points of a skin.
    pub(crate) fn among(mut self, colliders: Arc<[Collider]>, skin: Option<&ContactSkin>) -> Result<Self> {
        self.touching = Some(Touching::new(&self.model, colliders, skin)?);
        Ok(self)
    }

    /// Starts a substep on the parabola through the last coordinates; at the last ones if the body meets a
    /// collider, and instead of a distant start of higher energy.
    fn start(&mut self, state: &State, params: &SimulationParams) {
        let [.., first, older, last] = &state.reduced;
        for (i, row) in self.reduced.iter_mut().enumerate() {
            *row = std::array::from_fn(|c| 3.0 * (last[i][c] - older[i][c]) + first[i][c]);
        }
        if self.is_met() {
            // Contact detection needs a start outside of the colliders to know the entry side.
            self.reduced.copy_from_slice(last);
        }
        self.stretch.look_away(&self.model);
        self.stretch.look(&self.model, &self.reduced);
        combine(&mut self.scratch, last, -1.0, older);
        self.exact = share_of_tolerance(length(&self.scratch) / self.model.unit());
        combine(&mut self.scratch, &self.reduced, -1.0, last);
        if length(&self.scratch) > FAR * self.model.unit() {
            self.stretch.look(&self.model, last);
            let (mut energy, _, reduced, gradient) = self.split(params);
            take_lowest(&mut energy, reduced, [last], gradient);
        }
        self.limit.enter(&self.model, &mut self.reduced);
    }

    /// `true` if the body touches a collider, or meets one on its way to the coordinates.
    fn is_met(&mut self) -> bool {
        self.touching
            .as_mut()
            .is_some_and(|touching| !touching.anchors().is_empty() || touching.contact.is_met(&self.reduced))
    }

    /// Descent, repeated with all places whose stretch limit is active, then with firmer ones while any ends
    /// near its limit or beyond.
    fn descend_within(
        &mut self,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)> {
        let (mut spent, mut firmer) = (0, 0);
        loop {
            let (iterations, residual) = self.descend(params, max_iterations, on_iteration)?;
            spent += iterations;
            if self.stretch.look(&self.model, &self.reduced) {
                continue;
            }
            // What is pressed into its limit by a collider would become firmer without end.
            let touches = self.touching.as_ref().is_some_and(|touching| touching.contact.touches());
            if firmer == TIMES || touches || !self.stretch.firm(&self.model, &self.reduced) {
                if let Some(Touching { contact, .. }) = &mut self.touching {
                    contact.settle_anchors(&self.reduced);
                }
                return Ok((spent, residual));
            }
            firmer += 1;
        }
    }

    /// Quasi-Newton descent from `self.reduced`.
    fn descend(
        &mut self,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)> {
        self.measure(params);
        let (mut energy, descent, reduced, _) = self.split(params);
        descent.memory.clear();
        let budget = (max_iterations, params.tolerance);
        let outcome =
            descent.minimise(&mut energy, reduced, budget, |iteration, _| on_iteration(iteration))?;
        descent.go_on(&outcome, reduced);
        Ok(outcome.solved())
    }

    /// Sets the metric from volume resistance, opened stitches and drag; with linear drag it is the same in
    /// all substeps of a step.
    fn measure(&mut self, params: &SimulationParams) {
        let is_coupled = self.drag.acts() || self.opening.acts();
        if is_coupled && self.is_measured && self.drag.is_linear() && !self.is_stretched {
            return;
        }
        self.least = f64::INFINITY;
        // Opened stitches may take all of the stiffness.
        let free = if self.opening.acts() { 0.0 } else { ROTATES };
        for (i, metric) in self.metric.diagonal.iter_mut().enumerate() {
            let held = self.resting.is_some_and(|largest| self.model.data.spectrum[i] <= largest);
            let rotates = free * self.model.data.spectrum[i];
            let stiff = self.diagonal[i] + params.stiffness * (self.model.volumetric[i] - rotates);
            *metric = if held { f64::INFINITY } else { stiff };
            self.least = if held { self.least } else { self.least.min(self.diagonal[i]) };
        }
        self.is_measured = true;
        let (mut energy, _, reduced, _) = self.split(params);
        energy.couple(reduced, false);
    }

    /// The energy of a substep, its minimiser, the coordinates, and scratch.
    pub(super) fn split(
        &mut self,
        params: &SimulationParams,
    ) -> (Incremental<'_>, &mut Descent, &mut Rows, &mut Rows) {
        let energy = Incremental {
            model: &self.model,
            diagonal: &self.diagonal,
            linear: &self.fixed,
            stiffness: params.stiffness,
            pose_rest: params.pose_rest,
            limit: &mut self.limit,
            stretch: &mut self.stretch,
            drag: &mut self.drag,
            opening: &self.opening,
            touching: self.touching.as_mut(),
            local: &mut self.local,
            metric: &mut self.metric,
            is_stretched: &mut self.is_stretched,
            misfit: &mut self.misfit,
            force: &mut self.force,
            tried: (0.0, &mut self.tried),
            least: self.least,
            exact: self.exact,
            is_first: true,
        };
        (energy, &mut self.descent, &mut self.reduced, &mut self.scratch)
    }

    /// Sets the rig's contribution.
    fn set_rig(&mut self, rig: RigState<'_>, params: &SimulationParams) {
        let offsets = self.model.offset_parts(rig.offset);
        self.rig.set(&self.model, rig.pose, offsets.stiffness, params.pose_rest);
        let gradients = &self.model.cluster_rig;
        self.local.posed.set_pose(gradients, &self.rig.handles, offsets.gradients, params.pose_rest);
        let limit = (params.stretch, params.stiffness);
        self.stretch.set(&self.model, limit, &self.rig.handles, offsets.stretch);
    }

    /// A substep with a spring to a target, whose force is that at the end of the substep: `k (t - u)`, u by
    /// the response `r' D^-1 r` of the motion without it.
    pub(super) fn solve_with(
        &mut self,
        spring: &PointSpring,
        state: &State,
        params: &SimulationParams,
    ) -> Result<(u32, f64)> {
        let (before, _) = self.minimise(state, params, params.max_iterations, &mut |_| Ok(()))?;
        let row = spring.row.iter();
        let response: f64 = row.clone().zip(&self.diagonal).map(|(row, stiff)| row * row / stiff).sum();
        let share = spring.stiffness / (1.0 + spring.stiffness * response);
        for c in 0..3 {
            let free: f64 = row.clone().zip(&self.reduced).map(|(row, reduced)| row * reduced[c]).sum();
            let force = share * (spring.displacement[c] - free);
            row.clone().zip(&mut self.fixed).for_each(|(row, fixed)| fixed[c] += row * force);
        }
        let (after, residual) = self.descend_within(params, params.max_iterations, &mut |_| Ok(()))?;
        Ok((before + after, residual))
    }

    /// Constant force on a reduced coordinate: gravity, external force and rig.
    fn load(&self, i: usize, c: usize, params: &SimulationParams) -> f64 {
        let weight = self.model.data.uniform[i] * params.gravity[c];
        weight + self.external[i][c] - params.stiffness * self.rig.cross[i][c]
    }
}

impl Method for SkinningMethod {
    fn rows(&self) -> [usize; 3] {
        [self.model.cluster_rig.columns(), self.model.rank(), self.model.offset_rows()]
    }

    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()> {
        self.model.set_pose(pose, rows)
    }

    fn set_offsets(&mut self, offsets: &[f64], pose: &mut Rows, rows: &mut Rows) -> Result<()> {
        self.model.set_offsets(offsets, pose, rows)
    }

    fn contact_sizes(&self) -> [usize; 2] {
        self.touching.as_ref().map_or([0; 2], |touching| touching.contact.sizes())
    }

    fn anchors(&self) -> &[Anchor] {
        self.touching.as_ref().map_or(&[], Touching::anchors)
    }

    fn set_loads(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.drag.enter(&self.model, input.drag)?;
        self.is_measured = false;
        match input.force {
            Some(force) => self.model.enter_force(force, &mut self.rows, &mut self.external),
            None => {
                self.external.fill([0.0; 3]);
                Ok(())
            }
        }
    }

    /// Sets the rig's part, inertia, damping, gravity and the cross term.
    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        let (inertia, speed) = (params.integrator.acceleration(), params.integrator.velocity());
        let [of_pose, of_offsets] = rig.felt;
        self.resting = None;
        self.set_rig(rig, params);
        self.fixed.fill([0.0; 3]);
        multiply_add(&self.model.rig_mass, of_pose, &mut self.fixed);
        add(of_offsets, &mut self.fixed);
        past_acceleration(&state.reduced, &inertia, &mut self.scratch);
        let [.., older, last] = &state.reduced;
        let damping = scale(params);
        for i in 0..self.fixed.len() {
            let spectrum = self.model.data.spectrum[i];
            let damping = damping * self.model.data.damping[i];
            self.diagonal[i] = inertia[0] / (h * h) + speed[0] * damping / h + params.stiffness * spectrum;
            for c in 0..3 {
                let momentum = inertia[0] * last[i][c] - self.scratch[i][c] - self.fixed[i][c];
                let kept = speed[0] * last[i][c] - speed[1] * (last[i][c] - older[i][c]);
                self.fixed[i][c] = momentum / (h * h) + damping / h * kept + self.load(i, c, params);
            }
        }
        if self.opening.enter(&self.model, params)? {
            let rates = [speed[0] / h, speed[1] / h];
            self.opening.prepare(
                (&self.model, &self.rig.handles),
                params,
                rates,
                [last, older],
                &mut self.fixed,
            );
        }
        self.drag.prepare(&self.model, state, (rig.pose, rig.offset), params, h);
        self.limit.set(&self.model, params.limit, params.stiffness);
        if let Some(touching) = &mut self.touching {
            touching.begin(&self.model, state, rig, h);
        }
        Ok(())
    }

    fn minimise(
        &mut self,
        state: &State,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)> {
        if self.resting.is_none() {
            self.start(state, params);
        }
        self.descend_within(params, max_iterations, on_iteration)
    }

    fn prepare_rest(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()> {
        self.set_rig(rig, params);
        self.exact = 1.0;
        self.resting = Some(FREE * self.model.data.spectrum.iter().copied().fold(0.0, f64::max));
        for i in 0..self.diagonal.len() {
            self.diagonal[i] = params.stiffness * self.model.data.spectrum[i];
            (0..3).for_each(|c| self.fixed[i][c] = self.load(i, c, params));
        }
        if self.opening.enter(&self.model, params)? {
            self.opening.rest((&self.model, &self.rig.handles), params, &mut self.fixed);
        }
        let h = params.dt / f64::from(params.substeps);
        self.drag.rest(h, &mut self.fixed);
        self.reduced.fill([0.0; 3]);
        self.limit.set(&self.model, params.limit, params.stiffness);
        if let Some(touching) = &mut self.touching {
            touching.begin_rest(&self.model, rig);
        }
        self.measure(params);
        if !self.metric.is_definite(FREE) {
            let why =
                "nothing else holds what open stitches held, so that it has no rest; close them a little";
            return Err(Error::Unsupported { what: "stitching", why });
        }
        Ok(())
    }

    fn solution(&mut self) -> &mut Rows {
        &mut self.reduced
    }

    fn elastic_energy(&mut self, params: &SimulationParams) -> f64 {
        let (rig, misfit) = (&mut self.rig, self.misfit);
        let energy = rig.elastic_energy(&self.model, &self.reduced, &self.force, misfit, params.pose_rest);
        params.stiffness * (energy + self.opening.energy((&self.model, &rig.handles), &self.reduced))
    }

    fn turn(&self, from: &Rows, to: &Rows) -> Matrix3<f64> {
        self.model.turn(from, to)
    }

    fn write_coefficients(&mut self, coordinates: &Rows) {
        let Self { model, rows, coefficients, .. } = self;
        model.leave_coefficients(coordinates, rows, coefficients);
    }

    fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    fn unit(&self) -> f64 {
        self.model.unit()
    }

    fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        self.model.carried(from, to)
    }

    fn sample_positions(&self, state: &State, samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        self.model.samples_in(state, samples)
    }

    fn tangent(&mut self, params: &SimulationParams, place: &Rows, probe: bool) -> Option<Tangent> {
        self.derivative(params, place, probe)
    }

    fn recurrence(&self, params: &SimulationParams) -> Option<Recurrence> {
        // Damping of opened stitches couples coordinates.
        params.stitching.are_all(1.0).then(|| self.recalled(params))
    }
}
