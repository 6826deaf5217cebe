//! Contact of a moving point with a shape.

use nalgebra::Vector3;

use super::shape::Shape;

/// Most sphere-tracing steps along a path.
const STEPS: u32 = 256;
/// Shortest step, as a share of the path.
const SHORTEST: f64 = 1e-4;
/// Smallest cosine between the side of a point's entry and the nearest side for the nearest one to count as
/// the same: beyond it the nearest way out of a narrow shape is beside the point's own.
pub(super) const SAME_SIDE: f64 = 0.5;

/// Tangent plane of a contact: an outward normal and a place.
pub(crate) type Plane = (Vector3<f64>, Vector3<f64>);

/// A moving point in a collider's own space.
pub(crate) struct Path {
    /// Side of the contact at the end of the last substep, if any.
    pub(crate) side: Option<Vector3<f64>>,
    /// At the start of the substep.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Next position.
    pub(crate) ahead: Vector3<f64>,
}

/// Plane of a point's past or future contact with a shape; `None` if the point stays farther than `margin`.
///
/// A point may be outside, slightly inside and resting on the surface, or deep inside. A point that came
/// from outside meets the side of its entry, even if another side is nearer now; one that starts deep inside
/// meets the side of its last contact. Without one it has only the nearest way out.
pub(crate) fn meet(shape: &Shape, path: &Path, margin: f64) -> Option<Plane> {
    if let Some((entered, place)) = side_of_entry(shape, path, margin)
        && entered.dot(&shape.nearest(&path.here).1) < SAME_SIDE
        && entered.dot(&(path.here - place)) < 0.0
    {
        return Some((entered, place));
    }
    meet_nearest(shape, path, margin)
}

/// The same for a point that has not entered the shape in this substep.
pub(super) fn meet_nearest(shape: &Shape, path: &Path, margin: f64) -> Option<Plane> {
    let (distance, normal) = shape.nearest(&path.here);
    if distance <= margin {
        return Some((normal, path.here - distance * normal));
    }
    if distance > (path.ahead - path.here).norm() {
        return None;
    }
    entry(shape, &path.here, &path.ahead)
}

/// Side and place of the entry of a point, after a way longer than its distance.
pub(super) fn side_of_entry(shape: &Shape, path: &Path, margin: f64) -> Option<Plane> {
    let (before, side) = shape.nearest(&path.start);
    if (path.here - path.start).norm() <= before {
        return None;
    }
    match path.side {
        _ if before > 0.0 => entry(shape, &path.start, &path.here),
        Some(side) => exit(shape, &path.start, &side).map(|place| (side, place)),
        None if before > -margin => Some((side, path.start - before * side)),
        None => None,
    }
}

/// Normal and place where a path first is not outside.
pub(super) fn entry(shape: &Shape, from: &Vector3<f64>, to: &Vector3<f64>) -> Option<Plane> {
    let length = (to - from).norm();
    let mut share = 0.0;
    for _ in 0..STEPS {
        let place = from + share * (to - from);
        let (distance, normal) = shape.nearest(&place);
        if distance <= SHORTEST * length {
            return Some((normal, place - distance * normal));
        }
        if share >= 1.0 {
            return None;
        }
        share = (share + distance / length).min(1.0);
    }
    None
}

/// First place on the surface along a direction from inside.
pub(super) fn exit(shape: &Shape, from: &Vector3<f64>, along: &Vector3<f64>) -> Option<Vector3<f64>> {
    let mut place = *from;
    let shortest = SHORTEST * shape.nearest(from).0.abs();
    for _ in 0..STEPS {
        let distance = shape.nearest(&place).0;
        if distance >= -shortest {
            return Some(place);
        }
        place -= distance * along;
    }
    None
}
