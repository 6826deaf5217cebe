//! Trajectories beside the best approximation that a subspace holds of them.

use faer::Mat;
use jounce::mesh::TetMesh;

/// Columns `w_ik [X_i; 1]` of one coordinate's skinning subspace, n x 4m.
pub fn skinning_basis(mesh: &TetMesh, weights: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(weights.nrows(), 4 * weights.ncols(), |i, column| {
        let extended = if column % 4 < 3 { mesh.vertices()[i][column % 4] } else { 1.0 };
        weights[(i, column / 4)] * extended
    })
}

/// One coordinate's basis repeated for all three, 3n x 3r.
pub fn for_all_coordinates(basis: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(3 * basis.nrows(), 3 * basis.ncols(), |row, j| {
        if row % 3 == j % 3 { basis[(row / 3, j / 3)] } else { 0.0 }
    })
}

/// The part of a basis, 3n x r, that satisfies the constraint, n x c, in every coordinate.
pub fn complementary_part(basis: &Mat<f64>, constraint: &Mat<f64>) -> Mat<f64> {
    let rows = Mat::from_fn(3 * constraint.ncols(), basis.ncols(), |row, j| {
        (0..constraint.nrows()).map(|i| constraint[(i, row / 3)] * basis[(3 * i + row % 3, j)]).sum::<f64>()
    });
    let svd = rows.svd().unwrap();
    let least = 1e-8 * basis.norm_l2() * constraint.norm_l2();
    let rank = (0..rows.nrows().min(rows.ncols())).take_while(|&i| svd.S()[i] > least).count();
    basis * svd.V().subcols(rank, basis.ncols() - rank)
}

/// Orthonormal columns of the span of a basis.
fn orthonormal(basis: &Mat<f64>) -> Mat<f64> {
    let svd = basis.thin_svd().unwrap();
    let largest = svd.S()[0];
    let rank = (0..basis.ncols()).take_while(|&i| svd.S()[i] > 1e-10 * largest).count();
    svd.U().subcols(0, rank).to_owned()
}

/// Part of the columns of `targets` outside the span of a basis, relative to their size.
pub fn missed(basis: &Mat<f64>, targets: &Mat<f64>) -> f64 {
    let span = orthonormal(basis);
    (targets - &span * (span.transpose() * targets)).norm_l2() / targets.norm_l2()
}

/// Distances in the norm of vertex masses.
pub struct Weighed<'a> {
    /// Vertex masses, n.
    pub mass: &'a [f64],
}

impl Weighed<'_> {
    /// Size of a trajectory, of displacements 3n interleaved at each step.
    pub fn size(&self, trajectory: &[Vec<f64>]) -> f64 {
        let square = |u: &Vec<f64>| (0..u.len()).map(|i| self.mass[i / 3] * u[i] * u[i]).sum::<f64>();
        trajectory.iter().map(square).sum::<f64>().sqrt()
    }

    /// Distance between two trajectories, relative to the size of the second.
    pub fn apart(&self, a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
        let difference = a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect());
        self.size(&difference.collect::<Vec<_>>()) / self.size(b)
    }

    /// The nearest trajectory in the span of a basis, 3n x r.
    pub fn nearest(&self, basis: &Mat<f64>, trajectory: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let root = |i: usize| self.mass[i / 3].sqrt();
        let span = orthonormal(&Mat::from_fn(basis.nrows(), basis.ncols(), |i, j| root(i) * basis[(i, j)]));
        let target = Mat::from_fn(basis.nrows(), trajectory.len(), |i, j| root(i) * trajectory[j][i]);
        let near = &span * (span.transpose() * target);
        (0..trajectory.len()).map(|j| (0..near.nrows()).map(|i| near[(i, j)] / root(i)).collect()).collect()
    }
}
