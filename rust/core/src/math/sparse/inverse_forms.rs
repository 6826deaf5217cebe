//! Quadratic forms of a factored problem's inverse, for at most half the cost of a solve.

use faer::{Mat, MatRef};

use super::cholesky::{Room, SparseCholesky};
use super::matrix::Sparse;
use super::substitution::{LANES, Row};
use crate::math::dense::products::inner;

/// `Y = L^-1 B` for sparse columns B, half of the work of `K^-1 B`.
pub(crate) struct HalfSolved {
    /// Nonzero rows, in elimination order: those of the nodes above the rows of B.
    rows: Vec<usize>,
    /// Y in these rows.
    values: Mat<f64>,
    /// Number of these rows before the constraints.
    split: usize,
}

impl HalfSolved {
    /// `B' K^-1 B = Y' D Y`, k x k; bordered, `B' X` with the X that [`SparseCholesky::solve_in_place`]
    /// finds.
    pub(crate) fn inverse_gram(&self) -> Mat<f64> {
        self.product(self.values.as_ref())
    }

    /// `Y' D y` for other rows y.
    fn product(&self, other: MatRef<'_, f64>) -> Mat<f64> {
        let (above, below) = self.values.as_ref().split_at_row(self.split);
        let (other_above, other_below) = other.split_at_row(self.split);
        inner(above, other_above) - inner(below, other_below)
    }
}

impl SparseCholesky {
    /// Forward substitution for sparse columns, n x k: cheap for columns on a small part of the mesh.
    pub(crate) fn half_solved(&self, columns: &Sparse) -> HalfSolved {
        let mut place = vec![0; self.order().len()];
        self.order().iter().enumerate().for_each(|(at, &row)| place[row as usize] = at);
        let mut room = Room::default();
        let blocks: Vec<Vec<(usize, Row)>> = (0..columns.ncols())
            .step_by(LANES)
            .map(|first| {
                let width = LANES.min(columns.ncols() - first);
                let mut loads = Mat::zeros(place.len(), width);
                for k in 0..width {
                    let entries = columns.row_idx_of_col(first + k).zip(columns.val_of_col(first + k));
                    entries.for_each(|(row, value)| loads[(place[row], k)] += value);
                }
                self.half_solve(&mut room, loads.as_mut())
            })
            .collect();
        let mut rows: Vec<usize> = blocks.iter().flatten().map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut values = Mat::zeros(rows.len(), columns.ncols());
        for (block, entries) in blocks.iter().enumerate() {
            let mut at = 0;
            for (row, lanes) in entries {
                at += rows[at..].partition_point(|other| other < row);
                for k in block * LANES..columns.ncols().min((block + 1) * LANES) {
                    values[(at, k)] = lanes[k % LANES];
                }
            }
        }
        let split = rows.partition_point(|&row| row < place.len());
        HalfSolved { rows, values, split }
    }

    /// `b' K^-1 b` of each column b, n x k, and `B' K^-1 b` with the half-solved columns B.
    pub(crate) fn inverse_forms(&self, columns: MatRef<'_, f64>, half: &HalfSolved) -> (Vec<f64>, Mat<f64>) {
        let mut energies = vec![0.0; columns.ncols()];
        let mut shared = Mat::zeros(half.rows.len(), columns.ncols());
        let mut room = Room::default();
        for first in (0..columns.ncols()).step_by(LANES) {
            let width = LANES.min(columns.ncols() - first);
            let load = |row: usize, k: usize| columns[(self.order()[row] as usize, first + k)];
            let solved = self.half_solve(&mut room, Mat::from_fn(columns.nrows(), width, load).as_mut());
            let mut at = 0;
            for (row, lanes) in solved {
                let sign = if row < self.order().len() { 1.0 } else { -1.0 };
                (0..width).for_each(|k| energies[first + k] += sign * lanes[k] * lanes[k]);
                at += half.rows[at..].partition_point(|&other| other < row);
                if half.rows.get(at) == Some(&row) {
                    (0..width).for_each(|k| shared[(at, first + k)] = lanes[k]);
                }
            }
        }
        (energies, half.product(shared.as_ref()))
    }
}
