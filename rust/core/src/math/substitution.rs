//! Triangular solves with dense panels of a factor, for several right-hand sides at once.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::fronts::Front;
use super::lanes::Buffer;

/// Right-hand sides that are solved for at once: a cache line of numbers.
pub(super) const LANES: usize = 8;
/// Rows of a tile: as many as let their sums stay in registers.
const TILE: usize = 8;
/// Columns of a panel at most: its share of the right-hand sides stays in a near cache.
const PANEL: usize = 256;
/// Numbers below the triangle of a panel above which threads share them, and numbers for each task.
const SHARED: usize = 1 << 16;
const TASK: usize = 1 << 15;
/// Rows that right-hand sides have after their last, for tiles that are not full.
pub(super) const MARGIN: usize = TILE;

/// One row of right-hand sides.
pub(super) type Row = [f64; LANES];

/// Consecutive columns of `L`, packed for substitution.
///
/// Rows come in tiles of eight, each tile column by column. The first tiles, over the panel's own rows, end with the
/// inverse of their diagonal block; everything else is stored with its sign changed, so that it is added.
pub(super) struct Panel {
    /// First of its columns within its part, which is also the first of its rows.
    first: usize,
    width: usize,
    /// The rows below the triangle within its part.
    rows: Vec<u32>,
    values: Buffer<f64>,
}

impl Panel {
    /// Packs the first `width` columns of an eliminated front, whose rows `width..` are named `rows`.
    pub fn pack(front: &Front, first: usize, width: usize, rows: &[u32]) -> Vec<Self> {
        let panel = |start: usize| {
            let end = width.min(start + PANEL);
            let own = (first + end..first + width).map(|row| row as u32);
            Self::pack_one(front, start..end, first + start, own.chain(rows.iter().copied()).collect())
        };
        if width <= PANEL {
            vec![panel(0)]
        } else {
            (0..width.div_ceil(PANEL)).into_par_iter().map(|k| panel(PANEL * k)).collect()
        }
    }

    fn pack_one(front: &Front, columns: Range<usize>, first: usize, rows: Vec<u32>) -> Self {
        let width = columns.len();
        let mut values = Buffer::zeros(top_len(width) + rows.len().div_ceil(TILE) * TILE * width);
        let (mut top, below) = values.split_at_mut(top_len(width));
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
        Self { first, width, rows, values }
    }

    /// Numbers that are stored.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    fn below(&self) -> &[f64] {
        &self.values[top_len(self.width)..]
    }

    /// Tiles below the triangle that a task takes, if they are worth sharing.
    fn tiles_per_task(&self) -> Option<usize> {
        (self.below().len() > SHARED).then(|| (TASK / (TILE * self.width)).max(1))
    }
}

/// Numbers in the triangle of a panel.
fn top_len(width: usize) -> usize {
    let tiles = width.div_ceil(TILE);
    TILE * TILE * tiles * (tiles + 1) / 2
}

/// Some rows of some columns, column by column, with their sign changed.
fn pack_tile(front: &Front, columns: Range<usize>, rows: Range<usize>, tile: &mut [f64]) {
    for (column, into) in columns.zip(tile.chunks_exact_mut(TILE)) {
        into.iter_mut().zip(&front.column(column)[rows.clone()]).for_each(|(into, from)| *into = -from);
    }
}

/// The inverse of a lower triangle on the diagonal, continued by the identity, column by column.
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

/// `x = L^-1 x` over consecutive panels, in which the rows below them change too.
pub(super) fn forward(panels: &[Panel], x: &mut [Row]) {
    for run in panels.chunk_by(|a, b| a.tiles_per_task().is_none() && b.tiles_per_task().is_none()) {
        let Some(tiles) = run[0].tiles_per_task() else {
            Arch::new().dispatch(Solve { panels: run, x, forward: true, whole: true });
            continue;
        };
        Arch::new().dispatch(Solve { panels: run, x, forward: true, whole: false });
        let panel = &run[0];
        let mut below = vec![[0.0; LANES]; panel.rows.len().div_ceil(TILE) * TILE];
        let own = &x[panel.first..][..panel.width];
        if own.as_flattened().iter().all(|&x| x == 0.0) {
            continue;
        }
        let values = panel.below().par_chunks(tiles * TILE * panel.width);
        below.par_chunks_mut(tiles * TILE).zip(values).with_max_len(1).for_each(|(out, values)| {
            Arch::new().dispatch(Product { values, own, out });
        });
        for (&row, from) in panel.rows.iter().zip(&below) {
            let into = &mut x[row as usize];
            (0..LANES).for_each(|lane| into[lane] += from[lane]);
        }
    }
}

/// `x = L^-T x` over consecutive panels, the last one first.
pub(super) fn backward(panels: &[Panel], x: &mut [Row]) {
    let alone = |a: &Panel, b: &Panel| a.tiles_per_task().is_none() && b.tiles_per_task().is_none();
    let runs: Vec<&[Panel]> = panels.chunk_by(alone).collect();
    for run in runs.into_iter().rev() {
        let Some(tiles) = run[0].tiles_per_task() else {
            Arch::new().dispatch(Solve { panels: run, x, forward: false, whole: true });
            continue;
        };
        let panel = &run[0];
        let values = panel.below().par_chunks(tiles * TILE * panel.width);
        let whole = &*x;
        let sums: Vec<Vec<Row>> = panel
            .rows
            .par_chunks(tiles * TILE)
            .zip(values)
            .with_max_len(1)
            .map(|(rows, values)| {
                let mut out = vec![[0.0; LANES]; panel.width];
                Arch::new().dispatch(Transposed { values, rows, x: whole, out: &mut out });
                out
            })
            .collect();
        for sum in sums {
            for (into, from) in x[panel.first..].iter_mut().zip(&sum) {
                (0..LANES).for_each(|lane| into[lane] += from[lane]);
            }
        }
        Arch::new().dispatch(Solve { panels: run, x, forward: false, whole: false });
    }
}

/// Substitution through panels, with their rows below the triangle or without.
struct Solve<'a> {
    panels: &'a [Panel],
    x: &'a mut [Row],
    forward: bool,
    whole: bool,
}

/// `out = -L_below own`, of some tiles.
struct Product<'a> {
    values: &'a [f64],
    own: &'a [Row],
    out: &'a mut [Row],
}

/// `out = -L_below' x_rows`, of some tiles.
struct Transposed<'a> {
    values: &'a [f64],
    rows: &'a [u32],
    x: &'a [Row],
    out: &'a mut [Row],
}

/// Calls a kernel for the registers that a row takes, and the rows whose sums fit into registers together.
macro_rules! with_registers {
    ($S:ident, $kernel:ident($($argument:expr),*)) => {
        match LANES / $S::F64_LANES {
            1 => $kernel::<$S, 1, 8>($($argument),*),
            2 => $kernel::<$S, 2, 4>($($argument),*),
            4 => $kernel::<$S, 4, 2>($($argument),*),
            _ => $kernel::<$S, LANES, 1>($($argument),*),
        }
    };
}

/// Rows as registers.
macro_rules! registers {
    ($S:ident, $rows:expr) => {
        $S::as_simd_f64s($rows.as_flattened()).0.as_chunks().0
    };
}

/// Rows as registers that may change.
macro_rules! registers_mut {
    ($S:ident, $rows:expr) => {
        $S::as_mut_simd_f64s($rows.as_flattened_mut()).0.as_chunks_mut().0
    };
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_registers!(S, solve(simd, self.panels, registers_mut!(S, self.x), self.forward, self.whole));
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_registers!(S, products(simd, self.values, registers!(S, self.own), registers_mut!(S, self.out)));
    }
}

impl WithSimd for Transposed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_registers!(
            S,
            transposed(simd, self.values, self.rows, registers!(S, self.x), registers_mut!(S, self.out))
        );
    }
}

// Below there are plain loops only: a closure would not be compiled for the instruction set of its caller.
// R registers hold a row, and T rows are summed at a time.

#[inline(always)]
fn solve<S: Simd, const R: usize, const T: usize>(
    simd: S,
    panels: &[Panel],
    x: &mut [[S::f64s; R]],
    forward: bool,
    whole: bool,
) {
    if forward {
        for panel in panels {
            if is_zero::<S, R>(simd, &x[panel.first..][..panel.width]) {
                continue;
            }
            forward_top::<S, R, T>(simd, panel, x);
            if whole {
                forward_below::<S, R, T>(simd, panel, x);
            }
        }
    } else {
        for panel in panels.iter().rev() {
            if whole {
                backward_below::<S, R, T>(simd, panel, x);
            }
            backward_top::<S, R, T>(simd, panel, x);
        }
    }
}

/// Whether nothing is to be solved for, as below what sparse right-hand sides touch.
#[inline(always)]
fn is_zero<S: Simd, const R: usize>(simd: S, rows: &[[S::f64s; R]]) -> bool {
    for row in rows {
        for &lanes in row {
            if simd.reduce_max_f64s(simd.abs_f64s(lanes)) != 0.0 {
                return false;
            }
        }
    }
    true
}

/// `a += factor * b`.
#[inline(always)]
fn add<S: Simd, const R: usize>(simd: S, a: &mut [S::f64s; R], factor: f64, b: &[S::f64s; R]) {
    let factor = simd.splat_f64s(factor);
    for r in 0..R {
        a[r] = simd.mul_add_e_f64s(factor, b[r], a[r]);
    }
}

/// `sums[t] += sum_k tile[k, from + t] own[k]`.
#[inline(always)]
fn add_product<S: Simd, const R: usize, const T: usize>(
    simd: S,
    tile: &[f64],
    from: usize,
    own: &[[S::f64s; R]],
    sums: &mut [[S::f64s; R]; T],
) {
    for (line, own) in tile.as_chunks::<TILE>().0.iter().zip(own) {
        for t in 0..T {
            add(simd, &mut sums[t], line[from + t], own);
        }
    }
}

/// `own[k] += sum_t tile[k, from + t] rows[t]`.
#[inline(always)]
fn add_transposed<S: Simd, const R: usize, const T: usize>(
    simd: S,
    tile: &[f64],
    from: usize,
    rows: &[[S::f64s; R]; T],
    own: &mut [[S::f64s; R]],
) {
    for (line, own) in tile.as_chunks::<TILE>().0.iter().zip(own) {
        let mut sum = *own;
        for t in 0..T {
            add(simd, &mut sum, line[from + t], &rows[t]);
        }
        *own = sum;
    }
}

/// `x_own = L_own^-1 x_own`.
#[inline(always)]
fn forward_top<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel, x: &mut [[S::f64s; R]]) {
    let mut rest = &panel.values[..];
    for start in (0..panel.width).step_by(TILE) {
        let (tile, next) = rest.split_at(TILE * (start + TILE));
        let (left, diagonal) = tile.split_at(TILE * start);
        rest = next;
        let (own, tail) = x[panel.first..].split_at_mut(start);
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            sums.copy_from_slice(&tail[from..from + T]);
            add_product(simd, left, from, own, &mut sums);
            tail[from..from + T].copy_from_slice(&sums);
        }
        let mut rows = [[simd.splat_f64s(0.0); R]; TILE];
        rows.copy_from_slice(&tail[..TILE]);
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            add_product(simd, diagonal, from, &rows, &mut sums);
            tail[from..from + T].copy_from_slice(&sums);
        }
    }
}

/// `x_own = L_own^-T x_own`.
#[inline(always)]
fn backward_top<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel, x: &mut [[S::f64s; R]]) {
    let mut rest = &panel.values[..top_len(panel.width)];
    for start in (0..panel.width).step_by(TILE).rev() {
        let (before, tile) = rest.split_at(rest.len() - TILE * (start + TILE));
        let (left, diagonal) = tile.split_at(TILE * start);
        rest = before;
        let (own, tail) = x[panel.first..].split_at_mut(start);
        let mut solved = [[simd.splat_f64s(0.0); R]; TILE];
        for from in (0..TILE).step_by(T) {
            let mut rows = [[simd.splat_f64s(0.0); R]; T];
            rows.copy_from_slice(&tail[from..from + T]);
            add_transposed(simd, diagonal, from, &rows, &mut solved);
        }
        tail[..TILE].copy_from_slice(&solved);
        for from in (0..TILE).step_by(T) {
            let mut rows = [[simd.splat_f64s(0.0); R]; T];
            rows.copy_from_slice(&solved[from..from + T]);
            add_transposed(simd, left, from, &rows, own);
        }
    }
}

/// The rows of a tile; the last ones, which no tile fills, stand for those that it lacks.
#[inline(always)]
fn tile_rows(rows: &[u32], size: usize) -> [u32; TILE] {
    let mut tile = [0; TILE];
    for t in 0..TILE {
        tile[t] = if t < rows.len() { rows[t] } else { (size - MARGIN + t) as u32 };
    }
    tile
}

/// `x_rows -= L_below x_own`.
#[inline(always)]
fn forward_below<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel, x: &mut [[S::f64s; R]]) {
    let tiles = panel.below().chunks_exact(TILE * panel.width);
    for (tile, rows) in tiles.zip(panel.rows.chunks(TILE)) {
        let rows = tile_rows(rows, x.len());
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            for t in 0..T {
                sums[t] = x[rows[from + t] as usize];
            }
            add_product(simd, tile, from, &x[panel.first..][..panel.width], &mut sums);
            for t in 0..T {
                x[rows[from + t] as usize] = sums[t];
            }
        }
    }
}

/// `x_own -= L_below' x_rows`.
#[inline(always)]
fn backward_below<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel, x: &mut [[S::f64s; R]]) {
    let tiles = panel.below().chunks_exact(TILE * panel.width);
    for (tile, rows) in tiles.zip(panel.rows.chunks(TILE)) {
        let rows = tile_rows(rows, x.len());
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            for t in 0..T {
                sums[t] = x[rows[from + t] as usize];
            }
            add_transposed(simd, tile, from, &sums, &mut x[panel.first..][..panel.width]);
        }
    }
}

#[inline(always)]
fn products<S: Simd, const R: usize, const T: usize>(
    simd: S,
    values: &[f64],
    own: &[[S::f64s; R]],
    out: &mut [[S::f64s; R]],
) {
    for (tile, out) in values.chunks_exact(TILE * own.len()).zip(out.chunks_exact_mut(TILE)) {
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            add_product(simd, tile, from, own, &mut sums);
            out[from..from + T].copy_from_slice(&sums);
        }
    }
}

#[inline(always)]
fn transposed<S: Simd, const R: usize, const T: usize>(
    simd: S,
    values: &[f64],
    rows: &[u32],
    x: &[[S::f64s; R]],
    out: &mut [[S::f64s; R]],
) {
    for (tile, rows) in values.chunks_exact(TILE * out.len()).zip(rows.chunks(TILE)) {
        let rows = tile_rows(rows, x.len());
        for from in (0..TILE).step_by(T) {
            let mut sums = [[simd.splat_f64s(0.0); R]; T];
            for t in 0..T {
                sums[t] = x[rows[from + t] as usize];
            }
            add_transposed(simd, tile, from, &sums, out);
        }
    }
}
