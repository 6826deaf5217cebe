//! Vertices that a cut has doubled, as a border of the uncut problem.

use faer::sparse::Triplet;
use faer::{Mat, MatRef};

use crate::math::Sparse;

/// Rows that a cut adds to a factored problem.
///
/// With E, which gives the old and the new vertex the same motion, and J, which moves the new one alone, a
/// motion of the cut body is `E u + J w`. Its stiffness `K_c` then is the uncut one with a border,
/// ```text
/// [E J]' K_c [E J] = [K B; B' D],   B = E' K_c J,   D = J' K_c J
/// ```
/// as a stitch is a border with the negative compliance of its spring in place of D.
pub(super) struct Openings {
    /// Old row of each new one.
    pub origin: Vec<u32>,
    /// B, n x d.
    pub columns: Sparse,
    /// D, d x d.
    pub corner: Mat<f64>,
}

impl Openings {
    /// Openings of a cut problem with the shifted Hessian, whose new rows come last.
    pub fn new(shifted: &Sparse, origin: Vec<u32>) -> Self {
        let (size, count) = (shifted.nrows() - origin.len(), origin.len());
        let (mut triplets, mut corner) = (Vec::new(), Mat::zeros(count, count));
        for c in 0..count {
            let column = size + c;
            for (&row, &value) in shifted.row_idx_of_col_raw(column).iter().zip(shifted.val_of_col(column)) {
                let row = row as usize;
                let old = if row < size { row as u32 } else { origin[row - size] };
                triplets.push(Triplet::new(old, c as u32, value));
                if row >= size {
                    corner[(row - size, c)] = value;
                }
            }
        }
        let columns = Sparse::try_new_from_triplets(size, count, &triplets).expect("rows are the problem's");
        Self { origin, columns, corner }
    }

    /// `E' b` of loads.
    pub fn gathered(&self, loads: MatRef<'_, f64>) -> Mat<f64> {
        let size = loads.nrows() - self.origin.len();
        let mut gathered = loads.subrows(0, size).to_owned();
        for (c, &old) in self.origin.iter().enumerate() {
            (0..loads.ncols()).for_each(|k| gathered[(old as usize, k)] += loads[(size + c, k)]);
        }
        gathered
    }

    /// `E u + J w`.
    pub fn opened(&self, closed: MatRef<'_, f64>, openings: impl Fn(usize, usize) -> f64) -> Mat<f64> {
        let size = closed.nrows();
        Mat::from_fn(size + self.origin.len(), closed.ncols(), |row, k| match row.checked_sub(size) {
            None => closed[(row, k)],
            Some(c) => closed[(self.origin[c] as usize, k)] + openings(c, k),
        })
    }

    /// `[B, E' A]` with the columns A of springs, and `J' A`.
    pub fn border(&self, springs: &Sparse) -> (Sparse, Mat<f64>) {
        let (size, count) = (self.columns.nrows(), self.origin.len());
        let mut triplets = Vec::new();
        for c in 0..count {
            let entries = self.columns.row_idx_of_col_raw(c).iter().zip(self.columns.val_of_col(c));
            triplets.extend(entries.map(|(&row, &value)| Triplet::new(row, c as u32, value)));
        }
        let mut beside = Mat::zeros(count, springs.ncols());
        for s in 0..springs.ncols() {
            let entries = springs.row_idx_of_col(s).zip(springs.val_of_col(s));
            for (row, &value) in entries {
                let old = if row < size { row as u32 } else { self.origin[row - size] };
                triplets.push(Triplet::new(old, (count + s) as u32, value));
                if row >= size {
                    beside[(row - size, s)] += value;
                }
            }
        }
        let columns = Sparse::try_new_from_triplets(size, count + springs.ncols(), &triplets);
        (columns.expect("rows are the problem's"), beside)
    }
}
