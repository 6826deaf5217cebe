//! Restriction of a problem to some rows, and extension back.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Mat, MatRef};

use crate::math::Sparse;

/// Index of a row outside of the selection.
const NONE: u32 = u32::MAX;

/// Rows of a problem of size n, ascending.
pub(crate) struct Selection {
    rows: Vec<u32>,
    places: Vec<u32>,
}

impl Selection {
    /// The rows with `selected` true.
    pub(crate) fn new(n: usize, selected: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<u32> = (0..n).filter(|&row| selected(row)).map(|row| row as u32).collect();
        let mut places = vec![NONE; n];
        (0..).zip(&rows).for_each(|(place, &row)| places[row as usize] = place);
        Self { rows, places }
    }

    /// The selected rows.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// `true` if a row is selected.
    pub(crate) fn contains(&self, row: usize) -> bool {
        self.places[row] != NONE
    }

    /// Index of a row among the selected ones.
    pub(crate) fn place(&self, row: u32) -> Option<u32> {
        Some(self.places[row as usize]).filter(|&place| place != NONE)
    }

    /// `true` if every row is selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.len() == self.places.len()
    }

    /// The selected rows and columns of a square matrix.
    pub(crate) fn square(&self, matrix: &Sparse) -> Sparse {
        self.block(matrix, self.rows.iter().copied())
    }

    /// The selected rows of a matrix with all columns.
    pub(crate) fn rows_of(&self, matrix: &Sparse) -> Sparse {
        self.block(matrix, 0..matrix.ncols() as u32)
    }

    /// The selected rows of a dense matrix.
    pub(crate) fn rows_of_dense(&self, matrix: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(self.rows.len(), matrix.ncols(), |i, j| matrix[(self.rows[i] as usize, j)])
    }

    /// Number of all rows.
    pub(crate) fn total(&self) -> usize {
        self.places.len()
    }

    fn block(&self, matrix: &Sparse, columns: impl ExactSizeIterator<Item = u32>) -> Sparse {
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        let width = columns.len();
        for column in columns.map(|column| column as usize) {
            for (&row, &value) in matrix.row_idx_of_col_raw(column).iter().zip(matrix.val_of_col(column)) {
                if self.contains(row as usize) {
                    rows.push(self.places[row as usize]);
                    values.push(value);
                }
            }
            starts.push(rows.len() as u32);
        }
        let pattern = SymbolicSparseColMat::new_checked(self.rows.len(), width, starts, None, rows);
        SparseColMat::new(pattern, values)
    }

    /// The selected of n numbers.
    pub(crate) fn values(&self, values: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|&row| values[row as usize]).collect()
    }

    /// Extension to all n rows of a matrix, with zeros outside of the selection.
    pub(crate) fn spread(&self, selected: MatRef<'_, f64>) -> Mat<f64> {
        let value = |row: usize, column| match self.places[row] {
            NONE => 0.0,
            place => selected[(place as usize, column)],
        };
        Mat::from_fn(self.places.len(), selected.ncols(), value)
    }
}
