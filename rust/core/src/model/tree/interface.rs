//! Attachment of a domain: an interface of parent vertices, and the best-fit rotation of their motion
//! `[MOR sec. 4]`.
//!
//! `A = sum m (x - x_mean) (X - X_mean)' = R S` of the interface, linear in the parent's Q. With
//! `K = tr(S) I - S` and vex(W - W') the vector w of `[w] = W - W'`, motion of the parent rotates the frame
//! by `R K^-1 vex(R' dA - dA' R)`. Loads on the frame act on the parent through the transpose of this map.

use nalgebra::{Matrix3, Vector3, Vector6};

use super::domain::{Domain, RIGID};
use super::kinematics::Frame;
use crate::math::SignedSvd;
use crate::math::dense::dot;
use crate::potentials::contact::Placement;
use crate::{Error, Result, check};

/// Smallest second moment of an interface across its longest axis, relative to the moment along it.
const THINNEST: f64 = 1e-6;
/// Smallest `s_2 + s_3` for a well-defined frame rate, relative to `s_1`.
const TOLD: f64 = 1e-9;
/// Most Newton steps from the parent's rotation (convergence is quadratic), and the angle at convergence,
/// rad.
const NEWTON_STEPS: usize = 10;
const TURNED: f64 = 1e-11;

/// The interface of a domain in its parent.
pub(super) struct Interface {
    pub(super) parent: usize,
    /// Mean of Phi over the interface's mass, s of the parent.
    mean: Vec<f64>,
    /// `sum m (Phi - mean) (X - X_mean)'`, three columns of the parent's s.
    spread: [Vec<f64>; 3],
    /// From the interface's mean to the domain's centre at rest, in the parent's axes.
    lever: Vector3<f64>,
    /// Rotation from the domain's axes to the parent's axes at rest.
    turn: Matrix3<f64>,
}

/// The interface in the current placement of the parent.
#[derive(Clone, Copy)]
pub(super) struct Hinge {
    /// R of `A = R S`.
    pub(super) rotation: Matrix3<f64>,
    /// `(tr(S) I - S)^-1`.
    inverse: Matrix3<f64>,
    /// From the interface's mean to the domain's centre.
    lever: Vector3<f64>,
}

/// A body with its placement at rest.
pub(super) type Placed<'a> = (&'a Domain, &'a Placement);

impl Interface {
    /// Interface of domain number `domain`, at vertices of its parent.
    pub(super) fn new(
        domain: usize,
        (child, place): Placed<'_>,
        (parent, (body, stand)): (usize, Placed<'_>),
        vertices: &[u32],
    ) -> Result<Self> {
        let count = body.vertex_count();
        check::indices("interface", vertices, 1, count)?;
        let total: f64 = vertices.iter().map(|&v| body.mass(v as usize)).sum();
        let mean_of = |function: usize| {
            let part = |&v: &u32| body.mass(v as usize) * body.function(v as usize, function);
            vertices.iter().map(part).sum::<f64>() / total
        };
        let mean: Vec<f64> = (0..body.functions()).map(mean_of).collect();
        let middle = Vector3::new(mean[1], mean[2], mean[3]);
        let spread_of = |axis: usize, function: usize| -> f64 {
            let part = |&v: &u32| {
                let from = body.rest(v as usize) - middle;
                body.mass(v as usize) * (body.function(v as usize, function) - mean[function]) * from[axis]
            };
            vertices.iter().map(part).sum()
        };
        let spread = [0, 1, 2].map(|axis| (0..mean.len()).map(|f| spread_of(axis, f)).collect::<Vec<f64>>());
        if !spans(&Matrix3::from_fn(|i, j| spread[j][1 + i])) {
            let why = "its interface is three vertices or more of the parent that do not lie on a line";
            return Err(Error::Domain { domain, why });
        }
        let centre = stand.local(&place.world(&child.centre)) - body.centre;
        let turn = stand.rotation().transpose() * place.rotation();
        let made = Self { parent, mean, spread, lever: centre - middle, turn };
        made.check_held(domain, child, body, vertices)?;
        Ok(made)
    }

    /// Checks that the attached part of the domain is near the interface.
    fn check_held(&self, domain: usize, child: &Domain, body: &Domain, vertices: &[u32]) -> Result<()> {
        if child.held().is_empty() {
            let why = "nothing holds it where it hangs; pin its vertices there before its modes are found";
            return Err(Error::Domain { domain, why });
        }
        let own: Vec<Vector3<f64>> =
            child.held().iter().map(|&v| self.lever + self.turn * child.rest(v as usize)).collect();
        let middle = Vector3::new(self.mean[1], self.mean[2], self.mean[3]);
        let other: Vec<Vector3<f64>> = vertices.iter().map(|&v| body.rest(v as usize) - middle).collect();
        let [(own, wide), (other, broad)] = [own, other].map(|points| ball(&points));
        if (own - other).norm() > wide + broad {
            let why =
                "it is held elsewhere than where its interface is; place it there, or name other vertices";
            return Err(Error::Domain { domain, why });
        }
        Ok(())
    }

    /// Hinge, and frame of the domain, for the parent's Q; `above` is the rotation of the parent's frame.
    pub(super) fn follow(&self, parent: &[f64], above: Matrix3<f64>) -> (Hinge, Frame) {
        let s = self.mean.len();
        let shape = Matrix3::from_fn(|row, axis| dot(&parent[row * s..][..s], &self.spread[axis]));
        let middle = Vector3::from_fn(|row, _| dot(&parent[row * s..][..s], &self.mean));
        let (rotation, inverse) = nearby(&shape, above).unwrap_or_else(|| closest(&shape));
        let lever = rotation * self.lever;
        let frame = Frame { rotation: rotation * self.turn, centre: middle + lever };
        (Hinge { rotation, inverse, lever }, frame)
    }

    /// Adds a wrench, force and torque at the domain's centre, to the forces on the parent's Q.
    pub(super) fn react(&self, hinge: &Hinge, wrench: &Vector6<f64>, parent: &mut [f64]) {
        let force = Vector3::new(wrench[0], wrench[1], wrench[2]);
        let torque = Vector3::new(wrench[3], wrench[4], wrench[5]) + hinge.lever.cross(&force);
        let work = hinge.rotation * (hinge.inverse * hinge.rotation.transpose() * torque).cross_matrix();
        let s = self.mean.len();
        for row in 0..3 {
            let [x, y, z] = self.spread.each_ref().map(|column| &column[..s]);
            for (f, out) in parent[row * s..][..s].iter_mut().enumerate() {
                let turning = work[(row, 0)] * x[f] + work[(row, 1)] * y[f] + work[(row, 2)] * z[f];
                *out += force[row] * self.mean[f] + turning;
            }
        }
    }

    /// Derivative of the domain's frame, centre and rotation, by a coordinate of the parent with rotation
    /// `frame`.
    pub(super) fn rate(&self, hinge: &Hinge, frame: &Matrix3<f64>, coordinate: usize) -> Vector6<f64> {
        let first = RIGID + 3 * coordinate;
        let moved = frame * Vector3::new(self.mean[first], self.mean[first + 1], self.mean[first + 2]);
        let spread = Matrix3::from_fn(|row, axis| self.spread[axis][first + row]);
        let changed = hinge.rotation.transpose() * frame * spread;
        let turned = hinge.rotation * (hinge.inverse * twist(&changed));
        let moved = moved + turned.cross(&hinge.lever);
        Vector6::new(moved.x, moved.y, moved.z, turned.x, turned.y, turned.z)
    }
}

/// Polar factor R of `A = R S`, and `K^-1`, by Newton's method on tr(R'A) from a nearby rotation. R is
/// optimal wherever K is definite. `None` without convergence.
fn nearby(shape: &Matrix3<f64>, mut rotation: Matrix3<f64>) -> Option<(Matrix3<f64>, Matrix3<f64>)> {
    for _ in 0..NEWTON_STEPS {
        let stretch = rotation.transpose() * shape;
        let even = 0.5 * (stretch + stretch.transpose());
        let k = even.trace() * Matrix3::identity() - even;
        let definite =
            k[(0, 0)] > 0.0 && k.fixed_view::<2, 2>(0, 0).determinant() > 0.0 && k.determinant() > 0.0;
        let inverse = k.try_inverse().filter(|_| definite)?;
        let turn = inverse * twist(&stretch);
        // The Cayley transform agrees with the rotation by these angles up to third order.
        let half = 0.5 * turn.cross_matrix();
        rotation += rotation * (half + half * half) * (2.0 / (1.0 + 0.25 * turn.norm_squared()));
        if turn.norm() < TURNED {
            return Some((rotation, inverse));
        }
    }
    None
}

/// The same by a singular value decomposition.
fn closest(shape: &Matrix3<f64>) -> (Matrix3<f64>, Matrix3<f64>) {
    let SignedSvd { u, sigma, v } = SignedSvd::new(shape);
    let least = TOLD * sigma.amax();
    let rates = (sigma.sum() * Vector3::repeat(1.0) - sigma).map(|gap| 1.0 / gap.max(least));
    (u * v.transpose(), v * Matrix3::from_diagonal(&rates) * v.transpose())
}

/// vex(W - W').
fn twist(w: &Matrix3<f64>) -> Vector3<f64> {
    Vector3::new(w[(2, 1)] - w[(1, 2)], w[(0, 2)] - w[(2, 0)], w[(1, 0)] - w[(0, 1)])
}

/// `true` if the second moments belong to vertices that span a plane.
fn spans(moments: &Matrix3<f64>) -> bool {
    let mut widths: [f64; 3] = moments.symmetric_eigenvalues().into();
    widths.sort_by(f64::total_cmp);
    widths[1] > THINNEST * widths[2]
}

/// Mean of points and largest distance from the mean.
fn ball(points: &[Vector3<f64>]) -> (Vector3<f64>, f64) {
    let mean = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
    (mean, points.iter().map(|point| (point - mean).norm()).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use nalgebra::Rotation3;

    use super::*;

    const STEP: f64 = 1e-5;

    /// Pseudo-random numbers.
    fn some(seed: usize) -> f64 {
        (1.7 * seed as f64 + 0.3 * (seed * seed) as f64).sin()
    }

    /// An interface, planar or not, of a parent with two coordinates, and the parent's frame and
    /// coordinates.
    fn made(flat: bool) -> (Interface, Matrix3<f64>, [f64; 2]) {
        let vector = |seed: usize| Vector3::from_fn(|c, _| some(3 * seed + c));
        let points: Vec<Vector3<f64>> =
            (0..7).map(vector).map(|x| if flat { Vector3::new(x.x, x.y, 0.2) } else { x }).collect();
        let middle = points.iter().sum::<Vector3<f64>>() / 7.0;
        let function = |v: usize, f: usize| match f {
            0 => 1.0,
            1..RIGID => points[v][f - 1],
            _ => 0.4 * some(100 + 10 * f + v),
        };
        let mean: Vec<f64> = (0..RIGID + 6).map(|f| (0..7).map(|v| function(v, f) / 7.0).sum()).collect();
        let part =
            |v: usize, f: usize, axis: usize| (function(v, f) - mean[f]) * (points[v] - middle)[axis] / 7.0;
        let column = |axis: usize| (0..mean.len()).map(|f| (0..7).map(|v| part(v, f, axis)).sum()).collect();
        let spread = [0, 1, 2].map(column);
        let turn = Rotation3::from_scaled_axis(Vector3::new(0.3, 0.1, -0.4)).into_inner();
        let interface = Interface { parent: 0, mean, spread, lever: Vector3::new(0.3, -0.2, 0.5), turn };
        let rotation = Rotation3::from_scaled_axis(Vector3::new(-0.5, 0.8, 1.1)).into_inner();
        (interface, rotation, [0.7, -0.4])
    }

    fn placed(rotation: Matrix3<f64>, y: [f64; 2]) -> Vec<f64> {
        let mut q = vec![0.0; 3 * (RIGID + 6)];
        Frame { rotation, centre: Vector3::new(0.1, 0.2, 0.3) }.place(&y, &mut q);
        q
    }

    /// Difference of two frames, centre and rotation.
    fn change(from: &Frame, to: &Frame) -> Vector6<f64> {
        // Sine of the angle times the axis.
        let turned = 0.5 * twist(&(to.rotation * from.rotation.transpose()));
        let moved = to.centre - from.centre;
        Vector6::new(moved.x, moved.y, moved.z, turned.x, turned.y, turned.z)
    }

    #[test]
    fn a_frame_turns_at_the_rate_of_differences() {
        for flat in [false, true] {
            let (interface, rotation, y) = made(flat);
            let (hinge, _) = interface.follow(&placed(rotation, y), rotation);
            for coordinate in 0..2 {
                let at = |by: f64| {
                    let mut moved = y;
                    moved[coordinate] += by;
                    interface.follow(&placed(rotation, moved), rotation).1
                };
                let differences = change(&at(-STEP), &at(STEP)) / (2.0 * STEP);
                let rate = interface.rate(&hinge, &rotation, coordinate);
                assert!(rate.norm() > 0.1, "it does move");
                assert!((rate - differences).norm() < 1e-8 * rate.norm(), "{rate} {differences}");
            }
        }
    }

    #[test]
    fn both_ways_to_a_rotation_agree() {
        for flat in [false, true] {
            let (interface, rotation, y) = made(flat);
            let q = placed(rotation, y);
            let shape = Matrix3::from_fn(|row, c| {
                (0..RIGID + 6).map(|f| q[row * (RIGID + 6) + f] * interface.spread[c][f]).sum()
            });
            let (far, rates) = closest(&shape);
            let (near, others) = nearby(&shape, rotation).unwrap();
            assert!((near - far).norm() < 1e-12 && (rates - others).norm() < 1e-9 * rates.norm());
        }
    }

    #[test]
    fn what_works_on_a_frame_works_on_its_parent_through_the_transpose() {
        for flat in [false, true] {
            let (interface, rotation, y) = made(flat);
            let q = placed(rotation, y);
            let (hinge, _) = interface.follow(&q, rotation);
            let wrench = Vector6::from_fn(|i, _| some(i + 40));
            let mut works = vec![0.0; q.len()];
            interface.react(&hinge, &wrench, &mut works);
            for entry in 0..q.len() {
                let at = |by: f64| {
                    let mut moved = q.clone();
                    moved[entry] += by;
                    interface.follow(&moved, rotation).1
                };
                let work = wrench.dot(&change(&at(-STEP), &at(STEP))) / (2.0 * STEP);
                assert!((works[entry] - work).abs() < 1e-8, "{entry}: {} {work}", works[entry]);
            }
        }
    }
}
