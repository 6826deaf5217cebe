//! Solver of a substep of a body of handles.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use super::ProjectiveModel;
use super::drag::HandleDrag;
use super::grip::PointSprings;
use super::holding::{Held, Holding};
use super::objective::{Incremental, Terms};
use super::system::{Factors, System};
use crate::inputs::pull::Pull;
use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::kinematics::history::{apart, extrapolate, free_flight, turning_point};
use crate::kinematics::rig_rows::set_pose;
use crate::kinematics::rigid::RigidMotions;
use crate::kinematics::tether::Tether;
use crate::math::rows::{Rows, add, combine, dot};
use crate::math::symmetric::{Scratch, Spread};
use crate::potentials::contact::{
    Anchor, Collider, Contact, ContactSkin, ContactState, End, SoftShape, Start,
};
use crate::potentials::elastic::body::BodyScratch;
use crate::rig::Pose;
use crate::solve::{Descent, Lbfgs, Outcome};
use crate::stepping::method::{Method, OnIteration, RigState};
use crate::stepping::state::State;
use crate::{Error, Result, check};

/// Number of stored curvature pairs.
pub(super) const PAIRS: usize = 5;
/// Most contact points for other soft bodies, a row and at least. Forces at points much closer together
/// than handles cannot be distinguished.
const BODY_POINTS: usize = 2;
const LEAST_BODY_POINTS: usize = 256;

/// Solver of a substep of a [`ProjectiveModel`], with its scratch; rows are coordinates.
pub(crate) struct ProjectiveMethod {
    pub(super) model: Arc<ProjectiveModel>,
    /// Matrices of the last settings.
    pub(super) system: Option<System>,
    pub(super) descent: Descent,
    pub(super) terms: Terms,
    pub(super) elastic: BodyScratch,
    pub(super) rigid: RigidMotions,
    holding: Holding,
    pub(super) holds: PointSprings,
    /// Drag; present after the first step with drag.
    pub(super) medium: Option<HandleDrag>,
    /// External force.
    force: Vec<[f64; 3]>,
    pub(super) y: Vec<[f64; 3]>,
    pub(super) scratch: Scratch,
    /// Scratch for a pose.
    pose: Vec<[f64; 3]>,
    unused: Vec<[f64; 3]>,
    /// Entries of the handles, 4k x 3.
    entries: Vec<[f64; 3]>,
    coefficients: Vec<f64>,
    pub(super) contact: Option<Contact>,
    /// Collision shape for other bodies.
    pub(super) shape: Option<SoftShape>,
    /// `true` if a firmly tethered body is excluded from contact.
    is_held: bool,
}

impl ProjectiveMethod {
    pub(crate) fn new(model: Arc<ProjectiveModel>) -> Self {
        let zeros = || vec![[0.0; 3]; model.rank()];
        let entries = 4 * model.handles.count();
        Self {
            system: None,
            descent: Descent::new(model.rank(), PAIRS),
            terms: Terms {
                target: zeros(),
                pull: zeros(),
                start: 0.0,
                force: zeros(),
                damped: zeros(),
                inflation: 1.0,
            },
            elastic: model.body.scratch(),
            rigid: model.rigid_motions(),
            holding: Holding::new(&model),
            holds: PointSprings::default(),
            medium: None,
            force: zeros(),
            y: zeros(),
            scratch: Scratch::new(model.rank()),
            pose: vec![[0.0; 3]; 4 * model.bone_count()],
            unused: zeros(),
            entries: vec![[0.0; 3]; entries],
            coefficients: vec![0.0; 3 * entries],
            contact: None,
            shape: None,
            is_held: false,
            model,
        }
    }

    /// The solver with contact between colliders and samples of a skin, or of the mesh's boundary without a
    /// skin.
    pub(crate) fn among(mut self, colliders: Arc<[Collider]>, skin: Option<&ContactSkin>) -> Result<Self> {
        if skin.is_some_and(|skin| skin.rig.is_some()) {
            let why = "a loose body of handles has no rig that could pose its points; leave it out";
            return Err(Error::Unsupported { what: "contact_weights", why });
        }
        let points = self.model.samples(skin)?;
        self.contact = Some(Contact::new(colliders, points, |_| false, &[], self.model.diagonal)?);
        Ok(self)
    }

    /// The solver with a collision shape, a collider at the modelled place, for contact with other such
    /// bodies.
    pub(crate) fn touching(mut self, shape: &Collider) -> Result<Self> {
        let Some(mesh) = self.model.mesh() else {
            let why = "a surface without volume has no inside that others could stay out of; leave it out";
            return Err(Error::Unsupported { what: "shape", why });
        };
        if !shape.spared().is_empty() {
            let why =
                "bodies of all kinds touch it, and it excludes points of one; give one that excludes none";
            return Err(Error::Unsupported { what: "shape", why });
        }
        if let Some(contact) = &mut self.contact {
            contact.meet_bodies(LEAST_BODY_POINTS.max(BODY_POINTS * self.model.rank()));
        }
        self.shape = Some(SoftShape::new(mesh, shape.clone(), &*self.model, self.model.rank())?);
        Ok(self)
    }

    /// Bounding box throughout a prepared substep; `None` without contact with other bodies.
    pub(crate) fn reach(&self, state: &State) -> Option<[[f64; 3]; 2]> {
        let shape = self.shape.as_ref().filter(|_| !self.is_held)?;
        Some(shape.reach([&state.reduced[HISTORY - 1], &self.y]))
    }

    /// Begins a substep of contact from given coordinates; `h` is `None` in statics.
    fn begin_contact(&mut self, (state, rows): (&ContactState, &Rows), colliders: &Rows, h: Option<f64>) {
        if let (Some(contact), Some(System { factors, .. })) = (&mut self.contact, &self.system) {
            let places = contact.points.places().to_vec();
            let start = Start { rows, beyond: &places, origin: [0.0; 3], state, h };
            let end = End { colliders, beyond: &places, origin: [0.0; 3] };
            contact.begin(&start, &end, factors.metric());
        }
    }

    /// Updates the matrices if the settings have changed, and the constant terms.
    fn set_system(&mut self, factors: Factors, pose: &Rows) -> Result<()> {
        if self.system.as_ref().is_none_or(|system| system.factors != factors) {
            self.system =
                Some(System::new(&self.model, factors, self.medium.as_ref().map(HandleDrag::gram))?);
        }
        self.descent.memory.enter(factors.metric());
        if let Some(system) = &self.system
            && self.holds.meet(system)?
        {
            self.descent.memory.change_metric();
            self.contact.iter_mut().for_each(Contact::change_metric);
        }
        let Terms { target, pull, start, .. } = &mut self.terms;
        pull.fill([0.0; 3]);
        let Scratch { rows, spread } = &mut self.scratch;
        self.model.packed_unseen.multiply(target, rows, spread);
        add(pull, factors.stiffness, rows);
        *start = 0.5 * dot(target, pull);
        if let Some(attachment) = &self.model.attachment {
            let rooms = [&mut self.pose[..], &mut self.unused];
            attachment.pull([target, pose], rooms, &mut self.scratch, pull);
        }
        Ok(())
    }

    /// Sets the target from inertia, gravity and damping.
    fn predict(&mut self, state: &State, params: &SimulationParams, h: f64) {
        let inertia = params.integrator.acceleration();
        let target = &mut self.terms.target;
        free_flight(&state.reduced, params.integrator, target);
        let [.., older, last] = &state.reduced;
        for part in 0..self.model.coordinates.parts.len() {
            (0..3).for_each(|c| target[4 * part + 3][c] += h * h * params.gravity[c] / inertia[0]);
        }
        if params.damping > 0.0 {
            self.damp([older, last], params, h);
        }
        self.holds.calm(&self.model, [older, last], h, &mut self.terms.target);
    }

    /// Damps the deforming motion: by mass through the target, by stiffness within the energy.
    fn damp(&mut self, [older, last]: [&Rows; 2], params: &SimulationParams, h: f64) {
        let Self { model, terms, rigid, scratch, .. } = self;
        let [mass, stiffness] = model.damping(params);
        let velocity = params.integrator.velocity();
        let mut set = |rigid: &mut RigidMotions, ahead: f64| {
            let place = |places: &mut Rows| {
                extrapolate([older, last], ahead, places);
                model.place(places);
            };
            rigid.set(place, |places, out| model.packed_mass.multiply(places, out, &mut scratch.spread));
        };
        set(rigid, 0.0);
        let moved = &mut terms.damped;
        combine(moved, last, -1.0, older);
        rigid.remove(moved);
        add(&mut terms.target, (-mass * h).exp_m1(), moved);
        if stiffness > 0.0 {
            set(rigid, turning_point(velocity));
            extrapolate([older, last], -velocity[1] / velocity[0], moved);
        }
    }

    /// Moves the initial guess to free flight without gravity, which is closer to the solution for a body
    /// resting in contact.
    fn unload(&mut self, params: &SimulationParams, h: f64) {
        let inertia = params.integrator.acceleration()[0];
        for part in 0..self.model.coordinates.parts.len() {
            (0..3).for_each(|c| self.y[4 * part + 3][c] -= h * h * params.gravity[c] / inertia);
        }
    }

    fn descend(
        &mut self,
        budget: (u32, f64),
        on_iteration: impl FnMut(u32, f64) -> Result<()>,
    ) -> Result<Outcome> {
        let Self {
            model,
            system,
            descent,
            terms,
            elastic,
            holds,
            medium,
            rigid,
            y,
            scratch,
            contact,
            is_held,
            ..
        } = self;
        let Some(system) = system else { return Ok(Outcome::default()) };
        let (scratch, contact) = (RefCell::new(scratch), contact.as_mut().filter(|_| !*is_held));
        let medium = medium.as_mut();
        let mut energy =
            Incremental { model, system, terms, elastic, holds, medium, rigid, scratch, contact };
        let outcome = descent.minimise(&mut energy, y, budget, on_iteration)?;
        if let Some(contact) = energy.contact {
            contact.settle_anchors(&[], y);
        }
        Ok(outcome)
    }

    /// Displacements of the handles.
    fn moved(&self, state: &State) -> Vec<[f64; 3]> {
        let (model, mut entries) = (&self.model, vec![[0.0; 3]; self.entries.len()]);
        model.coordinates.leave(&state.reduced[HISTORY - 1], &mut entries);
        let moved = |&vertex: &u32| {
            let mut sum = [0.0; 3];
            for (handle, shares) in model.handles.row(vertex as usize) {
                for (share, row) in shares.iter().zip(&entries[4 * handle..]) {
                    (0..3).for_each(|c| sum[c] += share * row[c]);
                }
            }
            sum
        };
        model.handles.vertices().iter().map(moved).collect()
    }
}

impl ProjectiveModel {
    /// Removes the net force on each loose part, and adds the weight of attached parts.
    fn balance(&self, gravity: &[f64; 3], force: &mut Rows) {
        for (number, part) in self.coordinates.parts.iter().enumerate() {
            let at = 4 * number + 3;
            if self.hangs(number) {
                for (k, row) in force.iter_mut().enumerate() {
                    (0..3).for_each(|c| row[c] += self.mass[(k, at)] * gravity[c]);
                }
                continue;
            }
            let pull = force[at].map(|f| f / part.mass);
            for (k, row) in force.iter_mut().enumerate() {
                (0..3).for_each(|c| row[c] -= self.mass[(k, at)] * pull[c]);
            }
            force[at] = [0.0; 3];
        }
    }

    /// Sets coordinates to rest in a pose.
    fn begin(&self, pose: &Rows, y: &mut Rows) {
        y.fill([0.0; 3]);
        if let Some(attachment) = &self.attachment {
            attachment.begin(&self.coordinates, pose, y);
        }
    }

    /// `true` if a part has attached vertices.
    pub(super) fn hangs(&self, part: usize) -> bool {
        self.attachment.as_ref().is_some_and(|attachment| attachment.parts().any(|held| held == part))
    }
}

impl Method for ProjectiveMethod {
    fn rows(&self) -> [usize; 3] {
        [4 * self.model.bone_count().max(1), self.y.len(), 0]
    }

    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()> {
        let bones = self.model.bone_count();
        // The tether of a loose body uses one bone.
        let bones = if pose.is_some() { bones.max(1) } else { bones };
        set_pose(&self.model.pose_coordinates, bones, pose, rows)
    }

    fn contact_sizes(&self) -> [usize; 2] {
        self.contact.as_ref().map_or([0; 2], |contact| [contact.rows(), contact.places()])
    }

    fn touching(&mut self) -> Option<&mut dyn Any> {
        self.shape.is_some().then_some(self)
    }

    fn anchors(&self) -> &[Anchor] {
        self.contact.as_ref().filter(|_| !self.is_held).map_or(&[], Contact::anchors)
    }

    fn set_pull(&mut self, pull: Option<&Pull>) -> Result<()> {
        self.holds.enter(&self.model, pull)
    }

    fn set_loads(&mut self, input: &StepInput<'_>) -> Result<()> {
        HandleDrag::enter(&mut self.medium, &self.model, input.drag)?;
        self.force.fill([0.0; 3]);
        let Some(force) = input.force else { return Ok(()) };
        let count = self.model.handles.count();
        check::shape("force", &[count, 3, 4], force.len())?;
        check::finite("force", force, 1)?;
        let radius = self.model.handles.radius();
        for (rows, force) in self.entries.as_chunks_mut::<4>().0.iter_mut().zip(force.as_chunks::<12>().0) {
            *rows = std::array::from_fn(|d| {
                [0, 1, 2].map(|c| force[4 * c + d] / if d < 3 { radius } else { 1.0 })
            });
        }
        self.model.coordinates.enter_force(&self.entries, &mut self.force);
        Ok(())
    }

    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        self.predict(state, params, h);
        self.terms.force.copy_from_slice(&self.force);
        let inertia = params.integrator.acceleration()[0] / (h * h);
        let [last, from] = [&state.reduced, &state.path].map(|history| &history[HISTORY - 1][..]);
        let tether = Tether::new(params.hold, h);
        if let Some(tether) = tether {
            let held = Held { last, poses: [from, rig.pose], inertia, inflation: params.inflation };
            let wanted = (&mut self.terms.target[..], &mut self.scratch.spread);
            self.holding.draw(&self.model, tether, &held, wanted);
        }
        let hold = tether.map_or(0.0, |tether| tether.firm);
        self.is_held = tether.is_some_and(|tether| tether.is_firm());
        self.terms.inflation = params.inflation;
        self.holds.predict(last, Some(h));
        let dragged = self.medium.as_mut().map(|medium| medium.meet(&state.reduced, params, (inertia, h)));
        let (dragged, stiffness) = (dragged.unwrap_or(0.0), params.stiffness);
        let [velocity, _] = params.integrator.velocity();
        let viscous = self.model.damping(params)[1] * velocity / h;
        self.set_system(Factors { inertia, hold, dragged, near: 0.0, stiffness, viscous }, rig.pose)?;
        self.y.copy_from_slice(&self.terms.target);
        if !state.contact.anchors.is_empty() {
            self.unload(params, h);
        }
        self.begin_contact((&state.contact, &state.reduced[HISTORY - 1]), rig.colliders, Some(h));
        Ok(())
    }

    fn minimise(
        &mut self,
        _: &State,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)> {
        let budget = (max_iterations, params.tolerance);
        self.descend(budget, |iteration, _| on_iteration(iteration)).map(Outcome::solved)
    }

    /// Gravity on loose parts is left out, since nothing resists it.
    fn prepare_rest(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()> {
        let lowest = (std::f64::consts::TAU * self.model.frequency).powi(2);
        self.model.begin(rig.pose, &mut self.y);
        self.terms.target.copy_from_slice(&self.y);
        self.terms.force.copy_from_slice(&self.force);
        self.medium.iter_mut().for_each(|medium| medium.rest(params.dt, &mut self.terms.force));
        self.holds.predict(&self.y, None);
        self.model.balance(&params.gravity, &mut self.terms.force);
        let stiffness = params.stiffness;
        (self.terms.inflation, self.is_held) = (params.inflation, false);
        let factors = Factors { near: stiffness * lowest, stiffness, ..Factors::default() };
        self.set_system(factors, rig.pose)?;
        let standing = ContactState { last: rig.colliders.to_vec(), ..ContactState::default() };
        let rest = self.y.clone();
        self.begin_contact((&standing, &rest), rig.colliders, None);
        Ok(())
    }

    fn solution(&mut self) -> &mut Rows {
        &mut self.y
    }

    fn carry_solution(&mut self, from: &Rows, to: &Rows) {
        if let Some(attachment) = &self.model.attachment {
            attachment.carry(&self.model.coordinates, [from, to], &mut self.y);
        }
    }

    fn begin(&self, pose: &Rows, coordinates: &mut Rows) {
        self.model.begin(pose, coordinates);
    }

    fn shift(&self, by: &[f64; 3], coordinates: &mut Rows) {
        let translations = coordinates[..self.model.coordinates.affine_count()].iter_mut().skip(3).step_by(4);
        translations.for_each(|row| (0..3).for_each(|c| row[c] += by[c]));
    }

    fn coast(&mut self, reduced: &mut [Vec<[f64; 3]>; HISTORY], poses: [&Rows; 2]) {
        let Some(attachment) = &self.model.attachment else { return };
        let (older, [last]) = reduced.split_at_mut(HISTORY - 1) else { return };
        self.y.copy_from_slice(last);
        attachment.carry(&self.model.coordinates, poses, &mut self.y);
        add(&mut self.y, -1.0, last);
        for (back, rows) in older.iter_mut().rev().enumerate() {
            combine(rows, last, -((back + 1) as f64), &self.y);
        }
    }

    fn elastic_energy(&mut self, params: &SimulationParams) -> f64 {
        let Self { model, y, scratch, unused, elastic, .. } = self;
        params.stiffness * Incremental::elastic(model, (y, params.inflation), elastic, (scratch, unused))
    }

    fn memory(&mut self) -> Option<&mut Lbfgs> {
        Some(&mut self.descent.memory)
    }

    fn write_coefficients(&mut self, coordinates: &Rows) {
        let model = &self.model;
        model.coordinates.leave(coordinates, &mut self.entries);
        let radius = model.handles.radius();
        let transforms = self.coefficients.as_chunks_mut::<12>().0;
        for (transform, rows) in transforms.iter_mut().zip(self.entries.as_chunks::<4>().0) {
            *transform = std::array::from_fn(|e| rows[e % 4][e / 4] / if e % 4 < 3 { radius } else { 1.0 });
        }
    }

    fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    fn unit(&self) -> f64 {
        self.model.unit()
    }

    fn mass_norm(&self, rows: &Rows) -> f64 {
        let (mut images, mut spread) = (vec![[0.0; 3]; rows.len()], Spread::new(rows.len()));
        self.model.packed_mass.multiply(rows, &mut images, &mut spread);
        dot(rows, &images).max(0.0).sqrt()
    }

    fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        let (advance, moved) = apart(&self.moved(from), &self.moved(to));
        Ok((advance, moved / self.model.diagonal))
    }
}
