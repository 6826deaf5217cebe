//! Localised modes: their guarantees, and the one case with a closed-form solution.

use faer::Mat;
use jounce::body::{Body, BodyParams};
use jounce::inputs::SimulationParams;
use jounce::material::{Field, Law, Material};
use jounce::mesh::TetMesh;
use jounce::operators::{constraint, lumped_mass, momentum_leak};
use jounce::rig::Rig;
use jounce::simulation::Simulation;
use jounce::subspace::{LocalisedModes, Restraint, localised_modes, skinning_modes};
use jounce::{Error, Progress};
use jounce_tests::bodies::{REST, turn};
use jounce_tests::boxes::{box_mesh, row_of, weights_along_x};
use jounce_tests::surfaces::sphere;

const DENSITY: f64 = 1000.0;

fn material(mesh: &TetMesh) -> Material {
    let young = (0..mesh.tets().len()).map(|t| 1e4 * (1.0 + mesh.corners(t)[0][0])).collect();
    Material::new(Law::Arap, Field::PerTet(young), Field::Uniform(0.0), Field::Uniform(DENSITY)).unwrap()
}

fn body() -> (TetMesh, Material, Rig, Vec<f64>) {
    let mesh = box_mesh([32, 6, 4], 0.1);
    let rig = Rig::new(mesh.vertices().len(), 3, &weights_along_x(&mesh, 3)).unwrap();
    let leak = momentum_leak(&mesh).unwrap();
    (mesh.clone(), material(&mesh), rig, leak)
}

fn local(count: usize, locality: f64) -> LocalisedModes {
    let (mesh, material, rig, leak) = body();
    let restraint = Restraint { rig: Some(&rig), leak: Some(&leak), pinned: None };
    localised_modes(&mesh, &material, count, locality, &restraint, &Progress::default()).unwrap()
}

fn weighted(w: &Mat<f64>, mass: &[f64]) -> Mat<f64> {
    Mat::from_fn(w.nrows(), w.ncols(), |i, k| mass[i] * w[(i, k)])
}

#[test]
fn modes_are_complementary_orthonormal_and_converged() {
    let (mesh, material, rig, leak) = body();
    let mass = lumped_mass(&mesh, &material);
    let a = constraint(&mesh, &mass, &rig, &leak).unwrap().to_dense();
    for locality in [3.0, 30.0] {
        let found = local(8, locality);
        let w = &found.modes.weights;
        let scale = Mat::from_fn(a.ncols(), 1, |j, _| a.col(j).norm_l2()).norm_max() * w.norm_max();
        assert!(
            (a.transpose() * w).norm_max() < 1e-9 * scale,
            "{:e}",
            (a.transpose() * w).norm_max() / scale
        );
        let gram = w.transpose() * weighted(w, &mass) - Mat::<f64>::identity(8, 8);
        assert!(gram.norm_max() < 1e-12, "{:e}", gram.norm_max());
        assert!(found.residual < 1e-2, "locality {locality}: {:e}", found.residual);
    }
}

#[test]
fn support_shrinks_and_energy_rises_with_locality() {
    let found = [1.5, 6.0, 25.0, 100.0].map(|locality| local(8, locality));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let supports = found.each_ref().map(|f| mean(&f.supports));
    let energies = found.each_ref().map(|f| mean(&f.modes.eigenvalues));
    let spans = found.each_ref().map(|f| f.span);
    println!("supports {supports:.3?}, energies {energies:.0?}, spans {spans:.3?}");
    assert!(supports.is_sorted_by(|a, b| a > b), "{supports:?}");
    assert!(energies.is_sorted_by(|a, b| a < b), "{energies:?}");
    assert!(supports[0] > 0.2 && supports[3] < 0.02, "{supports:?}");
    assert!(spans.iter().all(|s| (0.0..=1.0 + 1e-12).contains(s)) && spans[0] > spans[3], "{spans:?}");
    let (mesh, material, rig, leak) = body();
    let global = skinning_modes(&mesh, &material, 8, Some(&rig), Some(&leak), &Progress::default()).unwrap();
    assert!(mean(&global.eigenvalues) < energies[0]);
}

/// On a long thin bar pinned at its ends, the optimal weight is one bump `1 + cos(k x)` of compact support.
/// It solves `-D w'' + mu rho sign w = lambda rho w`, with `D k^2 = lambda rho` and unit norm.
#[test]
fn the_first_mode_of_a_bar_is_the_bump_known_in_closed_form() {
    let (cells, cell) = (240, 0.05);
    let mesh = box_mesh([cells, 1, 1], cell);
    let length = cells as f64 * cell;
    let material =
        Material::new(Law::Arap, Field::Uniform(1e4), Field::Uniform(0.0), Field::Uniform(DENSITY)).unwrap();
    let pinned: Vec<bool> =
        mesh.vertices().iter().map(|x| x[0] < 0.5 * cell || x[0] > length - 0.5 * cell).collect();
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let locality = 0.15;
    let found = localised_modes(&mesh, &material, 1, locality, &restraint, &Progress::default()).unwrap();
    assert!(found.residual <= 2e-3, "{:e}", found.residual);

    let pi = std::f64::consts::PI;
    let line = cell * cell * DENSITY;
    let stiffness = 4.0 * material.mu(0) / DENSITY;
    // Volume of the eighth of a ball that determines mu.
    let ball = cell * cell * length / locality;
    let sphere = stiffness * (4.493_409_457_909_064 / (6.0 / pi * ball).cbrt()).powi(2);
    let mu = sphere / (2.5 * DENSITY * ball).sqrt();
    // With w = (mu / lambda) (1 + cos k x), k = sqrt(lambda / stiffness): line (mu / lambda)^2 3 pi / k = 1.
    let lambda = (line * mu * mu * 3.0 * pi * stiffness.sqrt()).powf(0.4);
    let k = (lambda / stiffness).sqrt();
    // w' H w = line stiffness (mu / lambda)^2 k^2 pi / k, a third of lambda.
    let energy = found.modes.eigenvalues[0];
    assert!((energy - lambda / 3.0).abs() < 0.01 * energy, "{energy} {}", lambda / 3.0);
    let w = &found.modes.weights;
    let peak = (0..w.nrows()).max_by(|&a, &b| w[(a, 0)].total_cmp(&w[(b, 0)])).unwrap();
    let centre = mesh.vertices()[peak][0];
    for (i, x) in mesh.vertices().iter().enumerate() {
        let s = (k * (x[0] - centre)).clamp(-pi, pi);
        let expected = mu / lambda * (1.0 + s.cos());
        assert!(
            (w[(i, 0)] - expected).abs() < 0.03 * 2.0 * mu / lambda,
            "at {}: {} {expected}",
            x[0],
            w[(i, 0)]
        );
    }
}

#[test]
fn what_stores_no_energy_is_kept_and_comes_first() {
    let mesh = row_of(&box_mesh([8, 2, 2], 0.1), 2, 2.0);
    let material = material(&mesh);
    let find = |count| {
        localised_modes(&mesh, &material, count, 10.0, &Restraint::default(), &Progress::default()).unwrap()
    };
    let found = find(5);
    let values = &found.modes.eigenvalues;
    assert!(values[1] < 1e-9 * values[2], "{values:?}");
    assert!((find(2).span - 1.0).abs() < 1e-9);
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| local(4, 10.0).modes.rows())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn refusals() {
    let (mesh, material, ..) = body();
    let find = |count, locality, progress: &Progress| {
        localised_modes(&mesh, &material, count, locality, &Restraint::default(), progress).map(|_| ())
    };
    for locality in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = find(4, locality, &Progress::default());
        assert!(matches!(refused, Err(Error::Range { what: "locality", .. })), "{refused:?}");
    }
    assert!(matches!(find(0, 1.0, &Progress::default()), Err(Error::Range { what: "count", .. })));
    let many = mesh.vertices().len() + 1;
    assert!(matches!(find(many, 1.0, &Progress::default()), Err(Error::TooManyModes { .. })));
    let cancelled = Progress::default();
    cancelled.cancel();
    assert!(matches!(find(4, 1.0, &cancelled), Err(Error::Cancelled)));
}

/// With modes supported on hardly more than one vertex, points between vertices must not move further than
/// the vertices.
#[test]
fn points_of_the_surface_move_no_further_than_the_lattice_around_them() {
    let surface = sphere(4).placed([1.0, 0.8, 0.6], [0.0; 3]).surface();
    let weights: Vec<f64> =
        surface.points().iter().flat_map(|p| [0.5 - 0.5 * p[0], 0.5 + 0.5 * p[0]]).collect();
    for (resolution, locality) in [(9, 200.0), (12, 300.0), (16, 100.0), (16, 1000.0)] {
        let params = BodyParams { resolution, locality, clusters: 60, cubature: 0, ..BodyParams::default() };
        let body = Body::new(&surface, &weights, 2, &params, &Progress::default()).unwrap();
        let mut simulation = Simulation::new(body.model.clone(), SimulationParams::default()).unwrap();
        simulation.reset(Some(&[REST; 2])).unwrap();
        let projectors =
            [None, Some(body.embedding.as_ref())].map(|hung| body.model.projector(hung).unwrap());
        let mut farthest = [0.0_f32; 2];
        for frame in 0..12 {
            let shift = [0.0, 0.2 * (0.7 * f64::from(frame)).sin(), 0.0];
            simulation.step(Some(&[REST, turn([0.0, 0.0, 1.0], 0.0, [0.0; 3], shift)])).unwrap();
            for (projector, farthest) in projectors.iter().zip(&mut farthest) {
                let mut moved = vec![0.0; 3 * projector.point_count()];
                projector.displacement(simulation.coefficients(), &mut moved).unwrap();
                *farthest = moved.iter().fold(*farthest, |most, u| most.max(u.abs()));
            }
        }
        let [lattice, points] = farthest;
        assert!(lattice > 1e-3 && points < 2.0 * lattice, "{resolution}, {locality}: {points} of {lattice}");
    }
}
