//! Tether of a loose body to its pose: a critically damped spring, which also catches a moving body without
//! a jolt.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use super::ProjectiveModel;
use crate::inputs::settings::SimulationParams;
use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::handles::Part;
use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;
use crate::math::symmetric::Spread;

/// Share of the way to the pose, in one substep, from which a tethered body has no contact.
const HELD: f64 = 0.5;

/// Scratch: positions of the body, their momenta, and the current and goal frame of each part.
pub(super) struct Holding {
    places: Vec<[f64; 3]>,
    image: Vec<[f64; 3]>,
    frames: Vec<[Frame; 2]>,
}

/// A substep: last coordinates, poses at both ends, duration and inertial stiffness, 1/s^2.
pub(super) struct Held<'a> {
    pub(super) last: &'a Rows,
    pub(super) poses: [&'a Rows; 2],
    pub(super) h: f64,
    pub(super) inertia: f64,
}

/// A rotation of a part, and the displacement of its centre from the modelled place.
#[derive(Clone, Copy)]
struct Frame {
    turn: Matrix3<f64>,
    moved: Vector3<f64>,
}

impl Holding {
    pub(super) fn new(model: &ProjectiveModel) -> Self {
        let zeros = || vec![[0.0; 3]; model.rank()];
        let frames = Vec::with_capacity(model.coordinates.parts.len());
        Self { places: zeros(), image: zeros(), frames }
    }

    /// Moves the inertial target of a loose body towards its pose; returns the tether stiffness k in 1/s^2,
    /// and `true` if the tether is firm enough to exclude contact.
    ///
    /// The tether is `x'' = -w^2 (x - g) - 2 w (x' - g')`, critically damped. One step of backward Euler
    /// minimises `k/2 |x - goal|^2` with `k = w^2 + 2 w / h`. The goal lies the share `w^2 / k` of the way
    /// from the body, first moved along with the pose, to the pose. On this way the body moves rigidly and
    /// its strain fades, therefore it keeps its shape through any rotation.
    pub(super) fn draw(
        &mut self,
        model: &ProjectiveModel,
        held: &Held<'_>,
        params: &SimulationParams,
        (target, spread): (&mut Rows, &mut Spread),
    ) -> (f64, bool) {
        let omega = TAU * params.hold;
        if omega == 0.0 {
            return (0.0, false);
        }
        let (firm, share) = (omega * (omega + 2.0 / held.h), omega / (omega + 2.0 / held.h));
        self.find(model, held, share, spread);
        for (column, &part) in model.coordinates.parts_of_columns.iter().enumerate() {
            let whole = &model.coordinates.parts[part as usize];
            let affine = column.wrapping_sub(4 * part as usize);
            let made = if affine < 3 { whole.whole(affine) } else { Vector3::zeros() };
            let [body, goal] = self.frames[part as usize].each_ref();
            let rigid = |frame: &Frame| match affine {
                3 => frame.moved,
                _ => frame.turn * (params.inflation * made),
            };
            let strain = Vector3::from(held.last[column]) + made - rigid(body);
            let kept = goal.turn * body.turn.transpose() * ((1.0 - share) * strain);
            let wanted = rigid(goal) + kept - made;
            let row = Vector3::from(target[column]);
            target[column] = ((held.inertia * row + firm * wanted) / (held.inertia + firm)).into();
        }
        (firm, share >= HELD)
    }

    /// Computes the current frame of each part, the best-fit rigid motion in the mass norm, and its goal
    /// frame.
    fn find(&mut self, model: &ProjectiveModel, held: &Held<'_>, share: f64, spread: &mut Spread) {
        let Self { places, image, frames } = self;
        places.copy_from_slice(held.last);
        for (number, part) in model.coordinates.parts.iter().enumerate() {
            (0..3).for_each(|axis| places[4 * number + axis][axis] += part.size);
        }
        model.packed_mass.multiply(places, image, spread);
        frames.clear();
        frames.extend(model.coordinates.parts.iter().zip(image.chunks(4)).map(|(part, image)| {
            let rows = columns(image);
            let body = Frame { turn: nearest(&rows), moved: rows[3] / part.mass };
            let [from, to] = held.poses.map(|pose| Frame::of_pose(&model.pose_coordinates, pose, part));
            [body, body.toward(from, to, share)]
        }));
    }
}

impl Frame {
    /// Frame of a part in a pose.
    fn of_pose(coordinates: &Coordinates, pose: &Rows, part: &Part) -> Self {
        let rows = columns(pose);
        let entries = coordinates.homogeneous(&part.center);
        let place: Vector3<f64> = rows.iter().zip(entries).map(|(row, entry)| entry * row).sum();
        Self { turn: nearest(&rows), moved: place - Vector3::from(part.center) }
    }

    /// Follows the motion between two frames, then goes a share of the way to the second.
    fn toward(self, from: Self, to: Self, share: f64) -> Self {
        let (turn, moved) = (to.turn * from.turn.transpose() * self.turn, self.moved + to.moved - from.moved);
        let left = Rotation3::from_matrix_unchecked(to.turn * turn.transpose());
        let on = UnitQuaternion::from_rotation_matrix(&left).powf(share).to_rotation_matrix();
        Self { turn: on.matrix() * turn, moved: moved + share * (to.moved - moved) }
    }
}

/// The first four rows, as columns of a transform.
fn columns(rows: &Rows) -> [Vector3<f64>; 4] {
    std::array::from_fn(|d| Vector3::from(rows[d]))
}

/// The rotation nearest to the matrix with these columns.
fn nearest(columns: &[Vector3<f64>; 4]) -> Matrix3<f64> {
    nearest_rotation(&Matrix3::from_fn(|row, column| columns[column][row]))
}
