//! Complementarity constraint between the secondary motion and a rig.

use faer::linalg::matmul::matmul;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Accum, Mat, Par};
use nalgebra::Vector3;

use super::independent::{Column, DEPENDENT, orthonormal_span, well_conditioned};
use crate::math::Sparse;
use crate::mesh::TetMesh;
use crate::parallel::*;
use crate::rig::Rig;
use crate::{Error, Result, check};

/// The ten products of two of `{x, y, z, 1}`.
const PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// Columns spanning the weight-space complementarity constraint: `J' D M B(w) = 0` exactly when `A' w = 0`.
///
/// For bone j and each pair `p <= q` of `{x, y, z, 1}`: `A_i = (1 - leak_i) m_i w_ij p_i q_i`, in
/// coordinates local to the bone and orthonormalised within it. Dependent columns are dropped, and nearly
/// dependent ones are replaced by their remainder: the span is the same, and well conditioned. A bone with
/// full leak everywhere (`leak = 1` wherever it has weight) counts as one without leak, because otherwise
/// its flesh would be tied to nothing. For each shape S of the rig, coordinate r of it and p of
/// `{x, y, z, 1}`: `A_i = (1 - leak_i) m_i S_ir p_i`, with the same rules: modes then imitate the shape in
/// no orientation. n x c, sparse, c at most ten a bone and twelve a shape; each column has length one.
/// Source: `[FastCD eq. 21, sec. 8.1]`, where D = 1 - leak.
///
/// # Errors
/// [`Error::Shape`] or [`Error::Range`] for a rig or leak that does not fit the mesh.
pub fn constraint(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<Sparse> {
    columns(mesh, mass, rig, leak, &PAIRS, &[0, 1, 2, 3])
}

/// Columns spanning the complementarity constraint of full-space displacements: `J' M D u = 0` exactly when
/// `A' u_c = 0` for each coordinate c of u.
///
/// For bone j and each p of `{x, y, z, 1}`: `A_i = (1 - leak_i) m_i w_ij p_i`; for each shape S of the rig
/// and coordinate r of it: `A_i = (1 - leak_i) m_i S_ir`, to exclude the shape in every orientation without
/// coupling coordinates. Otherwise as [`constraint`]. n x c, sparse, c at most four a bone and three a
/// shape. Source: `[FastCD eq. 3, 20]`.
///
/// # Errors
/// [`Error::Shape`] or [`Error::Range`] for a rig or leak that does not fit the mesh.
pub fn displacement_constraint(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<Sparse> {
    columns(mesh, mass, rig, leak, &[(0, 3), (1, 3), (2, 3), (3, 3)], &[3])
}

/// products: pairs of `{x, y, z, 1}` multiplied with the weights of bones. factors: subset multiplied with
/// shapes.
fn columns(
    mesh: &TetMesh,
    mass: &[f64],
    rig: &Rig,
    leak: &[f64],
    products: &[(usize, usize)],
    factors: &[usize],
) -> Result<Sparse> {
    check_inputs(mesh, mass, rig, leak)?;
    let kept: Vec<f64> = mass.iter().zip(leak).map(|(m, leak)| (1.0 - leak) * m).collect();
    // A bone or shape with full leak everywhere counts as one without leak.
    let weight = |rows: &[u32]| {
        let leaks_fully = rows.iter().all(|&vertex| kept[vertex as usize] == 0.0);
        if leaks_fully { mass } else { &kept[..] }
    };
    let bone = |bone| {
        let (rows, weights): (Vec<u32>, Vec<f64>) = rig.bone(bone).iter().copied().unzip();
        let weight = weight(&rows);
        Block::of_bone(mesh, rows, &weights, weight, products)
    };
    let shape = |shape: &Vec<(u32, [f64; 3])>| {
        let (rows, moves): (Vec<u32>, Vec<[f64; 3]>) = shape.iter().copied().unzip();
        let weight = weight(&rows);
        Block::of_shape(mesh, rows, &moves, weight, factors)
    };
    let mut blocks: Vec<Block> = (0..rig.bone_count()).into_par_iter().map(bone).collect();
    blocks.extend(rig.shapes().iter().map(shape));
    let n = mesh.vertices().len();
    let gram = gram(&blocks);
    let columns = blocks.into_iter().flat_map(Block::into_columns).collect();
    Ok(assemble(n, &well_conditioned(n, columns, &gram)?))
}

/// Columns of one bone or shape: dense on its vertices.
struct Block {
    rows: Vec<u32>,
    columns: Vec<Vec<f64>>,
}

impl Block {
    fn of_bone(
        mesh: &TetMesh,
        rows: Vec<u32>,
        weights: &[f64],
        weight: &[f64],
        products: &[(usize, usize)],
    ) -> Self {
        let places = local(mesh, &rows, weights.iter().map(|w| w.abs()));
        let column = |&(p, q): &(usize, usize)| {
            let entry = |i: usize| weight[rows[i] as usize] * weights[i] * places[i][p] * places[i][q];
            unit((0..rows.len()).map(entry).collect())
        };
        let span = products.iter().map(column).collect();
        Self::new(rows, span)
    }

    fn of_shape(
        mesh: &TetMesh,
        rows: Vec<u32>,
        moves: &[[f64; 3]],
        weight: &[f64],
        factors: &[usize],
    ) -> Self {
        let places = local(mesh, &rows, moves.iter().map(|x| Vector3::from(*x).norm()));
        let column = |(r, p): (usize, usize)| {
            let entry = |i: usize| weight[rows[i] as usize] * moves[i][r] * places[i][p];
            unit((0..rows.len()).map(entry).collect())
        };
        let span = (0..3).flat_map(|r| factors.iter().map(move |&p| (r, p))).map(column).collect();
        Self::new(rows, span)
    }

    fn new(rows: Vec<u32>, columns: Vec<Vec<f64>>) -> Self {
        Self { columns: orthonormal_span(columns, DEPENDENT), rows }
    }

    /// Some rows of the columns.
    fn pick(&self, rows: impl ExactSizeIterator<Item = usize> + Clone) -> Mat<f64> {
        let mut picked = Mat::zeros(rows.len(), self.columns.len());
        for (into, from) in picked.col_iter_mut().zip(&self.columns) {
            into.iter_mut().zip(rows.clone()).for_each(|(into, row)| *into = from[row]);
        }
        picked
    }

    fn into_columns(self) -> impl Iterator<Item = Column> {
        self.columns.into_iter().map(move |values| Column { rows: self.rows.clone(), values })
    }
}

/// `[x y z 1]` of some vertices, relative to their weighted centre and scaled to at most one.
fn local(mesh: &TetMesh, rows: &[u32], weights: impl Iterator<Item = f64> + Clone) -> Vec<[f64; 4]> {
    let places = || rows.iter().map(|&v| Vector3::from(mesh.vertices()[v as usize]));
    let total: f64 = weights.clone().sum();
    let centre = places().zip(weights).map(|(x, w)| x * w).sum::<Vector3<f64>>() / total;
    let spread = places().map(|x| (x - centre).norm()).fold(0.0, f64::max);
    let scale = if spread > 0.0 { 1.0 / spread } else { 1.0 };
    let extended = |x: Vector3<f64>| {
        let local = (x - centre) * scale;
        [local.x, local.y, local.z, 1.0]
    };
    places().map(extended).collect()
}

fn unit(mut column: Vec<f64>) -> Vec<f64> {
    let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        column.iter_mut().for_each(|x| *x /= length);
    }
    column
}

/// Gram matrix of all columns of all bones.
fn gram(blocks: &[Block]) -> Mat<f64> {
    let starts = starts(blocks);
    let pairs: Vec<(usize, usize)> = (0..blocks.len()).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
    let products: Vec<Option<Mat<f64>>> =
        pairs.par_iter().map(|&(a, b)| overlap(&blocks[a], &blocks[b])).collect();
    let mut gram = Mat::zeros(starts[blocks.len()], starts[blocks.len()]);
    for (&(a, b), product) in pairs.iter().zip(&products) {
        if let Some(product) = product {
            for i in 0..product.nrows() {
                for j in 0..product.ncols() {
                    gram[(starts[a] + i, starts[b] + j)] = product[(i, j)];
                    gram[(starts[b] + j, starts[a] + i)] = product[(i, j)];
                }
            }
        }
    }
    gram
}

/// Products of the columns of two bones over their common vertices, if any.
fn overlap(a: &Block, b: &Block) -> Option<Mat<f64>> {
    let (mut i, mut j) = (0, 0);
    let mut rows = Vec::new();
    while i < a.rows.len() && j < b.rows.len() {
        match a.rows[i].cmp(&b.rows[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                rows.push((i, j));
                i += 1;
                j += 1;
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    let (left, right) = (a.pick(rows.iter().map(|pair| pair.0)), b.pick(rows.iter().map(|pair| pair.1)));
    let mut product = Mat::zeros(left.ncols(), right.ncols());
    matmul(&mut product, Accum::Replace, left.transpose(), &right, 1.0, Par::Seq);
    Some(product)
}

/// First column of each bone, then the total number.
fn starts(blocks: &[Block]) -> Vec<usize> {
    let widths = blocks.iter().map(|block| block.columns.len());
    std::iter::once(0)
        .chain(widths.scan(0, |sum, width| {
            *sum += width;
            Some(*sum)
        }))
        .collect()
}

fn assemble(n: usize, columns: &[Column]) -> Sparse {
    let entries = columns.iter().map(|column| column.rows.len()).sum();
    let (mut ends, mut rows, mut values) =
        (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
    for column in columns {
        rows.extend_from_slice(&column.rows);
        values.extend_from_slice(&column.values);
        ends.push(rows.len() as u32);
    }
    SparseColMat::new(SymbolicSparseColMat::new_checked(n, columns.len(), ends, None, rows), values)
}

fn check_inputs(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<()> {
    let n = mesh.vertices().len();
    let lengths = [("mass", mass.len()), ("rig", rig.vertex_count()), ("leak", leak.len())];
    if let Some(&(what, got)) = lengths.iter().find(|(_, length)| *length != n) {
        return Err(Error::Shape { what, expected: format!("{n} vertices"), got: format!("{got}") });
    }
    check::all("leak", "numbers in [0, 1]", leak, |leak| (0.0..=1.0).contains(&leak))
}
