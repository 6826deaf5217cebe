//! Levels of detail: the same body with fewer modes, and the change from one to another without a jump.

use std::sync::Arc;

use jounce::Result;
use jounce::inputs::{SimulationParams, StepInput};
use jounce::model::skinning_modes::{PointSpring, SkinningModel, SkinningStepper};
use jounce::potentials::contact::{Collider, ContactSkin};

/// Number of modes of the coarse level.
const COARSE: usize = 8;
/// Time in which a difference between levels falls to a third, seconds.
const FADE: f64 = 0.12;
/// Smallest shown share of a difference.
const GONE: f64 = 1e-4;

/// The steppers of a body at all levels of detail, finest first, and what is shown of them.
pub struct Levels {
    steppers: Vec<SkinningStepper>,
    /// Level that moves; the number of steppers for none.
    level: usize,
    /// Shown coefficients, m x 3 x 4.
    shown: Vec<f64>,
    /// Difference of the shown coefficients from those of the level, as it was at the last change.
    difference: Vec<f64>,
    /// Share of the difference that is left.
    left: f64,
}

impl Levels {
    /// The levels of a model: all modes, eight if there are more, and none.
    pub fn new(model: Arc<SkinningModel>) -> Result<Self> {
        let modes = model.mode_count();
        let coarse = if modes > COARSE { Some(model.truncated(COARSE)?) } else { None };
        Ok(Self::of(std::iter::once(model).chain(coarse.map(Arc::new))))
    }

    /// The same levels at rest; both share the models.
    pub fn another(&self) -> Self {
        Self::of(self.steppers.iter().map(|stepper| stepper.model().clone()))
    }

    /// Levels of models, finest first.
    fn of(models: impl Iterator<Item = Arc<SkinningModel>>) -> Self {
        let steppers: Vec<_> = models.map(SkinningStepper::new).collect();
        let none = vec![0.0; 12 * steppers[0].model().mode_count()];
        Self { steppers, level: 0, shown: none.clone(), difference: none, left: 0.0 }
    }

    /// The body with all modes.
    pub fn model(&self) -> &SkinningModel {
        self.steppers[0].model()
    }

    /// Number of modes that move.
    pub fn modes(&self) -> usize {
        self.moving().map_or(0, |stepper| stepper.model().mode_count())
    }

    /// Shown coefficients, m x 3 x 4; 0 for modes that do not move.
    pub fn coefficients(&self) -> &[f64] {
        &self.shown
    }

    /// `true` while a difference of levels fades.
    pub fn is_fading(&self) -> bool {
        self.left > 0.0
    }

    fn moving(&self) -> Option<&SkinningStepper> {
        self.steppers.get(self.level)
    }

    /// Puts colliders around all levels, in place of any before.
    pub fn collide(
        &mut self,
        colliders: &[Collider],
        placements: &[[[f64; 4]; 3]],
        skin: Option<&ContactSkin>,
    ) -> Result<()> {
        self.steppers.iter_mut().try_for_each(|stepper| stepper.collide(colliders, placements, skin))
    }

    /// Goes to the finest level with at most some modes. The motion goes on, and what the level cannot show
    /// fades. `input` is the last pose, at which a body without motion starts.
    pub fn choose(&mut self, modes: usize, input: &StepInput<'_>) -> Result<()> {
        let fits = |stepper: &SkinningStepper| stepper.model().mode_count() <= modes;
        let level = self.steppers.iter().position(fits).unwrap_or(self.steppers.len());
        if level == self.level {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.level, level);
        if level < self.steppers.len() {
            match before {
                none if none == self.steppers.len() => {
                    if input.pose.is_some() || self.model().bone_count() == 0 {
                        self.steppers[level].reset(input)?;
                    }
                }
                before => {
                    let (fine, coarse) = self.steppers.split_at_mut(before.max(level));
                    let pair = (&mut fine[before.min(level)], &mut coarse[0]);
                    let (from, to) = if before < level { (pair.0, pair.1) } else { (pair.1, pair.0) };
                    to.take_over(from)?;
                }
            }
        }
        self.keep_shown();
        Ok(())
    }

    /// A step of the level that moves.
    pub fn step(
        &mut self,
        input: &StepInput<'_>,
        params: &SimulationParams,
        spring: Option<&PointSpring>,
    ) -> Result<()> {
        if let Some(stepper) = self.steppers.get_mut(self.level) {
            stepper.step(input, params, spring)?;
        }
        self.left *= (-params.dt / FADE).exp();
        if self.left < GONE {
            self.left = 0.0;
        }
        self.show();
        Ok(())
    }

    /// Start in equilibrium in a pose.
    pub fn settle(&mut self, input: &StepInput<'_>, params: &SimulationParams) -> Result<()> {
        if let Some(stepper) = self.steppers.get_mut(self.level) {
            stepper.settle(input, params)?;
        }
        self.show();
        Ok(())
    }

    /// Velocity of the rig, at rest so far, towards the pose of the next step.
    pub fn coast(&mut self, next: &StepInput<'_>, params: &SimulationParams) -> Result<()> {
        self.steppers.get_mut(self.level).map_or(Ok(()), |stepper| stepper.coast(next, params))
    }

    /// Rest in a pose, with the displacement kept, from which the flesh swings back.
    pub fn cut(&mut self, input: &StepInput<'_>) -> Result<()> {
        if let Some(stepper) = self.steppers.get_mut(self.level) {
            stepper.cut(input)?;
        }
        self.show();
        Ok(())
    }

    /// A spring from a point, with weights of all modes, at the level that moves; `None` without motion.
    pub fn spring(
        &self,
        (weights, place): (&[f64], [f64; 3]),
        firmness: f64,
        params: &SimulationParams,
    ) -> Result<Option<PointSpring>> {
        let Some(stepper) = self.moving() else { return Ok(None) };
        let weights = &weights[..stepper.model().mode_count()];
        PointSpring::new(stepper.model(), (weights, place), firmness, params).map(Some)
    }

    /// Sets the difference so that the shown coefficients stay.
    fn keep_shown(&mut self) {
        self.difference.copy_from_slice(&self.shown);
        if let Some(stepper) = self.steppers.get(self.level) {
            self.difference.iter_mut().zip(stepper.coefficients()).for_each(|(rest, z)| *rest -= z);
        }
        self.left = 1.0;
    }

    fn show(&mut self) {
        let differences = self.difference.iter().map(|difference| self.left * difference);
        self.shown.iter_mut().zip(differences).for_each(|(shown, difference)| *shown = difference);
        if let Some(stepper) = self.steppers.get(self.level) {
            self.shown.iter_mut().zip(stepper.coefficients()).for_each(|(shown, z)| *shown += z);
        }
    }
}
