//! One implicit step, solved by local-global iterations, or by descent where these are not exact.

use std::sync::Arc;

use nalgebra::Vector3;

use super::SkinningModel;
use super::descent::{Descent, Objective};
use super::history::{felt_acceleration, follow, on_parabola, past_acceleration, remember};
use super::limit::Limit;
use super::local::LocalScratch;
use crate::math::lanes::{Packed, multiply_add};
use crate::method::settings::HISTORY;
use crate::method::{Drive, SimulationParams, State, StepReport};
use crate::{Error, Result};

/// Share of the largest elastic eigenvalue below which a direction stores no energy and has no equilibrium.
const FREE: f64 = 1e-9;

type Rows<'a> = &'a mut [[f64; 3]];

/// What the rig contributes at one pose.
pub(super) struct RigPose {
    /// The pose relative to the handles' mean translation, which has no elastic effect: 4h rows.
    pub(super) handles: Vec<[f64; 3]>,
    /// `(1 - pose_rest) Phi' B'LJ p`, and what the stitches add, r rows.
    pub(super) cross: Vec<[f64; 3]>,
    spread: Vec<[f64; 3]>,
}

impl RigPose {
    pub(super) fn new(model: &SkinningModel) -> Self {
        let handles = vec![[0.0; 3]; model.cluster_rig.columns()];
        Self { spread: handles.clone(), handles, cross: vec![[0.0; 3]; model.rank()] }
    }

    /// Sets the pose, 4h rows, and what offsets add to `Phi' B'LJ p`, r rows or none.
    ///
    /// Translation is taken out because a body far from the origin would lose digits in `L J p`.
    pub(super) fn set(
        &mut self,
        model: &SkinningModel,
        pose: &[[f64; 3]],
        offsets: &[[f64; 3]],
        pose_rest: f64,
    ) {
        let count = (pose.len() / 4) as f64;
        let mean: [f64; 3] =
            std::array::from_fn(|c| pose.iter().skip(3).step_by(4).map(|row| row[c]).sum::<f64>() / count);
        self.handles.copy_from_slice(pose);
        for row in self.handles.iter_mut().skip(3).step_by(4) {
            (0..3).for_each(|c| row[c] -= mean[c]);
        }
        self.cross.fill([0.0; 3]);
        if pose_rest < 1.0 {
            multiply_add(&model.rig_stiffness, &self.handles, &mut self.cross);
            add(offsets, &mut self.cross);
            self.cross.as_flattened_mut().iter_mut().for_each(|x| *x *= 1.0 - pose_rest);
        }
        if let Some([pull, _]) = &model.stitches {
            multiply_add(pull, &self.handles, &mut self.cross);
        }
    }

    /// `Y'diag(spectrum)Y / 2 + Y.(cross - force) + misfit + (1 - pose_rest) p' spread p / 2`, and the rig's own
    /// share in the stitches, J.
    pub(super) fn elastic_energy(
        &mut self,
        model: &SkinningModel,
        reduced: &[[f64; 3]],
        force: &[[f64; 3]],
        misfit: f64,
        pose_rest: f64,
    ) -> f64 {
        let mut energy = misfit;
        for i in 0..reduced.len() {
            for c in 0..3 {
                let (y, stiff) = (reduced[i][c], model.data.spectrum[i]);
                energy += y * (0.5 * stiff * y + self.cross[i][c] - force[i][c]);
            }
        }
        if pose_rest < 1.0 {
            energy += (1.0 - pose_rest) * self.half_product(&model.rig_spread);
        }
        if let Some([_, spread]) = &model.stitches {
            energy += self.half_product(spread);
        }
        energy
    }

    /// `p' spread p / 2`.
    fn half_product(&mut self, spread: &Packed<1>) -> f64 {
        self.spread.fill([0.0; 3]);
        multiply_add(spread, &self.handles, &mut self.spread);
        let pairs = self.spread.as_flattened().iter().zip(self.handles.as_flattened());
        0.5 * pairs.map(|(a, b)| a * b).sum::<f64>()
    }
}

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
    ) -> Result<StepReport> {
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
        self.reduced.fill([0.0; 3]);
        self.limit.set(&self.model, params.limit, params.stiffness);
        let (iterations, residual) = self.descend(params, least, max_iterations);
        self.state.reduced.iter_mut().for_each(|reduced| reduced.copy_from_slice(&self.reduced));
        self.finish(StepReport { iterations, residual, energy: 0.0 }, params)
    }

    pub(crate) fn step(&mut self, drive: &Drive<'_>, params: &SimulationParams) -> Result<StepReport> {
        self.step_by(drive, params, |stepper| stepper.solve(params))
    }

    /// A step that finds the displacement after each substep by `solve`, which returns iterations and residual.
    pub(super) fn step_by(
        &mut self,
        drive: &Drive<'_>,
        params: &SimulationParams,
        mut solve: impl FnMut(&mut Self) -> (u32, f64),
    ) -> Result<StepReport> {
        self.enter(drive)?;
        self.before.copy_from(&self.state);
        if !self.state.started {
            self.start();
        }
        let mut report = StepReport { iterations: 0, residual: 0.0, energy: 0.0 };
        for substep in 1..=params.substeps {
            self.move_pose(substep, params.substeps);
            let (iterations, residual) = self.substep(params, &mut solve);
            report.iterations += iterations;
            report.residual = report.residual.max(residual);
        }
        follow(&mut self.state.frames, &self.target);
        follow(&mut self.state.offset_frames, &self.offset_target);
        self.finish(report, params)
    }

    /// Takes the new state over, or goes back to the one before if numbers overflowed.
    fn finish(&mut self, mut report: StepReport, params: &SimulationParams) -> Result<StepReport> {
        report.energy = self.last_energy(params);
        self.update_coefficients();
        // A maximum passes over a residual that is no number, and an energy need not see every coordinate.
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
        solve: &mut impl FnMut(&mut Self) -> (u32, f64),
    ) -> (u32, f64) {
        let h = params.dt / f64::from(params.substeps);
        self.state.respace(h);
        self.prepare(params, h);
        self.limit.set(&self.model, params.limit, params.stiffness);
        let (iterations, residual) = solve(self);
        remember(&mut self.state.reduced, &self.reduced);
        remember(&mut self.state.path, &self.pose);
        remember(&mut self.state.offset_path, &self.offset);
        (iterations, residual)
    }

    /// Finds the displacement at the end of a substep from that at its start.
    pub(super) fn solve(&mut self, params: &SimulationParams) -> (u32, f64) {
        let mut spent = 0;
        if !self.model.is_volumetric {
            self.reduced.copy_from_slice(&self.state.reduced[HISTORY - 1]);
            let (iterations, residual) = self.alternate(params);
            if !self.limit.is_felt(&self.model, &self.reduced) {
                return (iterations, residual);
            }
            spent = iterations;
        }
        self.reduced.copy_from_slice(&self.state.reduced[HISTORY - 1]);
        self.limit.enter(&self.model, &mut self.reduced);
        let (iterations, residual) = self.descend(params, -1.0, params.max_iterations);
        (spent + iterations, residual)
    }

    /// Local and global steps in turn.
    fn alternate(&mut self, params: &SimulationParams) -> (u32, f64) {
        let unit = self.model.unit();
        let (mut iterations, mut residual) = (0, f64::INFINITY);
        while iterations < params.max_iterations && residual.is_finite() | (iterations == 0) {
            self.misfit = self.local.solve(&self.model, &self.reduced, params.pose_rest, &mut self.force);
            residual = self.global_step(params) / unit;
            iterations += 1;
            if residual <= params.tolerance {
                break;
            }
        }
        (iterations, residual)
    }

    /// Quasi-Newton descent from `self.reduced`, with what resists change of volume in the metric; directions
    /// whose eigenvalue is not above `free` stay where they are.
    fn descend(&mut self, params: &SimulationParams, free: f64, max_iterations: u32) -> (u32, f64) {
        let unit = self.model.unit();
        for (i, metric) in self.descent.metric.iter_mut().enumerate() {
            let held = self.model.data.spectrum[i] <= free;
            let stiff = self.diagonal[i] + params.stiffness * self.model.volumetric[i];
            *metric = if held { f64::INFINITY } else { stiff };
        }
        let (mut objective, descent, local, reduced, force) = self.objective(params);
        let goal = params.tolerance * unit;
        let (iterations, change, misfit) =
            descent.minimise(&mut objective, local, (reduced, force), max_iterations, goal);
        self.misfit = misfit;
        (iterations, change / unit)
    }

    /// What a substep minimises, and what is needed for that.
    pub(super) fn objective(
        &mut self,
        params: &SimulationParams,
    ) -> (Objective<'_>, &mut Descent, &mut LocalScratch, Rows<'_>, Rows<'_>) {
        let objective = Objective {
            limit: &mut self.limit,
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
        let (inertia, drag) = (params.integrator.acceleration(), params.integrator.velocity());
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
            self.diagonal[i] = inertia[0] / (h * h) + drag[0] * damping / h + params.stiffness * spectrum;
            for c in 0..3 {
                let momentum = inertia[0] * last[i][c] - self.past[i][c] + self.fixed[i][c];
                let kept = drag[0] * last[i][c] - drag[1] * (last[i][c] - older[i][c]);
                self.fixed[i][c] = momentum / (h * h) + damping / h * kept + self.load(i, c, params);
            }
        }
    }

    /// Sets what the rig contributes at `self.pose`.
    fn set_rig(&mut self, params: &SimulationParams) {
        let offsets = self.model.offset_parts(&self.offset);
        self.rig.set(&self.model, &self.pose, offsets.stiffness, params.pose_rest);
        self.local.set_pose(&self.model, &self.rig.handles, offsets.gradients, params.pose_rest);
    }

    /// What pulls on a reduced coordinate whatever the state: gravity, the force given and the rig.
    fn load(&self, i: usize, c: usize, params: &SimulationParams) -> f64 {
        let weight = self.model.data.uniform[i] * params.gravity[c];
        weight + self.external[i][c] - params.stiffness * self.rig.cross[i][c]
    }

    /// The exact minimiser for the rotations found, in a diagonal solve; returns the norm of the change.
    fn global_step(&mut self, params: &SimulationParams) -> f64 {
        let mut change2 = 0.0;
        for i in 0..self.reduced.len() {
            for c in 0..3 {
                let next = (self.fixed[i][c] + params.stiffness * self.force[i][c]) / self.diagonal[i];
                let change = next - self.reduced[i][c];
                change2 += change * change;
                self.reduced[i][c] = next;
            }
        }
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

/// Adds rows to others, or none.
fn add(rows: &[[f64; 3]], sum: &mut [[f64; 3]]) {
    sum.as_flattened_mut().iter_mut().zip(rows.as_flattened()).for_each(|(sum, x)| *sum += x);
}
