//! Matrices with few groups of neighbouring columns an item, packed with a group of columns of one item, or
//! of two neighbouring items, a register.

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{Buffer, lane_counts};

/// Largest number of columns in a group: the four of an affine motion.
const GROUP: usize = 4;

/// Number of columns in a group, and of items sharing a register.
fn shape() -> (usize, usize) {
    let lanes = lane_counts().0;
    let columns = lanes.min(GROUP);
    (columns, lanes / columns)
}

/// Assignment of columns to slots; the columns of a group are used together.
#[derive(Clone)]
pub(crate) struct Slots {
    of_columns: Vec<u32>,
    /// Position of the first of three coordinates of each column in grouped rows.
    places: Vec<u32>,
    groups: usize,
}

impl Slots {
    /// Slots of given columns; four consecutive slots from a multiple of four on form a group.
    pub(crate) fn new(of_columns: Vec<u32>) -> Self {
        let count = of_columns.iter().max().map_or(0, |last| *last as usize + 1);
        let (columns, lanes) = (shape().0 as u32, lane_counts().0 as u32);
        let places = of_columns.iter().map(|slot| slot / columns * 3 * lanes + slot % columns).collect();
        Self { of_columns, places, groups: count.div_ceil(columns as usize) }
    }

    /// Columns in the order of their slots.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.of_columns.len() as u32).collect();
        order.sort_unstable_by_key(|&column| self.of_columns[column as usize]);
        order
    }

    /// Zeroed storage for three coordinates of each column.
    pub(crate) fn scratch(&self) -> GroupedRows {
        GroupedRows(Buffer::zeros(3 * self.groups * lane_counts().0))
    }
}

/// Three coordinates of each column, for each of the items that share a register: groups x 3 x lanes.
pub(crate) struct GroupedRows(Buffer<f64>);

impl GroupedRows {
    /// Copies the coordinates of rows.
    pub(crate) fn enter(&mut self, slots: &Slots, rows: &[[f64; 3]]) {
        let (lanes, (columns, sharing)) = (lane_counts().0, shape());
        for (&first, row) in slots.places.iter().zip(rows) {
            for c in 0..3 {
                let first = first as usize + c * lanes;
                (0..sharing).for_each(|item| self.0[first + item * columns] = row[c]);
            }
        }
    }

    /// Adds a multiple of the coordinates to rows, summed over the items sharing a register.
    pub(crate) fn add_to(&self, slots: &Slots, factor: f64, rows: &mut [[f64; 3]]) {
        let (lanes, (columns, sharing)) = (lane_counts().0, shape());
        for (&first, row) in slots.places.iter().zip(rows) {
            for c in 0..3 {
                let first = first as usize + c * lanes;
                let sum: f64 = (0..sharing).map(|item| self.0[first + item * columns]).sum();
                row[c] += factor * sum;
            }
        }
    }

    /// The storage as registers.
    #[inline(always)]
    pub(crate) fn registers<S: Simd>(&self) -> &[S::f64s] {
        S::as_simd_f64s(&self.0).0
    }

    /// Zeroes the storage and returns its registers for accumulation.
    #[inline(always)]
    pub(crate) fn zeros<S: Simd>(&mut self, simd: S) -> &mut [S::f64s] {
        let (registers, _) = S::as_mut_simd_f64s(&mut self.0);
        registers.fill(simd.splat_f64s(0.0));
        registers
    }
}

/// A stack of small matrices, one an item, each `ROWS` x columns; a block has as many items as a register
/// has lanes.
pub(crate) struct Grouped<const ROWS: usize> {
    slots: Slots,
    /// Start of the groups of each register of items, registers + 1.
    starts: Vec<usize>,
    groups: Vec<u32>,
    /// Values of all groups in order, ROWS x lanes each.
    values: Buffer<f64>,
}

impl<const ROWS: usize> Grouped<ROWS> {
    /// Packs the nonzero columns of each item; items that share a register should use the same columns.
    pub(crate) fn new(slots: &Slots, items: &[Vec<(u32, [f64; ROWS])>]) -> Self {
        let (lanes, (columns, sharing)) = (lane_counts().0, shape());
        let slot = |column: u32| slots.of_columns[column as usize] as usize;
        let order = order();
        let registers = (0..items.len().div_ceil(lanes)).flat_map(|block| {
            order.chunks_exact(sharing).map(move |own| own.iter().map(move |lane| block * lanes + lane))
        });
        let (mut starts, mut groups) = (vec![0], Vec::new());
        let mut values: Vec<f64> = Vec::new();
        for register in registers {
            let own = register.enumerate().filter_map(|(place, item)| Some((place, items.get(item)?)));
            let entries = own.flat_map(|(place, item)| item.iter().map(move |entry| (place, entry)));
            let entries: Vec<_> = entries.collect();
            let mut used: Vec<u32> =
                entries.iter().map(|(_, (column, _))| (slot(*column) / columns) as u32).collect();
            used.sort_unstable();
            used.dedup();
            let first = values.len();
            values.resize(first + used.len() * ROWS * lanes, 0.0);
            for (place, (column, entries)) in entries {
                let (group, lane) = (slot(*column) / columns, place * columns + slot(*column) % columns);
                let number = used.partition_point(|&own| (own as usize) < group);
                for row in 0..ROWS {
                    values[first + (number * ROWS + row) * lanes + lane] = entries[row];
                }
            }
            groups.extend(used);
            starts.push(groups.len());
        }
        let mut packed = Buffer::zeros(values.len());
        packed.copy_from_slice(&values);
        Self { slots: slots.clone(), starts, groups, values: packed }
    }

    /// Slots of the columns.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Groups of a register of items, with the values in them.
    #[inline(always)]
    fn register<S: Simd>(&self, register: usize) -> impl Iterator<Item = (&[S::f64s], usize)> {
        let (first, last) = (self.starts[register], self.starts[register + 1]);
        let (values, _) = S::as_simd_f64s(&self.values);
        let groups = self.groups[first..last].iter().map(|&group| group as usize);
        values[ROWS * first..ROWS * last].chunks_exact(ROWS).zip(groups)
    }

    /// `x' G'` of the items of a block, one a lane: entry (c, row) of the 3 x ROWS result is at
    /// `c * ROWS + row`. `OUT` must be `3 * ROWS`.
    #[inline(always)]
    pub(crate) fn product<S: Simd, const OUT: usize>(
        &self,
        simd: S,
        block: usize,
        x: &[S::f64s],
    ) -> [S::f64s; OUT] {
        let zero = simd.splat_f64s(0.0);
        let registers = S::F64_LANES.min(GROUP);
        let mut spread = [[zero; GROUP]; OUT];
        for register in 0..registers {
            let mut sums = [zero; OUT];
            for (g, group) in self.register::<S>(block * registers + register) {
                let x = &x[3 * group..3 * group + 3];
                for c in 0..3 {
                    for row in 0..ROWS {
                        sums[c * ROWS + row] = simd.mul_add_e_f64s(g[row], x[c], sums[c * ROWS + row]);
                    }
                }
            }
            for e in 0..OUT {
                spread[e][register] = sums[e];
            }
        }
        let mut own = [zero; OUT];
        for e in 0..OUT {
            own[e] = gather(simd, spread[e]);
        }
        own
    }

    /// `out += x G` for the items of a block, with x in the layout of a product.
    #[inline(always)]
    pub(crate) fn add_adjoint<S: Simd, const OUT: usize>(
        &self,
        simd: S,
        block: usize,
        x: &[S::f64s; OUT],
        out: &mut [S::f64s],
    ) {
        let registers = S::F64_LANES.min(GROUP);
        let mut spread = [[simd.splat_f64s(0.0); GROUP]; OUT];
        for e in 0..OUT {
            spread[e] = scatter(simd, x[e]);
        }
        for register in 0..registers {
            let mut x = *x;
            for e in 0..OUT {
                x[e] = spread[e][register];
            }
            for (g, group) in self.register::<S>(block * registers + register) {
                let out = &mut out[3 * group..3 * group + 3];
                let mut sums = [out[0], out[1], out[2]];
                for row in 0..ROWS {
                    for c in 0..3 {
                        sums[c] = simd.mul_add_e_f64s(g[row], x[c * ROWS + row], sums[c]);
                    }
                }
                out.copy_from_slice(&sums);
            }
        }
    }
}

/// Permutes each block to place consecutive items in lanes that share a register.
pub(crate) fn share_registers<T: Clone>(items: &mut [T]) {
    let order = order();
    for block in items.chunks_exact_mut(order.len()) {
        let own = block.to_vec();
        order.iter().zip(own).for_each(|(&lane, item)| block[lane] = item);
    }
}

/// Reduces registers with items spread over the lanes of a group to one sum a lane.
#[inline(always)]
fn gather<S: Simd>(simd: S, spread: [S::f64s; GROUP]) -> S::f64s {
    let [a, b, c, d] = spread;
    if S::F64_LANES >= GROUP {
        let [a, b, c, d] = simd.deinterleave_shfl_f64s([a, b, c, d]);
        simd.add_f64s(simd.add_f64s(a, b), simd.add_f64s(c, d))
    } else if S::F64_LANES == 2 {
        let [a, b] = simd.deinterleave_shfl_f64s([a, b]);
        simd.add_f64s(a, b)
    } else {
        a
    }
}

/// The inverse map: copies each lane's number to all lanes of its item's group.
#[inline(always)]
fn scatter<S: Simd>(simd: S, own: S::f64s) -> [S::f64s; GROUP] {
    if S::F64_LANES >= GROUP {
        simd.interleave_shfl_f64s([own; GROUP])
    } else if S::F64_LANES == 2 {
        let [a, b] = simd.interleave_shfl_f64s([own; 2]);
        [a, b, a, b]
    } else {
        [own; GROUP]
    }
}

/// Lane of each item of a block's registers after gathering.
fn order() -> Vec<usize> {
    struct Order;
    impl WithSimd for Order {
        type Output = Vec<usize>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<usize> {
            let lanes = S::F64_LANES;
            let mut own = [simd.splat_f64s(0.0)];
            let numbers = pulp::bytemuck::cast_slice_mut::<S::f64s, f64>(&mut own);
            numbers.iter_mut().enumerate().for_each(|(lane, number)| *number = lane as f64);
            let spread = scatter(simd, own[0]);
            let spread = pulp::bytemuck::cast_slice::<S::f64s, f64>(&spread);
            spread[..lanes * lanes.min(GROUP)].iter().step_by(lanes.min(GROUP)).map(|&x| x as usize).collect()
        }
    }
    Arch::new().dispatch(Order)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Products<'a> {
        matrix: &'a Grouped<2>,
        x: &'a GroupedRows,
        sums: &'a mut GroupedRows,
    }

    impl WithSimd for Products<'_> {
        type Output = Vec<[f64; 6]>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<[f64; 6]> {
            let (x, sums) = (self.x.registers::<S>(), self.sums.zeros(simd));
            let blocks = (self.matrix.starts.len() - 1) / S::F64_LANES.min(GROUP);
            let product = |block| {
                let own = self.matrix.product::<S, 6>(simd, block, x);
                self.matrix.add_adjoint(simd, block, &own, sums);
                let numbers = pulp::bytemuck::cast_slice::<S::f64s, f64>(&own).to_vec();
                (0..S::F64_LANES)
                    .map(move |lane| [0, 1, 2, 3, 4, 5].map(|e| numbers[e * S::F64_LANES + lane]))
            };
            (0..blocks).flat_map(product).collect()
        }
    }

    #[test]
    fn products_are_those_of_the_columns_that_are_used() {
        let columns = 30;
        // Slots in arbitrary order, with gaps.
        let slots = Slots::new((0..columns).map(|column| column * 7 % 37).collect());
        let items: Vec<Vec<(u32, [f64; 2])>> = (0..21_u32)
            .map(|item| {
                let used = (0..columns).filter(|column| (column * item) % 4 == 1 || column % 21 == item);
                used.map(|column| (column, [f64::from(column), f64::from(item) - 0.5])).collect()
            })
            .collect();
        let rows: Vec<[f64; 3]> =
            (0..columns).map(|k| [1.0, 2.0, 3.0].map(|c| (c * f64::from(k)).sin())).collect();
        let (matrix, mut x, mut sums) = (Grouped::new(&slots, &items), slots.scratch(), slots.scratch());
        x.enter(&slots, &rows);
        let found = Arch::new().dispatch(Products { matrix: &matrix, x: &x, sums: &mut sums });
        let mut expected = vec![[0.0; 3]; rows.len()];
        for (item, found) in items.iter().zip(&found) {
            for (c, row) in (0..6).map(|e| (e / 2, e % 2)) {
                let sum: f64 = item.iter().map(|(k, g)| g[row] * rows[*k as usize][c]).sum();
                assert!((sum - found[2 * c + row]).abs() < 1e-12);
                item.iter().for_each(|(k, g)| expected[*k as usize][c] += 2.0 * g[row] * sum);
            }
        }
        let mut added = vec![[0.0; 3]; rows.len()];
        sums.add_to(&slots, 2.0, &mut added);
        let size = expected.as_flattened().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (added, expected) in added.as_flattened().iter().zip(expected.as_flattened()) {
            assert!((added - expected).abs() < 1e-13 * size);
        }
    }
}
