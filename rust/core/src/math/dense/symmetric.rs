//! Symmetric matrices in half storage: a product reads each entry once, for both row and column.

use pulp::{Arch, Simd, WithSimd};

use crate::math::simd::lanes::{Buffer, lane_counts};

/// Registers of rows multiplied at once.
const REGISTERS: usize = 4;

/// Scratch for sums of N numbers a column, spread over the lanes of a register: columns x N x lanes.
pub(crate) struct Spread<const N: usize = 3>(Buffer<f64>);

impl<const N: usize> Spread<N> {
    pub(crate) fn new(columns: usize) -> Self {
        Self(Buffer::zeros(N * columns * lane_counts().0))
    }

    pub(crate) fn columns(&self) -> usize {
        self.0.len() / (N * lane_counts().0)
    }
}

/// Panels of a fixed number of registers of rows, each with its own columns and the used columns of
/// previous panels.
#[derive(Clone)]
pub(crate) struct Symmetric {
    /// Rows, panel by panel.
    order: Vec<u32>,
    /// Start of each panel's columns, panels + 1, and column indices; own columns come last.
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// Values panel by panel, columns x rows, zero beyond the last row.
    values: Buffer<f64>,
}

impl Symmetric {
    /// Packs a symmetric `value(row, column)`. The order should place rows with the same columns next to
    /// each other.
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

    /// `out = M x`, both size x N, with scratch for as many columns.
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

/// Number of rows of a panel.
fn height(lanes: usize) -> usize {
    REGISTERS * lanes
}

/// Product: rows with the columns of their panels, and in `spread` columns with the rows of later panels.
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

/// Rows of a panel, component by component, padded with zeros.
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

/// Scratch for products: rows, and sums still spread over lanes.
pub(crate) struct Scratch {
    pub(crate) rows: Vec<[f64; 3]>,
    pub(crate) spread: Spread,
}

impl Scratch {
    /// Scratch for a number of coordinates.
    pub(crate) fn new(rank: usize) -> Self {
        Self { rows: vec![[0.0; 3]; rank], spread: Spread::new(rank) }
    }
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
            // The second product reuses the scratch.
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
