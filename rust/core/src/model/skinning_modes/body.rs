//! A body before reduction: rows of its modes and of its rig, and their products.
//!
//! `B` (n x 4m) has the rows `W_ik [X^_i; 1]`, `J` (n x 4h) the rows `w_ij [X^_i; 1]`; both stand for x, y
//! and z alike and are formed a few rows at a time.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::kinematics::coordinates::Coordinates;
use crate::kinematics::rig_rows::{check_strength, handles_of_vertices};
use crate::material::Material;
use crate::math::Sparse;
use crate::mesh::TetMesh;
use crate::operators::{lumped_mass, stiffness};
use crate::parallel::*;
use crate::rig::Rig;
use crate::subspace::SkinningModes;
use crate::{Error, Result};

/// Number of parts of the vertices; their sums are added in order, for any number of threads.
const PARTS: usize = 16;
/// Rows of B formed at once.
const ROWS: usize = 128;

/// Inputs of the products.
pub(super) struct Body<'a> {
    pub(super) mesh: &'a TetMesh,
    pub(super) modes: usize,
    pub(super) handles: usize,
    /// `[X^; 1]`, n.
    pub(super) points: Vec<[f64; 4]>,
    /// Half the diagonal of the mesh, metres.
    pub(super) size: f64,
    /// n x m.
    pub(super) weights: Vec<f64>,
    pub(super) mass: Vec<f64>,
    /// Factor on the rig's acceleration at each vertex, n.
    pub(super) strength: Vec<f64>,
    pub(super) stiffness: Sparse,
    /// Handles of each vertex, and the start of each vertex's entries.
    pub(super) rig_starts: Vec<usize>,
    pub(super) rig_entries: Vec<(u32, f64)>,
}

/// B'MB, B'LB, B'M1, B'M diag(strength) J, B'LJ, J'LJ.
pub(super) struct Products {
    pub(super) mass: Mat<f64>,
    pub(super) stiffness: Mat<f64>,
    pub(super) uniform: Mat<f64>,
    pub(super) rig_mass: Mat<f64>,
    pub(super) rig_stiffness: Mat<f64>,
    pub(super) rig_energy: Mat<f64>,
}

impl<'a> Body<'a> {
    /// As [`Body::new`], with checks that the parts fit together.
    pub(super) fn checked(
        mesh: &'a TetMesh,
        material: &Material,
        modes: &SkinningModes,
        rig: Option<&Rig>,
        strength: Option<&[f64]>,
    ) -> Result<Self> {
        check(mesh, material, modes, rig)?;
        check_strength(mesh.vertices().len(), strength)?;
        Self::new(mesh, material, modes, rig, strength)
    }

    pub(super) fn new(
        mesh: &'a TetMesh,
        material: &Material,
        modes: &SkinningModes,
        rig: Option<&Rig>,
        strength: Option<&[f64]>,
    ) -> Result<Self> {
        let (n, m) = modes.weights.shape();
        let coordinates = Coordinates::of_mesh(mesh);
        let mut weights = vec![0.0; n * m];
        for k in 0..m {
            for (i, &w) in modes.weights.col_as_slice(k).iter().enumerate() {
                weights[i * m + k] = w;
            }
        }
        let (rig_starts, rig_entries) = handles_of_vertices(n, rig);
        Ok(Self {
            mesh,
            modes: m,
            handles: rig.map_or(1, Rig::bone_count),
            size: coordinates.size,
            points: mesh.vertices().iter().map(|p| coordinates.homogeneous(p)).collect(),
            weights,
            mass: lumped_mass(mesh, material),
            strength: strength.map_or_else(|| vec![1.0; n], <[f64]>::to_vec),
            stiffness: stiffness(mesh, material)?,
            rig_starts,
            rig_entries,
        })
    }

    /// Number of vertices n.
    pub(super) fn vertex_count(&self) -> usize {
        self.points.len()
    }

    /// `M diag(strength) B`, n x 4m.
    pub(super) fn heavy_rows(&self) -> Mat<f64> {
        self.rows(|vertex, row| self.add_mode_row(vertex, self.mass[vertex] * self.strength[vertex], row))
    }

    /// `L B`, n x 4m.
    pub(super) fn stiff_rows(&self) -> Mat<f64> {
        self.rows(|vertex, row| {
            self.row_of_stiffness(vertex).for_each(|(other, value)| self.add_mode_row(other, value, row));
        })
    }

    fn rows(&self, add: impl Fn(usize, &mut [f64])) -> Mat<f64> {
        let mut row = vec![0.0; 4 * self.modes];
        let mut all = Mat::zeros(self.points.len(), row.len());
        for vertex in 0..self.points.len() {
            row.fill(0.0);
            add(vertex, &mut row);
            row.iter().enumerate().for_each(|(column, &x)| all[(vertex, column)] = x);
        }
        all
    }

    pub(super) fn handles_of(&self, vertex: usize) -> &[(u32, f64)] {
        &self.rig_entries[self.rig_starts[vertex]..self.rig_starts[vertex + 1]]
    }

    /// `B'CB` of a symmetric matrix C, n x n: 4m x 4m.
    pub(super) fn form(&self, matrix: &Sparse) -> Mat<f64> {
        let b = 4 * self.modes;
        let part = |vertices: &[usize]| {
            let (mut rows, mut images) = (vec![0.0; ROWS * b], vec![0.0; ROWS * b]);
            for (place, &vertex) in vertices.iter().enumerate() {
                let row = place * b..(place + 1) * b;
                self.add_mode_row(vertex, 1.0, &mut rows[row.clone()]);
                for (other, value) in row_of(matrix, vertex) {
                    self.add_mode_row(other, value, &mut images[row.clone()]);
                }
            }
            let block = |buffer| MatRef::from_row_major_slice(buffer, ROWS, b);
            let (rows, images): (MatRef<'_, f64>, MatRef<'_, f64>) = (block(&rows), block(&images));
            rows.transpose() * images
        };
        let vertices: Vec<usize> = (0..self.points.len()).collect();
        let parts: Vec<Mat<f64>> = vertices.par_chunks(ROWS).map(part).collect();
        parts.iter().fold(Mat::zeros(b, b), |sum, part| sum + part)
    }

    /// `B'MB` and `B'LB`, 4m x 4m.
    pub(super) fn mass_and_stiffness(&self) -> (Mat<f64>, Mat<f64>) {
        let products = self.products();
        (products.mass, products.stiffness)
    }

    /// `true` if a mode moves a vertex.
    pub(super) fn is_moved(&self, vertex: usize) -> bool {
        self.weights_of(vertex).iter().any(|&w| w != 0.0)
    }

    pub(super) fn weights_of(&self, vertex: usize) -> &[f64] {
        &self.weights[vertex * self.modes..(vertex + 1) * self.modes]
    }

    /// `B Z` at every vertex, n x 3, for 4m rows Z.
    pub(super) fn displaced(&self, rows: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let at = |(vertex, point): (usize, &[f64; 4])| {
            let mut sum = [0.0; 3];
            for (rows, w) in rows.as_chunks::<4>().0.iter().zip(self.weights_of(vertex)) {
                let moved = |c: usize| (0..4).map(|d| point[d] * rows[d][c]).sum::<f64>();
                (0..3).for_each(|c| sum[c] += w * moved(c));
            }
            sum
        };
        self.points.iter().enumerate().map(at).collect()
    }

    /// `B'f` of forces at every vertex, 4m rows.
    pub(super) fn gathered(&self, forces: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let mut sum = vec![[0.0; 3]; 4 * self.modes];
        for (vertex, force) in forces.iter().enumerate() {
            let lever = self.points[vertex].map(|x| force.map(|f| x * f));
            for (rows, w) in sum.as_chunks_mut::<4>().0.iter_mut().zip(self.weights_of(vertex)) {
                for (row, lever) in rows.iter_mut().zip(&lever) {
                    (0..3).for_each(|c| row[c] += w * lever[c]);
                }
            }
        }
        sum
    }

    /// `J p` at every vertex, n x 3, for 4h rows p.
    pub(super) fn rigged(&self, pose: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let at = |vertex: usize| {
            let mut sum = [0.0; 3];
            for &(handle, w) in self.handles_of(vertex) {
                let rows = &pose[4 * handle as usize..][..4];
                for (row, x) in rows.iter().zip(&self.points[vertex]) {
                    (0..3).for_each(|c| sum[c] += w * x * row[c]);
                }
            }
            sum
        };
        (0..self.points.len()).map(at).collect()
    }

    /// Adds `scale *` the row of B at a vertex.
    pub(super) fn add_mode_row(&self, vertex: usize, scale: f64, row: &mut [f64]) {
        let point = self.points[vertex].map(|x| x * scale);
        for (row, w) in row.as_chunks_mut::<4>().0.iter_mut().zip(self.weights_of(vertex)) {
            (0..4).for_each(|d| row[d] += w * point[d]);
        }
    }

    /// Adds `scale *` the row of J at a vertex.
    pub(super) fn add_rig_row(&self, vertex: usize, scale: f64, row: &mut [f64]) {
        for &(handle, w) in self.handles_of(vertex) {
            let row = &mut row[4 * handle as usize..][..4];
            (0..4).for_each(|d| row[d] += scale * w * self.points[vertex][d]);
        }
    }

    /// The entries of a row of L.
    fn row_of_stiffness(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> {
        row_of(&self.stiffness, vertex)
    }

    pub(super) fn products(&self) -> Products {
        let n = self.points.len();
        let size = n.div_ceil(PARTS);
        let parts: Vec<Products> = (0..PARTS)
            .into_par_iter()
            .map(|part| self.partial_products((part * size).min(n)..((part + 1) * size).min(n)))
            .collect();
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| self.no_products());
        parts.fold(first, |sum, part| Products {
            mass: sum.mass + part.mass,
            stiffness: sum.stiffness + part.stiffness,
            uniform: sum.uniform + part.uniform,
            rig_mass: sum.rig_mass + part.rig_mass,
            rig_stiffness: sum.rig_stiffness + part.rig_stiffness,
            rig_energy: sum.rig_energy + part.rig_energy,
        })
    }

    fn no_products(&self) -> Products {
        let (b, j) = (4 * self.modes, 4 * self.handles);
        Products {
            mass: Mat::zeros(b, b),
            stiffness: Mat::zeros(b, b),
            uniform: Mat::zeros(b, 1),
            rig_mass: Mat::zeros(b, j),
            rig_stiffness: Mat::zeros(b, j),
            rig_energy: Mat::zeros(j, j),
        }
    }

    fn partial_products(&self, vertices: std::ops::Range<usize>) -> Products {
        let mut sum = self.no_products();
        let (b, j) = (4 * self.modes, 4 * self.handles);
        let (mut rows, mut stiff, mut heavy) =
            (vec![0.0; ROWS * b], vec![0.0; ROWS * b], vec![0.0; ROWS * b]);
        let mut stiff_rig = vec![0.0; j];
        for first in vertices.clone().step_by(ROWS) {
            let count = ROWS.min(vertices.end - first);
            [&mut rows, &mut stiff, &mut heavy].into_iter().for_each(|buffer| buffer.fill(0.0));
            for place in 0..count {
                let (vertex, row) = (first + place, place * b..(place + 1) * b);
                self.add_mode_row(vertex, 1.0, &mut rows[row.clone()]);
                self.add_mode_row(vertex, self.mass[vertex], &mut heavy[row.clone()]);
                for (other, value) in self.row_of_stiffness(vertex) {
                    self.add_mode_row(other, value, &mut stiff[row.clone()]);
                }
                self.add_rig_products(vertex, &heavy[row.clone()], &stiff[row], &mut stiff_rig, &mut sum);
            }
            let block = |buffer| MatRef::from_row_major_slice(buffer, ROWS, b);
            let rows: MatRef<'_, f64> = block(&rows);
            let add = |out: &mut Mat<f64>, other: MatRef<'_, f64>| {
                matmul(out.as_mut(), Accum::Add, rows.transpose(), other, 1.0, Par::Seq);
            };
            add(&mut sum.mass, block(&heavy));
            add(&mut sum.stiffness, block(&stiff));
        }
        sum
    }

    /// Adds the contributions of a vertex's handles, given its rows of MB and LB; `stiff_rig` is scratch
    /// for its row of LJ.
    fn add_rig_products(
        &self,
        vertex: usize,
        heavy: &[f64],
        stiff: &[f64],
        stiff_rig: &mut [f64],
        sum: &mut Products,
    ) {
        let add = |out: &mut [f64], scale: f64, row: &[f64]| {
            out.iter_mut().zip(row).for_each(|(out, x)| *out += scale * x);
        };
        add(sum.uniform.col_as_slice_mut(0), 1.0, heavy);
        stiff_rig.fill(0.0);
        for (other, value) in self.row_of_stiffness(vertex) {
            self.add_rig_row(other, value, stiff_rig);
        }
        for &(handle, w) in self.handles_of(vertex) {
            for d in 0..4 {
                let (column, scale) = (4 * handle as usize + d, w * self.points[vertex][d]);
                add(sum.rig_mass.col_as_slice_mut(column), scale * self.strength[vertex], heavy);
                add(sum.rig_stiffness.col_as_slice_mut(column), scale, stiff);
                add(sum.rig_energy.col_as_slice_mut(column), scale, stiff_rig);
            }
        }
    }
}

/// The entries of a row of a symmetric matrix.
fn row_of(matrix: &Sparse, row: usize) -> impl Iterator<Item = (usize, f64)> {
    matrix.row_idx_of_col(row).zip(matrix.val_of_col(row).iter().copied())
}

fn check(mesh: &TetMesh, material: &Material, modes: &SkinningModes, rig: Option<&Rig>) -> Result<()> {
    let n = mesh.vertices().len();
    material.check_tet_count(mesh.tets().len())?;
    let (rows, m) = modes.weights.shape();
    if m == 0 {
        return Err(Error::Empty { what: "modes" });
    }
    if rows != n || modes.eigenvalues.len() != m {
        return Err(Error::Shape {
            what: "modes",
            expected: format!("({n}, {m})"),
            got: format!("({rows}, {m}) and {} eigenvalues", modes.eigenvalues.len()),
        });
    }
    if let Some(rig) = rig
        && rig.vertex_count() != n
    {
        return Err(Error::Shape {
            what: "rig",
            expected: format!("weights of {n} vertices"),
            got: format!("{}", rig.vertex_count()),
        });
    }
    let numbers = (0..m).flat_map(|k| (0..n).map(move |i| (i, modes.weights[(i, k)])));
    match { numbers }.find(|(_, w)| !w.is_finite()) {
        Some((element, value)) => Err(Error::NotFinite { what: "modes", element, value }),
        None => Ok(()),
    }
}
