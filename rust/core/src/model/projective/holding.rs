//! Tether of a loose body of handles to its pose.

use nalgebra::{Matrix3, Vector3};

use super::ProjectiveModel;
use crate::kinematics::tether::{Frame, Tether};
use crate::math::polar::nearest_rotation;
use crate::math::rows::Rows;
use crate::math::symmetric::Spread;

/// Scratch: positions of the body, their momenta, and the current and goal frame of each part.
pub(super) struct Holding {
    places: Vec<[f64; 3]>,
    image: Vec<[f64; 3]>,
    frames: Vec<[Frame; 2]>,
}

/// A substep: last coordinates, poses at both ends, inertial stiffness, 1/s^2, and size of the body.
pub(super) struct Held<'a> {
    pub(super) last: &'a Rows,
    pub(super) poses: [&'a Rows; 2],
    pub(super) inertia: f64,
    pub(super) inflation: f64,
}

impl Holding {
    pub(super) fn new(model: &ProjectiveModel) -> Self {
        let zeros = || vec![[0.0; 3]; model.rank()];
        let frames = Vec::with_capacity(model.coordinates.parts.len());
        Self { places: zeros(), image: zeros(), frames }
    }

    /// Moves the inertial target of a loose body towards its pose.
    pub(super) fn draw(
        &mut self,
        model: &ProjectiveModel,
        tether: Tether,
        held: &Held<'_>,
        (target, spread): (&mut Rows, &mut Spread),
    ) {
        self.find(model, held, tether.share, spread);
        for (column, &part) in model.coordinates.parts_of_columns.iter().enumerate() {
            let whole = &model.coordinates.parts[part as usize];
            let affine = column.wrapping_sub(4 * part as usize);
            let made = if affine < 3 { whole.whole(affine) } else { Vector3::zeros() };
            let frames = &self.frames[part as usize];
            let rigid = frames.map(|frame| match affine {
                3 => frame.moved,
                _ => frame.turn * (held.inflation * made),
            });
            let goal = tether.goal(Vector3::from(held.last[column]) + made, frames, rigid);
            tether.draw(&mut target[column], held.inertia, goal - made);
        }
    }

    /// Computes the current frame of each part, the best-fit rigid motion in the mass norm, and its goal
    /// frame.
    fn find(&mut self, model: &ProjectiveModel, held: &Held<'_>, share: f64, spread: &mut Spread) {
        let Self { places, image, frames } = self;
        places.copy_from_slice(held.last);
        model.place(places);
        model.packed_mass.multiply(places, image, spread);
        frames.clear();
        frames.extend(model.coordinates.parts.iter().zip(image.chunks(4)).map(|(part, image)| {
            let turn = nearest_rotation(&Matrix3::from_fn(|row, column| image[column][row]));
            let body = Frame { turn, moved: Vector3::from(image[3]) / part.mass };
            let [from, to] =
                held.poses.map(|pose| Frame::of_pose(&model.pose_coordinates, pose, &part.center));
            [body, body.toward(from, to, share)]
        }));
    }
}
