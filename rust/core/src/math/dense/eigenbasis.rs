//! A canonical basis of each eigenspace.

use faer::prelude::{Reborrow, ReborrowMut};
use faer::{MatMut, MatRef};

/// Relative difference in length below which two rows count as equally long.
const TIE: f64 = 1e-6;

/// Rotates the columns of each group, orthonormal vectors of one eigenspace, to a canonical basis.
///
/// For equal eigenvalues a solver finds only the space; rounding errors, which differ between processors,
/// choose the vectors. The canonical basis comes from an LQ factorisation with pivoting: only the first
/// vector is nonzero, and positive, in the row with the largest norm in the group, only the second of the
/// others in the next such row, and so on; the first row wins a tie. A single column becomes positive at
/// its largest entry. `alike` tells whether a column belongs to the group of its predecessor.
pub(crate) fn fix_bases(mut columns: MatMut<'_, f64>, alike: impl Fn(usize) -> bool) {
    let mut first = 0;
    while first < columns.ncols() {
        let next = (first + 1..columns.ncols()).find(|&k| !alike(k)).unwrap_or(columns.ncols());
        for k in first..next {
            let group = columns.rb_mut().subcols_mut(k, next - k);
            let pivot = longest_row(group.rb());
            reflect(group, pivot);
        }
        first = next;
    }
}

fn longest_row(group: MatRef<'_, f64>) -> usize {
    let mut squares = vec![0.0; group.nrows()];
    for column in group.col_iter() {
        squares.iter_mut().zip(column.iter()).for_each(|(square, x)| *square += x * x);
    }
    let longest = squares.iter().copied().fold(0.0, f64::max).sqrt();
    squares.iter().position(|square| square.sqrt() >= (1.0 - TIE) * longest).unwrap_or(0)
}

/// Householder reflection of the rows, from a row to its length in the first entry.
fn reflect(group: MatMut<'_, f64>, pivot: usize) {
    let mut normal: Vec<f64> = group.rb().row(pivot).iter().copied().collect();
    let length = group.rb().row(pivot).norm_l2();
    let rest: f64 = normal[1..].iter().map(|x| x * x).sum();
    // The difference from the length, without cancellation.
    normal[0] = if normal[0] > 0.0 { -rest / (normal[0] + length) } else { normal[0] - length };
    let square = rest + normal[0] * normal[0];
    if square == 0.0 {
        return;
    }
    for row in group.row_iter_mut() {
        let along = 2.0 * row.rb().iter().zip(&normal).map(|(x, n)| x * n).sum::<f64>() / square;
        row.iter_mut().zip(&normal).for_each(|(x, n)| *x -= along * n);
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::fix_bases;

    #[test]
    fn any_basis_of_a_space_becomes_the_same() {
        // Two columns of a 4-point circle, with equally long rows, and a single one.
        let circle = |turn: f64| {
            Mat::from_fn(4, 3, |i, k| {
                let angle = std::f64::consts::FRAC_PI_2 * i as f64 + turn;
                [angle.cos(), angle.sin(), -1.0 - i as f64][k]
            })
        };
        let fixed = |turn: f64, flip: f64| {
            let mut columns = circle(turn);
            columns.col_mut(1).iter_mut().for_each(|x| *x *= flip);
            fix_bases(columns.as_mut(), |k| k == 1);
            columns
        };
        let expected = fixed(0.0, 1.0);
        assert!((expected[(0, 0)] - 1.0).abs() < 1e-15 && expected[(0, 1)].abs() < 1e-15);
        assert!((0..4).all(|i| (expected[(i, 2)] - (1.0 + i as f64)).abs() < 1e-14));
        for (turn, flip) in [(0.3, 1.0), (1.0, -1.0), (3.0, 1.0), (2.5, -1.0)] {
            assert!((fixed(turn, flip) - &expected).norm_max() < 1e-14);
        }
    }
}
