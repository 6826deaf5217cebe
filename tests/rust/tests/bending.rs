//! Bars of cells bend like beams for any Poisson's ratio: coarse cells do not lock.

use std::sync::Arc;

use jounce::Progress;
use jounce::inputs::{Minimiser, SimulationParams};
use jounce::material::{Field, Law, Material, PrincipalStretch};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel, FullSpaceStepper};
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::Stitches;
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, LinearProblem, Restraint};
use jounce_tests::laws::laws;
use jounce_tests::limb::displacement;
use jounce_tests::surfaces::cube;

const YOUNG: f64 = 1e5;
const DENSITY: f64 = 1000.0;
/// Length of the bars, whose sides are 1.
const LENGTH: f64 = 8.0;
/// Gravity, small enough that the tip sinks by a few thousandths of the length.
const GRAVITY: f64 = 1e-3;
const LAWS: [Law; 4] = [Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff, Law::MooneyRivlin];

fn material(law: Law, poisson: f64) -> Material {
    let number = Field::Uniform;
    Material::new(law, number(YOUNG), number(poisson), number(DENSITY)).unwrap()
}

/// A bar with the given number of cells across.
fn bar(across: usize) -> TetMesh {
    let surface = cube(1).placed([LENGTH / 2.0, 0.5, 0.5], [LENGTH / 2.0, 0.0, 0.0]).surface();
    let mesh = solid_lattice(&surface, LENGTH as usize * across, &Progress::default()).unwrap();
    assert_eq!(mesh.cells().len(), LENGTH as usize * across.pow(3));
    mesh
}

fn held(mesh: &TetMesh) -> Vec<bool> {
    mesh.vertices().iter().map(|x| x[0] < 1e-9).collect()
}

/// A quasi-static step under gravity: inertia is negligible over its duration.
fn statics() -> SimulationParams {
    let gravity = [0.0, 0.0, -GRAVITY];
    SimulationParams {
        dt: 1e4,
        max_iterations: 2000,
        tolerance: 1e-12,
        gravity,
        pose_rest: 0.0,
        ..SimulationParams::default()
    }
}

fn full(mesh: &TetMesh, material: &Material) -> Arc<FullSpaceModel> {
    let pinned = held(mesh);
    let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
    let extras = FullSpaceExtras::default();
    FullSpaceModel::of(mesh, material, &restraint, &extras, &Progress::default()).unwrap().into()
}

/// Displacements under gravity.
fn sunk(mesh: &TetMesh, material: &Material, minimiser: Minimiser) -> Vec<[f64; 3]> {
    let mut stepper = FullSpaceStepper::new(full(mesh, material));
    stepper.reset(mesh.vertices(), &vec![[0.0; 3]; mesh.vertices().len()]).unwrap();
    stepper.step(mesh.vertices(), &SimulationParams { minimiser, ..statics() }, |_, _| Ok(())).unwrap();
    stepper.displacement()
}

/// Mean sag of the free end.
fn tip(mesh: &TetMesh, u: &[[f64; 3]]) -> f64 {
    let at_end = mesh.vertices().iter().zip(u).filter(|(x, _)| x[0] > LENGTH - 1e-9);
    let (sum, count) = at_end.fold((0.0, 0.0), |(sum, count), (_, u)| (sum - u[2], count + 1.0));
    sum / count
}

/// Sag of Timoshenko's beam: `q L^4 / 8 E I + q L^2 / 2 k G A`.
fn timoshenko(poisson: f64) -> f64 {
    let (load, shear) = (DENSITY * GRAVITY, YOUNG / (2.0 * (1.0 + poisson)));
    let section = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    load * LENGTH.powi(4) / (8.0 * YOUNG / 12.0) + load * LENGTH.powi(2) / (2.0 * section * shear)
}

/// Timoshenko's formula lets the held end bulge, which is impossible here: the right sag comes from quadratic
/// elements of another program, extrapolated, as a share of the formula (`tests/golden/cantilever.py`).
fn check_sag(bars: impl Fn([f64; 3]) -> Vec<(usize, Law, f64)>) {
    for (poisson, right, most) in [
        (0.0, 1.0000, [0.003, 0.001, 0.001]),
        (0.3, 0.9893, [0.025, 0.010, 0.004]),
        (0.45, 0.9745, [0.057, 0.021, 0.008]),
        (0.49, 0.9697, [0.070, 0.027, 0.012]),
    ] {
        for (across, law, most) in bars(most) {
            let mesh = bar(across);
            let sag = tip(&mesh, &sunk(&mesh, &material(law, poisson), Minimiser::Newton));
            let share = sag / (right * timoshenko(poisson));
            println!("{across} {law:?} {poisson} {share:.4}, of the formula {:.4}", right * share);
            assert!((share - 1.0).abs() < most, "{across} {law:?} {poisson}: {share}");
        }
    }
}

#[test]
fn held_bars_sink_as_quadratic_elements_of_another_program_do() {
    check_sag(|[two, four, _]| LAWS.iter().flat_map(|&law| [(2, law, two), (4, law, four)]).collect());
}

#[test]
#[ignore = "long: eight cells across"]
fn held_bars_of_fine_cells_sink_as_quadratic_elements_do() {
    check_sag(|[.., eight]| vec![(8, Law::Corotated, eight)]);
}

/// Modes: two of bending along each axis, then torsion, further bending or extension.
#[test]
fn bars_swing_in_linear_modes_as_in_finer_cells() {
    let frequencies = |across: usize, poisson: f64| {
        let mesh = bar(across);
        let pinned = held(&mesh);
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let (stitches, material) = (Stitches::none(&mesh), material(Law::Corotated, poisson));
        let problem = LinearProblem::new(&mesh, &material, &restraint, &stitches, &Progress::default());
        problem.unwrap().lowest(6, &Progress::default()).unwrap().frequencies()
    };
    for poisson in [0.0, 0.3, 0.45, 0.49] {
        let fine = frequencies(8, poisson);
        for (across, bent, any) in [(2, 0.03, 0.08), (4, 0.01, 0.03)] {
            let found = frequencies(across, poisson);
            let shares: Vec<f64> = found.iter().zip(&fine).map(|(found, fine)| found / fine).collect();
            println!("{across} {poisson} {shares:.4?}");
            assert!(shares[..4].iter().all(|share| (share - 1.0).abs() < bent), "{poisson}: {shares:?}");
            assert!(shares.iter().all(|share| (share - 1.0).abs() < any), "{poisson}: {shares:?}");
        }
    }
}

/// The metric includes the bending of cells: quasi-Newton steps end at Newton's solution.
#[test]
fn quasi_newton_steps_sink_as_far_as_newtons() {
    let mesh = bar(2);
    for (law, poisson) in [(Law::Corotated, 0.45), (Law::NeoHookean, 0.45), (Law::Corotated, 0.49)] {
        let material = material(law, poisson);
        let right = tip(&mesh, &sunk(&mesh, &material, Minimiser::Newton));
        let share = tip(&mesh, &sunk(&mesh, &material, Minimiser::default())) / right;
        assert!((share - 1.0).abs() < 1e-3, "{law:?} {poisson}: {share}");
    }
}

/// No line search raises the energy of a released bent bar by more than rounding, and its energy never
/// exceeds that of the first frame.
#[test]
fn energies_of_bars_that_are_let_go_fall() {
    let mesh = bar(2);
    let bent: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| [0.0, 0.0, -0.05 * x[0] * x[0]]).collect();
    for (law, poisson) in LAWS.into_iter().flat_map(|law| [0.45, 0.49].map(|poisson| (law, poisson))) {
        let mut stepper = FullSpaceStepper::new(full(&mesh, &material(law, poisson)));
        stepper.reset(mesh.vertices(), &bent).unwrap();
        let params = SimulationParams { dt: 1.0 / 24.0, max_iterations: 60, pose_rest: 0.0, ..statics() };
        let params = SimulationParams { gravity: [0.0; 3], ..params };
        // Differences below this share of the terms that cancel are rounding, for the line search as well.
        let stiffness = material(law, poisson).energies(1)[0].slope();
        let rounding = 2e-14 * LENGTH * stiffness;
        let mut stored = f64::INFINITY;
        for frame in 0..30 {
            let mut before = f64::INFINITY;
            let on_iteration = |_, energy: f64| {
                assert!(energy <= before + rounding, "{law:?} {poisson}: from {before} to {energy}");
                before = energy;
                Ok(())
            };
            let report = stepper.step(mesh.vertices(), &params, on_iteration).unwrap();
            if frame == 0 {
                stored = report.energy;
            }
            assert!(report.energy <= stored, "{law:?} {poisson} {frame}: {} of {stored}", report.energy);
        }
    }
}

/// A reduced bar whose basis is the full bar's displacement has the same bending stiffness.
#[test]
fn reduced_bars_sink_as_far_as_whole_ones() {
    let mesh = bar(2);
    for law in LAWS {
        for poisson in [0.0, 0.3, 0.45, 0.49] {
            let material = material(law, poisson);
            let whole = sunk(&mesh, &material, Minimiser::Newton);
            let basis = Basis::from_shapes(whole.as_flattened(), 1).unwrap();
            let extras = ReducedExtras::default();
            let model = ReducedModel::new(&mesh, &material, &basis, &extras, &Progress::default()).unwrap();
            let mut sim = Simulation::new(Model::Reduced(model.into()), statics()).unwrap();
            sim.step(None).unwrap();
            let moved = displacement(&sim);
            let share = tip(&mesh, moved.as_chunks::<3>().0) / tip(&mesh, &whole);
            assert!((share - 1.0).abs() < 1e-5, "{law:?} {poisson}: {share}");
        }
    }
}

/// Bending stiffness is Young's modulus; for laws with little resistance to small strains, it is the
/// stiffness in the metric.
#[test]
fn laws_resist_bending_by_youngs_modulus() {
    for law in LAWS {
        for poisson in [0.0, 0.3, 0.45, 0.49, 0.4999] {
            let [energy] = material(law, poisson).energies(1).try_into().unwrap();
            let share = energy.bending() / YOUNG;
            assert!((share - 1.0).abs() < 1e-10, "{law:?} {poisson}: {share}");
        }
    }
    for mu in [0.5, 376.0, 5e3] {
        let rigid = PrincipalStretch::Corotated { mu, lambda: 0.0 };
        assert_eq!(rigid.bending(), 2.0 * mu);
        let polynomial = PrincipalStretch::Polynomial { mu };
        assert_eq!(polynomial.bending(), polynomial.slope());
    }
    for (name, law) in laws() {
        assert!(law.bending() > 0.0 && law.bending() <= 1.001 * law.slope(), "{name}: {}", law.bending());
    }
}
