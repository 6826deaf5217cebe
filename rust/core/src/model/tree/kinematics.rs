//! Kinematics of a domain in a frame, `x = Q Phi`, and pull-back of forces on Q, 3 x s, to the frame and
//! the coordinates.

use nalgebra::{Matrix3, Matrix6, Rotation3, Vector3, Vector6};

use super::domain::{Domain, RIGID};
use crate::math::rows::Rows;
use crate::potentials::contact::Placement;

/// Angle below which series replace the closed form, rad.
const SMALL: f64 = 1e-3;

/// Rows of a frame: the columns of its rotation, and its centre.
pub(super) const PLACE: usize = 4;

/// A frame: rotation, and position of the rest centre of mass.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) rotation: Matrix3<f64>,
    pub(super) centre: Vector3<f64>,
}

impl Frame {
    /// Frame of the first rows of a state, or of interpolated ones; the matrix is made a rotation.
    pub(super) fn of(rows: &Rows) -> Self {
        let place = Placement::of(&std::array::from_fn(|row| rows[row]), &[0.0; 3]);
        Self { rotation: *place.rotation(), centre: *place.translation() }
    }

    pub(super) fn rows(&self) -> [[f64; 3]; PLACE] {
        let column = |c: usize| self.rotation.column(c).into_owned().into();
        [column(0), column(1), column(2), self.centre.into()]
    }

    /// Writes `Q = (c, R, R y_1, ..., R y_k)`, row by row.
    pub(super) fn place(&self, y: &[f64], q: &mut [f64]) {
        let s = RIGID + 3 * y.len();
        for row in 0..3 {
            let turned: [f64; 3] = std::array::from_fn(|c| self.rotation[(row, c)]);
            let q = &mut q[row * s..][..s];
            q[0] = self.centre[row];
            q[1..RIGID].copy_from_slice(&turned);
            for (q, y) in q[RIGID..].as_chunks_mut::<3>().0.iter_mut().zip(y) {
                *q = turned.map(|entry| entry * y);
            }
        }
    }

    /// World position of a point of the frame.
    pub(super) fn world(&self, place: &Vector3<f64>) -> Vector3<f64> {
        self.centre + self.rotation * place
    }

    /// World position of a vertex of a domain.
    pub(super) fn vertex(&self, domain: &Domain, vertex: usize, y: &[f64]) -> Vector3<f64> {
        self.world(&(domain.rest(vertex) + domain.shift(vertex, y)))
    }

    /// Velocity of a vertex at position `here`, from the twist of the frame and the coordinate velocities.
    pub(super) fn velocity(
        &self,
        domain: &Domain,
        (vertex, here): (usize, &Vector3<f64>),
        twist: &Vector6<f64>,
        y: &[f64],
    ) -> Vector3<f64> {
        let [moves, turns] = [0, 3].map(|first| twist.fixed_rows::<3>(first).into_owned());
        moves + turns.cross(&(here - self.centre)) + self.rotation * domain.shift(vertex, y)
    }

    /// Generalised force on a coordinate from the forces P on Q.
    pub(super) fn work(&self, p: &[f64], s: usize, coordinate: usize) -> f64 {
        let first = RIGID + 3 * coordinate;
        (0..3).map(|row| (0..3).map(|c| self.rotation[(row, c)] * p[row * s + first + c]).sum::<f64>()).sum()
    }
}

/// A column of Q.
fn column(q: &[f64], s: usize, f: usize) -> Vector3<f64> {
    Vector3::new(q[f], q[s + f], q[2 * s + f])
}

/// Force and torque about the centre from the forces P on Q: `sum_(f > 0) Q_f x P_f`.
pub(super) fn wrench(q: &[f64], p: &[f64], s: usize) -> Vector6<f64> {
    let torque: Vector3<f64> = (1..s).map(|f| column(q, s, f).cross(&column(p, s, f))).sum();
    Vector6::new(p[0], p[s], p[2 * s], torque.x, torque.y, torque.z)
}

/// Inertia of a domain: the 6 x 6 block of its frame, and the coupling with each coordinate, 6 numbers.
/// Coordinates have unit mass.
pub(super) fn inertia(
    domain: &Domain,
    frame: &Frame,
    (q, product): (&[f64], &mut [f64]),
    across: &mut [Vector6<f64>],
) -> Matrix6<f64> {
    let s = domain.functions();
    // `sum m (x - c) Phi'`.
    for row in 0..3 {
        domain.gram.combine(&q[row * s..][..s], &mut product[row * s..][..s]);
        (0..s).for_each(|f| product[row * s + f] -= q[row * s] * domain.gram.at(f, 0));
    }
    let first = column(product, s, 0);
    let second: Matrix3<f64> =
        Matrix3::from_fn(|i, j| (1..s).map(|f| product[i * s + f] * q[j * s + f]).sum());
    let mut own = Matrix6::from_diagonal_element(domain.total_mass());
    own.fixed_view_mut::<3, 3>(0, 3).copy_from(&-first.cross_matrix());
    own.fixed_view_mut::<3, 3>(3, 0).copy_from(&first.cross_matrix());
    own.fixed_view_mut::<3, 3>(3, 3).copy_from(&(second.trace() * Matrix3::identity() - second));
    for (k, across) in across.iter_mut().enumerate() {
        let at = RIGID + 3 * k;
        let moved = frame.rotation * Vector3::from_fn(|c, _| domain.gram.at(at + c, 0));
        // `sum m (x - c) (R B_k)'`.
        let moment = Matrix3::from_fn(|i, c| product[i * s + at + c]) * frame.rotation.transpose();
        *across = Vector6::new(
            moved.x,
            moved.y,
            moved.z,
            moment[(1, 2)] - moment[(2, 1)],
            moment[(2, 0)] - moment[(0, 2)],
            moment[(0, 1)] - moment[(1, 0)],
        );
    }
    own
}

/// Rotation of an angle vector.
pub(super) fn turned(angles: &Vector3<f64>) -> Matrix3<f64> {
    Rotation3::from_scaled_axis(*angles).into_inner()
}

/// Derivative of the rotation by the angle vector: `I + (1 - cos t) / t^2 W + (t - sin t) / t^3 W^2`, with
/// t the length and W the cross-product matrix of the vector.
pub(super) fn turning(angles: &Vector3<f64>) -> Matrix3<f64> {
    let (t, w) = (angles.norm(), angles.cross_matrix());
    let [once, twice] = if t < SMALL {
        [0.5 - t * t / 24.0, 1.0 / 6.0 - t * t / 120.0]
    } else {
        [(1.0 - t.cos()) / (t * t), (t - t.sin()) / (t * t * t)]
    };
    Matrix3::identity() + once * w + twice * w * w
}
