//! Interface of a method within one substep; [`Stepper`](super::stepper::Stepper) handles everything per
//! frame.

use std::any::Any;

use nalgebra::{Matrix3, Vector3};

use crate::inputs::force_samples::{ForceSamples, foreign_samples};
use crate::inputs::pull::Pull;
use crate::inputs::settings::{HISTORY, SimulationParams, StepInput};
use crate::math::rows::{Rows, dot};
use crate::potentials::contact::Anchor;
use crate::rig::Pose;
use crate::solve::Lbfgs;
use crate::stepping::recurrence::{Recurrence, Tangent};
use crate::stepping::state::State;
use crate::{Error, Progress, Result};

/// State of the rig: rows of the pose, rows of offsets without the bones' share (empty before the first
/// offsets), and collider placements.
#[derive(Clone, Copy)]
pub(crate) struct RigState<'a> {
    pub(crate) pose: &'a Rows,
    pub(crate) offset: &'a Rows,
    /// Rows of collider placements.
    pub(crate) colliders: &'a Rows,
    /// `h^2 d2x/dt2` of the pose and of the offsets in a substep, times the strength: what the flesh feels.
    pub(crate) felt: [&'a Rows; 2],
}

/// Receiver of the number of each iteration; an error ends the descent.
pub(crate) type OnIteration<'a> = dyn FnMut(u32) -> Result<()> + Send + 'a;

/// Solver for a body's coordinates at the end of a substep.
///
/// Poses are 4 rows a handle in the body's coordinates; the method chooses the number of rows of
/// coordinates and offsets.
pub(crate) trait Method: Send {
    /// Numbers of rows of a pose, of the coordinates and of offsets.
    fn rows(&self) -> [usize; 3];

    /// Converts a pose into its rows.
    fn set_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()>;

    /// Allocates offsets for all following steps.
    fn hold_offsets(&mut self) {}

    /// Adds the bones' share of offsets to a pose, and sets the other rows.
    fn set_offsets(&mut self, _offsets: &[f64], _pose: &mut Rows, _rows: &mut Rows) -> Result<()> {
        let why = "this method follows linear skinning alone; take skinning modes or the full space";
        Err(Error::Unsupported { what: "offsets", why })
    }

    /// Number of rows of the collider placements, and of contact points.
    fn contact_sizes(&self) -> [usize; 2] {
        [0; 2]
    }

    /// Points that stick to colliders at the end of a substep.
    fn anchors(&self) -> &[Anchor] {
        &[]
    }

    /// The solver, for contact with others in a common step; `None` for bodies without such contact.
    fn touching(&mut self) -> Option<&mut dyn Any> {
        None
    }

    /// Stores the other loads of a step.
    fn set_loads(&mut self, input: &StepInput<'_>) -> Result<()>;

    /// Stores the springs to targets of a step.
    fn set_pull(&mut self, pull: Option<&Pull>) -> Result<()> {
        let why = "points of a body of handles alone are held; pull others by a generalised force";
        pull.map_or(Ok(()), |_| Err(Error::Unsupported { what: "pull", why }))
    }

    /// Prepares all constants of a substep of h seconds.
    fn prepare(&mut self, state: &State, rig: RigState<'_>, params: &SimulationParams, h: f64) -> Result<()>;

    /// Prepares all constants of static equilibrium.
    fn prepare_rest(&mut self, rig: RigState<'_>, params: &SimulationParams) -> Result<()>;

    /// Solves for the prepared coordinates, in a substep from those of a state; returns iterations and
    /// residual.
    fn minimise(
        &mut self,
        state: &State,
        params: &SimulationParams,
        max_iterations: u32,
        on_iteration: &mut OnIteration<'_>,
    ) -> Result<(u32, f64)>;

    /// Solves for the coordinates at the end of a substep; returns iterations and residual.
    fn solve(&mut self, state: &State, params: &SimulationParams, progress: &Progress) -> Result<(u32, f64)> {
        self.minimise(state, params, params.max_iterations, &mut |_| progress.proceed())
    }

    /// The last solution.
    fn solution(&mut self) -> &mut Rows;

    /// Rotates the displacement of the last solution.
    fn rotate_solution(&mut self, turn: &Matrix3<f64>) {
        self.solution().iter_mut().for_each(|row| *row = (turn * Vector3::from(*row)).into());
    }

    /// Rotates the last solution with the rig's overall rotation between two poses.
    fn carry_solution(&mut self, from: &Rows, to: &Rows) {
        let turn = self.turn(from, to);
        self.rotate_solution(&turn);
    }

    /// Sets coordinates to rest in a pose.
    fn begin(&self, _pose: &Rows, coordinates: &mut Rows) {
        coordinates.fill([0.0; 3]);
    }

    /// Pose at the end of a step, in which the root of a tree is free or made a rotation.
    fn reached<'a>(&'a self, target: &'a Rows) -> &'a Rows {
        target
    }

    /// For coordinates independent of the rig: moves them by a translation, metres.
    fn shift(&self, _by: &[f64; 3], _coordinates: &mut Rows) {}

    /// For coordinates independent of the rig: adds the rig's velocity from one pose to the next.
    fn coast(&mut self, _reduced: &mut [Vec<[f64; 3]>; HISTORY], _poses: [&Rows; 2]) {}

    /// Elastic energy of the last solution, J.
    fn elastic_energy(&mut self, params: &SimulationParams) -> f64;

    /// Curvature pairs carried over to the next substep; `None` if each descent starts without.
    fn memory(&mut self) -> Option<&mut Lbfgs> {
        None
    }

    /// The rig's overall rotation from one pose to another; the identity for coordinates in world space.
    fn turn(&self, _from: &Rows, _to: &Rows) -> Matrix3<f64> {
        Matrix3::identity()
    }

    /// Writes the coefficients of given coordinates.
    fn write_coefficients(&mut self, coordinates: &Rows);

    /// The coefficients, in C order.
    fn coefficients(&self) -> &[f64];

    /// Mass norm of a displacement of the whole body by one diagonal.
    fn unit(&self) -> f64;

    /// Mass norm of a difference of coordinates, with which these are orthonormal by default.
    fn mass_norm(&self, rows: &Rows) -> f64 {
        dot(rows, rows).sqrt()
    }

    /// The rig's common translation from one state to another, and the largest deviation of any part of the
    /// body from this translation, as a share of the diagonal.
    fn carried(&self, _from: &State, _to: &State) -> Result<([f64; 3], f64)> {
        let why = "a tree has no periodic motion; step it until it repeats";
        Err(Error::Unsupported { what: "cycle", why })
    }

    /// Sample positions in a state; an error for a method without samples.
    fn sample_positions(&self, _state: &State, _samples: &ForceSamples) -> Result<Vec<[f64; 3]>> {
        Err(foreign_samples())
    }

    /// Residual of the prepared substep at given coordinates, with the derivative if `probe`. `None` beyond
    /// a limit, and for a method without derivative.
    fn tangent(&mut self, _params: &SimulationParams, _place: &Rows, _probe: bool) -> Option<Tangent> {
        None
    }

    /// Recurrence between substeps; `None` if the method has none.
    fn recurrence(&self, _params: &SimulationParams) -> Option<Recurrence> {
        None
    }
}

/// Coordinates after the last substep.
pub(crate) fn last(state: &State) -> &Rows {
    &state.reduced[HISTORY - 1]
}
