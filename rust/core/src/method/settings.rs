//! Settings of a simulation, what a step reports, and the state that is saved and restored.

use serde::{Deserialize, Serialize};

use crate::method::Shares;
use crate::method::loads::contact::ContactState;
use crate::method::projective_dynamics::Pull;
use crate::method::skinning_modes::Drag;
use crate::rig::Pose;
use crate::solve::Learnt;
use crate::{Error, Result};

/// How accelerations are had from positions; both are unconditionally stable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// First order: loses much energy, the more the longer the step. What the paper uses.
    #[default]
    BackwardEuler,
    /// Backward differences of second order: loses little where a step is short against the period, and still
    /// calms what is too fast to be resolved.
    Bdf2,
}

impl Integrator {
    /// `h^2 d2x/dt2` at the new position as a sum of backward differences `x_i - x_(i-1)`, newest first.
    pub(crate) fn acceleration(self) -> [f64; HISTORY] {
        match self {
            Self::BackwardEuler => [1.0, -1.0, 0.0, 0.0],
            Self::Bdf2 => [2.25, -3.75, 1.75, -0.25],
        }
    }

    /// `h dx/dt`, likewise.
    pub(crate) fn velocity(self) -> [f64; 2] {
        match self {
            Self::BackwardEuler => [1.0, 0.0],
            Self::Bdf2 => [1.5, -0.5],
        }
    }

    /// What the positions one, two, ... substeps ago count in `h^2 d2x/dt2` and in `h dx/dt`, with the sign turned.
    pub(crate) fn recall(self) -> [[f64; 2]; HISTORY] {
        let [inertia, speed] = [&self.acceleration()[..], &self.velocity()[..]];
        let of = |factors: &[f64], back: usize| factors.get(back).copied().unwrap_or(0.0);
        std::array::from_fn(|back| [inertia, speed].map(|all| of(all, back) - of(all, back + 1)))
    }
}

/// Substeps that are remembered.
pub(crate) const HISTORY: usize = 4;

/// Settings of a simulation; all may change between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationParams {
    /// Time from one pose to the next, seconds.
    pub dt: f64,
    /// Implicit steps from one pose to the next.
    pub substeps: u32,
    /// How accelerations are had from positions.
    pub integrator: Integrator,
    /// Most iterations in a substep.
    pub max_iterations: u32,
    /// A substep ends once an iteration moves the body, root mean square over its mass, by less than this
    /// share of its diagonal.
    pub tolerance: f64,
    /// Damping ratio, the same in every mode: 0 none, 1 critical.
    pub damping: f64,
    /// Acceleration of gravity in world space, m/s^2.
    pub gravity: [f64; 3],
    /// Where the elastic rest shape lies: 0 at the bind shape, 1 at the posed shape.
    pub pose_rest: f64,
    /// Factor on the elastic energy; frequencies scale with its square root.
    pub stiffness: f64,
    /// Factor on the acceleration of the rig as the flesh feels it: 0 moves nothing, 1 is physical, more
    /// exaggerates.
    pub strength: f64,
    /// How far muscles contract: share of their length by which the fibres of each want to be shorter, 0 relaxed.
    pub contraction: Shares,
    /// How far stitches hold: share of the stiffness of each stitch group that acts, 1 as built, 0 open.
    pub stitching: Shares,
    /// How many times its lengths a body of handles with a volume wants to have: its volume goes to the third power of it
    /// `[HRPD]`.
    pub inflation: f64,
    /// How firmly a loose body of handles is drawn to where the pose has it, Hz, critically damped; 0 lets it go.
    pub hold: f64,
    /// Largest displacement anywhere, as a share of the body's diagonal; `None` for no limit. Up to half of it
    /// nothing changes, beyond that the flesh stiffens.
    pub limit: Option<f64>,
    /// Largest change of a length against what the rig makes of it, as a share; `None` for no limit. Up to half of
    /// it nothing changes, beyond that the flesh stiffens.
    pub stretch: Option<f64>,
}

impl Default for SimulationParams {
    fn default() -> Self {
        Self {
            dt: 1.0 / 24.0,
            substeps: 1,
            integrator: Integrator::default(),
            max_iterations: 30,
            tolerance: 1e-6,
            damping: 0.0,
            gravity: [0.0; 3],
            pose_rest: 1.0,
            stiffness: 1.0,
            strength: 1.0,
            contraction: 0.0.into(),
            stitching: 1.0.into(),
            inflation: 1.0,
            hold: 0.0,
            limit: None,
            stretch: None,
        }
    }
}

/// Most substeps and iterations that are accepted.
const MOST_REPETITIONS: u32 = 100_000;

impl SimulationParams {
    /// The same, and with [`Error::Unsupported`] for what does not go with colliders, where there are some.
    pub(crate) fn check_among(&self, among: bool) -> Result<()> {
        self.check()?;
        if among && self.integrator != Integrator::BackwardEuler {
            let why =
                "among colliders only backward Euler loses what an impact takes; bdf2 would give it back";
            return Err(Error::Unsupported { what: "integrator", why });
        }
        Ok(())
    }

    /// Errors with [`Error::Range`] or [`Error::NotFinite`] for the first setting that makes no sense.
    pub fn check(&self) -> Result<()> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let at_least_zero = |v: f64| v.is_finite() && v >= 0.0;
        let (limit, stretch) = (self.limit.unwrap_or(1.0), self.stretch.unwrap_or(1.0));
        let count = |v: u32| (1..=MOST_REPETITIONS).contains(&v);
        let checks = [
            ("dt", "a positive number of seconds", self.dt, positive(self.dt)),
            ("substeps", "a whole number from 1 to 100000", self.substeps.into(), count(self.substeps)),
            (
                "max_iterations",
                "a whole number from 1 to 100000",
                self.max_iterations.into(),
                count(self.max_iterations),
            ),
            ("tolerance", "a number >= 0", self.tolerance, at_least_zero(self.tolerance)),
            ("damping", "a ratio >= 0", self.damping, at_least_zero(self.damping)),
            ("pose_rest", "a number in [0, 1]", self.pose_rest, (0.0..=1.0).contains(&self.pose_rest)),
            ("stiffness", "a positive number", self.stiffness, positive(self.stiffness)),
            ("strength", "a number >= 0", self.strength, at_least_zero(self.strength)),
            (
                "inflation",
                "a number in [0.01, 100]",
                self.inflation,
                (0.01..=100.0).contains(&self.inflation),
            ),
            ("hold", "a number in [0, 100000] Hz", self.hold, (0.0..=1e5).contains(&self.hold)),
            ("limit", "a positive share of the diagonal", limit, positive(limit)),
            ("stretch", "a positive share", stretch, positive(stretch)),
        ];
        for (what, expected, got, valid) in checks {
            if !valid {
                return Err(Error::Range { what, expected, got });
            }
        }
        self.contraction.check("contraction")?;
        self.stitching.check("stitching")?;
        match self.gravity.iter().position(|g| !g.is_finite()) {
            Some(element) => Err(Error::NotFinite { what: "gravity", element, value: self.gravity[element] }),
            None => Ok(()),
        }
    }
}

/// All that a step depends on, beside the state before it. The default drives a body without a rig.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drive<'a> {
    /// b transforms; `None` for a model without a rig.
    pub pose: Option<&'a Pose>,
    /// Generalised force on the coefficients, m x 3 x 4, that acts all through the step: from
    /// [`Projector::reduce_forces`](crate::method::Projector::reduce_forces) or
    /// [`Model::reduce_sample_forces`](crate::method::Model::reduce_sample_forces).
    pub force: Option<&'a [f64]>,
    /// What the rig adds to linear skinning with the pose, as
    /// [`OffsetReduction`](crate::method::skinning_modes::OffsetReduction) reduced it; `None` for nothing.
    pub offsets: Option<&'a [f64]>,
    /// The resistance of a medium, that acts all through the step; `None` for none.
    pub drag: Option<&'a Drag>,
    /// What draws points of a body of handles to targets, all through the step; `None` for nothing.
    pub pull: Option<&'a Pull>,
    /// Where colliders then are: for each a rotation and a translation from where it was made. `None` leaves them where
    /// they are. Before the first step they are where they were made, and move from there; a reset puts them in a place.
    pub colliders: Option<&'a [[[f64; 4]; 3]]>,
}

/// What happened in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Iterations, summed over the substeps.
    pub iterations: u32,
    /// Change in the last iteration: root mean square displacement over the mass, as a share of the diagonal;
    /// the largest of the substeps.
    pub residual: f64,
    /// Elastic energy at the end, J; as rigid as possible with the rotations of the last local step, so never
    /// below the true one. What offsets store inside clusters is not in it.
    pub energy: f64,
}

impl StepReport {
    /// Counts a substep in.
    pub(crate) fn add(&mut self, (iterations, residual): (u32, f64)) {
        self.iterations += iterations;
        // A maximum would pass over what is no number.
        if !(residual <= self.residual || self.residual.is_nan()) {
            self.residual = residual;
        }
    }
}

/// Everything a step starts from; restoring it replays the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Whether there has been a pose yet.
    pub(crate) started: bool,
    /// Seconds between the remembered substeps, 0 while all of them are the same.
    pub(crate) spacing: f64,
    /// The last two poses given, older first, in the body's coordinates, 4 rows a handle.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// The poses of the last substeps, older first.
    pub(crate) path: [Vec<[f64; 3]>; HISTORY],
    /// The reduced coordinates after the last substeps, older first.
    pub(crate) reduced: [Vec<[f64; 3]>; HISTORY],
    /// The offsets of the last two poses beside the bones' share, older first; no rows before the first
    /// offsets.
    pub(crate) offset_frames: [Vec<[f64; 3]>; 2],
    /// The offsets of the last substeps, likewise.
    pub(crate) offset_path: [Vec<[f64; 3]>; HISTORY],
    /// What substeps have learnt for those that follow.
    pub(crate) learnt: Learnt,
    /// Of colliders.
    pub(crate) contact: ContactState,
}

impl State {
    pub(crate) fn new(handle_rows: usize, reduced_rows: usize, collider_rows: usize) -> Self {
        let (pose, reduced) = (vec![[0.0; 3]; handle_rows], vec![[0.0; 3]; reduced_rows]);
        Self {
            started: false,
            spacing: 0.0,
            frames: std::array::from_fn(|_| pose.clone()),
            path: std::array::from_fn(|_| pose.clone()),
            reduced: std::array::from_fn(|_| reduced.clone()),
            offset_frames: Default::default(),
            offset_path: Default::default(),
            learnt: Learnt::default(),
            contact: ContactState::new(collider_rows),
        }
    }

    /// Makes room for offsets, which were zero so far.
    pub(crate) fn hold_offsets(&mut self, rows: usize) {
        self.offset_frames.iter_mut().chain(&mut self.offset_path).for_each(|own| own.resize(rows, [0.0; 3]));
    }

    /// Whether there have been offsets.
    pub(crate) fn holds_offsets(&self) -> bool {
        !self.offset_path[0].is_empty()
    }

    fn motion(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.frames.iter().chain(&self.path).chain(&self.reduced)
    }

    fn rows(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.motion().chain(&self.offset_frames).chain(&self.offset_path)
    }

    /// Copies, and allocates only where there is less room than ever before.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        (self.started, self.spacing) = (other.started, other.spacing);
        self.learnt.copy_from(&other.learnt);
        self.contact.copy_from(&other.contact);
        let offsets = self.offset_frames.iter_mut().chain(&mut self.offset_path);
        let own = self.frames.iter_mut().chain(&mut self.path).chain(&mut self.reduced).chain(offsets);
        own.zip(other.rows()).for_each(|(to, from)| {
            to.clear();
            to.extend_from_slice(from);
        });
    }

    /// Makes substeps of `spacing` seconds of those remembered: the velocity stays, older accelerations are
    /// forgotten.
    pub(crate) fn respace(&mut self, spacing: f64) {
        let ratio = spacing / self.spacing;
        if self.spacing > 0.0 && spacing != self.spacing {
            respace(&mut self.path, ratio);
            respace(&mut self.reduced, ratio);
            respace(&mut self.offset_path, ratio);
        }
        self.spacing = spacing;
    }

    /// As though the rig had come within `seconds` from as far behind the last pose as `next` is ahead of it, and colliders
    /// likewise.
    pub(crate) fn coast(&mut self, [next, next_offsets, next_colliders]: [&[[f64; 3]]; 3], seconds: f64) {
        let [before, last] = &mut self.contact.frames;
        reflect(before, last, next_colliders);
        for (frames, path, next) in [
            (&mut self.frames, &mut self.path, next),
            (&mut self.offset_frames, &mut self.offset_path, next_offsets),
        ] {
            let [before, last] = frames;
            reflect(before, last, next);
            path[HISTORY - 2].copy_from_slice(before);
            respace(path, 1.0);
        }
        self.spacing = seconds;
    }

    /// Errors unless `self` has the sizes of `like`, `offset_rows` if it holds offsets, and finite numbers only.
    pub(crate) fn check(&self, like: &Self, offset_rows: usize) -> Result<()> {
        let not_finite = |element, value| Err(Error::NotFinite { what: "state", element, value });
        let held = if self.holds_offsets() { offset_rows } else { 0 };
        let sizes = like.motion().map(Vec::len).chain([held; 2 + HISTORY]);
        let learnt = self.learnt.pairs.as_flattened();
        let sizes = sizes.chain(learnt.iter().map(|_| like.reduced[0].len()));
        for (own, size) in self.rows().chain(learnt).zip(sizes) {
            if own.len() != size {
                return Err(Error::Shape {
                    what: "state",
                    expected: format!("{size} rows, as this model has"),
                    got: format!("{} rows", own.len()),
                });
            }
            if let Some(element) = own.as_flattened().iter().position(|x| !x.is_finite()) {
                return not_finite(element, own.as_flattened()[element]);
            }
        }
        if self.spacing.is_finite() { Ok(()) } else { not_finite(0, self.spacing) }
    }
}

/// `before = 2 last - next`.
fn reflect(before: &mut [[f64; 3]], last: &[[f64; 3]], next: &[[f64; 3]]) {
    for row in 0..last.len() {
        (0..3).for_each(|c| before[row][c] = 2.0 * last[row][c] - next[row][c]);
    }
}

/// Replaces all but the last by a straight line through the last two.
pub(crate) fn respace(history: &mut [Vec<[f64; 3]>; HISTORY], ratio: f64) {
    let (older, last) = history.split_at_mut(HISTORY - 1);
    for row in 0..last[0].len() {
        for c in 0..3 {
            let (now, before) = (last[0][row][c], older[HISTORY - 2][row][c]);
            for (back, rows) in older.iter_mut().rev().enumerate() {
                rows[row][c] = now - (back + 1) as f64 * ratio * (now - before);
            }
        }
    }
}
