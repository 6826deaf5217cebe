//! The sparse factor: solutions, rejected input, and independence of the number of threads.

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use jounce::material::{Field, Law, Material};
use jounce::math::{Sparse, SparseCholesky};
use jounce::mesh::TetMesh;
use jounce::operators::{constraint, laplacian, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce_tests::boxes::{box_mesh, row_of, weights_along_x};

/// Stiffness plus `shift` times mass, and the constraint of three bones.
fn system(mesh: &TetMesh, shift: f64) -> (Sparse, Sparse) {
    let material =
        Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::Uniform(1.0)).unwrap();
    let mass = lumped_mass(mesh, &material);
    let mut matrix = laplacian(mesh, &vec![1.0; mesh.tets().len()]).unwrap();
    for column in 0..mass.len() {
        let place = matrix.row_idx_of_col_raw(column).iter().position(|&row| row as usize == column).unwrap();
        matrix.val_of_col_mut(column)[place] += shift * mass[column];
    }
    let rig = Rig::new(mass.len(), 3, &weights_along_x(mesh, 3)).unwrap();
    let constraint = constraint(mesh, &mass, &rig, &momentum_leak(mesh).unwrap()).unwrap();
    (matrix, constraint)
}

fn right_hand_sides(rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.4)
}

#[test]
fn a_solve_undoes_the_product() {
    for mesh in
        [box_mesh([1, 1, 1], 1.0), box_mesh([30, 16, 16], 0.1), row_of(&box_mesh([6, 6, 6], 0.2), 9, 2.0)]
    {
        let (matrix, _) = system(&mesh, 3.0);
        for columns in [1, 8, 19] {
            let rhs = right_hand_sides(matrix.ncols(), columns);
            let mut x = rhs.clone();
            SparseCholesky::new(&matrix).unwrap().solve_in_place(x.as_mut());
            let residual = (&matrix * &x - &rhs).norm_max();
            assert!(residual < 1e-12, "{} rows, {columns} columns: {residual}", matrix.ncols());
        }
    }
}

/// `2 + degree` on the diagonal, -1 for each edge.
fn grounded(rows: u32, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Sparse {
    let mut diagonal = vec![2.0; rows as usize];
    edges.clone().flat_map(|(a, b)| [a, b]).for_each(|v| diagonal[v as usize] += 1.0);
    let off = edges.flat_map(|(a, b)| [Triplet::new(a, b, -1.0), Triplet::new(b, a, -1.0)]);
    let diagonal = (0..rows).map(|v| Triplet::new(v, v, diagonal[v as usize]));
    let entries: Vec<Triplet<u32, u32, f64>> = off.chain(diagonal).collect();
    SparseColMat::try_new_from_triplets(rows as usize, rows as usize, &entries).unwrap()
}

#[test]
fn what_falls_apart_and_what_meets_in_one_vertex_fills_little() {
    let rows = 40_000;
    let apart = grounded(rows, (0..rows / 2).map(|pair| (2 * pair, 2 * pair + 1)));
    let diagonal = grounded(rows, std::iter::empty());
    // All vertices are joined to the first one; half of them also form a chain.
    let star = grounded(rows, (1..rows).map(|v| (0, v)).chain((1..rows / 2).map(|v| (v, v + 1))));
    for matrix in [apart, diagonal, star] {
        let factor = SparseCholesky::new(&matrix).unwrap();
        assert!(factor.bytes() < 100 << 20, "{} bytes", factor.bytes());
        let rhs = right_hand_sides(matrix.ncols(), 1);
        let mut x = rhs.clone();
        factor.solve_in_place(x.as_mut());
        // Backward error, because the row of the central vertex is large.
        let largest = matrix.val().iter().fold(0.0_f64, |a, &b| a.max(b));
        let error = (&matrix * &x - &rhs).norm_max() / (largest * x.norm_max());
        assert!(error < 1e-13, "{error}");
    }
}

#[test]
fn a_hub_of_a_mesh_costs_a_row() {
    let side = 20;
    let at = |x: u32, y: u32, z: u32| 1 + x + side * (y + side * z);
    let cells = (0..side.pow(3)).map(|c| (c % side, c / side % side, c / side / side));
    let beside = cells.flat_map(|(x, y, z)| {
        let next = [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)];
        let inside = next.into_iter().filter(|&(x, y, z)| x.max(y).max(z) < side);
        inside.map(move |(i, j, k)| (at(x, y, z), at(i, j, k)))
    });
    let rows = 1 + side.pow(3);
    let bytes = |matrix| SparseCholesky::new(&matrix).unwrap().bytes();
    let (plain, hub) = (
        bytes(grounded(rows, beside.clone())),
        bytes(grounded(rows, beside.chain((1..rows).map(|v| (0, v))))),
    );
    assert!(hub < 2 * plain, "{hub} {plain}");
}

#[test]
fn a_constrained_solve_is_stationary_and_keeps_the_constraint() {
    let mesh = box_mesh([24, 12, 12], 0.1);
    let (matrix, constraint) = system(&mesh, 3.0);
    let rhs = right_hand_sides(matrix.ncols(), 3);
    let mut x = rhs.clone();
    SparseCholesky::constrained(&matrix, &constraint).unwrap().solve_in_place(x.as_mut());
    let columns = constraint.to_dense();
    assert!((columns.transpose() * &x).norm_max() < 1e-12 * x.norm_max(), "A' x = 0");
    let rest = &rhs - &matrix * &x;
    let q = columns.qr().compute_thin_Q();
    let outside = &rest - &q * (q.transpose() * &rest);
    assert!(outside.norm_max() < 1e-10, "b - K x is a combination of A's columns");
}

#[test]
fn what_is_not_definite_is_refused() {
    let (matrix, constraint) = system(&box_mesh([6, 4, 4], 0.1), -3.0);
    let message = SparseCholesky::new(&matrix).err().unwrap().to_string();
    assert!(message.contains("not positive definite"), "{message}");
    let (matrix, _) = system(&box_mesh([6, 4, 4], 0.1), 3.0);
    let twice: Vec<Triplet<u32, u32, f64>> = (0..constraint.row_idx_of_col_raw(0).len())
        .flat_map(|k| {
            [0, 1].map(|c| Triplet::new(constraint.row_idx_of_col_raw(0)[k], c, constraint.val_of_col(0)[k]))
        })
        .collect();
    let twice = SparseColMat::try_new_from_triplets(matrix.ncols(), 2, &twice).unwrap();
    let message = SparseCholesky::constrained(&matrix, &twice).err().unwrap().to_string();
    assert!(message.contains("constraint 1 depends on others"), "{message}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let (matrix, constraint) = system(&box_mesh([40, 20, 20], 0.1), 1.0);
    let solve = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut x = right_hand_sides(matrix.ncols(), 9);
            SparseCholesky::constrained(&matrix, &constraint).unwrap().solve_in_place(x.as_mut());
            x
        })
    };
    let one = solve(1);
    assert_eq!(one, solve(2));
    assert_eq!(one, solve(4));
}
