//! Overlap test of a triangle with an axis-aligned box.

use nalgebra::Vector3;

/// Enlargement of boxes on each side, in cells, against gaps by rounding; boxes are closed.
pub(super) const MARGIN: f64 = 1e-9;

/// A triangle prepared for many exact tests against small boxes.
///
/// The separating-axis test split as in [Schwarz and Seidel 2010]: bounding boxes, the triangle's plane, and
/// the three edges in each of the three axis-aligned projections. Segments and points pass as thin triangles.
pub(super) struct TriangleOverlap {
    low: Vector3<f64>,
    high: Vector3<f64>,
    corner: Vector3<f64>,
    normal: Vector3<f64>,
    /// For each projection axis and edge: inward normal in the two other axes, and its value on the edge.
    edges: [[[f64; 3]; 3]; 3],
}

impl TriangleOverlap {
    pub(super) fn new(corners: [Vector3<f64>; 3]) -> Self {
        let [a, b, c] = corners;
        let normal = (b - a).cross(&(c - a));
        let edges = std::array::from_fn(|axis| {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let sign = if normal[axis] < 0.0 { -1.0 } else { 1.0 };
            std::array::from_fn(|side| {
                let (from, to) = (corners[side], corners[(side + 1) % 3]);
                let inward = [sign * (from[v] - to[v]), sign * (to[u] - from[u])];
                [inward[0], inward[1], inward[0] * from[u] + inward[1] * from[v]]
            })
        });
        Self { low: a.inf(&b).inf(&c), high: a.sup(&b).sup(&c), corner: a, normal, edges }
    }

    /// The triangle's bounding box.
    pub(super) fn bounds(&self) -> (Vector3<f64>, Vector3<f64>) {
        (self.low, self.high)
    }

    /// `true` if the triangle touches the box `centre - half ..= centre + half`, widened by [`MARGIN`].
    pub(super) fn touches(&self, centre: Vector3<f64>, half: Vector3<f64>) -> bool {
        let half = half.add_scalar(MARGIN);
        let boxes = (0..3).all(|a| self.low[a] <= centre[a] + half[a] && self.high[a] >= centre[a] - half[a]);
        boxes
            && self.normal.dot(&(centre - self.corner)).abs() <= self.normal.abs().dot(&half)
            && self.edges.iter().enumerate().all(|(axis, edges)| {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                edges.iter().all(|&[nu, nv, on_edge]| {
                    nu * centre[u] + nv * centre[v] + nu.abs() * half[u] + nv.abs() * half[v] >= on_edge
                })
            })
    }
}
