//! Matrices packed one item a SIMD lane, and their products with three columns.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::parallel::*;
use faer::MatRef;
use pulp::bytemuck::Pod;
use pulp::{Arch, Simd, WithSimd};

/// Bytes in a cache line, the alignment of buffers.
const LINE: usize = 64;
/// Number of lines from which on several threads touch new memory for the first time.
const SHARED: usize = 1 << 14;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Numbers aligned to cache lines, to keep SIMD loads within a line.
#[derive(Clone)]
pub(crate) struct Buffer<T> {
    lines: Vec<Line>,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// A buffer of `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let count = (len * size_of::<T>()).div_ceil(LINE);
        let empty = Line([0; LINE]);
        let lines = if count < SHARED { vec![empty; count] } else { repeat_n(empty, count).collect() };
        Self { lines, len, numbers: PhantomData }
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `lines` owns at least `len * size_of::<T>()` contiguous initialised bytes, aligned to 64,
        // and any bytes are a valid `T: Pod`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Pod> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the exclusive borrow of `self` makes the slice exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

/// Numbers of f64 and of f32 in a register of the instruction set found at run time.
pub(crate) fn lane_counts() -> (usize, usize) {
    struct Count;
    impl WithSimd for Count {
        type Output = (usize, usize);
        fn with_simd<S: Simd>(self, _: S) -> (usize, usize) {
            (S::F64_LANES, S::F32_LANES)
        }
    }
    Arch::new().dispatch(Count)
}

/// A stack of small matrices, one an item, each `ROWS` x columns; each item occupies one lane of a SIMD
/// register. Copies of the last item pad the last register.
#[derive(Clone)]
pub(crate) struct Packed<const ROWS: usize> {
    items: usize,
    columns: usize,
    lanes: usize,
    values: Buffer<f64>,
}

impl<const ROWS: usize> Packed<ROWS> {
    /// Packs `value(item, row, column)`.
    pub(crate) fn new(items: usize, columns: usize, value: impl Fn(usize, usize, usize) -> f64) -> Self {
        let (lanes, _) = lane_counts();
        let blocks = items.div_ceil(lanes);
        let mut values = Buffer::zeros(blocks * columns * ROWS * lanes);
        for (place, slot) in values.iter_mut().enumerate() {
            let (lane, rest) = (place % lanes, place / lanes);
            let (row, rest) = (rest % ROWS, rest / ROWS);
            let (column, block) = (rest % columns, rest / columns);
            *slot = value((block * lanes + lane).min(items - 1), row, column);
        }
        Self { items, columns, lanes, values }
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// Number of columns of each item.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Number of registers for one number of every item.
    pub(crate) fn blocks(&self) -> usize {
        self.items.div_ceil(self.lanes)
    }

    /// Number of items in a register.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Copies some items of another stack; allocates only for more items than ever before.
    pub(crate) fn select(&mut self, from: &Self, items: &[usize]) {
        assert_eq!((self.columns, self.lanes), (from.columns, from.lanes));
        self.items = items.len();
        select_items(&from.values, self.columns * ROWS, items, &mut self.values);
    }

    /// Packed numbers of one register's items: columns x ROWS x lanes.
    pub(crate) fn block(&self, block: usize) -> &[f64] {
        let size = self.columns * ROWS * self.lanes;
        &self.values[block * size..(block + 1) * size]
    }
}

impl Packed<1> {
    /// Packs a matrix, one row an item.
    pub(crate) fn of(matrix: MatRef<'_, f64>) -> Self {
        Self::new(matrix.nrows(), matrix.ncols(), |i, _, j| matrix[(i, j)])
    }
}

/// A matrix and its transpose, packed one row an item.
pub(crate) struct PackedBoth {
    pub(crate) matrix: Packed<1>,
    pub(crate) transpose: Packed<1>,
}

impl PackedBoth {
    /// Packs a matrix.
    pub(crate) fn of(matrix: MatRef<'_, f64>) -> Self {
        Self { matrix: Packed::of(matrix), transpose: Packed::of(matrix.transpose()) }
    }
}

/// A stack of matrices with few columns an item: columns unused by all items of a register are left out.
#[derive(Clone)]
pub(crate) struct PackedSparse<const ROWS: usize> {
    columns: usize,
    lanes: usize,
    /// The columns of each register.
    used: Vec<Vec<u32>>,
    /// Values of all registers in order, columns x ROWS x lanes each.
    values: Buffer<f64>,
}

impl<const ROWS: usize> PackedSparse<ROWS> {
    /// Packs the nonzero `value(item, row, column)`.
    pub(crate) fn new(items: usize, columns: usize, value: impl Fn(usize, usize, usize) -> f64) -> Self {
        let (lanes, _) = lane_counts();
        let item = |block: usize, lane: usize| (block * lanes + lane).min(items - 1);
        let is_used = |block: usize, column: usize| {
            (0..lanes).any(|lane| (0..ROWS).any(|row| value(item(block, lane), row, column) != 0.0))
        };
        let of_block =
            |block| (0..columns as u32).filter(|&column| is_used(block, column as usize)).collect();
        let used: Vec<Vec<u32>> = (0..items.div_ceil(lanes)).map(of_block).collect();
        let mut values = Buffer::zeros(used.iter().map(Vec::len).sum::<usize>() * ROWS * lanes);
        let rows = used.iter().enumerate().flat_map(|(block, used)| {
            used.iter().flat_map(move |&column| (0..ROWS).map(move |row| (block, column as usize, row)))
        });
        for ((block, column, row), slots) in rows.zip(values.chunks_exact_mut(lanes)) {
            slots
                .iter_mut()
                .enumerate()
                .for_each(|(lane, slot)| *slot = value(item(block, lane), row, column));
        }
        Self { columns, lanes, used, values }
    }

    /// Number of columns of each item.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Number of items in a register.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Packed numbers of each register's items, columns x ROWS x lanes, and their column indices.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&[f64], &[u32])> {
        let mut rest: &[f64] = &self.values;
        self.used.iter().map(move |used| {
            let (block, others) = rest.split_at(used.len() * ROWS * self.lanes);
            rest = others;
            (block, &used[..])
        })
    }
}

/// Copies items of blocks x numbers x lanes; the last item pads the last register.
pub(crate) fn select_items(from: &[f64], numbers: usize, items: &[usize], to: &mut [f64]) {
    let (lanes, _) = lane_counts();
    for (place, &item) in items.iter().enumerate() {
        let from = &from[item / lanes * numbers * lanes + item % lanes..];
        let to = &mut to[place / lanes * numbers * lanes + place % lanes..];
        let filled = if place + 1 == items.len() { lanes - place % lanes } else { 1 };
        for (from, to) in from.iter().step_by(lanes).zip(to.chunks_mut(lanes)).take(numbers) {
            to[..filled].fill(*from);
        }
    }
}

/// `out += M x`: M is items x columns, x is columns x 3, out is items x 3.
pub(crate) fn multiply_add(matrix: &Packed<1>, x: &[[f64; 3]], out: &mut [[f64; 3]]) {
    struct Product<'a> {
        matrix: &'a Packed<1>,
        x: &'a [[f64; 3]],
        out: &'a mut [[f64; 3]],
    }
    impl WithSimd for Product<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let size = self.matrix.columns * S::F64_LANES;
            let groups = self.matrix.values.chunks(TOGETHER * size);
            for (values, out) in groups.zip(self.out.chunks_mut(TOGETHER * S::F64_LANES)) {
                if values.len() == TOGETHER * size {
                    add_products::<S, TOGETHER>(simd, values, self.x, out);
                } else {
                    for (values, out) in values.chunks(size).zip(out.chunks_mut(S::F64_LANES)) {
                        add_products::<S, 1>(simd, values, self.x, out);
                    }
                }
            }
        }
    }
    assert_eq!((matrix.items(), matrix.columns()), (out.len(), x.len()));
    if matrix.columns() > 0 {
        Arch::new().dispatch(Product { matrix, x, out });
    }
}

/// Registers of items multiplied together: one alone waits for its own sums.
const TOGETHER: usize = 4;

/// Adds the products of N registers of items.
#[inline(always)]
fn add_products<S: Simd, const N: usize>(simd: S, values: &[f64], x: &[[f64; 3]], out: &mut [[f64; 3]]) {
    let (values, _) = S::as_simd_f64s(values);
    let columns = x.len();
    let mut sums = [[simd.splat_f64s(0.0); 3]; N];
    for j in 0..columns {
        let x = [simd.splat_f64s(x[j][0]), simd.splat_f64s(x[j][1]), simd.splat_f64s(x[j][2])];
        for block in 0..N {
            let g = values[block * columns + j];
            for c in 0..3 {
                sums[block][c] = simd.mul_add_e_f64s(g, x[c], sums[block][c]);
            }
        }
    }
    let sums = pulp::bytemuck::cast_slice::<S::f64s, f64>(sums.as_flattened());
    for (item, row) in out.iter_mut().enumerate() {
        let (block, lane) = (item / S::F64_LANES, item % S::F64_LANES);
        for c in 0..3 {
            row[c] += sums[(3 * block + c) * S::F64_LANES + lane];
        }
    }
}

/// `x' G'` of one register's items: entry (c, row) of the 3 x ROWS result is at `c * ROWS + row`.
///
/// `OUT` must be `3 * ROWS`; `block` is columns x ROWS x lanes, `x` gives columns x 3.
#[inline(always)]
pub(crate) fn columns_product<'x, S: Simd, const ROWS: usize, const OUT: usize>(
    simd: S,
    block: &[f64],
    x: impl Iterator<Item = &'x [f64; 3]>,
) -> [S::f64s; OUT] {
    let (block, _) = S::as_simd_f64s(block);
    let mut sums = [simd.splat_f64s(0.0); OUT];
    for (g, x) in block.chunks_exact(ROWS).zip(x) {
        for c in 0..3 {
            let x = simd.splat_f64s(x[c]);
            for row in 0..ROWS {
                sums[c * ROWS + row] = simd.mul_add_e_f64s(g[row], x, sums[c * ROWS + row]);
            }
        }
    }
    sums
}

/// Number of columns summed together; fewer would read the same numbers more often.
const COLUMNS: usize = 4;

/// `out += x G`, summed over all items: `x` is blocks x OUT in the layout of a product, `out` columns x 3.
///
/// `OUT` must be `3 * ROWS`.
#[inline(always)]
pub(crate) fn add_adjoint<S: Simd, const ROWS: usize, const OUT: usize>(
    simd: S,
    matrix: &Packed<ROWS>,
    x: &[S::f64s],
    out: &mut [[f64; 3]],
) {
    let (values, _) = S::as_simd_f64s(&matrix.values);
    let x = &x[..OUT * matrix.blocks()];
    let mut groups = out.chunks_exact_mut(COLUMNS);
    for (group, out) in groups.by_ref().enumerate() {
        add_columns::<S, ROWS, OUT, COLUMNS>(simd, (values, matrix.columns, COLUMNS * group), x, out);
    }
    let rest = groups.into_remainder();
    let first = matrix.columns - rest.len();
    for (column, out) in rest.chunks_exact_mut(1).enumerate() {
        add_columns::<S, ROWS, OUT, 1>(simd, (values, matrix.columns, first + column), x, out);
    }
}

/// Adds the sums of N neighbouring columns, the first of which is given.
#[inline(always)]
fn add_columns<S: Simd, const ROWS: usize, const OUT: usize, const N: usize>(
    simd: S,
    (values, columns, first): (&[S::f64s], usize, usize),
    x: &[S::f64s],
    out: &mut [[f64; 3]],
) {
    let mut sums = [[simd.splat_f64s(0.0); 3]; N];
    for (block, x) in values.chunks_exact(columns * ROWS).zip(x.chunks_exact(OUT)) {
        let own = &block[first * ROWS..(first + N) * ROWS];
        for row in 0..ROWS {
            for (sums, g) in sums.iter_mut().zip(own.chunks_exact(ROWS)) {
                for c in 0..3 {
                    sums[c] = simd.mul_add_e_f64s(g[row], x[c * ROWS + row], sums[c]);
                }
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        for c in 0..3 {
            out[c] += simd.reduce_sum_f64s(sums[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Adjoint<'a>(&'a Packed<3>, &'a [f64], &'a mut [[f64; 3]]);

    impl WithSimd for Adjoint<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            add_adjoint::<S, 3, 9>(simd, self.0, S::as_simd_f64s(self.1).0, self.2);
        }
    }

    /// Each column has the sum over the items, in any number of columns and of selected items.
    #[test]
    fn adjoints_are_sums_over_items() {
        let entry =
            |i: usize, row: usize, j: usize| (0.3 * i as f64 + 1.1 * row as f64 + 1.7 * j as f64).sin();
        let number = |i: usize, e: usize| (0.7 * i as f64 + 0.2 * e as f64).cos();
        for (items, columns) in [(1, 1), (7, 3), (33, 8), (150, 97)] {
            let (mut matrix, lanes) = (Packed::<3>::new(items, columns, entry), lane_counts().0);
            let whole = matrix.clone();
            let chosen: Vec<usize> = (0..items).filter(|i| i % 5 != 2).collect();
            for own in [(0..items).collect::<Vec<_>>(), chosen] {
                matrix.select(&whole, &own);
                let mut x = Buffer::zeros(9 * whole.blocks() * lanes);
                for (slot, &item) in own.iter().enumerate() {
                    let first = 9 * lanes * (slot / lanes) + slot % lanes;
                    (0..9).for_each(|e| x[first + e * lanes] = number(item, e));
                }
                let mut out = vec![[0.5; 3]; columns];
                Arch::new().dispatch(Adjoint(&matrix, &x, &mut out));
                for (j, out) in out.iter().enumerate() {
                    for c in 0..3 {
                        let of =
                            |&i: &usize| (0..3).map(|row| entry(i, row, j) * number(i, 3 * c + row)).sum();
                        let sum: f64 = own.iter().map(|i| -> f64 { of(i) }).sum();
                        assert!((out[c] - 0.5 - sum).abs() < 1e-12, "{items} {columns} {j} {c}");
                    }
                }
            }
        }
    }

    /// Registers together and alone give the same sums, item by item.
    #[test]
    fn products_are_those_of_each_item() {
        let entry = |i: usize, j: usize| (0.3 * i as f64 + 1.7 * j as f64).sin();
        for (items, columns) in [(1, 1), (7, 3), (32, 5), (33, 17), (150, 96), (3, 0)] {
            let x: Vec<[f64; 3]> =
                (0..columns).map(|j| [1.0, 2.0, 3.0].map(|c| (c * j as f64).cos())).collect();
            let mut out = vec![[0.5; 3]; items];
            multiply_add(&Packed::new(items, columns, |i, _, j| entry(i, j)), &x, &mut out);
            for (i, out) in out.iter().enumerate() {
                for c in 0..3 {
                    let sum: f64 = (0..columns).map(|j| entry(i, j) * x[j][c]).sum();
                    assert!((out[c] - 0.5 - sum).abs() < 1e-13 * (columns + 1) as f64, "{items} {i} {c}");
                }
            }
        }
    }
}
