//! Tether of a loose body to its pose: a critically damped spring, which also catches a moving body without a
//! jolt.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::kinematics::coordinates::Coordinates;
use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;

/// Share of the way to the pose, in one substep, from which a tethered body has no contact.
const HELD: f64 = 0.5;

/// Tether in a substep: `x'' = -w^2 (x - g) - 2 w (x' - g')`, critically damped.
///
/// One step of backward Euler minimises `k/2 |x - goal|^2` with `k = w^2 + 2 w / h`. The goal lies the share
/// `w^2 / k` of the way from the body, first moved along with the pose, to the pose. On this way the body
/// moves rigidly and its strain fades, therefore it keeps its shape through any rotation.
#[derive(Clone, Copy)]
pub(crate) struct Tether {
    /// k, 1/s^2.
    pub(crate) firm: f64,
    /// `w^2 / k`.
    pub(crate) share: f64,
}

impl Tether {
    /// Tether of a frequency in Hz, in a substep of `h` seconds; `None` for 0, which lets go.
    pub(crate) fn new(frequency: f64, h: f64) -> Option<Self> {
        let omega = TAU * frequency;
        let [firm, share] = [omega * (omega + 2.0 / h), omega / (omega + 2.0 / h)];
        (omega > 0.0).then_some(Self { firm, share })
    }

    /// `true` if the tether is firm enough to exclude contact.
    pub(crate) fn is_firm(&self) -> bool {
        self.share >= HELD
    }

    /// Place of a point at its goal, from its last place; `made` is its rest place, turned and shifted by the
    /// body's last frame and by its goal.
    pub(crate) fn goal(
        &self,
        last: Vector3<f64>,
        [body, goal]: &[Frame; 2],
        made: [Vector3<f64>; 2],
    ) -> Vector3<f64> {
        let strain = last - made[0];
        made[1] + goal.turn * body.turn.transpose() * ((1.0 - self.share) * strain)
    }

    /// Inertial target drawn to a goal, with the inertial stiffness, 1/s^2.
    pub(crate) fn draw(&self, target: &mut [f64; 3], inertia: f64, goal: Vector3<f64>) {
        let drawn = inertia * Vector3::from(*target) + self.firm * goal;
        *target = (drawn / (inertia + self.firm)).into();
    }
}

/// A rotation of a part, and the displacement of its centre from the modelled place.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) turn: Matrix3<f64>,
    pub(crate) moved: Vector3<f64>,
}

impl Frame {
    /// Frame of a part with a given centre in a pose of one handle.
    pub(crate) fn of_pose(coordinates: &Coordinates, pose: &Rows, center: &[f64; 3]) -> Self {
        let entries = coordinates.homogeneous(center);
        let place: Vector3<f64> =
            pose.iter().zip(entries).map(|(row, entry)| entry * Vector3::from(*row)).sum();
        let linear = Matrix3::from_fn(|row, column| pose[column][row]);
        Self { turn: nearest_rotation(&linear), moved: place - Vector3::from(*center) }
    }

    /// Follows the motion between two frames, then goes a share of the way to the second.
    pub(crate) fn toward(self, from: Self, to: Self, share: f64) -> Self {
        let (turn, moved) = (to.turn * from.turn.transpose() * self.turn, self.moved + to.moved - from.moved);
        let left = Rotation3::from_matrix_unchecked(to.turn * turn.transpose());
        let on = UnitQuaternion::from_rotation_matrix(&left).powf(share).to_rotation_matrix();
        Self { turn: on.matrix() * turn, moved: moved + share * (to.moved - moved) }
    }
}
