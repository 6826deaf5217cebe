//! Symmetric matrices of which half is kept: a product reads each entry once, and uses it for its row and for its column.

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{Buffer, lane_counts};

/// Registers of rows that are multiplied at once.
const REGISTERS: usize = 4;

/// Memory for sums of N numbers a column, each still spread over the lanes of a register: columns x N x lanes.
pub(crate) struct Spread<const N: usize = 3>(Buffer<f64>);

impl<const N: usize> Spread<N> {
    pub(crate) fn new(columns: usize) -> Self {
        Self(Buffer::zeros(N * columns * lane_counts().0))
    }

    pub(crate) fn columns(&self) -> usize {
        self.0.len() / (N * lane_counts().0)
    }
}

/// Panels of as many rows as some registers hold, each with its own columns and those of the panels before it that it uses.
#[derive(Clone)]
pub(crate) struct Symmetric {
    /// The rows of one panel after the other.
    order: Vec<u32>,
    /// Where the columns of each panel start, panels + 1, and what they are; its own are the last.
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Panel after panel, columns x rows; rows beyond the last are zero.
    values: Buffer<f64>,
}

impl Symmetric {
    /// Packs `value(row, column)`, symmetric, with rows that use the same columns next to each other in an order of them all.
    pub(crate) fn new(order: &[u32], value: impl Fn(usize, usize) -> f64) -> Self {
        let height = height(lane_counts().0);
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for (panel, rows) in order.chunks(height).enumerate() {
            let is_used = |j: &&u32| rows.iter().any(|&i| value(i as usize, **j as usize) != 0.0);
            columns.extend(order[..panel * height].iter().filter(is_used).chain(rows));
            starts.push(columns.len());
        }
        let mut values = Buffer::zeros(height * columns.len());
        for (rows, ends) in order.chunks(height).zip(starts.windows(2)) {
            let slots = values[height * ends[0]..height * ends[1]].chunks_exact_mut(height);
            for (&j, slots) in columns[ends[0]..ends[1]].iter().zip(slots) {
                rows.iter().zip(slots).for_each(|(&i, slot)| *slot = value(i as usize, j as usize));
            }
        }
        Self { order: order.to_vec(), starts, columns, values }
    }

    /// `out = M x`, both size x N, with memory for as many columns.
    pub(crate) fn multiply<const N: usize>(
        &self,
        x: &[[f64; N]],
        out: &mut [[f64; N]],
        spread: &mut Spread<N>,
    ) {
        let size = self.order.len();
        assert_eq!((size, size, size), (x.len(), out.len(), spread.columns()));
        Arch::new().dispatch(Product { matrix: self, x, out, spread });
    }
}

/// Rows of a panel.
fn height(lanes: usize) -> usize {
    REGISTERS * lanes
}

/// What rows have of the columns of their panels, and in `spread` what columns have of the rows of later panels.
struct Product<'a, const N: usize> {
    matrix: &'a Symmetric,
    x: &'a [[f64; N]],
    out: &'a mut [[f64; N]],
    spread: &'a mut Spread<N>,
}

impl<const N: usize> WithSimd for Product<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Symmetric { order, starts, columns, values } = self.matrix;
        let (values, _) = S::as_simd_f64s(values);
        let (spread, _) = S::as_mut_simd_f64s(&mut self.spread.0);
        spread.fill(simd.splat_f64s(0.0));
        let height = height(S::F64_LANES);
        for (rows, ends) in order.chunks(height).zip(starts.windows(2)) {
            let (columns, values) =
                (&columns[ends[0]..ends[1]], &values[REGISTERS * ends[0]..REGISTERS * ends[1]]);
            let (before, own) = columns.split_at(columns.len() - rows.len());
            let (values, of_own) = values.split_at(REGISTERS * before.len());
            let near = registers(simd, rows, self.x);
            let mut sums = [[simd.splat_f64s(0.0); REGISTERS]; N];
            for (a, &column) in values.chunks_exact(REGISTERS).zip(before) {
                let x = &self.x[column as usize];
                let spread = &mut spread[N * column as usize..][..N];
                for c in 0..N {
                    let (x, mut sum) = (simd.splat_f64s(x[c]), spread[c]);
                    for r in 0..REGISTERS {
                        sums[c][r] = simd.mul_add_e_f64s(a[r], x, sums[c][r]);
                        sum = simd.mul_add_e_f64s(a[r], near[c][r], sum);
                    }
                    spread[c] = sum;
                }
            }
            for (a, &column) in of_own.chunks_exact(REGISTERS).zip(own) {
                let x = &self.x[column as usize];
                for c in 0..N {
                    let x = simd.splat_f64s(x[c]);
                    for r in 0..REGISTERS {
                        sums[c][r] = simd.mul_add_e_f64s(a[r], x, sums[c][r]);
                    }
                }
            }
            let sums = pulp::bytemuck::cast_slice::<S::f64s, f64>(sums.as_flattened());
            for (i, &row) in rows.iter().enumerate() {
                for c in 0..N {
                    self.out[row as usize][c] = sums[c * height + i];
                }
            }
        }
        for (out, spread) in self.out.iter_mut().zip(spread.chunks_exact(N)) {
            for c in 0..N {
                out[c] += simd.reduce_sum_f64s(spread[c]);
            }
        }
    }
}

/// Rows of a panel, one number of each after the other; zero where there are no more.
#[inline(always)]
fn registers<S: Simd, const N: usize>(simd: S, rows: &[u32], x: &[[f64; N]]) -> [[S::f64s; REGISTERS]; N] {
    let mut packed = [[simd.splat_f64s(0.0); REGISTERS]; N];
    let height = height(S::F64_LANES);
    let slots = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(packed.as_flattened_mut());
    for (i, &row) in rows.iter().enumerate() {
        for c in 0..N {
            slots[c * height + i] = x[row as usize][c];
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_whole_matrix() {
        for size in [1, 2, 31, 32, 33, 64, 150] {
            // Three quarters of the columns of most panels are zero.
            let is_far = |i: usize, j: usize| i.abs_diff(j) > size / 4;
            let entry = |i: usize, j: usize| (0.3 * (i + j) as f64 + 0.01 * (i * j) as f64).sin();
            let value = |i: usize, j: usize| if is_far(i, j) { 0.0 } else { entry(i, j) };
            let order: Vec<u32> = (0..size as u32).rev().collect();
            let x: Vec<[f64; 3]> = (0..size).map(|i| [1.0, 2.0, 3.0].map(|c| (c * i as f64).cos())).collect();
            let (mut out, mut spread) = (vec![[f64::NAN; 3]; size], Spread::new(size));
            let matrix = Symmetric::new(&order, value);
            // Memory is used again.
            matrix.multiply(&x, &mut out, &mut spread);
            matrix.multiply(&x, &mut out, &mut spread);
            for (i, out) in out.iter().enumerate() {
                for c in 0..3 {
                    let sum: f64 = (0..size).map(|j| value(i, j) * x[j][c]).sum();
                    assert!((sum - out[c]).abs() < 1e-12 * size as f64, "{size} {i} {c}: {sum} {}", out[c]);
                }
            }
        }
    }
}
