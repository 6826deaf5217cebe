//! Affine handles spread over a body, each with local support: the position subspace of projective dynamics
//! `[HRPD]`.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::math::Sparse;
use crate::math::random::uniform;
use crate::mesh::{Front, Geodesics, SurfaceMesh, TetMesh};
use crate::parallel::*;
use crate::{Error, Progress, Result, check};

/// Radius of a handle in units of the largest distance between a vertex and its nearest handle.
const REACH: f64 = 2.0;

/// Handles j at c_j with weights on the vertices: positions are `sum_j w_j(X) Z_j [X - c_j; 1]`.
///
/// `w_j = b(d_j) / sum_i b(d_i)` with `b(d) = (1 - (d / r)^2)^2` for d < r and 0 beyond, where d_j is the
/// geodesic distance through the body to c_j. Weights are non-negative and sum to one, so all affine
/// motions are in the subspace.
///
/// ```
/// use jounce::mesh::{SurfaceMesh, lattice};
/// use jounce::subspace::Handles;
/// use jounce::Progress;
///
/// let progress = Progress::default();
/// let mesh = lattice(&SurfaceMesh::cuboid([2.0, 0.5, 0.5])?, 8, &progress)?;
/// let handles = Handles::spread(&mesh, 5, 0, &progress)?;
/// assert_eq!(handles.count(), 5);
/// # Ok::<(), jounce::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Handles {
    /// Vertices at which the handles sit, k.
    vertices: Vec<u32>,
    centers: Vec<[f64; 3]>,
    /// Rest positions of the vertices, n, metres.
    places: Vec<[f64; 3]>,
    /// Component of each handle, k, and of each vertex, n, numbered from 0.
    parts: Vec<u32>,
    parts_of_vertices: Vec<u32>,
    radius: f64,
    /// Handles of each vertex in ascending order with their weights: start indices, n + 1, then the
    /// entries.
    starts: Vec<usize>,
    weights: Vec<(u32, f64)>,
}

impl Handles {
    /// Spreads `count` handles over the vertices by farthest-point sampling with geodesic distances through
    /// the body.
    ///
    /// The seed chooses the first handle; the result depends on the seed alone. A mesh with fewer vertices
    /// than `count` gets fewer handles, one with more components gets more: each component has
    /// at least one. `[HRPD section 4.1]`
    ///
    /// # Errors
    /// [`Error::Range`] if `count` is 0, [`Error::Cancelled`].
    pub fn spread(mesh: &TetMesh, count: usize, seed: u64, progress: &Progress) -> Result<Self> {
        Self::new(mesh.vertices(), mesh.tets(), (count, seed), progress)
    }

    /// As [`Handles::spread`], over the points of a surface with geodesic distances along it.
    ///
    /// # Errors
    /// As [`Handles::spread`].
    pub fn over(surface: &SurfaceMesh, count: usize, seed: u64, progress: &Progress) -> Result<Self> {
        Self::new(surface.points(), surface.triangles(), (count, seed), progress)
    }

    fn new<const N: usize>(
        places: &[[f64; 3]],
        elements: &[[u32; N]],
        (count, seed): (usize, u64),
        progress: &Progress,
    ) -> Result<Self> {
        check::range("handles", "at least one handle", 0.0, count != 0)?;
        let ways = Geodesics::new(places, elements);
        let (vertices, furthest) = far_apart(&ways, count, seed, progress)?;
        let radius = if furthest > 0.0 { REACH * furthest } else { ways.shortest_edge() };
        let felt: Vec<Vec<(u32, f64)>> = vertices
            .par_iter()
            .map_init(|| Front::new(ways.vertex_count()), |front, &from| near(&ways, from, radius, front))
            .collect();
        let (starts, weights) = normalised(ways.vertex_count(), &felt);
        let parts_of_vertices = ways.parts();
        Ok(Self {
            centers: vertices.iter().map(|&v| places[v as usize]).collect(),
            places: places.to_vec(),
            parts: vertices.iter().map(|&v| parts_of_vertices[v as usize]).collect(),
            parts_of_vertices,
            vertices,
            radius,
            starts,
            weights,
        })
    }

    /// Number of handles k.
    pub fn count(&self) -> usize {
        self.vertices.len()
    }

    /// Vertices at which the handles sit, k.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Positions of the handles, k, metres.
    pub fn centers(&self) -> &[[f64; 3]] {
        &self.centers
    }

    /// Geodesic support radius of a handle, metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Handles that act on a vertex, in ascending order, and their weights, which sum to one.
    pub fn of_vertex(&self, vertex: usize) -> &[(u32, f64)] {
        &self.weights[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// Checks that the handles belong to a mesh of n vertices.
    pub(crate) fn check_vertex_count(&self, n: usize) -> Result<()> {
        if self.parts_of_vertices.len() == n {
            return Ok(());
        }
        let (expected, got) =
            (format!("handles on {n} vertices"), format!("{} vertices", self.parts_of_vertices.len()));
        Err(Error::Shape { what: "handles", expected, got })
    }

    /// Checks that no component has zero mass.
    pub(crate) fn check_mass(&self, mass: &[f64]) -> Result<()> {
        let mut massive = vec![false; self.vertices.len()];
        for (&part, &mass) in self.parts_of_vertices.iter().zip(mass) {
            massive[part as usize] |= mass > 0.0;
        }
        match self.parts_of_vertices.iter().position(|&part| !massive[part as usize]) {
            Some(vertex) => Err(Error::Massless { vertex }),
            None => Ok(()),
        }
    }

    /// Rest positions of the vertices, n, metres.
    pub(crate) fn places(&self) -> &[[f64; 3]] {
        &self.places
    }

    /// Component of each handle.
    pub(crate) fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// Component of each vertex.
    pub(crate) fn parts_of_vertices(&self) -> &[u32] {
        &self.parts_of_vertices
    }

    /// `w_j [(X - c_j) / r; 1]` at a vertex: the handles and their four entries.
    pub(crate) fn row(&self, vertex: usize) -> impl Iterator<Item = (usize, [f64; 4])> {
        let place = self.places[vertex];
        self.of_vertex(vertex).iter().map(move |&(handle, weight)| {
            let center = self.centers[handle as usize];
            let local = |d: usize| if d < 3 { (place[d] - center[d]) / self.radius } else { 1.0 };
            (handle as usize, std::array::from_fn(|d| weight * local(d)))
        })
    }

    /// `U'AU`, 4k x 4k, with the rows of U from [`Handles::row`] and a symmetric matrix A on the vertices.
    pub(crate) fn gram(&self, matrix: &Sparse) -> Mat<f64> {
        let mut members = vec![Vec::new(); self.count()];
        for vertex in 0..self.places.len() {
            self.row(vertex).for_each(|(handle, entries)| members[handle].push((vertex, entries)));
        }
        let zeros = || (vec![[0.0; 4]; self.places.len()], Vec::new());
        let rows: Vec<Vec<[f64; 4]>> = members
            .par_iter()
            .map_init(zeros, |(products, touched), members| {
                self.gram_row(matrix, members, (products, touched))
            })
            .collect();
        Mat::from_fn(4 * self.count(), 4 * self.count(), |i, j| rows[i / 4][j][i % 4])
    }

    /// Four rows of `U'AU`, transposed. `products` is zero on entry and on return.
    fn gram_row(
        &self,
        matrix: &Sparse,
        members: &[(usize, [f64; 4])],
        (products, touched): (&mut [[f64; 4]], &mut Vec<usize>),
    ) -> Vec<[f64; 4]> {
        touched.clear();
        for &(vertex, entries) in members {
            for (&other, value) in matrix.row_idx_of_col_raw(vertex).iter().zip(matrix.val_of_col(vertex)) {
                let product = &mut products[other as usize];
                if *product == [0.0; 4] {
                    touched.push(other as usize);
                }
                (0..4).for_each(|d| product[d] += value * entries[d]);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let mut row = vec![[0.0; 4]; 4 * self.count()];
        for &vertex in touched.iter() {
            let product = std::mem::take(&mut products[vertex]);
            for (handle, entries) in self.row(vertex) {
                for (sum, entry) in row[4 * handle..].iter_mut().zip(entries) {
                    (0..4).for_each(|d| sum[d] += entry * product[d]);
                }
            }
        }
        row
    }
}

/// Handles by farthest-point sampling, and the largest distance of a vertex to its nearest handle.
fn far_apart<const N: usize>(
    ways: &Geodesics<'_, N>,
    count: usize,
    seed: u64,
    progress: &Progress,
) -> Result<(Vec<u32>, f64)> {
    let n = ways.vertex_count();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut next = ((uniform(&mut random) * n as f64) as usize).min(n - 1);
    let (mut distance, mut handles) = (vec![f64::INFINITY; n], Vec::with_capacity(count));
    let mut front = Front::new(n);
    loop {
        progress.report((0.9 * handles.len() as f32 / count as f32).min(0.9))?;
        handles.push(next as u32);
        ways.march(next as u32, &mut front, |vertex, way| {
            let nearest = &mut distance[vertex as usize];
            let nearer = way < *nearest;
            *nearest = nearest.min(way);
            nearer
        });
        let further = |best: usize, v: usize| if distance[v] > distance[best] { v } else { best };
        next = (1..n).fold(0, further);
        let furthest = distance[next];
        if furthest == 0.0 || (handles.len() >= count && furthest.is_finite()) {
            return Ok((handles, furthest));
        }
    }
}

/// Vertices within the support of a handle, and their weights before normalisation.
fn near<const N: usize>(
    ways: &Geodesics<'_, N>,
    from: u32,
    radius: f64,
    front: &mut Front,
) -> Vec<(u32, f64)> {
    let mut near = Vec::new();
    ways.march(from, front, |vertex, way| {
        let felt = way < radius;
        if felt {
            near.push((vertex, (1.0 - (way / radius).powi(2)).powi(2)));
        }
        felt
    });
    near
}

/// Normalises the weights of each handle so that they sum to one at every vertex.
fn normalised(n: usize, felt: &[Vec<(u32, f64)>]) -> (Vec<usize>, Vec<(u32, f64)>) {
    let mut rows = vec![Vec::new(); n];
    for (handle, felt) in felt.iter().enumerate() {
        felt.iter().for_each(|&(vertex, share)| rows[vertex as usize].push((handle as u32, share)));
    }
    let mut starts = vec![0];
    let mut weights = Vec::with_capacity(felt.iter().map(Vec::len).sum());
    for row in rows {
        let sum: f64 = row.iter().map(|(_, share)| share).sum();
        weights.extend(row.iter().map(|&(handle, share)| (handle, share / sum)));
        starts.push(weights.len());
    }
    (starts, weights)
}
