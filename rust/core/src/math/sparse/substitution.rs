//! Triangular solves with dense panels of a factor, for several right-hand sides at once.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::panels::{Panel, Panels, TILE};
use crate::parallel::*;

/// Right-hand sides solved at once: a cache line of numbers.
pub(super) const LANES: usize = 8;
/// Padding rows after the right-hand sides, for partial tiles.
pub(super) const MARGIN: usize = TILE;

/// One row of right-hand sides.
pub(super) type Row = [f64; LANES];

/// `x = L^-1 x` over the panels of a part, including updates of the rows below.
pub(super) fn forward(panels: &Panels, x: &mut [Row]) {
    for run in panels.runs() {
        let panel = panels.get(run.start);
        let Some(tiles) = panel.tiles_per_task() else {
            Arch::new().dispatch(Solve { panels, run, x, forward: true, whole: true });
            continue;
        };
        Arch::new().dispatch(Solve { panels, run, x, forward: true, whole: false });
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

/// `x = L^-T x` over the panels of a part, last panel first.
pub(super) fn backward(panels: &Panels, x: &mut [Row]) {
    for run in panels.runs().into_iter().rev() {
        let panel = panels.get(run.start);
        let Some(tiles) = panel.tiles_per_task() else {
            Arch::new().dispatch(Solve { panels, run, x, forward: false, whole: true });
            continue;
        };
        let values = panel.below().par_chunks(tiles * TILE * panel.width);
        let whole = &*x;
        let sum = |(rows, values)| {
            let mut out = vec![[0.0; LANES]; panel.width];
            Arch::new().dispatch(Transposed { values, rows, x: whole, out: &mut out });
            out
        };
        let sums: Vec<Vec<Row>> =
            panel.rows.par_chunks(tiles * TILE).zip(values).with_max_len(1).map(sum).collect();
        for sum in sums {
            for (into, from) in x[panel.first..].iter_mut().zip(&sum) {
                (0..LANES).for_each(|lane| into[lane] += from[lane]);
            }
        }
        Arch::new().dispatch(Solve { panels, run, x, forward: false, whole: false });
    }
}

/// Substitution through a run of panels, with or without the rows below the triangle.
struct Solve<'a> {
    panels: &'a Panels,
    run: Range<usize>,
    x: &'a mut [Row],
    forward: bool,
    whole: bool,
}

/// `out = -L_below own` for some tiles.
struct Product<'a> {
    values: &'a [f64],
    own: &'a [Row],
    out: &'a mut [Row],
}

/// `out = -L_below' x_rows` for some tiles.
struct Transposed<'a> {
    values: &'a [f64],
    rows: &'a [u32],
    x: &'a [Row],
    out: &'a mut [Row],
}

/// Calls a kernel with the number of registers a row, and the number of rows whose sums fit into registers
/// together.
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

/// Rows as mutable registers.
macro_rules! registers_mut {
    ($S:ident, $rows:expr) => {
        $S::as_mut_simd_f64s($rows.as_flattened_mut()).0.as_chunks_mut().0
    };
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_registers!(
            S,
            solve(simd, self.panels, self.run, registers_mut!(S, self.x), self.forward, self.whole)
        );
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

// Plain loops only from here on: a closure would not be compiled for the instruction set of its caller. R
// registers hold a row, and T rows are summed at a time.

#[inline(always)]
fn solve<S: Simd, const R: usize, const T: usize>(
    simd: S,
    panels: &Panels,
    run: Range<usize>,
    x: &mut [[S::f64s; R]],
    forward: bool,
    whole: bool,
) {
    if forward {
        for index in run {
            let panel = panels.get(index);
            if is_zero::<S, R>(simd, &x[panel.first..][..panel.width]) {
                continue;
            }
            forward_top::<S, R, T>(simd, &panel, x);
            if whole {
                forward_below::<S, R, T>(simd, &panel, x);
            }
        }
    } else {
        for index in run.rev() {
            let panel = panels.get(index);
            if whole {
                backward_below::<S, R, T>(simd, &panel, x);
            }
            backward_top::<S, R, T>(simd, &panel, x);
        }
    }
}

/// `true` for zero right-hand sides, as below the nodes of sparse ones.
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
fn forward_top<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel<'_>, x: &mut [[S::f64s; R]]) {
    let mut rest = panel.triangle();
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
fn backward_top<S: Simd, const R: usize, const T: usize>(simd: S, panel: &Panel<'_>, x: &mut [[S::f64s; R]]) {
    let mut rest = panel.triangle();
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

/// Rows of a tile; the margin rows stand in for missing ones.
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
fn forward_below<S: Simd, const R: usize, const T: usize>(
    simd: S,
    panel: &Panel<'_>,
    x: &mut [[S::f64s; R]],
) {
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
fn backward_below<S: Simd, const R: usize, const T: usize>(
    simd: S,
    panel: &Panel<'_>,
    x: &mut [[S::f64s; R]],
) {
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
