//! Time stepping for all methods: frames and substeps, the state with its history, cuts, and undo.

use super::method::{Method, RigState};
use crate::inputs::settings::{HISTORY, Integrator, SimulationParams, StepInput, StepReport};
use crate::kinematics::history::{felt_acceleration, follow, on_parabola, remember, smooth};
use crate::potentials::contact::Placement;
use crate::stepping::state::State;
use crate::{Error, Progress, Result};

/// Finds the end of a substep from a state; returns iterations and residual.
pub(crate) type Solve<'a, S> = dyn FnMut(&mut S, &State) -> Result<(u32, f64)> + 'a;

/// State of a simulation, and the method that solves its substeps.
pub(crate) struct Stepper<S: Method + ?Sized> {
    state: State,
    /// The state before a step, for undo after a failure.
    before: State,
    /// Target pose, in the body's coordinates.
    target: Vec<[f64; 3]>,
    /// The pose of the substep.
    pose: Vec<[f64; 3]>,
    /// Target offsets, and offsets of the substep; no rows before the first offsets.
    offset_target: Vec<[f64; 3]>,
    offset: Vec<[f64; 3]>,
    /// Target placements of colliders, and placements in the substep.
    collider_target: Vec<[f64; 3]>,
    colliders: Vec<[f64; 3]>,
    /// Felt accelerations of the pose and of the offsets.
    felt: [Vec<[f64; 3]>; 2],
    pub(crate) method: Box<S>,
}

impl<S: Method + ?Sized> Stepper<S> {
    pub(crate) fn new(method: Box<S>) -> Self {
        let [pose, coordinates, _] = method.rows();
        let [colliders, _] = method.contact_sizes();
        let mut state = State::new(pose, coordinates, colliders);
        let made = Placement::made(colliders);
        state.contact.start(&made);
        Self {
            before: state.clone(),
            state,
            target: vec![[0.0; 3]; pose],
            pose: vec![[0.0; 3]; pose],
            offset_target: Vec::new(),
            offset: Vec::new(),
            colliders: made.clone(),
            collider_target: made,
            felt: [vec![[0.0; 3]; pose], Vec::new()],
            method,
        }
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Velocities of the coefficients by the integrator's backward difference, in C order; zeros at rest.
    pub(crate) fn velocities(&mut self, integrator: Integrator) -> Vec<f64> {
        let mut rates = vec![0.0; self.method.coefficients().len()];
        let spacing = self.state.spacing;
        if spacing > 0.0 {
            let [newest, older] = integrator.velocity();
            for (back, factor) in [newest, older - newest, -older].into_iter().enumerate() {
                self.method.write_coefficients(&self.state.reduced[HISTORY - 1 - back]);
                let coefficients = self.method.coefficients();
                rates.iter_mut().zip(coefficients).for_each(|(rate, x)| *rate += factor / spacing * x);
            }
        }
        self.show();
        rates
    }

    /// The method.
    pub(crate) fn method(&self) -> &S {
        &self.method
    }

    /// Resamples the target poses to frames of another length: keeps the rig's velocity.
    pub(crate) fn respace_frames(&mut self, ratio: f64) {
        for [before, last] in [&mut self.state.frames, &mut self.state.offset_frames] {
            for (before, last) in before.as_flattened_mut().iter_mut().zip(last.as_flattened()) {
                *before = last - ratio * (last - *before);
            }
        }
    }

    /// The method, and the state from which a substep starts.
    pub(crate) fn parts(&mut self) -> (&mut S, &State) {
        (&mut self.method, &self.state)
    }

    pub(crate) fn restore(&mut self, state: &State) -> Result<()> {
        let [.., offset_rows] = self.method.rows();
        let [_, points] = self.method.contact_sizes();
        state.check(&self.state, offset_rows)?;
        let others = self.method.touching().is_some();
        state.contact.check(&self.state.contact, points, others)?;
        let held = self.state.holds_offsets();
        self.state.copy_from(state);
        if held || state.holds_offsets() {
            self.hold_offsets();
        }
        self.recall();
        self.collider_target.copy_from_slice(&self.state.contact.frames[1]);
        self.show();
        Ok(())
    }

    /// Allocates offsets for all following steps.
    fn hold_offsets(&mut self) {
        let [.., rows] = self.method.rows();
        self.state.hold_offsets(rows);
        self.offset_target.resize(rows, [0.0; 3]);
        self.offset.resize(rows, [0.0; 3]);
        self.felt[1].resize(rows, [0.0; 3]);
        self.method.hold_offsets();
    }

    pub(crate) fn reset(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.enter(input)?;
        self.start();
        self.state.time = 0.0;
        self.show();
        Ok(())
    }

    /// Puts the body at rest in a pose, 4 rows a handle, with colliders at their initial places, as before
    /// its first step.
    pub(crate) fn stand(&mut self, pose: &[[f64; 3]]) {
        self.target.copy_from_slice(pose);
        self.collider_target = Placement::made(self.colliders.len());
        self.start();
        (self.state.started, self.state.time) = (false, 0.0);
        self.show();
    }

    /// Puts the body at rest in the target pose with the displacement kept, turned with the rig's overall
    /// rotation.
    pub(crate) fn cut(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.enter(input)?;
        let last = HISTORY - 1;
        let started = self.state.started;
        self.method.solution().copy_from_slice(&self.state.reduced[last]);
        if started {
            self.method.carry_solution(&self.state.path[last], &self.target);
        }
        self.start();
        if started {
            self.stay();
        }
        self.show();
        Ok(())
    }

    /// Puts the body at rest at the method's current solution.
    pub(crate) fn stay(&mut self) {
        let found = self.method.solution();
        self.state.reduced.iter_mut().for_each(|reduced| reduced.copy_from_slice(found));
        self.show();
    }

    /// Gives the rig, at rest so far, the velocity towards the next pose.
    pub(crate) fn coast(&mut self, next: &StepInput<'_>, params: &SimulationParams) -> Result<()> {
        self.enter(next)?;
        if self.state.started {
            let ahead = [&self.target[..], &self.offset_target, &self.collider_target];
            self.method.coast(&mut self.state.reduced, [&self.state.path[HISTORY - 1], &self.target]);
            self.state.coast(ahead, params.dt);
        }
        Ok(())
    }

    /// Restores the state before the last step.
    pub(crate) fn undo(&mut self) {
        self.state.copy_from(&self.before);
        self.collider_target.copy_from_slice(&self.state.contact.frames[1]);
        self.recall();
        self.show();
    }

    /// Hands the curvature pairs of the state to the method.
    fn recall(&mut self) {
        if let Some(memory) = self.method.memory() {
            memory.load(&self.state.learnt);
        }
    }

    /// Starts at rest in the target pose, with colliders in their target placements.
    fn start(&mut self) {
        self.rest();
        self.state.contact.start(&self.collider_target);
    }

    /// Puts the state at rest in the target pose; colliders keep their placements.
    fn rest(&mut self) {
        for pose in self.state.frames.iter_mut().chain(&mut self.state.path) {
            pose.copy_from_slice(&self.target);
        }
        for offset in self.state.offset_frames.iter_mut().chain(&mut self.state.offset_path) {
            offset.copy_from_slice(&self.offset_target);
        }
        for reduced in &mut self.state.reduced {
            self.method.begin(&self.target, reduced);
        }
        (self.state.started, self.state.spacing) = (true, 0.0);
        self.state.learnt.pairs.clear();
        self.recall();
    }

    fn enter(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.target.copy_from_slice(&self.state.frames[1]);
        self.method.set_pose(input.pose, &mut self.target)?;
        match input.offsets {
            Some(offsets) => {
                self.hold_offsets();
                self.method.set_offsets(offsets, &mut self.target, &mut self.offset_target)?;
            }
            None => self.offset_target.fill([0.0; 3]),
        }
        if let Some(colliders) = input.colliders {
            Placement::enter(colliders, &mut self.collider_target)?;
        }
        self.method.set_pull(input.pull)?;
        self.method.set_loads(input)
    }

    /// Starts at rest in static equilibrium: the minimum of elastic energy minus the work of loads, reached
    /// from zero displacement.
    pub(crate) fn settle(
        &mut self,
        input: &StepInput<'_>,
        max_iterations: u32,
        params: &SimulationParams,
        progress: &Progress,
    ) -> Result<StepReport> {
        progress.enter("settling", 0.0, 1.0)?;
        self.enter(input)?;
        self.before.copy_from(&self.state);
        self.start();
        let (pose, offset, colliders) = (&self.target, &self.offset_target, &self.collider_target);
        let [felt, offset_felt] = &self.felt;
        let rig = RigState { pose, offset, colliders, felt: [felt, offset_felt] };
        let mut on_iteration = |iteration| progress.report(iteration as f32 / max_iterations as f32);
        let prepared = self.method.prepare_rest(rig, params);
        let settled = prepared
            .and_then(|()| self.method.minimise(&self.state, params, max_iterations, &mut on_iteration));
        let (iterations, residual) = self.or_undone(settled)?;
        self.state.time = 0.0;
        self.stay();
        self.finish(StepReport { iterations, residual, ..StepReport::default() }, params)
    }

    pub(crate) fn step(
        &mut self,
        input: &StepInput<'_>,
        params: &SimulationParams,
        progress: &Progress,
    ) -> Result<StepReport> {
        self.step_by(input, params, &mut |method, state| method.solve(state, params, progress))
    }

    /// The result, after undo of the step on failure.
    fn or_undone<T>(&mut self, found: Result<T>) -> Result<T> {
        found.inspect_err(|_| self.undo())
    }

    /// A step with each substep solved by `solve`, which returns iterations and residual.
    pub(crate) fn step_by(
        &mut self,
        input: &StepInput<'_>,
        params: &SimulationParams,
        solve: &mut Solve<'_, S>,
    ) -> Result<StepReport> {
        self.begin(input)?;
        let mut report = StepReport::default();
        for substep in 1..=params.substeps {
            let solved = self.prepare(substep, params).and_then(|()| solve(&mut self.method, &self.state));
            report.add(self.or_undone(solved)?);
            self.take();
        }
        self.end(report, params)
    }

    /// Begins a step. The first one starts at rest in its pose, with colliders at their initial places.
    pub(crate) fn begin(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.enter(input)?;
        self.before.copy_from(&self.state);
        if !self.state.started {
            self.rest();
        }
        Ok(())
    }

    /// Ends a step after its last substep.
    pub(crate) fn end(&mut self, report: StepReport, params: &SimulationParams) -> Result<StepReport> {
        follow(&mut self.state.frames, self.method.reached(&self.target));
        follow(&mut self.state.offset_frames, &self.offset_target);
        follow(&mut self.state.contact.frames, &self.collider_target);
        self.state.time += params.dt;
        self.finish(report, params)
    }

    /// Accepts the new state, or undoes the step after numerical overflow.
    fn finish(&mut self, mut report: StepReport, params: &SimulationParams) -> Result<StepReport> {
        report.energy = self.method.elastic_energy(params);
        report.converged = report.residual <= params.tolerance;
        self.show();
        // The energy does not depend on every coordinate.
        let numbers = self.method.coefficients().iter().chain([&report.residual, &report.energy]);
        if { numbers }.any(|x| !x.is_finite()) {
            self.undo();
            return Err(Error::Numerical {
                what: "step",
                why: "the motion is too violent for double precision; check the pose".into(),
            });
        }
        if let Some(memory) = self.method.memory() {
            memory.save(&mut self.state.learnt);
        }
        Ok(report)
    }

    /// Pose of a substep, on the parabola through the last three target poses.
    ///
    /// With linear interpolation the velocity of the rig would jump at each frame, and each jump would kick
    /// the flesh in one substep of the frame.
    fn move_pose(&mut self, substep: u32, substeps: u32) {
        if substep == substeps {
            self.pose.copy_from_slice(&self.target);
            self.offset.copy_from_slice(&self.offset_target);
            self.colliders.copy_from_slice(&self.collider_target);
            return;
        }
        let time = f64::from(substep) / f64::from(substeps);
        on_parabola(&self.state.frames, &self.target, time, &mut self.pose);
        on_parabola(&self.state.offset_frames, &self.offset_target, time, &mut self.offset);
        on_parabola(&self.state.contact.frames, &self.collider_target, time, &mut self.colliders);
    }

    /// Sets what the flesh feels of the rig's acceleration in a substep.
    fn feel(&mut self, params: &SimulationParams) {
        let (state, inertia) = (&self.state, params.integrator.acceleration());
        let frame = params.strength / f64::from(params.substeps).powi(2);
        let [felt, offset_felt] = &mut self.felt;
        for (felt, path, now, frames, next) in [
            (felt, &state.path, &self.pose, &state.frames, &self.target),
            (offset_felt, &state.offset_path, &self.offset, &state.offset_frames, &self.offset_target),
        ] {
            felt_acceleration(path, now, &inertia, params.strength, felt);
            if params.smoothing > 0.0 {
                smooth(felt, frames, next, params.smoothing, frame);
            }
        }
    }

    /// Prepares all constants of a substep.
    pub(crate) fn prepare(&mut self, substep: u32, params: &SimulationParams) -> Result<()> {
        self.move_pose(substep, params.substeps);
        let h = params.dt / f64::from(params.substeps);
        self.state.respace(h);
        self.feel(params);
        let [felt, offset_felt] = &self.felt;
        let (pose, offset, colliders) = (&self.pose, &self.offset, &self.colliders);
        let rig = RigState { pose, offset, colliders, felt: [felt, offset_felt] };
        self.method.prepare(&self.state, rig, params, h)
    }

    /// Appends the solution of a substep to the history.
    pub(crate) fn take(&mut self) {
        remember(&mut self.state.reduced, self.method.solution());
        remember(&mut self.state.path, &self.pose);
        remember(&mut self.state.offset_path, &self.offset);
        self.state.contact.last.copy_from_slice(&self.colliders);
        self.state.contact.anchors.clear();
        self.state.contact.anchors.extend_from_slice(self.method.anchors());
    }

    fn show(&mut self) {
        self.method.write_coefficients(&self.state.reduced[HISTORY - 1]);
    }
}
