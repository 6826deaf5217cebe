//! Operators of piecewise linear functions on the tets: gradients, mass, Laplacian.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use nalgebra::{Matrix3, Vector3};

use crate::material::Material;
use crate::math::Sparse;
use crate::mesh::{FleshCell, TetMesh};
use crate::parallel::*;
use crate::{Result, check};

/// Vertices whose columns are assembled by one task.
const COLUMNS_PER_TASK: usize = 2048;

/// Gradients of the four hat functions of every tet.
///
/// Rows 1 to 3 are those of the inverse of `[x1 - x0, x2 - x0, x3 - x0]`; all four sum to zero.
/// Shape t x 4 x 3, in 1/m.
pub fn gradients(mesh: &TetMesh) -> Vec<[[f64; 3]; 4]> {
    (0..mesh.tets().len()).into_par_iter().map(|tet| hat_gradients(mesh.corners(tet))).collect()
}

/// Mass lumped to the vertices: `m_i = sum over tets at i of rho_t V_t / 4`, or by [`MassShares`] in cells.
///
/// Shape n, in kg. It is also the diagonal of the weight-space mass `M_w`: the same for x, y and z.
pub fn lumped_mass(mesh: &TetMesh, material: &Material) -> Vec<f64> {
    lumped(mesh, |tet| material.density(tet))
}

/// Volume lumped to each vertex: [`lumped_mass`] at a density of 1. Shape n, in m^3.
pub fn vertex_volumes(mesh: &TetMesh) -> Vec<f64> {
    lumped(mesh, |_| 1.0)
}

fn lumped(mesh: &TetMesh, density: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut mass = vec![0.0; mesh.vertices().len()];
    let shares = MassShares::new(mesh);
    for (tet, volume) in mesh.volumes().iter().enumerate() {
        shares.of(tet).for_each(|(vertex, share)| mass[vertex as usize] += density(tet) * volume * share);
    }
    mass
}

/// Distribution of the mass of each tet to vertices: a quarter to each corner, or in cells by
/// [`FleshCell::mass_shares`].
pub struct MassShares<'a> {
    mesh: &'a TetMesh,
    cells: Vec<[f64; 8]>,
}

impl<'a> MassShares<'a> {
    /// Shares of all tets of a mesh.
    pub fn new(mesh: &'a TetMesh) -> Self {
        let volumes = mesh.volumes().chunks(mesh.tets_per_cell().max(1));
        let shares = |(cell, volumes): (&FleshCell, &[f64])| cell.mass_shares(volumes.iter().sum());
        Self { mesh, cells: mesh.cells().iter().zip(volumes).map(shares).collect() }
    }

    /// Vertices that receive a tet's mass, with their shares.
    pub fn of(&self, tet: usize) -> impl Iterator<Item = (u32, f64)> {
        let (corners, shares): (&[u32], &[f64]) = match self.mesh.cells() {
            [] => (&self.mesh.tets()[tet], &[0.25; 4]),
            cells => {
                let cell = tet / self.mesh.tets_per_cell();
                (&cells[cell].corners, &self.cells[cell])
            }
        };
        corners.iter().copied().zip(shares.iter().copied())
    }
}

/// Laplacian of piecewise linear functions: `L = sum over tets of c_t V_t g_t g_t'`, positive semi-definite.
///
/// `conductivity` is one number a tet; L is n x n, symmetric, stored whole, in m times the unit of `c`.
/// With `c = 4 mu + lambda` it is the weight-space Hessian `H_w` of tets `[FastCD eq. 18]`; with `c = 2 mu`
/// each coordinate's block of the Hessian of the energy `mu |F|^2`.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::NotFinite`](crate::Error::NotFinite), or
/// [`Error::Range`](crate::Error::Range) for a negative conductivity.
pub fn laplacian(mesh: &TetMesh, conductivity: &[f64]) -> Result<Sparse> {
    check_conductivity(mesh, conductivity)?;
    let element = |t: usize| TetElement::new(mesh, t, conductivity[t]);
    let elements: Vec<TetElement> = (0..mesh.tets().len()).into_par_iter().map(element).collect();
    Ok(assemble(mesh.vertices().len(), &elements))
}

/// Contribution of some vertices to a symmetric matrix with rows that sum to zero.
pub(super) trait Element: Sync {
    fn corners(&self) -> &[u32];
    /// Entry of two different corners.
    fn weight(&self, corner: usize, other: usize) -> f64;
}

/// Sum of elements on n vertices.
pub(super) fn assemble(n: usize, elements: &[impl Element]) -> Sparse {
    let incidence = Incidence::new(n, elements);
    let tasks: Vec<Columns> = (0..n.div_ceil(COLUMNS_PER_TASK))
        .into_par_iter()
        .map_init(
            || vec![u32::MAX; n],
            |slot, task| {
                let first = task * COLUMNS_PER_TASK;
                let vertices = first..(first + COLUMNS_PER_TASK).min(n);
                assemble_columns(elements, &incidence, vertices, slot)
            },
        )
        .collect();
    concatenate(n, &tasks)
}

/// Contribution of a tet to the Laplacian: a cache line, because tets are read in the order of vertices.
#[repr(align(64))]
struct TetElement {
    corners: [u32; 4],
    /// `c V g_i . g_j` for each of the edges `(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)`.
    weights: [f64; 6],
}

/// Edge between two corners; an invalid index from a corner to itself.
const EDGES: [[usize; 4]; 4] = [[6, 0, 1, 2], [0, 6, 3, 4], [1, 3, 6, 5], [2, 4, 5, 6]];

impl TetElement {
    fn new(mesh: &TetMesh, tet: usize, conductivity: f64) -> Self {
        let gradients = hat_gradients(mesh.corners(tet)).map(Vector3::from);
        let scale = conductivity * mesh.volumes()[tet];
        let weight = |(i, j): (usize, usize)| scale * gradients[i].dot(&gradients[j]);
        let weights = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(weight);
        Self { corners: mesh.tets()[tet], weights }
    }
}

impl Element for TetElement {
    fn corners(&self) -> &[u32] {
        &self.corners
    }

    fn weight(&self, corner: usize, other: usize) -> f64 {
        self.weights[EDGES[corner][other]]
    }
}

/// Elements at each vertex with their local corner, as one list with the start of each vertex's part.
struct Incidence {
    starts: Vec<usize>,
    corners: Vec<(u32, u8)>,
}

impl Incidence {
    fn new(n: usize, elements: &[impl Element]) -> Self {
        let mut starts = vec![0; n + 1];
        for &v in elements.iter().flat_map(|element| element.corners()) {
            starts[v as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let mut corners = vec![(0, 0); starts[n]];
        for (e, element) in elements.iter().enumerate() {
            for (corner, &v) in element.corners().iter().enumerate() {
                corners[next[v as usize]] = (e as u32, corner as u8);
                next[v as usize] += 1;
            }
        }
        Self { starts, corners }
    }

    fn at(&self, vertex: usize) -> &[(u32, u8)] {
        &self.corners[self.starts[vertex]..self.starts[vertex + 1]]
    }
}

/// Some consecutive columns of a sparse matrix: entries a column, rows and values.
#[derive(Default)]
struct Columns {
    counts: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

/// Assembles consecutive columns. `slot[row]` is the position of a row in the current column, and
/// `u32::MAX` everywhere before and after.
fn assemble_columns(
    elements: &[impl Element],
    incidence: &Incidence,
    vertices: std::ops::Range<usize>,
    slot: &mut [u32],
) -> Columns {
    let mut columns = Columns::default();
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for vertex in vertices {
        entries.clear();
        // Rows of an element sum to zero.
        let mut diagonal = 0.0;
        for &(e, corner) in incidence.at(vertex) {
            let (element, corner) = (&elements[e as usize], usize::from(corner));
            for (other, &row) in element.corners().iter().enumerate().filter(|(other, _)| *other != corner) {
                let value = element.weight(corner, other);
                diagonal -= value;
                let place = &mut slot[row as usize];
                if *place == u32::MAX {
                    *place = entries.len() as u32;
                    entries.push((row, value));
                } else {
                    entries[*place as usize].1 += value;
                }
            }
        }
        entries.iter().for_each(|&(row, _)| slot[row as usize] = u32::MAX);
        if !incidence.at(vertex).is_empty() {
            entries.push((vertex as u32, diagonal));
        }
        entries.sort_unstable_by_key(|&(row, _)| row);
        columns.counts.push(entries.len() as u32);
        columns.rows.extend(entries.iter().map(|e| e.0));
        columns.values.extend(entries.iter().map(|e| e.1));
    }
    columns
}

fn concatenate(n: usize, parts: &[Columns]) -> Sparse {
    let mut starts = Vec::with_capacity(n + 1);
    starts.push(0);
    let mut total = 0;
    for &count in parts.iter().flat_map(|p| &p.counts) {
        total += count;
        starts.push(total);
    }
    let (mut rows, mut values) = (Vec::with_capacity(total as usize), Vec::with_capacity(total as usize));
    for part in parts {
        rows.extend_from_slice(&part.rows);
        values.extend_from_slice(&part.values);
    }
    SparseColMat::new(SymbolicSparseColMat::new_checked(n, n, starts, None, rows), values)
}

pub(super) fn hat_gradients(corners: [[f64; 3]; 4]) -> [[f64; 3]; 4] {
    let [x0, x1, x2, x3] = corners.map(Vector3::from);
    let (a, b, c) = (x1 - x0, x2 - x0, x3 - x0);
    let six_volumes = Matrix3::from_columns(&[a, b, c]).determinant();
    let (g1, g2, g3) = (b.cross(&c) / six_volumes, c.cross(&a) / six_volumes, a.cross(&b) / six_volumes);
    [-(g1 + g2 + g3), g1, g2, g3].map(Into::into)
}

fn check_conductivity(mesh: &TetMesh, conductivity: &[f64]) -> Result<()> {
    let count = mesh.tets().len();
    check::length("conductivity", count, conductivity.len())?;
    check::each("conductivity", "numbers >= 0", conductivity, |c| c >= 0.0)
}
