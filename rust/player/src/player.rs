//! A body that plays: poses in, displacements of its points out.

use std::sync::Arc;

use jounce::inputs::StepInput;
use jounce::model::skinning_modes::{PointSpring, SkinningModel};
use jounce::rig::Pose;
use jounce::{Error, Result, file};

use crate::levels::Levels;
use crate::obstacles::{Obstacle, Obstacles, Skin, surroundings};
use crate::points::Points;
use crate::settings::{Setting, Settings};

/// Longest frame in seconds; after a longer one the body is put into its pose as after a teleport.
const LONGEST: f64 = 0.25;
/// Stiffness of a grab, in units of the body's own.
const FIRMNESS: f64 = 6.0;
/// Speed of the flesh, and largest change of a pose, that count as rest: shares of the body's size, a second
/// and a frame.
const SLOW: f64 = 1e-4;
const STILL: f64 = 1e-9;
/// Time of rest after which the body sleeps, seconds.
const DROWSY: f64 = 0.5;

/// A grabbed point.
struct Grab {
    point: usize,
    displacement: [f64; 3],
    /// Spring at the level that moves; `None` without motion.
    spring: Option<PointSpring>,
}

/// Plays the flesh of one character.
///
/// [`Player::step`] and [`Player::displace`] allocate nothing. The same inputs give the same bits.
///
/// ```no_run
/// # fn main() -> jounce_player::Result<()> {
/// # let (bytes, vertices, pose) = (vec![], vec![[0.0; 3]], [[[0.0; 4]; 3]]);
/// let mut player = jounce_player::Player::load(&bytes)?;
/// player.attach(vertices)?;
/// let mut displacements = vec![0.0; 3 * player.points()];
/// player.step(&pose, 1.0 / 60.0)?;
/// player.displace(&mut displacements)?;
/// # Ok(())
/// # }
/// ```
pub struct Player {
    levels: Levels,
    settings: Settings,
    points: Points,
    obstacles: Obstacles,
    /// The last pose; empty before the first.
    pose: Vec<[[f64; 4]; 3]>,
    grab: Option<Grab>,
    /// Coefficients of the frame before.
    before: Vec<f64>,
    /// Seconds of rest.
    rested: f64,
    /// `true` after a start or a teleport, until the next step.
    is_fresh: bool,
}

impl Player {
    /// A player of a model file: the bytes that `Model.save` of the Python module wrote.
    ///
    /// # Errors
    /// [`Error::File`] and any error of the contents, for a file that is no model of skinning modes.
    pub fn load(bytes: &[u8]) -> Result<Self> {
        Self::new(Arc::new(file::decode_skinning(bytes)?))
    }

    /// A player of a model in memory.
    ///
    /// # Errors
    /// Any error of the coarser levels of detail.
    pub fn new(model: Arc<SkinningModel>) -> Result<Self> {
        let levels = Levels::new(model)?;
        let points = Points::of_mesh(levels.model());
        Ok(Self::of(levels, points))
    }

    /// Another player of the same body with the same points, for a crowd: before its first pose, with default
    /// settings and without colliders. Model, levels of detail and points are in memory once.
    pub fn another(&self) -> Self {
        Self::of(self.levels.another(), self.points.clone())
    }

    fn of(levels: Levels, points: Points) -> Self {
        Self {
            pose: Vec::with_capacity(levels.model().bone_count()),
            before: levels.coefficients().to_vec(),
            settings: Settings::default(),
            obstacles: Obstacles::default(),
            grab: None,
            rested: 0.0,
            is_fresh: false,
            points,
            levels,
        }
    }

    /// Number of bones of a pose.
    pub fn bones(&self) -> usize {
        self.levels.model().bone_count()
    }

    /// Number of modes of the model.
    pub fn modes(&self) -> usize {
        self.levels.model().mode_count()
    }

    /// Number of modes that move at the level of detail.
    pub fn moving_modes(&self) -> usize {
        self.levels.modes()
    }

    /// Number of points with displacements: those attached, at first the vertices of the tet mesh.
    pub fn points(&self) -> usize {
        self.points.count()
    }

    /// `true` while nothing moves; a step costs nothing then.
    pub fn is_asleep(&self) -> bool {
        self.settings.sleeps && self.rested >= DROWSY
    }

    /// Chooses the points with displacements: vertices of the character at rest, in the space of the bind
    /// pose, metres. Colliders and grabs of the points before end.
    ///
    /// # Errors
    /// [`Error::Empty`] or [`Error::NotFinite`]; the points are then unchanged.
    pub fn attach(&mut self, places: Vec<[f64; 3]>) -> Result<()> {
        let points = Points::embedded(self.levels.model(), places)?;
        if self.obstacles.placements().is_some() {
            self.levels.collide(&[], &[], None)?;
        }
        (self.points, self.obstacles, self.grab) = (points, Obstacles::default(), None);
        Ok(())
    }

    /// Keeps the attached points out of colliders, in place of any colliders before. The motion goes on.
    ///
    /// A collider on a bone is given where it is at rest, moves with the bone, keeps its size, and spares the
    /// bone's own points. One of the world stays, until [`Player::move_collider`].
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown bone or point, [`Error::Shape`] for a rig of other points or bones,
    /// [`Error::Unsupported`] for a body with bones and a skin without; nothing changes then.
    pub fn collide(&mut self, colliders: &[Obstacle], skin: &Skin) -> Result<()> {
        let mut obstacles = Obstacles::new(colliders, self.bones())?;
        obstacles.follow(&self.pose);
        let (colliders, skin) = surroundings(self.levels.model(), self.points.places(), colliders, skin)?;
        obstacles.dent(self.levels.model(), &colliders, &skin)?;
        self.levels.collide(&colliders, obstacles.placements().unwrap_or(&[]), Some(&skin))?;
        (self.obstacles, self.rested) = (obstacles, 0.0);
        Ok(())
    }

    /// Moves a collider of the world to a place in the next step: a rotation and a translation from where it
    /// was given, metres.
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown collider, [`Error::Unsupported`] for one on a bone, [`Error::Range`]
    /// or [`Error::NotFinite`] for a transform that is not rigid.
    pub fn move_collider(&mut self, collider: usize, transform: &[[f64; 4]; 3]) -> Result<()> {
        if self.obstacles.place(collider, transform)? {
            self.rested = 0.0;
        }
        Ok(())
    }

    /// Changes a setting from the next step on.
    ///
    /// # Errors
    /// As [`Settings::with`]; the settings are then unchanged.
    pub fn set(&mut self, setting: Setting, value: f64) -> Result<()> {
        let settings = self.settings.with(setting, value)?;
        self.settings = settings;
        self.rested = 0.0;
        let known = if self.bones() > 0 { self.pose.len() } else { 0 };
        self.levels.choose(settings.modes, &input(&self.pose[..known], &self.obstacles))?;
        self.grab.as_mut().map_or(Ok(()), |grab| {
            let point = self.points.point(grab.point)?;
            grab.spring = self.levels.spring(point, FIRMNESS, &settings.params)?;
            Ok(())
        })
    }

    /// Advances by some seconds to a pose: a 3x4 transform for each bone from rest to its place in the world,
    /// metres. The first pose is a start in equilibrium. The rig counts as having moved there as it moves on.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Pose`] for the pose, [`Error::Range`] for negative seconds; the motion is
    /// then unchanged.
    pub fn step(&mut self, pose: &Pose, seconds: f64) -> Result<()> {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            let expected = "a number of seconds >= 0";
            return Err(Error::Range { what: "seconds", expected, got: seconds });
        }
        if self.pose.is_empty() || seconds > LONGEST {
            return self.teleport(pose);
        }
        if seconds == 0.0 || (self.is_asleep() && self.is_still(pose)) {
            return Ok(());
        }
        let params = self.settings.over(seconds);
        self.obstacles.follow(pose);
        let input = input(pose, &self.obstacles);
        if self.is_fresh {
            self.levels.coast(&input, &params)?;
            self.is_fresh = false;
        }
        let spring = self.grab.as_mut().and_then(|grab| {
            let displacement = grab.displacement;
            grab.spring.as_mut().map(|spring| {
                spring.displacement = displacement;
                &*spring
            })
        });
        self.levels.step(&input, &params, spring)?;
        self.rest(pose, seconds);
        self.enter(pose);
        Ok(())
    }

    /// Puts the body into a pose without a kick, as after a cut or a leap; its displacement stays, and swings
    /// back.
    ///
    /// # Errors
    /// As for the pose of [`Player::step`].
    pub fn teleport(&mut self, pose: &Pose) -> Result<()> {
        self.obstacles.follow(pose);
        let input = input(pose, &self.obstacles);
        if self.pose.is_empty() {
            self.levels.settle(&input, &self.settings.params)?;
        } else {
            self.levels.cut(&input)?;
        }
        (self.rested, self.is_fresh) = (0.0, true);
        self.enter(pose);
        Ok(())
    }

    /// Writes the displacement of each point from its rigged place, p x 3, world space, metres. A skin of
    /// triangles is dented by colliders ([`Dents`](jounce::potentials::contact::Dents)).
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of displacements.
    pub fn displace(&mut self, out: &mut [f32]) -> Result<()> {
        self.points.displace(self.levels.coefficients(), out)?;
        self.obstacles.press(&self.pose, out)
    }

    /// Weights of the modes at the points, p x m in C order, for a vertex shader:
    /// `u = sum over k of W_k Z_k [X; 1]`, without dents by colliders.
    pub fn weights(&self) -> &[f64] {
        self.points.weights()
    }

    /// Transforms of the modes, m x 3 x 4: Z of [`Player::weights`].
    pub fn transforms(&self) -> &[f64] {
        self.levels.coefficients()
    }

    /// Pulls a point towards a displacement from its rigged place, until [`Player::release`].
    ///
    /// # Errors
    /// [`Error::Index`] for an unknown point, [`Error::NotFinite`] for the displacement.
    pub fn grab(&mut self, point: usize, displacement: [f64; 3]) -> Result<()> {
        if let Some(element) = displacement.iter().position(|x| !x.is_finite()) {
            let (what, value) = ("displacement", displacement[element]);
            return Err(Error::NotFinite { what, element, value });
        }
        self.rested = 0.0;
        if let Some(grab) = self.grab.as_mut().filter(|grab| grab.point == point) {
            grab.displacement = displacement;
            return Ok(());
        }
        let spring = self.levels.spring(self.points.point(point)?, FIRMNESS, &self.settings.params)?;
        self.grab = Some(Grab { point, displacement, spring });
        Ok(())
    }

    /// Lets a grabbed point go.
    pub fn release(&mut self) {
        self.grab = None;
        self.rested = 0.0;
    }

    fn enter(&mut self, pose: &Pose) {
        self.pose.clear();
        // A body without a rig has one transform, which marks that it has started.
        let rest = &[[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]];
        self.pose.extend_from_slice(if pose.is_empty() { rest } else { pose });
    }

    /// `true` for a pose equal to the last one up to rounding.
    fn is_still(&self, pose: &Pose) -> bool {
        let size = self.levels.model().mesh().diagonal();
        let numbers = |pose: &Pose| pose.as_flattened().as_flattened().len();
        let pairs = pose.as_flattened().as_flattened().iter().zip(self.pose.as_flattened().as_flattened());
        let near = |(entry, (now, before)): (usize, (&f64, &f64))| {
            (now - before).abs() <= STILL * if entry % 4 == 3 { size.max(now.abs()) } else { 1.0 }
        };
        (pose.is_empty() || numbers(pose) == numbers(&self.pose)) && pairs.enumerate().all(near)
    }

    /// Counts the time in which neither the pose nor the flesh moves.
    fn rest(&mut self, pose: &Pose, seconds: f64) {
        let now = self.levels.coefficients();
        let size = self.levels.model().mesh().diagonal();
        let change = now.iter().zip(&self.before).map(|(now, before)| (now - before).abs());
        let is_slow = change.fold(0.0, f64::max) <= SLOW * size.min(1.0) * seconds;
        let rests = is_slow && self.grab.is_none() && !self.levels.is_fading() && self.is_still(pose);
        self.rested = if rests { self.rested + seconds } else { 0.0 };
        self.before.copy_from_slice(self.levels.coefficients());
    }
}

/// Input of a step: a pose, or none for a body without a rig, and the places of obstacles.
fn input<'a>(pose: &'a Pose, obstacles: &'a Obstacles) -> StepInput<'a> {
    let (pose, colliders) = ((!pose.is_empty()).then_some(pose), obstacles.placements());
    StepInput { pose, colliders, ..StepInput::default() }
}
