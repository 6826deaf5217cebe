//! Columns of a factor, packed for substitution.

use std::ops::Range;

use super::fronts::Front;
use crate::math::simd::lanes::Buffer;
use crate::parallel::*;

/// Rows of a tile, few enough to keep their sums in registers.
pub(super) const TILE: usize = 8;
/// Largest number of columns of a panel, to keep its share of the right-hand sides in a near cache.
const PANEL: usize = 256;
/// Smallest number of values below a panel's triangle for several threads, and number of values per task.
const SHARED: usize = 1 << 16;
const TASK: usize = 1 << 15;

/// Consecutive columns of `L`, packed for substitution.
///
/// Rows come in tiles of eight, each tile column by column. The first tiles, over the panel's own rows, end
/// with the inverse of their diagonal block; everything else is stored with opposite sign, for additions.
pub(super) struct Panel<'a> {
    /// First column within the part, also the first row.
    pub first: usize,
    pub width: usize,
    /// Rows below the triangle, numbered within the part.
    pub rows: &'a [u32],
    values: &'a [f64],
}

impl<'a> Panel<'a> {
    /// Values of the triangle.
    pub fn triangle(&self) -> &'a [f64] {
        &self.values[..triangle_len(self.width)]
    }

    /// Values below the triangle.
    pub fn below(&self) -> &'a [f64] {
        &self.values[triangle_len(self.width)..]
    }

    /// Number of tiles below the triangle a task; `None` for a panel too small to share.
    pub fn tiles_per_task(&self) -> Option<usize> {
        (self.below().len() > SHARED).then(|| (TASK / (TILE * self.width)).max(1))
    }
}

/// Position of a panel in the storage.
struct Place {
    first: usize,
    width: usize,
    rows: Range<usize>,
    values: Range<usize>,
}

/// Panels of a part, in one piece of memory in reading order.
pub(super) struct Panels {
    places: Vec<Place>,
    rows: Vec<u32>,
    values: Buffer<f64>,
}

impl Panels {
    /// No panels yet, with memory for nodes given by their numbers of columns and of rows below.
    pub fn for_nodes(nodes: impl Iterator<Item = (usize, usize)>) -> Self {
        let numbers = nodes.flat_map(|(width, rows)| {
            panel_columns(width).map(move |columns| packed_len(columns.len(), width - columns.end + rows))
        });
        Self { places: Vec::new(), rows: Vec::new(), values: Buffer::zeros(numbers.sum()) }
    }

    /// Packs the first `width` columns of an eliminated front with global rows `rows` from `width` on.
    pub fn push(&mut self, front: &Front, first: usize, width: usize, rows: &[u32]) {
        let filled = self.places.last().map_or(0, |place| place.values.end);
        let mut rest = &mut self.values[filled..];
        let mut memory = Vec::new();
        for columns in panel_columns(width) {
            let start = self.rows.len();
            self.rows.extend((first + columns.end..first + width).map(|row| row as u32));
            self.rows.extend_from_slice(rows);
            let rows = start..self.rows.len();
            let start = self.places.last().map_or(0, |place| place.values.end);
            let (own, others) = rest.split_at_mut(packed_len(columns.len(), rows.len()));
            let values = start..start + own.len();
            self.places.push(Place { first: first + columns.start, width: columns.len(), rows, values });
            memory.push((columns, own));
            rest = others;
        }
        let pack = |(columns, values): (Range<usize>, &mut [f64])| pack(front, columns, values);
        if memory.len() > 1 {
            memory.into_par_iter().for_each(pack);
        } else {
            memory.into_iter().for_each(pack);
        }
    }

    /// Memory of the values, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }

    /// Number of panels.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    pub fn get(&self, index: usize) -> Panel<'_> {
        let place = &self.places[index];
        let (rows, values) = (&self.rows[place.rows.clone()], &self.values[place.values.clone()]);
        Panel { first: place.first, width: place.width, rows, values }
    }

    /// Panels shared by threads, one each, and runs of the others.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for index in 0..self.places.len() {
            let alone = self.get(index).tiles_per_task().is_some();
            match runs.last_mut().filter(|_| open && !alone) {
                Some(run) => run.end = index + 1,
                None => runs.push(index..index + 1),
            }
            open = !alone;
        }
        runs
    }
}

/// Columns of each panel of a node.
fn panel_columns(width: usize) -> impl Iterator<Item = Range<usize>> {
    (0..width).step_by(PANEL).map(move |start| start..width.min(start + PANEL))
}

/// Number of values in the triangle of a panel.
fn triangle_len(width: usize) -> usize {
    let tiles = width.div_ceil(TILE);
    TILE * TILE * tiles * (tiles + 1) / 2
}

/// Number of values in a panel.
pub(super) fn packed_len(width: usize, rows: usize) -> usize {
    triangle_len(width) + rows.div_ceil(TILE) * TILE * width
}

fn pack(front: &Front, columns: Range<usize>, values: &mut [f64]) {
    let width = columns.len();
    let (mut top, below) = values.split_at_mut(triangle_len(width));
    for start in columns.clone().step_by(TILE) {
        let left = columns.start..start;
        let (tile, rest) = top.split_at_mut(TILE * (left.len() + TILE));
        let (before, diagonal) = tile.split_at_mut(TILE * left.len());
        let own = start..columns.end.min(start + TILE);
        pack_tile(front, left, own.clone(), before);
        invert(front, own, diagonal);
        top = rest;
    }
    let tiles = below.chunks_exact_mut(TILE * width).zip((columns.end..front.size()).step_by(TILE));
    for (tile, start) in tiles {
        pack_tile(front, columns.clone(), start..front.size().min(start + TILE), tile);
    }
}

/// Copies some rows of some columns, column by column, with opposite sign.
fn pack_tile(front: &Front, columns: Range<usize>, rows: Range<usize>, tile: &mut [f64]) {
    for (column, into) in columns.zip(tile.chunks_exact_mut(TILE)) {
        into.iter_mut().zip(&front.column(column)[rows.clone()]).for_each(|(into, from)| *into = -from);
    }
}

/// Inverse of a lower triangle on the diagonal, padded with the identity, column by column.
fn invert(front: &Front, own: Range<usize>, inverse: &mut [f64]) {
    let triangle = |row: usize, column: usize| front.column(own.start + column)[own.start + row];
    for column in 0..TILE {
        let entries = &mut inverse[TILE * column..][..TILE];
        entries[column] = 1.0;
        for row in column..own.len() {
            entries[row] /= triangle(row, row);
            for below in row + 1..own.len() {
                entries[below] -= triangle(below, row) * entries[row];
            }
        }
    }
}
