//! No mode is missed: by Sylvester's law of inertia the bordered matrix counts the eigenvalues below a
//! bound, independently of the solver.

use faer::{Mat, Side};
use jounce::Progress;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{constraint, laplacian, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::subspace::skinning_modes;
use jounce_tests::boxes::{box_mesh, row_of, weights_along_x};

/// Share of the highest eigenvalue below which two eigenvalues count as equal: no bound is placed between
/// them.
const COPY: f64 = 1e-6;

fn material() -> Material {
    Material::new(Law::Arap, Field::Uniform(4.0), Field::Uniform(0.25), Field::Uniform(2.0)).unwrap()
}

/// `[H - bound M, A; A' 0]`, and the number of columns of A.
fn bordered(mesh: &TetMesh, rig: Option<&Rig>) -> (impl Fn(f64) -> Mat<f64>, usize) {
    let material = material();
    let mass = lumped_mass(mesh, &material);
    let conductivity: Vec<f64> =
        (0..mesh.tets().len()).map(|t| 4.0 * material.mu(t) + material.lambda(t)).collect();
    let hessian = laplacian(mesh, &conductivity).unwrap().to_dense();
    let n = mass.len();
    let columns = rig.map_or(Mat::zeros(n, 0), |rig| {
        constraint(mesh, &mass, rig, &momentum_leak(mesh).unwrap()).unwrap().to_dense()
    });
    let count = columns.ncols();
    let scale = hessian.norm_max();
    let entry = move |bound: f64| {
        Mat::from_fn(n + count, n + count, |i, j| match (i < n, j < n) {
            (true, true) => hessian[(i, j)] - if i == j { bound * mass[i] } else { 0.0 },
            (true, false) => scale * columns[(i, j - n)],
            (false, true) => scale * columns[(j, i - n)],
            (false, false) => 0.0,
        })
    };
    (entry, count)
}

/// Number of negative eigenvalues of a symmetric matrix, counted on its Bunch-Kaufman factors.
fn negative(matrix: &Mat<f64>) -> usize {
    let factor = matrix.lblt(Side::Lower);
    let (diagonal, beside) = (factor.B_diag().column_vector(), factor.B_subdiag().column_vector());
    let (mut k, mut count) = (0, 0);
    while k < matrix.nrows() {
        if beside[k] == 0.0 {
            count += usize::from(diagonal[k] < 0.0);
            k += 1;
        } else {
            // In a 2 x 2 block, determinant and trace give the signs.
            let determinant = diagonal[k] * diagonal[k + 1] - beside[k] * beside[k];
            count += match determinant < 0.0 {
                true => 1,
                false => 2 * usize::from(diagonal[k] < 0.0),
            };
            k += 2;
        }
    }
    count
}

/// Places a bound in every gap between the found eigenvalues, and counts the eigenvalues below it.
fn assert_none_missed(mesh: &TetMesh, count: usize, rig: Option<&Rig>) {
    let values =
        skinning_modes(mesh, &material(), count, rig, None, &Progress::default()).unwrap().eigenvalues;
    let (matrix, constraints) = bordered(mesh, rig);
    let mut gaps = 0;
    for below in 1..count {
        let (lower, upper) = (values[below - 1], values[below]);
        if upper - lower > COPY * values[count - 1] {
            // Each constraint adds one negative eigenvalue.
            let found = negative(&matrix(0.5 * (lower + upper))) - constraints;
            assert_eq!(found, below, "eigenvalues below {}", 0.5 * (lower + upper));
            gaps += 1;
        }
    }
    assert!(gaps > 0, "no gap to count in");
}

#[test]
fn none_is_missed_of_a_cube() {
    assert_none_missed(&box_mesh([7, 7, 7], 0.125), 20, None);
}

#[test]
fn none_is_missed_of_a_square_bar() {
    assert_none_missed(&box_mesh([12, 4, 4], 0.1), 24, None);
}

#[test]
fn none_is_missed_of_more_equal_parts_than_a_block_holds() {
    assert_none_missed(&row_of(&box_mesh([2, 2, 2], 0.5), 21, 3.0), 40, None);
}

#[test]
fn none_is_missed_of_a_bar_with_a_rig() {
    let mesh = box_mesh([12, 4, 4], 0.1);
    let rig = Rig::new(mesh.vertices().len(), 3, &weights_along_x(&mesh, 3)).unwrap();
    assert_none_missed(&mesh, 16, Some(&rig));
}

#[test]
fn none_is_missed_of_equal_parts_with_a_bone_each() {
    let part = box_mesh([4, 4, 4], 0.25);
    let mesh = row_of(&part, 6, 3.0);
    let n = part.vertices().len();
    let weights: Vec<f64> = (0..6 * n * 6).map(|i| f64::from(u8::from(i % 6 == i / 6 / n))).collect();
    assert_none_missed(&mesh, 20, Some(&Rig::new(6 * n, 6, &weights).unwrap()));
}
