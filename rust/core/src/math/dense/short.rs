//! Small dense matrices by short loops: slower than faer, and a small part of its code.

use faer::{Accum, Mat, MatMut, MatRef};

use crate::math::sort_few;
use crate::{Error, Result};

/// Most sweeps of rotations over a symmetric matrix; convergence is quadratic.
const SWEEPS: usize = 40;
/// Squared norm of the entries beside the diagonal at convergence, relative to all.
const NEGLIGIBLE: f64 = 1e-30;

/// Scratch of a factorisation: none.
pub(super) struct Memory;

impl Memory {
    /// For a matrix of a size.
    pub(super) fn new(_: usize) -> Self {
        Self
    }
}

/// `out = factor * a b`, or adds it.
pub(super) fn multiply(
    mut out: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    factor: f64,
) {
    for j in 0..out.ncols() {
        for i in 0..out.nrows() {
            let sum: f64 = (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum();
            let known = if matches!(accum, Accum::Add) { out[(i, j)] } else { 0.0 };
            out[(i, j)] = known + factor * sum;
        }
    }
}

/// Adds the lower half of `a b`.
pub(super) fn add_lower(mut lower: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    for j in 0..lower.ncols() {
        for i in j..lower.nrows() {
            lower[(i, j)] += (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum::<f64>();
        }
    }
}

/// Eigenvalues of a symmetric matrix (its lower triangle), ascending, and eigenvectors as columns: by the
/// rotations of Jacobi.
pub(super) fn eigen(matrix: MatRef<'_, f64>, mut vectors: MatMut<'_, f64>) -> Result<Vec<f64>> {
    let size = matrix.nrows();
    let mut a = Mat::from_fn(size, size, |i, j| matrix[(i.max(j), i.min(j))]);
    let mut turned = Mat::<f64>::identity(size, size);
    let squares = |a: &Mat<f64>, beside: bool| -> f64 {
        let entries = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        entries.filter(|(i, j)| !beside || i != j).map(|(i, j)| a[(i, j)] * a[(i, j)]).sum()
    };
    let whole = squares(&a, false);
    let mut sweeps = 0;
    while squares(&a, true) > NEGLIGIBLE * whole {
        if sweeps == SWEEPS || !whole.is_finite() {
            let why = "it does not converge; the numbers are not finite or too large".into();
            return Err(Error::Numerical { what: "dense eigensolver", why });
        }
        sweeps += 1;
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut a, &mut turned, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    sort_few(&mut order, |&i, &j| a[(i, i)] < a[(j, j)]);
    for (place, &k) in order.iter().enumerate() {
        (0..size).for_each(|i| vectors[(i, place)] = turned[(i, k)]);
    }
    Ok(order.into_iter().map(|k| a[(k, k)]).collect())
}

/// The rotation in a plane that zeroes the entry beside the diagonal.
fn rotate(a: &mut Mat<f64>, turned: &mut Mat<f64>, p: usize, q: usize) {
    if a[(p, q)] == 0.0 {
        return;
    }
    let apart = 0.5 * (a[(q, q)] - a[(p, p)]);
    let tangent = a[(p, q)] / (apart + apart.signum() * apart.hypot(a[(p, q)]));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |x: f64, y: f64| (cosine * x - sine * y, sine * x + cosine * y);
    for k in 0..a.nrows() {
        (a[(k, p)], a[(k, q)]) = turn(a[(k, p)], a[(k, q)]);
        (turned[(k, p)], turned[(k, q)]) = turn(turned[(k, p)], turned[(k, q)]);
    }
    for k in 0..a.nrows() {
        (a[(p, k)], a[(q, k)]) = turn(a[(p, k)], a[(q, k)]);
    }
}

/// Replaces the lower half of a symmetric matrix by its Cholesky factor; `false` if it is not positive
/// definite.
pub(super) fn factor(mut matrix: MatMut<'_, f64>, _: &mut Memory) -> bool {
    for j in 0..matrix.nrows() {
        for i in j..matrix.nrows() {
            let known: f64 = (0..j).map(|k| matrix[(i, k)] * matrix[(j, k)]).sum();
            let rest = matrix[(i, j)] - known;
            if i == j && (rest <= 0.0 || rest.is_nan()) {
                return false;
            }
            matrix[(i, j)] = if i == j { rest.sqrt() } else { rest / matrix[(j, j)] };
        }
    }
    true
}

/// Solves with a factor in place.
pub(super) fn solve(factor: MatRef<'_, f64>, mut rows: MatMut<'_, f64>) {
    let size = factor.nrows();
    for c in 0..rows.ncols() {
        for i in 0..size {
            let known: f64 = (0..i).map(|k| factor[(i, k)] * rows[(k, c)]).sum();
            rows[(i, c)] = (rows[(i, c)] - known) / factor[(i, i)];
        }
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| factor[(k, i)] * rows[(k, c)]).sum();
            rows[(i, c)] = (rows[(i, c)] - known) / factor[(i, i)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_factors_give_the_matrix_back() {
        for size in [1, 2, 7, 32] {
            let entry = |i: usize, j: usize| (0.7 * (i * j) as f64).cos() + (0.3 * (i + j) as f64).sin();
            let symmetric =
                Mat::from_fn(size, size, |i, j| if i == j { 4.0 * size as f64 } else { 0.0 } + entry(i, j));
            let mut vectors = Mat::zeros(size, size);
            let values = eigen(symmetric.as_ref(), vectors.as_mut()).unwrap();
            assert!(values.is_sorted());
            let scaled = Mat::from_fn(size, size, |i, k| vectors[(i, k)] * values[k]);
            assert!((&scaled * vectors.transpose() - &symmetric).norm_max() < 1e-12 * size as f64);
            let mut lower = symmetric.clone();
            let mut memory = Memory::new(size);
            assert!(factor(lower.as_mut(), &mut memory));
            let mut solved = symmetric.clone();
            solve(lower.as_ref(), solved.as_mut());
            assert!((solved - Mat::<f64>::identity(size, size)).norm_max() < 1e-12);
            let mut product = Mat::zeros(size, size);
            multiply(product.as_mut(), Accum::Replace, symmetric.as_ref(), symmetric.as_ref(), 2.0);
            assert!((product - 2.0 * &symmetric * &symmetric).norm_max() < 1e-10 * size as f64);
            let mut half = Mat::zeros(size, size);
            add_lower(half.as_mut(), symmetric.as_ref(), symmetric.as_ref());
            let square = &symmetric * &symmetric;
            let wanted = Mat::from_fn(size, size, |i, j| if i >= j { square[(i, j)] } else { 0.0 });
            assert!((half - wanted).norm_max() < 1e-10 * size as f64);
            assert!(!factor((-1.0 * symmetric).as_mut(), &mut memory));
        }
    }
}
