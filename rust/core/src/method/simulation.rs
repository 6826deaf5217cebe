//! A running simulation: a model, settings and a state.

use crate::method::skinning_modes::{ForceSamples, Recurrence, SkinningStepper, Tangent};
use crate::method::{Drive, Model, SimulationParams, State, StepReport};
use crate::rig::Pose;
use crate::{Progress, Result};

/// The state and scratch memory of a method.
enum Stepper {
    Skinning(SkinningStepper),
}

/// Steps a model through poses.
///
/// The first pose is a start at rest in that pose without displacement, whether it comes by
/// [`Simulation::reset`] or by [`Simulation::step`]. A step allocates nothing (the first with offsets makes
/// room for them), and its cost does not depend on the size of the mesh. The same inputs give the same bits.
pub struct Simulation {
    model: Model,
    params: SimulationParams,
    stepper: Stepper,
}

impl Simulation {
    /// A simulation that has not started yet.
    ///
    /// # Errors
    /// As [`SimulationParams::check`].
    pub fn new(model: Model, params: SimulationParams) -> Result<Self> {
        params.check()?;
        let stepper = match &model {
            Model::Skinning(model) => Stepper::Skinning(SkinningStepper::new(model.clone())),
        };
        Ok(Self { model, params, stepper })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The settings.
    pub fn params(&self) -> &SimulationParams {
        &self.params
    }

    /// Changes the settings from the next step on.
    ///
    /// # Errors
    /// As [`SimulationParams::check`]; the settings then stay as they are.
    pub fn set_params(&mut self, params: SimulationParams) -> Result<()> {
        params.check()?;
        self.params = params;
        Ok(())
    }

    /// Advances by `dt` to the next pose (b transforms; `None` for a model without a rig).
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
    /// As [`Simulation::step`], and likewise for the force, the offsets and the drag;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn step_with(&mut self, drive: &Drive<'_>, progress: &Progress) -> Result<StepReport> {
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.step(drive, &self.params, progress),
        }
    }

    /// As [`Simulation::step_with`]; keeps the reduced coordinates after each substep.
    pub(crate) fn step_traced(
        &mut self,
        drive: &Drive<'_>,
        places: &mut Vec<Vec<[f64; 3]>>,
        progress: &Progress,
    ) -> Result<()> {
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.step_traced(drive, &self.params, places, progress),
        }
    }

    /// Goes to given reduced coordinates after each substep, and tells how far they are from what a step finds;
    /// `probe` asks for the derivative as well.
    pub(crate) fn step_along(
        &mut self,
        drive: &Drive<'_>,
        places: &[Vec<[f64; 3]>],
        probe: bool,
    ) -> Result<Option<Vec<Tangent>>> {
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.step_along(drive, &self.params, places, probe),
        }
    }

    /// How the substeps of a step depend on those before them.
    pub(crate) fn recurrence(&self) -> Recurrence {
        match &self.stepper {
            Stepper::Skinning(stepper) => stepper.recurrence(&self.params),
        }
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
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.settle(drive, max_iterations, &self.params, progress),
        }
    }

    /// Where samples are after the last step, k points in metres; at rest before the first.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for samples of another model.
    pub fn sample_positions(&self, samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        match &self.stepper {
            Stepper::Skinning(stepper) => stepper.sample_positions(samples),
        }
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
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.cut(drive),
        }
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
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.coast(next, &self.params),
        }
    }

    /// Goes back to before the last step.
    pub(crate) fn undo(&mut self) {
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.undo(),
        }
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
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.reset(drive),
        }
    }

    /// The coefficients Z after the last step, m x 3 x 4 in C order: `u = sum over k of W_k Z_k [X; 1]`.
    pub fn coefficients(&self) -> &[f64] {
        match &self.stepper {
            Stepper::Skinning(stepper) => stepper.coefficients(),
        }
    }

    /// A copy of the state.
    pub fn save_state(&self) -> State {
        match &self.stepper {
            Stepper::Skinning(stepper) => stepper.state().clone(),
        }
    }

    /// Goes back to a saved state.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) or [`Error::NotFinite`](crate::Error::NotFinite) if the state is
    /// not one of this model.
    pub fn restore_state(&mut self, state: &State) -> Result<()> {
        match &mut self.stepper {
            Stepper::Skinning(stepper) => stepper.restore(state),
        }
    }
}
