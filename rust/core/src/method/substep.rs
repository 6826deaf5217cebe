//! What a method does in the time of one substep; all that goes by frames is [`Motion`](super::motion::Motion).

use nalgebra::{Matrix3, Vector3};

use crate::math::rows::Rows;
use crate::method::loads::contact::Anchor;
use crate::method::orbit::{Recurrence, Tangent};
use crate::method::projective_dynamics::{ProjectiveSubstep, Pull};
use crate::method::settings::HISTORY;
use crate::method::skinning_modes::ForceSamples;
use crate::method::{Drive, SimulationParams, State};
use crate::rig::Pose;
use crate::solve::Learnt;
use crate::{Error, Progress, Result};

/// Where the rig is: rows of a pose, and of offsets beside the bones' share, if there have been any; and where colliders are.
#[derive(Clone, Copy)]
pub(crate) struct RigPlace<'a> {
    pub(crate) pose: &'a Rows,
    pub(crate) offset: &'a Rows,
    /// Of placements of colliders.
    pub(crate) colliders: &'a Rows,
}

/// A body's coordinates at the end of a substep: how a method finds them.
///
/// Poses are 4 rows a handle in the body's coordinates, coordinates and offsets as many rows as the method wants.
pub(crate) trait Substep: Send + Sync {
    /// Rows of a pose, of the coordinates and of offsets.
    fn rows(&self) -> [usize; 3];

    /// Turns a pose into its rows.
    fn enter_pose(&mut self, pose: Option<&Pose>, rows: &mut Rows) -> Result<()>;

    /// Makes room for offsets from now on.
    fn hold_offsets(&mut self) {}

    /// Adds the bones' share of offsets to a pose, and sets the other rows.
    fn enter_offsets(&mut self, offsets: &[f64], pose: &mut Rows, rows: &mut Rows) -> Result<()>;

    /// Rows of the placements of colliders, and points that may touch them.
    fn contact_sizes(&self) -> [usize; 2] {
        [0; 2]
    }

    /// What sticks to colliders at the end of a substep.
    fn anchors(&self) -> &[Anchor] {
        &[]
    }

    /// A body that touches others, and is touched, in a common step.
    fn touching(&mut self) -> Option<&mut ProjectiveSubstep> {
        None
    }

    /// Takes what else acts all through a step.
    fn enter_loads(&mut self, drive: &Drive<'_>) -> Result<()>;

    /// Takes what holds points all through a step.
    fn enter_pull(&mut self, pull: Option<&Pull>) -> Result<()> {
        let why = "points of a body of handles alone are held; pull others by a generalised force";
        pull.map_or(Ok(()), |_| Err(Error::Unsupported { what: "pull", why }))
    }

    /// Sets all that stands still in a substep of h seconds.
    fn prepare(&mut self, state: &State, rig: RigPlace<'_>, params: &SimulationParams, h: f64) -> Result<()>;

    /// Finds the coordinates at the end of a substep; returns iterations and residual.
    fn solve(&mut self, state: &State, params: &SimulationParams, progress: &Progress) -> Result<(u32, f64)>;

    /// Finds the coordinates of static equilibrium; returns iterations and residual.
    fn settle(
        &mut self,
        rig: RigPlace<'_>,
        params: &SimulationParams,
        max_iterations: u32,
        progress: &Progress,
    ) -> Result<(u32, f64)>;

    /// What was found last.
    fn found(&mut self) -> &mut Rows;

    /// Turns the displacement that was found last.
    fn turn_found(&mut self, turn: &Matrix3<f64>) {
        self.found().iter_mut().for_each(|row| *row = (turn * Vector3::from(*row)).into());
    }

    /// Moves what was found last as the rig moves the whole body from one pose to another.
    fn carry_found(&mut self, from: &Rows, to: &Rows) {
        let turn = self.turn(from, to);
        self.turn_found(&turn);
    }

    /// Sets coordinates to those of a body at rest in a pose.
    fn begin(&self, _pose: &Rows, coordinates: &mut Rows) {
        coordinates.fill([0.0; 3]);
    }

    /// Gives coordinates that do not move with the rig the velocity at which it goes on from one pose to the next.
    fn coast(&mut self, _reduced: &mut [Vec<[f64; 3]>; HISTORY], _poses: [&Rows; 2]) {}

    /// Elastic energy of what was found last, J.
    fn elastic_energy(&mut self, params: &SimulationParams) -> f64;

    /// Writes what substeps have learnt for those that follow.
    fn learnt(&self, _learnt: &mut Learnt) {}

    /// Takes that over.
    fn learn(&mut self, _learnt: &Learnt) {}

    /// The rotation by which the rig turns the whole body from one pose to another.
    fn turn(&self, from: &Rows, to: &Rows) -> Matrix3<f64>;

    /// Sets the coefficients to those of some coordinates.
    fn show(&mut self, coordinates: &Rows);

    /// The coefficients, in C order.
    fn coefficients(&self) -> &[f64];

    /// Displacement of the whole body by its diagonal, in the norm of its mass.
    fn unit(&self) -> f64;

    /// The common translation of the rig from one state to another, and the furthest that any part of the body, turning
    /// and straining included, goes otherwise, as a share of the diagonal.
    fn carried(&self, from: &State, to: &State) -> Result<([f64; 3], f64)>;

    /// Where samples are in a state.
    fn sample_positions(&self, state: &State, samples: &ForceSamples) -> Result<Vec<[f64; 3]>>;

    /// How far coordinates are from solving the substep that was prepared, with the derivative if `probe`; `None`
    /// where they lie beyond a limit, or the method has no derivative.
    fn tangent(&mut self, params: &SimulationParams, place: &Rows, probe: bool) -> Option<Tangent>;

    /// How substeps depend on those before them; `None` where the method cannot say.
    fn recurrence(&self, params: &SimulationParams) -> Option<Recurrence>;
}

/// Coordinates after the last substep.
pub(crate) fn last(state: &State) -> &Rows {
    &state.reduced[HISTORY - 1]
}
