//! Matrices of few long columns, stored column by column, and both products with a vector.

use pulp::{Arch, Simd, WithSimd};

use crate::math::simd::lanes::{Buffer, lane_counts};

/// Columns processed at once.
const AT_ONCE: usize = 4;

/// A matrix of rows x columns with columns aligned to registers.
#[derive(Clone)]
pub(crate) struct Columns {
    rows: usize,
    count: usize,
    stride: usize,
    values: Buffer<f64>,
}

impl Columns {
    /// Matrix with entries `value(row, column)`.
    pub(crate) fn new(rows: usize, count: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let (lanes, _) = lane_counts();
        let stride = rows.next_multiple_of(lanes);
        let mut values = Buffer::zeros(stride * count);
        for column in 0..count {
            let own = &mut values[column * stride..][..rows];
            own.iter_mut().enumerate().for_each(|(row, slot)| *slot = value(row, column));
        }
        Self { rows, count, stride, values }
    }

    /// Number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// An entry.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.stride + row]
    }

    /// A column.
    fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.stride..][..self.rows]
    }

    /// `out = A x`.
    pub(crate) fn combine(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((self.count, self.rows), (x.len(), out.len()));
        out.fill(0.0);
        Arch::new().dispatch(Combination { matrix: self, x, out });
    }

    /// `out = A' y`.
    pub(crate) fn project(&self, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.add_projection(y, out);
    }

    /// `out += A' y`.
    pub(crate) fn add_projection(&self, y: &[f64], out: &mut [f64]) {
        assert_eq!((self.rows, self.count), (y.len(), out.len()));
        Arch::new().dispatch(Projection { matrix: self, y, out });
    }
}

struct Combination<'a> {
    matrix: &'a Columns,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Combination<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (out, out_tail) = S::as_mut_simd_f64s(self.out);
        let whole = out.len() * S::F64_LANES;
        for first in (0..self.x.len()).step_by(AT_ONCE) {
            // Factors beyond the last column are zero.
            let mut factors = [simd.splat_f64s(0.0); AT_ONCE];
            let mut columns = [S::as_simd_f64s(self.matrix.column(first)).0; AT_ONCE];
            for k in 0..AT_ONCE.min(self.x.len() - first) {
                let column = self.matrix.column(first + k);
                factors[k] = simd.splat_f64s(self.x[first + k]);
                columns[k] = S::as_simd_f64s(column).0;
                for (tail, entry) in out_tail.iter_mut().zip(&column[whole..]) {
                    *tail += self.x[first + k] * entry;
                }
            }
            let [a, b, c, d] = columns.map(|column| &column[..out.len()]);
            for row in 0..out.len() {
                let pair = simd.mul_add_e_f64s(a[row], factors[0], out[row]);
                let other = simd.mul_add_e_f64s(c[row], factors[2], simd.mul_f64s(d[row], factors[3]));
                out[row] = simd.add_f64s(simd.mul_add_e_f64s(b[row], factors[1], pair), other);
            }
        }
    }
}

struct Projection<'a> {
    matrix: &'a Columns,
    y: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Projection<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (y, y_tail) = S::as_simd_f64s(self.y);
        let whole = y.len() * S::F64_LANES;
        for (group, out) in self.out.chunks_mut(AT_ONCE).enumerate() {
            let mut sums = [simd.splat_f64s(0.0); AT_ONCE];
            let first = AT_ONCE * group;
            let mut columns = [y; AT_ONCE];
            for k in 0..out.len() {
                columns[k] = S::as_simd_f64s(self.matrix.column(first + k)).0;
            }
            let columns = columns.map(|column| &column[..y.len()]);
            for row in 0..y.len() {
                for k in 0..AT_ONCE {
                    sums[k] = simd.mul_add_e_f64s(columns[k][row], y[row], sums[k]);
                }
            }
            for k in 0..out.len() {
                let tail = &self.matrix.column(first + k)[whole..];
                let mut sum = simd.reduce_sum_f64s(sums[k]);
                for (entry, y) in tail.iter().zip(y_tail) {
                    sum += entry * y;
                }
                out[k] += sum;
            }
        }
    }
}
