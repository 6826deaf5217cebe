//! What diffuses from the surface inwards: values known there, and the leak of momentum.

use faer::prelude::Reborrow;
use faer::{Mat, MatMut, MatRef};

use super::laplacian;
use crate::material::{Field, Law, Material};
use crate::math::{Selection, Sparse, SparseCholesky, add_diagonal, conjugate_gradients};
use crate::mesh::TetMesh;
use crate::{Error, Result};

/// Time of the default leak's diffusion, in squared lengths of the body: about 3 percent of it are reached.
const LEAK_TIME: f64 = 1e-3;

/// Harmonic extension: the values that are known at some vertices, and between them the smoothest ones.
///
/// Solves `L v = 0` at the other vertices. `values` is `vertex_ids.len()` x k in C order; the result n x k in C
/// order. Rows that sum to one at the known vertices do so everywhere. Meshes with very obtuse tets may give
/// values slightly outside the range of the known ones.
///
/// # Errors
/// [`Error::Shape`], [`Error::Index`], [`Error::NotFinite`]; [`Error::Numerical`] if a part of the mesh has no known
/// vertex.
pub fn spread_to_interior(mesh: &TetMesh, vertex_ids: &[u32], values: &[f64], k: usize) -> Result<Vec<f64>> {
    let n = mesh.vertices().len();
    check_known(n, vertex_ids, values, k)?;
    let mut full = Mat::zeros(n, k);
    let mut known = vec![false; n];
    for (row, &vertex) in vertex_ids.iter().enumerate() {
        known[vertex as usize] = true;
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

/// The default leak's highest value. At exactly 1, flesh of thin parts, which have no inner vertices, would be tied
/// to nothing; this close to 1 they follow their bones strictly, and no others change.
pub const HIGHEST_LEAK: f64 = 1.0 - 1e-6;

/// Default leak: 1 (less a millionth) on the surface, falling to 0 at the vertex deepest inside.
///
/// One implicit step of diffusion from the surface, `(tau l^2 L + M) phi = 0` inside with `phi = 1` on it, then
/// `(phi - min) / (1 - min)`; l is the length of a bar with the body's largest second moment, so that units, size
/// and orientation do not matter. Shape n. A mesh without inner vertices leaks everywhere.
/// Source: `[FastCD sec. 8.1]`, whose D is `1 - leak` and whose time is absolute.
///
/// # Errors
/// [`Error::Numerical`] if the factorisation fails.
pub fn momentum_leak(mesh: &TetMesh) -> Result<Vec<f64>> {
    let n = mesh.vertices().len();
    let mut known = vec![false; n];
    mesh.boundary_vertices().into_iter().for_each(|v| known[v as usize] = true);
    if known.iter().all(|&k| k) {
        return Ok(vec![HIGHEST_LEAK; n]);
    }
    let unit = Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::Uniform(1.0))?;
    let volume = super::lumped_mass(mesh, &unit);
    let time = LEAK_TIME * squared_length(mesh, &volume);
    let matrix = add_diagonal(&laplacian(mesh, &vec![time; mesh.tets().len()])?, &volume, 1.0);
    let mut phi = Mat::from_fn(n, 1, |i, _| if known[i] { 1.0 } else { 0.0 });
    extend(&matrix, &known, &mut phi, |matrix, rhs| {
        let solution = conjugate_gradients(matrix, &rhs.rb().col(0).iter().copied().collect::<Vec<_>>())?;
        rhs.col_mut(0).iter_mut().zip(solution).for_each(|(x, value)| *x = value);
        Ok(())
    })?;
    let lowest = phi.col(0).iter().copied().fold(f64::INFINITY, f64::min);
    let leak = |phi: f64| {
        if lowest < 1.0 { ((phi - lowest) / (1.0 - lowest)).clamp(0.0, HIGHEST_LEAK) } else { HIGHEST_LEAK }
    };
    Ok(phi.col(0).iter().map(|&phi| leak(phi)).collect())
}

/// Fills the rows that are not known so that the matrix times the whole is zero there.
fn extend(
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

/// Minus the matrix times the known values, at the unknown rows.
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

/// Square of the length of a straight bar with the same largest second moment a volume: 12 times that moment.
fn squared_length(mesh: &TetMesh, volume: &[f64]) -> f64 {
    let total: f64 = volume.iter().sum();
    let points = || mesh.vertices().iter().map(|&p| nalgebra::Vector3::from(p)).zip(volume);
    let centre = points().map(|(p, v)| p * *v).sum::<nalgebra::Vector3<f64>>() / total;
    let moments = points().map(|(p, v)| (p - centre) * (p - centre).transpose() * *v);
    12.0 * moments.sum::<nalgebra::Matrix3<f64>>().symmetric_eigenvalues().max() / total
}

fn check_known(n: usize, vertex_ids: &[u32], values: &[f64], k: usize) -> Result<()> {
    if vertex_ids.is_empty() || k == 0 {
        return Err(Error::Empty { what: "values" });
    }
    if values.len() != vertex_ids.len() * k {
        return Err(Error::Shape {
            what: "values",
            expected: format!("({}, {k})", vertex_ids.len()),
            got: format!("{} numbers", values.len()),
        });
    }
    if let Some(element) = vertex_ids.iter().position(|&v| v as usize >= n) {
        let index = vertex_ids[element].into();
        return Err(Error::Index { what: "vertex_ids", element, index, count: n });
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(element) => Err(Error::NotFinite { what: "values", element, value: values[element] }),
        None => Ok(()),
    }
}

/// Errors if some vertex is connected to no known one.
fn check_reach(mesh: &TetMesh, known: &[bool]) -> Result<()> {
    let mut parent: Vec<u32> = (0..known.len() as u32).collect();
    for tet in mesh.tets() {
        tet[1..].iter().for_each(|&v| unite(&mut parent, tet[0], v));
    }
    let mut reached = vec![false; known.len()];
    for vertex in (0..known.len()).filter(|&v| known[v]) {
        reached[root(&mut parent, vertex as u32) as usize] = true;
    }
    match (0..known.len()).find(|&v| !reached[root(&mut parent, v as u32) as usize]) {
        Some(vertex) => Err(Error::Numerical {
            what: "spreading values to the interior",
            why: format!("vertex {vertex} is connected to no vertex with a known value"),
        }),
        None => Ok(()),
    }
}

fn root(parent: &mut [u32], mut vertex: u32) -> u32 {
    while parent[vertex as usize] != vertex {
        parent[vertex as usize] = parent[parent[vertex as usize] as usize];
        vertex = parent[vertex as usize];
    }
    vertex
}

fn unite(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}
