//! Triangular solves with dense panels for three right-hand sides, the x, y and z of vertices.
//!
//! Lanes hold rows of the factor, not right-hand sides as in `substitution`: each register of the factor
//! serves three columns.

use pulp::bytemuck::cast_slice;
use pulp::{Arch, Simd, WithSimd};

use super::panels::{Panel, Panels, TILE};

/// Number of right-hand sides.
pub(super) const COLUMNS: usize = 3;

/// The right-hand sides of a part, one after the other, and scratch for the rows below a panel.
pub(super) struct Sides<'a> {
    pub(super) x: [&'a mut [f64]; COLUMNS],
    pub(super) below: &'a mut Vec<f64>,
}

/// `x = L^-1 x` over the panels of a part, including updates of the rows below, or `x = L^-T x`, last panel
/// first.
pub(super) fn substitute(panels: &Panels, sides: &mut Sides<'_>, forward: bool) {
    Arch::new().dispatch(Substitution { panels, sides, forward });
}

struct Substitution<'a, 'b> {
    panels: &'a Panels,
    sides: &'a mut Sides<'b>,
    forward: bool,
}

impl WithSimd for Substitution<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Registers a tile, and columns whose sums fit into registers together.
        match TILE / S::F64_LANES {
            1 => run::<S, 1, 8>(simd, self.panels, self.sides, self.forward),
            2 => run::<S, 2, 2>(simd, self.panels, self.sides, self.forward),
            4 => run::<S, 4, 1>(simd, self.panels, self.sides, self.forward),
            _ => run::<S, TILE, 1>(simd, self.panels, self.sides, self.forward),
        }
    }
}

// Plain loops only from here on: a closure would not be compiled for the instruction set of its caller. R
// registers hold a tile, and K columns are summed at a time.

#[inline(always)]
fn run<S: Simd, const R: usize, const K: usize>(
    simd: S,
    panels: &Panels,
    sides: &mut Sides<'_>,
    forward: bool,
) {
    if forward {
        for index in 0..panels.count() {
            let panel = panels.get(index);
            forward_top::<S, R>(simd, &panel, &mut sides.x);
            forward_below::<S, R>(simd, &panel, &mut sides.x);
        }
    } else {
        for index in (0..panels.count()).rev() {
            let panel = panels.get(index);
            gather(&panel, sides);
            backward::<S, R, K>(simd, &panel, &mut sides.x, sides.below);
        }
    }
}

/// A column of a tile.
#[inline(always)]
fn line<S: Simd, const R: usize>(simd: S, numbers: &[f64], column: usize) -> [S::f64s; R] {
    let (registers, _) = S::as_simd_f64s(&numbers[TILE * column..][..TILE]);
    let mut line = [simd.splat_f64s(0.0); R];
    line.copy_from_slice(&registers[..R]);
    line
}

/// `sums += tile x`, over the first columns of a tile.
#[inline(always)]
fn add_product<S: Simd, const R: usize>(
    simd: S,
    tile: &[f64],
    x: [&[f64]; COLUMNS],
    sums: &mut [[S::f64s; R]; COLUMNS],
) {
    for column in 0..tile.len() / TILE {
        let line = line::<S, R>(simd, tile, column);
        for c in 0..COLUMNS {
            let factor = simd.splat_f64s(x[c][column]);
            for r in 0..R {
                sums[c][r] = simd.mul_add_e_f64s(line[r], factor, sums[c][r]);
            }
        }
    }
}

#[inline(always)]
fn forward_top<S: Simd, const R: usize>(simd: S, panel: &Panel<'_>, x: &mut [&mut [f64]; COLUMNS]) {
    let mut rest = panel.triangle();
    for start in (0..panel.width).step_by(TILE) {
        let (tile, next) = rest.split_at(TILE * (start + TILE));
        let (left, diagonal) = tile.split_at(TILE * start);
        rest = next;
        let mut sums = [[simd.splat_f64s(0.0); R]; COLUMNS];
        let mut own = [&[][..]; COLUMNS];
        for c in 0..COLUMNS {
            sums[c] = line::<S, R>(simd, &x[c][panel.first + start..], 0);
            own[c] = &x[c][panel.first..][..start];
        }
        add_product(simd, left, own, &mut sums);
        let mut solved = [[simd.splat_f64s(0.0); R]; COLUMNS];
        let rows = [cast_slice(&sums[0]), cast_slice(&sums[1]), cast_slice(&sums[2])];
        add_product(simd, diagonal, rows, &mut solved);
        for c in 0..COLUMNS {
            x[c][panel.first + start..][..TILE].copy_from_slice(cast_slice(&solved[c]));
        }
    }
}

#[inline(always)]
fn forward_below<S: Simd, const R: usize>(simd: S, panel: &Panel<'_>, x: &mut [&mut [f64]; COLUMNS]) {
    let tiles = panel.below().chunks_exact(TILE * panel.width);
    for (tile, rows) in tiles.zip(panel.rows.chunks(TILE)) {
        let mut sums = [[simd.splat_f64s(0.0); R]; COLUMNS];
        let mut own = [&[][..]; COLUMNS];
        for c in 0..COLUMNS {
            own[c] = &x[c][panel.first..][..panel.width];
        }
        add_product(simd, tile, own, &mut sums);
        for c in 0..COLUMNS {
            let sums = cast_slice::<S::f64s, f64>(&sums[c]);
            for t in 0..rows.len() {
                x[c][rows[t] as usize] += sums[t];
            }
        }
    }
}

/// Copies the rows below a panel, tiles x columns x rows of a tile, padded with zeros.
fn gather(panel: &Panel<'_>, sides: &mut Sides<'_>) {
    sides.below.clear();
    sides.below.resize(panel.rows.len().div_ceil(TILE) * COLUMNS * TILE, 0.0);
    for (rows, tile) in panel.rows.chunks(TILE).zip(sides.below.chunks_exact_mut(COLUMNS * TILE)) {
        for (x, tile) in sides.x.iter().zip(tile.chunks_exact_mut(TILE)) {
            rows.iter().zip(tile).for_each(|(&row, value)| *value = x[row as usize]);
        }
    }
}

/// `x_own = L_own^-T (x_own - L_below' x_rows)`, a tile of columns at a time, the last first.
#[inline(always)]
fn backward<S: Simd, const R: usize, const K: usize>(
    simd: S,
    panel: &Panel<'_>,
    x: &mut [&mut [f64]; COLUMNS],
    below: &[f64],
) {
    let (triangle, first) = (panel.triangle(), panel.first);
    let tiles = panel.width.div_ceil(TILE);
    for tile in (0..tiles).rev() {
        for from in (TILE * tile..panel.width.min(TILE * (tile + 1))).step_by(K) {
            let mut sums = [[[simd.splat_f64s(0.0); R]; COLUMNS]; K];
            for later in tile + 1..tiles {
                let values = &triangle[TILE * TILE * later * (later + 1) / 2..][TILE * from..];
                let mut rows = [[simd.splat_f64s(0.0); R]; COLUMNS];
                for c in 0..COLUMNS {
                    rows[c] = line::<S, R>(simd, &x[c][first + TILE * later..], 0);
                }
                add_transposed::<S, R, K>(simd, values, &rows, &mut sums);
            }
            for (values, x) in
                panel.below().chunks_exact(TILE * panel.width).zip(below.chunks_exact(COLUMNS * TILE))
            {
                let mut rows = [[simd.splat_f64s(0.0); R]; COLUMNS];
                for c in 0..COLUMNS {
                    rows[c] = line::<S, R>(simd, x, c);
                }
                add_transposed::<S, R, K>(simd, &values[TILE * from..], &rows, &mut sums);
            }
            for k in 0..K.min(panel.width - from) {
                for c in 0..COLUMNS {
                    x[c][first + from + k] += total::<S, R>(simd, &sums[k][c]);
                }
            }
        }
        let start = TILE * tile;
        let diagonal = &triangle[TILE * TILE * tile * (tile + 1) / 2 + TILE * start..][..TILE * TILE];
        for c in 0..COLUMNS {
            let rows = line::<S, R>(simd, &x[c][first + start..], 0);
            for k in 0..TILE {
                let mut products = line::<S, R>(simd, diagonal, k);
                for r in 0..R {
                    products[r] = simd.mul_f64s(products[r], rows[r]);
                }
                x[c][first + start + k] = total::<S, R>(simd, &products);
            }
        }
    }
}

/// `sums[k] += tile[k]' rows`, over the remaining columns of the tile.
#[inline(always)]
fn add_transposed<S: Simd, const R: usize, const K: usize>(
    simd: S,
    tile: &[f64],
    rows: &[[S::f64s; R]; COLUMNS],
    sums: &mut [[[S::f64s; R]; COLUMNS]; K],
) {
    let columns = tile.len() / TILE;
    for k in 0..K {
        if k < columns {
            let line = line::<S, R>(simd, tile, k);
            for c in 0..COLUMNS {
                for r in 0..R {
                    sums[k][c][r] = simd.mul_add_e_f64s(line[r], rows[c][r], sums[k][c][r]);
                }
            }
        }
    }
}

#[inline(always)]
fn total<S: Simd, const R: usize>(simd: S, registers: &[S::f64s; R]) -> f64 {
    let mut sum = registers[0];
    for r in 1..R {
        sum = simd.add_f64s(sum, registers[r]);
    }
    simd.reduce_sum_f64s(sum)
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use faer::sparse::{SparseColMat, Triplet};

    use crate::math::{Scratch, SparseCholesky, VertexScratch};

    /// Slightly shifted Laplacian of a cubic grid, and three dense constraints.
    fn grid(side: usize) -> (SparseColMat<u32, f64>, SparseColMat<u32, f64>) {
        let index = |[i, j, k]: [usize; 3]| ((i * side + j) * side + k) as u32;
        let mut entries = Vec::new();
        for cell in 0..side.pow(3) {
            let at = [cell / (side * side), cell / side % side, cell % side];
            entries.push(Triplet::new(index(at), index(at), 6.1));
            for axis in 0..3 {
                let mut next = at;
                next[axis] += 1;
                if next[axis] < side {
                    entries.push(Triplet::new(index(at), index(next), -1.0));
                    entries.push(Triplet::new(index(next), index(at), -1.0));
                }
            }
        }
        let n = side.pow(3);
        let bound = |row: usize, column: usize| {
            Triplet::new(row as u32, column as u32, (row as f64 * (1.3 + column as f64)).sin())
        };
        let bounds: Vec<_> = (0..n).flat_map(|row| (0..3).map(move |column| bound(row, column))).collect();
        let matrix = SparseColMat::try_new_from_triplets(n, n, &entries).unwrap();
        (matrix, SparseColMat::try_new_from_triplets(n, 3, &bounds).unwrap())
    }

    #[test]
    fn vertices_are_solved_as_columns_are() {
        for side in [3, 5, 16] {
            let (matrix, bounds) = grid(side);
            let free = SparseCholesky::new(&matrix).unwrap();
            let bound = SparseCholesky::constrained(&matrix, &bounds).unwrap();
            for factor in [free, bound] {
                let n = matrix.nrows();
                let mut rows: Vec<[f64; 3]> =
                    (0..3 * n).map(|i| (i as f64 * 0.7).cos()).collect::<Vec<_>>().as_chunks().0.to_vec();
                let mut columns = Mat::from_fn(n, 3, |i, c| rows[i][c]);
                factor.solve_ordered(&mut Scratch::default(), |_| 1.0, columns.as_mut());
                let mut scratch = VertexScratch::default();
                let given = rows.clone();
                for _ in 0..2 {
                    rows.copy_from_slice(&given);
                    factor.solve_vertices(&mut scratch, &mut rows);
                }
                let size = columns.norm_max();
                for (row, c) in (0..n).flat_map(|row| (0..3).map(move |c| (row, c))) {
                    let error = (rows[row][c] - columns[(row, c)]).abs();
                    assert!(error < 1e-12 * size, "side {side}, row {row}: {error:e}");
                }
            }
        }
    }
}
