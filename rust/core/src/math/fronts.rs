//! Elimination of one dense block of columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns that are eliminated together.
const PANEL: usize = 96;
/// Rows or columns of a tile of the remaining matrix.
const TILE: usize = 256;

/// Replaces the lower triangle of the first `width` columns of `front` by their Cholesky factor, and the rest of its
/// lower triangle by what is left (the Schur complement). Tiles do not depend on the number of threads.
///
/// # Errors
/// The column whose pivot is not positive.
pub(super) fn eliminate(mut front: MatMut<'_, f64>, width: usize) -> Result<(), usize> {
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
    if below.nrows() <= TILE {
        solve(below.rb_mut());
    } else {
        below.rb_mut().par_row_chunks_mut(TILE).for_each(solve);
    }
    let count = right.ncols();
    if count > 0 {
        subtract_square(right.subrows_mut(panel, below.nrows()), below.rb());
    }
    Ok(())
}

/// `out -= lower triangle of (below below')`, of which out may have only the first columns.
fn subtract_square(out: MatMut<'_, f64>, below: MatRef<'_, f64>) {
    let tiles = out.ncols().div_ceil(TILE);
    let tile = |(index, mut columns): (usize, MatMut<'_, f64>)| {
        let start = index * TILE;
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
        _ => out.par_col_chunks_mut(TILE).enumerate().with_max_len(1).for_each(tile),
    }
}

/// What a node leaves to its parent: the lower triangle of a symmetric matrix, and its rows.
pub(super) struct Update {
    /// Rows, ascending.
    pub rows: Vec<u32>,
    /// The matrix; only its lower triangle counts.
    pub matrix: Mat<f64>,
}

impl Update {
    /// Adds it to the lower triangle of a front; `place` gives each row's row in the front.
    pub fn add_to(&self, front: &mut Mat<f64>, place: impl Fn(u32) -> usize) {
        let places: Vec<usize> = self.rows.iter().map(|&row| place(row)).collect();
        for (j, &column) in places.iter().enumerate() {
            let from = &self.matrix.col_as_slice(j)[j..];
            let into = front.col_as_slice_mut(column);
            from.iter().zip(&places[j..]).for_each(|(value, &row)| into[row] += value);
        }
    }
}
