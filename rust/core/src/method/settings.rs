//! Settings of a simulation, reports of steps, and the saved state.

use serde::{Deserialize, Serialize};

use crate::method::Shares;
use crate::method::loads::contact::ContactState;
use crate::method::projective_dynamics::Pull;
use crate::method::skinning_modes::Drag;
use crate::rig::Pose;
use crate::solve::Learnt;
use crate::{Error, Result};

/// Time discretisation; both integrators are unconditionally stable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// First order: loses much energy, more with longer steps. The integrator of the paper.
    #[default]
    BackwardEuler,
    /// Second-order backward differences: little energy loss for steps short against the period, while
    /// unresolved fast motion is still damped.
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

    /// `h dx/dt`, in the same form.
    pub(crate) fn velocity(self) -> [f64; 2] {
        match self {
            Self::BackwardEuler => [1.0, 0.0],
            Self::Bdf2 => [1.5, -0.5],
        }
    }

    /// Factors on the positions one, two, ... substeps ago in `h^2 d2x/dt2` and in `h dx/dt`, with opposite
    /// sign.
    pub(crate) fn recall(self) -> [[f64; 2]; HISTORY] {
        let [inertia, speed] = [&self.acceleration()[..], &self.velocity()[..]];
        let of = |factors: &[f64], back: usize| factors.get(back).copied().unwrap_or(0.0);
        std::array::from_fn(|back| [inertia, speed].map(|all| of(all, back) - of(all, back + 1)))
    }
}

/// Number of stored substeps.
pub(crate) const HISTORY: usize = 4;

/// Settings of a simulation; all may change between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationParams {
    /// Time between two poses, seconds.
    pub dt: f64,
    /// Implicit steps between two poses.
    pub substeps: u32,
    /// Time discretisation.
    pub integrator: Integrator,
    /// Most iterations in a substep.
    pub max_iterations: u32,
    /// Stopping threshold: a substep ends once an iteration moves the body, root mean square over the mass,
    /// by less than this share of its diagonal.
    pub tolerance: f64,
    /// Damping ratio, the same in every mode: 0 none, 1 critical.
    pub damping: f64,
    /// Acceleration of gravity in world space, m/s^2.
    pub gravity: [f64; 3],
    /// Position of the elastic rest shape: 0 at the bind shape, 1 at the posed shape.
    pub pose_rest: f64,
    /// Factor on the elastic energy; frequencies scale with its square root.
    pub stiffness: f64,
    /// Factor on the acceleration of the rig felt by the flesh: 0 moves nothing, 1 is physical, more
    /// exaggerates.
    pub strength: f64,
    /// Contraction of muscles: stress-free shortening of the fibres as a share of length, per muscle, 0
    /// relaxed.
    pub contraction: Shares,
    /// Active share of the stiffness of each stitch group, 1 as built, 0 open.
    pub stitching: Shares,
    /// Rest length factor of a body of handles with volume; its volume scales with the third power
    /// `[HRPD]`.
    pub inflation: f64,
    /// Frequency in Hz of a critically damped spring from a loose body of handles to its pose; 0 lets go.
    pub hold: f64,
    /// Largest displacement anywhere, as a share of the body's diagonal; `None` for no limit. The flesh
    /// stiffens beyond half of the limit.
    pub limit: Option<f64>,
    /// Largest relative change of a length against the rig's own; `None` for no limit. The flesh stiffens
    /// beyond half of the limit.
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

/// Upper bound of substeps and of iterations.
const MOST_REPETITIONS: u32 = 100_000;

impl SimulationParams {
    /// As [`SimulationParams::check`]; with colliders, also [`Error::Unsupported`] for settings that
    /// exclude them.
    pub(crate) fn check_among(&self, among: bool) -> Result<()> {
        self.check()?;
        if among && self.integrator != Integrator::BackwardEuler {
            let why =
                "among colliders only backward Euler loses what an impact takes; bdf2 would give it back";
            return Err(Error::Unsupported { what: "integrator", why });
        }
        Ok(())
    }

    /// Checks the settings: [`Error::Range`] or [`Error::NotFinite`] for the first invalid one.
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

/// Input of a step, apart from the previous state. The default drives a body without a rig.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drive<'a> {
    /// b transforms; `None` for a model without a rig.
    pub pose: Option<&'a Pose>,
    /// Generalised force on the coefficients, m x 3 x 4, constant throughout the step: from
    /// [`Projector::reduce_forces`](crate::method::Projector::reduce_forces) or
    /// [`Model::reduce_sample_forces`](crate::method::Model::reduce_sample_forces).
    pub force: Option<&'a [f64]>,
    /// Difference of the rig from linear skinning in this pose, reduced by
    /// [`OffsetReduction`](crate::method::skinning_modes::OffsetReduction); `None` for none.
    pub offsets: Option<&'a [f64]>,
    /// Drag of a medium throughout the step; `None` for none.
    pub drag: Option<&'a Drag>,
    /// Springs from points of a body of handles to targets throughout the step; `None` for none.
    pub pull: Option<&'a Pull>,
    /// Placements of colliders at the end of the step: rotation and translation of each from its initial
    /// place. `None` keeps the last placements. The first step moves colliders from their initial places; a
    /// reset places them without motion.
    pub colliders: Option<&'a [[[f64; 4]; 3]]>,
}

/// Report of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Iterations, summed over the substeps.
    pub iterations: u32,
    /// Change in the last iteration: root mean square displacement over the mass, as a share of the diagonal;
    /// the largest of the substeps.
    pub residual: f64,
    /// Elastic energy at the end, J. For as-rigid-as-possible materials it uses the rotations of the last
    /// local step and is therefore never below the exact energy. Energy of offsets inside clusters is not
    /// included.
    pub energy: f64,
}

impl StepReport {
    /// Adds a substep to the report.
    pub(crate) fn add(&mut self, (iterations, residual): (u32, f64)) {
        self.iterations += iterations;
        // `f64::max` would ignore NaN.
        if !(residual <= self.residual || self.residual.is_nan()) {
            self.residual = residual;
        }
    }
}

/// The complete state before a step; restoring it replays the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// `true` after the first pose.
    pub(crate) started: bool,
    /// Seconds between the stored substeps, 0 while all of them are the same.
    pub(crate) spacing: f64,
    /// The last two target poses, older first, in the body's coordinates, 4 rows a handle.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// The poses of the last substeps, older first.
    pub(crate) path: [Vec<[f64; 3]>; HISTORY],
    /// The reduced coordinates after the last substeps, older first.
    pub(crate) reduced: [Vec<[f64; 3]>; HISTORY],
    /// The last two target offsets without the bones' share, older first; no rows before the first offsets.
    pub(crate) offset_frames: [Vec<[f64; 3]>; 2],
    /// The offsets of the last substeps without the bones' share, older first.
    pub(crate) offset_path: [Vec<[f64; 3]>; HISTORY],
    /// L-BFGS curvature pairs carried over to the next substep.
    pub(crate) learnt: Learnt,
    /// State of contact with colliders.
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

    /// Allocates offsets, with zero history.
    pub(crate) fn hold_offsets(&mut self, rows: usize) {
        self.offset_frames.iter_mut().chain(&mut self.offset_path).for_each(|own| own.resize(rows, [0.0; 3]));
    }

    /// `true` after the first offsets.
    pub(crate) fn holds_offsets(&self) -> bool {
        !self.offset_path[0].is_empty()
    }

    fn motion(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.frames.iter().chain(&self.path).chain(&self.reduced)
    }

    fn rows(&self) -> impl Iterator<Item = &Vec<[f64; 3]>> {
        self.motion().chain(&self.offset_frames).chain(&self.offset_path)
    }

    /// Copies without allocation unless the other state is larger than any before.
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

    /// Resamples the history to substeps of `spacing` seconds: keeps the velocity, forgets older
    /// accelerations.
    pub(crate) fn respace(&mut self, spacing: f64) {
        let ratio = spacing / self.spacing;
        if self.spacing > 0.0 && spacing != self.spacing {
            respace(&mut self.path, ratio);
            respace(&mut self.reduced, ratio);
            respace(&mut self.offset_path, ratio);
        }
        self.spacing = spacing;
    }

    /// Sets the history of a steady motion: the rig and the colliders reached the last pose within
    /// `seconds` from the mirror image of `next`.
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

    /// Checks `self` for the sizes of `like`, for `offset_rows` if there are offsets, and for finite
    /// numbers.
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

/// Replaces all but the last entry by a straight line through the last two.
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
