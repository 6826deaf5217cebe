//! Skinning modes against dense solves: repeated eigenvalues, constraints, separate components, invalid
//! input.

use faer::{Mat, Side};
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{constraint, laplacian, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::subspace::{SkinningModes, skinning_modes};
use jounce::{Error, Progress};
use jounce_tests::boxes::{box_mesh, row_of, weights_along_x};

fn material() -> Material {
    Material::new(Law::Arap, Field::Uniform(4.0), Field::Uniform(0.25), Field::Uniform(2.0)).unwrap()
}

fn modes(mesh: &TetMesh, count: usize, rig: Option<&Rig>) -> SkinningModes {
    skinning_modes(mesh, &material(), count, rig, None, &Progress::default()).unwrap()
}

/// All eigenvalues of the problem in an orthonormal basis of the constraint's null space, ascending.
fn dense_eigenvalues(mesh: &TetMesh, rig: Option<&Rig>) -> Vec<f64> {
    let material = material();
    let mass = lumped_mass(mesh, &material);
    let conductivity: Vec<f64> =
        (0..mesh.tets().len()).map(|t| 4.0 * material.mu(t) + material.lambda(t)).collect();
    let hessian = laplacian(mesh, &conductivity).unwrap().to_dense();
    let n = mass.len();
    let scaled = Mat::from_fn(n, n, |i, j| hessian[(i, j)] / (mass[i] * mass[j]).sqrt());
    let free = match rig {
        None => Mat::identity(n, n),
        Some(rig) => {
            let columns = constraint(mesh, &mass, rig, &momentum_leak(mesh).unwrap()).unwrap().to_dense();
            let scaled = Mat::from_fn(n, columns.ncols(), |i, j| columns[(i, j)] / mass[i].sqrt());
            scaled.qr().compute_Q().subcols(columns.ncols(), n - columns.ncols()).to_owned()
        }
    };
    (free.transpose() * scaled * &free).self_adjoint_eigenvalues(Side::Lower).unwrap()
}

/// Checks that the modes' eigenvalues are the lowest ones, with the multiplicities of the dense solve.
fn assert_lowest(mesh: &TetMesh, rig: Option<&Rig>, modes: &SkinningModes) {
    let dense = dense_eigenvalues(mesh, rig);
    let scale = dense[modes.eigenvalues.len() - 1];
    for (k, (got, expected)) in modes.eigenvalues.iter().zip(&dense).enumerate() {
        assert!((got - expected).abs() < 1e-9 * scale, "eigenvalue {k}: {got} instead of {expected}");
    }
}

fn assert_mass_orthonormal(mesh: &TetMesh, modes: &SkinningModes) {
    let mass = lumped_mass(mesh, &material());
    let m = modes.weights.ncols();
    for (a, b) in (0..m).flat_map(|a| (0..=a).map(move |b| (a, b))) {
        let product: f64 =
            (0..mass.len()).map(|i| mass[i] * modes.weights[(i, a)] * modes.weights[(i, b)]).sum();
        assert!((product - f64::from(u8::from(a == b))).abs() < 1e-10, "modes {a}, {b}: {product}");
    }
}

/// Sizes of the groups of equal eigenvalues.
fn multiplicities(eigenvalues: &[f64]) -> Vec<usize> {
    eigenvalues.chunk_by(|a, b| (a - b).abs() < 1e-8 * (1.0 + b.abs())).map(<[f64]>::len).collect()
}

#[test]
fn a_cube_has_all_its_threefold_eigenvalues() {
    let mesh = box_mesh([8, 8, 8], 0.125);
    let modes = modes(&mesh, 20, None);
    assert_lowest(&mesh, None, &modes);
    assert_mass_orthonormal(&mesh, &modes);
    assert_eq!(
        multiplicities(&modes.eigenvalues)[..2],
        [1, 3],
        "the constant, then one wave along each axis"
    );
}

#[test]
fn a_square_bar_has_all_its_twofold_eigenvalues() {
    let mesh = box_mesh([16, 4, 4], 0.1);
    let modes = modes(&mesh, 24, None);
    assert_lowest(&mesh, None, &modes);
    assert!(multiplicities(&modes.eigenvalues).contains(&2));
}

#[test]
fn each_separate_part_has_its_rigid_mode() {
    let mesh = row_of(&box_mesh([2, 2, 2], 0.5), 21, 3.0);
    let modes = modes(&mesh, 30, None);
    assert_lowest(&mesh, None, &modes);
    assert_mass_orthonormal(&mesh, &modes);
    assert!(modes.eigenvalues[20].abs() < 1e-9 * modes.eigenvalues[21], "one zero for each of 21 parts");
}

#[test]
fn separate_equal_parts_with_a_rig_have_equal_modes() {
    let part = box_mesh([4, 4, 4], 0.25);
    let mesh = row_of(&part, 10, 3.0);
    let n = part.vertices().len();
    let weights: Vec<f64> = (0..10 * n * 10).map(|i| f64::from(u8::from(i % 10 == i / 10 / n))).collect();
    let rig = Rig::new(10 * n, 10, &weights).unwrap();
    let modes = modes(&mesh, 12, Some(&rig));
    assert_lowest(&mesh, Some(&rig), &modes);
    assert_eq!(multiplicities(&modes.eigenvalues)[0] % 10, 0);
}

#[test]
fn constrained_modes_are_the_lowest_complementary_ones() {
    let mesh = box_mesh([12, 4, 4], 0.1);
    let rig = Rig::new(mesh.vertices().len(), 3, &weights_along_x(&mesh, 3)).unwrap();
    let modes = modes(&mesh, 10, Some(&rig));
    assert_lowest(&mesh, Some(&rig), &modes);
    assert_mass_orthonormal(&mesh, &modes);
    let mass = lumped_mass(&mesh, &material());
    let columns = constraint(&mesh, &mass, &rig, &momentum_leak(&mesh).unwrap()).unwrap().to_dense();
    let violation = (columns.transpose() * &modes.weights).norm_max();
    assert!(violation < 1e-12 * modes.weights.norm_max(), "{violation}");
}

#[test]
fn the_whole_spectrum_of_a_tiny_mesh_is_found() {
    let mesh = box_mesh([1, 1, 1], 1.0);
    let all = modes(&mesh, 8, None);
    assert_lowest(&mesh, None, &all);
    assert_mass_orthonormal(&mesh, &all);
}

#[test]
fn too_many_modes_are_refused() {
    let mesh = box_mesh([2, 2, 2], 1.0);
    let ask = |count, rig| skinning_modes(&mesh, &material(), count, rig, None, &Progress::default());
    assert_eq!(ask(28, None).unwrap_err(), Error::TooManyModes { asked: 28, available: 27 });
    let rig = Rig::single(27).unwrap();
    assert_eq!(ask(18, Some(&rig)).unwrap_err(), Error::TooManyModes { asked: 18, available: 17 });
    assert!(ask(17, Some(&rig)).is_ok());
    assert!(matches!(ask(0, None).unwrap_err(), Error::Range { what: "count", .. }));
}

#[test]
fn signs_are_fixed_and_runs_agree_bit_for_bit() {
    let mesh = box_mesh([10, 6, 6], 0.1);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| modes(&mesh, 12, None))
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.weights, four.weights);
    assert_eq!(one.eigenvalues, four.eigenvalues);
    for column in one.weights.col_iter() {
        let largest = column.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let first = column.iter().find(|x| x.abs() >= (1.0 - 1e-6) * largest);
        assert!(*first.unwrap() > 0.0, "the first of the largest entries is positive");
    }
}

#[test]
fn cancelling_stops_it() {
    let progress = Progress::default();
    progress.cancel();
    let mesh = box_mesh([2, 2, 2], 1.0);
    let stopped = skinning_modes(&mesh, &material(), 2, None, None, &progress);
    assert_eq!(stopped.unwrap_err(), Error::Cancelled);
}
