//! Matrices each item of which uses few groups of neighbouring columns, packed so that a SIMD lane holds a column.

use pulp::Simd;

use super::lanes::{Buffer, lane_counts};
use super::rows::Rows;

/// Where columns stand in groups of as many as a register holds: those of a group are used together.
#[derive(Clone)]
pub(crate) struct Slots {
    of_columns: Vec<u32>,
    /// Where the first of three coordinates of each column is in rows that are grouped.
    places: Vec<u32>,
    groups: usize,
}

impl Slots {
    /// With the slot of each column.
    pub(crate) fn new(of_columns: Vec<u32>) -> Self {
        let count = of_columns.iter().max().map_or(0, |last| *last as usize + 1);
        let lanes = lane_counts().0 as u32;
        let places = of_columns.iter().map(|slot| slot / lanes * 3 * lanes + slot % lanes).collect();
        Self { of_columns, places, groups: count.div_ceil(lanes as usize) }
    }

    /// The columns in the order of their slots.
    pub(crate) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.of_columns.len() as u32).collect();
        order.sort_unstable_by_key(|&column| self.of_columns[column as usize]);
        order
    }

    /// Zeros for three coordinates of each column.
    pub(crate) fn room(&self) -> GroupedRows {
        GroupedRows(Buffer::zeros(3 * self.groups * lane_counts().0))
    }
}

/// Three coordinates of each column: groups x 3 x lanes.
pub(crate) struct GroupedRows(Buffer<f64>);

impl GroupedRows {
    /// Takes the coordinates of rows.
    pub(crate) fn enter(&mut self, slots: &Slots, rows: &Rows) {
        let lanes = lane_counts().0;
        for (&first, row) in slots.places.iter().zip(rows) {
            (0..3).for_each(|c| self.0[first as usize + c * lanes] = row[c]);
        }
    }

    /// Adds `factor` times them to rows.
    pub(crate) fn add_to(&self, slots: &Slots, factor: f64, rows: &mut Rows) {
        let lanes = lane_counts().0;
        for (&first, row) in slots.places.iter().zip(rows) {
            (0..3).for_each(|c| row[c] += factor * self.0[first as usize + c * lanes]);
        }
    }

    /// As registers.
    #[inline(always)]
    pub(crate) fn registers<S: Simd>(&self) -> &[S::f64s] {
        S::as_simd_f64s(&self.0).0
    }

    /// Fills with zeros, to be added to.
    #[inline(always)]
    pub(crate) fn zeros<S: Simd>(&mut self, simd: S) -> &mut [S::f64s] {
        let (registers, _) = S::as_mut_simd_f64s(&mut self.0);
        registers.fill(simd.splat_f64s(0.0));
        registers
    }
}

/// A stack of small matrices, one an item, each `ROWS` x columns.
pub(crate) struct Grouped<const ROWS: usize> {
    slots: Slots,
    /// Where the groups of each item start, items + 1.
    starts: Vec<usize>,
    groups: Vec<u32>,
    /// Those of all groups one after the other, ROWS x lanes each.
    values: Buffer<f64>,
}

impl<const ROWS: usize> Grouped<ROWS> {
    /// Packs the columns of each item that are not zero.
    pub(crate) fn new(slots: &Slots, items: &[Vec<(u32, [f64; ROWS])>]) -> Self {
        let lanes = lane_counts().0;
        let slot = |column: u32| slots.of_columns[column as usize] as usize;
        let (mut starts, mut groups) = (vec![0], Vec::new());
        for item in items {
            let mut own: Vec<u32> = item.iter().map(|&(column, _)| (slot(column) / lanes) as u32).collect();
            own.sort_unstable();
            own.dedup();
            groups.extend(own);
            starts.push(groups.len());
        }
        let mut values = Buffer::zeros(groups.len() * ROWS * lanes);
        for (item, ends) in items.iter().zip(starts.windows(2)) {
            for &(column, entries) in item {
                let (group, lane) = (slot(column) / lanes, slot(column) % lanes);
                let number =
                    ends[0] + groups[ends[0]..ends[1]].partition_point(|&own| (own as usize) < group);
                (0..ROWS).for_each(|row| values[(number * ROWS + row) * lanes + lane] = entries[row]);
            }
        }
        Self { slots: slots.clone(), starts, groups, values }
    }

    /// Where its columns stand.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The groups of an item, and its numbers in them.
    #[inline(always)]
    fn item<S: Simd>(&self, item: usize) -> impl Iterator<Item = (&[S::f64s], usize)> {
        let (first, last) = (self.starts[item], self.starts[item + 1]);
        let (values, _) = S::as_simd_f64s(&self.values);
        let groups = self.groups[first..last].iter().map(|&group| group as usize);
        values[ROWS * first..ROWS * last].chunks_exact(ROWS).zip(groups)
    }

    /// `x' G'` of an item, still spread over the lanes of registers: entry (c, row) of the 3 x ROWS result stands at
    /// `c * ROWS + row`. `OUT` must be `3 * ROWS`.
    #[inline(always)]
    pub(crate) fn product<S: Simd, const OUT: usize>(
        &self,
        simd: S,
        item: usize,
        x: &[S::f64s],
    ) -> [S::f64s; OUT] {
        let mut sums = [simd.splat_f64s(0.0); OUT];
        for (g, group) in self.item::<S>(item) {
            let x = &x[3 * group..3 * group + 3];
            for c in 0..3 {
                for row in 0..ROWS {
                    sums[c * ROWS + row] = simd.mul_add_e_f64s(g[row], x[c], sums[c * ROWS + row]);
                }
            }
        }
        sums
    }

    /// `out += x G` of an item, with x in the form of a product whose lanes are all the same.
    #[inline(always)]
    pub(crate) fn add_adjoint<S: Simd, const OUT: usize>(
        &self,
        simd: S,
        item: usize,
        x: &[S::f64s; OUT],
        out: &mut [S::f64s],
    ) {
        for (g, group) in self.item::<S>(item) {
            let out = &mut out[3 * group..3 * group + 3];
            for c in 0..3 {
                let mut sum = out[c];
                for row in 0..ROWS {
                    sum = simd.mul_add_e_f64s(g[row], x[c * ROWS + row], sum);
                }
                out[c] = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

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
            let product = |item| {
                let spread = self.matrix.product::<S, 6>(simd, item, x);
                let own = spread.map(|x| simd.reduce_sum_f64s(x));
                self.matrix.add_adjoint(simd, item, &own.map(|x| simd.splat_f64s(x)), sums);
                own
            };
            (0..self.matrix.starts.len() - 1).map(product).collect()
        }
    }

    #[test]
    fn products_are_those_of_the_columns_that_are_used() {
        let columns = 30;
        // Slots in an order of their own, some of which stay empty.
        let slots = Slots::new((0..columns).map(|column| column * 7 % 37).collect());
        let items: Vec<Vec<(u32, [f64; 2])>> = (0..9_u32)
            .map(|item| {
                let used = (0..columns).filter(|column| (column * item) % 4 == 1 || column % 9 == item);
                used.map(|column| (column, [f64::from(column), f64::from(item) - 0.5])).collect()
            })
            .collect();
        let rows: Vec<[f64; 3]> =
            (0..columns).map(|k| [1.0, 2.0, 3.0].map(|c| (c * f64::from(k)).sin())).collect();
        let (matrix, mut x, mut sums) = (Grouped::new(&slots, &items), slots.room(), slots.room());
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
