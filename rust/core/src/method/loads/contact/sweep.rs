//! Contact of a moving point with a shape.

use nalgebra::Vector3;

use super::shape::Shape;

/// Most sphere-tracing steps along a path.
const STEPS: u32 = 256;
/// Shortest step, as a share of the path.
const SHORTEST: f64 = 1e-4;

/// A moving point in a collider's own space.
pub(crate) struct Path {
    /// At the start of the substep.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Next position.
    pub(crate) ahead: Vector3<f64>,
}

/// Tangent plane, a normal and a place, of a point's past or future contact with a shape; `None` if the
/// point stays farther than `margin`.
///
/// A point may be outside, slightly inside and resting on the surface, or deep inside with only the nearest
/// way out known. A point that came from outside meets the side of its entry, even if another side is
/// nearer now.
pub(crate) fn meet(shape: &Shape, path: &Path, margin: f64) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let (distance, normal) = shape.nearest(&path.here);
    let (before, side) = shape.nearest(&path.start);
    if (path.here - path.start).norm() > before && before > -margin {
        let entered =
            if before > 0.0 { entry(shape, &path.start, &path.here) } else { Some((path.start, side)) };
        if let Some((place, entered)) = entered
            && entered.dot(&normal) < 0.0
            && entered.dot(&(path.here - place)) < 0.0
        {
            return Some((entered, place));
        }
    }
    if distance <= margin {
        return Some((normal, path.here - distance * normal));
    }
    if distance > (path.ahead - path.here).norm() {
        return None;
    }
    entry(shape, &path.here, &path.ahead).map(|(place, normal)| (normal, place))
}

/// First place of a path that is not outside, with its normal.
fn entry(shape: &Shape, from: &Vector3<f64>, to: &Vector3<f64>) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let length = (to - from).norm();
    let mut share = 0.0;
    for _ in 0..STEPS {
        let place = from + share * (to - from);
        let (distance, normal) = shape.nearest(&place);
        if distance <= SHORTEST * length {
            return Some((place - distance * normal, normal));
        }
        if share >= 1.0 {
            return None;
        }
        share = (share + distance / length).min(1.0);
    }
    None
}
