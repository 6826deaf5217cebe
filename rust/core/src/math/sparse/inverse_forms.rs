//! Halves of solves with a factor: quadratic forms of the inverse, and solutions under changed loads.

use faer::{Mat, MatRef};

use super::cholesky::SparseCholesky;
use super::matrix::Sparse;
use super::substitution::{LANES, Row};
use crate::math::dense::products::{inner, product};

/// `Y = L^-1 A` for sparse columns A, half of the work of `K^-1 A`.
pub(crate) struct ForwardSubstituted {
    /// Nonzero rows, in elimination order: those of the nodes above the rows of A.
    rows: Vec<usize>,
    /// Y in these rows.
    values: Mat<f64>,
    /// Number of these rows before the constraints.
    split: usize,
}

impl ForwardSubstituted {
    /// `A' K^-1 A = Y' D Y`, k x k; bordered, `A' X` with the X that [`SparseCholesky::solve_in_place`]
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

/// `y = L^-1 b` for dense columns b, the first half of `K^-1 b`.
pub(crate) struct Halfway<'a> {
    factor: &'a SparseCholesky,
    /// Place of each row in a block, in elimination order.
    places: Vec<usize>,
    /// y of [`LANES`] columns each.
    blocks: Vec<Vec<Row>>,
    count: usize,
}

impl<'a> Halfway<'a> {
    /// Forward substitution of columns, n x c.
    pub(crate) fn new(factor: &'a SparseCholesky, columns: MatRef<'_, f64>) -> Self {
        let count = columns.ncols();
        let block = |first: usize| {
            let load = |row: usize, k: usize| columns[(factor.order()[row] as usize, first + k)];
            let mut scratch = Vec::new();
            let mut loads = Mat::from_fn(columns.nrows(), LANES.min(count - first), load);
            factor.forward_substitution(&mut scratch, loads.as_mut());
            scratch
        };
        let blocks = (0..count).step_by(LANES).map(block).collect();
        Self { factor, places: factor.places(), blocks, count }
    }

    /// `b' K^-1 b` of each column, and `A' K^-1 b` with the half-solved columns A.
    pub(crate) fn forms(&self, half: &ForwardSubstituted) -> (Vec<f64>, Mat<f64>) {
        let unconstrained = self.factor.order().len();
        let energy = |block: &Vec<Row>| {
            let mut sums = [0.0; LANES];
            for (row, &place) in self.places.iter().enumerate() {
                let sign = if row < unconstrained { 1.0 } else { -1.0 };
                (0..LANES).for_each(|k| sums[k] += sign * block[place][k] * block[place][k]);
            }
            sums
        };
        let energies = self.blocks.iter().flat_map(energy).take(self.count).collect();
        let shared = Mat::from_fn(half.rows.len(), self.count, |i, c| {
            self.blocks[c / LANES][self.places[half.rows[i]]][c % LANES]
        });
        (energies, half.product(shared.as_ref()))
    }

    /// `K^-1 (b - A f)` for some of the columns b and forces f of each, s x c.
    pub(crate) fn solve(&self, chosen: &[usize], half: &ForwardSubstituted, forces: &Mat<f64>) -> Mat<f64> {
        let order = self.factor.order();
        let mut solved = Mat::zeros(order.len(), chosen.len());
        for (block, chosen) in chosen.chunks(LANES).enumerate() {
            let mut scratch = vec![[0.0; LANES]; self.blocks[0].len()];
            for (lane, &c) in chosen.iter().enumerate() {
                let from = &self.blocks[c / LANES];
                self.places.iter().for_each(|&place| scratch[place][lane] = from[place][c % LANES]);
            }
            let of_chosen = Mat::from_fn(forces.nrows(), chosen.len(), |s, lane| forces[(s, chosen[lane])]);
            let pulled = product(half.values.as_ref(), of_chosen.as_ref());
            for (i, &row) in half.rows.iter().enumerate() {
                (0..chosen.len()).for_each(|lane| scratch[self.places[row]][lane] -= pulled[(i, lane)]);
            }
            let mut out = Mat::zeros(order.len(), chosen.len());
            self.factor.finish(&mut scratch, out.as_mut());
            for (lane, column) in out.col_iter().enumerate() {
                let mut into = solved.col_mut(block * LANES + lane);
                order.iter().zip(column.iter()).for_each(|(&row, x)| into[row as usize] = *x);
            }
        }
        solved
    }
}

impl SparseCholesky {
    /// Forward substitution for sparse columns, n x k: cheap for columns on a small part of the mesh.
    pub(crate) fn forward_substituted(&self, columns: &Sparse) -> ForwardSubstituted {
        let mut order = vec![0; self.order().len()];
        self.order().iter().enumerate().for_each(|(at, &row)| order[row as usize] = at);
        let (places, mut scratch) = (self.places(), Vec::new());
        let blocks: Vec<Vec<(usize, Row)>> = (0..columns.ncols())
            .step_by(LANES)
            .map(|first| {
                let width = LANES.min(columns.ncols() - first);
                let mut loads = Mat::zeros(order.len(), width);
                for k in 0..width {
                    let entries = columns.row_idx_of_col(first + k).zip(columns.val_of_col(first + k));
                    entries.for_each(|(row, value)| loads[(order[row], k)] += value);
                }
                self.forward_substitution(&mut scratch, loads.as_mut());
                let rows = places.iter().map(|&place| scratch[place]).enumerate();
                rows.filter(|(_, row)| row.iter().any(|&x| x != 0.0)).collect()
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
        let split = rows.partition_point(|&row| row < order.len());
        ForwardSubstituted { rows, values, split }
    }
}
