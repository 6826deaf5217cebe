//! Cells of a grid kept by the lattice, and the joints between them.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use nalgebra::Vector3;

use super::{WindingNumber, grid::Grid, overlap::MARGIN, overlap::TriangleOverlap};
use crate::Result;
use crate::parallel::*;

/// The surface touches the cell.
const TOUCHED: u8 = 1;
/// The surface touches the cell's lower face along x; shifted left for y and z.
const FACE: u8 = 2;
/// The cell is inside and not touched.
const INSIDE: u8 = 16;

/// Enclosed empty regions of up to this many cells are filled.
const HOLE: usize = 8;

/// Triangles between two reports.
const BATCH: usize = 4096;

/// The share of [`Cells::new`] spent on touching, the rest on winding numbers.
const TOUCHING: f32 = 0.3;

/// Callback for the completed share of the work; an error cancels.
pub(super) type Report<'a> = dyn Fn(f32) -> Result<()> + Sync + 'a;

/// Cells touched or enclosed by the surface.
pub(super) struct Cells<'a> {
    pub(super) grid: Grid,
    winding: &'a WindingNumber,
    flags: Vec<u8>,
}

impl<'a> Cells<'a> {
    /// Classifies every cell of the grid; `pieces` are the corners of triangles.
    pub(super) fn new(
        grid: Grid,
        pieces: &[[[f64; 3]; 3]],
        winding: &'a WindingNumber,
        report: &Report,
    ) -> Result<Self> {
        let mut flags = touched(&grid, pieces, &|share| report(TOUCHING * share))?;
        let inside_report = |share| report(TOUCHING + (1.0 - TOUCHING) * share);
        mark_inside(&grid, winding, &mut flags, &inside_report)?;
        fill_holes(&grid, &mut flags);
        Ok(Self { grid, winding, flags })
    }

    /// Numbers of the kept cells, ascending.
    pub(super) fn kept(&self) -> Vec<usize> {
        (0..self.flags.len()).filter(|&cell| self.flags[cell] != 0).collect()
    }

    /// `true` if the surface touches a cell.
    pub(super) fn is_touched(&self, cell: usize) -> bool {
        self.flags[cell] & TOUCHED != 0
    }

    /// Winding numbers behind the inside test.
    pub(super) fn winding(&self) -> &WindingNumber {
        self.winding
    }

    /// Pairs of joined neighbours, as (upper cell, axis): their common face is touched or inside.
    pub(super) fn joints(&self, kept: &[usize]) -> Vec<(usize, usize)> {
        let strides = self.grid.strides();
        let joined = |&(cell, axis): &(usize, usize)| {
            let (upper, lower) = (self.flags[cell], self.flags[cell - strides[axis]]);
            lower != 0
                && (upper & (FACE << axis) != 0
                    || (upper | lower) & INSIDE != 0
                    || self.winding.at(self.face_centre(cell, axis)) >= 0.5)
        };
        let neighbours = |&cell: &usize| {
            let position = self.grid.cell(cell);
            (0..3).filter(move |&axis| position[axis] > 0).map(move |axis| (cell, axis))
        };
        kept.par_iter().flat_map_iter(neighbours).filter(joined).collect()
    }

    fn face_centre(&self, cell: usize, axis: usize) -> [f64; 3] {
        let mut at = self.grid.cell(cell).map(|i| i as f64 + 0.5);
        at[axis] -= 0.5;
        self.grid.to_metres(at)
    }
}

/// Flags of the cells and lower faces touched by any triangle.
fn touched(grid: &Grid, pieces: &[[[f64; 3]; 3]], report: &Report) -> Result<Vec<u8>> {
    let flags: Vec<AtomicU8> = (0..grid.len()).map(|_| AtomicU8::new(0)).collect();
    let batches = pieces.len().div_ceil(BATCH) as f32;
    for (batch, pieces) in pieces.chunks(BATCH).enumerate() {
        report(batch as f32 / batches)?;
        pieces.par_iter().for_each(|corners| mark_touched(grid, corners, &flags));
    }
    Ok(flags.into_iter().map(AtomicU8::into_inner).collect())
}

/// Sets the flags of all cells touched by a triangle.
fn mark_touched(grid: &Grid, corners: &[[f64; 3]; 3], flags: &[AtomicU8]) {
    let overlap = TriangleOverlap::new(corners.map(|p| grid.to_cells(p)));
    let (low, high) = overlap.bounds();
    let range = |a: usize| {
        let cell = |x: f64| (x.floor().max(0.0) as usize).min(grid.counts[a] - 1);
        cell(low[a] - MARGIN)..=cell(high[a] + MARGIN)
    };
    for i in range(0) {
        for j in range(1) {
            for k in range(2) {
                let lower = Vector3::new(i as f64, j as f64, k as f64);
                mark_cell(&overlap, lower, &flags[grid.index([i, j, k])]);
            }
        }
    }
}

/// Sets the flags of one cell; flags are only ever added, therefore the order of triangles does not matter.
fn mark_cell(overlap: &TriangleOverlap, lower: Vector3<f64>, flag: &AtomicU8) {
    let known = flag.load(Ordering::Relaxed);
    let half = Vector3::repeat(0.5);
    let centre = lower + half;
    if known == 0b1111 || !overlap.touches(centre, half) {
        return;
    }
    let mut found = TOUCHED;
    for axis in (0..3).filter(|&axis| known & (FACE << axis) == 0) {
        let (mut centre, mut half) = (centre, half);
        centre[axis] = lower[axis];
        half[axis] = 0.0;
        if overlap.touches(centre, half) {
            found |= FACE << axis;
        }
    }
    flag.fetch_or(found, Ordering::Relaxed);
}

/// Flags untouched cells with a centre inside of the surface.
fn mark_inside(grid: &Grid, winding: &WindingNumber, flags: &mut [u8], report: &Report) -> Result<()> {
    let done = AtomicUsize::new(0);
    flags.par_chunks_mut(grid.slab()).enumerate().try_for_each(|(slab, flags)| {
        for (i, flag) in flags.iter_mut().enumerate().filter(|(_, flag)| **flag == 0) {
            let centre = grid.cell(slab * grid.slab() + i).map(|c| c as f64 + 0.5);
            if winding.at(grid.to_metres(centre)) >= 0.5 {
                *flag = INSIDE;
            }
        }
        let share = (done.fetch_add(1, Ordering::Relaxed) + 1) as f32 / grid.counts[0] as f32;
        report(share)
    })
}

/// Flags small empty regions away from the border of the grid as inside.
fn fill_holes(grid: &Grid, flags: &mut [u8]) {
    let mut reached: Vec<bool> = flags.iter().map(|&flag| flag != 0).collect();
    let mut region = Vec::new();
    for seed in 0..flags.len() {
        if reached[seed] {
            continue;
        }
        reached[seed] = true;
        region.clear();
        region.push(seed);
        let (mut next, mut enclosed) = (0, true);
        while let Some(&cell) = region.get(next) {
            next += 1;
            let position = grid.cell(cell);
            for (axis, stride) in grid.strides().into_iter().enumerate() {
                enclosed &= position[axis] > 0 && position[axis] + 1 < grid.counts[axis];
                let below = (position[axis] > 0).then(|| cell - stride);
                let above = (position[axis] + 1 < grid.counts[axis]).then(|| cell + stride);
                for neighbour in below.into_iter().chain(above) {
                    if !std::mem::replace(&mut reached[neighbour], true) {
                        region.push(neighbour);
                    }
                }
            }
        }
        if enclosed && region.len() <= HOLE {
            region.iter().for_each(|&cell| flags[cell] = INSIDE);
        }
    }
}
