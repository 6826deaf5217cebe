//! Operators against their definitions on small meshes.

use faer::Mat;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{
    HIGHEST_LEAK, constraint, gradients, laplacian, lumped_mass, momentum_leak, spread_to_interior,
};
use jounce::rig::Rig;
use jounce_tests::boxes::{box_mesh, row_of, weights_along_x};

/// Two tets of different shape with a shared face.
fn two_tets() -> TetMesh {
    let vertices = vec![[0.1, 0.0, 0.0], [1.0, 0.2, 0.0], [0.0, 1.0, 0.1], [0.2, 0.1, 1.3], [1.1, 1.2, 1.0]];
    TetMesh::new(vertices, vec![[0, 1, 2, 3], [1, 2, 3, 4]]).unwrap()
}

fn affine(x: [f64; 3]) -> f64 {
    0.7 - 1.5 * x[0] + 2.0 * x[1] + 0.25 * x[2]
}

#[test]
fn gradients_differentiate_affine_functions_exactly() {
    let mesh = two_tets();
    for (tet, hats) in mesh.tets().iter().zip(gradients(&mesh)) {
        for (c, expected) in [-1.5, 2.0, 0.25].into_iter().enumerate() {
            let got: f64 = (0..4).map(|i| affine(mesh.vertices()[tet[i] as usize]) * hats[i][c]).sum();
            assert!((got - expected).abs() < 1e-12, "component {c}: {got}");
        }
    }
}

#[test]
fn lumped_mass_shares_each_tet_among_its_corners() {
    let mesh = two_tets();
    let material =
        Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::PerTet(vec![2.0, 8.0]));
    let mass = lumped_mass(&mesh, &material.unwrap());
    let (a, b) = (2.0 * mesh.volumes()[0] / 4.0, 8.0 * mesh.volumes()[1] / 4.0);
    for (got, expected) in mass.iter().zip([a, a + b, a + b, a + b, b]) {
        assert!((got - expected).abs() < 1e-15);
    }
}

#[test]
fn laplacian_is_the_dirichlet_energy() {
    let mesh = two_tets();
    let conductivity = [3.0, 0.5];
    let matrix = laplacian(&mesh, &conductivity).unwrap().to_dense();
    let values = [0.3, -1.0, 2.0, 0.7, -0.4];
    let energy: f64 = (0..5)
        .flat_map(|i| (0..5).map(move |j| (i, j)))
        .map(|(i, j)| values[i] * matrix[(i, j)] * values[j])
        .sum();
    let expected: f64 = gradients(&mesh)
        .iter()
        .enumerate()
        .map(|(t, hats)| {
            let slope =
                |c: usize| -> f64 { (0..4).map(|i| values[mesh.tets()[t][i] as usize] * hats[i][c]).sum() };
            conductivity[t] * mesh.volumes()[t] * (0..3).map(|c| slope(c).powi(2)).sum::<f64>()
        })
        .sum();
    assert!((energy / expected - 1.0).abs() < 1e-13);
    for i in 0..5 {
        assert!((0..5).map(|j| matrix[(i, j)]).sum::<f64>().abs() < 1e-13, "constants are in the null space");
        assert!((0..5).all(|j| (matrix[(i, j)] - matrix[(j, i)]).abs() < 1e-14));
    }
}

#[test]
fn bad_conductivity_is_refused() {
    let mesh = two_tets();
    for (bad, part) in [(vec![1.0], "shape (2,)"), (vec![1.0, f64::NAN], "NaN"), (vec![-1.0, 1.0], "-1")] {
        let message = laplacian(&mesh, &bad).unwrap_err().to_string();
        assert!(message.contains("conductivity") && message.contains(part), "{message}");
    }
}

fn uniform_material() -> Material {
    Material::new(Law::Arap, Field::Uniform(1.0), Field::Uniform(0.0), Field::Uniform(3.0)).unwrap()
}

/// `J' D M B(w)` by the definition: every pair of a rig column and a skinning column of weights w.
fn complementarity(
    mesh: &TetMesh,
    mass: &[f64],
    weights: &[f64],
    bones: usize,
    leak: &[f64],
    w: &[f64],
) -> f64 {
    let homogeneous = |i: usize, p: usize| if p < 3 { mesh.vertices()[i][p] } else { 1.0 };
    let product = |bone: usize, p: usize, q: usize, size: bool| -> f64 {
        let terms = (0..mass.len()).map(|i| {
            let term = weights[i * bones + bone]
                * homogeneous(i, p)
                * (1.0 - leak[i])
                * mass[i]
                * w[i]
                * homogeneous(i, q);
            if size { term.abs() } else { term }
        });
        terms.sum()
    };
    let rows = (0..bones).flat_map(|b| (0..4).flat_map(move |p| (0..4).map(move |q| (b, p, q))));
    rows.map(|(b, p, q)| product(b, p, q, false).abs() / product(b, p, q, true).max(1e-300))
        .fold(0.0, f64::max)
}

/// Rank of all `w_ij p q` columns, 16 a bone, by singular values.
fn rank_by_definition(mesh: &TetMesh, mass: &[f64], weights: &[f64], bones: usize, leak: &[f64]) -> usize {
    let extended = |i: usize, p: usize| if p < 3 { mesh.vertices()[i][p] } else { 1.0 };
    let columns = Mat::from_fn(mass.len(), 16 * bones, |i, c| {
        let weight = weights[i * bones + c / 16] * (1.0 - leak[i]) * mass[i];
        weight * extended(i, c % 16 / 4) * extended(i, c % 4)
    });
    let values = columns.singular_values().unwrap();
    values.iter().filter(|v| **v > 1e-9 * values[0]).count()
}

/// The part of a random function orthogonal to the constraint's columns.
fn projected(columns: &Mat<f64>, seed: usize) -> Vec<f64> {
    let q = columns.qr().compute_thin_Q();
    let mut w = Mat::from_fn(columns.nrows(), 1, |i, _| ((i * 37 + seed * 101) % 97) as f64 / 97.0 - 0.5);
    for _ in 0..2 {
        let inside = &q * (q.transpose() * &w);
        w -= inside;
    }
    (0..columns.nrows()).map(|i| w[(i, 0)]).collect()
}

#[test]
fn the_constraint_is_complementarity() {
    let mesh = box_mesh([9, 4, 4], 0.2);
    let mass = lumped_mass(&mesh, &uniform_material());
    let weights = weights_along_x(&mesh, 3);
    let rig = Rig::new(mass.len(), 3, &weights).unwrap();
    let leak = momentum_leak(&mesh).unwrap();
    let columns = constraint(&mesh, &mass, &rig, &leak).unwrap().to_dense();
    assert_eq!(columns.ncols(), rank_by_definition(&mesh, &mass, &weights, 3, &leak));
    for seed in 0..3 {
        let w = projected(&columns, seed);
        assert!(complementarity(&mesh, &mass, &weights, 3, &leak, &w) < 1e-9);
    }
    let free: Vec<f64> = (0..mass.len()).map(|i| (i % 7) as f64).collect();
    assert!(complementarity(&mesh, &mass, &weights, 3, &leak, &free) > 1e-3, "the test can fail");
}

#[test]
fn dependent_constraint_columns_are_dropped() {
    let mesh = box_mesh([6, 4, 4], 0.2);
    let n = mesh.vertices().len();
    let mass = lumped_mass(&mesh, &uniform_material());
    let leak = vec![0.3; n];
    let twice = Rig::new(n, 2, &vec![0.5; 2 * n]).unwrap();
    let once = Rig::single(n).unwrap();
    let columns = |rig: &Rig| constraint(&mesh, &mass, rig, &leak).unwrap().to_dense();
    assert_eq!((columns(&once).ncols(), columns(&twice).ncols()), (10, 10));
    let mut few = vec![0.0; 2 * n];
    (0..n).for_each(|i| few[2 * i + usize::from([0, 4, 20, 150].contains(&i))] = 1.0);
    assert_eq!(columns(&Rig::new(n, 2, &few).unwrap()).ncols(), 14, "four corners have four constraints");
    let mut idle = vec![0.0; 2 * n];
    (0..n).for_each(|i| idle[2 * i] = 1.0);
    assert_eq!(columns(&Rig::new(n, 2, &idle).unwrap()).ncols(), 10, "a bone without vertices has none");
}

#[test]
fn a_bone_that_leaks_everywhere_stays_tied() {
    let mesh = box_mesh([3, 3, 3], 0.2);
    let n = mesh.vertices().len();
    let mass = lumped_mass(&mesh, &uniform_material());
    let rig = Rig::single(n).unwrap();
    let strict = constraint(&mesh, &mass, &rig, &vec![0.0; n]).unwrap().to_dense();
    let leaking = constraint(&mesh, &mass, &rig, &vec![1.0; n]).unwrap().to_dense();
    assert_eq!(strict, leaking);
}

#[test]
fn spreading_reproduces_affine_functions_and_keeps_sums() {
    let mesh = box_mesh([4, 4, 4], 0.3);
    let known = mesh.boundary_vertices();
    let values: Vec<f64> = known
        .iter()
        .flat_map(|&v| {
            let value = affine(mesh.vertices()[v as usize]);
            [value, 1.0 - value]
        })
        .collect();
    let spread = spread_to_interior(&mesh, &known, &values, 2).unwrap();
    for (row, vertex) in spread.chunks(2).zip(mesh.vertices()) {
        assert!((row[0] - affine(*vertex)).abs() < 1e-12 && (row[0] + row[1] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn spreading_refuses_what_it_cannot_do() {
    let mesh = row_of(&box_mesh([1, 1, 1], 1.0), 2, 3.0);
    let message =
        |ids: &[u32], values: &[f64]| spread_to_interior(&mesh, ids, values, 1).unwrap_err().to_string();
    assert!(message(&[0], &[1.0]).contains("vertex 8 is connected to no vertex"));
    assert!(message(&[99], &[1.0]).contains("index 99"));
    assert!(message(&[1, 2], &[1.0]).contains("shape (2, 1)"));
    assert!(message(&[1], &[f64::NAN]).contains("NaN"));
    assert!(message(&[], &[]).contains("empty"));
}

#[test]
fn leak_is_one_outside_zero_deep_inside_and_free_of_size_and_orientation() {
    let mesh = box_mesh([8, 6, 6], 0.1);
    let leak = momentum_leak(&mesh).unwrap();
    for vertex in mesh.boundary_vertices() {
        assert_eq!(leak[vertex as usize], HIGHEST_LEAK);
    }
    assert_eq!(leak.iter().copied().fold(1.0, f64::min), 0.0);
    let turn = nalgebra::Rotation3::from_euler_angles(0.3, -1.1, 0.7);
    let moved = mesh.vertices().iter().map(|&v| (turn * nalgebra::Vector3::from(v) * 1e3).into()).collect();
    let moved = momentum_leak(&TetMesh::new(moved, mesh.tets().to_vec()).unwrap()).unwrap();
    assert!(leak.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn a_mesh_without_inner_vertices_leaks_everywhere() {
    assert_eq!(momentum_leak(&box_mesh([5, 1, 1], 0.1)).unwrap(), vec![HIGHEST_LEAK; 24]);
}

#[test]
fn constraints_that_do_not_fit_are_refused() {
    let mesh = box_mesh([2, 2, 2], 1.0);
    let mass = lumped_mass(&mesh, &uniform_material());
    let refuse = |rig: &Rig, leak: &[f64]| constraint(&mesh, &mass, rig, leak).unwrap_err().to_string();
    let rig = Rig::single(27).unwrap();
    assert!(refuse(&Rig::single(5).unwrap(), &[0.0; 27]).contains("rig: expected shape"));
    assert!(refuse(&rig, &[0.0; 3]).contains("leak: expected shape"));
    assert!(refuse(&rig, &[1.5; 27]).contains("1.5"));
    assert!(refuse(&rig, &[f64::NAN; 27]).contains("NaN"));
}
