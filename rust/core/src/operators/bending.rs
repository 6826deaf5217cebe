//! Bending of a surface without volume: mean curvature vectors with preserved length and side.

use std::collections::HashMap;

use faer::sparse::Triplet;
use nalgebra::Vector3;

use super::Membrane;
use super::membrane::Piece;
use crate::math::rows::Rows;
use crate::mesh::SurfaceMesh;

/// Smallest length of a curvature vector beyond rounding, relative to the sum of its terms' lengths.
const ROUNDING: f64 = 1e-9;
/// Smallest length of a curvature vector with a direction, relative to its rest length. `[HRPD]`
const SMALL: f64 = 1e-5;
/// Share of a curvature vector's rest length along the normal required to assign the vector to a side of
/// the surface.
const SIDED: f64 = 0.5;

/// Bending energy of the interior vertices of a surface: `sum_i D_i A_i / 2 |k_i - p(k_i)|^2`, with the
/// plate stiffness `D = E t^3 / 12 (1 - n^2)`, n Poisson's ratio.
///
/// ```text
/// k_i = 1 / A_i sum_j (cot a_ij + cot b_ij) / 2 (x_i - x_j)
/// ```
/// is the normal times the sum of the principal curvatures, 1/m, with the rest angles opposite to the edge
/// and the mixed Voronoi area `A_i`. p scales k to its rest length, and flips k if it is on the other side
/// of the surface than at rest. A vanishing k is replaced by the normal, and on a surface collapsed to a
/// point or a line, which has no normal, by the rest vector. Vertices on a border, of edges with more than
/// two triangles and of triangles without area have no bending energy. `[PD section 5.2] [HRPD appendix A]`
#[derive(Debug, Clone)]
pub struct Bending {
    bent: Vec<Bent>,
    /// Neighbours with `(cot a + cot b) / (2 A)`, 1/m^2.
    starts: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    /// Sum of `D A (sum_j |x_i - x_j| l_ij)^2`, J.
    scale: f64,
}

/// An interior vertex.
#[derive(Debug, Clone)]
struct Bent {
    vertex: u32,
    /// `D A`, N m^3.
    weight: f64,
    /// k at rest, 1/m, and its length; 0 for a flat surface.
    rest: Vector3<f64>,
    length: f64,
    /// `true` if k points along the normal, and `true` if k has to keep its side.
    outward: bool,
    sided: bool,
}

/// Contributions of the triangles around a vertex.
#[derive(Default)]
struct Star {
    /// Half the sum of cotangents to each neighbour, and number of triangles at the edge.
    edges: HashMap<u32, (f64, u32)>,
    /// Edges opposite to the vertex.
    link: Vec<[u32; 2]>,
    area: f64,
    /// `D A`.
    weight: f64,
}

impl Bending {
    /// Bending of a surface with its membrane and a thickness in metres; `factor` is the stiffness relative
    /// to a plate of this thickness.
    pub fn new(surface: &SurfaceMesh, membrane: &Membrane, thickness: f64, factor: f64) -> Self {
        let points = surface.points();
        let stars = stars(surface, membrane, factor * thickness.powi(3) / 12.0);
        let mut normals = vec![[0.0; 3]; points.len()];
        membrane.normals(points, &mut normals);
        let mut bending = Self { bent: Vec::new(), starts: vec![0], neighbours: Vec::new(), scale: 0.0 };
        for (vertex, star) in stars.iter().enumerate().filter(|(_, star)| star.is_within()) {
            let mut edges: Vec<(u32, f64)> =
                star.edges.iter().map(|(&other, (half, _))| (other, half / star.area)).collect();
            edges.sort_unstable_by_key(|edge| edge.0);
            let (k, size) = curvature(points, vertex, &edges);
            let along = k.dot(&Vector3::from(normals[vertex]).try_normalize(0.0).unwrap_or_default());
            let length = k.norm();
            bending.bent.push(Bent {
                vertex: vertex as u32,
                weight: star.weight,
                rest: k,
                length: if length > ROUNDING * size { length } else { 0.0 },
                outward: along >= 0.0,
                sided: along.abs() > SIDED * length,
            });
            bending.scale += star.weight * size * size;
            bending.neighbours.extend(edges);
            bending.starts.push(bending.neighbours.len());
        }
        bending
    }

    /// Number of vertices with bending energy.
    pub fn len(&self) -> usize {
        self.bent.len()
    }

    /// `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.bent.is_empty()
    }

    /// Magnitude of the terms that cancel in the energy, J.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    fn iter(&self) -> impl Iterator<Item = (&Bent, &[(u32, f64)])> {
        self.bent
            .iter()
            .zip(self.starts.windows(2))
            .map(|(bent, ends)| (bent, &self.neighbours[ends[0]..ends[1]]))
    }

    /// `sum_i D_i A_i l_i l_i'`, n x n, N/m: the second derivative along each axis with fixed projections.
    pub(crate) fn stiffness(&self) -> impl Iterator<Item = Triplet<u32, u32, f64>> {
        self.iter().flat_map(|(bent, edges)| {
            let own: f64 = edges.iter().map(|edge| edge.1).sum();
            let row: Vec<(u32, f64)> =
                edges.iter().map(|&(other, l)| (other, -l)).chain([(bent.vertex, own)]).collect();
            let products = |&(i, a): &(u32, f64)| row.iter().map(move |&(j, b)| (i, j, a * b));
            let all: Vec<_> = row.iter().flat_map(products).collect();
            all.into_iter().map(|(i, j, ab)| Triplet::new(i, j, bent.weight * ab))
        })
    }

    /// Energy of positions, n x 3, with a vector along the normal at each; adds the gradient.
    pub fn evaluate(&self, x: &Rows, normals: &Rows, gradient: &mut Rows) -> f64 {
        let mut energy = 0.0;
        for (bent, edges) in self.iter() {
            let vertex = bent.vertex as usize;
            let (k, _) = curvature(x, vertex, edges);
            let apart = k - bent.projected(&k, &Vector3::from(normals[vertex]));
            energy += 0.5 * bent.weight * apart.norm_squared();
            for &(other, l) in edges {
                let pull = apart * (bent.weight * l);
                for c in 0..3 {
                    gradient[vertex][c] += pull[c];
                    gradient[other as usize][c] -= pull[c];
                }
            }
        }
        energy
    }
}

impl Bent {
    /// The vector of rest length nearest to k, or to its opposite on the other side.
    fn projected(&self, k: &Vector3<f64>, normal: &Vector3<f64>) -> Vector3<f64> {
        if self.length == 0.0 {
            return Vector3::zeros();
        }
        let (length, outward) = (k.norm(), if self.outward { 1.0 } else { -1.0 });
        if length <= SMALL * self.length {
            let along = normal.try_normalize(0.0).map(|normal| normal * (outward * self.length));
            return along.unwrap_or(self.rest);
        }
        let turned = self.sided && outward * k.dot(normal) < 0.0;
        k * (if turned { -self.length } else { self.length } / length)
    }
}

impl Star {
    /// `true` if the triangles surround the vertex once, and have area.
    fn is_within(&self) -> bool {
        if self.link.is_empty() || self.edges.values().any(|(_, count)| *count != 2) {
            return false;
        }
        // Each neighbour has two edges of the link, which consists of cycles: of one, if a walk along it
        // meets all.
        let (mut at, mut from) = (self.link[0][1], 0);
        let mut met = 1;
        while at != self.link[0][0] {
            let next = (0..self.link.len()).find(|&edge| edge != from && self.link[edge].contains(&at));
            let Some(next) = next else { return false };
            at = if self.link[next][0] == at { self.link[next][1] } else { self.link[next][0] };
            (from, met) = (next, met + 1);
        }
        met == self.link.len()
    }
}

/// `sum_j l_ij (x_i - x_j)`, and the sum of its terms' lengths.
fn curvature(x: &Rows, vertex: usize, edges: &[(u32, f64)]) -> (Vector3<f64>, f64) {
    let own = Vector3::from(x[vertex]);
    edges.iter().fold((Vector3::zeros(), 0.0), |(sum, size), &(other, l)| {
        let part = (own - Vector3::from(x[other as usize])) * l;
        (sum + part, size + part.norm())
    })
}

/// Surroundings of each vertex; `plate` is `factor t^3 / 12`. Empty around triangles without area.
fn stars(surface: &SurfaceMesh, membrane: &Membrane, plate: f64) -> Vec<Star> {
    let mut stars: Vec<Star> = surface.points().iter().map(|_| Star::default()).collect();
    for piece in membrane.pieces() {
        let places = piece.corners.map(|v| Vector3::from(surface.points()[v as usize]));
        let cotangents = [0, 1, 2].map(|i: usize| cotangent(&places, i, piece));
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let star = &mut stars[piece.corners[i] as usize];
            for (other, opposite) in [(j, k), (k, j)] {
                let edge = star.edges.entry(piece.corners[other]).or_default();
                *edge = (edge.0 + 0.5 * cotangents[opposite], edge.1 + 1);
            }
            star.link.push([piece.corners[j], piece.corners[k]]);
            let area = share(&places, &cotangents, i, piece.area);
            star.area += area;
            star.weight += piece.modulus * (1.0 + piece.aside) * plate * area;
        }
    }
    let mut covered = vec![0_u32; stars.len()];
    surface.triangles().as_flattened().iter().for_each(|&v| covered[v as usize] += 1);
    for (star, covered) in stars.iter_mut().zip(covered) {
        if star.link.len() != covered as usize {
            *star = Star::default();
        }
    }
    stars
}

/// Cotangent of the angle at a corner.
fn cotangent(places: &[Vector3<f64>; 3], corner: usize, piece: &Piece) -> f64 {
    let [a, b] = [1, 2].map(|turn| places[(corner + turn) % 3] - places[corner]);
    a.dot(&b) / (2.0 * piece.area)
}

/// Area of a triangle nearest to a corner; in an obtuse triangle half for the obtuse corner and a quarter
/// for each other. Never negative.
fn share(places: &[Vector3<f64>; 3], cotangents: &[f64; 3], corner: usize, area: f64) -> f64 {
    if let Some(obtuse) = cotangents.iter().position(|&cotangent| cotangent < 0.0) {
        return if obtuse == corner { area / 2.0 } else { area / 4.0 };
    }
    let part = |other: usize, opposite: usize| {
        cotangents[opposite] * (places[other] - places[corner]).norm_squared() / 8.0
    };
    let (j, k) = ((corner + 1) % 3, (corner + 2) % 3);
    part(j, k) + part(k, j)
}
