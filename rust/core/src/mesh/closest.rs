//! Nearest point on a surface, and on a single triangle.

use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
    query::PointQueryWithLocation,
    shape::{Triangle, TrianglePointLocation},
};

use super::{SurfaceMesh, tet_mesh::check_points};
use crate::parallel::*;
use crate::{Error, Result};

/// The point of a surface nearest to a query.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoint {
    /// Triangle of the point.
    pub triangle: u32,
    /// Weights of the triangle's corners, in [0, 1], summing to 1.
    pub barycentric: [f64; 3],
    /// Distance from the query, metres.
    pub distance: f64,
}

/// Nearest point of the surface for each query.
///
/// One of several nearest points is chosen, always the same. Triangles without area count as segments.
///
/// # Errors
/// Names the first query that is not finite.
pub fn closest_points(surface: &SurfaceMesh, queries: &[[f64; 3]]) -> Result<Vec<ClosestPoint>> {
    if queries.is_empty() {
        return Ok(Vec::new());
    }
    TriangleTree::new(surface).closest(queries)
}

/// A tree of the boxes around the triangles of a surface.
pub(crate) struct TriangleTree<'a> {
    surface: &'a SurfaceMesh,
    tree: Bvh,
}

impl<'a> TriangleTree<'a> {
    pub(crate) fn new(surface: &'a SurfaceMesh) -> Self {
        let count = surface.triangles().len() as u32;
        let boxes: Vec<Aabb> = (0..count).map(|t| bounding_box(&corners(surface, t))).collect();
        Self { surface, tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// Nearest point of the surface for each query; see [`closest_points`].
    pub(crate) fn closest(&self, queries: &[[f64; 3]]) -> Result<Vec<ClosestPoint>> {
        check_points("queries", queries)?;
        let closest = |&query: &[f64; 3]| {
            let (triangle, (distance, barycentric)) =
                nearest_leaf(&self.tree, query, |t| on_triangle(corners(self.surface, t), query))?;
            Ok(ClosestPoint { triangle, barycentric, distance })
        };
        queries.par_iter().map(closest).collect()
    }
}

fn corners(surface: &SurfaceMesh, triangle: u32) -> [[f64; 3]; 3] {
    surface.triangles()[triangle as usize].map(|vertex| surface.points()[vertex as usize])
}

/// Nearest leaf of a tree of boxes; `measure` gives distance and weights in a leaf.
pub(super) fn nearest_leaf<const N: usize>(
    tree: &Bvh,
    query: [f64; 3],
    measure: impl Fn(u32) -> (f64, [f64; N]),
) -> Result<(u32, (f64, [f64; N]))> {
    let point = Vector::from(query);
    let to_box = |node: &BvhNode, _best: f64| {
        let outside = (node.mins() - point).max(point - node.maxs()).max(Vector::ZERO);
        outside.length()
    };
    tree.find_best(f64::MAX, to_box, |leaf, _best| Some(measure(leaf))).ok_or_else(|| Error::Numerical {
        what: "the search for the nearest element",
        why: "distances overflow".to_owned(),
    })
}

/// Distance from a point to a triangle, and the weights of the corners at the nearest point.
pub(super) fn on_triangle(corners: [[f64; 3]; 3], query: [f64; 3]) -> (f64, [f64; 3]) {
    // Relative to the query, to keep precision far from the origin.
    let [a, b, c] = corners.map(|corner| Vector::from(corner) - Vector::from(query));
    let location = Triangle::new(a, b, c).project_local_point_and_get_location(Vector::ZERO, true).1;
    let weights = match location {
        TrianglePointLocation::OnVertex(i) => {
            std::array::from_fn(|j| if j == i as usize { 1.0 } else { 0.0 })
        }
        TrianglePointLocation::OnEdge(0, [s, t]) => [s, t, 0.0],
        TrianglePointLocation::OnEdge(1, [s, t]) => [0.0, s, t],
        TrianglePointLocation::OnEdge(_, [s, t]) => [s, 0.0, t],
        TrianglePointLocation::OnFace(_, weights) => weights,
        TrianglePointLocation::OnSolid => [1.0 / 3.0; 3],
    };
    let nearest = a * weights[0] + b * weights[1] + c * weights[2];
    (nearest.length(), weights)
}

/// The axis-aligned box around some points.
pub(super) fn bounding_box(points: &[[f64; 3]]) -> Aabb {
    let (low, high) = super::bounds(points);
    Aabb::new(low.into(), high.into())
}
