//! Settings of a simulation, what a step reports, and the state that is saved and restored.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Settings of a simulation; all may change between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationParams {
    /// Time from one pose to the next, seconds.
    pub dt: f64,
    /// Implicit Euler steps from one pose to the next.
    pub substeps: u32,
    /// Most local-global iterations in a substep.
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
    /// Most threads that work on one step, 0 for all; results do not depend on it. A step of skinning modes
    /// is over sooner than a second thread would start, so it stays on the caller's.
    pub threads: usize,
}

impl Default for SimulationParams {
    fn default() -> Self {
        Self {
            dt: 1.0 / 24.0,
            substeps: 1,
            max_iterations: 30,
            tolerance: 1e-6,
            damping: 0.0,
            gravity: [0.0; 3],
            pose_rest: 1.0,
            stiffness: 1.0,
            threads: 0,
        }
    }
}

/// Most substeps and iterations that are accepted.
const MOST_REPETITIONS: u32 = 100_000;

impl SimulationParams {
    /// Errors with [`Error::Range`] or [`Error::NotFinite`] for the first setting that makes no sense.
    pub fn check(&self) -> Result<()> {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let at_least_zero = |v: f64| v.is_finite() && v >= 0.0;
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
        ];
        for (what, expected, got, valid) in checks {
            if !valid {
                return Err(Error::Range { what, expected, got });
            }
        }
        match self.gravity.iter().position(|g| !g.is_finite()) {
            Some(element) => Err(Error::NotFinite { what: "gravity", element, value: self.gravity[element] }),
            None => Ok(()),
        }
    }
}

/// What happened in a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Local-global iterations, summed over the substeps.
    pub iterations: u32,
    /// Change in the last iteration: root mean square displacement over the mass, as a share of the diagonal;
    /// the largest of the substeps.
    pub residual: f64,
    /// Elastic energy at the end, J, with the rotations of the last local step (so never below the true one).
    pub energy: f64,
}

/// Everything a step starts from; restoring it replays the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Whether there has been a pose yet.
    pub(crate) started: bool,
    /// The last two poses given, older first, in the body's coordinates, 4 rows a handle.
    pub(crate) frames: [Vec<[f64; 3]>; 2],
    /// The poses of the last two substeps, older first.
    pub(crate) path: [Vec<[f64; 3]>; 2],
    /// The reduced coordinates after the last two substeps, older first.
    pub(crate) reduced: [Vec<[f64; 3]>; 2],
}

impl State {
    pub(crate) fn new(handle_rows: usize, reduced_rows: usize) -> Self {
        let (pose, reduced) = (vec![[0.0; 3]; handle_rows], vec![[0.0; 3]; reduced_rows]);
        Self {
            started: false,
            frames: [pose.clone(), pose.clone()],
            path: [pose.clone(), pose],
            reduced: [reduced.clone(), reduced],
        }
    }

    /// Copies without allocating; both must have the same sizes.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.started = other.started;
        let pairs = [
            (&mut self.frames, &other.frames),
            (&mut self.path, &other.path),
            (&mut self.reduced, &other.reduced),
        ];
        for (to, from) in pairs {
            (0..2).for_each(|i| to[i].copy_from_slice(&from[i]));
        }
    }

    /// Errors unless `self` has the sizes of `like` and holds finite numbers only.
    pub(crate) fn check(&self, like: &Self) -> Result<()> {
        let own = [&self.frames, &self.path, &self.reduced];
        for (own, like) in own.into_iter().zip([&like.frames, &like.path, &like.reduced]) {
            for (own, like) in own.iter().zip(like) {
                if own.len() != like.len() {
                    return Err(Error::Shape {
                        what: "state",
                        expected: format!("{} rows, as this model has", like.len()),
                        got: format!("{} rows", own.len()),
                    });
                }
                if let Some(element) = own.as_flattened().iter().position(|x| !x.is_finite()) {
                    return Err(Error::NotFinite {
                        what: "state",
                        element,
                        value: own.as_flattened()[element],
                    });
                }
            }
        }
        Ok(())
    }
}
