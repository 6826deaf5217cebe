//! Bounding spheres for parts of a body in a displacement basis, updated from its coordinates `[JamesPai]`.

use faer::MatRef;
use nalgebra::Vector3;

use crate::mesh::halves;

/// Largest number of vertices of a leaf.
const LEAF: usize = 8;
/// Relative margin added to radii against rounding, as a share of the sphere's size and distance.
const ROUNDING: f64 = 1e-12;

/// A sphere that contains all vertices of a part.
#[derive(Debug, Clone, Copy)]
pub struct Sphere {
    /// Centre, metres.
    pub centre: Vector3<f64>,
    /// Radius, metres.
    pub radius: f64,
}

/// A part of a body.
struct Part {
    /// Range of the part's vertices in the tree's order.
    first: usize,
    end: usize,
    /// Mean of the part's rest positions, and their largest distance from it.
    centre: Vector3<f64>,
    radius: f64,
    /// Index of the part after this one and all its descendants; the first child follows the part itself.
    next: usize,
}

/// A bounded deformation tree: a body's vertices, recursively halved, each part with a bounding sphere.
///
/// For displacements `U z` the sphere of a part has the centre `c_0 + U_mean z`, the mean of its vertices,
/// and the radius `R_0 + sum_i |z_i| dR_i`, with `dR_i = max_v |U_vi - U_mean,i|`. Both take time linear in
/// the number of coordinates, independent of the mesh. Parts are numbered; part 0 is the whole body.
/// `[JamesPai]`
pub struct BoundedDeformationTree {
    parts: Vec<Part>,
    vertices: Vec<u32>,
    /// Number of coordinates k.
    rank: usize,
    /// `U_mean` and dR of each part, k per part.
    means: Vec<Vector3<f64>>,
    spreads: Vec<f64>,
}

impl BoundedDeformationTree {
    /// Builds the tree over some vertices. `points` has the shape (n, 3); `fields` is U, 3n x k, with
    /// interleaved rows.
    pub fn new(points: &[[f64; 3]], fields: MatRef<'_, f64>, vertices: &[u32]) -> Self {
        let mut made = Self {
            parts: Vec::new(),
            vertices: Vec::with_capacity(vertices.len()),
            rank: fields.ncols(),
            means: Vec::new(),
            spreads: Vec::new(),
        };
        if !vertices.is_empty() {
            made.divide(points, fields, vertices.to_vec());
        }
        made
    }

    /// Number of parts.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Vertices of a part.
    pub fn vertices(&self, part: usize) -> &[u32] {
        let Part { first, end, .. } = self.parts[part];
        &self.vertices[first..end]
    }

    /// Bounding sphere of a part at the coordinates z, k numbers.
    pub fn sphere(&self, part: usize, z: &[f64]) -> Sphere {
        let Part { centre, radius, .. } = self.parts[part];
        let (centre, radius) = (centre + self.shift(part, z), radius + self.spread(part, z));
        Sphere { centre, radius: radius + ROUNDING * (radius + centre.norm()) }
    }

    /// `U_mean z`: the displacement of a part's centre at z.
    pub fn shift(&self, part: usize, z: &[f64]) -> Vector3<f64> {
        let means = &self.means[part * self.rank..][..self.rank];
        means.iter().zip(z).fold(Vector3::zeros(), |sum, (mean, z)| sum + *z * mean)
    }

    /// `sum_i |z_i| dR_i`: the largest displacement of a vertex of the part relative to its centre.
    pub fn spread(&self, part: usize, z: &[f64]) -> f64 {
        let spreads = &self.spreads[part * self.rank..][..self.rank];
        spreads.iter().zip(z).map(|(spread, z)| spread * z.abs()).sum()
    }

    /// Appends the vertices of all leaves for which `may` is `true`, as well as for all their ancestors.
    pub fn search(&self, mut may: impl FnMut(usize) -> bool, found: &mut Vec<u32>) {
        let mut part = 0;
        while let Some(&Part { first, end, next, .. }) = self.parts.get(part) {
            if !may(part) {
                part = next;
                continue;
            }
            part += 1;
            if part == next {
                found.extend_from_slice(&self.vertices[first..end]);
            }
        }
    }

    fn divide(&mut self, points: &[[f64; 3]], fields: MatRef<'_, f64>, vertices: Vec<u32>) {
        let (part, first, count) = (self.parts.len(), self.vertices.len(), vertices.len() as f64);
        let place = |v: &u32| Vector3::from(points[*v as usize]);
        let centre = vertices.iter().map(place).sum::<Vector3<f64>>() / count;
        let radius = vertices.iter().map(|v| (place(v) - centre).norm()).fold(0.0, f64::max);
        for k in 0..self.rank {
            let moved = |v: &u32| Vector3::from_fn(|c, _| fields[(3 * *v as usize + c, k)]);
            let mean = vertices.iter().map(moved).sum::<Vector3<f64>>() / count;
            self.spreads.push(vertices.iter().map(|v| (moved(v) - mean).norm()).fold(0.0, f64::max));
            self.means.push(mean);
        }
        self.parts.push(Part { first, end: first + vertices.len(), centre, radius, next: part + 1 });
        if vertices.len() <= LEAF {
            self.vertices.extend(vertices);
            return;
        }
        let [one, other] = halves(vertices, |vertex| points[vertex as usize]);
        self.divide(points, fields, one);
        self.divide(points, fields, other);
        self.parts[part].next = self.parts.len();
    }
}
