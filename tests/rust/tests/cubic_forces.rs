//! St. Venant-Kirchhoff flesh: forces as cubic polynomials against the sum over elements `[MOR sec. 3.1]`.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::{Field, Law, Material};
use jounce::mesh::{TetMesh, solid_lattice};
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel};
use jounce::operators::{Stitches, gradients, lumped_mass};
use jounce::rig::Rig;
use jounce::sampling::Cubature;
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, LinearProblem, Restraint};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::{bar, some_coefficients, waves};
use jounce_tests::surfaces::sphere;
use nalgebra::{Matrix3, Vector3};

const YOUNG: f64 = 2e4;

fn stuff(law: Law, poisson: f64) -> Material {
    let number = Field::Uniform;
    Material::new(law, number(YOUNG), number(poisson), number(1000.0)).unwrap()
}

fn made(mesh: &TetMesh, poisson: f64, basis: &Basis, cubic: bool) -> ReducedModel {
    let extras = ReducedExtras { cubic, ..ReducedExtras::default() };
    let material = stuff(Law::StVenantKirchhoff, poisson);
    ReducedModel::new(mesh, &material, basis, &extras, &Progress::default()).unwrap()
}

/// Energy, J, and its gradient with respect to the coefficients, tet by tet.
fn of_elements(mesh: &TetMesh, poisson: f64, basis: &Basis, q: &[f64]) -> (f64, Vec<f64>) {
    let (mu, lambda) =
        (YOUNG / 2.0 / (1.0 + poisson), YOUNG * poisson / (1.0 + poisson) / (1.0 - 2.0 * poisson));
    let (mut energy, mut slope) = (0.0, vec![0.0; q.len()]);
    for ((tet, hats), volume) in mesh.tets().iter().zip(gradients(mesh)).zip(mesh.volumes()) {
        let field = |k: usize| -> Matrix3<f64> {
            let corner = |(&v, hat): (&u32, &[f64; 3])| {
                Vector3::from_fn(|c, _| basis.columns[(3 * v as usize + c, k)])
                    * Vector3::from(*hat).transpose()
            };
            tet.iter().zip(&hats).map(corner).sum()
        };
        let fields: Vec<Matrix3<f64>> = (0..q.len()).map(field).collect();
        let f = fields.iter().zip(q).fold(Matrix3::identity(), |f, (field, q)| f + *q * field);
        let strain = 0.5 * (f.transpose() * f - Matrix3::identity());
        energy += volume * (mu * strain.norm_squared() + 0.5 * lambda * strain.trace().powi(2));
        let stress = f * (2.0 * mu * strain + lambda * strain.trace() * Matrix3::identity());
        slope.iter_mut().zip(&fields).for_each(|(slope, field)| *slope += volume * stress.dot(field));
    }
    (energy, slope)
}

#[test]
fn energies_and_forces_are_those_of_all_elements() {
    let mesh = bar([6, 2, 2], 0.1);
    for (count, poisson) in [(2, 0.0), (5, 0.3), (14, 0.45)] {
        let basis = waves(&mesh, count);
        let model = made(&mesh, poisson, &basis, true);
        for size in [1e-3, 0.03, 1.0] {
            let q = some_coefficients(count, size);
            let (energy, slope) = of_elements(&mesh, poisson, &basis, &q);
            let (found, gradient) = model.elastic_energy(&q, None, 1.0).unwrap();
            assert!((found - energy).abs() <= 1e-12 * energy, "{count} {size}: {found} {energy}");
            let largest = slope.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (found, right) in gradient.iter().zip(&slope) {
                assert!((found - right).abs() < 1e-12 * largest, "{count} {size}: {found} {right}");
            }
        }
    }
}

/// A displacement that doubles lengths, and the displacements of another basis.
fn growth(mesh: &TetMesh, more: &Basis) -> Basis {
    let mut shapes: Vec<f64> = mesh.vertices().iter().flatten().copied().collect();
    shapes.extend(more.shapes());
    Basis::from_shapes(&shapes, 1 + more.count()).unwrap()
}

#[test]
fn in_cells_that_flesh_fills_in_part_they_are_those_of_all_samples() {
    let ball = sphere(2).placed([0.45, 0.2, 0.2], [0.0; 3]).surface();
    let mesh = solid_lattice(&ball, 6, &Progress::default()).unwrap();
    assert!(!mesh.cells().is_empty());
    let basis = growth(&mesh, &waves(&mesh, 6));
    let [cubic, sampled] = [true, false].map(|cubic| made(&mesh, 0.3, &basis, cubic));
    // Stretched flesh is outside the barrier, which is no polynomial.
    let mut q = some_coefficients(7, 0.01);
    q[0] = 0.4;
    let [(found, gradient), (energy, slope)] =
        [cubic, sampled].map(|model| model.elastic_energy(&q, None, 1.0).unwrap());
    assert!((found - energy).abs() < 1e-12 * energy, "{found} {energy}");
    let largest = slope.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(gradient.iter().zip(&slope).all(|(a, b)| (a - b).abs() < 1e-12 * largest));
}

/// `P = E/2 l (l^2 - 1)` with free sides: the stress softens below `l = 1 / sqrt 3`.
#[test]
fn a_pressed_bar_gives_way_as_the_law_says() {
    let mesh = bar([5, 2, 2], 0.1);
    let along: Vec<f64> = mesh.vertices().iter().flat_map(|x| [x[0], 0.0, 0.0]).collect();
    let model = made(&mesh, 0.0, &Basis::from_shapes(&along, 1).unwrap(), true);
    let volume: f64 = mesh.volumes().iter().sum();
    let force = |stretch: f64| model.elastic_energy(&[stretch - 1.0], None, 1.0).unwrap().1[0];
    for stretch in [0.1, 0.3, 0.577, 0.8, 1.0, 1.5, 3.0] {
        let stress = 0.5 * YOUNG * stretch * (stretch * stretch - 1.0);
        assert!((force(stretch) - volume * stress).abs() < 1e-12 * volume * YOUNG, "{stretch}");
    }
    let softest = (1..100).map(|i| 0.01 * f64::from(i)).min_by(|a, b| force(*a).total_cmp(&force(*b)));
    assert!((softest.unwrap() - 3.0_f64.powf(-0.5)).abs() < 0.01);
}

/// Modal derivatives agree with the cubic forces, `l_k psi_k'M Phi^ii = -K3_kii`: both exclude the barrier.
#[test]
fn modal_derivatives_are_of_the_same_law() {
    let mesh = bar([6, 2, 2], 0.1);
    for poisson in [0.0, 0.3, 0.45] {
        let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 0.05).collect();
        let restraint = Restraint { pinned: Some(&pinned), ..Restraint::default() };
        let (material, stitches) = (stuff(Law::StVenantKirchhoff, poisson), Stitches::none(&mesh));
        let progress = Progress::default();
        let problem = LinearProblem::new(&mesh, &material, &restraint, &stitches, &progress).unwrap();
        let modes = problem.lowest(5, &progress).unwrap();
        let derivatives = problem.derivatives(&modes, &Progress::default()).unwrap();
        let (mass, model) = (lumped_mass(&mesh, &material), made(&mesh, poisson, &modes.basis(), true));
        let (mut most, mut apart) = (0.0_f64, 0.0_f64);
        for (i, column) in [(0, 0), (1, 5), (2, 9)] {
            let p = 1e-3;
            let force = |p: f64| {
                let q: Vec<f64> = (0..5).map(|k| if k == i { p } else { 0.0 }).collect();
                model.elastic_energy(&q, None, 1.0).unwrap().1
            };
            let (there, back) = (force(p), force(-p));
            for k in 0..5 {
                let (mode, bent) = (modes.shapes.col(k), derivatives.col(column));
                let along: f64 = (0..mode.nrows()).map(|row| mass[row / 3] * mode[row] * bent[row]).sum();
                let (found, right) = (-modes.eigenvalues[k] * along, (there[k] + back[k]) / (p * p));
                (most, apart) = (most.max(right.abs()), apart.max((found - right).abs()));
            }
        }
        assert!(apart < 1e-6 * most, "{poisson}: {apart:e} of {most:e}");
    }
}

/// A bar fixed at its left end, with the kinetic and elastic energy of its simulation.
struct Held {
    mesh: TetMesh,
    basis: Basis,
    mass: Vec<f64>,
}

impl Held {
    fn new(count: usize) -> Self {
        let mesh = bar([6, 2, 2], 0.1);
        let mass = lumped_mass(&mesh, &stuff(Law::StVenantKirchhoff, 0.3));
        Self { basis: waves(&mesh, count), mass, mesh }
    }

    fn model(&self, cubic: bool) -> Model {
        Model::Reduced(made(&self.mesh, 0.3, &self.basis, cubic).into())
    }

    /// `1/2 |U dq / h|^2` in the mass norm.
    fn kinetic(&self, before: &[f64], after: &[f64], h: f64) -> f64 {
        let speed = |i: usize| -> f64 {
            (0..after.len()).map(|k| self.basis.columns[(i, k)] * (after[k] - before[k]) / h).sum()
        };
        (0..3 * self.mass.len()).map(|i| 0.5 * self.mass[i / 3] * speed(i).powi(2)).sum()
    }
}

/// Flesh is pushed until parts of it invert, then released. Without damping a step may add energy by
/// negative curvature, because the energy is not convex.
#[test]
fn energy_never_rises_once_nothing_drives() {
    let held = Held::new(14);
    for damping in [0.0, 0.05, 0.2] {
        for seed in 0..4 {
            let h = 1.0 / 48.0;
            let params =
                SimulationParams { dt: h, damping, max_iterations: 100, tolerance: 1e-10, ..<_>::default() };
            let mut simulation = Simulation::new(held.model(true), params).unwrap();
            let push: Vec<f64> = some_coefficients(14, 800.0)
                .iter()
                .enumerate()
                .map(|(k, x)| x * f64::from(seed + k as u32).cos())
                .collect();
            for _ in 0..8 {
                simulation
                    .step_with(
                        &StepInput { force: Some(&push), ..StepInput::default() },
                        &Progress::default(),
                    )
                    .unwrap();
            }
            let (mut q, mut last) = (simulation.coefficients().to_vec(), f64::INFINITY);
            assert!(q.iter().any(|q| q.abs() > 0.2), "{q:?}");
            for step in 0..60 {
                let report = simulation.step(None).unwrap();
                let after = simulation.coefficients().to_vec();
                let energy = report.energy + held.kinetic(&q, &after, h);
                let rises = damping > 0.0 && energy > last * (1.0 + 1e-9);
                assert!(!rises && energy.is_finite(), "{damping} {seed} {step}: {energy} after {last}");
                (q, last) = (after, energy);
            }
        }
    }
}

#[test]
fn small_swings_are_those_of_samples_at_all_tets() {
    let held = Held::new(14);
    for integrator in [Integrator::BackwardEuler, Integrator::Bdf2] {
        let params = SimulationParams {
            gravity: [0.0, 0.0, -0.002],
            damping: 0.05,
            max_iterations: 200,
            tolerance: 1e-11,
            integrator,
            ..SimulationParams::default()
        };
        let play = |cubic: bool| -> Vec<f64> {
            let mut simulation = Simulation::new(held.model(cubic), params).unwrap();
            (0..24)
                .flat_map(|_| {
                    simulation.step(None).unwrap();
                    simulation.coefficients().to_vec()
                })
                .collect()
        };
        let [found, right] = [true, false].map(play);
        let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
        let error =
            norm(&mut found.iter().zip(&right).map(|(a, b)| a - b)) / norm(&mut right.iter().copied());
        assert!(error < 1e-5, "{integrator:?}: {error:e}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let held = Held::new(30);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let Model::Reduced(model) = pool.install(|| held.model(true)) else { unreachable!() };
        model.elastic_energy(&some_coefficients(30, 0.1), None, 1.0).unwrap()
    };
    assert!(on(1) == on(2));
}

#[test]
fn what_is_no_polynomial_is_refused() {
    let mesh = bar([3, 1, 1], 0.1);
    let basis = waves(&mesh, 4);
    let model = |law: Law, basis: &Basis, more: ReducedExtras<'_>| -> Result<ReducedModel> {
        let extras = ReducedExtras { cubic: true, ..more };
        ReducedModel::new(&mesh, &stuff(law, 0.3), basis, &extras, &Progress::default())
    };
    let n = mesh.vertices().len();
    let rig = Rig::new(n, 1, &vec![1.0; n]).unwrap();
    let all = Cubature { tets: vec![0, 1], weights: vec![1.0, 2.0] };
    let stvk = Law::StVenantKirchhoff;
    assert!(model(stvk, &basis, ReducedExtras::default()).is_ok());
    let refused = |result: Result<ReducedModel>, word: &str| match result.err().unwrap() {
        Error::Unsupported { what: "cubic", why } => assert!(why.contains(word), "{why}"),
        other => panic!("{other}"),
    };
    refused(model(Law::Corotated, &basis, ReducedExtras::default()), "law");
    refused(model(stvk, &basis, ReducedExtras { rig: Some(&rig), ..<_>::default() }), "rig");
    refused(model(stvk, &basis, ReducedExtras { cubature: Some(&all), ..<_>::default() }), "cubature");
    refused(model(stvk, &waves(&mesh, 81), ReducedExtras::default()), "80");
}
