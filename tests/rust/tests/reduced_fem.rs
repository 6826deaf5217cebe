//! Flesh in a reduced basis against the full space, differences, and the content of a shot.

use jounce::inputs::{Integrator, SimulationParams, StepInput};
use jounce::material::Law;
use jounce::mesh::{Embedding, TetMesh, solid_lattice};
use jounce::model::Model;
use jounce::model::reduced::{ReducedExtras, ReducedModel, Shot};
use jounce::sampling::Cubature;
use jounce::simulation::Simulation;
use jounce::subspace::{Basis, Share, mass_pca};
use jounce::{Error, Progress, Result};
use jounce_tests::bodies::{Transform, bar, compose, some_coefficients, swing, turn, waves};
use jounce_tests::limb::{Limb, displacement, played};
use jounce_tests::surfaces::sphere;

const LAWS: [Law; 6] =
    [Law::Arap, Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff, Law::MooneyRivlin, Law::Polynomial];

fn at_most(count: usize) -> Share {
    Share { count, ..Share::default() }
}

fn silent() -> Progress {
    Progress::default()
}

fn flesh(law: Law) -> Limb {
    Limb::new(bar([6, 2, 2], 0.1), law, 2e4)
}

fn frames(count: u32) -> Vec<[Transform; 2]> {
    (0..count).map(|frame| swing(f64::from(frame) / 24.0)).collect()
}

fn apart(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn exact() -> SimulationParams {
    SimulationParams { max_iterations: 500, tolerance: 1e-9, ..SimulationParams::default() }
}

fn settings() -> [SimulationParams; 3] {
    let gravity = [0.3, 0.0, -3.0];
    [
        SimulationParams { damping: 0.2, ..exact() },
        SimulationParams { pose_rest: 0.4, substeps: 2, strength: 1.5, stiffness: 0.7, ..exact() },
        SimulationParams { integrator: Integrator::Bdf2, pose_rest: 0.0, gravity, ..exact() },
    ]
}

/// A ball of cells.
fn lattice() -> TetMesh {
    let ball = sphere(2).placed([0.45, 0.2, 0.2], [0.0; 3]).surface();
    let mesh = solid_lattice(&ball, 6, &silent()).unwrap();
    assert!(!mesh.cells().is_empty());
    mesh
}

#[test]
fn all_displacements_are_the_full_space() {
    let mut fleshes: Vec<Limb> = LAWS.map(|law| Limb::new(bar([3, 2, 1], 0.1), law, 2e4)).into();
    for (law, poisson) in [(Law::NeoHookean, 0.3), (Law::NeoHookean, 0.45), (Law::Corotated, 0.49)] {
        fleshes.push(Limb::bulging(lattice(), law, 2e4, poisson));
    }
    for flesh in fleshes {
        let full = flesh.full();
        let reduced = Model::Reduced(flesh.reduced(&flesh.everything(), Some(full.frequency())).into());
        let full = Model::FullSpace(full.into());
        for params in settings() {
            let [right, _] = played(full.clone(), params, &frames(8));
            let [found, _] = played(reduced.clone(), params, &frames(8));
            let error = flesh.error(&found, &right);
            assert!(error < 1e-4, "{:?} {params:?}: {error:e}", flesh.material.law());
            let energy = |model: &Model| {
                let mut sim = Simulation::new(model.clone(), params).unwrap();
                frames(4).iter().map(|pose| sim.step(Some(pose)).unwrap().energy).last().unwrap()
            };
            let (energy, right) = (energy(&reduced), energy(&full));
            assert!((energy - right).abs() < 1e-4 * right.abs(), "{energy} {right}");
        }
    }
}

/// Some tets with arbitrary cubature weights.
fn arbitrary(mesh: &TetMesh, count: usize) -> Cubature {
    let step = mesh.tets().len() / count;
    let weight = |i: usize| step as f64 * (1.0 + 0.8 * (i as f64 * 1.7).sin());
    Cubature {
        tets: (0..count).map(|i| (i * step) as u32).collect(),
        weights: (0..count).map(weight).collect(),
    }
}

#[test]
fn gradients_are_those_of_differences() {
    let of_cells = |(law, poisson)| Limb::bulging(lattice(), law, 2e4, poisson);
    let cells = [(Law::Corotated, 0.45), (Law::NeoHookean, 0.49)].map(of_cells);
    for flesh in LAWS.into_iter().map(flesh).chain(cells) {
        let law = flesh.material.law();
        let all = flesh.reduced(&waves(&flesh.mesh, 14), None);
        let few = all.sampled(&arbitrary(&flesh.mesh, 20)).unwrap();
        for model in [all, few] {
            for (pose, pose_rest) in
                [(swing(0.3), 0.0), (swing(0.3), 0.4), (swing(0.3), 1.0), (crushed(), 0.4), (crushed(), 1.0)]
            {
                for size in [1e-3, 0.05] {
                    let q = some_coefficients(14, size);
                    let energy = |q: &[f64]| model.elastic_energy(q, Some(&pose), pose_rest).unwrap();
                    let (_, gradient) = energy(&q);
                    let scale = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
                    for (j, slope) in gradient.iter().enumerate() {
                        let moved = |by: f64| {
                            let mut moved = q.clone();
                            moved[j] += by;
                            energy(&moved).0
                        };
                        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                        let error = (difference - slope).abs();
                        assert!(error < 1e-6 * scale + 1e-7, "{law:?} {pose_rest} {j}: {difference} {slope}");
                    }
                }
            }
        }
    }
}

/// A pose that flattens flesh on one bone, and turns it inside out on the other.
fn crushed() -> [Transform; 2] {
    let flat = [[0.8, 0.0, 0.0, 0.0], [0.0, 0.02, 0.0, 0.0], [0.0, 0.3, 1.1, 0.0]];
    let mirrored = [[1.0, 0.0, 0.0, 0.1], [0.0, 0.0, 0.9, 0.0], [0.0, 0.4, 0.0, 0.0]];
    [flat, mirrored]
}

#[test]
fn a_held_pose_is_exact_whatever_the_weights() {
    let squash = [[0.8, 0.0, 0.0, 0.0], [0.0, 0.9, 0.2, 0.0], [0.0, 0.0, 1.8, 0.0]];
    let squashed = [turn([0.0, 1.0, 0.0], 0.4, [0.0; 3], [0.1, 0.0, 0.0]), squash];
    let laws = [Law::Corotated, Law::NeoHookean, Law::StVenantKirchhoff];
    for (law, pose) in laws.into_iter().flat_map(|law| [(law, squashed), (law, crushed())]) {
        let flesh = flesh(law);
        let model =
            flesh.reduced(&waves(&flesh.mesh, 14), None).sampled(&arbitrary(&flesh.mesh, 20)).unwrap();
        let mut sim = Simulation::new(Model::Reduced(model.into()), exact()).unwrap();
        for _ in 0..10 {
            sim.step(Some(&pose)).unwrap();
            let most = displacement(&sim).iter().fold(0.0, |most: f64, u| most.max(u.abs()));
            assert!(most < 1e-12, "{law:?}: {most:e}");
        }
    }
}

#[test]
fn a_shot_is_played_the_better_the_more_of_it_has_been_learnt() {
    let flesh = flesh(Law::NeoHookean);
    let mut last = f64::INFINITY;
    for (count, most) in [(6, 0.03), (16, 1e-4)] {
        let (snapshots, model, _) = flesh.learnt(count, exact(), &frames(24));
        let [found, _] = played(Model::Reduced(model.into()), exact(), &frames(24));
        let error = flesh.error(&found, &snapshots);
        assert!(error < most && error < 0.1 * last, "{count}: {error}");
        last = error;
    }
}

#[test]
fn few_tets_stand_for_all() {
    let flesh = flesh(Law::NeoHookean);
    let (_, model, coefficients) = flesh.learnt(10, exact(), &frames(24));
    let poses = frames(24);
    let shot = Shot { poses: poses.as_flattened(), coefficients: &coefficients };
    let cubature = model.train(&shot, (30, 0), &silent()).unwrap();
    assert!(cubature.tets.len() <= 30 && cubature.weights.iter().all(|&weight| weight > 0.0));
    assert_eq!(model.train(&shot, (30, 0), &silent()).unwrap(), cubature);
    let few = model.sampled(&cubature).unwrap();
    // Forces of states outside the shot.
    let (mut missed, mut whole) = (0.0, 0.0);
    for frame in 0..24 {
        let other = &coefficients[(frame * 7 + 3) % 24 * 10..][..10];
        let q: Vec<f64> =
            coefficients[frame * 10..][..10].iter().zip(other).map(|(a, b)| 0.7 * a + 0.4 * b).collect();
        let force = |model: &ReducedModel| model.elastic_energy(&q, Some(&poses[frame]), 1.0).unwrap().1;
        let (found, right) = (force(&few), force(&model));
        missed += apart(&found, &right).iter().map(|x| x * x).sum::<f64>();
        whole += right.iter().map(|x| x * x).sum::<f64>();
    }
    assert!(missed.sqrt() < 0.1 * whole.sqrt(), "{}", (missed / whole).sqrt());
    let [right, _] = played(Model::Reduced(model.into()), exact(), &poses);
    let [found, _] = played(Model::Reduced(few.into()), exact(), &poses);
    let error = flesh.error(&found, &right);
    assert!(error < 0.05, "{error}");
}

#[test]
fn signs_of_displacements_choose_no_tets() {
    let flesh = flesh(Law::NeoHookean);
    let (snapshots, model, coefficients) = flesh.learnt(10, exact(), &frames(24));
    let poses = frames(24);
    let train = |model: &ReducedModel, coefficients: &[f64]| {
        let shot = Shot { poses: poses.as_flattened(), coefficients };
        model.train(&shot, (30, 0), &silent()).unwrap().tets
    };
    let basis = mass_pca(&flesh.mesh, &flesh.material, &snapshots, at_most(10), &silent()).unwrap();
    let sign = |j: usize| if j % 3 == 1 { -1.0 } else { 1.0 };
    let size = 3 * flesh.mesh.vertices().len();
    let shapes: Vec<f64> = basis.shapes().iter().enumerate().map(|(i, x)| sign(i / size) * x).collect();
    let turned = flesh.reduced(&Basis::from_shapes(&shapes, 10).unwrap(), None);
    let turned_coefficients: Vec<f64> =
        coefficients.iter().enumerate().map(|(i, q)| sign(i % 10) * q).collect();
    assert_eq!(train(&turned, &turned_coefficients), train(&model, &coefficients));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let flesh = flesh(Law::Corotated);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (_, model, coefficients) = flesh.learnt(8, exact(), &frames(12));
            let poses = frames(12);
            let shot = Shot { poses: poses.as_flattened(), coefficients: &coefficients };
            let cubature = model.train(&shot, (20, 3), &silent()).unwrap();
            let model = Model::Reduced(model.sampled(&cubature).unwrap().into());
            (cubature, played(model, SimulationParams::default(), &poses))
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn displacements_that_depend_on_each_other_change_nothing() {
    let flesh = flesh(Law::Corotated);
    let basis = waves(&flesh.mesh, 8);
    let mut shapes = basis.shapes();
    let twice: Vec<f64> = shapes[..shapes.len() / 8].iter().map(|x| -2.0 * x).collect();
    shapes.extend(twice);
    let again = Basis::from_shapes(&shapes, 9).unwrap();
    let play = |basis: &Basis| played(Model::Reduced(flesh.reduced(basis, None).into()), exact(), &frames(8));
    let [right, _] = play(&basis);
    let [found, coefficients] = play(&again);
    assert_eq!(coefficients.len(), 8 * 9);
    assert!(flesh.error(&found, &right) < 1e-6);
}

#[test]
fn projectors_are_products_with_the_basis_and_their_transposes() {
    let flesh = flesh(Law::Corotated);
    let basis = waves(&flesh.mesh, 11);
    let model = Model::Reduced(flesh.reduced(&basis, None).into());
    assert_eq!((model.coefficient_shape(), model.mode_count()), (vec![11], 0));
    let inside = flesh.mesh.vertices().iter().map(|x| x.map(|x| 0.9 * x + 0.01)).collect();
    let embedding = Embedding::new(&flesh.mesh, inside).unwrap();
    let q = some_coefficients(11, 1.0);
    let size = 3 * flesh.mesh.vertices().len();
    let u: Vec<f64> = (0..size).map(|i| (0..11).map(|j| basis.columns[(i, j)] * q[j]).sum()).collect();
    let hung = embedding.interpolate(&flesh.mesh, &u, 3).unwrap();
    for (embedding, right) in [(None, &u), (Some(&embedding), &hung)] {
        let projector = model.projector(embedding).unwrap();
        let mut out = vec![0.0; right.len()];
        projector.displacement(&q, &mut out).unwrap();
        assert!(out.iter().zip(right).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
        let forces = some_coefficients(right.len(), 1.0);
        let reduced = projector.reduce_forces(&forces).unwrap();
        let works = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((works(&reduced, &q) - works(&forces, right)).abs() < 1e-9);
        assert!(matches!(projector.displacement(&q[1..], &mut out), Err(Error::Shape { .. })));
    }
}

#[test]
fn forces_and_gravity_settle_where_they_do_in_the_full_space() {
    let flesh = Limb::new(bar([3, 2, 1], 0.1), Law::NeoHookean, 2e4);
    let full = Model::FullSpace(flesh.full().into());
    let reduced = Model::Reduced(flesh.reduced(&flesh.everything(), None).into());
    let params = SimulationParams { gravity: [0.0, 1.0, -4.0], ..exact() };
    let pulled = some_coefficients(3 * flesh.mesh.vertices().len(), 0.2);
    let settled = |model: &Model| {
        let mut sim = Simulation::new(model.clone(), params).unwrap();
        let force = model.projector(None).unwrap().reduce_forces(&pulled).unwrap();
        let pose = swing(0.2);
        let input = StepInput { pose: Some(&pose), force: Some(&force), ..StepInput::default() };
        let settled = sim.settle(&input, 1000, &silent()).unwrap();
        assert!(settled.residual <= 1e-9);
        let before = displacement(&sim);
        sim.step_with(&input, &silent()).unwrap();
        assert!(flesh.error(&displacement(&sim), &before) < 1e-5);
        before
    };
    let (found, right) = (settled(&reduced), settled(&full));
    assert!(right.iter().any(|u| u.abs() > 1e-2));
    assert!(flesh.error(&found, &right) < 1e-5);
}

#[test]
fn a_cut_turns_the_displacement_with_the_rig() {
    let flesh = Limb::new(bar([3, 2, 1], 0.1), Law::Corotated, 2e4);
    let mut sim =
        Simulation::new(Model::Reduced(flesh.reduced(&flesh.everything(), None).into()), exact()).unwrap();
    frames(6).iter().for_each(|pose| assert!(sim.step(Some(pose)).is_ok()));
    let before = displacement(&sim);
    let by = turn([1.0, 0.5, -2.0], 1.9, [0.0; 3], [4.0, -1.0, 0.0]);
    let pose = frames(6)[5].map(|bone| compose(&by, &bone));
    sim.cut(&StepInput { pose: Some(&pose), ..StepInput::default() }).unwrap();
    for (after, before) in displacement(&sim).as_chunks::<3>().0.iter().zip(before.as_chunks::<3>().0) {
        for c in 0..3 {
            let turned: f64 = (0..3).map(|d| by[c][d] * before[d]).sum();
            assert!((after[c] - turned).abs() < 1e-6);
        }
    }
}

#[test]
fn cycles_close() {
    let flesh = flesh(Law::Corotated);
    let model = Model::Reduced(flesh.reduced(&waves(&flesh.mesh, 12), None).into());
    let mut sim = Simulation::new(model, SimulationParams { damping: 0.3, ..exact() }).unwrap();
    let poses: Vec<[Transform; 2]> = (0..=12)
        .map(|frame| swing(0.1 * (std::f64::consts::TAU * f64::from(frame % 12) / 12.0).sin()))
        .collect();
    let inputs: Vec<StepInput<'_>> =
        poses.iter().map(|pose| StepInput { pose: Some(pose), ..StepInput::default() }).collect();
    let report = sim.settle_cycle(&inputs, &[], 20, 1e-5, &silent()).unwrap();
    assert!(report.seam() <= 1e-5, "{report:?}");
}

#[test]
fn what_a_reduced_model_cannot_do_is_refused() {
    let flesh = flesh(Law::Corotated);
    let basis = waves(&flesh.mesh, 6);
    let body = flesh.reduced(&basis, None);
    let few = body.sampled(&arbitrary(&flesh.mesh, 10)).unwrap();
    let twice = "cubature: its forces are found at some tets already; take the body with all of them";
    let said = |error: Result<()>| error.unwrap_err().to_string();
    assert_eq!(said(few.sampled(&arbitrary(&flesh.mesh, 5)).map(drop)), twice);
    let shot = Shot { poses: &swing(0.1), coefficients: &some_coefficients(6, 0.1) };
    assert_eq!(said(few.train(&shot, (5, 0), &silent()).map(drop)), twice);
    assert!(matches!(body.train(&shot, (0, 0), &silent()), Err(Error::Range { .. })));
    let short = Shot { coefficients: &shot.coefficients[..5], ..shot };
    assert!(matches!(body.train(&short, (5, 0), &silent()), Err(Error::Shape { what: "coefficients", .. })));
    let unposed = Shot { poses: &[], ..shot };
    assert!(matches!(body.train(&unposed, (5, 0), &silent()), Err(Error::Shape { what: "poses", .. })));
    let still = Shot { coefficients: &[0.0; 6], ..shot };
    assert!(matches!(
        body.train(&still, (5, 0), &silent()),
        Err(Error::Unsupported { what: "cubature", .. })
    ));
    let model = Model::Reduced(body.into());
    let pose = swing(0.1);
    let mut sim = Simulation::new(model.clone(), exact()).unwrap();
    let offsets = vec![0.0; 3 * flesh.mesh.vertices().len()];
    let input = StepInput { pose: Some(&pose), offsets: Some(&offsets), ..StepInput::default() };
    assert!(matches!(sim.step_with(&input, &silent()), Err(Error::Unsupported { what: "offsets", .. })));
    let input = StepInput { pose: Some(&pose), force: Some(&[f64::NAN; 6]), ..StepInput::default() };
    assert!(matches!(sim.step_with(&input, &silent()), Err(Error::NotFinite { what: "force", .. })));
    for params in
        [SimulationParams { limit: Some(0.1), ..exact() }, SimulationParams { stretch: Some(0.1), ..exact() }]
    {
        assert!(matches!(sim.set_params(params), Err(Error::Unsupported { .. })));
    }
    assert!(matches!(model.force_samples(3), Err(Error::Unsupported { .. })));
    assert!(matches!(jounce::file::encode(&model), Err(Error::Unsupported { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    let flesh = flesh(Law::Corotated);
    let other = waves(&bar([3, 2, 1], 0.1), 4);
    let make = |basis: &Basis, extras: &ReducedExtras<'_>| {
        ReducedModel::new(&flesh.mesh, &flesh.material, basis, extras, &silent()).map(drop).unwrap_err()
    };
    let none = ReducedExtras::default();
    assert!(matches!(make(&other, &none), Error::Shape { what: "basis", .. }));
    let n = flesh.mesh.vertices().len();
    let still = Basis::from_shapes(&vec![0.0; 6 * n], 2).unwrap();
    assert!(matches!(make(&still, &none), Error::Numerical { .. }));
    let basis = waves(&flesh.mesh, 4);
    let strange = vec![-1.0; n];
    let bad =
        [ReducedExtras { strength: Some(&strange), ..none }, ReducedExtras { frequency: Some(0.0), ..none }];
    for extras in bad {
        assert!(matches!(make(&basis, &extras), Error::Range { .. }));
    }
    let outside = Cubature { tets: vec![1_000_000], weights: vec![1.0] };
    let extras = ReducedExtras { cubature: Some(&outside), ..none };
    assert!(matches!(make(&basis, &extras), Error::Index { what: "cubature", .. }));
    let model = flesh.reduced(&basis, None);
    assert!(matches!(model.nearest(&[1.0; 5]), Err(Error::Shape { what: "displacements", .. })));
    assert!(matches!(model.nearest(&vec![f64::NAN; 3 * n]), Err(Error::NotFinite { .. })));
}
