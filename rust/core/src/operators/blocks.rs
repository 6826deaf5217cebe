//! Stiffness of displacements: 3 x 3 blocks for vertices with a common element.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use nalgebra::{Matrix3, Vector3};

use crate::Result;
use crate::material::Hessian;
use crate::math::rows::Rows;
use crate::math::{Sparse, SparseCholesky};

/// A symmetric matrix of 3 x 3 blocks, stored whole; block rows are vertices.
pub(crate) struct BlockMatrix {
    starts: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Matrix3<f64>>,
}

impl BlockMatrix {
    /// Zero matrix with blocks for vertices with a common element, and on the diagonal.
    pub(crate) fn new<'a>(rows: usize, elements: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut near: Vec<Vec<u32>> = (0..rows as u32).map(|row| vec![row]).collect();
        for corners in elements {
            let inside = || corners.iter().copied().filter(|&corner| (corner as usize) < rows);
            inside().for_each(|row| near[row as usize].extend(inside().filter(|&other| other != row)));
        }
        let mut starts = vec![0];
        let mut columns = Vec::new();
        for mut row in near {
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            starts.push(columns.len());
        }
        Self { blocks: vec![Matrix3::zeros(); columns.len()], starts, columns }
    }

    /// Number of block rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Sets all to zero.
    pub(crate) fn clear(&mut self) {
        self.blocks.fill(Matrix3::zeros());
    }

    /// Adds to the block of two vertices with a common element.
    pub(crate) fn add(&mut self, row: usize, column: usize, block: &Matrix3<f64>) {
        let own = self.starts[row]..self.starts[row + 1];
        if let Ok(place) = self.columns[own.clone()].binary_search(&(column as u32)) {
            self.blocks[own.start + place] += block;
        }
    }

    /// Adds the second derivative of a function of `F = sum_i x_i g_i'` for corners among all vertices of a
    /// body; corners beyond the rows are fixed.
    pub(crate) fn add_element(&mut self, corners: &[u32], gradients: &[[f64; 3]], hessian: &Hessian) {
        for (&row, a) in corners.iter().zip(gradients) {
            for (&column, b) in corners.iter().zip(gradients) {
                if (row as usize) < self.rows() && (column as usize) < self.rows() {
                    self.add(row as usize, column as usize, &contract(hessian, a, b));
                }
            }
        }
    }

    /// Product with rows.
    pub(crate) fn multiply(&self, x: &Rows, out: &mut Rows) {
        for (row, out) in out.iter_mut().enumerate() {
            let own = self.starts[row]..self.starts[row + 1];
            let blocks = self.columns[own.clone()].iter().zip(&self.blocks[own]);
            *out = blocks
                .map(|(&column, block)| block * Vector3::from(x[column as usize]))
                .sum::<Vector3<f64>>()
                .into();
        }
    }

    /// Factor of the matrix, bordered by a constraint on each coordinate, n x c.
    ///
    /// # Errors
    /// As [`SparseCholesky::constrained`].
    pub(crate) fn factor(&self, constraint: Option<&Sparse>) -> Result<SparseCholesky> {
        match constraint {
            Some(constraint) => SparseCholesky::constrained(&self.whole(), &for_each_coordinate(constraint)),
            None => SparseCholesky::new(&self.whole()),
        }
    }

    /// 3n x 3n, coordinates of a vertex adjacent.
    pub(crate) fn whole(&self) -> Sparse {
        let (mut ends, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..self.rows() {
            let own = self.starts[row]..self.starts[row + 1];
            for c in 0..3 {
                for (other, block) in self.columns[own.clone()].iter().zip(&self.blocks[own.clone()]) {
                    rows.extend([3 * other, 3 * other + 1, 3 * other + 2]);
                    // By symmetry the row of this vertex serves as its column.
                    values.extend((0..3).map(|d| block[(c, d)]));
                }
                ends.push(rows.len() as u32);
            }
        }
        sparse(3 * self.rows(), ends, rows, values)
    }
}

/// Columns of one coordinate, repeated for all three: 3n x 3c.
pub(crate) fn for_each_coordinate(columns: &Sparse) -> Sparse {
    let (mut ends, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..columns.ncols() {
        for c in 0..3 {
            rows.extend(columns.row_idx_of_col_raw(column).iter().map(|row| 3 * row + c));
            values.extend_from_slice(columns.val_of_col(column));
            ends.push(rows.len() as u32);
        }
    }
    sparse(3 * columns.nrows(), ends, rows, values)
}

fn sparse(size: usize, ends: Vec<u32>, rows: Vec<u32>, values: Vec<f64>) -> Sparse {
    let columns = ends.len() - 1;
    SparseColMat::new(SymbolicSparseColMat::new_checked(size, columns, ends, None, rows), values)
}

/// Applies the inverse to rows, in place.
pub(crate) fn block_solve(factor: &SparseCholesky, rows: &mut Rows) {
    let flat = rows.as_flattened_mut();
    let count = flat.len();
    factor.solve_in_place(faer::MatMut::from_column_major_slice_mut(flat, count, 1));
}

/// `sum_kl H_(ik)(jl) a_k b_l`, with matrices flattened column by column.
fn contract(hessian: &Hessian, a: &[f64; 3], b: &[f64; 3]) -> Matrix3<f64> {
    let mut block = Matrix3::zeros();
    for k in 0..3 {
        for l in 0..3 {
            block += a[k] * b[l] * hessian.fixed_view::<3, 3>(3 * k, 3 * l);
        }
    }
    block
}
