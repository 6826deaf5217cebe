//! What draws a loose body to where a pose has it: it is held there, or caught without a jolt.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use super::ProjectiveModel;
use super::coordinates::Part;
use crate::math::polar::rotations;
use crate::math::rows::Rows;
use crate::math::symmetric::Spread;
use crate::method::SimulationParams;
use crate::method::coordinates::Coordinates;

/// A body that goes this share of the way to where it is held, or more, in a substep touches nothing.
const HELD: f64 = 0.5;

/// Memory for places of a body, their momenta, and of each part where it is and where it is drawn to.
pub(super) struct Holding {
    places: Vec<[f64; 3]>,
    image: Vec<[f64; 3]>,
    frames: Vec<[Frame; 2]>,
}

/// A substep: where the body was at its start, the poses at both ends, its length and how firm inertia is, 1/s^2.
pub(super) struct Held<'a> {
    pub(super) last: &'a Rows,
    pub(super) poses: [&'a Rows; 2],
    pub(super) h: f64,
    pub(super) inertia: f64,
}

/// A rotation of a part, and how far its centre is from where it was made.
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

    /// Draws where inertia wants a loose body to where a pose has it; returns how firmly it is held there, k in 1/s^2, and
    /// whether so firmly that it touches nothing.
    ///
    /// `x'' = -w^2 (x - g) - 2 w (x' - g')`, critically damped, in one step of backward Euler: `k/2 |x - goal|^2` with
    /// `k = w^2 + 2 w / h` and a goal the share `w^2 / k` of the way from the body, carried along with what holds it, to
    /// there. It goes that way as a rigid body whose strain fades, so that it keeps its shape however far it has to turn.
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

    /// Finds where each part is, as the rigid motion that is nearest to its own in the norm of its mass, and where it is drawn
    /// to.
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
    /// Where a pose has a part.
    fn of_pose(coordinates: &Coordinates, pose: &Rows, part: &Part) -> Self {
        let rows = columns(pose);
        let entries = coordinates.homogeneous(&part.center);
        let place: Vector3<f64> = rows.iter().zip(entries).map(|(row, entry)| entry * row).sum();
        Self { turn: nearest(&rows), moved: place - Vector3::from(part.center) }
    }

    /// A share of the way to the second of two frames, taken along by their motion.
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
    let mut found = [[0.0; 9]];
    rotations(&[std::array::from_fn(|e| columns[e % 3][e / 3])], &mut found);
    Matrix3::from_row_slice(&found[0])
}
