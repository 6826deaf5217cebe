//! A running simulation: a model, settings and a state.

use std::sync::Arc;

use crate::method::loads::contact::{Collider, ContactSkin};
use crate::method::motion::Motion;
use crate::method::orbit::{Recurrence, Tangent};
use crate::method::projective_dynamics::{ProjectiveModel, ProjectiveSubstep, Start};
use crate::method::quasi_newton::{FullSpaceSubstep, Minimiser};
use crate::method::reduced_fem::ReducedSubstep;
use crate::method::skinning_modes::{ForceSamples, SkinningSubstep};
use crate::method::substep::Substep;
use crate::method::{Drive, Model, SimulationParams, State, StepReport};
use crate::rig::Pose;
use crate::{Error, Progress, Result};

/// Steps a model through poses.
///
/// The first pose is a start at rest in that pose without displacement, whether it comes by
/// [`Simulation::reset`] or by [`Simulation::step`]. A step of a
/// reduced model allocates nothing (the first with offsets makes room for them), and its cost does not depend on the
/// size of the mesh. The same inputs give the same bits.
pub struct Simulation {
    model: Model,
    pub(super) params: SimulationParams,
    surroundings: Option<Surroundings>,
    pub(super) motion: Motion<dyn Substep>,
}

/// What a simulation is among, what touches it, if that is not the vertices of the boundary, and what others
/// touch of it.
struct Surroundings {
    colliders: Arc<[Collider]>,
    skin: Option<ContactSkin>,
    shape: Option<Collider>,
}

impl Simulation {
    /// A simulation that has not started yet.
    ///
    /// # Errors
    /// As [`SimulationParams::check`]; [`Error::Unsupported`] for a limit that a model does not know.
    pub fn new(model: Model, params: SimulationParams) -> Result<Self> {
        check(&model, &params, false)?;
        let substep: Box<dyn Substep> = match &model {
            Model::Skinning(model) => Box::new(SkinningSubstep::new(model.clone())),
            Model::FullSpace(model) => Box::new(FullSpaceSubstep::new(model.clone(), Minimiser::default())),
            Model::Reduced(model) => Box::new(ReducedSubstep::new(model.clone())),
            Model::Projective(model) => Box::new(ProjectiveSubstep::new(model.clone())),
        };
        Ok(Self { model, params, surroundings: None, motion: Motion::new(substep) })
    }

    /// A simulation among colliders, which stand where they were made until a step says otherwise.
    ///
    /// They are touched by a skin, or without one by the vertices of the mesh's boundary; by a thousand samples of either for
    /// a loose body of handles.
    ///
    /// # Errors
    /// As [`Simulation::new`]; [`Error::Empty`] without a collider, [`Error::Shape`] for points in another mesh and
    /// weights of another number of points or bones,
    /// [`Error::Index`] for a collider that spares points that there are not,
    /// [`Error::Unsupported`] for skinning modes, reduced models, weights of points of a loose body and for an integrator other than backward Euler.
    pub fn among(
        model: Model,
        params: SimulationParams,
        colliders: &[Collider],
        skin: Option<ContactSkin>,
    ) -> Result<Self> {
        if colliders.is_empty() {
            return Err(Error::Empty { what: "colliders" });
        }
        check(&model, &params, true)?;
        let shared: Arc<[Collider]> = colliders.into();
        let substep: Box<dyn Substep> = match &model {
            Model::FullSpace(body) => {
                let body = FullSpaceSubstep::new(body.clone(), Minimiser::default());
                Box::new(body.among(shared.clone(), skin.as_ref())?)
            }
            Model::Projective(body) => {
                Box::new(ProjectiveSubstep::new(body.clone()).among(shared.clone(), skin.as_ref())?)
            }
            Model::Skinning(_) => return Err(undented("skinning modes cannot dent; a full-space model can")),
            Model::Reduced(_) => return Err(undented("a reduced model cannot dent; a full-space model can")),
        };
        let surroundings = Some(Surroundings { colliders: shared, skin, shape: None });
        Ok(Self { model, params, surroundings, motion: Motion::new(substep) })
    }

    /// A simulation of a body of handles that touches others of the kind in a [common
    /// step](crate::method::step_together), and any colliders as in [`Simulation::among`].
    ///
    /// The shape is what others touch of it: a collider where the model was made, which it carries along as
    /// it deforms, such as its surface by [`Shape::mesh`](crate::method::loads::contact::Shape::mesh). Others
    /// rub on it by its friction.
    ///
    /// # Errors
    /// As [`Simulation::among`], but for no collider; [`Error::Unsupported`] for other models, surfaces without
    /// volume and a shape that spares points.
    pub fn touching(
        model: Model,
        params: SimulationParams,
        colliders: &[Collider],
        skin: Option<ContactSkin>,
        shape: Collider,
    ) -> Result<Self> {
        check(&model, &params, true)?;
        let Some(body) = model.projective() else {
            let why = "only bodies of handles touch each other; leave it out";
            return Err(Error::Unsupported { what: "shape", why });
        };
        let shared: Arc<[Collider]> = colliders.into();
        let body = ProjectiveSubstep::new(body.clone()).among(shared.clone(), skin.as_ref())?;
        let substep: Box<dyn Substep> = Box::new(body.touching(&shape)?);
        let surroundings = Some(Surroundings { colliders: shared, skin, shape: Some(shape) });
        Ok(Self { model, params, surroundings, motion: Motion::new(substep) })
    }

    /// Whether others touch it.
    pub(super) fn has_shape(&self) -> bool {
        self.surroundings.as_ref().is_some_and(|surroundings| surroundings.shape.is_some())
    }

    /// The same model, settings, colliders and state once more.
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
        copy.restore_state(self.motion.state())?;
        Ok(copy)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// How many colliders it is among.
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
    /// As [`Simulation::new`]; the settings then stay as they are.
    pub fn set_params(&mut self, params: SimulationParams) -> Result<()> {
        check(&self.model, &params, self.surroundings.is_some())?;
        self.params = params;
        Ok(())
    }

    /// Advances by `dt` to the next pose (b transforms; `None` for a model without a rig). That of a loose body of handles is
    /// one transform, where it is held; `None` for where it was made.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::Pose`](crate::Error::Pose) for the pose;
    /// [`Error::Numerical`](crate::Error::Numerical) if numbers overflow. The state then stays as it was.
    pub fn step(&mut self, pose: Option<&Pose>) -> Result<StepReport> {
        self.step_with(&Drive { pose, ..Drive::default() }, &Progress::default())
    }

    /// The same with all that may drive it. `progress` can stop it at every iteration; how far it is, it is not told.
    ///
    /// # Errors
    /// As [`Simulation::step`], and likewise for the force, the offsets, the drag and the pull;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn step_with(&mut self, drive: &Drive<'_>, progress: &Progress) -> Result<StepReport> {
        self.motion.step(drive, &self.params, progress)
    }

    /// As [`Simulation::step_with`]; keeps the coordinates after each substep.
    pub(crate) fn step_traced(
        &mut self,
        drive: &Drive<'_>,
        places: &mut Vec<Vec<[f64; 3]>>,
        progress: &Progress,
    ) -> Result<()> {
        let params = &self.params;
        let report = self.motion.step_by(drive, params, &mut |substep, state| {
            let solved = substep.solve(state, params, progress)?;
            places.push(substep.found().to_vec());
            Ok(solved)
        });
        report.map(drop)
    }

    /// Goes to given coordinates after each substep, and tells how far they are from what a step finds;
    /// `probe` asks for the derivative as well.
    pub(crate) fn step_along(
        &mut self,
        drive: &Drive<'_>,
        places: &[Vec<[f64; 3]>],
        probe: bool,
    ) -> Result<Option<Vec<Tangent>>> {
        let (params, mut rest) = (&self.params, places.iter());
        let mut tangents = Some(Vec::with_capacity(places.len()));
        self.motion.step_by(drive, params, &mut |substep, _| {
            if let Some(place) = rest.next() {
                let tangent = substep.tangent(params, place, probe);
                substep.found().copy_from_slice(place);
                tangents = tangents.take().zip(tangent).map(|(mut all, tangent)| {
                    all.push(tangent);
                    all
                });
            }
            Ok((0, 0.0))
        })?;
        Ok(tangents)
    }

    /// As [`Substep::unit`].
    pub(crate) fn unit(&self) -> f64 {
        self.motion.substep.unit()
    }

    /// As [`Substep::carried`].
    pub(crate) fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)> {
        self.motion.substep.carried(from, to)
    }

    /// How the substeps of a step depend on those before them, where the method says it.
    pub(crate) fn recurrence(&self) -> Option<Recurrence> {
        self.motion.substep.recurrence(&self.params)
    }

    /// Starts anew in static equilibrium: at rest in a pose, with the displacement that gravity and the
    /// generalised force hold in balance with the elastic energy.
    ///
    /// The equilibrium is the one that is found downhill from no displacement, in at most `max_iterations`; a
    /// residual above the tolerance in the report says that they were too few. What stores no energy, such as
    /// the place of a body without a rig, stays at no displacement. `progress` hears of every iteration.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn settle(
        &mut self,
        drive: &Drive<'_>,
        max_iterations: u32,
        progress: &Progress,
    ) -> Result<StepReport> {
        self.motion.settle(drive, max_iterations, &self.params, progress)
    }

    /// Where samples are after the last step, k points in metres; at rest before the first.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for samples of another model.
    pub fn sample_positions(&self, samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        self.motion.substep.sample_positions(self.motion.state(), samples)
    }

    /// A cut or a teleport: at rest relative to a pose, with the displacement kept, so that the jump of the pose
    /// is not felt as a kick.
    ///
    /// The displacement turns as the rig turns the body as a whole. [`Simulation::reset`] and
    /// [`Simulation::settle`] are the other two ways across a cut. A force has no effect on rest.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn cut(&mut self, drive: &Drive<'_>) -> Result<()> {
        self.motion.cut(drive)
    }

    /// Starts in steady motion: right after a start at rest, takes the rig as having come as fast as it goes on
    /// to the `next` pose, so that the first step is no jolt.
    ///
    /// `x_(-1) = 2 x_0 - x_1` for the rig; the flesh keeps its displacement and moves along. Before the first
    /// pose it has no effect. A force has none either.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn coast(&mut self, next: &Drive<'_>) -> Result<()> {
        self.motion.coast(next, &self.params)
    }

    /// Goes back to before the last step.
    pub(crate) fn undo(&mut self) {
        self.motion.undo()
    }

    /// Starts anew: at rest in `pose`, without displacement or velocity.
    ///
    /// # Errors
    /// As for the pose of [`Simulation::step`].
    pub fn reset(&mut self, pose: Option<&Pose>) -> Result<()> {
        self.reset_with(&Drive { pose, ..Drive::default() })
    }

    /// The same with offsets; a force has no effect on rest.
    ///
    /// # Errors
    /// As [`Simulation::step_with`].
    pub fn reset_with(&mut self, drive: &Drive<'_>) -> Result<()> {
        self.motion.reset(drive)
    }

    /// Starts anew: a loose body somewhere, as large as it is inflated, with a velocity and a spin. What may hold it is there too.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other models; [`Error::NotFinite`], or [`Error::Range`] for a place that is no rotation and
    /// translation.
    pub fn place(&mut self, start: &Start) -> Result<()> {
        let loose = |model: &&Arc<ProjectiveModel>| model.bone_count() == 0;
        let Some(model) = self.model.projective().filter(loose) else {
            let why = "only a loose body can be put somewhere; a rig says where others are";
            return Err(Error::Unsupported { what: "place", why });
        };
        start.turn()?;
        let before = self.save_state();
        self.motion.reset(&Drive { pose: Some(&[start.place]), ..Drive::default() })?;
        let h = self.params.dt / f64::from(self.params.substeps);
        let placed = model.placed(start, (self.params.inflation, h), self.save_state());
        self.motion.restore(placed.as_ref().unwrap_or(&before))?;
        placed.map(drop)
    }

    /// The coefficients after the last step in C order, as [`Model::coefficient_shape`] says: Z, m x 3 x 4, of modes,
    /// `u = sum over k of W_k Z_k [X; 1]`, the displacements of the vertices themselves, n x 3, q, r, of a basis,
    /// or Z, k x 3 x 4, of handles, `u = sum over j of w_j Z_j [X - c_j; 1]`.
    pub fn coefficients(&self) -> &[f64] {
        self.motion.substep.coefficients()
    }

    /// A copy of the state.
    pub fn save_state(&self) -> State {
        self.motion.state().clone()
    }

    /// Goes back to a saved state.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite) if the state is
    /// not one of this model.
    pub fn restore_state(&mut self, state: &State) -> Result<()> {
        self.motion.restore(state)
    }
}

fn undented(why: &'static str) -> Error {
    Error::Unsupported { what: "colliders", why }
}

/// Errors for shares of muscles and of stitch groups that a body does not have.
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

/// Errors for settings that make no sense, or that the method has no part for.
fn check(model: &Model, params: &SimulationParams, among: bool) -> Result<()> {
    params.check_among(among)?;
    check_shares(model, params)?;
    if params.inflation != 1.0 && !model.projective().is_some_and(|model| model.is_solid()) {
        let why = "only a body of handles with a volume can be inflated; set it to 1";
        return Err(Error::Unsupported { what: "inflation", why });
    }
    if params.hold != 0.0 && model.projective().is_none_or(|model| model.bone_count() > 0) {
        let why = "only a loose body of handles is held and let go; set it to 0";
        return Err(Error::Unsupported { what: "hold", why });
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
