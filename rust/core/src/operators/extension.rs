//! Harmonic extension of values from some vertices, and its adjoint.

use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

use super::laplacian;
use crate::math::{Selection, Sets, Sparse, SparseCholesky};
use crate::mesh::TetMesh;
use crate::{Error, Result, check};

/// Harmonic extension: given values at some vertices, and the smoothest interpolation in between.
///
/// Solves `L v = 0` at the other vertices. `values` is `vertex_ids.len()` x k in C order; the result n x k
/// in C order. Rows with sum one at the known vertices have sum one everywhere. Meshes with very obtuse
/// tets may give values slightly outside of the known range.
///
/// # Errors
/// [`Error::Shape`], [`Error::Index`], [`Error::NotFinite`]; [`Error::Numerical`] if a part of the mesh has
/// no known vertex.
pub fn spread_to_interior(mesh: &TetMesh, vertex_ids: &[u32], values: &[f64], k: usize) -> Result<Vec<f64>> {
    let n = mesh.vertices().len();
    check_known(n, vertex_ids, values, k)?;
    let known = marked(n, vertex_ids);
    let mut full = Mat::zeros(n, k);
    for (row, &vertex) in vertex_ids.iter().enumerate() {
        (0..k).for_each(|j| full[(vertex as usize, j)] = values[row * k + j]);
    }
    check_reach(mesh, &known)?;
    let matrix = laplacian(mesh, &vec![1.0; mesh.tets().len()])?;
    extend(&matrix, &known, &mut full, |matrix, rhs| {
        SparseCholesky::new(matrix)?.solve_in_place(rhs);
        Ok(())
    })?;
    Ok((0..n).flat_map(|i| (0..k).map(move |j| (i, j))).map(|at| full[at]).collect())
}

/// Harmonic extension H, n x s, from s known vertices to all: stores its factor for many right-hand sides.
pub(crate) struct HarmonicExtension {
    matrix: Sparse,
    known: Vec<u32>,
    unknown: Selection,
    /// Factor of the block of unknown vertices; `None` if all are known.
    factor: Option<SparseCholesky>,
}

impl HarmonicExtension {
    /// Extension from these vertices, without duplicates.
    pub(crate) fn new(mesh: &TetMesh, known: &[u32]) -> Result<Self> {
        let is_known = marked(mesh.vertices().len(), known);
        check_reach(mesh, &is_known)?;
        let matrix = laplacian(mesh, &vec![1.0; mesh.tets().len()])?;
        let unknown = Selection::new(is_known.len(), |i| !is_known[i]);
        let factor = if unknown.rows().is_empty() {
            None
        } else {
            Some(SparseCholesky::new(&unknown.square(&matrix))?)
        };
        Ok(Self { matrix, known: known.to_vec(), unknown, factor })
    }

    /// `H v`, n x k in C order, of the known values, s x k.
    pub(crate) fn extend(&self, values: &[f64], k: usize) -> Vec<f64> {
        let n = self.unknown.total();
        let mut full = Mat::zeros(n, k);
        for (row, &vertex) in self.known.iter().enumerate() {
            (0..k).for_each(|j| full[(vertex as usize, j)] = values[row * k + j]);
        }
        if let Some(factor) = &self.factor {
            let is_known: Vec<bool> = (0..n).map(|vertex| !self.unknown.contains(vertex)).collect();
            let mut inner = known_part(&self.matrix, &is_known, self.unknown.rows(), full.as_ref());
            factor.solve_in_place(inner.as_mut());
            for (row, &vertex) in self.unknown.rows().iter().enumerate() {
                (0..k).for_each(|j| full[(vertex as usize, j)] = inner[(row, j)]);
            }
        }
        (0..n).flat_map(|i| (0..k).map(move |j| (i, j))).map(|at| full[at]).collect()
    }

    /// `H'f`, s x k, for functionals f of values at all vertices, n x k: the same functionals of the known
    /// values.
    pub(crate) fn adjoint(&self, functionals: MatRef<'_, f64>) -> Mat<f64> {
        let k = functionals.ncols();
        let mut inner = Mat::from_fn(self.unknown.rows().len(), k, |row, column| {
            functionals[(self.unknown.rows()[row] as usize, column)]
        });
        if let Some(factor) = &self.factor {
            factor.solve_in_place(inner.rb_mut());
        }
        let inner = self.unknown.spread(inner.as_ref());
        let entries = |vertex: usize| {
            let rows = self.matrix.row_idx_of_col_raw(vertex).iter().map(|&row| row as usize);
            rows.zip(self.matrix.val_of_col(vertex))
        };
        Mat::from_fn(self.known.len(), k, |row, column| {
            let vertex = self.known[row] as usize;
            let coupled: f64 = entries(vertex).map(|(other, value)| value * inner[(other, column)]).sum();
            functionals[(vertex, column)] - coupled
        })
    }
}

fn marked(n: usize, vertices: &[u32]) -> Vec<bool> {
    let mut marked = vec![false; n];
    vertices.iter().for_each(|&vertex| marked[vertex as usize] = true);
    marked
}

/// Fills the unknown rows to make the product of the matrix with the whole zero there.
pub(super) fn extend(
    matrix: &Sparse,
    known: &[bool],
    full: &mut Mat<f64>,
    solve: impl Fn(&Sparse, MatMut<'_, f64>) -> Result<()>,
) -> Result<()> {
    let unknown = Selection::new(known.len(), |i| !known[i]);
    if unknown.rows().is_empty() {
        return Ok(());
    }
    let mut rhs = known_part(matrix, known, unknown.rows(), full.as_ref());
    solve(&unknown.square(matrix), rhs.as_mut())?;
    for (row, &vertex) in unknown.rows().iter().enumerate() {
        (0..full.ncols()).for_each(|j| full[(vertex as usize, j)] = rhs[(row, j)]);
    }
    Ok(())
}

/// Minus the matrix times the known values, in the unknown rows.
fn known_part(matrix: &Sparse, known: &[bool], unknown: &[u32], full: MatRef<'_, f64>) -> Mat<f64> {
    let mut rhs = Mat::zeros(unknown.len(), full.ncols());
    for (row, &vertex) in unknown.iter().enumerate() {
        let entries = matrix.row_idx_of_col_raw(vertex as usize).iter();
        for (&other, value) in entries.zip(matrix.val_of_col(vertex as usize)) {
            if known[other as usize] {
                (0..full.ncols()).for_each(|j| rhs[(row, j)] -= value * full[(other as usize, j)]);
            }
        }
    }
    rhs
}

fn check_known(n: usize, vertex_ids: &[u32], values: &[f64], k: usize) -> Result<()> {
    if vertex_ids.is_empty() || k == 0 {
        return Err(Error::Empty { what: "values" });
    }
    check::shape("values", &[vertex_ids.len(), k], values.len())?;
    check::indices("vertex_ids", vertex_ids, 1, n)?;
    check::finite("values", values, 1)
}

/// Checks that every vertex is connected to a known one.
fn check_reach(mesh: &TetMesh, known: &[bool]) -> Result<()> {
    match out_of_reach(mesh, known).iter().position(|&out| out) {
        Some(vertex) => Err(Error::Numerical {
            what: "spreading values to the interior",
            why: format!("vertex {vertex} is connected to no vertex with a known value"),
        }),
        None => Ok(()),
    }
}

/// `true` for each of n vertices without a connection to a known one along tets.
pub(crate) fn out_of_reach(mesh: &TetMesh, known: &[bool]) -> Vec<bool> {
    let mut parts = Sets::new(known.len());
    for tet in mesh.tets() {
        tet[1..].iter().for_each(|&v| parts.unite(tet[0], v));
    }
    let mut reached = vec![false; known.len()];
    for vertex in (0..known.len()).filter(|&v| known[v]) {
        reached[parts.root(vertex as u32) as usize] = true;
    }
    (0..known.len() as u32).map(|v| !reached[parts.root(v) as usize]).collect()
}
