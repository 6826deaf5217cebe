//! Where a moving point meets a shape.

use nalgebra::Vector3;

use super::shape::Shape;

/// Most steps along a path: each goes as far as the distance allows.
const STEPS: u32 = 256;
/// Shortest step, as a share of the path.
const SHORTEST: f64 = 1e-4;

/// A point on its way, in a collider's own space.
pub(crate) struct Path {
    /// At the start of the substep.
    pub(crate) start: Vector3<f64>,
    pub(crate) here: Vector3<f64>,
    /// Where it would go next.
    pub(crate) ahead: Vector3<f64>,
}

/// The tangent plane, a normal and a place, at which a point on its way meets a shape, or has met it; `None` where it
/// comes no nearer than `margin`.
///
/// A point is outside, or so little inside that it rests on the surface, or deep inside, where only the nearest way out
/// is known. One that came from outside meets the side that it came to first, if by now another is nearer.
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

/// The first place of a path at which it is not outside, with the normal there.
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
