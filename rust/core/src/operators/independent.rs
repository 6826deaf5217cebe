//! Well-conditioned spanning sets of nearly dependent columns.

use faer::Mat;
use faer::linalg::solvers::{Llt, Solve};

use crate::math::dense::dot;
use crate::parallel::*;
use crate::{Error, Result};

/// Smallest independent share of a unit column kept unchanged.
const STRONG: f64 = 1e-2;
/// Smallest remainder of a unit column that counts as independent, as a share.
pub(super) const DEPENDENT: f64 = 1e-9;
/// Smallest entry of a unit column; smaller ones are rounding errors and left out.
const ROUNDING: f64 = 1e-16;

/// A sparse column, rows ascending.
pub(super) struct Column {
    pub rows: Vec<u32>,
    pub values: Vec<f64>,
}

/// Well-conditioned columns with the span of given unit columns of length n.
///
/// Columns that stand out from the others stay as they are, sparse. The remainders of the others are
/// orthonormalised: bones that share the few vertices without full leak have columns that differ only in
/// the sixth digit, and a factorisation with these columns would lose twice as many digits. `gram` is the
/// Gram matrix of the columns.
pub(super) fn well_conditioned(n: usize, columns: Vec<Column>, gram: &Mat<f64>) -> Result<Vec<Column>> {
    let (strong, weak) = by_strength(gram.clone());
    let mut columns: Vec<Option<Column>> = columns.into_iter().map(Some).collect();
    let mut take = |indices: &[usize]| indices.iter().filter_map(|&i| columns[i].take()).collect::<Vec<_>>();
    let (mut kept, weak) = (take(&strong), take(&weak));
    if weak.is_empty() {
        return Ok(kept);
    }
    let strong_gram = Mat::from_fn(strong.len(), strong.len(), |i, j| gram[(strong[i], strong[j])]);
    let factor = strong_gram
        .llt(faer::Side::Lower)
        .map_err(|error| Error::Numerical { what: "constraint", why: format!("{error:?}") })?;
    let left = weak.par_iter().map(|column| remainder(n, &kept, &factor, column)).collect();
    kept.extend(orthonormal_span(left, DEPENDENT).iter().map(|column| sparse(column)));
    Ok(kept)
}

/// Columns chosen by pivoted Cholesky with a pivot above [`STRONG`], and the others, each ascending.
fn by_strength(mut gram: Mat<f64>) -> (Vec<usize>, Vec<usize>) {
    let mut left: Vec<usize> = (0..gram.nrows()).collect();
    let mut strong = Vec::new();
    while let Some(place) =
        (0..left.len()).reduce(|a, b| if gram[(left[b], left[b])] > gram[(left[a], left[a])] { b } else { a })
    {
        if gram[(left[place], left[place])] <= STRONG * STRONG {
            break;
        }
        let pivot = left.swap_remove(place);
        strong.push(pivot);
        let row: Vec<f64> = left.iter().map(|&i| gram[(i, pivot)]).collect();
        let inverse = 1.0 / gram[(pivot, pivot)];
        for (b, &j) in left.iter().enumerate().filter(|(b, _)| row[*b] != 0.0) {
            for (a, &i) in left.iter().enumerate() {
                gram[(i, j)] -= row[a] * row[b] * inverse;
            }
        }
    }
    strong.sort_unstable();
    left.sort_unstable();
    (strong, left)
}

/// A column minus its projection on the strong ones, subtracted twice against rounding.
fn remainder(n: usize, strong: &[Column], factor: &Llt<f64>, column: &Column) -> Vec<f64> {
    let mut left = vec![0.0; n];
    column.rows.iter().zip(&column.values).for_each(|(&row, value)| left[row as usize] = *value);
    for _ in 0..2 {
        let mut along = Mat::from_fn(strong.len(), 1, |i, _| {
            strong[i].rows.iter().zip(&strong[i].values).map(|(&row, value)| value * left[row as usize]).sum()
        });
        factor.solve_in_place(along.as_mut());
        for (i, column) in strong.iter().enumerate() {
            let part = along[(i, 0)];
            column.rows.iter().zip(&column.values).for_each(|(&row, v)| left[row as usize] -= part * v);
        }
    }
    left
}

/// Orthonormal columns with the span of the given ones, by Gram-Schmidt with column pivoting, until no
/// column is longer than `least`.
pub(super) fn orthonormal_span(mut left: Vec<Vec<f64>>, least: f64) -> Vec<Vec<f64>> {
    let mut span: Vec<Vec<f64>> = Vec::new();
    loop {
        let lengths: Vec<f64> = left.par_iter().map(|column| dot(column, column).sqrt()).collect();
        let longest = (0..left.len()).reduce(|a, b| if lengths[b] > lengths[a] { b } else { a });
        let Some(longest) = longest.filter(|&j| lengths[j] > least) else { return span };
        let mut unit = left.swap_remove(longest);
        span.iter().for_each(|other| remove(&mut unit, other));
        let length = dot(&unit, &unit).sqrt();
        unit.iter_mut().for_each(|x| *x /= length);
        left.par_iter_mut().for_each(|column| remove(column, &unit));
        span.push(unit);
    }
}

/// Removes the component along a unit column.
fn remove(column: &mut [f64], unit: &[f64]) {
    let part = dot(column, unit);
    column.iter_mut().zip(unit).for_each(|(x, u)| *x -= part * u);
}

fn sparse(column: &[f64]) -> Column {
    let entries = || column.iter().enumerate().filter(|(_, x)| x.abs() > ROUNDING);
    Column {
        rows: entries().map(|(row, _)| row as u32).collect(),
        values: entries().map(|(_, value)| *value).collect(),
    }
}
