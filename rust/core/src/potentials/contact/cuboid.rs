//! Distance and normal of a box.

use nalgebra::Vector3;

/// Distance and normal of a box about the origin.
pub(super) fn of_box(point: &Vector3<f64>, half: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let sign = point.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
    let beyond = point.abs() - half;
    let outside = beyond.map(|x| x.max(0.0));
    if outside.norm_squared() > 0.0 {
        return (outside.norm(), direction(outside).component_mul(&sign));
    }
    let axis = beyond.imax();
    (beyond[axis], Vector3::ith(axis, sign[axis]))
}

/// The normalised vector; up for a zero vector.
pub(super) fn direction(vector: Vector3<f64>) -> Vector3<f64> {
    let length = vector.norm();
    if length > 0.0 { vector / length } else { Vector3::z() }
}
