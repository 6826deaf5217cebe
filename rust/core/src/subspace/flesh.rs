//! Linear modes of a body, and static responses of the body at the time of factorisation.

use faer::Mat;

use super::eigenpairs::Eigenproblem;
use crate::material::{Material, PrincipalStretch};
use crate::math::dense::{add_product, inner};
use crate::math::multiply_columns;
use crate::mesh::TetMesh;
use crate::operators::Stitches;
use crate::{Error, Progress, Result};

/// Relative change of a derivative at which the refinement has converged.
const FOUND: f64 = 1e-10;
/// Maximum number of refinements of a static solution.
const MOST_ROUNDS: usize = 200;

/// Linear modes: small vibrations of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModes {
    /// Psi, 3n x k: a displacement of all vertices per column, with interleaved rows and `Psi'M Psi = I`,
    /// in kg^(-1/2).
    pub shapes: Mat<f64>,
    /// `lambda = omega^2`, ascending, k, in 1/s^2; about zero for rigid motions.
    pub eigenvalues: Vec<f64>,
}

/// The body at the time of factorisation.
pub(super) struct Flesh {
    pub(super) mesh: TetMesh,
    pub(super) material: Material,
    pub(super) energies: Vec<PrincipalStretch>,
    pub(super) swings: Eigenproblem,
    /// The stitches in the factor.
    pub(super) stitches: Stitches,
}

/// Pairs `i <= j < k`: (0, 0), (0, 1) and so on.
pub(super) fn pairs(k: usize) -> Vec<[usize; 2]> {
    (0..k).flat_map(|i| (i..k).map(move |j| [i, j])).collect()
}

impl Flesh {
    /// `K^-1` of loads at the free coordinates, without their part along rigid motions.
    ///
    /// The result is nearly known along the modes. For the rest of the space the shift is small, and a few
    /// refinements with the factor converge.
    pub(super) fn static_response(
        &self,
        modes: &LinearModes,
        loads: Mat<f64>,
        progress: &Progress,
    ) -> Result<Mat<f64>> {
        let shapes = self.swings.free.rows_of_dense(modes.shapes.as_ref());
        let heavy = self.swings.heavy(shapes.as_ref());
        let give = |i: usize| {
            let value = modes.eigenvalues[i];
            if self.swings.deforms(value) { value.recip() } else { 0.0 }
        };
        let (mut found, mut rest) = (Mat::<f64>::zeros(loads.nrows(), loads.ncols()), loads);
        for _ in 0..MOST_ROUNDS {
            progress.proceed()?;
            let along = inner(shapes.as_ref(), rest.as_ref());
            let mut change = rest.clone();
            add_product(change.as_mut(), -1.0, heavy.as_ref(), along.as_ref());
            self.swings.factor.solve_in_place(change.as_mut());
            let stray = inner(heavy.as_ref(), change.as_ref());
            let known =
                Mat::from_fn(along.nrows(), along.ncols(), |i, j| give(i) * along[(i, j)] - stray[(i, j)]);
            add_product(change.as_mut(), 1.0, shapes.as_ref(), known.as_ref());
            found += &change;
            if change.norm_l2() <= FOUND * found.norm_l2() {
                return Ok(found);
            }
            rest -= multiply_columns(&self.swings.hessian, change.as_ref());
        }
        let why = "more motions than the modes given do not deform the body, or shapes of `attached` are \
                   among these; take more modes, and join such shapes to the basis afterwards";
        let why = why.into();
        Err(Error::Numerical { what: "modal derivatives", why })
    }
}

/// Number of tets per element: all tets of a cell of flesh, or one.
pub(super) fn tets_each(mesh: &TetMesh) -> usize {
    if mesh.cells().is_empty() { 1 } else { mesh.tets_per_cell() }
}
