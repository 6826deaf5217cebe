//! Free bodies in the full space: thrown, damped, inflated and tethered as bodies of handles are.

use std::f64::consts::PI;

use jounce::Error;
use jounce::inputs::{SimulationParams, Start, StepInput};
use jounce::material::Law;
use jounce::mesh::TetMesh;
use jounce::model::Model;
use jounce::model::full_space::{FullSpaceExtras, FullSpaceModel};
use jounce::operators::lumped_mass;
use jounce::simulation::Simulation;
use jounce::subspace::Restraint;
use jounce_tests::bodies::{Transform, bar, compose, turn};
use jounce_tests::boxes::{box_mesh, row_of};
use jounce_tests::handled::{exact, furthest, jelly, momentum, silent, simulation};
use jounce_tests::limb::displacement;
use nalgebra::Vector3;

fn free(mesh: &TetMesh) -> Model {
    held(mesh, &Restraint::default())
}

fn held(mesh: &TetMesh, restraint: &Restraint<'_>) -> Model {
    let extras = FullSpaceExtras::default();
    let model = FullSpaceModel::of(mesh, &jelly(Law::Arap), restraint, &extras, &silent());
    Model::FullSpace(model.unwrap().into())
}

/// Positions of the vertices, to the precision of the coefficients.
fn places(sim: &Simulation) -> Vec<Vector3<f64>> {
    let moved: Vec<f64> = match sim.model() {
        Model::FullSpace(_) => sim.coefficients().to_vec(),
        _ => displacement(sim),
    };
    let moved = moved.as_chunks::<3>().0.iter().map(|u| Vector3::from(*u));
    sim.model().vertices().iter().zip(moved).map(|(x, u)| Vector3::from(*x) + u).collect()
}

fn params(damping: f64) -> SimulationParams {
    SimulationParams { dt: 1.0 / 120.0, damping, tolerance: 1e-10, max_iterations: 500, ..Default::default() }
}

/// Positions of a body that is thrown with a spin, bent by a force for ten steps, and let go.
fn bent_in_flight(model: &Model, params: SimulationParams) -> Vec<Vec<Vector3<f64>>> {
    let mut sim = simulation(model, params);
    sim.place(&Start { velocity: [1.0, 0.0, 0.5], spin: [0.0, 1.0, 3.0], ..Start::default() }).unwrap();
    let vertices = model.vertices();
    let length = vertices.iter().fold(0.0, |most: f64, v| most.max(v[0]));
    let along = |v: &[f64; 3]| (PI * v[0] / length).sin() - 2.0 / PI;
    let mass = 1000.0 * length.powi(3) / vertices.len() as f64;
    let forces: Vec<f64> = vertices.iter().flat_map(|v| [0.0, 0.0, -3.0 * mass * along(v)]).collect();
    let force = model.projector(None).unwrap().reduce_forces(&forces).unwrap();
    let mut shapes = Vec::new();
    for frame in 0..60 {
        let force = (frame < 10).then_some(&force[..]);
        sim.step_with(&StepInput { force, ..StepInput::default() }, &silent()).unwrap();
        shapes.push(places(&sim));
    }
    shapes
}

/// With every vertex a handle, both are the same body, and damping is the same.
#[test]
fn handles_at_every_vertex_move_as_the_full_space_with_any_damping() {
    let mesh = bar([6, 2, 2], 0.1);
    let (full, handles) = (free(&mesh), exact(&mesh, mesh.vertices().len()));
    let undamped = bent_in_flight(&full, params(0.0));
    for damping in [0.0, 0.02, 0.1, 0.5] {
        let right = bent_in_flight(&full, params(damping));
        let found = bent_in_flight(&handles, params(damping));
        let bent = |shapes: &[Vec<Vector3<f64>>]| {
            right.iter().zip(shapes).map(|(a, b)| furthest(a, b)).fold(0.0, f64::max)
        };
        let rigid = bent_in_flight(&full, SimulationParams { stiffness: 1e3, ..params(0.0) });
        let (apart, size) = (bent(&found), bent(&rigid));
        println!("{damping} {apart:.2e} {size:.2e} {:.2e}", bent(&undamped));
        assert!(apart < 0.03 * size, "{damping}: {apart:e} of {size:e}");
    }
}

#[test]
fn damping_leaves_the_spin_of_free_parts() {
    let mesh = row_of(&box_mesh([2, 2, 2], 0.1), 2, 0.4);
    let (model, mass) = (free(&mesh), lumped_mass(&mesh, &jelly(Law::Arap)));
    let lost = |damping: f64| {
        let params = params(damping);
        let mut sim = simulation(&model, params);
        sim.place(&Start { velocity: [1.0, 0.0, 0.0], spin: [0.0, 0.5, 2.0], ..Start::default() }).unwrap();
        let mut spins = Vec::new();
        for _ in 0..60 {
            let before = places(&sim);
            sim.step(None).unwrap();
            spins.push(momentum(&mass, &before, &places(&sim), params.dt).1);
        }
        (spins[59] - spins[0]).norm() / spins[0].norm()
    };
    let (free, damped) = (lost(0.0), lost(1.0));
    assert!(free < 0.02 && damped < free + 0.005, "{free} {damped}");
}

#[test]
fn damping_never_adds_energy() {
    let mesh = bar([6, 2, 2], 0.1);
    let (model, mass) = (free(&mesh), lumped_mass(&mesh, &jelly(Law::Arap)));
    for damping in [0.02, 0.3, 2.0] {
        let params = params(damping);
        let mut sim = simulation(&model, SimulationParams { inflation: 1.2, ..params });
        sim.place(&Start { spin: [1.0, 2.0, 6.0], ..Start::default() }).unwrap();
        sim.set_params(params).unwrap();
        let (mut before, mut last) = (places(&sim), f64::INFINITY);
        for frame in 0..120 {
            let elastic = sim.step(None).unwrap().energy;
            let now = places(&sim);
            let whole = elastic + momentum(&mass, &before, &now, params.dt).0;
            assert!(whole <= last * (1.0 + 1e-9), "{damping}, {frame}: {last} to {whole}");
            (last, before) = (whole, now);
        }
    }
}

#[test]
fn it_starts_where_it_is_placed_as_large_as_it_is_inflated() {
    let mesh = bar([4, 2, 2], 0.1);
    let model = free(&mesh);
    let place = turn([1.0, 2.0, -0.5], 2.3, [0.1, 0.0, 0.3], [10.0, 0.2, -0.3]);
    let mut sim = simulation(&model, SimulationParams { inflation: 1.2, damping: 0.3, ..params(0.0) });
    sim.place(&Start { place, ..Start::default() }).unwrap();
    let start = places(&sim);
    let size = |places: &[Vector3<f64>]| (places[0] - places[places.len() - 1]).norm();
    let made: Vec<Vector3<f64>> = mesh.vertices().iter().map(|x| Vector3::from(*x)).collect();
    assert!((size(&start) / size(&made) - 1.2).abs() < 1e-12);
    for _ in 0..50 {
        sim.step(None).unwrap();
    }
    let drift = furthest(&places(&sim), &start);
    assert!(drift < 1e-9, "{drift:e}");
}

/// Pose of a hand over time: it swings an arm about a shoulder.
fn hand(time: f64) -> Transform {
    let arm = turn([0.3, 1.0, 0.2], 4.0 * (3.0 * time).sin(), [0.2, 0.0, 1.0], [0.0; 3]);
    compose(&turn([0.0, 0.0, 1.0], 2.0 * time, [0.0; 3], [1.5 * time, -time, 0.4 * time * time]), &arm)
}

/// At a low frequency it trails behind the hand, in the same way as a body of handles.
#[test]
fn a_tether_draws_it_to_the_hand() {
    let mesh = bar([4, 2, 2], 0.1);
    let (full, handles) = (free(&mesh), exact(&mesh, mesh.vertices().len()));
    for (hold, most) in [(1e5, 1e-5), (5.0, 2e-3)] {
        let carried = |model: &Model| {
            let mut sim = simulation(model, SimulationParams { hold, ..params(0.1) });
            sim.place(&Start { place: hand(0.0), ..Start::default() }).unwrap();
            for frame in 1..=20 {
                sim.step(Some(&[hand(f64::from(frame) / 120.0)])).unwrap();
            }
            places(&sim)
        };
        let (found, right) = (carried(&full), carried(&handles));
        let apart = furthest(&found, &right);
        assert!(apart < most, "{hold}: {apart:e}");
        let goal = hand(20.0 / 120.0);
        let goal = |x: &[f64; 3]| goal.map(|row| row[3] + (0..3).map(|d| row[d] * x[d]).sum::<f64>());
        let posed: Vec<Vector3<f64>> = mesh.vertices().iter().map(|x| Vector3::from(goal(x))).collect();
        let missed = furthest(&found, &posed);
        assert!(if hold > 1e4 { missed < 1e-5 } else { missed > 0.01 }, "{hold}: {missed}");
    }
}

#[test]
fn a_held_body_is_neither_placed_nor_tethered_nor_inflated() {
    let mesh = bar([4, 2, 2], 0.1);
    let pinned: Vec<bool> = mesh.vertices().iter().map(|x| x[0] < 1e-9).collect();
    let model = held(&mesh, &Restraint { pinned: Some(&pinned), ..Restraint::default() });
    let refused = |result: Result<(), Error>, name: &str| {
        assert!(matches!(result, Err(Error::Unsupported { what, .. }) if what == name), "{name}");
    };
    let mut sim = simulation(&model, params(0.0));
    refused(sim.place(&Start::default()), "place");
    refused(sim.set_params(SimulationParams { hold: 1.0, ..params(0.0) }), "hold");
    refused(sim.set_params(SimulationParams { inflation: 1.1, ..params(0.0) }), "inflation");
}
