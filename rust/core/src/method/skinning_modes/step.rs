//! One implicit step, solved by local-global iterations, or by descent where these are not exact.

use std::sync::Arc;

use nalgebra::Vector3;

use super::SkinningModel;
use super::descent::{Descent, Objective};
use super::diagonal::FREE;
use super::drag::DragForce;
use super::history::{felt_acceleration, follow, on_parabola, past_acceleration, remember};
use super::limit::Limit;
use super::local::LocalScratch;
use super::rig_pose::{RigPose, add};
use super::stretch::StretchLimit;
use crate::math::lanes::multiply_add;
use crate::method::settings::HISTORY;
use crate::method::{Drive, SimulationParams, State, StepReport};
use crate::{Error, Progress, Result};

type Rows<'a> = &'a mut [[f64; 3]];

/// State and memory of a simulation of a [`SkinningModel`].
pub(crate) struct SkinningStepper {
    pub(super) model: Arc<SkinningModel>,
    pub(super) state: State,
    /// The state before a step, for when it fails.
    before: State,
    local: LocalScratch,
    rig: RigPose,
    /// The pose given, in the body's coordinates.
    target: Vec<[f64; 3]>,
    /// The pose of the substep.
    pose: Vec<[f64; 3]>,
    acceleration: Vec<[f64; 3]>,
    /// The offsets given, the offsets of the substep, and the acceleration of their inertial rows; no rows
    /// before the first offsets.
    offset_target: Vec<[f64; 3]>,
    offset: Vec<[f64; 3]>,
    offset_acceleration: Vec<[f64; 3]>,
    /// What does not change in the iterations of a substep, r rows.
    fixed: Vec<[f64; 3]>,
    past: Vec<[f64; 3]>,
    /// The force given, on the reduced coordinates, r rows.
    external: Vec<[f64; 3]>,
    /// Diagonal of the quadratic part of the incremental energy, r.
    pub(super) diagonal: Vec<f64>,
    pub(super) descent: Descent,
    limit: Limit,
    stretch: StretchLimit,
    pub(super) drag: DragForce,
    /// Whether a limit was felt in the last substep of this step.
    is_pressed: bool,
    /// Whether `descent.metric` is that of this step.
    is_measured: bool,
    /// What a global step finds, r rows.
    next: Vec<[f64; 3]>,
    force: Vec<[f64; 3]>,
    pub(super) reduced: Vec<[f64; 3]>,
    /// Misfit of the last local step, J.
    misfit: f64,
    rows: Vec<[f64; 3]>,
    coefficients: Vec<f64>,
}

impl SkinningStepper {
    pub(crate) fn new(model: Arc<SkinningModel>) -> Self {
        let (pose, rank, modes) = (model.cluster_rig.columns(), model.rank(), model.mode_count());
        let state = State::new(pose, rank);
        Self {
            before: state.clone(),
            state,
            local: LocalScratch::new(&model),
            rig: RigPose::new(&model),
            target: vec![[0.0; 3]; pose],
            pose: vec![[0.0; 3]; pose],
            acceleration: vec![[0.0; 3]; pose],
            offset_target: Vec::new(),
            offset: Vec::new(),
            offset_acceleration: Vec::new(),
            fixed: vec![[0.0; 3]; rank],
            past: vec![[0.0; 3]; rank],
            external: vec![[0.0; 3]; rank],
            diagonal: vec![0.0; rank],
            descent: Descent::new(rank),
            limit: Limit::new(),
            stretch: StretchLimit::new(),
            drag: DragForce::new(),
            is_pressed: false,
            is_measured: false,
            next: vec![[0.0; 3]; rank],
            force: vec![[0.0; 3]; rank],
            reduced: vec![[0.0; 3]; rank],
            misfit: 0.0,
            rows: vec![[0.0; 3]; 4 * modes],
            coefficients: vec![0.0; 12 * modes],
            model,
        }
    }

    pub(crate) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        state.check(&self.state, self.model.offset_rows())?;
        let held = self.state.holds_offsets();
        self.state.copy_from(state);
        if held || state.holds_offsets() {
            self.hold_offsets();
        }
        self.update_coefficients();
        Ok(())
    }

    /// Makes room for offsets from now on.
    fn hold_offsets(&mut self) {
        let rows = self.model.offset_rows();
        self.state.hold_offsets(rows);
        self.offset_target.resize(rows, [0.0; 3]);
        self.offset.resize(rows, [0.0; 3]);
        self.offset_acceleration.resize(self.model.rank(), [0.0; 3]);
    }

    pub(crate) fn reset(&mut self, drive: &Drive<'_>) -> Result<()> {
        self.enter(drive)?;
        self.start();
        self.update_coefficients();
        Ok(())
    }

    /// At rest in the pose, keeping the displacement, turned as the rig turns the whole body.
    pub(crate) fn cut(&mut self, drive: &Drive<'_>) -> Result<()> {
        self.enter(drive)?;
        let turn = self.state.started.then(|| self.model.turn(&self.state.path[HISTORY - 1], &self.target));
        self.reduced.copy_from_slice(&self.state.reduced[HISTORY - 1]);
        self.start();
        if let Some(turn) = turn {
            for row in &mut self.reduced {
                *row = (turn * Vector3::from(*row)).into();
            }
            self.state.reduced.iter_mut().for_each(|reduced| reduced.copy_from_slice(&self.reduced));
        }
        self.update_coefficients();
        Ok(())
    }

    /// Gives the rig, at rest so far, the velocity at which it goes on to the next pose.
    pub(crate) fn coast(&mut self, next: &Drive<'_>, params: &SimulationParams) -> Result<()> {
        self.enter(next)?;
        if self.state.started {
            self.state.coast(&self.target, &self.offset_target, params.dt);
        }
        Ok(())
    }

    /// Goes back to the state before the last step.
    pub(crate) fn undo(&mut self) {
        self.state.copy_from(&self.before);
        self.update_coefficients();
    }

    /// At rest in the target pose.
    fn start(&mut self) {
        for pose in self.state.frames.iter_mut().chain(&mut self.state.path) {
            pose.copy_from_slice(&self.target);
        }
        for offset in self.state.offset_frames.iter_mut().chain(&mut self.state.offset_path) {
            offset.copy_from_slice(&self.offset_target);
        }
        self.state.reduced.iter_mut().for_each(|reduced| reduced.fill([0.0; 3]));
        (self.state.started, self.state.spacing) = (true, 0.0);
    }

    fn enter(&mut self, drive: &Drive<'_>) -> Result<()> {
        self.model.enter_pose(drive.pose, &mut self.target)?;
        match drive.offsets {
            Some(offsets) => {
                self.hold_offsets();
                self.model.enter_offsets(offsets, &mut self.target, &mut self.offset_target)?;
            }
            None => self.offset_target.fill([0.0; 3]),
        }
        self.drag.enter(&self.model, drive.drag)?;
        self.is_measured = false;
        match drive.force {
            Some(force) => self.model.enter_force(force, &mut self.rows, &mut self.external),
            None => {
                self.external.fill([0.0; 3]);
                Ok(())
            }
        }
    }

    /// Starts at rest in the static equilibrium: the lowest of elastic energy less the work of loads, reached
    /// from no displacement.
    pub(crate) fn settle(
        &mut self,
        drive: &Drive<'_>,
        max_iterations: u32,
        params: &SimulationParams,
        progress: &Progress,
    ) -> Result<StepReport> {
        progress.enter("settling", 0.0, 1.0)?;
        self.enter(drive)?;
        self.before.copy_from(&self.state);
        self.start();
        self.pose.copy_from_slice(&self.target);
        self.offset.copy_from_slice(&self.offset_target);
        self.set_rig(params);
        let least = FREE * self.model.data.spectrum.iter().copied().fold(0.0, f64::max);
        for i in 0..self.diagonal.len() {
            self.diagonal[i] = params.stiffness * self.model.data.spectrum[i];
            (0..3).for_each(|c| self.fixed[i][c] = self.load(i, c, params));
        }
        let h = params.dt / f64::from(params.substeps);
        self.drag.rest(&self.model, h, &mut self.fixed);
        self.reduced.fill([0.0; 3]);
        self.limit.set(&self.model, params.limit, params.stiffness);
        let heard = |iteration| progress.report(iteration as f32 / max_iterations as f32);
        let settled = self.descend(params, least, max_iterations, heard);
        let (iterations, residual) = self.or_undone(settled)?;
        self.state.reduced.iter_mut().for_each(|reduced| reduced.copy_from_slice(&self.reduced));
        self.finish(StepReport { iterations, residual, energy: 0.0 }, params)
    }

    pub(crate) fn step(
        &mut self,
        drive: &Drive<'_>,
        params: &SimulationParams,
        progress: &Progress,
    ) -> Result<StepReport> {
        self.step_by(drive, params, |stepper| stepper.solve(params, progress))
    }

    /// What was found; the state before where it was not.
    fn or_undone<T>(&mut self, found: Result<T>) -> Result<T> {
        found.inspect_err(|_| self.undo())
    }

    /// A step that finds the displacement after each substep by `solve`, which returns iterations and residual.
    pub(super) fn step_by(
        &mut self,
        drive: &Drive<'_>,
        params: &SimulationParams,
        mut solve: impl FnMut(&mut Self) -> Result<(u32, f64)>,
    ) -> Result<StepReport> {
        self.enter(drive)?;
        self.before.copy_from(&self.state);
        if !self.state.started {
            self.start();
        }
        self.is_pressed = false;
        let mut report = StepReport { iterations: 0, residual: 0.0, energy: 0.0 };
        for substep in 1..=params.substeps {
            self.move_pose(substep, params.substeps);
            let solved = self.substep(params, &mut solve);
            let (iterations, residual) = self.or_undone(solved)?;
            report.iterations += iterations;
            // A maximum would pass over what is no number.
            if !(residual <= report.residual || report.residual.is_nan()) {
                report.residual = residual;
            }
        }
        follow(&mut self.state.frames, &self.target);
        follow(&mut self.state.offset_frames, &self.offset_target);
        self.finish(report, params)
    }

    /// Takes the new state over, or goes back to the one before if numbers overflowed.
    fn finish(&mut self, mut report: StepReport, params: &SimulationParams) -> Result<StepReport> {
        report.energy = self.last_energy(params);
        self.update_coefficients();
        // An energy need not see every coordinate.
        let numbers = self.coefficients.iter().chain([&report.residual, &report.energy]);
        if { numbers }.any(|x| !x.is_finite()) {
            self.undo();
            return Err(Error::Numerical {
                what: "step",
                why: "the motion is too violent for double precision; check the pose".into(),
            });
        }
        Ok(report)
    }

    /// The pose of a substep lies on the parabola through the last three poses given.
    ///
    /// On straight lines instead the velocity of the rig would jump at each frame, and each jump would kick
    /// the flesh in one substep of the frame.
    fn move_pose(&mut self, substep: u32, substeps: u32) {
        if substep == substeps {
            self.pose.copy_from_slice(&self.target);
            self.offset.copy_from_slice(&self.offset_target);
            return;
        }
        let time = f64::from(substep) / f64::from(substeps);
        on_parabola(&self.state.frames, &self.target, time, &mut self.pose);
        on_parabola(&self.state.offset_frames, &self.offset_target, time, &mut self.offset);
    }

    /// Solves one implicit step to `self.pose`; returns iterations and residual.
    fn substep(
        &mut self,
        params: &SimulationParams,
        solve: &mut impl FnMut(&mut Self) -> Result<(u32, f64)>,
    ) -> Result<(u32, f64)> {
        let h = params.dt / f64::from(params.substeps);
        self.state.respace(h);
        self.prepare(params, h);
        self.limit.set(&self.model, params.limit, params.stiffness);
        let solved = solve(self)?;
        remember(&mut self.state.reduced, &self.reduced);
        remember(&mut self.state.path, &self.pose);
        remember(&mut self.state.offset_path, &self.offset);
        Ok(solved)
    }

    /// Finds the displacement at the end of a substep from that at its start.
    pub(super) fn solve(&mut self, params: &SimulationParams, progress: &Progress) -> Result<(u32, f64)> {
        let mut spent = 0;
        self.stretch.look_away(&self.model);
        self.reduced.copy_from_slice(&self.state.reduced[HISTORY - 1]);
        if self.is_pressed || self.model.is_volumetric || !self.drag.is_linear() {
            self.stretch.look(&self.model, &self.reduced);
        } else {
            let (iterations, residual) = self.alternate(params, progress)?;
            if !(self.stretch.look(&self.model, &self.reduced)
                | self.limit.is_felt(&self.model, &self.reduced))
            {
                return Ok((iterations, residual));
            }
            spent = iterations;
            self.reduced.copy_from_slice(&self.state.reduced[HISTORY - 1]);
        }
        loop {
            self.limit.enter(&self.model, &mut self.reduced);
            self.stretch.enter(&self.model, &mut self.reduced);
            let found = self.descend(params, -1.0, params.max_iterations, |_| progress.proceed())?;
            spent += found.0;
            if !self.stretch.look(&self.model, &self.reduced) {
                self.is_pressed = self.stretch.was_felt() || self.limit.is_felt(&self.model, &self.reduced);
                return Ok((spent, found.1));
            }
        }
    }

    /// Local and global steps in turn.
    fn alternate(&mut self, params: &SimulationParams, progress: &Progress) -> Result<(u32, f64)> {
        let unit = self.model.unit();
        let (mut iterations, mut residual) = (0, f64::INFINITY);
        self.measure(params, -1.0);
        while iterations < params.max_iterations && residual.is_finite() | (iterations == 0) {
            progress.proceed()?;
            self.misfit = self.local.solve(&self.model, &self.reduced, params.pose_rest, &mut self.force);
            residual = self.global_step(params) / unit;
            iterations += 1;
            if residual <= params.tolerance {
                break;
            }
        }
        Ok((iterations, residual))
    }

    /// Quasi-Newton descent from `self.reduced`, with what resists change of volume in the metric; directions
    /// whose eigenvalue is not above `free` stay where they are. `heard` is told the number of each iteration.
    fn descend(
        &mut self,
        params: &SimulationParams,
        free: f64,
        max_iterations: u32,
        heard: impl Fn(u32) -> Result<()>,
    ) -> Result<(u32, f64)> {
        let unit = self.model.unit();
        self.measure(params, free);
        let (mut objective, descent, local, reduced, force) = self.objective(params);
        let goal = params.tolerance * unit;
        let (iterations, change, misfit) =
            descent.minimise(&mut objective, local, (reduced, force), (max_iterations, goal), heard)?;
        self.misfit = misfit;
        Ok((iterations, change / unit))
    }

    /// Sets the metric, with what resists change of volume and the drag in it; a drag that is linear leaves it
    /// the same in all substeps of a step.
    fn measure(&mut self, params: &SimulationParams, free: f64) {
        let (metric, drag) = (&mut self.descent.metric, &mut self.drag);
        if drag.acts() && self.is_measured && drag.is_linear() {
            return;
        }
        for (i, metric) in metric.diagonal.iter_mut().enumerate() {
            let held = self.model.data.spectrum[i] <= free;
            let stiff = self.diagonal[i] + params.stiffness * self.model.volumetric[i];
            *metric = if held { f64::INFINITY } else { stiff };
        }
        metric.uncouple();
        if drag.acts() {
            metric.couple(|lower| drag.add_metric(&self.reduced, lower));
        }
        self.is_measured = true;
    }

    /// What a substep minimises, and what is needed for that.
    pub(super) fn objective(
        &mut self,
        params: &SimulationParams,
    ) -> (Objective<'_>, &mut Descent, &mut LocalScratch, Rows<'_>, Rows<'_>) {
        let objective = Objective {
            limit: &mut self.limit,
            stretch: &mut self.stretch,
            drag: &mut self.drag,
            model: &self.model,
            diagonal: &self.diagonal,
            linear: &self.fixed,
            stiffness: params.stiffness,
            pose_rest: params.pose_rest,
        };
        (objective, &mut self.descent, &mut self.local, &mut self.reduced, &mut self.force)
    }

    /// Sets the rig's part and all that stands still in a substep: inertia, damping, gravity, cross term.
    fn prepare(&mut self, params: &SimulationParams, h: f64) {
        let (inertia, speed) = (params.integrator.acceleration(), params.integrator.velocity());
        let felt = -params.strength;
        felt_acceleration(&self.state.path, &self.pose, &inertia, felt, &mut self.acceleration);
        felt_acceleration(
            &self.state.offset_path,
            &self.offset,
            &inertia,
            felt,
            &mut self.offset_acceleration,
        );
        self.set_rig(params);
        self.fixed.fill([0.0; 3]);
        multiply_add(&self.model.rig_mass, &self.acceleration, &mut self.fixed);
        add(&self.offset_acceleration, &mut self.fixed);
        past_acceleration(&self.state.reduced, &inertia, &mut self.past);
        let [.., older, last] = &self.state.reduced;
        for i in 0..self.fixed.len() {
            let spectrum = self.model.data.spectrum[i];
            let damping = damping(spectrum, params);
            self.diagonal[i] = inertia[0] / (h * h) + speed[0] * damping / h + params.stiffness * spectrum;
            for c in 0..3 {
                let momentum = inertia[0] * last[i][c] - self.past[i][c] + self.fixed[i][c];
                let kept = speed[0] * last[i][c] - speed[1] * (last[i][c] - older[i][c]);
                self.fixed[i][c] = momentum / (h * h) + damping / h * kept + self.load(i, c, params);
            }
        }
        self.drag.prepare(&self.model, &self.state, (&self.pose, &self.offset), params, h);
    }

    /// Sets what the rig contributes at `self.pose`.
    fn set_rig(&mut self, params: &SimulationParams) {
        let offsets = self.model.offset_parts(&self.offset);
        self.rig.set(&self.model, &self.pose, offsets.stiffness, params.pose_rest);
        let gradients = &self.model.cluster_rig;
        self.local.posed.set_pose(gradients, &self.rig.handles, offsets.gradients, params.pose_rest);
        let limit = (params.stretch, params.stiffness);
        self.stretch.set(&self.model, limit, &self.rig.handles, offsets.stretch);
    }

    /// What pulls on a reduced coordinate whatever the state: gravity, the force given and the rig.
    fn load(&self, i: usize, c: usize, params: &SimulationParams) -> f64 {
        let weight = self.model.data.uniform[i] * params.gravity[c];
        weight + self.external[i][c] - params.stiffness * self.rig.cross[i][c]
    }

    /// The exact minimiser for the rotations found, in a diagonal solve but where there is drag; returns the norm
    /// of the change.
    fn global_step(&mut self, params: &SimulationParams) -> f64 {
        for i in 0..self.next.len() {
            (0..3).for_each(|c| self.next[i][c] = self.fixed[i][c] + params.stiffness * self.force[i][c]);
        }
        self.drag.add_known(&mut self.next);
        self.descent.metric.solve(&mut self.next);
        let changes = self.next.as_flattened().iter().zip(self.reduced.as_flattened());
        let change2: f64 = changes.map(|(next, last)| (next - last).powi(2)).sum();
        std::mem::swap(&mut self.reduced, &mut self.next);
        change2.sqrt()
    }

    fn last_energy(&mut self, params: &SimulationParams) -> f64 {
        let (rig, misfit) = (&mut self.rig, self.misfit);
        let energy = rig.elastic_energy(&self.model, &self.reduced, &self.force, misfit, params.pose_rest);
        params.stiffness * energy
    }

    fn update_coefficients(&mut self) {
        let Self { model, state, rows, coefficients, .. } = self;
        model.leave_coefficients(&state.reduced[HISTORY - 1], rows, coefficients);
    }
}

/// Modal damping `2 zeta omega`, 1/s, with the same ratio in every direction that the step solves for.
pub(super) fn damping(spectrum: f64, params: &SimulationParams) -> f64 {
    2.0 * params.damping * (params.stiffness * spectrum).sqrt()
}
