//! The quadratic form by which a step turns a force into a change: a diagonal, and what couples coordinates beside
//! it.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatMut, Par};

/// `diag(d) + A` with a positive semi-definite A, which mostly is nothing.
pub(super) struct Metric {
    /// d, r; infinite in directions that do not move.
    pub(super) diagonal: Vec<f64>,
    /// The Cholesky factor, and memory to find it, where there is an A.
    factor: Mat<f64>,
    memory: Option<MemBuffer>,
    coupled: bool,
}

impl Metric {
    pub(super) fn new(rank: usize) -> Self {
        Self { diagonal: vec![1.0; rank], factor: Mat::new(), memory: None, coupled: false }
    }

    /// There is no A.
    pub(super) fn uncouple(&mut self) {
        self.coupled = false;
    }

    /// Adds the A whose lower half `add` adds to a matrix; allocates the first time.
    pub(super) fn couple(&mut self, add: impl FnOnce(MatMut<'_, f64>)) {
        let rank = self.diagonal.len();
        let memory = self.memory.get_or_insert_with(|| {
            self.factor = Mat::zeros(rank, rank);
            MemBuffer::new(cholesky_in_place_scratch::<f64>(rank, Par::Seq, Default::default()))
        });
        self.factor.fill(0.0);
        self.diagonal.iter().enumerate().for_each(|(i, &d)| self.factor[(i, i)] = d);
        add(self.factor.as_mut());
        let (factor, stack) = (self.factor.as_mut(), MemStack::new(memory));
        let found = cholesky_in_place(factor, Default::default(), Par::Seq, stack, Default::default());
        self.coupled = found.is_ok();
        if !self.coupled {
            // Numbers that have overflowed have no factor: the step is then refused for what comes of this.
            self.diagonal.fill(f64::NAN);
        }
    }

    /// Solves for the change of a force, r rows, in its place.
    pub(super) fn solve(&self, rows: &mut [[f64; 3]]) {
        if !self.coupled {
            for (row, d) in rows.iter_mut().zip(&self.diagonal) {
                row.iter_mut().for_each(|x| *x /= d);
            }
            return;
        }
        let count = rows.len();
        let mut rows = MatMut::from_row_major_slice_mut(rows.as_flattened_mut(), count, 3);
        solve_lower_triangular_in_place(self.factor.as_ref(), rows.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(self.factor.transpose(), rows, Par::Seq);
    }
}
