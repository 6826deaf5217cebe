//! Solver of a substep of the full space.

use std::sync::Arc;

use nalgebra::Matrix3;

use super::FullSpaceModel;
use super::objective::{Incremental, Terms};
use super::opening::Opened;
use super::skin::Skin;
use super::stretch::{NEAR, StretchLimits};
use crate::inputs::drag::Drag;
use crate::inputs::settings::{HISTORY, Minimiser, SimulationParams, StepInput};
use crate::inputs::shares::Shares;
use crate::kinematics::history::{apart, known_velocity, velocity};
use crate::kinematics::rig_rows::{check_offsets, set_pose};
use crate::kinematics::rigid::RigidMotions;
use crate::kinematics::tether::Tether;
use crate::math::rows::{Rows, add};
use crate::math::{SparseCholesky, VertexScratch};
use crate::parallel::on_pool_if;
use crate::potentials::contact::{Anchor, Collider, Contact, ContactSkin, ContactState, End, Start};
use crate::potentials::displacement_limit::Limit;
use crate::potentials::drag::{check_at_vertices, in_metric};
use crate::potentials::elastic::elements::Elements;
use crate::potentials::elastic::fibres::{Fibres, relaxed};
use crate::rig::Pose;
use crate::solve::{Descent, Lbfgs, Outcome};
use crate::stepping::method::{Method, OnIteration, RigState, last};
use crate::stepping::state::State;
use crate::{Result, check};

/// Solver of a substep of a [`FullSpaceModel`], with its scratch; the factored metric is kept.
///
/// A substep minimises `a_0 / (2 h^2) |x - y|_M^2 + s E(x) + damping - f.u` over the admissible
/// displacements u of `x = rig + u`. Coordinates are u of the moving rows; offsets have all rows.
pub(crate) struct FullSpaceMethod {
    pub(super) model: Arc<FullSpaceModel>,
    minimiser: Minimiser,
    elements: Elements,
    /// Elements in the bind shape, once a pose has changed the others.
    rest: Option<Elements>,
    fibres: Option<Fibres>,
    /// Stretch limits, once used, and `true` if they are active.
    stretch: Option<StretchLimits>,
    limited: bool,
    metric: Option<([f64; 2], SparseCholesky)>,
    /// Matrices for opened stitches.
    opened: Option<Opened>,
    /// Factor of the metric with active limits, found in the first substep of a step, which `begins` marks.
    firmer: Option<SparseCholesky>,
    begins: bool,
    scratch: VertexScratch,
    pub(super) descent: Descent,
    pub(super) terms: Terms,
    positions: Vec<[f64; 3]>,
    wide: Vec<[f64; 4]>,
    /// Acceleration of the pose.
    acceleration: Vec<[f64; 3]>,
    /// Accelerations of the rig's vertices, and of offsets.
    pub(super) felt: [Vec<[f64; 3]>; 2],
    /// Displacements of the last substeps carried along by the rig, if flesh feels less than all of it.
    pub(super) carried: [Vec<[f64; 3]>; HISTORY],
    /// External force, N, of the moving rows; empty for none.
    force: Vec<[f64; 3]>,
    contact: Option<Contact>,
    /// Rigid motions of a free body.
    pub(super) rigid: Option<RigidMotions>,
    skin: Skin,
    pub(super) u: Vec<[f64; 3]>,
    /// `true` if a firm tether excludes contact.
    is_held: bool,
    /// Elastic energy of the last descent, without the scale of stiffness, J.
    elastic: f64,
    coefficients: Vec<f64>,
}

impl FullSpaceMethod {
    pub(crate) fn new(model: Arc<FullSpaceModel>) -> Self {
        let (rows, free) = (model.vertices.len(), model.free);
        let zeros = |rows: usize| vec![[0.0; 3]; rows];
        Self {
            minimiser: Minimiser::default(),
            elements: model.elements.clone(),
            rest: None,
            fibres: model.fibres.clone().map(Fibres::new),
            stretch: None,
            limited: false,
            metric: None,
            opened: None,
            firmer: None,
            begins: true,
            scratch: VertexScratch::default(),
            descent: Descent::new(free, 0),
            terms: Terms::new(&model),
            positions: zeros(rows),
            wide: vec![[0.0; 4]; rows],
            acceleration: zeros(model.posing.handle_rows()),
            felt: [zeros(rows), Vec::new()],
            carried: Default::default(),
            force: Vec::new(),
            contact: None,
            rigid: model.parts.as_ref().map(|parts| parts.rigid_motions(&model.mass)),
            skin: Skin::default(),
            u: zeros(free),
            is_held: false,
            elastic: 0.0,
            coefficients: vec![0.0; 3 * rows],
            model,
        }
    }

    /// The solver with contact between colliders and a skin, or the boundary vertices without a skin.
    pub(crate) fn among(mut self, colliders: Arc<[Collider]>, skin: Option<&ContactSkin>) -> Result<Self> {
        let (own, points) = Skin::new(&self.model, skin)?;
        let held = |row: usize| !self.model.loose[row];
        let pinned = self.model.pinned_beside_flesh();
        let mut contact = Contact::new(colliders, points, held, &pinned, self.model.mesh().diagonal())?;
        if skin.is_some_and(|skin| skin.self_collision) {
            contact.meet_itself();
        }
        (self.contact, self.skin) = (Some(contact), own);
        Ok(self)
    }

    /// Begins a substep of contact from a state; `h` is `None` in statics.
    fn begin_contact(
        &mut self,
        state: &ContactState,
        (vertices, pose): (&Rows, &Rows),
        rig: RigState<'_>,
        h: Option<f64>,
    ) {
        if let Some(contact) = &mut self.contact {
            let posing = &self.model.posing;
            let (before, now) = (posing.translation(pose), posing.translation(rig.pose));
            self.skin.go((pose, &before), (rig.pose, &now));
            let start = Start { rows: vertices, beyond: &self.skin.start, origin: before, state, h };
            let end = End { colliders: rig.colliders, beyond: &self.skin.end, origin: now };
            contact.begin(&start, &end, self.terms.metric());
        }
    }

    /// Sets energy, metric and start of a substep of h seconds.
    fn begin(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        let tether = Tether::new(params.hold, h);
        self.is_held = tether.is_some_and(|tether| tether.is_firm());
        let ([by_mass, by_stiffness], viscous) = self.model.damping(params);
        let by_mass = if self.rigid.is_some() { 0.0 } else { by_mass };
        self.terms.inertia.begin(([by_mass, by_stiffness], viscous), params, h);
        let inertia = self.terms.inertia.factor;
        self.terms.inertia.factor += tether.map_or(0.0, |tether| tether.firm);
        self.meet_medium(state, rig, params, h);
        self.set_rig(rig, params)?;
        self.predict(state, rig, params, h);
        self.aim_damping(state, params, h);
        if let Some(tether) = tether {
            self.draw(tether, (state, rig), (inertia, params.inflation));
        }
        // Once a step: curvature pairs and compliances must be recomputed in each metric.
        if std::mem::take(&mut self.begins) {
            self.meet_limits()?;
        }
        Ok(())
    }

    /// Sets the minimiser, with room for its curvature pairs.
    fn set_minimiser(&mut self, minimiser: Minimiser) {
        self.minimiser = minimiser;
        self.descent.memory.make_room(match minimiser {
            Minimiser::QuasiNewton { pairs } => pairs as usize,
            Minimiser::Newton => 0,
        });
    }

    /// Sets rig shape, rest shapes and metric of a substep.
    fn set_rig(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()> {
        let (posing, terms) = (&self.model.posing, &mut self.terms);
        posing.apply(rig.pose, &posing.translation(rig.pose), &mut terms.rig);
        let offsets = terms.rig.as_flattened_mut().iter_mut().zip(rig.offset.as_flattened());
        offsets.for_each(|(x, offset)| *x += offset);
        if params.inflation != 1.0 {
            let rest = self.rest.get_or_insert_with(|| self.model.elements.clone());
            let inflated = terms.rig.iter().map(|place| place.map(|x| params.inflation * x));
            self.positions.iter_mut().zip(inflated).for_each(|(place, grown)| *place = grown);
            self.elements.follow(rest, &self.positions, 1.0, f64::INFINITY);
        } else if params.pose_rest > 0.0 || self.rest.is_some() {
            let rest = self.rest.get_or_insert_with(|| self.model.elements.clone());
            self.elements.follow(rest, &terms.rig, params.pose_rest, f64::INFINITY);
        }
        if let Some(fibres) = &mut self.fibres {
            fibres.follow(&terms.rig, params.pose_rest);
        }
        self.limited = params.stretch.is_some();
        if let Some(limit) = params.stretch {
            let limits = self.stretch.get_or_insert_with(|| StretchLimits::new(&self.model));
            limits.set(limit, &terms.rig);
        }
        terms.keep_gaps(&self.model, rig.pose, &params.stitching);
        terms.stiffness = params.stiffness;
        terms.pose_rest = params.pose_rest;
        terms.relaxed = relaxed(&params.contraction);
        terms.limit = Limit::new(self.model.frequency, self.model.mesh().diagonal(), params);
        let key = terms.metric();
        self.open_stitches(&params.stitching);
        if self.metric.as_ref().is_none_or(|(known, _)| *known != key) {
            self.metric = Some((key, self.model.metric(self.opened.as_ref(), key)?));
        }
        self.descent.memory.enter(key);
        Ok(())
    }

    /// Sets the opening of stitches, and discards curvature pairs after a change.
    fn open_stitches(&mut self, shares: &Shares) {
        let before = self.opened.as_ref().map(|opened| opened.shares);
        self.opened = self.model.opened(shares, self.opened.take());
        if before != self.opened.as_ref().map(|opened| opened.shares) {
            self.metric = None;
        }
        if self.opened.is_some() {
            self.forget_learnt();
        }
    }

    /// Discards what open stitches taught: results from a saved state must not depend on their history.
    fn forget_learnt(&mut self) {
        self.descent.memory.clear();
        self.contact.iter_mut().for_each(Contact::change_metric);
    }

    /// Stores the vertex drag of the next step.
    fn set_drag(&mut self, drag: Option<&Drag>) -> Result<()> {
        let (model, medium) = (&self.model, &mut self.terms.medium);
        medium.enter(std::iter::empty());
        let Some(drag) = drag else { return Ok(()) };
        check_at_vertices(drag, model.vertices.len())?;
        let moving = model.vertices[..model.free].iter().map(|&vertex| vertex as usize);
        medium.enter(moving.map(|v| ([drag.linear()[v], drag.quadratic()[v]], drag.velocity()[v])));
        Ok(())
    }

    /// Sets the known part of the vertex velocities for drag before a substep.
    fn meet_medium(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) {
        if !self.terms.medium.acts() {
            return;
        }
        let factors = params.integrator.velocity();
        let posing = &self.model.posing;
        velocity(&state.path, rig.pose, factors, &mut self.acceleration);
        let [moved, of_offsets] = &mut self.felt;
        posing.apply(&self.acceleration, &[0.0; 3], moved);
        velocity(&state.offset_path, rig.offset, factors, of_offsets);
        add(&mut moved[..of_offsets.len()], 1.0, of_offsets);
        let [.., older, last] = &state.reduced;
        for (moved, (older, last)) in moved.iter_mut().zip(older.iter().zip(last)) {
            (0..3).for_each(|c| moved[c] += known_velocity(older[c], last[c], factors));
        }
        let known = &moved[..self.model.free];
        self.terms.medium.prepare(factors[0], h, |rows| rows.copy_from_slice(known));
        self.terms.inertia.dragged = in_metric(self.terms.medium.steepness(), self.terms.inertia.factor);
    }

    /// Adds the limits active at the start to the metric; otherwise directions into them are too long.
    fn meet_limits(&mut self) -> Result<()> {
        let known = self.firmer.take().is_some();
        if let Some(limits) = self.stretch.as_mut().filter(|_| self.limited) {
            self.positions.copy_from_slice(&self.terms.rig);
            add(&mut self.positions[..self.model.free], 1.0, &self.u);
            limits.watch(&self.positions, NEAR);
            let (opened, flesh) = (self.opened.as_ref(), (&self.elements, self.rest.as_ref()));
            self.firmer = limits.metric(
                &self.model,
                opened,
                (self.terms.stiffness, self.terms.metric()),
                flesh,
                &self.positions,
            )?;
        }
        if known || self.firmer.is_some() {
            self.change_metric();
        }
        Ok(())
    }

    /// Discards everything that depends on the metric.
    fn change_metric(&mut self) {
        self.descent.memory.change_metric();
        self.contact.iter_mut().for_each(Contact::change_metric);
    }

    /// Solves a substep from the last displacement; `on_iteration` gets iteration and energy, and may stop.
    pub(super) fn descend(
        &mut self,
        last: &Rows,
        budget: (u32, f64),
        mut on_iteration: impl FnMut(u32, f64) -> Result<()> + Send,
    ) -> Result<Outcome> {
        let shared = self.elements.are_shared(self.stretch.as_ref().map(|limits| &limits.now));
        let Some((_, factor)) = &self.metric else { return Ok(Outcome::default()) };
        let mut energy = Incremental {
            model: &self.model,
            opened: self.opened.as_ref(),
            elements: &mut self.elements,
            rest: self.rest.as_ref(),
            fibres: self.fibres.as_mut(),
            stretch: self.stretch.as_mut().filter(|_| self.limited),
            terms: &self.terms,
            force: &self.force,
            factor,
            firmer: &mut self.firmer,
            scratch: &mut self.scratch,
            positions: &mut self.positions,
            wide: &mut self.wide,
            contact: self.contact.as_mut().filter(|_| !self.is_held),
            rigid: self.rigid.as_mut().filter(|_| self.terms.inertia.viscous > 0.0),
            farthest: 0.0,
            tried: 0.0,
            reached: 0.0,
        };
        let (descent, u, minimiser) = (&mut self.descent, &mut self.u, self.minimiser);
        let (outcome, elastic) = on_pool_if(shared, move || -> Result<(Outcome, f64)> {
            energy.start(last, u);
            let outcome = energy.minimise(descent, minimiser, u, budget, &mut on_iteration)?;
            energy.project(u);
            if let Some(contact) = &mut energy.contact {
                contact.settle_anchors(&energy.terms.rig, u);
            }
            Ok((outcome, energy.reached))
        })?;
        self.elastic = elastic;
        if self.opened.is_some() {
            self.forget_learnt();
        }
        Ok(outcome)
    }

    /// Rig positions of the vertices at the last substep of a state, relative to `origin`.
    pub(super) fn places(&self, state: &State, origin: &[f64; 3]) -> Vec<[f64; 3]> {
        let mut places = vec![[0.0; 3]; self.model.vertices.len()];
        self.model.posing.apply(&state.path[HISTORY - 1], origin, &mut places);
        let offsets = state.offset_path[HISTORY - 1].as_flattened();
        places.as_flattened_mut().iter_mut().zip(offsets).for_each(|(x, offset)| *x += offset);
        places
    }
}

impl Method for FullSpaceMethod {
    fn rows(&self) -> [usize; 3] {
        // The tether of a loose body has a handle of its own.
        let tether = if self.model.is_loose() { 4 } else { 0 };
        [self.model.posing.handle_rows() + tether, self.model.free, self.model.vertices.len()]
    }

    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()> {
        let posing = &self.model.posing;
        let (rig, tether) = rows.split_at_mut(posing.handle_rows());
        if tether.is_empty() {
            return set_pose(&posing.coordinates, posing.bones, pose, rig);
        }
        set_pose(&posing.coordinates, 0, None, rig)?;
        set_pose(&posing.coordinates, usize::from(pose.is_some()), pose, tether)
    }

    fn hold_offsets(&mut self) {
        self.felt[1].resize(self.model.vertices.len(), [0.0; 3]);
    }

    fn set_offsets(&mut self, offsets: &[f64], _: &mut Rows, rows: &mut Rows) -> Result<()> {
        self.model.check_vertex_rows("offsets", offsets)?;
        check_offsets(&self.model.posing.coordinates, offsets)?;
        self.model.enter(offsets, rows);
        Ok(())
    }

    fn contact_sizes(&self) -> [usize; 2] {
        self.contact.as_ref().map_or([0; 2], |contact| [contact.rows(), contact.places()])
    }

    fn anchors(&self) -> &[Anchor] {
        self.contact.as_ref().filter(|_| !self.is_held).map_or(&[], Contact::anchors)
    }

    fn set_loads(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.begins = true;
        self.set_drag(input.drag)?;
        self.force.clear();
        let Some(force) = input.force else { return Ok(()) };
        self.model.check_vertex_rows("force", force)?;
        check::finite("force", force, 3)?;
        self.force.resize(self.model.free, [0.0; 3]);
        self.model.enter(force, &mut self.force);
        Ok(())
    }

    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()> {
        self.set_minimiser(params.minimiser);
        let shared = self.elements.are_shared(self.stretch.as_ref().map(|limits| &limits.now));
        on_pool_if(shared, || self.begin(state, rig, params, h))?;
        if self.contact.is_some() {
            let origin = self.model.posing.translation(&state.path[HISTORY - 1]);
            let mut vertices = self.places(state, &origin);
            add(&mut vertices[..self.model.free], 1.0, last(state));
            self.begin_contact(&state.contact, (&vertices, &state.path[HISTORY - 1]), rig, Some(h));
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
        self.descend(last(state), budget, |iteration, _| on_iteration(iteration)).map(Outcome::solved)
    }

    /// Loose parts feel no loads here, since they would never come to rest.
    fn prepare_rest(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()> {
        self.set_minimiser(params.minimiser);
        self.is_held = false;
        self.terms.inertia.rest(params.stiffness * self.model.shift);
        self.firmer = None;
        self.change_metric();
        self.set_rig(rig, params)?;
        self.force.resize(self.model.free, [0.0; 3]);
        self.terms.medium.rest_at(params.dt, &mut self.force);
        for (row, force) in self.force.iter_mut().enumerate() {
            let (mass, held) = (self.model.mass[row], if self.model.loose[row] { 0.0 } else { 1.0 });
            (0..3).for_each(|c| force[c] = held * (force[c] + mass * params.gravity[c]));
        }
        self.u.fill([0.0; 3]);
        if self.contact.is_some() {
            let standing = ContactState { last: rig.colliders.to_vec(), ..ContactState::default() };
            let vertices = self.terms.rig.clone();
            self.begin_contact(&standing, (&vertices, rig.pose), rig, None);
        }
        Ok(())
    }

    fn solution(&mut self) -> &mut Rows {
        &mut self.u
    }

    fn elastic_energy(&mut self, params: &SimulationParams) -> f64 {
        params.stiffness * self.elastic
    }

    fn memory(&mut self) -> Option<&mut Lbfgs> {
        Some(&mut self.descent.memory)
    }

    fn turn(&self, from: &Rows, to: &Rows) -> Matrix3<f64> {
        self.model.turn(from, to)
    }

    fn write_coefficients(&mut self, coordinates: &Rows) {
        self.model.leave(coordinates, self.coefficients.as_chunks_mut::<3>().0);
    }

    fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    fn unit(&self) -> f64 {
        self.model.unit()
    }

    fn mass_norm(&self, rows: &Rows) -> f64 {
        self.model.mass_norm(rows)
    }

    fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        let (advance, moved) = apart(&self.places(from, &[0.0; 3]), &self.places(to, &[0.0; 3]));
        Ok((advance, moved / self.model.mesh().diagonal()))
    }
}
