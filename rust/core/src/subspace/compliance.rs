//! Compliance of skinning modes beside that of the body.

use faer::{Mat, MatRef};

use super::{LinearProblem, SkinningModes};
use crate::math::dense::inner;
use crate::math::{DenseCholesky, add_diagonal, multiply_columns};
use crate::mesh::bounds;
use crate::parallel::on_pool;

/// Share of each diagonal entry that is added to it, since modes may depend on each other.
const RIDGE: f64 = 1e-9;

impl LinearProblem {
    /// Compliance of skinning modes under static loads, as a share of the body's, in (0, 1], for every `each`
    /// loads:
    ///
    /// `sum f'J (J'K J)^-1 J'f / sum f'K^-1 f`, with J the Jacobian of the modes' affine transforms at rest.
    ///
    /// The body's is the larger one for every load f, a column of 3n interleaved rows, N; equal for loads
    /// that the modes resolve. A small share of the mass is added to K, as for the factor. `None` for a body
    /// that a rig constrains, and for modes without stiffness.
    pub(crate) fn compliance_of(
        &self,
        modes: &SkinningModes,
        loads: MatRef<'_, f64>,
        each: usize,
    ) -> Option<Vec<f64>> {
        let swings = &self.flesh.swings;
        if swings.constraints > 0 {
            return None;
        }
        let loads = swings.free.rows_of_dense(loads);
        let jacobian = swings.free.rows_of_dense(jacobian(self.mesh().vertices(), modes).as_ref());
        let stiffness = add_diagonal(&swings.hessian, &swings.mass, swings.shift);
        on_pool(|| {
            let mut moved = loads.clone();
            swings.factor.solve_in_place(moved.as_mut());
            let stiff = multiply_columns(&stiffness, jacobian.as_ref());
            let reduced = inner(jacobian.as_ref(), stiff.as_ref());
            let forces = inner(jacobian.as_ref(), loads.as_ref());
            let transforms = solved(reduced, &forces)?;
            let work = |a: &Mat<f64>, b: &Mat<f64>, group: usize| -> f64 {
                let columns = group * each..(group + 1) * each;
                columns.flat_map(|k| a.col(k).iter().zip(b.col(k).iter())).map(|(a, b)| a * b).sum()
            };
            let share = |group| {
                work(&forces, &transforms, group) / work(&loads, &moved, group).max(f64::MIN_POSITIVE)
            };
            let shares: Vec<f64> = (0..loads.ncols() / each).map(share).collect();
            shares.iter().all(|share| share.is_finite()).then_some(shares)
        })
    }
}

/// Derivative of the vertices, 3n, by the entries of each mode's transform, 12m, in units of the body's size.
fn jacobian(vertices: &[[f64; 3]], modes: &SkinningModes) -> Mat<f64> {
    let (low, high) = bounds(vertices);
    let size = (0..3).map(|axis| high[axis] - low[axis]).fold(f64::MIN_POSITIVE, f64::max);
    let place = |vertex: usize, axis: usize| match axis {
        3 => 1.0,
        _ => (vertices[vertex][axis] - low[axis]) / size,
    };
    Mat::from_fn(3 * vertices.len(), 12 * modes.weights.ncols(), |row, column| {
        let (mode, entry) = (column / 12, column % 12);
        let is_own = entry / 4 == row % 3;
        if is_own { modes.weights[(row / 3, mode)] * place(row / 3, entry % 4) } else { 0.0 }
    })
}

/// `K^-1 f` of a small matrix, `None` unless it is positive definite.
fn solved(mut matrix: Mat<f64>, forces: &Mat<f64>) -> Option<Mat<f64>> {
    let scale: Vec<f64> =
        (0..matrix.ncols()).map(|k| matrix[(k, k)].max(f64::MIN_POSITIVE).sqrt().recip()).collect();
    for (j, by) in scale.iter().enumerate() {
        for (i, other) in scale.iter().enumerate() {
            matrix[(i, j)] *= by * other;
        }
        matrix[(j, j)] += RIDGE;
    }
    let mut factor = DenseCholesky::of(matrix);
    if !factor.factor() {
        return None;
    }
    let (rows, each) = forces.shape();
    let mut x: Vec<f64> =
        (0..rows * each).map(|at| scale[at / each] * forces[(at / each, at % each)]).collect();
    factor.solve(&mut x, each);
    Some(Mat::from_fn(rows, each, |i, k| scale[i] * x[i * each + k]))
}
