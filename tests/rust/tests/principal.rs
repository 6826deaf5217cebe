//! Principal displacements of a shot against the displacements it was made of.

use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::lumped_mass;
use jounce::subspace::{Basis, Share, mass_pca};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::bar;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A bar with the left half ten times as heavy.
fn body() -> (TetMesh, Material) {
    let mesh = bar([6, 2, 2], 0.1);
    let heavy = |t: usize| if mesh.corners(t).iter().all(|p| p[0] < 0.31) { 5000.0 } else { 500.0 };
    let density = Field::PerTet((0..mesh.tets().len()).map(heavy).collect());
    let material = Material::new(Law::Arap, Field::Uniform(1e4), Field::Uniform(0.0), density).unwrap();
    (mesh, material)
}

fn at_most(count: usize) -> Share {
    Share { count, ..Share::default() }
}

fn of_energy(energy: f64) -> Share {
    Share { energy, ..Share::default() }
}

fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Frames of a few displacements, each with its own amplitude.
fn planted(mesh: &TetMesh, rank: usize, frames: usize) -> Vec<f64> {
    let size = 3 * mesh.vertices().len();
    let (shapes, amounts) = (random(rank * size, 1), random(rank * frames, 2));
    let at = |f: usize, i: usize| {
        (0..rank).map(|k| 0.1_f64.powi(k as i32) * amounts[f * rank + k] * shapes[k * size + i]).sum()
    };
    (0..frames).flat_map(|f| (0..size).map(move |i| (f, i))).map(|(f, i)| at(f, i)).collect()
}

fn found(snapshots: &[f64], share: Share) -> Result<Basis> {
    let (mesh, material) = body();
    mass_pca(&mesh, &material, snapshots, share, &Progress::default())
}

/// `a'Mb` of interleaved displacements.
fn product(mass: &[f64], a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).enumerate().map(|(i, (a, b))| mass[i / 3] * a * b).sum()
}

/// Squared mass norms of a shot, and of its part outside a basis.
fn left_out(mass: &[f64], basis: &Basis, snapshots: &[f64]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for frame in snapshots.chunks_exact(3 * mass.len()) {
        let mut rest = frame.to_vec();
        for j in 0..basis.count() {
            let column = basis.columns.col_as_slice(j);
            let share = product(mass, column, frame);
            rest.iter_mut().zip(column).for_each(|(rest, u)| *rest -= share * u);
        }
        sums[0] += product(mass, frame, frame);
        sums[1] += product(mass, &rest, &rest);
    }
    sums
}

#[test]
fn a_planted_shot_comes_back_orthonormal_in_the_mass() {
    let (mesh, material) = body();
    let (mass, snapshots) = (lumped_mass(&mesh, &material), planted(&mesh, 5, 40));
    for share in [at_most(64), of_energy(1.0)] {
        let basis = found(&snapshots, share).unwrap();
        assert_eq!((basis.count(), basis.singular_values.len()), (5, 40));
        for i in 0..5 {
            for j in 0..5 {
                let columns = [i, j].map(|k| basis.columns.col_as_slice(k));
                let unit = if i == j { 1.0 } else { 0.0 };
                assert!((product(&mass, columns[0], columns[1]) - unit).abs() < 1e-12);
            }
        }
        let [whole, rest] = left_out(&mass, &basis, &snapshots);
        assert!(rest < 1e-24 * whole, "{rest} of {whole}");
    }
}

#[test]
fn what_is_left_out_is_what_the_singular_values_say() {
    let (mesh, material) = body();
    let (mass, snapshots) = (lumped_mass(&mesh, &material), planted(&mesh, 5, 40));
    for count in 1..=4 {
        let basis = found(&snapshots, at_most(count)).unwrap();
        let squares = || basis.singular_values.iter().map(|value| value * value);
        let [whole, rest] = left_out(&mass, &basis, &snapshots);
        assert!((squares().sum::<f64>() / whole - 1.0).abs() < 1e-12);
        assert!((squares().skip(count).sum::<f64>() / rest - 1.0).abs() < 1e-6);
        // The fewest displacements that leave out no more than that.
        let share = 1.0 - 1.001 * rest / whole;
        assert_eq!(found(&snapshots, of_energy(share)).unwrap().count(), count);
        let more = 1.0 - 0.999 * rest / whole;
        assert_eq!(found(&snapshots, of_energy(more)).unwrap().count(), count + 1);
        assert_eq!(found(&snapshots, Share { count, energy: more }).unwrap().count(), count);
    }
}

#[test]
fn no_other_basis_of_as_many_leaves_out_less() {
    let (mesh, material) = body();
    let mass = lumped_mass(&mesh, &material);
    let snapshots = random(12 * 3 * mass.len(), 3);
    let [_, least] = left_out(&mass, &found(&snapshots, at_most(3)).unwrap(), &snapshots);
    let size = 3 * mass.len();
    for first in [0, 4, 9] {
        let others = found(&snapshots[first * size..(first + 3) * size], at_most(3)).unwrap();
        let [_, rest] = left_out(&mass, &others, &snapshots);
        assert!(least < 0.999 * rest, "{least} {rest}");
    }
}

#[test]
fn more_frames_than_coordinates_give_all_coordinates() {
    let mesh = bar([1, 1, 1], 0.1);
    let number = Field::Uniform;
    let material = Material::new(Law::Arap, number(1e4), number(0.0), number(1000.0)).unwrap();
    let snapshots = random(50 * 24, 4);
    let basis = mass_pca(&mesh, &material, &snapshots, of_energy(1.0), &Progress::default()).unwrap();
    assert_eq!((basis.count(), basis.singular_values.len()), (24, 24));
}

#[test]
fn what_is_held_in_all_snapshots_is_held_exactly() {
    let (mesh, _) = body();
    let mut snapshots = random(10 * 3 * mesh.vertices().len(), 5);
    let frames = snapshots.chunks_exact_mut(3 * mesh.vertices().len());
    frames.for_each(|frame| frame[6..12].fill(0.0));
    let basis = found(&snapshots, at_most(10)).unwrap();
    assert!((0..10).all(|j| basis.columns.col_as_slice(j)[6..12].iter().all(|&u| u.abs() < 1e-15)));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (mesh, _) = body();
    let snapshots = planted(&mesh, 5, 40);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| found(&snapshots, of_energy(0.999)).unwrap())
    };
    assert!(on(1) == on(2));
}

#[test]
fn what_has_no_basis_is_refused() {
    let (mesh, _) = body();
    let size = 3 * mesh.vertices().len();
    let good = random(2 * size, 6);
    let refused = |snapshots: &[f64], share| found(snapshots, share).unwrap_err().to_string();
    let all = of_energy(1.0);
    assert_eq!(
        refused(&vec![0.0; size], all),
        "snapshots: nothing moves in them; take frames in which the flesh sways"
    );
    assert_eq!(refused(&[], all), "snapshots: is empty; at least one is needed");
    assert!(matches!(found(&good[..size - 3], all), Err(Error::Shape { what: "snapshots", .. })));
    let mut bad = good.clone();
    bad[size + 4] = f64::NAN;
    assert!(matches!(found(&bad, all), Err(Error::NotFinite { what: "snapshots", element: 1, .. })));
    for share in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(matches!(found(&good, of_energy(share)), Err(Error::Range { what: "energy", .. })));
    }
    assert!(matches!(found(&good, at_most(0)), Err(Error::Range { what: "count", .. })));
    assert!(matches!(Basis::from_shapes(&good, 11), Err(Error::Shape { what: "shapes", .. })));
    assert!(matches!(Basis::from_shapes(&[], 0), Err(Error::Empty { what: "shapes" })));
    assert!(matches!(Basis::from_shapes(&bad, 2), Err(Error::NotFinite { element: 1, .. })));
    assert_eq!(Basis::from_shapes(&good, 2).unwrap().shapes(), good);
}
