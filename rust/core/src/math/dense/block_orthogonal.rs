//! A growing set of tall columns, and products of a few columns with many.

use faer::linalg::matmul::matmul;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

use super::products::{CHUNK, add_product};
use crate::parallel::*;

/// Columns of V, and of w, multiplied together: all sums stay in 16 registers.
const LEFT: usize = 3;
const RIGHT: usize = 4;
/// Rows of a basis that fit into a near cache.
const STRIP: usize = 512;

/// Columns of a tall matrix. Threads share the first touch of new memory.
pub(crate) struct Columns {
    rows: usize,
    values: Vec<f64>,
}

impl Columns {
    /// No columns yet, with memory for some.
    pub fn with_capacity(rows: usize, columns: usize) -> Self {
        Self { rows, values: Vec::with_capacity(rows * columns) }
    }

    /// Length of a column.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        self.values.len() / self.rows
    }

    /// All columns.
    pub fn all(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.count())
    }

    /// Appends copies of columns.
    pub fn append(&mut self, columns: MatRef<'_, f64>) {
        for k in 0..columns.ncols() {
            self.values.par_extend(column(columns, k).par_iter().copied());
        }
    }

    /// Appends `a b`, with a tall and b small.
    pub fn append_product(&mut self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
        let before = self.values.len();
        self.values.par_extend(repeat_n(0.0, self.rows * b.ncols()));
        let next = MatMut::from_column_major_slice_mut(&mut self.values[before..], self.rows, b.ncols());
        add_product(next, 1.0, a, b);
    }

    /// Removes all columns.
    pub fn clear(&mut self) {
        self.values.clear();
    }
}

/// `w -= V_near c` with a tall V and its last columns V_near; returns `V' w` and `w' w` of the result.
/// Reads V once.
pub(crate) fn take_out(w: MatMut<'_, f64>, v: MatRef<'_, f64>, c: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let far = v.ncols() - c.nrows();
    let parts: Vec<(Mat<f64>, Mat<f64>)> = w
        .par_row_chunks_mut(CHUNK)
        .zip(v.par_row_chunks(CHUNK))
        .map(|(mut w, v)| {
            let mut sums = (Mat::zeros(v.ncols(), w.ncols()), Mat::zeros(w.ncols(), w.ncols()));
            for first in (0..v.nrows()).step_by(STRIP) {
                let rows = STRIP.min(v.nrows() - first);
                let (mut w, v) = (w.rb_mut().subrows_mut(first, rows), v.subrows(first, rows));
                matmul(w.rb_mut(), Accum::Add, v.subcols(far, c.nrows()), c, -1.0, Par::Seq);
                add_inner(v, w.rb(), sums.0.as_mut());
                add_inner(w.rb(), w.rb(), sums.1.as_mut());
            }
            sums
        })
        .collect();
    let mut total = (Mat::zeros(v.ncols(), c.ncols()), Mat::zeros(c.ncols(), c.ncols()));
    for (along, gram) in parts {
        total.0 += along;
        total.1 += gram;
    }
    total
}

/// `sums += V' w` for contiguous columns, n x p and n x q.
fn add_inner(v: MatRef<'_, f64>, w: MatRef<'_, f64>, sums: MatMut<'_, f64>) {
    assert_eq!((v.nrows(), v.ncols(), w.ncols()), (w.nrows(), sums.nrows(), sums.ncols()));
    Arch::new().dispatch(Inner { v, w, sums });
}

struct Inner<'a> {
    v: MatRef<'a, f64>,
    w: MatRef<'a, f64>,
    sums: MatMut<'a, f64>,
}

impl WithSimd for Inner<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { v, w, mut sums } = self;
        // The last column is repeated beyond the end.
        for i in (0..v.ncols()).step_by(LEFT) {
            let mut left: [&[f64]; LEFT] = [&[]; LEFT];
            for a in 0..LEFT {
                left[a] = column(v, (i + a).min(v.ncols() - 1));
            }
            for j in (0..w.ncols()).step_by(RIGHT) {
                let mut right: [&[f64]; RIGHT] = [&[]; RIGHT];
                for b in 0..RIGHT {
                    right[b] = column(w, (j + b).min(w.ncols() - 1));
                }
                let tile = tile(simd, left, right);
                for b in 0..RIGHT.min(w.ncols() - j) {
                    for a in 0..LEFT.min(v.ncols() - i) {
                        sums[(i + a, j + b)] += tile[b][a];
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn column(matrix: MatRef<'_, f64>, column: usize) -> &[f64] {
    matrix.col(column).try_as_col_major().expect("columns are contiguous").as_slice()
}

/// All products of some columns with some others.
#[inline(always)]
fn tile<S: Simd>(simd: S, left: [&[f64]; LEFT], right: [&[f64]; RIGHT]) -> [[f64; LEFT]; RIGHT] {
    let (mut a, mut b) = ([S::as_simd_f64s(left[0]); LEFT], [S::as_simd_f64s(right[0]); RIGHT]);
    for k in 0..LEFT {
        a[k] = S::as_simd_f64s(left[k]);
    }
    for k in 0..RIGHT {
        b[k] = S::as_simd_f64s(right[k]);
    }
    let registers = a[0].0.len();
    for k in 0..LEFT {
        a[k].0 = &a[k].0[..registers];
    }
    for k in 0..RIGHT {
        b[k].0 = &b[k].0[..registers];
    }
    let mut sums = [[simd.splat_f64s(0.0); LEFT]; RIGHT];
    for row in 0..registers {
        let mut own = [simd.splat_f64s(0.0); LEFT];
        for k in 0..LEFT {
            own[k] = a[k].0[row];
        }
        for j in 0..RIGHT {
            let other = b[j].0[row];
            for i in 0..LEFT {
                sums[j][i] = simd.mul_add_e_f64s(own[i], other, sums[j][i]);
            }
        }
    }
    let mut tile = [[0.0; LEFT]; RIGHT];
    for j in 0..RIGHT {
        let other = simd.partial_load_f64s(b[j].1);
        for i in 0..LEFT {
            let sum = simd.mul_add_e_f64s(simd.partial_load_f64s(a[i].1), other, sums[j][i]);
            tile[j][i] = simd.reduce_sum_f64s(sum);
        }
    }
    tile
}
