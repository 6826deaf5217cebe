//! Solver of a substep of a body in a reduced basis.

use std::sync::Arc;

use faer::Mat;
use faer::linalg::solvers::{PartialPivLu, Solve};
use nalgebra::Matrix3;

use super::ReducedModel;
use super::drag::ReducedDrag;
use super::elastic::Elastic;
use super::newton::Newton;
use super::objective::{Incremental, Left, Terms};
use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::kinematics::history::apart;
use crate::kinematics::rig_rows::set_pose;
use crate::math::DenseCholesky;
use crate::math::dense::diagonal::FREE;
use crate::math::polar::nearest_rotation;
use crate::math::rows::{Rows, add};
use crate::potentials::contact::{Anchor, Collider, ContactSkin, ReducedContact};
use crate::rig::Pose;
use crate::solve::{Descent, FAR, Lbfgs, Objective, Outcome};
use crate::stepping::method::{Method, OnIteration, RigState, last};
use crate::stepping::state::State;
use crate::{Error, Progress, Result};

/// Number of stored curvature pairs, at negligible cost here.
const PAIRS: usize = 8;
/// Budget of the descent before the exact solution of a substep.
const BEGUN: (u32, f64) = (300, 1e-7);
/// Newton step, as a share of the diagonal, at the level of rounding errors, and the most steps.
const ENDED: f64 = 1e-9;
const NEWTON_STEPS: usize = 12;

/// Solver of a substep of a [`ReducedModel`], with its scratch.
///
/// Minimises the incremental energy of the full space over `x = rig + B y`. Rows of coordinates are three
/// numbers of y each, padded with zeros.
pub(crate) struct ReducedMethod {
    model: Arc<ReducedModel>,
    elastic: Elastic,
    descent: Descent,
    /// Second derivatives, for Newton's method.
    newton: DenseCholesky,
    terms: Terms,
    /// Scratch of damping.
    damping: [Vec<f64>; 2],
    drag: ReducedDrag,
    /// `None` without colliders.
    contact: Option<ReducedContact>,
    /// `sum of V k`, J.
    rounding: f64,
    /// Inertial force of the rig on the coordinates.
    felt: Vec<f64>,
    /// Scratch for unused gradients of the energy.
    gradient: Vec<f64>,
    /// External force, k.
    force: Vec<f64>,
    /// Last pose, 4 rows a handle.
    pose: Vec<[f64; 3]>,
    y: Vec<[f64; 3]>,
    /// Zero displacement, and scratch.
    still: Vec<[f64; 3]>,
    scratch: Vec<[f64; 3]>,
    coefficients: Vec<f64>,
}

impl ReducedMethod {
    pub(crate) fn new(model: Arc<ReducedModel>) -> Self {
        let rank = model.data.rank();
        let pose = vec![[0.0; 3]; model.data.handle_rows()];
        Self {
            elastic: Elastic::new(&model),
            descent: Descent::new(rank.div_ceil(3), PAIRS),
            newton: DenseCholesky::zeros(rank),
            terms: Terms::new(rank),
            damping: [vec![0.0; rank], vec![0.0; rank]],
            drag: ReducedDrag::new(&model),
            contact: None,
            rounding: model.rounding(),
            felt: vec![0.0; rank],
            gradient: vec![0.0; rank],
            force: vec![0.0; rank],
            pose,
            y: vec![[0.0; 3]; rank.div_ceil(3)],
            still: vec![[0.0; 3]; rank.div_ceil(3)],
            scratch: vec![[0.0; 3]; rank.div_ceil(3)],
            coefficients: vec![0.0; model.displacement_count()],
            model,
        }
    }

    /// The solver with contact between colliders and points of a skin.
    pub(crate) fn among(mut self, colliders: Arc<[Collider]>, skin: Option<&ContactSkin>) -> Result<Self> {
        self.contact = Some(self.model.touching(colliders, skin)?);
        Ok(self)
    }

    /// Sets rig and settings of a substep.
    fn set_rig(&mut self, rig: RigState<'_>, params: &SimulationParams) {
        self.pose.copy_from_slice(rig.pose);
        self.elastic.set_pose(&self.model, rig.pose, (params.pose_rest, params.stretch));
        self.terms.limit = self.model.displacement_limit(params);
        self.terms.stiffness = params.stiffness;
        self.descent.memory.enter(self.terms.metric());
    }

    /// Sets the target from inertia, gravity and damping, and the start of the descent.
    fn predict(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) {
        let inertia = params.integrator.acceleration();
        let data = &self.model.data;
        data.rig_mass.project(rig.felt[0].as_flattened(), &mut self.felt);
        self.terms.inertia.fly(&state.reduced, params.integrator);
        let target = &mut self.terms.inertia.target;
        self.y.copy_from_slice(target);
        for (k, target) in target.as_flattened_mut()[..data.rank()].iter_mut().enumerate() {
            let fall: f64 = (0..3).map(|c| params.gravity[c] * data.uniform[c][k]).sum();
            *target += (h * h * fall - self.felt[k]) / inertia[0];
        }
    }

    /// Solves a substep from the last coordinates.
    fn descend(
        &mut self,
        last: &Rows,
        budget: (u32, f64),
        mut on_iteration: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        let Self { model, elastic, terms, damping, drag, contact, rounding, descent, newton, y, .. } = self;
        let (contact, rounding) = (contact.as_mut(), *rounding);
        let mut energy =
            Incremental { model, elastic, terms, damping, drag, contact, rounding, left: Left::default() };
        energy.start([last, &self.still], y, &mut self.scratch);
        // Polynomials give curvature together with forces, therefore Newton's method comes first.
        let outcome = match model.cubic {
            Some(_) => Outcome { stalled: true, ..Outcome::default() },
            None => descent.minimise(&mut energy, y, budget, &mut on_iteration)?,
        };
        if !outcome.stalled {
            return Ok(outcome);
        }
        let newton = &mut Newton::new(&mut energy, newton);
        let further = descent.rescue(newton, y, budget, &outcome, on_iteration)?;
        if (further.iterations == 0 || further.stalled) && energy.length(y) > FAR {
            // Distortion beyond recovery: restart from zero displacement.
            y.fill([0.0; 3]);
        }
        let length = if further.iterations > 0 { further.length } else { outcome.length };
        Ok(Outcome { iterations: outcome.iterations + further.iterations, length, ..further })
    }

    /// Solves the prepared substep to rounding accuracy; returns the factored derivative of its equation.
    pub(crate) fn solve_to_the_end(&mut self, last: &Rows, progress: &Progress) -> Result<PartialPivLu<f64>> {
        self.descend(last, BEGUN, |_, _| progress.proceed())?;
        let Self { model, elastic, terms, damping, drag, rounding, newton, y, scratch, .. } = self;
        let (contact, rounding) = (None, *rounding);
        let mut energy =
            Incremental { model, elastic, terms, damping, drag, contact, rounding, left: Left::default() };
        let rank = model.data.rank();
        for _ in 0..NEWTON_STEPS {
            energy.evaluate(y, scratch);
            energy.write_hessian(|value| value, &mut newton.matrix);
            let factor = newton.matrix.partial_piv_lu();
            let step = factor.solve(Mat::from_fn(rank, 1, |i, _| scratch.as_flattened()[i]));
            scratch.as_flattened_mut()[..rank].copy_from_slice(step.col_as_slice(0));
            add(y, -1.0, scratch);
            if energy.length(scratch) <= ENDED {
                return Ok(factor);
            }
        }
        let why = "Newton's method does not converge; take shorter steps or more damping".into();
        Err(Error::Numerical { what: "step", why })
    }

    /// Inertia and damping of the prepared substep: the factor of `h^2 d2x/dt2` for each coordinate, k, and
    /// the matrix of `h dx/dt`, k x k, 1/s^2.
    pub(crate) fn inertia_and_damping(&self, params: &SimulationParams) -> (f64, Mat<f64>) {
        let ([first, ..], [speed, _]) = (params.integrator.acceleration(), params.integrator.velocity());
        let (inertia, matrix) = (&self.terms.inertia, &self.model.data.damping.matrix);
        let rank = self.model.data.rank();
        (inertia.factor / first, Mat::from_fn(rank, rank, |i, j| inertia.viscous / speed * matrix.at(i, j)))
    }

    /// Positions of the sample places at the last substep of a state.
    fn places(&self, state: &State) -> Vec<[f64; 3]> {
        let (data, last) = (&self.model.data, HISTORY - 1);
        let mut places = vec![[0.0; 3]; data.places.rig.len()];
        let y = &state.reduced[last].as_flattened()[..data.rank()];
        data.places.basis.combine(y, places.as_flattened_mut());
        data.places.add_posed(&state.path[last], &mut places);
        places
    }
}

impl ReducedModel {
    /// Mass norm of a displacement of the whole body by one diagonal.
    pub(crate) fn unit(&self) -> f64 {
        self.data.total_mass.sqrt() * self.data.mesh.diagonal()
    }

    /// `true` if a coordinate stores no elastic energy.
    pub(super) fn is_free(&self, direction: usize) -> bool {
        let largest = self.data.spectrum.last().copied().unwrap_or(0.0);
        self.data.spectrum[direction] <= FREE * largest
    }
}

impl Method for ReducedMethod {
    fn rows(&self) -> [usize; 3] {
        [self.model.data.handle_rows(), self.y.len(), 0]
    }

    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()> {
        set_pose(&self.model.data.coordinates, self.model.data.bones, pose, rows)
    }

    fn contact_sizes(&self) -> [usize; 2] {
        self.contact.as_ref().map_or([0; 2], ReducedContact::sizes)
    }

    fn anchors(&self) -> &[Anchor] {
        self.contact.as_ref().map_or(&[], ReducedContact::anchors)
    }

    fn set_loads(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.drag.enter(&self.model, input.drag)?;
        self.force.fill(0.0);
        let Some(force) = input.force else { return Ok(()) };
        self.model.data.check_coefficients("force", force)?;
        self.model.data.enter_force(force, &mut self.force);
        Ok(())
    }

    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        self.terms.inertia.begin(self.model.data.damping.factors(params), params, h);
        self.terms.force.copy_from_slice(&self.force);
        let begun = (self.terms.inertia.factor, h);
        self.terms.inertia.dragged = self.drag.prepare(&self.model, (state, rig), params, begun);
        self.set_rig(rig, params);
        self.predict(state, rig, params, h);
        if let Some(contact) = &mut self.contact {
            contact.place([&state.path[HISTORY - 1], rig.pose]);
            let start = (last(state), &state.contact);
            contact.begin(start, (rig.pose, rig.colliders), Some(h), self.terms.metric());
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
        let budget = (max_iterations, params.tolerance);
        let outcome = self.descend(last(state), budget, |iteration, _| on_iteration(iteration))?;
        if let Some(contact) = &mut self.contact {
            contact.settle_anchors(&self.y);
        }
        Ok(outcome.solved())
    }

    /// Coordinates without elastic energy feel no loads here, since they would never come to rest.
    fn prepare_rest(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()> {
        let model = self.model.clone();
        let deforms = (0..model.data.rank()).find(|&k| !model.is_free(k));
        self.terms.inertia.rest(params.stiffness * deforms.map_or(1.0, |k| model.data.spectrum[k]));
        self.set_rig(rig, params);
        self.drag.rest(&model, params.dt, &mut self.force);
        for (k, force) in self.terms.force.iter_mut().enumerate() {
            let fall: f64 = (0..3).map(|c| params.gravity[c] * model.data.uniform[c][k]).sum();
            *force = if model.is_free(k) { 0.0 } else { self.force[k] + fall };
        }
        self.y.fill([0.0; 3]);
        if let Some(contact) = &mut self.contact {
            contact.place([rig.pose; 2]);
            contact.begin_rest(rig.pose, rig.colliders, self.terms.metric());
        }
        Ok(())
    }

    fn solution(&mut self) -> &mut Rows {
        &mut self.y
    }

    fn rotate_solution(&mut self, turn: &Matrix3<f64>) {
        let data = &self.model.data;
        let before: Vec<f64> = self.y.as_flattened()[..data.rank()].to_vec();
        for (k, y) in self.y.as_flattened_mut()[..data.rank()].iter_mut().enumerate() {
            let part = |e: usize| -> f64 {
                (0..before.len()).map(|j| turn[(e / 3, e % 3)] * data.across[e][(k, j)] * before[j]).sum()
            };
            *y = (0..9).map(part).sum();
        }
    }

    fn elastic_energy(&mut self, params: &SimulationParams) -> f64 {
        let rank = self.model.data.rank();
        let y = &self.y.as_flattened()[..rank];
        let energy = self.elastic.evaluate(&self.model, y, &mut self.gradient);
        params.stiffness * (energy + self.elastic.of_rig(&self.model, &self.pose))
    }

    fn memory(&mut self) -> Option<&mut Lbfgs> {
        Some(&mut self.descent.memory)
    }

    fn turn(&self, from: &Rows, to: &Rows) -> Matrix3<f64> {
        let samples = &self.model.samples;
        let mut moved = Matrix3::zeros();
        for sample in 0..samples.count() {
            let before = samples.rig_gradient(sample, from);
            moved += samples.volume(sample) * samples.rig_gradient(sample, to) * before.transpose();
        }
        nearest_rotation(&moved)
    }

    fn write_coefficients(&mut self, coordinates: &Rows) {
        let data = &self.model.data;
        data.leave(&coordinates.as_flattened()[..data.rank()], &mut self.coefficients);
    }

    fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    fn unit(&self) -> f64 {
        self.model.unit()
    }

    fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        let (advance, moved) = apart(&self.places(from), &self.places(to));
        Ok((advance, moved / self.model.data.mesh.diagonal()))
    }
}
