//! Operators against their definitions on small meshes.

use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{gradients, laplacian, lumped_mass};

/// Two tets of different shape that share a face.
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
