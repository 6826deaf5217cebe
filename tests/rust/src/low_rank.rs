//! The low-rank update of skinning modes `[IDSR eq. 8-12]`, dense, to compare with. It gives directions
//! outside the modes no stiffness except that of the stitches, and misses eigenvalues by tens of percent if
//! there are many stitches.

use faer::{Mat, Side};
use jounce::operators::Stitches;
use jounce::subspace::SkinningModes;

/// Share of the largest below which an eigenvalue of a Gram matrix belongs to dependent columns.
const DEPENDENT: f64 = 1e-10;
/// Diagonal blocks of a spring's Hessian in the space of weights.
const WEIGHT_SPACE: f64 = 3.0;

/// The `count` lowest eigenvectors of `M W Lambda W' M + 3 A k A'` in the span of the modes W and of the
/// columns of least mass that stretch the stitches as `M^-1 A` does and keep the constraint C, n x c. Masses
/// are of all vertices; rows of the constraint are zero at pinned ones, and so are the modes.
pub fn low_rank_update(
    (mass, constraint): (&[f64], &Mat<f64>),
    is_free: impl Fn(usize) -> bool,
    modes: &SkinningModes,
    stitches: &Stitches,
    count: usize,
) -> SkinningModes {
    let light = |x: &Mat<f64>| {
        Mat::from_fn(x.nrows(), x.ncols(), |i, k| if is_free(i) { x[(i, k)] / mass[i] } else { 0.0 })
    };
    let ends = stitches.differences().to_dense();
    let border = light(constraint);
    let held = constraint.transpose() * &border;
    let columns = light(&ends) - &border * inverse(&held) * (border.transpose() * &ends);
    let basis = extended(mass, &modes.weights, columns);
    let stretches = ends.transpose() * &basis;
    let stiffness: Vec<f64> = stitches.stiffness().collect();
    let forces = Mat::from_fn(stretches.nrows(), stretches.ncols(), |s, k| {
        WEIGHT_SPACE * stiffness[s] * stretches[(s, k)]
    });
    let mut form = stretches.transpose() * forces;
    modes.eigenvalues.iter().enumerate().for_each(|(k, value)| form[(k, k)] += value);
    let (values, vectors) = eigen(&form);
    // Directions without stiffness are no modes, unless the body itself has some.
    let least = modes.eigenvalues[0] * 0.5;
    let first = values.iter().position(|&value| value >= least).unwrap_or(0).min(values.len() - count);
    let weights = basis * vectors.subcols(first, count);
    SkinningModes { weights, eigenvalues: values[first..first + count].to_vec() }
}

fn eigen(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let found = matrix.self_adjoint_eigen(Side::Lower).expect("a symmetric matrix");
    (found.S().column_vector().iter().copied().collect(), found.U().to_owned())
}

/// Pseudo-inverse of a positive matrix.
fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    let (values, vectors) = eigen(matrix);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let scaled = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, k| {
        if values[k] > DEPENDENT * largest { vectors[(i, k)] / values[k] } else { 0.0 }
    });
    scaled * vectors.transpose()
}

/// The modes with the columns appended, mass-orthonormal; dependent columns are dropped.
fn extended(mass: &[f64], modes: &Mat<f64>, mut columns: Mat<f64>) -> Mat<f64> {
    let heavy = |x: &Mat<f64>| Mat::from_fn(x.nrows(), x.ncols(), |i, k| mass[i] * x[(i, k)]);
    for _ in 0..2 {
        columns -= modes * (heavy(modes).transpose() * &columns);
        let gram = columns.transpose() * heavy(&columns);
        let scale: Vec<f64> = (0..gram.nrows()).map(|i| gram[(i, i)].sqrt().recip()).collect();
        let (values, vectors) =
            eigen(&Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| scale[i] * gram[(i, j)] * scale[j]));
        let largest = values.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> = (0..values.len()).filter(|&k| values[k] > DEPENDENT * largest).collect();
        columns = &columns
            * Mat::from_fn(gram.nrows(), kept.len(), |i, k| {
                scale[i] * vectors[(i, kept[k])] / values[kept[k]].sqrt()
            });
    }
    let count = modes.ncols();
    Mat::from_fn(modes.nrows(), count + columns.ncols(), |i, k| {
        if k < count { modes[(i, k)] } else { columns[(i, k - count)] }
    })
}
