//! Steps of a body of skinning modes alone, for players: frames of any length, and more or fewer modes.

use std::sync::Arc;

use super::SkinningModel;
use super::spring::PointSpring;
use super::step::SkinningMethod;
use crate::inputs::settings::{SimulationParams, StepInput, StepReport};
use crate::potentials::contact::{Collider, ContactSkin, Placement};
use crate::stepping::method::Method;
use crate::stepping::stepper::Stepper;
use crate::{Error, Progress, Result};

/// Most iterations to static equilibrium.
const SETTLING: u32 = 1000;

/// Stepper of a body of skinning modes; its settings may change with every step, the length of a frame
/// included.
///
/// The same as a [`Simulation`](crate::simulation::Simulation) of the model, without the other methods. A
/// step allocates nothing. The same inputs give the same bits.
pub struct SkinningStepper {
    model: Arc<SkinningModel>,
    stepper: Stepper<SkinningMethod>,
    /// Length of the last step in seconds, 0 before the first.
    seconds: f64,
}

impl SkinningStepper {
    /// A stepper before its first pose.
    pub fn new(model: Arc<SkinningModel>) -> Self {
        let stepper = Stepper::new(Box::new(SkinningMethod::new(model.clone())));
        Self { model, stepper, seconds: 0.0 }
    }

    /// Puts colliders around the body, in place of any before; the motion goes on. They are in contact with
    /// points of a skin as in [`Simulation::among`](crate::simulation::Simulation::among), and start at
    /// placements as in [`StepInput::colliders`]. Without colliders contact ends.
    ///
    /// # Errors
    /// Those of `Simulation::among` for the colliders and the skin, and of a step for the placements; nothing
    /// changes then.
    pub fn collide(
        &mut self,
        colliders: &[Collider],
        placements: &[[[f64; 4]; 3]],
        skin: Option<&ContactSkin>,
    ) -> Result<()> {
        let alone = SkinningMethod::new(self.model.clone());
        let method = if colliders.is_empty() { alone } else { alone.among(colliders.into(), skin)? };
        let mut stepper = Stepper::new(Box::new(method));
        let mut state = self.stepper.state().clone();
        state.contact.clone_from(&stepper.state().contact);
        Placement::enter(placements, &mut state.contact.last)?;
        let rows = state.contact.last.clone();
        state.contact.start(&rows);
        stepper.restore(&state)?;
        self.stepper = stepper;
        Ok(())
    }

    /// The model.
    pub fn model(&self) -> &Arc<SkinningModel> {
        &self.model
    }

    /// Advances by `params.dt`, with a spring from a point to a target or without; a change of `dt` between
    /// steps keeps the rig's velocity.
    ///
    /// # Errors
    /// Those of the settings and of [`Simulation::step_with`](crate::simulation::Simulation::step_with); the
    /// motion is then unchanged.
    pub fn step(
        &mut self,
        input: &StepInput<'_>,
        params: &SimulationParams,
        spring: Option<&PointSpring>,
    ) -> Result<StepReport> {
        params.check()?;
        if self.seconds > 0.0 && self.seconds != params.dt {
            self.stepper.respace_frames(params.dt / self.seconds);
        }
        self.seconds = params.dt;
        let progress = Progress::default();
        self.stepper.step_by(input, params, &mut |method, state| match spring {
            Some(spring) => method.solve_with(spring, state, params),
            None => method.solve(state, params, &progress),
        })
    }

    /// Restarts at rest in a pose, without displacement.
    ///
    /// # Errors
    /// As for the pose of [`SkinningStepper::step`].
    pub fn reset(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.stepper.reset(input)
    }

    /// Restarts in static equilibrium in a pose, as
    /// [`Simulation::settle`](crate::simulation::Simulation::settle).
    ///
    /// # Errors
    /// Those of the settings and of the pose; the motion is then unchanged.
    pub fn settle(&mut self, input: &StepInput<'_>, params: &SimulationParams) -> Result<StepReport> {
        params.check()?;
        self.stepper.settle(input, SETTLING, params, &Progress::default())
    }

    /// Gives the rig, at rest so far, the velocity towards the pose that comes after `params.dt`, as
    /// [`Simulation::coast`](crate::simulation::Simulation::coast).
    ///
    /// # Errors
    /// As for the pose of [`SkinningStepper::step`].
    pub fn coast(&mut self, next: &StepInput<'_>, params: &SimulationParams) -> Result<()> {
        params.check()?;
        self.stepper.coast(next, params)?;
        self.seconds = params.dt;
        Ok(())
    }

    /// At rest relative to a pose, with the displacement kept, as
    /// [`Simulation::cut`](crate::simulation::Simulation::cut).
    ///
    /// # Errors
    /// As for the pose of [`SkinningStepper::step`].
    pub fn cut(&mut self, input: &StepInput<'_>) -> Result<()> {
        self.stepper.cut(input)
    }

    /// Coefficients Z after the last step, m x 3 x 4: `u = sum over k of W_k Z_k [X; 1]`.
    pub fn coefficients(&self) -> &[f64] {
        self.stepper.method().coefficients()
    }

    /// Takes over the motion of a stepper of the same body and colliders with more or fewer modes: all of it
    /// that its own modes can show, nearest in the mass norm. Contacts begin anew.
    ///
    /// With `R = Phi' B'MB` and the shared modes of both, `y = R z` for more modes, and
    /// `y = Phi' (R' y)` for fewer.
    ///
    /// # Errors
    /// [`Error::Shape`] for a body with other bones.
    pub fn take_over(&mut self, other: &Self) -> Result<()> {
        let (from, to) = (&other.model, &self.model);
        if from.bone_count() != to.bone_count() {
            let bones = |model: &SkinningModel| format!("{} bones", model.bone_count());
            return Err(Error::Shape { what: "motion", expected: bones(to), got: bones(from) });
        }
        let (mut state, theirs) = (self.stepper.state().clone(), other.stepper.state());
        (state.started, state.spacing) = (theirs.started, theirs.spacing);
        state.frames.clone_from(&theirs.frames);
        state.path.clone_from(&theirs.path);
        state.reduced = theirs.reduced.each_ref().map(|rows| shared(from, to, rows));
        state.learnt.pairs.clear();
        state.contact.clone_from(&theirs.contact);
        state.contact.anchors.clear();
        self.seconds = other.seconds;
        self.stepper.restore(&state)
    }
}

/// Coordinates of the motion nearest to that of the same body with more or fewer modes.
fn shared(from: &SkinningModel, to: &SkinningModel, rows: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let shared = 4 * from.mode_count().min(to.mode_count());
    let (from, to) = (&from.data, &to.data);
    let product = |size: usize, count: usize, factor: &dyn Fn(usize, usize) -> f64, x: &[[f64; 3]]| {
        let sum = |i, c: usize| (0..count).map(|j| factor(i, j) * x[j][c]).sum();
        (0..size).map(|i| std::array::from_fn(|c| sum(i, c))).collect::<Vec<[f64; 3]>>()
    };
    if to.eigenvalues.len() > from.eigenvalues.len() {
        let z = product(shared, rows.len(), &|i, j| from.basis[(i, j)], rows);
        product(to.spectrum.len(), shared, &|i, j| to.reduction[(i, j)], &z)
    } else {
        let z = product(shared, rows.len(), &|i, j| from.reduction[(j, i)], rows);
        product(to.spectrum.len(), shared, &|i, j| to.basis[(j, i)], &z)
    }
}
