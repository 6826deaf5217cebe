//! Search space of changed modes.

use faer::{Mat, MatRef, Side};

use super::change::Change;
use crate::math::dense::{inner, product, symmetric_eigen};
use crate::subspace::eigenpairs::Eigenproblem;
use crate::{Error, Result};

/// Share of a direction's squared norm below which its independent part is dropped.
const DEPENDENT: f64 = 1e-10;

/// Columns V at the free rows, with the changed body's mass and stiffness in their span.
pub(super) struct Space<'a> {
    problem: &'a Eigenproblem,
    change: &'a Change,
    columns: Mat<f64>,
    /// `H V`, without the stitch changes.
    images: Mat<f64>,
    /// `A' V`.
    stretches: Mat<f64>,
    /// `V' M V`.
    mass: Mat<f64>,
    /// `V' H V`, without the stitch changes.
    stiffness: Mat<f64>,
}

/// Lowest vectors of a space.
pub(super) struct Ritz {
    pub eigenvalues: Vec<f64>,
    /// W, n x k, of unit mass; mass-orthonormal but for the rounding of the space.
    pub vectors: Mat<f64>,
    /// `H w - lambda M w` with the changed Hessian, n x k.
    pub loads: Mat<f64>,
}

impl<'a> Space<'a> {
    /// The space of the previous modes.
    pub fn new(problem: &'a Eigenproblem, change: &'a Change, modes: Mat<f64>, eigenvalues: &[f64]) -> Self {
        let images = change.flesh(problem, modes.as_ref());
        let stretches = change.stretches(modes.as_ref());
        let (mass, stiffness) = match &change.hessian {
            None => {
                let diagonal = |i, j| if i == j { eigenvalues[i] } else { 0.0 };
                let m = modes.ncols();
                (Mat::identity(m, m), Mat::from_fn(m, m, diagonal))
            }
            Some(_) => (
                inner(modes.as_ref(), problem.heavy(modes.as_ref()).as_ref()),
                inner(modes.as_ref(), images.as_ref()),
            ),
        };
        Self { problem, change, columns: modes, images, stretches, mass, stiffness }
    }

    /// V.
    pub fn columns(&self) -> MatRef<'_, f64> {
        self.columns.as_ref()
    }

    /// `A' V`.
    pub fn stretches(&self) -> MatRef<'_, f64> {
        self.stretches.as_ref()
    }

    /// Appends columns, n x k, that satisfy the constraint.
    pub fn widen(&mut self, added: MatRef<'_, f64>) {
        let (heavy, images) = (self.problem.heavy(added), self.change.flesh(self.problem, added));
        let grown = |square: &Mat<f64>, of_added: MatRef<'_, f64>| {
            let (beside, corner) = (inner(self.columns(), of_added), inner(added, of_added));
            let (m, k) = (square.ncols(), corner.ncols());
            Mat::from_fn(m + k, m + k, |i, j| match (i < m, j < m) {
                (true, true) => square[(i, j)],
                (true, false) => beside[(i, j - m)],
                (false, true) => beside[(j, i - m)],
                (false, false) => 0.5 * (corner[(i - m, j - m)] + corner[(j - m, i - m)]),
            })
        };
        (self.mass, self.stiffness) =
            (grown(&self.mass, heavy.as_ref()), grown(&self.stiffness, images.as_ref()));
        append(&mut self.columns, added);
        append(&mut self.images, images.as_ref());
        append(&mut self.stretches, self.change.stretches(added).as_ref());
    }

    /// The `count` lowest eigenvalues in the space, with their vectors.
    ///
    /// They are the largest `1 / (lambda + shift)` of mass against shifted stiffness: corrections have
    /// little mass, and their stiffness matters.
    pub fn lowest(&self, count: usize) -> Result<Ritz> {
        let independent = self.independent()?;
        let size = independent.ncols();
        let stretches = product(self.stretches(), independent.as_ref());
        let stiffness = Mat::<f64>::identity(size, size) + self.change.springs(&stretches, &stretches);
        let lower = stiffness.llt(Side::Lower).map_err(|_| dependent())?.L().to_owned();
        let mut basis = independent.transpose().to_owned();
        lower.as_ref().solve_lower_triangular_in_place(&mut basis);
        let basis = basis.transpose().to_owned();
        let mass = product(product(basis.transpose(), self.mass.as_ref()).as_ref(), basis.as_ref());
        let (mut values, vectors) = symmetric_eigen(mass.as_ref())?;
        values.reverse();
        let highest = vectors.as_ref().reverse_cols().subcols(0, count.min(size)).to_owned();
        let eigenvalues: Vec<f64> =
            values.iter().take(count).map(|value| 1.0 / value - self.problem.shift).collect();
        let mut combine = product(basis.as_ref(), highest.as_ref());
        for (column, value) in combine.col_iter_mut().zip(&values) {
            column.iter_mut().for_each(|x| *x /= value.sqrt());
        }
        Ok(self.combined(combine.as_ref(), eigenvalues))
    }

    /// Combinations of the columns, with residual loads.
    fn combined(&self, combine: MatRef<'_, f64>, eigenvalues: Vec<f64>) -> Ritz {
        let vectors = product(self.columns(), combine);
        let mut loads = product(self.images.as_ref(), combine);
        self.change.add_springs(&mut loads, &product(self.stretches(), combine));
        for (k, value) in eigenvalues.iter().enumerate() {
            let pairs = loads.col_as_slice_mut(k).iter_mut().zip(vectors.col(k).iter());
            pairs.zip(&self.problem.mass).for_each(|((load, w), mass)| *load -= value * mass * w);
        }
        Ritz { eigenvalues, vectors, loads }
    }

    /// The same vectors in the same order, mass-orthonormal to rounding.
    pub fn orthonormal(&self, vectors: &Mat<f64>) -> Result<Mat<f64>> {
        let gram = inner(vectors.as_ref(), self.problem.heavy(vectors.as_ref()).as_ref());
        let upper = gram.llt(Side::Lower).map_err(|_| dependent())?.L().transpose().to_owned();
        let mut inverse = Mat::identity(upper.nrows(), upper.ncols());
        upper.as_ref().solve_upper_triangular_in_place(&mut inverse);
        Ok(product(vectors.as_ref(), inverse.as_ref()))
    }

    /// Combinations of the columns that are orthonormal in the shifted stiffness and have the same span.
    fn independent(&self) -> Result<Mat<f64>> {
        let width = self.mass.ncols();
        let norm = |i, j| self.stiffness[(i, j)] + self.problem.shift * self.mass[(i, j)];
        let scales: Vec<f64> = (0..width).map(|i| inverse_root(norm(i, i))).collect();
        let scaled = Mat::from_fn(width, width, |i, j| scales[i] * norm(i, j) * scales[j]);
        let (values, vectors) = symmetric_eigen(scaled.as_ref())?;
        let least = DEPENDENT * values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..width).filter(|&i| values[i] > least).collect();
        Ok(Mat::from_fn(width, kept.len(), |i, j| {
            scales[i] * vectors[(i, kept[j])] * inverse_root(values[kept[j]])
        }))
    }
}

/// Appends columns.
fn append(columns: &mut Mat<f64>, added: MatRef<'_, f64>) {
    let m = columns.ncols();
    columns.resize_with(added.nrows(), m + added.ncols(), |i, j| added[(i, j - m)]);
}

fn dependent() -> Error {
    Error::Numerical { what: "updated modes", why: "they depend on each other".into() }
}

fn inverse_root(x: f64) -> f64 {
    if x > 0.0 { 1.0 / x.sqrt() } else { 0.0 }
}
