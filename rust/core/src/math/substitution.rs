//! Triangular solves with one dense block of a factor, for several right-hand sides at once.

use pulp::{Simd, WithSimd};

/// Right-hand sides that are solved for at once: a cache line of numbers.
pub(super) const LANES: usize = 8;

/// One row of right-hand sides.
pub(super) type Row = [f64; LANES];

/// A node of the factor: `width` columns of `L`, row by row, the inverse of the diagonal in place of the diagonal.
pub(super) struct Block<'a> {
    /// Columns, which are also the first rows.
    pub width: usize,
    /// First of its rows within its part.
    pub first: usize,
    /// The other rows within its part.
    pub rows: &'a [u32],
    /// `width + rows.len()` rows of `width` numbers.
    pub values: &'a [f64],
}

/// Substitution through consecutive nodes with the instruction set found at run time.
pub(super) struct Substitution<'a, B> {
    /// The nodes, in order of elimination.
    pub blocks: B,
    /// Right-hand sides, replaced by the solution.
    pub x: &'a mut [Row],
    /// Solve with `L`, else with `L'`.
    pub forward: bool,
}

impl<'b, B: DoubleEndedIterator<Item = Block<'b>>> WithSimd for Substitution<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (x, _) = S::as_mut_simd_f64s(self.x.as_flattened_mut());
        match LANES / S::F64_LANES {
            1 => substitute::<S, 1>(simd, self.blocks, x.as_chunks_mut().0, self.forward),
            2 => substitute::<S, 2>(simd, self.blocks, x.as_chunks_mut().0, self.forward),
            4 => substitute::<S, 4>(simd, self.blocks, x.as_chunks_mut().0, self.forward),
            _ => substitute::<S, LANES>(simd, self.blocks, x.as_chunks_mut().0, self.forward),
        }
    }
}

// Below there are plain loops only: a closure would not be compiled for the instruction set of its caller.

#[inline(always)]
fn substitute<'b, S: Simd, const R: usize>(
    simd: S,
    blocks: impl DoubleEndedIterator<Item = Block<'b>>,
    x: &mut [[S::f64s; R]],
    is_forward: bool,
) {
    if is_forward {
        for block in blocks {
            forward(simd, &block, x);
        }
    } else {
        for block in blocks.rev() {
            backward(simd, &block, x);
        }
    }
}

/// `a -= factor * b`.
#[inline(always)]
fn subtract<S: Simd, const R: usize>(simd: S, a: &mut [S::f64s; R], factor: f64, b: &[S::f64s; R]) {
    let factor = simd.splat_f64s(-factor);
    for r in 0..R {
        a[r] = simd.mul_add_e_f64s(factor, b[r], a[r]);
    }
}

#[inline(always)]
fn scale<S: Simd, const R: usize>(simd: S, a: &mut [S::f64s; R], factor: f64) {
    for value in a {
        *value = simd.mul_f64s(*value, simd.splat_f64s(factor));
    }
}

/// `x_top = L_top^-1 x_top`, then `x_rows -= L_below x_top`.
#[inline(always)]
fn forward<S: Simd, const R: usize>(simd: S, block: &Block<'_>, x: &mut [[S::f64s; R]]) {
    let (width, start) = (block.width, block.first);
    let (top, below) = block.values.split_at(width * width);
    for i in 0..width {
        let line = &top[i * width..][..width];
        let mut sum = x[start + i];
        for k in 0..i {
            subtract(simd, &mut sum, line[k], &x[start + k]);
        }
        scale(simd, &mut sum, line[i]);
        x[start + i] = sum;
    }
    let fours = block.rows.len() / 4;
    for four in 0..fours {
        let rows = &block.rows[4 * four..][..4];
        let lines = &below[4 * four * width..][..4 * width];
        let (l0, rest) = lines.split_at(width);
        let (l1, rest) = rest.split_at(width);
        let (l2, l3) = rest.split_at(width);
        let (mut s0, mut s1) = (x[rows[0] as usize], x[rows[1] as usize]);
        let (mut s2, mut s3) = (x[rows[2] as usize], x[rows[3] as usize]);
        let own = &x[start..][..width];
        for k in 0..width {
            subtract(simd, &mut s0, l0[k], &own[k]);
            subtract(simd, &mut s1, l1[k], &own[k]);
            subtract(simd, &mut s2, l2[k], &own[k]);
            subtract(simd, &mut s3, l3[k], &own[k]);
        }
        x[rows[0] as usize] = s0;
        x[rows[1] as usize] = s1;
        x[rows[2] as usize] = s2;
        x[rows[3] as usize] = s3;
    }
    for index in 4 * fours..block.rows.len() {
        let line = &below[index * width..][..width];
        let mut sum = x[block.rows[index] as usize];
        for k in 0..width {
            subtract(simd, &mut sum, line[k], &x[start + k]);
        }
        x[block.rows[index] as usize] = sum;
    }
}

/// `x_top -= L_below' x_rows`, then `x_top = L_top^-T x_top`.
#[inline(always)]
fn backward<S: Simd, const R: usize>(simd: S, block: &Block<'_>, x: &mut [[S::f64s; R]]) {
    let (width, start) = (block.width, block.first);
    let (top, below) = block.values.split_at(width * width);
    let fours = block.rows.len() / 4;
    for four in 0..fours {
        let rows = &block.rows[4 * four..][..4];
        let lines = &below[4 * four * width..][..4 * width];
        let (l0, rest) = lines.split_at(width);
        let (l1, rest) = rest.split_at(width);
        let (l2, l3) = rest.split_at(width);
        let (x0, x1) = (x[rows[0] as usize], x[rows[1] as usize]);
        let (x2, x3) = (x[rows[2] as usize], x[rows[3] as usize]);
        let own = &mut x[start..][..width];
        for k in 0..width {
            let mut sum = own[k];
            subtract(simd, &mut sum, l0[k], &x0);
            subtract(simd, &mut sum, l1[k], &x1);
            subtract(simd, &mut sum, l2[k], &x2);
            subtract(simd, &mut sum, l3[k], &x3);
            own[k] = sum;
        }
    }
    for index in 4 * fours..block.rows.len() {
        let line = &below[index * width..][..width];
        let other = x[block.rows[index] as usize];
        for k in 0..width {
            subtract(simd, &mut x[start + k], line[k], &other);
        }
    }
    for i in (0..width).rev() {
        let line = &top[i * width..][..width];
        let mut other = x[start + i];
        scale(simd, &mut other, line[i]);
        x[start + i] = other;
        for k in 0..i {
            subtract(simd, &mut x[start + k], line[k], &other);
        }
    }
}
