//! A running simulation: a model, settings and a state; periodic motion, common steps and keyed motion.

pub(crate) mod cycle;
pub mod keyed;
pub(crate) mod newton_on_cycle;
pub(crate) mod periodic;
pub(crate) mod together;

pub use periodic::CycleReport;
pub use together::{Participant, step_together};

use std::sync::Arc;

use crate::inputs::force_samples::ForceSamples;
use crate::inputs::settings::{Minimiser, SimulationParams, StepInput, StepReport};
use crate::inputs::start::Start;
use crate::model::Model;
use crate::model::full_space::step::FullSpaceMethod;
use crate::model::projective::step::ProjectiveMethod;
use crate::model::reduced::step::ReducedMethod;
use crate::model::skinning_modes::step::SkinningMethod;
use crate::potentials::contact::{Collider, ContactSkin};
use crate::rig::Pose;
use crate::stepping::method::Method;
use crate::stepping::recurrence::{Recurrence, Tangent};
use crate::stepping::state::State;
use crate::stepping::stepper::Stepper;
use crate::{Error, Progress, Result};

/// Simulation of a model through a sequence of poses.
///
/// The first pose is a start at rest in this pose without displacement, through [`Simulation::reset`] or
/// [`Simulation::step`]. A step of a reduced model allocates nothing (except for the first offsets), at a
/// cost independent of the mesh size. The same inputs give the same bits.
///
/// ```
/// use jounce::Progress;
/// use jounce::body::{Body, BodyParams};
/// use jounce::inputs::SimulationParams;
/// use jounce::mesh::SurfaceMesh;
/// use jounce::simulation::Simulation;
///
/// let surface = SurfaceMesh::cuboid([2.0, 0.5, 0.5])?;
/// let params = BodyParams { resolution: 8, modes: 4, cubature: 10, ..BodyParams::default() };
/// let body = Body::new(&surface, &[1.0; 8], 1, &params, &Progress::default())?;
/// let settings = SimulationParams { damping: 0.1, ..SimulationParams::default() };
/// let mut simulation = Simulation::new(body.model, settings)?;
/// let at = |z| [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]];
/// simulation.reset(Some(&[at(0.0)]))?;
/// simulation.step(Some(&[at(0.1)]))?;
/// let before = simulation.save_state();
/// let first = simulation.step(Some(&[at(0.2)]))?;
/// simulation.restore_state(&before)?;
/// assert_eq!(simulation.step(Some(&[at(0.2)]))?, first);
/// # Ok::<(), jounce::Error>(())
/// ```
pub struct Simulation {
    model: Model,
    pub(super) params: SimulationParams,
    surroundings: Option<Surroundings>,
    pub(super) stepper: Stepper<dyn Method + Sync>,
}

/// Colliders, contact points other than the boundary vertices, and the collision shape for other bodies.
struct Surroundings {
    colliders: Arc<[Collider]>,
    skin: Option<ContactSkin>,
    shape: Option<Collider>,
}

impl Simulation {
    /// A simulation before its first pose.
    ///
    /// # Errors
    /// As [`SimulationParams::check`]; [`Error::Unsupported`] for a limit that the model does not have.
    pub fn new(model: Model, params: SimulationParams) -> Result<Self> {
        check(&model, &params, false)?;
        let method: Box<dyn Method + Sync> = match &model {
            Model::Skinning(model) => Box::new(SkinningMethod::new(model.clone())),
            Model::FullSpace(model) => Box::new(FullSpaceMethod::new(model.clone())),
            Model::Reduced(model) => Box::new(ReducedMethod::new(model.clone())),
            Model::Projective(model) => Box::new(ProjectiveMethod::new(model.clone())),
        };
        Ok(Self { model, params, surroundings: None, stepper: Stepper::new(method) })
    }

    /// A simulation with colliders, at their initial places until a step moves them.
    ///
    /// Contact points are those of the skin, or without a skin the boundary vertices of the mesh; a loose
    /// body of handles uses a thousand samples of either, skinning modes and reduced models 256. With bones,
    /// these two need a skin with skinning weights.
    ///
    /// # Errors
    /// As [`Simulation::new`]; [`Error::Empty`] without a collider or self-collision, and for self-collision
    /// without triangles; [`Error::Shape`] for points in another mesh and weights for another number of
    /// points or bones; [`Error::Index`] for a collider that excludes unknown points;
    /// [`Error::Unsupported`] for self-collision outside of the full space, skinning modes or reduced models
    /// with bones but no weights of points, weights of points of a loose body and for an integrator other
    /// than backward Euler.
    pub fn among(
        model: Model,
        params: SimulationParams,
        colliders: &[Collider],
        skin: Option<ContactSkin>,
    ) -> Result<Self> {
        let touches_itself = check_self_collision(&model, skin.as_ref())?;
        if colliders.is_empty() && !touches_itself {
            return Err(Error::Empty { what: "colliders" });
        }
        check(&model, &params, true)?;
        let shared: Arc<[Collider]> = colliders.into();
        let method: Box<dyn Method + Sync> = match &model {
            Model::FullSpace(body) => {
                let body = FullSpaceMethod::new(body.clone());
                Box::new(body.among(shared.clone(), skin.as_ref())?)
            }
            Model::Projective(body) => {
                Box::new(ProjectiveMethod::new(body.clone()).among(shared.clone(), skin.as_ref())?)
            }
            Model::Skinning(body) => {
                Box::new(SkinningMethod::new(body.clone()).among(shared.clone(), skin.as_ref())?)
            }
            Model::Reduced(body) => {
                Box::new(ReducedMethod::new(body.clone()).among(shared.clone(), skin.as_ref())?)
            }
        };
        let surroundings = Some(Surroundings { colliders: shared, skin, shape: None });
        Ok(Self { model, params, surroundings, stepper: Stepper::new(method) })
    }

    /// A simulation of a body of handles in contact with others of the kind in a
    /// [common step](crate::simulation::together::step_together), and with any colliders as in
    /// [`Simulation::among`].
    ///
    /// The shape is the body's surface for others: a collider at the modelled place that deforms with the
    /// body, such as [`Shape::mesh`](crate::potentials::contact::Shape::mesh) of its surface. Its
    /// friction acts on the others.
    ///
    /// # Errors
    /// As [`Simulation::among`], except for an empty list of colliders; [`Error::Unsupported`] for other
    /// models, surfaces without volume and a shape that excludes points.
    pub fn touching(
        model: Model,
        params: SimulationParams,
        colliders: &[Collider],
        skin: Option<ContactSkin>,
        shape: Collider,
    ) -> Result<Self> {
        check(&model, &params, true)?;
        check_self_collision(&model, skin.as_ref())?;
        let Some(body) = model.projective() else {
            let why = "only bodies of handles touch each other; leave it out";
            return Err(Error::Unsupported { what: "shape", why });
        };
        let shared: Arc<[Collider]> = colliders.into();
        let body = ProjectiveMethod::new(body.clone()).among(shared.clone(), skin.as_ref())?;
        let method: Box<dyn Method + Sync> = Box::new(body.touching(&shape)?);
        let surroundings = Some(Surroundings { colliders: shared, skin, shape: Some(shape) });
        Ok(Self { model, params, surroundings, stepper: Stepper::new(method) })
    }

    /// `true` if the body has a collision shape for others.
    pub(super) fn has_shape(&self) -> bool {
        self.surroundings.as_ref().is_some_and(|surroundings| surroundings.shape.is_some())
    }

    /// A copy with the same model, settings, colliders and state.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn duplicate(&self) -> Result<Self> {
        let (model, params) = (self.model.clone(), self.params);
        let mut copy = match &self.surroundings {
            None => Self::new(model, params)?,
            Some(Surroundings { colliders, skin, shape: None }) => {
                Self::among(model, params, colliders, skin.clone())?
            }
            Some(Surroundings { colliders, skin, shape: Some(shape) }) => {
                Self::touching(model, params, colliders, skin.clone(), shape.clone())?
            }
        };
        copy.restore_state(self.stepper.state())?;
        Ok(copy)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Number of colliders.
    pub fn collider_count(&self) -> usize {
        self.surroundings.as_ref().map_or(0, |surroundings| surroundings.colliders.len())
    }

    /// The settings.
    pub fn params(&self) -> &SimulationParams {
        &self.params
    }

    /// Changes the settings from the next step on.
    ///
    /// # Errors
    /// As [`Simulation::new`]; the settings are then unchanged.
    pub fn set_params(&mut self, params: SimulationParams) -> Result<()> {
        check(&self.model, &params, self.surroundings.is_some())?;
        self.params = params;
        Ok(())
    }

    /// Advances by `dt` to the next pose (b transforms; `None` for a model without a rig). A loose body
    /// takes one transform, the target of its tether; `None` is the modelled place.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Pose`] for the pose;
    /// [`Error::Numerical`] for overflow. The state is then unchanged.
    pub fn step(&mut self, pose: Option<&Pose>) -> Result<StepReport> {
        self.step_with(&StepInput { pose, ..StepInput::default() }, &Progress::default())
    }

    /// A step with the full input. `progress` can cancel at every iteration; no fraction is reported.
    ///
    /// # Errors
    /// As [`Simulation::step`], and accordingly for the force, the offsets, the drag and the pull;
    /// [`Error::Cancelled`].
    pub fn step_with(&mut self, input: &StepInput<'_>, progress: &Progress) -> Result<StepReport> {
        self.stepper.step(input, &self.params, progress)
    }

    /// As [`Simulation::step_with`]; records the coordinates after each substep.
    pub(crate) fn step_traced(
        &mut self,
        input: &StepInput<'_>,
        places: &mut Vec<Vec<[f64; 3]>>,
        progress: &Progress,
    ) -> Result<()> {
        let params = &self.params;
        let report = self.stepper.step_by(input, params, &mut |method, state| {
            let solved = method.solve(state, params, progress)?;
            places.push(method.solution().to_vec());
            Ok(solved)
        });
        report.map(drop)
    }

    /// Moves to given coordinates after each substep, and returns the residuals of the substep equations;
    /// `probe` adds derivatives.
    pub(crate) fn step_along(
        &mut self,
        input: &StepInput<'_>,
        places: &[Vec<[f64; 3]>],
        probe: bool,
    ) -> Result<Option<Vec<Tangent>>> {
        let (params, mut rest) = (&self.params, places.iter());
        let mut tangents = Some(Vec::with_capacity(places.len()));
        self.stepper.step_by(input, params, &mut |method, _| {
            if let Some(place) = rest.next() {
                let tangent = method.tangent(params, place, probe);
                method.solution().copy_from_slice(place);
                tangents = tangents.take().zip(tangent).map(|(mut all, tangent)| {
                    all.push(tangent);
                    all
                });
            }
            Ok((0, 0.0))
        })?;
        Ok(tangents)
    }

    /// As [`Method::unit`].
    pub(crate) fn unit(&self) -> f64 {
        self.stepper.method.unit()
    }

    /// As [`Method::carried`].
    pub(crate) fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        self.stepper.method.carried(from, to)
    }

    /// Recurrence between the substeps of a step; `None` if the method has none.
    pub(crate) fn recurrence(&self) -> Option<Recurrence> {
        self.stepper.method.recurrence(&self.params)
    }

    /// Restarts in static equilibrium: at rest in a pose, with gravity and the generalised force balanced
    /// by the elastic energy.
    ///
    /// Descent starts at zero displacement and takes at most `max_iterations`; a residual above the
    /// tolerance in the report means that these were too few. Motion without elastic energy, such as the
    /// place of a body without a rig, stays zero. `progress` is reported every iteration.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn settle(
        &mut self,
        input: &StepInput<'_>,
        max_iterations: u32,
        progress: &Progress,
    ) -> Result<StepReport> {
        self.stepper.settle(input, max_iterations, &self.params, progress)
    }

    /// Sample positions after the last step, k points in metres; rest positions before the first.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another model.
    pub fn sample_positions(&self, samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        self.stepper.method.sample_positions(self.stepper.state(), samples)
    }

    /// Cut or teleport: at rest relative to a pose, with the displacement kept. The flesh feels no kick
    /// from the jump of the pose.
    ///
    /// The displacement turns with the rig's overall rotation. [`Simulation::reset`] and
    /// [`Simulation::settle`] are the other two ways across a cut. A force has no effect on rest.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn cut(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.stepper.cut(input)
    }

    /// Starts in steady motion, right after a start at rest: the rig gets the velocity towards the `next`
    /// pose, and the first step has no jolt.
    ///
    /// `x_(-1) = 2 x_0 - x_1` for the rig; the flesh keeps its displacement and moves along. No effect
    /// before the first pose; a force has no effect either.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn coast(&mut self, next: &StepInput<'_>) -> Result<()> {
        self.stepper.coast(next, &self.params)
    }

    /// Undoes the last step.
    pub(crate) fn undo(&mut self) {
        self.stepper.undo()
    }

    /// Restarts at rest in `pose`, without displacement or velocity.
    ///
    /// # Errors
    /// As for the pose of [`Simulation::step`].
    pub fn reset(&mut self, pose: Option<&Pose>) -> Result<()> {
        self.reset_with(&StepInput { pose, ..StepInput::default() })
    }

    /// As [`Simulation::reset`], with offsets; a force has no effect on rest.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn reset_with(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.stepper.reset(input)
    }

    /// Restarts a loose body at a place, at its inflated size, with a velocity and a spin. The target of
    /// its tether moves there too.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other models; [`Error::NotFinite`], or [`Error::Range`] for a matrix
    /// other than a rotation with a translation.
    pub fn place(&mut self, start: &Start) -> Result<()> {
        if !self.model.is_loose() {
            let why = "only a loose body can be put somewhere; a rig says where others are";
            return Err(Error::Unsupported { what: "place", why });
        }
        start.turn()?;
        let before = self.save_state();
        self.stepper.reset(&StepInput { pose: Some(&[start.place]), ..StepInput::default() })?;
        let h = self.params.dt / f64::from(self.params.substeps);
        let (size, rest) = ((self.params.inflation, h), self.save_state());
        let placed = match &self.model {
            Model::FullSpace(model) => model.placed(start, size, rest),
            Model::Projective(model) => model.placed(start, size, rest),
            Model::Skinning(_) | Model::Reduced(_) => Ok(rest),
        };
        self.stepper.restore(placed.as_ref().unwrap_or(&before))?;
        placed.map(drop)
    }

    /// Coefficients after the last step in C order, of shape [`Model::coefficient_shape`]: Z, m x 3 x 4, of
    /// modes, `u = sum over k of W_k Z_k [X; 1]`; the vertex displacements, n x 3; q, r, of a basis; or Z,
    /// k x 3 x 4, of handles, `u = sum over j of w_j Z_j [X - c_j; 1]`.
    pub fn coefficients(&self) -> &[f64] {
        self.stepper.method.coefficients()
    }

    /// Velocities of the coefficients, per second and in the same shape; zeros at rest.
    ///
    /// Displacements are linear in the coefficients, and velocities of points relative to their posed
    /// places therefore follow from these as displacements do from the coefficients.
    pub fn coefficient_velocities(&mut self) -> Vec<f64> {
        self.stepper.velocities(self.params.integrator)
    }

    /// Seconds since the last start at rest: [`Simulation::reset`], [`Simulation::settle`] or the first step.
    pub fn time(&self) -> f64 {
        self.stepper.state().time()
    }

    /// A copy of the state.
    pub fn save_state(&self) -> State {
        self.stepper.state().clone()
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NotFinite`] for a state
    /// of another model.
    pub fn restore_state(&mut self, state: &State) -> Result<()> {
        self.stepper.restore(state)
    }
}

/// Checks the numbers of muscles and stitch groups against the model.
fn check_shares(model: &Model, params: &SimulationParams) -> Result<()> {
    let muscles = "only full-space flesh with fibres contracts; set it to 0";
    let stitches = "only a body that is built with stitches opens; set it to 1";
    let shares = [
        ("contraction", &params.contraction, model.muscle_count(), 0.0, muscles),
        ("stitching", &params.stitching, model.stitch_group_count(), 1.0, stitches),
    ];
    for (what, shares, count, without, why) in shares {
        if count > 0 {
            shares.check_parts(what, count)?;
        } else if !shares.are_all(without) {
            return Err(Error::Unsupported { what, why });
        }
    }
    Ok(())
}

/// `true` for a skin with self-collision; errors for one that has no triangles, or is of another method.
fn check_self_collision(model: &Model, skin: Option<&ContactSkin>) -> Result<bool> {
    let Some(skin) = skin.filter(|skin| skin.self_collision) else { return Ok(false) };
    if !matches!(model, Model::FullSpace(_)) {
        let why = "only the full space collides with itself; set it to false";
        return Err(Error::Unsupported { what: "self_collision", why });
    }
    if skin.triangles.is_empty() {
        return Err(Error::Empty { what: "contact_triangles" });
    }
    Ok(true)
}

/// Checks the settings, in themselves and for the method.
fn check(model: &Model, params: &SimulationParams, among: bool) -> Result<()> {
    params.check_among(among)?;
    check_shares(model, params)?;
    if params.inflation != 1.0 && !model.has_volume() {
        let why = "only a loose body, or one of handles with a volume, can be inflated; set it to 1";
        return Err(Error::Unsupported { what: "inflation", why });
    }
    if params.hold != 0.0 && !model.is_loose() {
        let why = "only a loose body is held and let go; set it to 0";
        return Err(Error::Unsupported { what: "hold", why });
    }
    if params.minimiser != Minimiser::default() && !matches!(model, Model::FullSpace(_)) {
        let why = "only the full space has a choice of minimisers; leave it out";
        return Err(Error::Unsupported { what: "minimiser", why });
    }
    let limits = [("limit", params.limit), ("stretch", params.stretch)];
    let given = limits.into_iter().find(|(_, limit)| limit.is_some());
    match (model, given) {
        (Model::Reduced(model), Some((what, _))) if model.limit_samples().is_none() => {
            let why = "this reduced model does not know where limits are felt; learn that, or set it to none";
            Err(Error::Unsupported { what, why })
        }
        (Model::Projective(_), Some((what, _))) => {
            let why = "a body of handles has no limit, as it need not be near a rig; set it to none";
            Err(Error::Unsupported { what, why })
        }
        _ => Ok(()),
    }
}
