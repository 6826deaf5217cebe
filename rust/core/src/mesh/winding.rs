//! Generalised winding numbers of triangle soups, evaluated hierarchically.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::{SurfaceMesh, orientation::oriented_triangles};

/// Largest number of triangles of a leaf.
const LEAF: usize = 4;

/// Smallest distance, in radii, of a cluster summed as a whole.
const FAR: f64 = 3.0;

/// Winding number of a surface around a point: the number of times the surface encloses it.
///
/// ```text
/// w(p) = 1 / (4 pi) sum_t Omega_t(p)
/// ```
/// with `Omega_t` the signed solid angle of triangle t. The number is 1 inside a closed surface and 0
/// outside. For an open surface it falls smoothly from 1 to 0 through the holes, and `w >= 1/2` is a
/// sensible inside. Parts are oriented outwards first. Distant clusters of triangles are replaced by the
/// first two terms of their expansion about the area centroid. Source:
/// [Barill et al. 2018, Fast Winding Numbers for Soups and Clouds]; solid angles by
/// [Van Oosterom and Strackee 1983].
#[derive(Debug)]
pub struct WindingNumber {
    /// Nodes in preorder: a node's first child follows directly.
    nodes: Vec<Node>,
    triangles: Vec<[Vector3<f64>; 3]>,
}

#[derive(Debug)]
struct Node {
    centre: Vector3<f64>,
    /// Squared distance from which on the expansion is used.
    far: f64,
    /// `sum_t a_t n_t`, the vector area.
    dipole: Vector3<f64>,
    /// `sum_t a_t (c_t - centre) n_t'`.
    gradient: Matrix3<f64>,
    /// The triangles of a leaf; empty for other nodes.
    leaf: std::ops::Range<u32>,
    /// The node after all descendants.
    next: u32,
}

impl WindingNumber {
    /// Orients the surface and builds the tree.
    pub fn new(surface: &SurfaceMesh) -> Self {
        let mut triangles = oriented_triangles(surface);
        let mut nodes = Vec::with_capacity(triangles.len());
        build(&mut triangles, 0, &mut nodes);
        Self { nodes, triangles }
    }

    /// Triangles of the surface, those of parts with an inside oriented outwards.
    pub(super) fn triangles(&self) -> &[[Vector3<f64>; 3]] {
        &self.triangles
    }

    /// Winding number around a point.
    ///
    /// Within a few hundredths of the exact value.
    pub fn at(&self, point: [f64; 3]) -> f64 {
        let point = Vector3::from(point);
        let (mut sum, mut i) = (0.0, 0);
        while let Some(node) = self.nodes.get(i) {
            let to = node.centre - point;
            let squared = to.norm_squared();
            if squared > node.far {
                sum += node.expansion(to, squared);
                i = node.next as usize;
            } else {
                let leaf = &self.triangles[node.leaf.start as usize..node.leaf.end as usize];
                sum += leaf.iter().map(|corners| solid_angle(corners, point)).sum::<f64>();
                i += 1;
            }
        }
        sum / (4.0 * PI)
    }
}

impl Node {
    fn new(triangles: &[[Vector3<f64>; 3]], leaf: std::ops::Range<u32>) -> Self {
        let (mut area, mut moment, mut dipole) = (0.0, Vector3::zeros(), Vector3::zeros());
        for corners in triangles {
            let normal = vector_area(corners);
            area += normal.norm();
            moment += centroid(corners) * normal.norm();
            dipole += normal;
        }
        let centre = if area > 0.0 { moment / area } else { triangles.first().map_or(moment, centroid) };
        let gradient = triangles
            .iter()
            .map(|c| (centroid(c) - centre) * vector_area(c).transpose())
            .sum::<Matrix3<f64>>();
        let radius = triangles.iter().flatten().map(|p| (p - centre).norm_squared()).fold(0.0, f64::max);
        Self { centre, far: FAR * FAR * radius, dipole, gradient, leaf, next: 0 }
    }

    /// Solid angle of the node's triangles in the direction `to` its centre, by two terms of the expansion.
    fn expansion(&self, to: Vector3<f64>, squared: f64) -> f64 {
        let inverse_cube = 1.0 / (squared * squared.sqrt());
        let quadratic = to.dot(&(self.gradient * to));
        inverse_cube * (self.dipole.dot(&to) + self.gradient.trace() - 3.0 * quadratic / squared)
    }
}

/// Appends the tree over `triangles`, which start at `first` in the complete list and are sorted into its
/// order.
fn build(triangles: &mut [[Vector3<f64>; 3]], first: u32, nodes: &mut Vec<Node>) {
    let id = nodes.len();
    let is_leaf = triangles.len() <= LEAF;
    let end = if is_leaf { first + triangles.len() as u32 } else { first };
    nodes.push(Node::new(triangles, first..end));
    if !is_leaf {
        let axis = longest_axis(triangles);
        let half = triangles.len() / 2;
        triangles.select_nth_unstable_by(half, |a, b| centroid(a)[axis].total_cmp(&centroid(b)[axis]));
        let (low, high) = triangles.split_at_mut(half);
        build(low, first, nodes);
        build(high, first + half as u32, nodes);
    }
    nodes[id].next = nodes.len() as u32;
}

fn longest_axis(triangles: &[[Vector3<f64>; 3]]) -> usize {
    let start = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    let (low, high) =
        triangles.iter().map(centroid).fold(start, |(low, high), c| (low.inf(&c), high.sup(&c)));
    (high - low).imax()
}

fn centroid(corners: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (corners[0] + corners[1] + corners[2]) / 3.0
}

fn vector_area([a, b, c]: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (b - a).cross(&(c - a)) / 2.0
}

fn solid_angle(corners: &[Vector3<f64>; 3], point: Vector3<f64>) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let height = a.dot(&b.cross(&c));
    2.0 * height.atan2(la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb)
}
