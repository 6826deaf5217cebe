//! What keeps the secondary motion complementary to a rig.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Accum, ColMut, ColRef, Mat, MatRef, Par, Side};
use nalgebra::Vector3;
use rayon::prelude::*;

use crate::math::Sparse;
use crate::mesh::TetMesh;
use crate::rig::Rig;
use crate::{Error, Result};

/// A column is dependent when what others leave of it is below this share of its length.
const DEPENDENT: f64 = 1e-7;
/// A column is nearly dependent when what others leave of it is below this share of its length.
const NEARLY_DEPENDENT: f64 = 1e-3;
/// Passes that make columns orthogonal to others; each takes away all but rounding, relative to what was left.
const PASSES: usize = 3;
/// The ten products of two of `{x, y, z, 1}`.
const PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// Columns that span the weight-space complementarity constraint: `J' D M B(w) = 0` exactly when `A' w = 0`.
///
/// For bone j and each pair `p <= q` of `{x, y, z, 1}`: `A_i = (1 - leak_i) m_i w_ij p_i q_i`, in coordinates local
/// to the bone and orthonormalised within it (the same span); columns that depend on others are dropped.
/// A bone that leaks fully everywhere (`leak = 1` wherever it has weight) counts as one that does not leak at all:
/// otherwise nothing would tie its flesh to it. Columns of which others leave a thousandth or less are replaced by that
/// rest, so that the result is well conditioned. n x c, sparse, c at most ten a bone; each column has length one.
/// Source: `[FastCD eq. 21, sec. 8.1]`, where D = 1 - leak.
///
/// # Errors
/// [`Error::Shape`] or [`Error::Range`] for a rig or leak that does not fit the mesh.
pub fn constraint(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<Sparse> {
    columns(mesh, mass, rig, leak, &PAIRS)
}

/// Columns that span the complementarity constraint of full-space displacements: `J' M D u = 0` exactly when
/// `A' u_c = 0` for each coordinate c of u.
///
/// For bone j and each p of `{x, y, z, 1}`: `A_i = (1 - leak_i) m_i w_ij p_i`; otherwise as [`constraint`].
/// n x c, sparse, c at most four a bone. Source: `[FastCD eq. 3, 20]`.
///
/// # Errors
/// [`Error::Shape`] or [`Error::Range`] for a rig or leak that does not fit the mesh.
pub fn displacement_constraint(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<Sparse> {
    columns(mesh, mass, rig, leak, &[(0, 3), (1, 3), (2, 3), (3, 3)])
}

fn columns(
    mesh: &TetMesh,
    mass: &[f64],
    rig: &Rig,
    leak: &[f64],
    products: &[(usize, usize)],
) -> Result<Sparse> {
    check_inputs(mesh, mass, rig, leak)?;
    let kept: Vec<f64> = mass.iter().zip(leak).map(|(m, leak)| (1.0 - leak) * m).collect();
    let block = |bone| {
        let support = rig.bone(bone);
        let leaks_fully = support.iter().all(|&(vertex, _)| kept[vertex as usize] == 0.0);
        Block::new(mesh, support, if leaks_fully { mass } else { &kept }, products)
    };
    let blocks: Vec<Block> = (0..rig.bone_count()).into_par_iter().map(block).collect();
    let gram = gram(&blocks);
    let kept = independent(gram.clone());
    let (distinct, near) = kept.split_at(kept.partition_point(|&(_, left)| left > NEARLY_DEPENDENT));
    let of_blocks = |kept: &[(usize, f64)]| -> Vec<Column> {
        kept.iter().map(|&(place, _)| Column::of_block(&blocks, place)).collect()
    };
    let mut columns = of_blocks(distinct);
    if !near.is_empty() {
        let gram = Mat::from_fn(distinct.len(), distinct.len(), |i, j| gram[(distinct[i].0, distinct[j].0)]);
        let rests = rests(mesh.vertices().len(), &columns, gram.as_ref(), &of_blocks(near))?;
        columns.extend(rests.col_iter().map(Column::of_dense));
    }
    Ok(assemble(mesh.vertices().len(), &columns))
}

/// The columns of one bone: dense on the vertices it moves.
struct Block<'a> {
    support: &'a [(u32, f64)],
    columns: Mat<f64>,
}

impl<'a> Block<'a> {
    fn new(mesh: &TetMesh, support: &'a [(u32, f64)], weight: &[f64], products: &[(usize, usize)]) -> Self {
        let weighted = || support.iter().map(|&(v, w)| (Vector3::from(mesh.vertices()[v as usize]), w.abs()));
        let total: f64 = weighted().map(|(_, w)| w).sum();
        let centre = weighted().map(|(x, w)| x * w).sum::<Vector3<f64>>() / total;
        let spread = weighted().map(|(x, _)| (x - centre).norm()).fold(0.0, f64::max);
        let scale = if spread > 0.0 { 1.0 / spread } else { 1.0 };
        let mut columns = Mat::zeros(support.len(), products.len());
        for (row, &(vertex, w)) in support.iter().enumerate() {
            let local = (Vector3::from(mesh.vertices()[vertex as usize]) - centre) * scale;
            let extended = [local.x, local.y, local.z, 1.0];
            for (j, &(p, q)) in products.iter().enumerate() {
                columns[(row, j)] = weight[vertex as usize] * w * extended[p] * extended[q];
            }
        }
        Self { support, columns: orthonormal_span(columns) }
    }
}

/// Orthonormal columns with the same span, by Gram-Schmidt (twice) on the longest column left each time.
fn orthonormal_span(mut left: Mat<f64>) -> Mat<f64> {
    let lengths: Vec<f64> = left.col_iter().map(|c| c.norm_l2()).collect();
    for (j, &length) in lengths.iter().enumerate().filter(|(_, l)| **l > 0.0) {
        left.col_mut(j).iter_mut().for_each(|x| *x /= length);
    }
    let mut span: Vec<usize> = Vec::new();
    loop {
        let candidates = (0..left.ncols()).filter(|j| !span.contains(j));
        let best = candidates
            .map(|j| (left.col(j).norm_l2(), j))
            .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
        if best.0 <= DEPENDENT {
            return Mat::from_fn(left.nrows(), span.len(), |i, j| left[(i, span[j])]);
        }
        for &j in &span {
            remove(&mut left, j, best.1);
        }
        let length = left.col(best.1).norm_l2();
        left.col_mut(best.1).iter_mut().for_each(|x| *x /= length);
        span.push(best.1);
        (0..left.ncols())
            .filter(|j| !span.contains(j))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|j| remove(&mut left, best.1, j));
    }
}

/// Takes the part along unit column `along` out of another column.
fn remove(matrix: &mut Mat<f64>, along: usize, from: usize) {
    let part: f64 = (0..matrix.nrows()).map(|i| matrix[(i, along)] * matrix[(i, from)]).sum();
    (0..matrix.nrows()).for_each(|i| matrix[(i, from)] -= part * matrix[(i, along)]);
}

/// Inner products of all columns of all bones.
fn gram(blocks: &[Block<'_>]) -> Mat<f64> {
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

/// Products of the columns of two bones over the vertices that both move, if there are any.
fn overlap(a: &Block<'_>, b: &Block<'_>) -> Option<Mat<f64>> {
    let (mut i, mut j) = (0, 0);
    let mut rows = Vec::new();
    while i < a.support.len() && j < b.support.len() {
        match a.support[i].0.cmp(&b.support[j].0) {
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
    let gather = |block: &Block<'_>, pick: &dyn Fn(usize) -> usize| {
        Mat::from_fn(rows.len(), block.columns.ncols(), |row, c| block.columns[(pick(row), c)])
    };
    let (left, right) = (gather(a, &|row| rows[row].0), gather(b, &|row| rows[row].1));
    let mut product = Mat::zeros(left.ncols(), right.ncols());
    matmul(&mut product, Accum::Replace, left.transpose(), &right, 1.0, Par::Seq);
    Some(product)
}

/// Where each bone's columns start, and their number at the end.
fn starts(blocks: &[Block<'_>]) -> Vec<usize> {
    let widths = blocks.iter().map(|block| block.columns.ncols());
    std::iter::once(0)
        .chain(widths.scan(0, |sum, width| {
            *sum += width;
            Some(*sum)
        }))
        .collect()
}

/// A largest independent set of columns, by Cholesky with pivoting on their inner products: each with the length
/// that those before it leave of it, which descends.
fn independent(mut gram: Mat<f64>) -> Vec<(usize, f64)> {
    let size = gram.nrows();
    let mut left: Vec<usize> = (0..size).collect();
    let mut kept = Vec::new();
    while let Some(place) =
        (0..left.len()).reduce(|a, b| if gram[(left[b], left[b])] > gram[(left[a], left[a])] { b } else { a })
    {
        let pivot = left.swap_remove(place);
        if gram[(pivot, pivot)] <= DEPENDENT * DEPENDENT {
            break;
        }
        kept.push((pivot, gram[(pivot, pivot)].sqrt()));
        let row: Vec<f64> = left.iter().map(|&i| gram[(i, pivot)]).collect();
        let inverse = 1.0 / gram[(pivot, pivot)];
        for (b, &j) in left.iter().enumerate().filter(|(b, _)| row[*b] != 0.0) {
            for (a, &i) in left.iter().enumerate() {
                gram[(i, j)] -= row[a] * row[b] * inverse;
            }
        }
    }
    kept
}

/// A column of the result.
struct Column {
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Column {
    fn of_block(blocks: &[Block<'_>], place: usize) -> Self {
        let starts = starts(blocks);
        let bone = starts.partition_point(|&start| start <= place) - 1;
        let block = &blocks[bone];
        Self {
            rows: block.support.iter().map(|s| s.0).collect(),
            values: block.columns.col(place - starts[bone]).iter().copied().collect(),
        }
    }

    fn of_dense(dense: ColRef<'_, f64>) -> Self {
        let (rows, values) = (0..).zip(dense.iter().copied()).filter(|(_, value)| *value != 0.0).unzip();
        Self { rows, values }
    }

    fn dot(&self, dense: ColRef<'_, f64>) -> f64 {
        self.rows.iter().zip(&self.values).map(|(&row, value)| value * dense[row as usize]).sum()
    }

    fn subtract_from(&self, mut dense: ColMut<'_, f64>, factor: f64) {
        self.rows.iter().zip(&self.values).for_each(|(&row, value)| dense[row as usize] -= factor * value);
    }
}

/// Orthonormal columns that span, together with `others`, what the columns `near` span with them; n x k.
///
/// `gram` holds the inner products of `others`.
fn rests(n: usize, others: &[Column], gram: MatRef<'_, f64>, near: &[Column]) -> Result<Mat<f64>> {
    let factor = gram.llt(Side::Lower).map_err(|error| Error::Numerical {
        what: "constraint",
        why: format!("its columns are dependent ({error:?})"),
    })?;
    let mut rests = Mat::zeros(n, near.len());
    near.iter().enumerate().for_each(|(j, column)| column.subtract_from(rests.col_mut(j), -1.0));
    for _ in 0..PASSES {
        rests.par_col_iter_mut().for_each(|mut rest| {
            let along = Mat::from_fn(others.len(), 1, |i, _| others[i].dot(rest.rb()));
            let shares = factor.solve(&along);
            let subtract = |(i, other): (usize, &Column)| other.subtract_from(rest.rb_mut(), shares[(i, 0)]);
            others.iter().enumerate().for_each(subtract);
        });
        rests = orthonormal_span(rests);
    }
    Ok(rests)
}

fn assemble(n: usize, columns: &[Column]) -> Sparse {
    let mut ends = vec![0];
    ends.extend(columns.iter().scan(0, |end, column| {
        *end += column.rows.len() as u32;
        Some(*end)
    }));
    let rows = columns.iter().flat_map(|column| column.rows.iter().copied()).collect();
    let values = columns.iter().flat_map(|column| column.values.iter().copied()).collect();
    SparseColMat::new(SymbolicSparseColMat::new_checked(n, columns.len(), ends, None, rows), values)
}

fn check_inputs(mesh: &TetMesh, mass: &[f64], rig: &Rig, leak: &[f64]) -> Result<()> {
    let n = mesh.vertices().len();
    let lengths = [("mass", mass.len()), ("rig", rig.vertex_count()), ("leak", leak.len())];
    if let Some(&(what, got)) = lengths.iter().find(|(_, length)| *length != n) {
        return Err(Error::Shape { what, expected: format!("{n} vertices"), got: format!("{got}") });
    }
    match leak.iter().find(|leak| !(0.0..=1.0).contains(*leak)) {
        Some(&got) => Err(Error::Range { what: "leak", expected: "numbers in [0, 1]", got }),
        None => Ok(()),
    }
}
