//! Elimination of one dense block of columns.

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};

use crate::parallel::*;

/// Number of columns eliminated together.
const PANEL: usize = 96;

/// Tile size of the remaining matrix: several tiles a thread, but not too small for the cache.
fn tile_of(size: usize) -> usize {
    (size / 8).next_multiple_of(32).clamp(96, 256)
}

/// Replaces the lower triangle of the first `width` columns of `front` by their Cholesky factor, and the
/// rest of the lower triangle by the Schur complement. Tiles do not depend on the number of threads.
///
/// # Errors
/// The column with a pivot that is not positive.
fn eliminate(mut front: MatMut<'_, f64>, width: usize) -> Result<(), usize> {
    let size = front.nrows();
    for start in (0..width).step_by(PANEL) {
        let panel = PANEL.min(width - start);
        let rest = front.rb_mut().submatrix_mut(start, start, size - start, width - start);
        eliminate_panel(rest, panel).map_err(|column| start + column)?;
    }
    let (left, rest) = front.split_at_col_mut(width);
    let below = left.rb().subrows(width, left.nrows() - width);
    subtract_square(rest.subrows_mut(width, below.nrows()), below);
    Ok(())
}

/// Eliminates the first `panel` of some tall columns and updates the other ones.
fn eliminate_panel(columns: MatMut<'_, f64>, panel: usize) -> Result<(), usize> {
    let (mut left, right) = columns.split_at_col_mut(panel);
    let (mut top, mut below) = left.rb_mut().split_at_row_mut(panel);
    let scratch = cholesky_in_place_scratch::<f64>(panel, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    cholesky_in_place(
        top.rb_mut(),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|error| match error {
        faer::linalg::cholesky::llt::factor::LltError::NonPositivePivot { index } => index,
    })?;
    let top = top.rb();
    let solve = |rows: MatMut<'_, f64>| solve_lower_triangular_in_place(top, rows.transpose_mut(), Par::Seq);
    let tile = tile_of(below.nrows());
    if below.nrows() <= tile {
        solve(below.rb_mut());
    } else {
        below.rb_mut().par_row_chunks_mut(tile).for_each(solve);
    }
    let count = right.ncols();
    if count > 0 {
        subtract_square(right.subrows_mut(panel, below.nrows()), below.rb());
    }
    Ok(())
}

/// `out -= lower triangle of (below below')`; out may have only the first columns.
fn subtract_square(out: MatMut<'_, f64>, below: MatRef<'_, f64>) {
    let size = tile_of(out.ncols());
    let tiles = out.ncols().div_ceil(size);
    let tile = |(index, mut columns): (usize, MatMut<'_, f64>)| {
        let start = index * size;
        let width = columns.ncols();
        let (square, rest) =
            columns.rb_mut().subrows_mut(start, below.nrows() - start).split_at_row_mut(width);
        let own = below.subrows(start, width);
        triangular_matmul(
            square,
            BlockStructure::TriangularLower,
            Accum::Add,
            own,
            BlockStructure::Rectangular,
            own.transpose(),
            BlockStructure::Rectangular,
            -1.0,
            Par::Seq,
        );
        let lower = below.subrows(start + width, below.nrows() - start - width);
        matmul(rest, Accum::Add, lower, own.transpose(), -1.0, Par::Seq);
    };
    match tiles {
        0 => {}
        1 => tile((0, out)),
        _ => out.par_col_chunks_mut(size).enumerate().with_max_len(1).for_each(tile),
    }
}

/// A square matrix for the elimination of one node after the other in the same memory.
#[derive(Default)]
pub(super) struct Front {
    values: Vec<f64>,
    size: usize,
}

impl Front {
    /// Resets to a zero matrix of the given size.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.values.clear();
        self.values.resize(size * size, 0.0);
    }

    /// Rows and columns.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.size..][..self.size]
    }

    pub fn column_mut(&mut self, column: usize) -> &mut [f64] {
        &mut self.values[column * self.size..][..self.size]
    }

    /// Changes the sign of all entries.
    pub fn negate(&mut self) {
        self.values.iter_mut().for_each(|value| *value = -*value);
    }

    /// As [`eliminate`].
    pub fn eliminate(&mut self, width: usize) -> Result<(), usize> {
        eliminate(MatMut::from_column_major_slice_mut(&mut self.values, self.size, self.size), width)
    }

    /// Update matrix after elimination of the first `width` columns, for the global rows `rows`.
    pub fn update(&self, width: usize, rows: Vec<u32>) -> Update {
        let mut values = Vec::with_capacity(rows.len() * (rows.len() + 1) / 2);
        (width..self.size).for_each(|column| values.extend_from_slice(&self.column(column)[column..]));
        Update { rows, values }
    }

    /// Adds an update to the lower triangle; `place` maps rows to rows of the front.
    pub fn add(&mut self, update: &Update, place: impl Fn(u32) -> usize) {
        let places: Vec<usize> = update.rows.iter().map(|&row| place(row)).collect();
        let mut rest = &update.values[..];
        let mut first_run = 0;
        let runs = runs(&places);
        for (j, &column) in places.iter().enumerate() {
            let (mut from, next) = rest.split_at(places.len() - j);
            rest = next;
            first_run += usize::from(runs[first_run].end == j);
            let into = self.column_mut(column);
            let mut start = j;
            for run in &runs[first_run..] {
                let (values, others) = from.split_at(run.end - start);
                let into = &mut into[places[start]..][..values.len()];
                into.iter_mut().zip(values).for_each(|(into, value)| *into += value);
                (from, start) = (others, run.end);
            }
        }
    }
}

/// Runs of consecutive places.
fn runs(places: &[usize]) -> Vec<Range<usize>> {
    let mut start = 0;
    let run = |run: &[usize]| {
        start += run.len();
        start - run.len()..start
    };
    places.chunk_by(|a, b| a + 1 == *b).map(run).collect()
}

/// Update from a node to its parent: the rows and the lower triangle of a symmetric matrix.
pub(super) struct Update {
    /// Rows, ascending.
    pub rows: Vec<u32>,
    /// Triangle, column by column.
    values: Vec<f64>,
}
