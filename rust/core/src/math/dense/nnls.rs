//! Non-negative least squares.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side};

use crate::math::dense::dot;
use crate::parallel::*;

/// Share of the target along a column below which adding the column gains nothing.
const FAINT: f64 = 1e-12;
/// Rounds per requested unknown, after which the current solution is returned.
const ROUNDS: usize = 4;

/// Sparse solution x >= 0 of `min |A x - b|` with at most `most` positive unknowns: their columns and
/// values.
///
/// The active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23), stopped
/// early. The column with the largest normalised gradient joins the active set, the normal equations are
/// solved, and unknowns that would become negative leave. Without the early stop the result is the minimum
/// over all x >= 0. A is rows x unknowns, b one number a row. Columns that depend on the active set are
/// skipped.
///
/// # Panics
/// If the length of b is not the number of rows.
pub fn nonnegative_least_squares(columns: MatRef<'_, f64>, target: &[f64], most: usize) -> Vec<(usize, f64)> {
    assert_eq!(columns.nrows(), target.len());
    let columns = columns.to_owned();
    let mut search = Search::new(&columns, target);
    for _ in 0..ROUNDS * most {
        if search.used.len() == most || !search.add() {
            break;
        }
    }
    search.used.iter().copied().zip(search.values.iter().copied()).collect()
}

struct Search<'a> {
    columns: &'a Mat<f64>,
    /// `A'b`.
    pull: Vec<f64>,
    /// Lengths of the columns; 0 for skipped ones.
    lengths: Vec<f64>,
    least: f64,
    used: Vec<usize>,
    values: Vec<f64>,
    /// `A'a` of each active column.
    products: Vec<Vec<f64>>,
}

impl<'a> Search<'a> {
    fn new(columns: &'a Mat<f64>, target: &[f64]) -> Self {
        let unknowns = 0..columns.ncols();
        let lengths = unknowns.map(|j| dot(columns.col_as_slice(j), columns.col_as_slice(j)).sqrt());
        let mut search = Self {
            columns,
            pull: Vec::new(),
            lengths: lengths.collect(),
            least: FAINT * dot(target, target).sqrt(),
            used: Vec::new(),
            values: Vec::new(),
            products: Vec::new(),
        };
        search.pull = search.times(target);
        search
    }

    /// `A'v`.
    fn times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.columns.ncols()).into_par_iter().map(|j| dot(self.columns.col_as_slice(j), v)).collect()
    }

    /// Adds the best column to the active set; `false` if there is none.
    fn add(&mut self) -> bool {
        let mut gain = self.pull.clone();
        for (products, value) in self.products.iter().zip(&self.values) {
            gain.iter_mut().zip(products).for_each(|(gain, product)| *gain -= value * product);
        }
        let promise = |j: usize| if self.lengths[j] > 0.0 { gain[j] / self.lengths[j] } else { 0.0 };
        let free = (0..gain.len()).filter(|j| !self.used.contains(j));
        let Some(best) = { free }.max_by(|&a, &b| promise(a).total_cmp(&promise(b))) else { return false };
        if promise(best) <= self.least {
            return false;
        }
        self.products.push(self.times(self.columns.col_as_slice(best)));
        self.used.push(best);
        self.values.push(0.0);
        while let Some(wanted) = self.wanted() {
            if wanted.iter().all(|&value| value > 0.0) {
                self.values = wanted;
                return true;
            }
            self.retreat(&wanted);
            if self.used.last() != Some(&best) {
                break;
            }
        }
        // In exact arithmetic the newest column always stays; here rounding reveals its dependence on the
        // others.
        self.lengths[best] = 0.0;
        self.keep(|search, place| search.used[place] != best);
        true
    }

    /// Unconstrained values of the active columns; `None` if they are dependent.
    fn wanted(&self) -> Option<Vec<f64>> {
        let count = self.used.len();
        let scale = |i: usize| 1.0 / self.lengths[self.used[i]];
        let scaled = |i: usize, j: usize| scale(i) * scale(j) * self.products[j][self.used[i]];
        let normal = Llt::new(Mat::from_fn(count, count, scaled).as_ref(), Side::Lower).ok()?;
        let pull = Mat::from_fn(count, 1, |i, _| scale(i) * self.pull[self.used[i]]);
        let found = normal.solve(pull);
        let values: Vec<f64> = (0..count).map(|i| scale(i) * found[(i, 0)]).collect();
        values.iter().all(|value| value.is_finite()).then_some(values)
    }

    /// Moves towards `wanted` until the first value reaches zero, and removes this column.
    fn retreat(&mut self, wanted: &[f64]) {
        let pairs = || self.values.iter().zip(wanted).enumerate().filter(|(_, (_, wanted))| **wanted <= 0.0);
        let share =
            |(_, (value, wanted)): &(usize, (&f64, &f64))| *value / (*value - *wanted).max(f64::MIN_POSITIVE);
        let Some(first) = pairs().min_by(|a, b| share(a).total_cmp(&share(b))) else { return };
        let (out, share) = (first.0, share(&first));
        self.values.iter_mut().zip(wanted).for_each(|(value, wanted)| *value += share * (wanted - *value));
        self.keep(|search, place| place != out && search.values[place] >= 0.0);
    }

    fn keep(&mut self, stays: impl Fn(&Self, usize) -> bool) {
        for place in (0..self.used.len()).rev().filter(|&place| !stays(self, place)).collect::<Vec<_>>() {
            self.used.remove(place);
            self.values.remove(place);
            self.products.remove(place);
        }
    }
}
